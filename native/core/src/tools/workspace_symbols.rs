//! `vscode.lsp.workspaceSymbols` (contract section 7.5).

use serde::{Deserialize, Serialize};

use super::{counted, next_page, trimmed};
use crate::belief::Belief;
use crate::canonical::{CanonicalSet, Names, string_at};
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::keys::ItemId;
use crate::limits::MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL;
use crate::order::{MissingLast, Text};
use crate::page::{EncodedPayload, Page, PageSize, ResponseBudget};
use crate::position::Range;
use crate::roots::{AllowedRoots, RealPaths};
use crate::snapshots::Retained;
use crate::symbol::{RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind};
use crate::uri::CanonicalUri;

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// What to look for, as the caller wrote it.
    pub query: String,
    /// How many items the caller wants on a page.
    #[serde(default, deserialize_with = "super::page_size")]
    pub page_size: Option<u64>,
    /// Where to go on; nothing for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// What to look for, without the whitespace around it. It is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query(String);

impl Query {
    /// Trims what the caller wrote. Refuses what is blank.
    pub fn normalized(text: &str) -> Result<Self, ToolError> {
        let query = trimmed(text);
        if query.is_empty() {
            let advice = "`query` is blank; pass a name, or part of one, and call again.";
            return Err(ToolError::InvalidParams(advice.to_owned()));
        }
        Ok(Self(query.to_owned()))
    }

    /// The text to look for.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a provider returned at one URI. The order of the fields is the rest of the contract's order of workspace symbols
/// (section 4.2), which leaves no field out, so it is total (D5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol<'a> {
    range: Option<Range>,
    name: Option<Text<'a>>,
    kind: SymbolKind,
    container_name: MissingLast<Text<'a>>,
}

/// A symbol with its members in the contract's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Encoded<'a> {
    id: ItemId,
    name: &'a str,
    kind: SymbolKind,
    location: Location<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container_name: Option<&'a str>,
}

#[derive(Serialize)]
struct Location<'a> {
    uri: &'a str,
    range: Range,
}

/// The full canonical set of what the editor returned.
pub fn canonicalize(
    raw: &RawWorkspaceSymbols,
    belief: Belief,
    roots: &AllowedRoots,
    real: &dyn RealPaths,
) -> Result<Retained, ToolError> {
    let mut names = Names::new(roots, real);
    let admitted = names.admit(&raw.strings, raw.items.iter().map(|item| item.uri))?;
    let symbols = raw.items.iter().map(|item| Symbol::of(raw, item));
    let symbols = admitted.into_iter().zip(symbols).map(|(name, symbol)| Ok((name, symbol?)));
    let allowed = names.order(symbols.collect::<Result<_, ToolError>>()?);

    let mut left_out = allowed.left_out();
    let mut encoded = Vec::with_capacity(allowed.len());
    for (uri, symbol) in allowed.iter() {
        match (symbol.name, symbol.range) {
            (None, _) => left_out.without_name += 1,
            (Some(_), None) => left_out.without_range += 1,
            (Some(Text(name)), Some(range)) => encoded.push(symbol.encoded(uri, name, range)),
        }
    }
    if encoded.len() > MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL {
        return Err(ToolError::TooManyItems { items: encoded.len(), max_items: MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL });
    }
    Ok(Retained { set: CanonicalSet::encode(encoded)?, left_out, belief })
}

/// The payload of the page at the cursor, as JSON: `{"items":[…],"nextCursor":…,"summary":…}`.
pub fn page(
    retained: &Retained,
    cursor: &Cursor,
    size: PageSize,
    budget: ResponseBudget,
) -> Result<EncodedPayload, ToolError> {
    let summarize = |items, more| {
        let returned = counted(items, "workspace symbol", "workspace symbols");
        format!("Returned {returned}{}{}{}.", next_page(more), retained.left_out, retained.belief)
    };
    Page::new(&retained.set, cursor, size, summarize)?.payload(budget)
}

impl<'a> Symbol<'a> {
    /// Empty names are no names (D17).
    fn of(raw: &'a RawWorkspaceSymbols, item: &RawWorkspaceSymbol) -> Result<Self, ToolError> {
        let text = |index: Option<u32>| {
            let text = index.map(|index| string_at(&raw.strings, index)).transpose()?;
            Ok(text.filter(|text| !text.is_empty()).map(Text))
        };
        let container_name = text(item.container_name)?.into();
        Ok(Self { range: item.range, name: text(item.name)?, kind: item.kind, container_name })
    }

    /// The canonical string of the id is the one of contract section 7.5, with positions as D6 writes them.
    fn encoded(&self, uri: &'a CanonicalUri, name: &'a str, range: Range) -> Encoded<'a> {
        let Self { kind, container_name, .. } = *self;
        let container_name = container_name.present().map(|Text(name)| name);
        let Range { start, end } = range;
        let container = container_name.unwrap_or_default();
        let id = ItemId::of(&format!("{uri}|{name}|{}|{start}|{end}|{container}", kind.number()));
        Encoded { id, name, kind, location: Location { uri: uri.as_str(), range }, container_name }
    }
}
