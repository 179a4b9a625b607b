// `npm run --silent replay -- --roots DIR[,DIR…] --provider FILE.json …`: the replay host. docs/REPLAY.md describes it.

import "../replay/main.ts";
