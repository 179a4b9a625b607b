//! `vscode.lsp.diagnostics.document` (contract section 7.6).

use serde::Deserialize;
use serde_json::Value;

use super::{Whole, counted_of};
use crate::canonical::CanonicalSet;
use crate::diagnostic::{File, Published, RawDiagnostics};
use crate::error::ToolError;
use crate::left_out::LeftOut;
use crate::limits::MAX_ITEMS_NONPAGED;
use crate::page::{EncodedPayload, ResponseBudget, list_payload};
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
    left_out: LeftOut,
    /// Whether anybody has published anything about the document.
    is_published: bool,
}

impl Answer {
    /// Canonicalizes what is published about the document, under whichever of its URIs (D18). That nobody has published
    /// anything does not mean that there is nothing wrong: it is an error, unless the document is `shown` in a tab, where
    /// who reports on what is shown would have done so (D29).
    pub fn new(
        raw: &RawDiagnostics,
        document: &CanonicalUri,
        shown: bool,
        roots: &AllowedRoots,
        real: &dyn RealPaths,
    ) -> Result<Self, ToolError> {
        let published = Published::new(raw, roots, real)?;
        let file = published.files().find(|(uri, _)| *uri == document);
        let is_published = file.is_some();
        if !is_published && !shown {
            return Err(ToolError::NotAnalysed);
        }
        let (diagnostics, incomplete) =
            file.map(|(_, File { diagnostics, incomplete })| (diagnostics, incomplete)).unwrap_or_default();
        let left_out = LeftOut { incomplete, ..LeftOut::default() };
        let found = diagnostics.len();
        let diagnostics = CanonicalSet::encode(diagnostics.into_iter().take(MAX_ITEMS_NONPAGED))?;
        Ok(Self { document: document.clone(), diagnostics, found, left_out, is_published })
    }
}

impl Whole for Answer {
    /// `{"uri":…,"diagnostics":[…],"summary":…}`.
    fn payload(&self, budget: ResponseBudget) -> Result<EncodedPayload, ToolError> {
        let opening = format!(r#"{{"uri":{},"diagnostics":["#, Value::from(self.document.as_str()));
        let returned = counted_of(self.diagnostics.len(), self.found, "diagnostic", "diagnostics");
        let reported = if self.is_published { "" } else { "; no extension has reported on this file" };
        list_payload(&opening, &self.diagnostics, &format!("Returned {returned}{}{reported}.", self.left_out), budget)
    }
}
