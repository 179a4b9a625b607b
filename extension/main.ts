import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Root } from "../view/messages.ts";
import { loadAddon } from "./boundary/addon.ts";
import { carryQuestions } from "./boundary/questions.ts";
import { Check } from "./check/check.ts";
import { withoutHome } from "./check/check-report.ts";
import { complain, whyNot } from "./check/recovery-actions.ts";
import { clock } from "./clock.ts";
import { Consents } from "./gateway/consents.ts";
import { DesiredStateReader } from "./gateway/desired-state.ts";
import { type InstalledExtension, installationId, watchInstallation } from "./gateway/installation.ts";
import { Lifecycle, type State } from "./gateway/lifecycle.ts";
import { Log, nameOf } from "./gateway/log.ts";
import { Pause } from "./gateway/pause.ts";
import { Ports } from "./gateway/ports.ts";
import { Tokens, workspaceIdentity } from "./gateway/tokens.ts";
import { Analysis } from "./language/analysis.ts";
import { Changes } from "./language/changes.ts";
import { Documents } from "./language/documents.ts";
import { documentHost, Editor } from "./language/editor.ts";
import { Languages } from "./language/languages.ts";
import { PassedOn } from "./language/passed-on.ts";
import { Signs } from "./language/signs.ts";
import { MomentaryTabs } from "./language/tabs.ts";
import { TypeScriptAdapter } from "./language/typescript.ts";
import { WarmUp } from "./language/warm-up.ts";
import { ActivityView } from "./ui/activity-view.ts";
import { registerCommands } from "./ui/commands.ts";
import { McpProvider } from "./ui/mcp-provider.ts";
import { RestrictedMode } from "./ui/restricted-mode.ts";
import { Status } from "./ui/status.ts";
import { statusModel } from "./ui/status-model.ts";

/** A key of the workspace's state. */
const ENDED_SESSIONS = "endedSessions";

let running: Lifecycle | undefined;

/** Wires the parts together and returns; everything that takes time happens afterwards. */
export function activate(context: vscode.ExtensionContext): void {
  const { extension, secrets, subscriptions, workspaceState } = context;
  const version = String(extension.packageJSON.version);
  const workspace = workspaceIdentity(
    vscode.workspace.workspaceFile?.toString(),
    vscode.workspace.workspaceFolders?.[0]?.uri.toString(),
  );
  const channel = vscode.window.createOutputChannel("MCP LSP Gateway", { log: true });
  const log = new Log(channel);
  const status = new Status();
  /** What a person may be shown of the gateway, as it is now. */
  let roots: readonly string[] = [];
  let warmingUp: readonly string[] = [];
  const documents = new Documents(documentHost, () => lifecycle.bump("text"));
  const analysis = new Analysis(clock);
  const tabs = new MomentaryTabs(clock, (uri) => changes.look([uri]));
  const typescript = new TypeScriptAdapter(clock);
  const passedOn = new PassedOn(
    clock,
    typescript.languages,
    () => vscode.extensions.all,
    (files) => lifecycle.saw(files),
  );
  const changes = new Changes((epoch) => lifecycle.bump(epoch), passedOn, documents, analysis, tabs);
  const signs = new Signs(clock, () => lifecycle.bump("text"));
  const languages = new Languages(analysis, [typescript], signs, clock);
  const warmUp = new WarmUp({
    documents,
    languages,
    show: (names) => {
      warmingUp = names;
      status.warmingUp(names);
      activityView.changed();
    },
  });
  const restrictedMode = new RestrictedMode();
  const editor = new Editor({
    documents,
    analysis,
    languages,
    tabs,
    published: () => changes.published(),
    mainDocuments: () => warmUp.mainDocuments(),
    sessionsEnded: (ids) => void workspaceState.update(ENDED_SESSIONS, ids),
    unserved: (language) => restrictedMode.unserved(language),
  });
  const consents = new Consents(workspaceState, () => void lifecycle.update());
  const installed: InstalledExtension = {
    id: extension.id,
    version,
    folder: extension.extensionUri.fsPath,
    storage: context.globalStorageUri.fsPath,
  };
  const paused = new Pause(join(installed.storage, "paused"), workspace);
  const ports = new Ports(join(installed.storage, "ports"), workspace);
  let isInstalled = true;
  const tokens = new Once(async () => new Tokens(secrets, await installationId(installed), workspace));
  const desiredState = new DesiredStateReader({
    version,
    workspace,
    log,
    consents,
    changes,
    editor,
    warmUp,
    readers: {
      isGlob: (pattern) => loadAddon(installed.folder).isGlob(pattern),
      isCatalog: (choice) => loadAddon(installed.folder).isCatalog(choice),
    },
    isInstalled: () => isInstalled,
    isPaused: () => paused.read(),
    tokens: () => tokens.get(),
    endedSessions: () => workspaceState.get<string[]>(ENDED_SESSIONS, []),
  });
  const lifecycle = new Lifecycle({
    desiredState: () => desiredState.read(),
    start: async ({ wish, ...options }) => {
      const { candidates, last } = await ports.find(wish);
      const native = loadAddon(installed.folder);
      const ask = carryQuestions(editor, native);
      const gateway = await native.Gateway.start({ ...options, ports: candidates }, ask, (levels, lines) =>
        log.fromAddon(levels, lines),
      );
      try {
        await ports.keep(wish, gateway.port);
      } catch (error) {
        log.warn(`The port could not be kept for this workspace (${nameOf(error)}).`);
      }
      const inVain = candidates.slice(0, candidates.indexOf(gateway.port));
      return { gateway, lost: inVain.find((port) => port === last) };
    },
    show: (state) => {
      status.show(state);
      activityView.changed();
      void vscode.commands.executeCommand("setContext", "mcpLspGateway.state", state.kind);
      report(state, log);
      if (state.kind !== "running") {
        warmUp.stop();
        return;
      }
      warmUp.start();
    },
    inForce: (options) => {
      roots = options?.roots ?? [];
      status.roots(roots.map((root) => withoutHome(root, homedir())));
      activityView.changed();
      mcpProvider.update();
    },
    error: (message) => log.error(message),
  });
  const mcpProvider = new McpProvider({ version, endpoint: () => lifecycle.endpoint });
  const check = new Check({
    version,
    state: () => lifecycle.state,
    endpoint: () => lifecycle.endpoint,
    roots: () => roots,
    warmingUp: () => warmingUp,
    swept: async () => (await lifecycle.gateway?.swept()) ?? [],
  });
  const activityView = new ActivityView({
    clock,
    page: vscode.Uri.joinPath(context.extensionUri, "dist", "view"),
    gateway: () => lifecycle.gateway,
    statusModel: () => statusModel(lifecycle.state, lifecycle.endpoint?.url, roots.map(shownRoot), warmingUp),
  });
  const pause = async (isPaused: boolean): Promise<void> => {
    try {
      await paused.set(isPaused);
    } finally {
      await lifecycle.update();
    }
  };
  running = lifecycle;

  const update = (): void => void lifecycle.update();
  subscriptions.push(
    channel,
    status,
    changes,
    check,
    activityView,
    mcpProvider.register(),
    registerCommands({ lifecycle, channel, tokens: () => tokens.get(), pause, check }),
    vscode.workspace.onDidGrantWorkspaceTrust(update),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      warmUp.workspaceChanged();
      update();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("mcpLspGateway")) {
        update();
      }
    }),
    secrets.onDidChange(async ({ key }) => {
      if ((await tokens.get()).concerns(key)) {
        update();
      }
    }),
    vscode.extensions.onDidChange(() => {
      editor.forgetLanguages();
      languages.extensionsChanged();
      passedOn.extensionsChanged();
      warmUp.workspaceChanged();
    }),
  );
  update();
  void watchInstallation(installed, (still) => {
    isInstalled = still;
    tokens.forget();
    update();
  }).then((watcher) => subscriptions.push(watcher));
}

/** VS Code waits for this for at most 5 s. */
export async function deactivate(): Promise<void> {
  await running?.end();
}

/** A folder, as the activity view shows it and finds it in URIs. */
function shownRoot(root: string): Root {
  return { label: withoutHome(root, homedir()), path: vscode.Uri.file(root).path };
}

function report(state: State, log: Log): void {
  switch (state.kind) {
    case "starting":
      break;
    case "running":
      log.info(`Listening on http://127.0.0.1:${state.port}/mcp.`);
      break;
    case "failed":
      log.error(`Not running: ${whyNot(state)}`);
      complain(state);
      break;
    default:
      log.info(`Not running: ${whyNot(state)}`);
  }
}

/** Made by the first who asks; after a failure, by the next. */
class Once<T> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  get(): Promise<T> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  forget(): void {
    this.#made = undefined;
  }
}
