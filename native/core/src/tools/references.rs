//! `vscode.lsp.references` (contract section 7.2).

use serde::Deserialize;

use super::{counted, next_page};
use crate::belief::Belief;
use crate::canonical::Locations;
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::left_out::LeftOut;
use crate::limits::MAX_REFERENCES_ITEMS_TOTAL;
use crate::location::{RawLocations, RawTargets};
use crate::page::{EncodedPayload, Page, PageParts, PageSize, ResponseBudget};
use crate::position::Position;
use crate::roots::{AllowedRoots, RealPaths};
use crate::snapshots::Retained;

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The document, as the caller names it.
    pub uri: String,
    /// Where in the document.
    pub position: Position,
    /// Whether definitions and declarations belong to the result (D9).
    #[serde(default)]
    pub include_declaration: bool,
    /// How many items the caller wants on a page.
    #[serde(default, deserialize_with = "super::page_size")]
    pub page_size: Option<u64>,
    /// Where to go on; nothing for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// The full canonical set of what the editor returned. `declarations` are the answers to the questions for definitions
/// and declarations at the same position, if those are not wanted (D9).
pub fn canonicalize(
    references: &RawLocations,
    declarations: &[RawTargets],
    belief: Belief,
    roots: &AllowedRoots,
    real: &dyn RealPaths,
) -> Result<Retained, ToolError> {
    let locations = Locations::of_references(references, declarations, roots, real)?;
    let items = locations.len();
    if items > MAX_REFERENCES_ITEMS_TOTAL {
        return Err(ToolError::TooManyItems { items, max_items: MAX_REFERENCES_ITEMS_TOTAL });
    }
    let left_out = LeftOut { without_range: references.without_range, ..locations.left_out() };
    Ok(Retained { set: locations.encode(items)?, left_out, belief })
}

/// The payload of the page at the cursor, as JSON: `{"items":[…],"nextCursor":…,"summary":…}`.
pub fn page(
    retained: &Retained,
    cursor: &Cursor,
    size: PageSize,
    budget: ResponseBudget,
) -> Result<EncodedPayload, ToolError> {
    Ok(page_parts(retained, cursor, size, budget)?.joined(&retained.set))
}

/// As [`page`], with the items left where they are held.
pub fn page_parts(
    retained: &Retained,
    cursor: &Cursor,
    size: PageSize,
    budget: ResponseBudget,
) -> Result<PageParts, ToolError> {
    let summarize = |items, more| {
        let &Retained { left_out, belief, .. } = retained;
        format!("Returned {}{}{left_out}{belief}.", counted(items, "reference", "references"), next_page(more))
    };
    Page::new(&retained.set, cursor, size, summarize)?.parts(budget)
}
