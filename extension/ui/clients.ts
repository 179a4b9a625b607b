// What each client takes to connect, as text. No editor is needed here, so that the texts can be tried with the clients.

import type { Endpoint } from "../gateway/lifecycle.ts";

/** Under which name clients know the gateway. */
export const SERVER = "vscode-lsp";

/** From which environment variable a client reads the token, if it does not hold it itself. */
export const TOKEN_VARIABLE = "VSCODE_LSP_TOKEN";

/** One way to tell one client of the gateway. */
export interface Way {
  readonly label: string;
  /** What the client takes: a command for a shell, a piece of a file, or a link. */
  readonly text: string;
  /** One sentence: what to do with it. */
  readonly next: string;
  /** The text is a command for a shell. */
  readonly isCommand?: true;
  /** The file that a piece goes into: of the project, or of the home folder if it begins with `~/`. */
  readonly file?: string;
  /** Where the client finds the token. Only a text of the first kind holds it. */
  readonly token: "inside" | "variable" | "asked";
}

export interface Client {
  readonly id: "claude-code" | "codex" | "vscode" | "cursor" | "opencode" | "gemini" | "generic";
  readonly name: string;
  /** The first one is the one to take unless there is a reason not to. */
  ways(endpoint: Endpoint): readonly Way[];
  /** It knows revision 2025-06-18 of MCP only, so that it needs the setting `protocolFallback`. */
  readonly needsFallback?: true;
}

/** The clients in the order in which they are offered. `uriScheme` is that of this editor's own links. */
export function clients(uriScheme: string): readonly Client[] {
  return [
    { id: "claude-code", name: "Claude Code", ways: claudeCode },
    { id: "codex", name: "Codex", ways: codex },
    { id: "vscode", name: "VS Code (this window)", ways: (endpoint) => vsCode(endpoint, uriScheme) },
    { id: "cursor", name: "Cursor", ways: cursor },
    { id: "opencode", name: "opencode", ways: opencode },
    { id: "gemini", name: "Gemini CLI", ways: gemini, needsFallback: true },
    { id: "generic", name: "Another client", ways: generic },
  ];
}

/** In the form that most clients read as it stands, and all others can be given piece by piece. */
export function clientConfiguration({ url, token }: Endpoint): string {
  return json({ mcpServers: { [SERVER]: server(url, token) } });
}

function claudeCode({ url, token }: Endpoint): Way[] {
  // Claude Code refuses to add what it has already. A semicolon is what bash, zsh and every PowerShell take alike.
  const add = `claude mcp remove --scope local ${SERVER}; claude mcp add --transport http ${SERVER} ${url} --header`;
  const next = "Run it in a terminal in the project's folder; it replaces an earlier entry.";
  return [
    { label: "Command", text: `${add} "Authorization: Bearer ${token}"`, next, isCommand: true, token: "inside" },
    {
      label: "Command, token from the environment",
      // Single quotes, since Claude Code and not the shell is to look the variable up.
      text: `${add} 'Authorization: Bearer \${${TOKEN_VARIABLE}}'`,
      next,
      isCommand: true,
      token: "variable",
    },
    {
      label: "Piece of .mcp.json, token from the environment",
      text: json({ mcpServers: { [SERVER]: server(url, `\${${TOKEN_VARIABLE}}`) } }),
      next: "Add it to .mcp.json in the project's folder.",
      file: ".mcp.json",
      token: "variable",
    },
  ];
}

function codex({ url, token }: Endpoint): Way[] {
  const next = `Put it into ~/.codex/config.toml, in place of an earlier [mcp_servers.${SERVER}].`;
  const file = "~/.codex/config.toml";
  const table = `[mcp_servers.${SERVER}]\nurl = "${url}"\n`;
  return [
    {
      label: "Piece of config.toml",
      text: `${table}http_headers = { "Authorization" = "Bearer ${token}" }\n`,
      next,
      file,
      token: "inside",
    },
    {
      label: "Command, token from the environment",
      text: `codex mcp add ${SERVER} --url ${url} --bearer-token-env-var ${TOKEN_VARIABLE}`,
      next: "Run it in a terminal.",
      isCommand: true,
      token: "variable",
    },
    {
      label: "Piece of config.toml, token from the environment",
      text: `${table}bearer_token_env_var = "${TOKEN_VARIABLE}"\n`,
      next,
      file,
      token: "variable",
    },
  ];
}

function vsCode({ url }: Endpoint, uriScheme: string): Way[] {
  const variable = `${SERVER}-token`;
  const input = { id: variable, type: "promptString", description: "Token of MCP LSP Gateway", password: true };
  const definition = server(url, `\${input:${variable}}`);
  const link = encodeURIComponent(JSON.stringify({ name: SERVER, inputs: [input], ...definition }));
  return [
    {
      label: "Piece of .vscode/mcp.json, token asked for",
      text: json({ inputs: [input], servers: { [SERVER]: definition } }),
      next: "Add it to .vscode/mcp.json.",
      file: ".vscode/mcp.json",
      token: "asked",
    },
    {
      label: "Link that installs it, token asked for",
      text: `${uriScheme}:mcp/install?${link}`,
      next: "Open it in a browser.",
      token: "asked",
    },
  ];
}

function cursor({ url, token }: Endpoint): Way[] {
  const next = "Add it to ~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder.";
  const file = "~/.cursor/mcp.json";
  const fromVariable = { url, headers: authorization(`\${env:${TOKEN_VARIABLE}}`) };
  const config = Buffer.from(JSON.stringify(fromVariable)).toString("base64");
  return [
    {
      label: "Piece of mcp.json",
      text: json({ mcpServers: { [SERVER]: { url, headers: authorization(token) } } }),
      next,
      file,
      token: "inside",
    },
    {
      label: "Piece of mcp.json, token from the environment",
      text: json({ mcpServers: { [SERVER]: fromVariable } }),
      next,
      file,
      token: "variable",
    },
    {
      // A link ends up in the browser's history, so it never holds the token.
      label: "Link that installs it, token from the environment",
      text: `cursor://anysphere.cursor-deeplink/mcp/install?name=${SERVER}&config=${encodeURIComponent(config)}`,
      next: "Open it in a browser.",
      token: "variable",
    },
  ];
}

function opencode({ url, token }: Endpoint): Way[] {
  const next = "Add it to opencode.json in the project's folder, or ~/.config/opencode/opencode.json.";
  const file = "opencode.json";
  const piece = (value: string): string =>
    json({
      $schema: "https://opencode.ai/config.json",
      // Without `oauth`, a wrong token would make it look for a login that there is not.
      mcp: { [SERVER]: { type: "remote", url, enabled: true, oauth: false, headers: authorization(value) } },
    });
  return [
    { label: "Piece of opencode.json", text: piece(token), next, file, token: "inside" },
    {
      label: "Piece of opencode.json, token from the environment",
      text: piece(`{env:${TOKEN_VARIABLE}}`),
      next,
      file,
      token: "variable",
    },
  ];
}

function gemini({ url, token }: Endpoint): Way[] {
  return [
    {
      label: "Command",
      text: `gemini mcp add --scope user --transport http ${SERVER} ${url} --header "Authorization: Bearer ${token}"`,
      next: "Run it in a terminal.",
      isCommand: true,
      token: "inside",
    },
    {
      label: "Piece of settings.json, token from the environment",
      text: json({ mcpServers: { [SERVER]: { httpUrl: url, headers: authorization(`\${${TOKEN_VARIABLE}}`) } } }),
      next: "Add it to .gemini/settings.json in the project's folder, or in your home folder.",
      file: ".gemini/settings.json",
      token: "variable",
    },
  ];
}

function generic(endpoint: Endpoint): Way[] {
  const next = "Add it to the file in which your client keeps its MCP servers.";
  return [
    { label: "Piece of JSON", text: clientConfiguration(endpoint), next, token: "inside" },
    {
      label: "Piece of JSON, token from the environment",
      text: json({ mcpServers: { [SERVER]: server(endpoint.url, `\${${TOKEN_VARIABLE}}`) } }),
      next,
      token: "variable",
    },
  ];
}

function server(url: string, token: string) {
  return { type: "http", url, headers: authorization(token) };
}

function authorization(token: string) {
  return { Authorization: `Bearer ${token}` };
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
