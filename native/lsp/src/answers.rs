//! What language servers answer, made into the shapes of core. One odd item costs that item, not the answer.

use std::collections::HashMap;

use gateway_core::ask::{Raw, Shape};
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::highlight::{HighlightKind, RawHighlights};
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::position::{Position, Range};
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// LSP's severity of a diagnostic that has none, as VS Code reads it.
const ERROR: u32 = 1;
/// LSP's kind of a highlight that has none.
const TEXT: u32 = 1;

/// That an answer as a whole has not the shape that LSP gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Reads the result of a request whose answers have this shape.
pub(crate) fn read(shape: Shape, result: &RawValue) -> Result<Raw, Malformed> {
    match shape {
        Shape::Targets => targets(result).map(Raw::Targets),
        Shape::Locations => locations(result).map(Raw::Locations),
        Shape::Hovers => hovers(result).map(Raw::Hovers),
        Shape::DocumentSymbols => document_symbols(result).map(Raw::DocumentSymbols),
        Shape::WorkspaceSymbols => workspace_symbols(result).map(Raw::WorkspaceSymbols),
        Shape::Highlights => highlights(result).map(Raw::Highlights),
        _ => Err(Malformed),
    }
}

/// What was reported on documents, by their URIs.
pub(crate) fn diagnostics<'a>(reports: impl Iterator<Item = (&'a str, &'a [Report])>) -> RawDiagnostics {
    let (mut strings, mut raw) = (Strings::default(), RawDiagnostics::default());
    for (uri, reports) in reports {
        let uri = strings.index(uri);
        if reports.is_empty() {
            raw.items.push(RawReport { uri, diagnostic: None });
        }
        for report in reports {
            let Report(Some(diagnostic)) = report else {
                raw.incomplete.push(uri);
                continue;
            };
            let diagnostic = RawDiagnostic {
                range: diagnostic.range.into(),
                severity: Severity::of_lsp(diagnostic.severity.unwrap_or(ERROR)),
                code: diagnostic.code.as_ref().map(|code| strings.index(code)),
                source: diagnostic.source.as_ref().map(|source| strings.index(source)),
                message: strings.index(&diagnostic.message),
            };
            raw.items.push(RawReport { uri, diagnostic: Some(diagnostic) });
        }
    }
    raw.strings = strings.texts;
    raw
}

/// One diagnostic of a document; nothing if it has no range or no message.
#[derive(Debug, Clone)]
pub(crate) struct Report(Option<Diagnostic>);

impl Report {
    pub(crate) fn is_error(&self) -> bool {
        self.0.as_ref().is_some_and(|diagnostic| diagnostic.severity.unwrap_or(ERROR) == ERROR)
    }

    /// Reads the diagnostics of one document.
    pub(crate) fn read_all(items: &RawValue) -> Result<Vec<Self>, Malformed> {
        Ok(list(items)?.into_iter().map(|item| Self(lenient(item))).collect())
    }
}

#[derive(Debug, Clone, Deserialize)]
struct Diagnostic {
    range: LspRange,
    #[serde(default, deserialize_with = "if_it_fits")]
    severity: Option<u32>,
    #[serde(default, deserialize_with = "code")]
    code: Option<String>,
    #[serde(default, deserialize_with = "if_it_fits")]
    source: Option<String>,
    #[serde(deserialize_with = "message")]
    message: String,
}

fn targets(result: &RawValue) -> Result<RawTargets, Malformed> {
    #[derive(Deserialize)]
    #[serde(untagged, rename_all_fields = "camelCase")]
    enum Target {
        Link { target_uri: String, target_range: LspRange, target_selection_range: Option<LspRange> },
        Location { uri: String, range: LspRange },
    }
    let (mut uris, mut raw) = (Strings::default(), RawTargets::default());
    for item in one_or_list(result)? {
        let target = match lenient(item) {
            Some(Target::Link { target_uri, target_range, target_selection_range }) => RawTarget {
                uri: uris.index(&target_uri),
                range: target_range.into(),
                selection: target_selection_range.map(Range::from),
            },
            Some(Target::Location { uri, range }) => {
                RawTarget { uri: uris.index(&uri), range: range.into(), selection: None }
            }
            None => {
                raw.without_range += 1;
                continue;
            }
        };
        raw.items.push(target);
    }
    raw.uris = uris.texts;
    Ok(raw)
}

fn locations(result: &RawValue) -> Result<RawLocations, Malformed> {
    #[derive(Deserialize)]
    struct Location<'a> {
        #[serde(borrow)]
        uri: std::borrow::Cow<'a, str>,
        range: LspRange,
    }
    let (mut uris, mut raw) = (Strings::default(), RawLocations::default());
    for item in list(result)? {
        match serde_json::from_str::<Location<'_>>(item.get()) {
            Ok(Location { uri, range }) => raw.items.push(RawLocation { uri: uris.index(&uri), range: range.into() }),
            Err(_) => raw.without_range += 1,
        }
    }
    raw.uris = uris.texts;
    Ok(raw)
}

fn highlights(result: &RawValue) -> Result<RawHighlights, Malformed> {
    #[derive(Deserialize)]
    struct Highlight {
        range: LspRange,
        #[serde(default, deserialize_with = "if_it_fits")]
        kind: Option<u32>,
    }
    let mut raw = RawHighlights::default();
    for item in list(result)? {
        match lenient(item) {
            Some(Highlight { range, kind }) => {
                raw.items.push((range.into(), HighlightKind::of_lsp(kind.unwrap_or(TEXT))));
            }
            None => raw.without_range += 1,
        }
    }
    Ok(raw)
}

fn hovers(result: &RawValue) -> Result<RawHovers, Malformed> {
    #[derive(Deserialize)]
    struct Hover {
        contents: Box<RawValue>,
        #[serde(default, deserialize_with = "if_it_fits")]
        range: Option<LspRange>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Fragment {
        Text(String),
        Code { language: String, value: String },
        Markup { value: String },
    }
    let mut raw = RawHovers::default();
    if is_null(result) {
        return Ok(raw);
    }
    let Hover { contents, range } = serde_json::from_str(result.get()).map_err(|_| Malformed)?;
    let mut strings = Strings::default();
    for item in one_or_list(&contents)? {
        let text = match lenient(item) {
            Some(Fragment::Text(text) | Fragment::Markup { value: text }) => text,
            // As VS Code writes it.
            Some(Fragment::Code { language, value }) => format!("\n```{language}\n{value}\n```\n"),
            None => continue,
        };
        let value = strings.index(&text);
        raw.items.push(RawHoverFragment { range: range.map(Range::from), language: None, value });
    }
    raw.strings = strings.texts;
    Ok(raw)
}

fn document_symbols(result: &RawValue) -> Result<RawDocumentSymbols, Malformed> {
    /// One of a tree has the first two ranges, one of a list a location.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Symbol {
        #[serde(default, deserialize_with = "if_it_fits")]
        name: Option<String>,
        kind: u32,
        range: Option<LspRange>,
        selection_range: Option<LspRange>,
        location: Option<LocationOfSymbol>,
        children: Option<Vec<Box<RawValue>>>,
    }
    #[derive(Deserialize)]
    struct LocationOfSymbol {
        range: LspRange,
    }
    fn add(
        items: impl Iterator<Item = Box<RawValue>>,
        parent: Option<u32>,
        strings: &mut Strings,
        raw: &mut RawDocumentSymbols,
        flat: &mut bool,
    ) {
        for item in items {
            let Some(symbol) = lenient::<Symbol>(&item) else { continue };
            let Some(kind) = SymbolKind::of_lsp(symbol.kind) else { continue };
            let (range, selection) = match (symbol.range, symbol.location) {
                (Some(range), _) => (range, symbol.selection_range),
                (None, Some(LocationOfSymbol { range })) => {
                    *flat = true;
                    (range, Some(range))
                }
                (None, None) => continue,
            };
            let index = u32::try_from(raw.items.len()).unwrap_or(u32::MAX);
            raw.items.push(RawDocumentSymbol {
                name: symbol.name.map(|name| strings.index(&name)),
                kind,
                range: range.into(),
                selection: selection.map(Range::from),
                container_name: None,
                parent,
            });
            add(symbol.children.into_iter().flatten(), Some(index), strings, raw, flat);
        }
    }
    let (mut strings, mut raw, mut flat) = (Strings::default(), RawDocumentSymbols::default(), false);
    add(list(result)?.into_iter().map(ToOwned::to_owned), None, &mut strings, &mut raw, &mut flat);
    if flat {
        nest(&mut raw.items);
    }
    raw.strings = strings.texts;
    Ok(raw)
}

/// Makes a tree of a list by what contains what, as VS Code does.
fn nest(symbols: &mut [RawDocumentSymbol]) {
    symbols.sort_by(|one, other| {
        one.range.start.cmp(&other.range.start).then_with(|| other.range.end.cmp(&one.range.end))
    });
    let mut around: Vec<usize> = Vec::new();
    for at in 0..symbols.len() {
        let range = symbols[at].range;
        let contains = |outer: Range| outer.start <= range.start && range.end <= outer.end && outer != range;
        while around.last().is_some_and(|&outer| !contains(symbols[outer].range)) {
            around.pop();
        }
        symbols[at].parent = around.last().and_then(|&outer| u32::try_from(outer).ok());
        around.push(at);
    }
}

fn workspace_symbols(result: &RawValue) -> Result<RawWorkspaceSymbols, Malformed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Symbol {
        #[serde(default, deserialize_with = "if_it_fits")]
        name: Option<String>,
        kind: u32,
        #[serde(default, deserialize_with = "if_it_fits")]
        container_name: Option<String>,
        location: Location,
    }
    #[derive(Deserialize)]
    struct Location {
        uri: String,
        #[serde(default, deserialize_with = "if_it_fits")]
        range: Option<LspRange>,
    }
    let (mut strings, mut raw) = (Strings::default(), RawWorkspaceSymbols::default());
    for item in list(result)? {
        let Some(Symbol { name, kind, container_name, location }) = lenient(item) else { continue };
        let Some(kind) = SymbolKind::of_lsp(kind) else { continue };
        raw.items.push(RawWorkspaceSymbol {
            name: name.map(|name| strings.index(&name)),
            kind,
            container_name: container_name.map(|name| strings.index(&name)),
            uri: strings.index(&location.uri),
            range: location.range.map(Range::from),
        });
    }
    raw.strings = strings.texts;
    Ok(raw)
}

/// What several servers have answered to one question, one server's after the other's.
pub(crate) fn joined(shape: Shape, all: impl IntoIterator<Item = Raw>) -> Raw {
    all.into_iter().reduce(join).unwrap_or_else(|| shape.nothing())
}

fn join(first: Raw, next: Raw) -> Raw {
    let count = |texts: &[String]| u32::try_from(texts.len()).unwrap_or(u32::MAX);
    match (first, next) {
        (Raw::Targets(mut all), Raw::Targets(RawTargets { uris, items, without_range })) => {
            let before = count(&all.uris);
            all.uris.extend(uris);
            all.items.extend(items.into_iter().map(|item| RawTarget { uri: item.uri + before, ..item }));
            all.without_range += without_range;
            Raw::Targets(all)
        }
        (Raw::Locations(mut all), Raw::Locations(RawLocations { uris, items, without_range })) => {
            let before = count(&all.uris);
            all.uris.extend(uris);
            all.items.extend(items.into_iter().map(|item| RawLocation { uri: item.uri + before, ..item }));
            all.without_range += without_range;
            Raw::Locations(all)
        }
        (Raw::Hovers(mut all), Raw::Hovers(RawHovers { strings, items })) => {
            let before = count(&all.strings);
            all.strings.extend(strings);
            all.items.extend(items.into_iter().map(|item| RawHoverFragment {
                language: item.language.map(|language| language + before),
                value: item.value + before,
                ..item
            }));
            Raw::Hovers(all)
        }
        (Raw::DocumentSymbols(mut all), Raw::DocumentSymbols(RawDocumentSymbols { strings, items })) => {
            let (before, above) = (count(&all.strings), u32::try_from(all.items.len()).unwrap_or(u32::MAX));
            all.strings.extend(strings);
            all.items.extend(items.into_iter().map(|item| RawDocumentSymbol {
                name: item.name.map(|name| name + before),
                container_name: item.container_name.map(|name| name + before),
                parent: item.parent.map(|parent| parent + above),
                ..item
            }));
            Raw::DocumentSymbols(all)
        }
        (Raw::WorkspaceSymbols(mut all), Raw::WorkspaceSymbols(RawWorkspaceSymbols { strings, items })) => {
            let before = count(&all.strings);
            all.strings.extend(strings);
            all.items.extend(items.into_iter().map(|item| RawWorkspaceSymbol {
                name: item.name.map(|name| name + before),
                container_name: item.container_name.map(|name| name + before),
                uri: item.uri + before,
                ..item
            }));
            Raw::WorkspaceSymbols(all)
        }
        (Raw::Highlights(mut all), Raw::Highlights(RawHighlights { items, without_range, .. })) => {
            all.items.extend(items);
            all.without_range += without_range;
            Raw::Highlights(all)
        }
        // All answers to one question have one shape.
        (first, _) => first,
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct LspRange {
    start: LspPosition,
    end: LspPosition,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct LspPosition {
    line: u32,
    character: u32,
}

impl From<LspRange> for Range {
    fn from(LspRange { start, end }: LspRange) -> Self {
        let [start, end] = [start, end].map(|LspPosition { line, character }| Position { line, character });
        Self { start, end }
    }
}

/// Distinct texts, by their order of appearance.
#[derive(Default)]
struct Strings {
    texts: Vec<String>,
    known: HashMap<String, u32>,
}

impl Strings {
    fn index(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.known.get(text) {
            return index;
        }
        let index = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), index);
        index
    }
}

fn is_null(result: &RawValue) -> bool {
    result.get() == "null"
}

/// The items of a list; none of null.
fn list(result: &RawValue) -> Result<Vec<&RawValue>, Malformed> {
    if is_null(result) { Ok(Vec::new()) } else { serde_json::from_str(result.get()).map_err(|_| Malformed) }
}

/// As [`list`], where LSP also allows one item that is in no list.
fn one_or_list(result: &RawValue) -> Result<Vec<&RawValue>, Malformed> {
    if is_null(result) || result.get().starts_with('[') { list(result) } else { Ok(vec![result]) }
}

fn lenient<T: DeserializeOwned>(item: &RawValue) -> Option<T> {
    serde_json::from_str(item.get()).ok()
}

/// A member that may be left out counts as left out if it is anything else.
fn if_it_fits<'de, D: serde::Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

fn code<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// A message is a text, or since LSP 3.18 a text with its kind.
fn message<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => Ok(text),
        Value::Object(mut markup) => match markup.remove("value") {
            Some(Value::String(text)) => Ok(text),
            _ => Err(serde::de::Error::custom("a message without a text")),
        },
        _ => Err(serde::de::Error::custom("no message")),
    }
}
