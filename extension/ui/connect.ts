import { homedir } from "node:os";
import { posix } from "node:path";
import * as vscode from "vscode";
import { changeSetting } from "../check/recovery-actions.ts";
import type { Endpoint } from "../gateway/lifecycle.ts";
import { type Client, clients, TOKEN_VARIABLE, type Way } from "./clients.ts";

/** Something in a list, and what happens if it is picked. */
type Pick<T> = vscode.QuickPickItem & { readonly value: T };

/** A walkthrough takes the focus back whenever it is drawn anew, and a list that loses it is closed otherwise. */
const STAYS = { ignoreFocusOut: true };

/** This window's own agent has the gateway already, so there is something else to do than to copy a text. */
const OWN_AGENT = "own";

/**
 * Lets the person pick a client and a way to connect it, puts the text for it on the clipboard and says what to do with
 * it.
 */
export async function connectClient(endpoint: Endpoint): Promise<void> {
  const client = await pickClient();
  if (client === undefined) {
    return;
  }
  const way = await pickWay(client, client.ways(endpoint));
  if (way === undefined) {
    return;
  }
  if (way === OWN_AGENT) {
    await vscode.commands.executeCommand("workbench.mcp.listServer");
    return;
  }
  await vscode.env.clipboard.writeText(way.text);
  void tickStep();
  await tell(client, way, endpoint);
}

/**
 * Ticks the step of the walkthrough. Done before something is copied, that would take the focus from the lists, which close
 * then. A context that was there before the walkthrough was first opened never ticks anything, so it goes at once.
 */
async function tickStep(): Promise<void> {
  for (const isCopied of [true, undefined]) {
    await vscode.commands.executeCommand("setContext", "mcpLspGateway.copied", isCopied);
  }
}

async function pickClient(): Promise<Client | undefined> {
  const picks = clients(vscode.env.uriScheme).map(
    (client): Pick<Client> => ({ label: client.name, description: summaryOf(client), value: client }),
  );
  const options = { ...STAYS, title: "Connect a Client", placeHolder: "Which client is to be connected?" };
  return (await vscode.window.showQuickPick(picks, options))?.value;
}

function summaryOf({ id, needsFallback }: Client): string {
  if (id === "vscode") {
    return ownAgent() ? "has the gateway already" : "";
  }
  return needsFallback === true ? "needs the setting protocolFallback" : "";
}

/** Whether this editor asks extensions for MCP servers. */
function ownAgent(): boolean {
  const lm: Partial<typeof vscode.lm> | undefined = vscode.lm;
  return lm?.registerMcpServerDefinitionProvider !== undefined;
}

async function pickWay(client: Client, ways: readonly Way[]): Promise<Way | typeof OWN_AGENT | undefined> {
  const picks = ways.map(
    (way): Pick<Way | typeof OWN_AGENT> => ({
      label: way.label,
      detail: way.next,
      description: holds(way),
      value: way,
    }),
  );
  if (client.id === "vscode" && ownAgent()) {
    picks.unshift({
      label: "Show the servers of this window",
      detail: "MCP LSP Gateway is among them; nothing has to be configured.",
      value: OWN_AGENT,
    });
  }
  const options = { ...STAYS, title: `Connect ${client.name}`, placeHolder: "What is to be copied?" };
  return (await vscode.window.showQuickPick(picks, options))?.value;
}

function holds({ token }: Way): string {
  switch (token) {
    case "inside":
      return "holds the token";
    case "variable":
      return `reads the token from ${TOKEN_VARIABLE}`;
    case "asked":
      return "asks for the token";
  }
}

/** Says what to do next. Each thing that is still missing has a button. */
async function tell(client: Client, way: Way, endpoint: Endpoint): Promise<void> {
  const copyToken = "Copy Token";
  const turnOn = "Turn On protocolFallback";
  const offerCore = "Offer core Tools";
  const configuration = vscode.workspace.getConfiguration("mcpLspGateway");
  const fallsBack = configuration.get("protocolFallback") === true;
  const offersLittle = configuration.get("catalog") === "v1";
  const needsFallback = client.needsFallback === true && !fallsBack;
  const sentences = [
    `Copied for ${client.name}.`,
    way.next,
    ...(way.token === "inside" ? ["It holds the token, so keep it out of files that you commit."] : []),
    ...(way.token === "variable" ? [`Set ${TOKEN_VARIABLE} to the token before you start the client.`] : []),
    ...(way.token === "asked" ? ["Give the token when the client asks for it."] : []),
    ...(needsFallback ? ["Turn the setting protocolFallback on."] : []),
    ...(offersLittle ? ["Recommended: offer the core tools, which answer whole questions in few tokens."] : []),
  ].join(" ");
  const { file } = way;
  const terminal = "Open Terminal";
  const buttons = [
    ...(needsFallback ? [turnOn] : []),
    ...(offersLittle ? [offerCore] : []),
    ...(way.isCommand === true ? [terminal] : []),
    ...(file === undefined ? [] : [`Open ${posix.basename(file)}`]),
    ...(way.token === "inside" ? [] : [copyToken]),
  ];
  // A message goes away with the first button, and more than one may be needed.
  for (let left = buttons; ; ) {
    const chosen = await vscode.window.showInformationMessage(sentences, ...left);
    if (chosen === copyToken) {
      await vscode.env.clipboard.writeText(endpoint.token);
    } else if (chosen === turnOn) {
      await changeSetting("protocolFallback", true);
    } else if (chosen === offerCore) {
      await changeSetting("catalog", "core");
    } else if (chosen === terminal) {
      vscode.window.createTerminal().show();
    } else if (chosen !== undefined && file !== undefined) {
      await openFile(file);
    }
    left = left.filter((button) => button !== chosen);
    if (chosen === undefined || left.length === 0) {
      return;
    }
  }
}

/** Opens the file, or one that is saved there if there is none yet. */
async function openFile(file: string): Promise<void> {
  const folder = file.startsWith("~/") ? vscode.Uri.file(homedir()) : vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) {
    return;
  }
  const uri = vscode.Uri.joinPath(folder, file.replace(/^~\//, ""));
  const isThere = await vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
  await vscode.window.showTextDocument(isThere ? uri : uri.with({ scheme: "untitled" }));
}
