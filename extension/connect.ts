import * as vscode from "vscode";
import { type Client, clients, type Endpoint, TOKEN_VARIABLE, type Way } from "./clients.ts";
import { changeSetting } from "./remedies.ts";

/** Something in a list, and what happens if it is picked. */
type Pick<T> = vscode.QuickPickItem & { readonly value: T };

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
  await tell(client, way, endpoint);
}

async function pickClient(): Promise<Client | undefined> {
  const picks = clients(vscode.env.uriScheme).map(
    (client): Pick<Client> => ({ label: client.name, description: summaryOf(client), value: client }),
  );
  const options = { title: "Connect a Client", placeHolder: "Which client is to be connected?" };
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
  const options = { title: `Connect ${client.name}`, placeHolder: "What is to be copied?" };
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
  const fallsBack = vscode.workspace.getConfiguration("mcpLspGateway").get("protocolFallback") === true;
  const needsFallback = client.needsFallback === true && !fallsBack;
  const sentence = [
    way.next.replace(/\.$/, ""),
    ...(way.token === "inside" ? ["and keep it out of files that you commit"] : []),
    ...(way.token === "variable" ? [`and set ${TOKEN_VARIABLE} to the token before you start the client`] : []),
    ...(way.token === "asked" ? ["and give the token when the client asks for it"] : []),
    ...(needsFallback ? ["and turn the setting protocolFallback on"] : []),
  ].join(", ");
  const buttons = [...(needsFallback ? [turnOn] : []), ...(way.token === "inside" ? [] : [copyToken])];
  // A message goes away with the first button, and two may be needed.
  for (let left = buttons; ; ) {
    const chosen = await vscode.window.showInformationMessage(`Copied for ${client.name}. ${sentence}.`, ...left);
    if (chosen === copyToken) {
      await vscode.env.clipboard.writeText(endpoint.token);
    } else if (chosen === turnOn) {
      await changeSetting("protocolFallback", true);
    }
    left = left.filter((button) => button !== chosen);
    if (chosen === undefined || left.length === 0) {
      return;
    }
  }
}
