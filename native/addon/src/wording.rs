//! What clients and their people are told in VS Code's words: windows, tabs, extensions, settings and commands.
//!
//! `native/core/tests/golden.rs` reads this file as well, since the golden cases hold these texts.

use gateway_core::wording::Wording;

/// VS Code's words.
pub(crate) const VS_CODE: Wording = Wording {
    who_is_asked: "the language servers of the editor that has this workspace open",
    outside_roots: "The file lies outside the allowed roots; ask about a file of the open workspace, or add its folder to `mcpLspGateway.additionalAllowedRoots`.",
    no_roots: "No folder is open in this window; open one, or add a folder to `mcpLspGateway.additionalAllowedRoots`.",
    roots_gone: "None of the allowed folders is at its place any more; open the project's folder again, or correct `mcpLspGateway.additionalAllowedRoots`.",
    document_not_found: "The editor cannot open this file as text; check that the URI names an existing text file.",
    response_too_large: "raise `mcpLspGateway.maxResponseBytes`, or ask about something more specific",
    provider_unavailable: "No language extension in the editor answers this for this file; install or enable one for its language.",
    not_analysed: "No language extension has reported on this file, so nothing is known about it; open it in an editor tab, or set `mcpLspGateway.diagnostics.openTab`.",
    provider_failed: "A language extension in the editor failed to answer; call again, and look at the editor's log if it goes on.",
    internal: "The gateway failed on this call; call again, and report it with the log of the MCP LSP Gateway if it goes on.",
    origin_refused: "This Origin is not allowed; add it to the setting mcpLspGateway.allowedOrigins.",
    token_refused: "A valid bearer token is needed; in the editor's window run MCP LSP Gateway: Connect a Client… and give the client what it copies.",
};
