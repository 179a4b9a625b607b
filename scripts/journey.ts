// `npm run journey -- [folder]`: the way of a new user, from a fresh profile of the real VS Code to an answer in Claude Code
// and in Codex. Prints how long each step took, and puts a picture of each into the folder, to be looked at.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { packVsix } from "../harness/build/vsix.ts";
import { ASKING, type Asking, answerIn, WayOut } from "../harness/clients/asking.ts";
import { install } from "../harness/clients/real-clients.ts";
import { ScriptedModel } from "../harness/clients/scripted-model.ts";
import { type EditorWindow, RealVsCode, stopOnSignals } from "../harness/editor/real-vscode.ts";
import { RxjsWorkspace } from "../harness/languages/rxjs-workspace.ts";
import { extensionId, screenshots } from "../harness/layout.ts";
import { run } from "../harness/machine/processes.mjs";
import { command, Failure, say } from "../harness/machine/progress.mjs";

const QUESTION = "Who uses the class Observable?";

/** In the page: resolves when whatever moves in or fades in has done so. */
const DRAWN = `Promise.all(
  document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    .map(({ finished }) => finished.catch(() => {})),
)`;

interface Step {
  readonly title: string;
  readonly ms: number;
  readonly picture: string;
}

await command(async () => {
  const folder = process.argv[2] ?? join(screenshots, "journey");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { file } = await packVsix("release");
  const clients = {
    "claude-code": await install(ASKING["claude-code"].client),
    codex: await install(ASKING.codex.client),
  };
  const rxjs = await RxjsWorkspace.create();
  const home = realpathSync(mkdtempSync(join(tmpdir(), "gateway-home-")));
  const wayOut = await WayOut.closed();
  const place = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
  const model = await ScriptedModel.start([
    {
      tool: "vscode.lsp.references",
      input: { uri: place.uri, position: place.position, pageSize: 3 },
    },
  ]);
  const person: Person = {
    project: rxjs.folder,
    home,
    environment: {
      PATH: [...Object.values(clients).map((file) => dirname(file)), process.env["PATH"]].join(delimiter),
      HOME: home,
      ...wayOut.variables,
    },
  };
  const editor = await RealVsCode.start({ extensions: [], fresh: true });
  stopOnSignals(editor, 1);
  try {
    const steps = await journey(editor, file, person, model, folder);
    for (const { title, ms, picture } of steps) {
      process.stdout.write(`${String(Math.round(ms)).padStart(7)} ms  ${title}  (${picture})\n`);
    }
    return 0;
  } finally {
    await editor.stop();
    await model.close();
    wayOut.close();
    rxjs.remove();
    rmSync(home, { recursive: true, force: true });
  }
});

interface Person {
  readonly project: string;
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
}

async function journey(
  editor: RealVsCode,
  vsix: string,
  person: Person,
  model: ScriptedModel,
  folder: string,
): Promise<Step[]> {
  const steps: Step[] = [];
  /** Does one step, and takes a picture of what the person then sees, if there is a window. */
  const step = async <T>(
    title: string,
    work: () => Promise<T>,
    seen: () => Page | undefined = () => page,
  ): Promise<T> => {
    const begun = performance.now();
    const result = await work().catch(async (error) => {
      await seen()?.screenshot({ path: join(folder, "failed.png") });
      throw error;
    });
    const ms = performance.now() - begun;
    await page?.evaluate(DRAWN);
    const picture = `${String(steps.length + 1).padStart(2, "0")}-${title.toLowerCase().replaceAll(/\W+/g, "-")}.png`;
    await seen()?.screenshot({ path: join(folder, picture) });
    steps.push({ title, ms, picture });
    say(`ok   ${title} (${(ms / 1000).toFixed(1)} s)`);
    return result;
  };
  let page: Page | undefined;

  await step("Install the VSIX", () => editor.install(vsix));
  const window = await step("Open a project", async () => {
    const opened = await editor.openWindow(person.project);
    page = opened.page;
    page.setDefaultTimeout(40_000);
    await opened.status(/MCP restricted/);
    return opened;
  });
  await step("Click MCP restricted", async () => {
    await window.page.locator(".statusbar-item", { hasText: "MCP restricted" }).first().click();
    await row(window, "Manage Workspace Trust").waitFor();
  });
  await step("Manage Workspace Trust", async () => {
    await window.page.keyboard.press("Enter");
    await window.page.getByRole("button", { name: "Trust", exact: true }).waitFor();
  });
  await step("Trust it", async () => {
    await window.page.getByRole("button", { name: "Trust", exact: true }).click();
    await window.status(/MCP \d+/);
  });
  await step("Load the window again, for TypeScript", async () => {
    await window.page.reload();
    await window.status(/MCP \d+/);
  });
  await step("Read the status bar", async () => {
    await window.page.mouse.move(700, 4);
    await window.page
      .locator(".statusbar-item", { hasText: /^\s*MCP/ })
      .first()
      .hover();
    await window.page.locator(".workbench-hover", { hasText: "listens on" }).waitFor();
  });
  await step("Open the walkthrough", async () => {
    await window.page.mouse.move(700, 4);
    await palette(window, "Welcome: Open Walkthrough...");
    await choose(window, "MCP LSP Gateway");
    await window.page.locator(".getting-started-step.expanded", { hasText: "Connect your agent" }).waitFor();
  });

  const copied: string[] = [];
  for (const [id, name] of [
    ["claude-code", "Claude Code"],
    ["codex", "Codex"],
  ] as const) {
    await step(`${name} - run Connect a Client`, async () => {
      await palette(window, "MCP LSP Gateway: Connect a Client…");
      await row(window, name).waitFor();
    });
    await step(`${name} - choose it`, async () => {
      await choose(window, name);
      await row(window, "token").first().waitFor();
    });
    const text = await step(`${name} - copy`, async () => {
      await window.page.locator(".quick-input-widget input[type=text]").press("Enter");
      await window.notification(`Copied for ${name}`);
      return window.clipboard();
    });
    copied.push(text);
    const { variables, command: ask }: Asking = ASKING[id];
    const env = { ...person.environment, ...variables(model.url) };
    const printed = await step(`${name} - give it the text`, () => paste(text, person, env));
    const output = await step(`${name} - ask`, () => shell(ask(QUESTION, model.url), person, env));
    writeFileSync(join(folder, `${id}.txt`), [text, printed, ask(QUESTION, model.url), output].join("\n---\n"));
    const { items, summary } = answerIn(output);
    say(`     ${summary} ${JSON.stringify(items)}`);
    await step(`${name} - see the call`, async () => {
      await palette(window, "Notifications: Clear All Notifications");
      await window.page.locator(".notification-toast").waitFor({ state: "detached" });
      if (copied.length === 1) {
        // From then on it is open, and another click would close it.
        await window.page.getByRole("tab", { name: "MCP LSP Gateway" }).click();
      }
      await answeredCalls(window, copied.length);
    });
  }
  await step("Uninstall", () => editor.uninstall(extensionId));
  return steps;
}

/** Resolves when the activity view shows that many calls that were answered. */
async function answeredCalls({ page }: EditorWindow, count: number): Promise<void> {
  const view = page.frameLocator("iframe.webview").last().frameLocator("iframe");
  await view
    .getByRole("option")
    .filter({ hasText: /\d items?/ })
    .nth(count - 1)
    .waitFor();
}

function row({ page }: EditorWindow, text: string) {
  return page.locator(".quick-input-list .monaco-list-row", { hasText: text });
}

/** Runs a command from the palette, by keyboard. What it asks then is left open. */
async function palette(window: EditorWindow, title: string): Promise<void> {
  const input = window.page.locator(".quick-input-widget input[type=text]");
  // A walkthrough takes the focus a moment after it is shown, and the palette goes away with it.
  await window.page.keyboard.press("F1");
  await input.fill(`>${title}`, { timeout: 3_000 }).catch(async () => {
    await window.page.keyboard.press("F1");
    await input.fill(`>${title}`);
  });
  await row(window, title).and(window.page.locator(".focused")).waitFor();
  await window.page.keyboard.press("Enter");
}

/** Picks from the list that is open by typing, as a person does. */
async function choose(window: EditorWindow, text: string): Promise<void> {
  await window.page.locator(".quick-input-widget input[type=text]").pressSequentially(text);
  await window.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text }).waitFor();
  await window.page.keyboard.press("Enter");
}

/** Gives a client what was copied for it: a command to a shell, anything else to the end of Codex's configuration. */
async function paste(text: string, person: Person, env: NodeJS.ProcessEnv): Promise<string> {
  if (/^\w+ mcp /.test(text)) return shell(text, person, env);
  const file = join(person.home, ".codex", "config.toml");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { flag: "a" });
  return "";
}

async function shell(line: string, { project }: Person, env: NodeJS.ProcessEnv): Promise<string> {
  const { code, output } = await run("bash", ["-c", line], { cwd: project, env });
  if (code !== 0) throw new Failure(`${line}\n${output}`);
  return output;
}
