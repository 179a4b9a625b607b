//! `vscode.lsp.documentSymbols` (contract section 7.4).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::shared::{container_field, counted_of, read_document, summary_field, symbol_fields, uri_field};
use crate::ask::{Ask, Raw, Shape};
use crate::canonical::{CanonicalSet, ordered, string_at};
use crate::error::ToolError;
use crate::keys::ItemId;
use crate::limits::{MAX_DOCUMENT_SYMBOLS_TRAVERSED, MAX_ITEMS_NONPAGED};
use crate::name_path::MAX_CONTAINERS;
use crate::omissions::Omissions;
use crate::order::{MissingLast, Text};
use crate::page::List;
use crate::place;
use crate::position::{Position, Range};
use crate::schema::{Field, Schema, required};
use crate::symbol::{RawDocumentSymbol, RawDocumentSymbols, SymbolKind};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};
use crate::uri::CanonicalUri;

/// The question for the outline of a document.
pub const ASK: Ask = Ask::new("textDocument/documentSymbol", Shape::DocumentSymbols);

pub(super) struct DocumentSymbols;

impl Tool for DocumentSymbols {
    fn name(&self) -> &'static str {
        "vscode.lsp.documentSymbols"
    }

    fn title(&self) -> &'static str {
        "Document symbols"
    }

    fn description(&self) -> &'static str {
        "Outlines one file: its classes, functions, methods and variables with their ranges, as a flat list. Use it to find your way in a large file, and to get exact positions for the other tools."
    }

    fn input(&self) -> Vec<Field> {
        vec![uri_field("outline")]
    }

    fn output(&self) -> Vec<Field> {
        let list = "The symbols of the file as a flat list, sorted by range, so that a symbol stands before the ones inside it.";
        let range = "The whole symbol, with its body and, in most languages, its comment.";
        let selection = "The name of the symbol: its start is the position to pass to the other tools.";
        let mut fields = Vec::from(symbol_fields());
        fields.extend([
            required("range", Schema::range(range)),
            required("selectionRange", Schema::range(selection)),
            container_field(),
        ]);
        let symbol = Schema::object("One symbol.", &fields);
        vec![required("symbols", Schema::array(list, MAX_ITEMS_NONPAGED, &symbol)), summary_field()]
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        read_document(arguments)
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let ([raw], Some(document)) = (answers, asked.document) else { return Err(ToolError::Internal) };
        let raw = raw.document_symbols()?;
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
        let items = CanonicalSet::encode(symbols.iter().take(MAX_ITEMS_NONPAGED).map(Symbol::encoded))?;
        let omissions = Omissions { without_name: ordered(nameless).len(), ..Omissions::default() };
        let returned = counted_of(items.len(), symbols.len(), "document symbol", "document symbols");
        let summary = format!("Returned {returned}{omissions}{}.", asked.completeness);
        Ok(Canonical::Whole(Box::new(List { opening: r#"{"symbols":["#.to_owned(), items, summary })))
    }
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
pub(super) fn name<'a>(raw: &'a RawDocumentSymbols, item: &RawDocumentSymbol) -> Result<Option<&'a str>, ToolError> {
    text(raw, item.name)
}

/// The name of the symbol that directly contains this one, or what the provider says it is (D13).
fn container_name<'a>(raw: &'a RawDocumentSymbols, item: &RawDocumentSymbol) -> Result<Option<&'a str>, ToolError> {
    match item.parent {
        Some(parent) => name(raw, raw.items.get(parent as usize).ok_or(ToolError::ProviderFailed(None))?),
        None => text(raw, item.container_name),
    }
}

/// Where the name of the symbol that takes this range stands, if there is one.
pub fn name_in(outline: &Raw, range: Range) -> Result<Option<Position>, ToolError> {
    let takes_it = |item: &&RawDocumentSymbol| item.range == range;
    let names = outline.document_symbols()?.items.iter().filter(takes_it).filter_map(|item| item.selection);
    let mut names: BTreeSet<_> = names.map(|name| name.start).collect();
    if names.len() > 1 {
        let (count, told) = (names.len(), place::first_of(&names));
        let advice = format!("{count} symbols take this range, with names at {told}; pass one of these as `at`.");
        return Err(ToolError::InvalidParams(advice));
    }
    Ok(names.pop_first())
}

/// The smallest symbol whose name or whole holds the place; that of a name first.
pub(super) fn innermost(raw: &RawDocumentSymbols, at: Position) -> Result<Option<&RawDocumentSymbol>, ToolError> {
    let holds = |range: &Range| range.start <= at && at <= range.end;
    let names = |item| -> Result<Vec<_>, ToolError> {
        Ok(containers(raw, item)?.into_iter().chain(name(raw, item)?).map(Text).collect())
    };
    let mut found = None;
    for item in &raw.items {
        let is_named = item.selection.as_ref().is_some_and(holds);
        if is_named || holds(&item.range) {
            let key = (is_named, item.range.start, Reverse(item.range.end));
            let is_better = match found {
                None => true,
                // So that it is the same one whatever the order of those that hold the same.
                Some((best, other)) if best == key => names(item)? > names(other)?,
                Some((best, _)) => key > best,
            };
            if is_better {
                found = Some((key, item));
            }
        }
    }
    Ok(found.map(|(_, item)| item))
}

/// The names of what contains the symbol, the innermost last: at most [`MAX_CONTAINERS`].
pub(super) fn containers<'a>(raw: &'a RawDocumentSymbols, item: &RawDocumentSymbol) -> Result<Vec<&'a str>, ToolError> {
    if item.parent.is_none() {
        return Ok(text(raw, item.container_name)?.into_iter().collect());
    }
    let (mut containers, mut inner) = (Vec::new(), item);
    // A parent stands before what it contains; anything else is junk from a provider.
    let mut before = raw.items.len();
    while containers.len() < MAX_CONTAINERS
        && let Some(parent) = inner.parent.map(|parent| parent as usize)
    {
        inner = raw.items.get(parent).filter(|_| parent < before).ok_or(ToolError::ProviderFailed(None))?;
        before = parent;
        containers.extend(name(raw, inner)?);
    }
    containers.reverse();
    Ok(containers)
}

fn text(raw: &RawDocumentSymbols, index: Option<u32>) -> Result<Option<&str>, ToolError> {
    let text = index.map(|index| string_at(&raw.strings, index)).transpose()?;
    Ok(text.filter(|text| !text.is_empty()))
}
