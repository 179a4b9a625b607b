//! The seven tools (contract sections 2 and 7).

pub mod definition;
pub mod diagnostics_document;
pub mod diagnostics_workspace;
pub mod document_symbols;
pub mod hover;
pub mod references;
pub mod workspace_symbols;

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Visitor};

use crate::error::ToolError;
use crate::page::{EncodedPayload, ResponseBudget};

/// One of the seven tools, in the contract's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// The answer of a tool that is not paged.
pub trait Whole: fmt::Debug + Send + Sync {
    /// The payload as JSON, within the budget.
    fn payload(&self, budget: ResponseBudget) -> Result<EncodedPayload, ToolError>;
}

/// The text without what surrounds it and is whitespace to Unicode or to JavaScript, which differ in two characters.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

/// So many of them, as summaries say it: `no references`, `1 reference`, `2 references`.
fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// As [`counted`], of a list that may have been cut: `200 of 512 diagnostics` (D15).
fn counted_of(returned: usize, found: usize, one: &str, many: &str) -> String {
    if returned < found { format!("{returned} of {found} {many}") } else { counted(found, one, many) }
}

/// What the summary of a page says of the next.
fn next_page(more: bool) -> &'static str {
    if more { " (next page available)" } else { "" }
}

/// Reads an optional page size. JSON knows one kind of number, so `50.0` is 50; what is too large for the type is
/// clamped like everything else above the maximum (D11).
fn page_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct AtLeastOne;

    impl Visitor<'_> for AtLeastOne {
        type Value = Option<u64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an integer from 1")
        }

        fn visit_u64<E: Error>(self, size: u64) -> Result<Self::Value, E> {
            if size == 0 { Err(E::custom("less than 1")) } else { Ok(Some(size)) }
        }

        fn visit_f64<E: Error>(self, size: f64) -> Result<Self::Value, E> {
            if size < 1.0 || size.fract() != 0.0 {
                return Err(E::custom("not an integer from 1"));
            }
            // A conversion from a float saturates.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above; saturates")]
            Ok(Some(size as u64))
        }
    }

    deserializer.deserialize_any(AtLeastOne)
}
