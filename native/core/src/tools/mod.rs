//! The seven tools (contract sections 2 and 7).

pub mod definition;
pub mod references;

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Visitor};

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

/// The end of a summary that tells how much was left out (D15).
fn left_out(omitted: usize) -> String {
    match omitted {
        0 => String::new(),
        1 => "; 1 outside the allowed roots was left out".to_owned(),
        omitted => format!("; {omitted} outside the allowed roots were left out"),
    }
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
