//! `vscode.lsp.workspaceSymbols` (contract section 7.5).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shared::{
    container_field, items_page, location_schema, page_fields, page_output, paged, symbol_fields, trimmed,
};
use crate::ask::{Ask, Raw, Shape, Subject};
use crate::canonical::{CanonicalSet, Names, string_at};
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::keys::ItemId;
use crate::limits::MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL;
use crate::order::{MissingLast, Text};
use crate::page::{PageSize, Payload, ResponseBudget};
use crate::position::Range;
use crate::schema::{Field, Schema, required};
use crate::snapshots::Retained;
use crate::symbol::{RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool, read};
use crate::uri::CanonicalUri;

const ASK: Ask = Ask::new("workspace/symbol", Shape::WorkspaceSymbols);

pub(super) struct WorkspaceSymbols;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    query: String,
    #[serde(default, deserialize_with = "super::shared::page_size")]
    page_size: Option<u64>,
    #[serde(default)]
    cursor: Option<String>,
}

impl Tool for WorkspaceSymbols {
    fn name(&self) -> &'static str {
        "vscode.lsp.workspaceSymbols"
    }

    fn title(&self) -> &'static str {
        "Workspace symbols"
    }

    fn description(&self) -> &'static str {
        "Searches the whole workspace for symbols by name, in pages. Use it when you know what something is called and not where it is."
    }

    fn input(&self) -> Vec<Field> {
        let query = "The name to look for, or part of it. Spaces around it are ignored, and it may not be blank. How it is matched is up to each language server: mostly as a case-insensitive part or as letters in this order.";
        let mut fields = vec![required("query", Schema::of(query, r#""string","minLength":1,"pattern":"\\S""#))];
        fields.extend(page_fields("symbols", "the same query"));
        fields
    }

    fn output(&self) -> Vec<Field> {
        let items =
            "The symbols on this page. Over all pages they are sorted by uri, range and name, without duplicates.";
        let mut fields = Vec::from(symbol_fields());
        fields.extend([required("location", location_schema("Where the symbol is.")), container_field()]);
        page_output(items, &Schema::object("One symbol.", &fields))
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let Input { query, page_size, cursor } = read(arguments)?;
        let query = trimmed(&query);
        if query.is_empty() {
            // What the schema's pattern takes for a character and Unicode for whitespace.
            let advice = "`query` is blank; pass a name, or part of one, and call again.";
            return Err(Misfit::Refused(ToolError::InvalidParams(advice.to_owned())));
        }
        let subject = Subject::Workspace { query: Some(query.to_owned()) };
        Ok(paged(Question::about(subject), page_size, cursor))
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        let raw = raw.workspace_symbols()?;
        let mut names = Names::new(asked.roots, asked.real);
        let admitted = names.admit(&raw.strings, raw.items.iter().map(|item| item.uri))?;
        let symbols = raw.items.iter().map(|item| Symbol::of(raw, item));
        let symbols = admitted.into_iter().zip(symbols).map(|(name, symbol)| Ok((name, symbol?)));
        let allowed = names.order(symbols.collect::<Result<_, ToolError>>()?);

        let mut omissions = allowed.omissions();
        let mut encoded = Vec::with_capacity(allowed.len());
        for (uri, symbol) in allowed.iter() {
            match (symbol.name, symbol.range) {
                (None, _) => omissions.without_name += 1,
                (Some(_), None) => omissions.without_range += 1,
                (Some(Text(name)), Some(range)) => encoded.push(symbol.encoded(uri, name, range)),
            }
        }
        if encoded.len() > MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL {
            return Err(ToolError::TooManyItems { items: encoded.len(), max_items: MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL });
        }
        Ok(Canonical::Set(Retained {
            set: CanonicalSet::encode(encoded)?,
            omissions,
            completeness: asked.completeness,
            frame: None,
        }))
    }

    fn is_paged(&self) -> bool {
        true
    }

    fn page(
        &self,
        retained: &Retained,
        cursor: &Cursor,
        size: PageSize,
        budget: ResponseBudget,
    ) -> Result<Payload, ToolError> {
        items_page(retained, cursor, size, budget, "workspace symbol", "workspace symbols")
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
