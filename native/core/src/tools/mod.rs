//! The seven tools (contract sections 2 and 7).

/// One of the seven tools, in the contract's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the contract's own")]
pub enum Tool {
    Definition,
    References,
    Hover,
    DocumentSymbols,
    WorkspaceSymbols,
    DiagnosticsDocument,
    DiagnosticsWorkspace,
}

impl Tool {
    /// All of them, in the order of `tools/list`.
    pub const ALL: [Self; 7] = [
        Self::Definition,
        Self::References,
        Self::Hover,
        Self::DocumentSymbols,
        Self::WorkspaceSymbols,
        Self::DiagnosticsDocument,
        Self::DiagnosticsWorkspace,
    ];

    /// The stable name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Definition => "vscode.lsp.definition",
            Self::References => "vscode.lsp.references",
            Self::Hover => "vscode.lsp.hover",
            Self::DocumentSymbols => "vscode.lsp.documentSymbols",
            Self::WorkspaceSymbols => "vscode.lsp.workspaceSymbols",
            Self::DiagnosticsDocument => "vscode.lsp.diagnostics.document",
            Self::DiagnosticsWorkspace => "vscode.lsp.diagnostics.workspace",
        }
    }

    /// The tool with this exact name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}
