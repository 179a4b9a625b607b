//! What holds for every hover, symbol and diagnostic, not only for those that somebody thought of.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod generated;
mod in_memory;

use std::collections::{BTreeMap, BTreeSet};

use gateway_core::ask::Raw;
use gateway_core::cursor::Cursor;
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::epochs::Epochs;
use gateway_core::error::ToolError;
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::keys::SnapshotKey;
use gateway_core::page::ResponseBudget;
use gateway_core::position::{Position, Range};
use gateway_core::roots::NotAllowed;
use gateway_core::snapshots::Retained;
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use gateway_core::tool::Registered;
use gateway_core::uri::CanonicalUri;
use generated::{BUDGET, Call, URIS, disk, intern, items, page_size, range, roots, uri};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Texts that collide, that UTF-16 orders otherwise than UTF-8, and that JSON and ids have to treat with care.
fn text() -> impl Strategy<Value = String> {
    select(&["", "a", "b", "B", "ab", "é", "\u{ffee}", "😀", "a|b", "|", "\"\\\n\u{1}", " "][..])
        .prop_map(str::to_owned)
}

#[derive(Debug, Clone)]
struct Symbol {
    name: Option<String>,
    kind: u32,
    range: Option<Range>,
    selection: Option<Range>,
    container_name: Option<String>,
    uri: String,
}

fn symbol() -> impl Strategy<Value = Symbol> {
    let any = (of(text()), 1..3_u32, of(range()), of(range()), of(text()), uri()).prop_map(
        |(name, kind, range, selection, container_name, uri)| Symbol {
            name,
            kind,
            range,
            selection,
            container_name,
            uri,
        },
    );
    // Twins differ in nothing that the contract orders by.
    let twin = range().prop_map(|selection| Symbol {
        name: Some("a".to_owned()),
        kind: 1,
        range: Some(ANYWHERE),
        selection: Some(selection),
        container_name: None,
        uri: "file:///ws/a.ts".to_owned(),
    });
    prop_oneof![2 => any, 1 => twin]
}

fn workspace_symbols(symbols: &[Symbol]) -> RawWorkspaceSymbols {
    let mut strings = Vec::new();
    let items = symbols
        .iter()
        .map(|symbol| RawWorkspaceSymbol {
            name: symbol.name.as_ref().map(|name| intern(&mut strings, name)),
            kind: SymbolKind::of_lsp(symbol.kind).unwrap(),
            container_name: symbol.container_name.as_ref().map(|name| intern(&mut strings, name)),
            uri: intern(&mut strings, &symbol.uri),
            range: symbol.range,
        })
        .collect();
    RawWorkspaceSymbols { strings, items }
}

/// A symbol of an outline: which of the ones before it contains it, and its place among those in the same one.
type Placed = (Symbol, Option<Index>, u32);

fn outline() -> impl Strategy<Value = Vec<Placed>> {
    vec((symbol(), of(any::<Index>()), any::<u32>()), 0..30)
}

/// The outline in the order of an editor that sorts what a symbol contains by `place`.
fn document_symbols(outline: &[Placed], place: impl Fn(u32) -> u32) -> RawDocumentSymbols {
    let parents: Vec<Option<usize>> =
        (0..outline.len()).map(|at| outline[at].1.filter(|_| at > 0).map(|parent| parent.index(at))).collect();
    let mut raw = RawDocumentSymbols::default();
    let mut rows = BTreeMap::new();
    let mut ahead: Vec<usize> = Vec::new();
    let contained = |parent: Option<usize>| {
        let mut inside: Vec<usize> = (0..outline.len()).filter(|&at| parents[at] == parent).collect();
        // The last one is taken first.
        inside.sort_by_key(|&at| std::cmp::Reverse((place(outline[at].2), at)));
        inside
    };
    ahead.extend(contained(None));
    while let Some(at) = ahead.pop() {
        let Symbol { name, kind, range, selection, container_name, .. } = &outline[at].0;
        rows.insert(at, u32::try_from(raw.items.len()).unwrap());
        let strings = &mut raw.strings;
        raw.items.push(RawDocumentSymbol {
            name: name.as_ref().map(|name| intern(strings, name)),
            kind: SymbolKind::of_lsp(*kind).unwrap(),
            range: range.or(*selection).unwrap_or(ANYWHERE),
            selection: *selection,
            container_name: container_name.as_ref().map(|name| intern(strings, name)),
            parent: parents[at].map(|parent| rows[&parent]),
        });
        ahead.extend(contained(Some(at)));
    }
    raw
}

const ANYWHERE: Range = Range { start: Position { line: 1, character: 1 }, end: Position { line: 1, character: 1 } };

fn outlined(raw: &RawDocumentSymbols) -> Vec<u8> {
    let call = Call::new("vscode.lsp.documentSymbols", [Raw::DocumentSymbols(raw.clone())]);
    Call { uri: "file:///ws/é.ts", ..call }.payload(BUDGET).unwrap()
}

#[derive(Debug, Clone)]
struct Report {
    uri: String,
    diagnostic: Option<Diagnostic>,
}

#[derive(Debug, Clone)]
struct Diagnostic {
    range: Range,
    severity: Option<u32>,
    code: Option<String>,
    source: Option<String>,
    message: String,
}

fn reports() -> impl Strategy<Value = Vec<Report>> {
    let any = (range(), of(1..3_u32), of(text()), of(text()), text())
        .prop_map(|(range, severity, code, source, message)| Diagnostic { range, severity, code, source, message });
    let any = (uri(), of(any)).prop_map(|(uri, diagnostic)| Report { uri, diagnostic });
    // Twins differ in nothing that the contract orders by.
    let twin = range().prop_map(|Range { end, .. }| Report {
        uri: "file:///ws/a.ts".to_owned(),
        diagnostic: Some(Diagnostic {
            range: Range { end, ..ANYWHERE },
            severity: None,
            code: None,
            source: None,
            message: String::new(),
        }),
    });
    vec(prop_oneof![2 => any, 1 => twin], 0..60)
}

fn diagnostics(reports: &[Report]) -> RawDiagnostics {
    let mut strings = Vec::new();
    let items = reports
        .iter()
        .map(|Report { uri, diagnostic }| RawReport {
            uri: intern(&mut strings, uri),
            diagnostic: diagnostic.as_ref().map(|diagnostic| RawDiagnostic {
                range: diagnostic.range,
                severity: diagnostic.severity.and_then(Severity::of_lsp),
                code: diagnostic.code.as_ref().map(|code| intern(&mut strings, code)),
                source: diagnostic.source.as_ref().map(|source| intern(&mut strings, source)),
                message: intern(&mut strings, &diagnostic.message),
            }),
        })
        .collect();
    RawDiagnostics { strings, items, incomplete: Vec::new() }
}

/// A fragment of a hover: its range, its language, and its text.
type Fragment = (Option<Range>, Option<String>, String);

fn fragments() -> impl Strategy<Value = Vec<Fragment>> {
    let long = (text(), 0..3_000_usize, text()).prop_map(|(repeated, times, end)| repeated.repeat(times) + &end);
    vec((of(range()), of(text()), prop_oneof![4 => text(), 1 => long]), 0..12)
}

fn hovers(fragments: &[Fragment]) -> RawHovers {
    let mut strings = Vec::new();
    let items = fragments
        .iter()
        .map(|(range, language, value)| RawHoverFragment {
            range: *range,
            language: language.as_ref().map(|language| intern(&mut strings, language)),
            value: intern(&mut strings, value),
        })
        .collect();
    RawHovers { strings, items }
}

fn shuffled<T: std::fmt::Debug + Clone>(
    items: impl Strategy<Value = Vec<T>>,
) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    items.prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle()))
}

/// A paged tool with a full set.
struct Paged {
    tool: Registered,
    retained: Retained,
    first: Cursor,
}

impl Paged {
    fn of(call: &Call) -> Self {
        let (request, disk) = (call.arguments().question.request_key(call.tool, None), disk());
        let snapshot = SnapshotKey::derive(call.tool.epochs(), &request, roots(&disk).key(), &Epochs::default());
        Self { tool: call.tool, retained: call.set(), first: Cursor { offset: 0, request, snapshot } }
    }

    fn symbols(symbols: &[Symbol]) -> Self {
        Self::of(&Call::new("vscode.lsp.workspaceSymbols", [Raw::WorkspaceSymbols(workspace_symbols(symbols))]))
    }

    fn diagnostics(reports: &[Report]) -> Self {
        Self::of(&Call::new("vscode.lsp.diagnostics.workspace", [Raw::Diagnostics(diagnostics(reports))]))
    }

    /// The page from the cursor on: its payload and how many items that has.
    fn page(&self, cursor: &Cursor, size: usize, budget: ResponseBudget) -> Result<(Vec<u8>, usize), ToolError> {
        let payload = self.tool.page(&self.retained, cursor, page_size(size), budget)?;
        Ok((payload.joined(&self.retained.set), payload.items))
    }

    /// The items of all pages of these sizes, over and over, within the budget.
    fn collected(&self, sizes: &[usize], budget: ResponseBudget) -> Vec<Value> {
        let mut cursor = self.first.clone();
        let mut collected = Vec::new();
        for &size in sizes.iter().cycle() {
            let (payload, told) = self.page(&cursor, size, budget).unwrap();
            let payload: Value = serde_json::from_slice(&payload).unwrap();
            let on_page = payload["items"].as_array().unwrap();
            assert_eq!(on_page.len(), told);
            assert!(on_page.len() <= size);
            collected.extend(on_page.iter().cloned());
            let Some(next) = payload["nextCursor"].as_str() else { break };
            let next = Cursor::decode(next, &cursor.request).unwrap();
            assert_eq!(next.offset, cursor.offset + size, "each page begins where the one before ended");
            cursor = next;
        }
        collected
    }
}

fn hover(fragments: &[Fragment], budget: ResponseBudget) -> Result<Vec<u8>, ToolError> {
    Call::new("vscode.lsp.hover", [Raw::Hovers(hovers(fragments))]).payload(budget)
}

fn document_diagnostics(raw: &RawDiagnostics, document: &CanonicalUri) -> Result<Vec<u8>, ToolError> {
    let uri = URIS.iter().find(|uri| roots(&disk()).admit_output(uri, &disk()).as_ref() == Ok(document)).unwrap();
    let call = Call::new("vscode.lsp.diagnostics.document", [Raw::Diagnostics(raw.clone())]);
    Call { uri, ..call }.payload(BUDGET)
}

/// Values as the contract orders them: numbers by size, texts as JavaScript compares them, what is missing last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Number(u64),
    Text(Vec<u16>),
    Missing,
}

impl Rank {
    fn of(value: Option<&Value>) -> Self {
        match value {
            None => Self::Missing,
            Some(Value::String(text)) => Self::Text(text.encode_utf16().collect()),
            Some(number) => Self::Number(number.as_u64().unwrap()),
        }
    }
}

/// What an item is ordered by: these members, and then its canonical JSON (D5).
fn ranks(item: &Value, pointers: &[&str]) -> Vec<Rank> {
    let canonical = Value::from(serde_jcs::to_string(item).unwrap());
    let members = pointers.iter().map(|pointer| Rank::of(item.pointer(pointer)));
    members.chain([Rank::of(Some(&canonical))]).collect()
}

const RANGE: [&str; 4] = ["/range/start/line", "/range/start/character", "/range/end/line", "/range/end/character"];
const LOCATION: [&str; 5] = [
    "/location/uri",
    "/location/range/start/line",
    "/location/range/start/character",
    "/location/range/end/line",
    "/location/range/end/character",
];
const DOCUMENT_SYMBOL: [&str; 7] = [RANGE[0], RANGE[1], RANGE[2], RANGE[3], "/name", "/kind", "/containerName"];
const WORKSPACE_SYMBOL: [&str; 8] =
    [LOCATION[0], LOCATION[1], LOCATION[2], LOCATION[3], LOCATION[4], "/name", "/kind", "/containerName"];
const DIAGNOSTIC: [&str; 6] = [RANGE[0], RANGE[1], "/severity", "/code", "/source", "/message"];

fn is_in_order(items: &[Value], pointers: &[&str]) -> bool {
    items.is_sorted_by(|before, after| ranks(before, pointers) < ranks(after, pointers))
}

/// The id of a canonical string that is made of these members, as the contract's section 3.7 says.
fn id(parts: &[Value]) -> String {
    let text = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
    let text = parts.iter().map(text).collect::<Vec<_>>().join("|");
    let digest = Sha256::digest(text.as_bytes());
    let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", hex.concat())
}

fn or_empty(item: &Value, name: &str) -> Value {
    item.get(name).cloned().unwrap_or_else(|| "".into())
}

fn places(range: &Value) -> [Value; 2] {
    ["start", "end"].map(|end| format!("{}:{}", range[end]["line"], range[end]["character"]).into())
}

/// What a payload holds, as a comparable whole without the ids.
fn without_ids(items: impl IntoIterator<Item = Value>) -> BTreeSet<String> {
    let without_id = |mut item: Value| {
        item.as_object_mut().unwrap().remove("id");
        item.to_string()
    };
    items.into_iter().map(without_id).collect()
}

fn json_of(Range { start, end }: Range) -> Value {
    serde_json::json!({
        "start": { "line": start.line, "character": start.character },
        "end": { "line": end.line, "character": end.character },
    })
}

proptest! {
    #[test]
    fn shuffling_what_the_editor_returned_never_changes_a_byte(
        (symbols, reshuffled_symbols) in shuffled(vec(symbol(), 0..60)),
        (reports, reshuffled_reports) in shuffled(reports()),
        (fragments, reshuffled_fragments) in shuffled(fragments()),
        outline in outline(),
        budget in 500..40_000_usize,
    ) {
        prop_assert_eq!(Paged::symbols(&symbols).retained, Paged::symbols(&reshuffled_symbols).retained);
        prop_assert_eq!(Paged::diagnostics(&reports).retained, Paged::diagnostics(&reshuffled_reports).retained);
        let hover = |fragments| hover(fragments, ResponseBudget::new(budget, 0));
        prop_assert_eq!(hover(&fragments), hover(&reshuffled_fragments));
        let placed_otherwise = document_symbols(&outline, u32::reverse_bits);
        prop_assert_eq!(outlined(&document_symbols(&outline, |place| place)), outlined(&placed_otherwise));
        let lines = |raw| Call::new("vscode.lsp.outline", [Raw::DocumentSymbols(raw)]).set();
        prop_assert_eq!(lines(document_symbols(&outline, |place| place)), lines(placed_otherwise));
    }

    #[test]
    fn what_the_editor_returned_twice_is_there_once(symbols in vec(symbol(), 0..30), reports in reports(), fragments in fragments()) {
        let twice = |symbols: &[Symbol]| [symbols, symbols].concat();
        prop_assert_eq!(Paged::symbols(&twice(&symbols)).retained, Paged::symbols(&symbols).retained);
        let doubled = [&reports[..], &reports].concat();
        prop_assert_eq!(Paged::diagnostics(&doubled).retained, Paged::diagnostics(&reports).retained);
        let doubled = [&fragments[..], &fragments].concat();
        prop_assert_eq!(hover(&doubled, BUDGET), hover(&fragments, BUDGET));
    }

    #[test]
    fn pages_of_any_size_add_up_to_the_full_set(
        symbols in vec(symbol(), 0..60),
        reports in reports(),
        sizes in vec(1..20_usize, 1..5),
    ) {
        for paged in [Paged::symbols(&symbols), Paged::diagnostics(&reports)] {
            prop_assert_eq!(paged.collected(&sizes, BUDGET), items(&paged.retained.set));
        }
    }

    #[test]
    fn symbols_and_diagnostics_are_in_the_contracts_order_without_duplicates(
        symbols in vec(symbol(), 0..60),
        reports in reports(),
        outline in outline(),
    ) {
        prop_assert!(is_in_order(&items(&Paged::symbols(&symbols).retained.set), &WORKSPACE_SYMBOL));

        let files = items(&Paged::diagnostics(&reports).retained.set);
        let uris: Vec<_> = files.iter().map(|file| file["uri"].as_str().unwrap()).collect();
        prop_assert!(uris.is_sorted_by(|before, after| before < after), "{:?}", uris);
        for file in &files {
            let diagnostics = file["diagnostics"].as_array().unwrap();
            prop_assert!(!diagnostics.is_empty());
            prop_assert!(is_in_order(diagnostics, &DIAGNOSTIC), "{}", file);
        }

        let payload: Value = serde_json::from_slice(&outlined(&document_symbols(&outline, |place| place))).unwrap();
        prop_assert!(is_in_order(payload["symbols"].as_array().unwrap(), &DOCUMENT_SYMBOL), "{}", payload);
    }

    #[test]
    fn ids_are_the_hashes_of_the_contracts_canonical_strings(
        symbols in vec(symbol(), 0..30),
        reports in reports(),
        outline in outline(),
    ) {
        for item in items(&Paged::symbols(&symbols).retained.set) {
            let [start, end] = places(&item["location"]["range"]);
            let [uri, name, kind] = [&item["location"]["uri"], &item["name"], &item["kind"]].map(Value::clone);
            prop_assert_eq!(&item["id"], &id(&[uri, name, kind, start, end, or_empty(&item, "containerName")]));
        }
        for file in items(&Paged::diagnostics(&reports).retained.set) {
            for item in file["diagnostics"].as_array().unwrap() {
                let [start, end] = places(&item["range"]);
                let [severity, code, source] = ["severity", "code", "source"].map(|name| or_empty(item, name));
                let parts = [file["uri"].clone(), start, end, severity, code, source, item["message"].clone()];
                prop_assert_eq!(&item["id"], &id(&parts));
            }
        }
        let payload: Value = serde_json::from_slice(&outlined(&document_symbols(&outline, |place| place))).unwrap();
        for item in payload["symbols"].as_array().unwrap() {
            let [start, end] = places(&item["range"]);
            let [selection_start, selection_end] = places(&item["selectionRange"]);
            let [name, kind] = [&item["name"], &item["kind"]].map(Value::clone);
            let container = or_empty(item, "containerName");
            let uri = "file:///ws/%C3%A9.ts".into();
            prop_assert_eq!(
                &item["id"],
                &id(&[uri, name, kind, start, end, selection_start, selection_end, container])
            );
        }
    }

    #[test]
    fn no_symbol_of_the_workspace_is_lost_and_none_is_made_up(symbols in vec(symbol(), 0..60)) {
        let Retained { set, omissions, .. } = Paged::symbols(&symbols).retained;
        let disk = disk();
        let roots = roots(&disk);
        let mut expected = Vec::new();
        let (mut outside, mut missing) = (BTreeSet::new(), BTreeSet::new());
        let (mut without_name, mut without_range) = (BTreeSet::new(), BTreeSet::new());
        for symbol in &symbols {
            let Symbol { name, kind, range, container_name, uri, .. } = symbol;
            let name = name.as_ref().filter(|name| !name.is_empty());
            let container_name = container_name.as_ref().filter(|name| !name.is_empty());
            match (roots.admit_output(uri, &disk), name, *range) {
                (Err(NotAllowed::Outside(path)), ..) => {
                    outside.insert((path, name, *range, *kind, container_name));
                }
                (Err(NotAllowed::Missing), ..) => {
                    missing.insert((uri, name, *range, *kind, container_name));
                }
                (Ok(uri), None, range) => {
                    without_name.insert((uri, range, *kind, container_name));
                }
                (Ok(uri), Some(name), None) => {
                    without_range.insert((uri, name, *kind, container_name));
                }
                (Ok(uri), Some(name), Some(range)) => {
                    let location = serde_json::json!({ "uri": uri.as_str(), "range": json_of(range) });
                    let mut item = serde_json::json!({ "name": name, "kind": kind, "location": location });
                    if let Some(container_name) = container_name {
                        item["containerName"] = container_name.as_str().into();
                    }
                    expected.push(item);
                }
            }
        }
        prop_assert_eq!(without_ids(items(&set)), without_ids(expected));
        prop_assert_eq!(
            (omissions.outside, omissions.missing, omissions.without_name, omissions.without_range),
            (outside.len(), missing.len(), without_name.len(), without_range.len())
        );
    }

    #[test]
    fn no_diagnostic_is_lost_and_none_is_made_up_and_both_tools_agree(reports in reports()) {
        let raw = diagnostics(&reports);
        let disk = disk();
        let roots = roots(&disk);
        let mut expected: BTreeMap<_, Vec<Value>> = BTreeMap::new();
        let mut not_allowed = BTreeSet::new();
        for Report { uri, diagnostic } in &reports {
            let canonical = match roots.admit_output(uri, &disk) {
                Ok(canonical) => canonical,
                Err(why) => {
                    not_allowed.extend(diagnostic.as_ref().map(|_| why));
                    continue;
                }
            };
            let of_file = expected.entry(canonical).or_default();
            if let Some(Diagnostic { range, severity, code, source, message }) = diagnostic {
                let mut item = serde_json::json!({ "range": json_of(*range), "message": message });
                for (name, value) in [
                    ("severity", severity.map(Value::from)),
                    ("code", code.clone().map(Value::from)),
                    ("source", source.clone().filter(|source| !source.is_empty()).map(Value::from)),
                ] {
                    if let Some(value) = value {
                        item[name] = value;
                    }
                }
                of_file.push(item);
            }
        }

        let Retained { set, omissions, .. } = Paged::diagnostics(&reports).retained;
        let files: BTreeMap<String, Value> =
            items(&set).into_iter().map(|file| (file["uri"].as_str().unwrap().to_owned(), file["diagnostics"].clone())).collect();
        for (uri, of_file) in &expected {
            let document = document_diagnostics(&raw, uri).unwrap();
            let document: Value = serde_json::from_slice(&document).unwrap();
            let group = files.get(uri.as_str()).cloned().unwrap_or_else(|| Value::Array(Vec::new()));
            prop_assert_eq!(&document["diagnostics"], &group);
            prop_assert_eq!(without_ids(group.as_array().unwrap().clone()), without_ids(of_file.clone()));
        }
        prop_assert_eq!(files.len(), expected.values().filter(|of_file| !of_file.is_empty()).count());
        // Among the URIs there is one whose file is missing.
        prop_assert_eq!(omissions.outside + omissions.missing, not_allowed.len());
        prop_assert_eq!(omissions.missing, usize::from(not_allowed.contains(&NotAllowed::Missing)));
        for uri in ["file:///ws/a.ts", "file:///ws/a%20b.ts"] {
            let uri = roots.admit(uri, &disk).unwrap().uri;
            let answer = document_diagnostics(&raw, &uri);
            prop_assert_eq!(answer.err(), (!expected.contains_key(&uri)).then_some(ToolError::NotAnalysed));
        }
    }

    #[test]
    fn a_page_of_one_file_always_fits_so_that_paging_goes_on(reports in reports(), max_bytes in 600..2_000_usize) {
        let paged = Paged::diagnostics(&reports);
        let whole = items(&paged.retained.set);
        let mut whole = whole.iter();
        // A file of which nothing fits is left out; the others are there in order, each with its first diagnostics.
        for file in paged.collected(&[1], ResponseBudget::new(max_bytes, 0)) {
            let of_same_uri = whole.find(|whole| whole["uri"] == file["uri"]).unwrap();
            let cut = file["diagnostics"].as_array().unwrap();
            prop_assert!(!cut.is_empty());
            prop_assert!(of_same_uri["diagnostics"].as_array().unwrap().starts_with(cut));
        }
    }

    #[test]
    fn the_suggested_page_size_is_the_largest_that_fits(symbols in vec(symbol(), 5..60), max_bytes in 600..4_000_usize) {
        let paged = Paged::symbols(&symbols);
        let budget = ResponseBudget::new(max_bytes, 0);
        let page = |size| paged.page(&paged.first, size, budget).map(|(payload, _)| payload.len());
        match page(200) {
            Ok(bytes) => prop_assert!(bytes <= max_bytes),
            Err(ToolError::ResponseTooLarge { suggested_page_size: Some(size), .. }) => {
                prop_assert!(page(size).unwrap() <= max_bytes);
                prop_assert!(page(size + 1).is_err());
            }
            Err(_) => prop_assert!(page(1).is_err()),
        }
    }

    #[test]
    fn a_hover_fits_is_in_order_and_holds_the_beginnings_of_its_fragments(
        fragments in fragments(),
        max_bytes in 200..40_000_usize,
    ) {
        let json = hover(&fragments, ResponseBudget::new(max_bytes, 0)).unwrap();
        prop_assert!(json.len() <= max_bytes);
        let payload: Value = serde_json::from_slice(&json).unwrap();
        let values: Vec<&str> =
            payload["contents"].as_array().unwrap().iter().map(|content| content["value"].as_str().unwrap()).collect();
        prop_assert!(values.len() <= 8);
        prop_assert!(values.is_sorted_by(|before, after| before.encode_utf16().lt(after.encode_utf16())));
        let whole: BTreeSet<String> = fragments
            .iter()
            .filter(|(.., value)| !value.trim().is_empty())
            .map(|(_, language, value)| match language {
                Some(language) => format!("```{language}\n{value}\n```"),
                None => value.clone(),
            })
            .collect();
        for value in &values {
            prop_assert!(value.chars().count() <= 8_192);
            prop_assert!(whole.iter().any(|whole| whole.starts_with(value)));
        }
        let is_whole = values.iter().all(|value| whole.contains(*value)) && values.len() == whole.len();
        let said = payload["summary"].as_str().unwrap();
        let expected = if whole.is_empty() { "No hover available." } else { "Hover available." };
        prop_assert_eq!(said == expected, is_whole, "{}", said);
    }
}
