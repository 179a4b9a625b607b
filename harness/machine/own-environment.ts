// The environment of a program that neither sees what the person has set nor leaves anything with it.

import { delimiter, join } from "node:path";

/** With folders of its own in `kept`, and with `programs` first on PATH. */
export function ownEnvironment(kept: string, programs?: string): NodeJS.ProcessEnv {
  const folders = ["CACHE", "CONFIG", "STATE"].map((kind) => [`XDG_${kind}_HOME`, join(kept, kind)]);
  const path = programs === undefined ? [] : [programs];
  return {
    ...process.env,
    PATH: [...path, process.env["PATH"]].join(delimiter),
    ...Object.fromEntries(folders),
  };
}
