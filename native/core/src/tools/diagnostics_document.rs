//! `vscode.lsp.diagnostics.document` (contract section 7.6).

use serde::Deserialize;
use serde_json::Value;

use super::{Whole, counted_of};
use crate::canonical::CanonicalSet;
use crate::diagnostic::{Published, RawDiagnostics};
use crate::error::ToolError;
use crate::limits::MAX_ITEMS_NONPAGED;
use crate::page::{ResponseBudget, list_payload};
use crate::roots::{AllowedRoots, RealPaths};
use crate::uri::CanonicalUri;

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The document, as the caller names it.
    pub uri: String,
}

/// The diagnostics of the document, canonical and cut to what may be returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    document: CanonicalUri,
    diagnostics: CanonicalSet,
    found: usize,
}

impl Answer {
    /// Canonicalizes what is published about the document, under whichever of its URIs (D18). That nobody has published
    /// anything is an error: it does not mean that there is nothing wrong.
    pub fn new(
        raw: &RawDiagnostics,
        document: &CanonicalUri,
        roots: &AllowedRoots,
        real: &dyn RealPaths,
    ) -> Result<Self, ToolError> {
        let published = Published::new(raw, roots, real)?;
        let file = published.files().find(|(uri, _)| *uri == document);
        let (uri, diagnostics) = file.ok_or(ToolError::NotAnalysed)?;
        let found = diagnostics.len();
        let diagnostics = CanonicalSet::encode(diagnostics.into_iter().take(MAX_ITEMS_NONPAGED))?;
        Ok(Self { document: uri.clone(), diagnostics, found })
    }
}

impl Whole for Answer {
    /// `{"uri":…,"diagnostics":[…],"summary":…}`.
    fn payload(&self, budget: ResponseBudget) -> Result<Vec<u8>, ToolError> {
        let opening = format!(r#"{{"uri":{},"diagnostics":["#, Value::from(self.document.as_str()));
        let returned = counted_of(self.diagnostics.len(), self.found, "diagnostic", "diagnostics");
        list_payload(&opening, &self.diagnostics, &format!("Returned {returned}."), budget)
    }
}
