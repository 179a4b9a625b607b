//! `vscode.lsp.documentSymbols` (contract section 7.4).

use serde::{Deserialize, Serialize};

use super::{Whole, counted_of};
use crate::belief::Belief;
use crate::canonical::{CanonicalSet, ordered, string_at};
use crate::error::ToolError;
use crate::keys::ItemId;
use crate::left_out::LeftOut;
use crate::limits::{MAX_DOCUMENT_SYMBOLS_TRAVERSED, MAX_ITEMS_NONPAGED};
use crate::order::{MissingLast, Text};
use crate::page::{EncodedPayload, ResponseBudget, list_payload};
use crate::position::Range;
use crate::symbol::{RawDocumentSymbol, RawDocumentSymbols, SymbolKind};
use crate::uri::CanonicalUri;

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The document, as the caller names it.
    pub uri: String,
}

/// The symbols of the document as a flat list, canonical and cut to what may be returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    symbols: CanonicalSet,
    found: usize,
    left_out: LeftOut,
    belief: Belief,
}

/// The order of the fields is the contract's order of document symbols. Where its sort keys are equal, `id` is the first
/// member in which the canonical JSON of two symbols differs, so it decides (D5).
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol<'a> {
    range: Range,
    name: Text<'a>,
    kind: SymbolKind,
    container_name: MissingLast<Text<'a>>,
    id: ItemId,
    selection_range: Range,
}

/// A symbol with its members in the contract's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Encoded<'a> {
    id: &'a ItemId,
    name: &'a str,
    kind: SymbolKind,
    range: Range,
    selection_range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    container_name: Option<&'a str>,
}

impl Answer {
    /// Canonicalizes what the editor returned for the document.
    pub fn new(raw: &RawDocumentSymbols, belief: Belief, document: &CanonicalUri) -> Result<Self, ToolError> {
        let traversed = raw.items.len();
        if traversed > MAX_DOCUMENT_SYMBOLS_TRAVERSED {
            return Err(ToolError::TooManyItems { items: traversed, max_items: MAX_DOCUMENT_SYMBOLS_TRAVERSED });
        }
        let mut symbols = Vec::with_capacity(traversed);
        let mut nameless = Vec::new();
        for item in &raw.items {
            let container_name = container_name(raw, item)?;
            let selection_range = item.selection.unwrap_or(item.range);
            match name(raw, item)? {
                Some(name) => symbols.push(Symbol::new(document, name, item, selection_range, container_name)),
                None => nameless.push((item.range, item.kind, selection_range, container_name.map(Text))),
            }
        }
        let symbols = ordered(symbols);
        let returned = CanonicalSet::encode(symbols.iter().take(MAX_ITEMS_NONPAGED).map(Symbol::encoded))?;
        let left_out = LeftOut { without_name: ordered(nameless).len(), ..LeftOut::default() };
        Ok(Self { symbols: returned, found: symbols.len(), left_out, belief })
    }
}

impl Whole for Answer {
    /// `{"symbols":[…],"summary":…}`.
    fn payload(&self, budget: ResponseBudget) -> Result<EncodedPayload, ToolError> {
        let returned = counted_of(self.symbols.len(), self.found, "document symbol", "document symbols");
        let summary = format!("Returned {returned}{}{}.", self.left_out, self.belief);
        list_payload(r#"{"symbols":["#, &self.symbols, &summary, budget)
    }
}

impl<'a> Symbol<'a> {
    /// The canonical string of the id is the one of contract section 7.4, with positions as D6 writes them.
    fn new(
        document: &CanonicalUri,
        name: &'a str,
        raw: &RawDocumentSymbol,
        selection_range: Range,
        container_name: Option<&'a str>,
    ) -> Self {
        let RawDocumentSymbol { kind, range, .. } = *raw;
        let container = container_name.unwrap_or_default();
        let places =
            [range.start, range.end, selection_range.start, selection_range.end].map(|place| place.to_string());
        let id = ItemId::of(&format!("{document}|{name}|{}|{}|{container}", kind.number(), places.join("|")));
        let container_name = container_name.map(Text).into();
        Self { range, name: Text(name), kind, container_name, id, selection_range }
    }

    fn encoded(&self) -> Encoded<'_> {
        let &Self { range, name: Text(name), kind, container_name, ref id, selection_range } = self;
        let container_name = container_name.present().map(|Text(name)| name);
        Encoded { id, name, kind, range, selection_range, container_name }
    }
}

/// An empty name is no name (D17).
fn name<'a>(raw: &'a RawDocumentSymbols, item: &RawDocumentSymbol) -> Result<Option<&'a str>, ToolError> {
    text(raw, item.name)
}

/// The name of the symbol that directly contains this one, or what the provider says it is (D13).
fn container_name<'a>(raw: &'a RawDocumentSymbols, item: &RawDocumentSymbol) -> Result<Option<&'a str>, ToolError> {
    match item.parent {
        Some(parent) => name(raw, raw.items.get(parent as usize).ok_or(ToolError::ProviderFailed)?),
        None => text(raw, item.container_name),
    }
}

fn text(raw: &RawDocumentSymbols, index: Option<u32>) -> Result<Option<&str>, ToolError> {
    let text = index.map(|index| string_at(&raw.strings, index)).transpose()?;
    Ok(text.filter(|text| !text.is_empty()))
}
