//! `vscode.lsp.diagnostics.workspace` (contract section 7.7).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{counted, next_page};
use crate::belief::Belief;
use crate::canonical::CanonicalSet;
use crate::cursor::Cursor;
use crate::diagnostic::{Encoded, File, Published, RawDiagnostics};
use crate::error::ToolError;
use crate::left_out::LeftOut;
use crate::limits::{MAX_ITEMS_NONPAGED, MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL};
use crate::page::{EncodedPayload, Page, PageSize, ResponseBudget};
use crate::roots::{AllowedRoots, RealPaths};
use crate::snapshots::Retained;

/// What a list of what was published cannot tell (D29).
const NOT_ANALYSED: &str = "files that no extension has analysed are not among them";

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// How many files the caller wants on a page.
    #[serde(default, deserialize_with = "super::page_size")]
    pub page_size: Option<u64>,
    /// Where to go on; nothing for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
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

/// The full canonical set of what is published, a group for each file that has diagnostics.
pub fn canonicalize(raw: &RawDiagnostics, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<Retained, ToolError> {
    let published = Published::new(raw, roots, real)?;
    let mut left_out = published.left_out();
    let mut groups: Vec<_> = published.files().collect();
    left_out.incomplete = groups.iter().map(|(_, file)| file.incomplete).sum();
    groups.retain(|(_, file)| !file.diagnostics.is_empty());
    if groups.len() > MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL {
        let max_items = MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL;
        return Err(ToolError::TooManyItems { items: groups.len(), max_items });
    }
    for (_, File { diagnostics, .. }) in &mut groups {
        left_out.beyond_file += diagnostics.len().saturating_sub(MAX_ITEMS_NONPAGED);
        diagnostics.truncate(MAX_ITEMS_NONPAGED);
    }
    let groups = groups.into_iter().map(|(uri, file)| Group { uri: uri.as_str(), diagnostics: file.diagnostics });
    Ok(Retained { set: CanonicalSet::encode(groups)?, left_out, belief: Belief::Confirmed })
}

/// The payload of the page at the cursor, as JSON: `{"items":[…],"nextCursor":…,"summary":…}`. A page of one file always
/// fits, because its group is cut where need be, so that paging goes on (D16).
pub fn page(
    retained: &Retained,
    cursor: &Cursor,
    size: PageSize,
    budget: ResponseBudget,
) -> Result<EncodedPayload, ToolError> {
    let page = Page::new(&retained.set, cursor, size, |files, more| summary(files, more, retained.left_out))?;
    match page.payload(budget) {
        Err(ToolError::ResponseTooLarge { .. }) if page.size() == 1 => cut(&page, retained.left_out, budget),
        Err(ToolError::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size: None }) => {
            Err(ToolError::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size: Some(1) })
        }
        payload => payload,
    }
}

/// The payload of a page of one file with as many of its first diagnostics as fit. A file whose first one does not fit is
/// left out, like every file without diagnostics.
fn cut<S: Fn(usize, bool) -> String>(
    page: &Page<'_, S>,
    left_out: LeftOut,
    budget: ResponseBudget,
) -> Result<EncodedPayload, ToolError> {
    let group: EncodedGroup<'_> = serde_json::from_slice(page.items()).map_err(|_| ToolError::Internal)?;
    let opening = format!(r#"{{"uri":{},"diagnostics":["#, group.uri);
    let closing = "]}";
    let total = group.diagnostics.len();
    let summary =
        |kept: usize| summary(kept.min(1), page.more(), LeftOut { beyond_response: total - kept, ..left_out });
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
    Ok(EncodedPayload { json, items })
}

fn summary(files: usize, more: bool, left_out: LeftOut) -> String {
    let files = counted(files, "file", "files");
    format!("Returned diagnostics for {files}{}{left_out}; {NOT_ANALYSED}.", next_page(more))
}
