//! `vscode.lsp.references` (contract section 7.2).

use serde::Deserialize;

use super::left_out;
use crate::canonical::Locations;
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::limits::MAX_REFERENCES_ITEMS_TOTAL;
use crate::location::{RawLocations, RawTargets};
use crate::page::{Page, PageSize, ResponseBudget};
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
    roots: &AllowedRoots,
    real: &dyn RealPaths,
) -> Result<Retained, ToolError> {
    let locations = Locations::of_references(references, declarations, roots, real)?;
    let items = locations.len();
    if items > MAX_REFERENCES_ITEMS_TOTAL {
        return Err(ToolError::TooManyItems { items, max_items: MAX_REFERENCES_ITEMS_TOTAL });
    }
    Ok(Retained { set: locations.encode(items), omitted: locations.omitted() })
}

/// The payload of the page at the cursor, as JSON: `{"items":[…],"nextCursor":…,"summary":…}`.
pub fn page(
    retained: &Retained,
    cursor: &Cursor,
    size: PageSize,
    budget: ResponseBudget,
) -> Result<Vec<u8>, ToolError> {
    Page::new(&retained.set, cursor, size, |items, more| summary(items, more, retained.omitted))?.payload(budget)
}

fn summary(items: usize, more: bool, omitted: usize) -> String {
    let returned = match items {
        0 => "no references".to_owned(),
        1 => "1 reference".to_owned(),
        items => format!("{items} references"),
    };
    let next = if more { " (next page available)" } else { "" };
    format!("Returned {returned}{next}{}.", left_out(omitted))
}
