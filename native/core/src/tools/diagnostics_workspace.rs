//! `vscode.lsp.diagnostics.workspace` (contract section 7.7).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::shared::{counted, diagnostics_schema, file_field, next_page, page_fields, page_output, paged};
use crate::ask::{Ask, Raw, Shape, Subject};
use crate::canonical::CanonicalSet;
use crate::completeness::Completeness;
use crate::cursor::Cursor;
use crate::diagnostic::{Encoded, File, Published};
use crate::epochs::{OF_DIAGNOSTICS, Relevant};
use crate::error::ToolError;
use crate::limits::{MAX_ITEMS_NONPAGED, MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL};
use crate::omissions::Omissions;
use crate::page::{Page, PageSize, Payload, ResponseBudget};
use crate::schema::{Field, Schema, required};
use crate::snapshots::Retained;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool, read};

const ASK: Ask = Ask::new("workspace/diagnostic", Shape::Diagnostics);

/// What a list of what was published cannot tell (D29).
const NOT_ANALYSED: &str = "files that no language server has analysed are not among them";

pub(super) struct WorkspaceDiagnostics;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    #[serde(default, deserialize_with = "super::shared::page_size")]
    page_size: Option<u64>,
    #[serde(default)]
    cursor: Option<String>,
}

impl Tool for WorkspaceDiagnostics {
    fn name(&self) -> &'static str {
        "vscode.lsp.diagnostics.workspace"
    }

    fn title(&self) -> &'static str {
        "Diagnostics of the workspace"
    }

    fn description(&self) -> &'static str {
        "Lists the errors, warnings and hints that language servers have published, grouped by file, in pages. Use it for an overview of the project. Files that no language server has analysed, for some languages every file that is not open, are not in it: ask vscode.lsp.diagnostics.document about those."
    }

    fn input(&self) -> Vec<Field> {
        page_fields("files, not single diagnostics,", "otherwise the same arguments").into()
    }

    fn output(&self) -> Vec<Field> {
        let items = "The files on this page, each with at least one diagnostic. Over all pages they are sorted by uri.";
        let description =
            "What is wrong with the file, sorted by range, without duplicates. Never empty, and cut to the first 200.";
        let file = [file_field(), required("diagnostics", diagnostics_schema(description))];
        page_output(items, &Schema::object("One file.", &file))
    }

    fn epochs(&self) -> Relevant {
        OF_DIAGNOSTICS
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let Input { page_size, cursor } = read(arguments)?;
        Ok(paged(Question::about(Subject::Workspace { query: None }), page_size, cursor))
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        let published = Published::new(raw.diagnostics()?, asked.roots, asked.real)?;
        let mut omissions = published.omissions();
        let mut groups: Vec<_> = published.files().collect();
        omissions.incomplete = groups.iter().map(|(_, file)| file.incomplete).sum();
        groups.retain(|(_, file)| !file.diagnostics.is_empty());
        if groups.len() > MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL {
            let max_items = MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL;
            return Err(ToolError::TooManyItems { items: groups.len(), max_items });
        }
        for (_, File { diagnostics, .. }) in &mut groups {
            omissions.beyond_file += diagnostics.len().saturating_sub(MAX_ITEMS_NONPAGED);
            diagnostics.truncate(MAX_ITEMS_NONPAGED);
        }
        let groups = groups.into_iter().map(|(uri, file)| Group { uri: uri.as_str(), diagnostics: file.diagnostics });
        Ok(Canonical::Set(Retained {
            set: CanonicalSet::encode(groups)?,
            omissions,
            completeness: Completeness::Confirmed,
            frame: None,
        }))
    }

    fn is_paged(&self) -> bool {
        true
    }

    /// A page of one file always fits, because its group is cut where need be, so that paging goes on (D16).
    fn page(
        &self,
        retained: &Retained,
        cursor: &Cursor,
        size: PageSize,
        budget: ResponseBudget,
    ) -> Result<Payload, ToolError> {
        let page = Page::new(&retained.set, cursor, size, |files, more| summary(files, more, retained.omissions))?;
        match page.payload(budget) {
            Err(ToolError::ResponseTooLarge { .. }) if page.size() == 1 => cut(&page, retained.omissions, budget),
            Err(ToolError::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size: None }) => {
                Err(ToolError::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size: Some(1) })
            }
            payload => payload,
        }
    }
}

/// The diagnostics of one file, with its members in the contract's order.
#[derive(Serialize)]
struct Group<'a> {
    uri: &'a str,
    diagnostics: Vec<Encoded<'a>>,
}

/// A [`Group`] that was encoded.
#[derive(Deserialize)]
struct EncodedGroup<'a> {
    #[serde(borrow)]
    uri: &'a RawValue,
    #[serde(borrow)]
    diagnostics: Vec<&'a RawValue>,
}

/// The payload of a page of one file with as many of its first diagnostics as fit. A file whose first one does not fit is
/// left out, like every file without diagnostics.
fn cut<S: Fn(usize, bool) -> String>(
    page: &Page<'_, S>,
    omissions: Omissions,
    budget: ResponseBudget,
) -> Result<Payload, ToolError> {
    let group: EncodedGroup<'_> = serde_json::from_slice(page.items()).map_err(|_| ToolError::Internal)?;
    let opening = format!(r#"{{"uri":{},"diagnostics":["#, group.uri);
    let closing = "]}";
    let total = group.diagnostics.len();
    let summary =
        |kept: usize| summary(kept.min(1), page.more(), Omissions { beyond_response: total - kept, ..omissions });
    // Counted before anything is built, because what one file has can be large.
    let fits = |kept: &usize| {
        let diagnostics: usize = group.diagnostics.iter().take(*kept).map(|diagnostic| diagnostic.get().len()).sum();
        let items = opening.len() + diagnostics + (kept - 1) + closing.len();
        budget.fits(page.payload_with(b"", &summary(*kept)).len() + items)
    };
    let (json, items) = match (1..total).rev().find(fits) {
        Some(kept) => {
            let diagnostics: Vec<_> = group.diagnostics.iter().take(kept).map(|diagnostic| diagnostic.get()).collect();
            let items = [opening.as_str(), &diagnostics.join(","), closing].concat();
            (page.payload_with(items.as_bytes(), &summary(kept)), 1)
        }
        None => (page.payload_with(b"", &summary(0)), 0),
    };
    budget.check(json.len(), || None)?;
    Ok(Payload::whole(json, items))
}

fn summary(files: usize, more: bool, omissions: Omissions) -> String {
    let files = counted(files, "file", "files");
    format!("Returned diagnostics for {files}{}{omissions}; {NOT_ANALYSED}.", next_page(more))
}
