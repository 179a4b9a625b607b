//! `vscode.lsp.diagnostics.document` (contract section 7.6).

use serde_json::Value;

use super::shared::{counted_of, diagnostics_schema, file_field, read_document, summary_field, uri_field};
use crate::ask::{Ask, Raw, Shape};
use crate::canonical::CanonicalSet;
use crate::diagnostic::{File, Published};
use crate::epochs::{OF_DIAGNOSTICS, Relevant};
use crate::error::ToolError;
use crate::limits::MAX_ITEMS_NONPAGED;
use crate::omissions::Omissions;
use crate::page::List;
use crate::schema::{Field, required};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

const ASK: Ask = Ask::new("textDocument/diagnostic", Shape::Diagnostics);

pub(super) struct DocumentDiagnostics;

impl Tool for DocumentDiagnostics {
    fn name(&self) -> &'static str {
        "vscode.lsp.diagnostics.document"
    }

    fn title(&self) -> &'static str {
        "Diagnostics of a document"
    }

    fn description(&self) -> &'static str {
        "Checks one file: its errors, warnings and hints as language servers see them now. Use it after you changed a file. A file that no language server has analysed gives an error, not an empty list. vscode.lsp.diagnostics.workspace may hold less about the same file, because it only repeats what was published already."
    }

    fn input(&self) -> Vec<Field> {
        vec![uri_field("check")]
    }

    fn output(&self) -> Vec<Field> {
        let description = "What is wrong with the file, sorted by range, without duplicates. Empty: nothing was reported; summary says if nobody looked.";
        vec![file_field(), required("diagnostics", diagnostics_schema(description)), summary_field()]
    }

    fn epochs(&self) -> Relevant {
        OF_DIAGNOSTICS
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        read_document(arguments)
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    /// What is published about the document, under whichever of its URIs (D18). That nobody has published anything does not
    /// mean that there is nothing wrong: it is an error, unless the document is in a tab, where who reports on what is shown
    /// would have done so (D29).
    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let ([raw], Some(document)) = (answers, asked.document) else { return Err(ToolError::Internal) };
        let published = Published::new(raw.diagnostics()?, asked.roots, asked.real)?;
        let file = published.files().find(|(uri, _)| *uri == document);
        let is_published = file.is_some();
        if !is_published && !asked.in_tab {
            return Err(ToolError::NotAnalysed);
        }
        let (diagnostics, incomplete) =
            file.map(|(_, File { diagnostics, incomplete })| (diagnostics, incomplete)).unwrap_or_default();
        let omissions = Omissions { incomplete, ..Omissions::default() };
        let found = diagnostics.len();
        let items = CanonicalSet::encode(diagnostics.into_iter().take(MAX_ITEMS_NONPAGED))?;
        let returned = counted_of(items.len(), found, "diagnostic", "diagnostics");
        let reported = if is_published { "" } else { "; no language server has reported on this file" };
        let summary = format!("Returned {returned}{omissions}{reported}.");
        let opening = format!(r#"{{"uri":{},"diagnostics":["#, Value::from(document.as_str()));
        Ok(Canonical::Whole(Box::new(List { opening, items, summary })))
    }
}
