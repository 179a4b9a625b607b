//! What holds for every answer, not only for those that somebody thought of.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod generated;
mod in_memory;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gateway_core::ask::Raw;
use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epochs, OF_SYMBOLS};
use gateway_core::error::{ErrorCode, ToolError};
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::limits::Limits;
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::page::WantedPage;
use gateway_core::place;
use gateway_core::position::{Position, Range};
use gateway_core::roots::{AllowedRoots, NotAllowed, RealPaths, Unresolved};
use gateway_core::snapshots::{Retained, Snapshots};
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use gateway_core::tool::Canonical;
use gateway_core::tools;
use gateway_core::uri::{CanonicalUri, PathStyle, file_uri};
use generated::{BUDGET, Call, disk, intern, items, page_size, range, roots, uri};
use in_memory::InMemory;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

const REFERENCES: &str = "vscode.lsp.references";

type Returned = Vec<(String, Range)>;

fn returned() -> impl Strategy<Value = Returned> {
    vec((uri(), range()), 0..60)
}

fn links() -> impl Strategy<Value = Vec<(String, Range, Option<Range>)>> {
    vec((uri(), range(), proptest::option::of(range())), 0..12)
}

fn named_places() -> impl Strategy<Value = Vec<(String, Range, &'static str)>> {
    vec((uri(), range(), select(["a", "A", "ab", "b"].as_slice())), 0..40)
}

fn kind() -> SymbolKind {
    SymbolKind::of_lsp(12).unwrap()
}

fn symbols(found: &[(String, Range, &str)]) -> RawWorkspaceSymbols {
    let mut strings = Vec::new();
    let items = found
        .iter()
        .map(|(uri, range, name)| RawWorkspaceSymbol {
            name: Some(intern(&mut strings, name)),
            kind: kind(),
            container_name: None,
            uri: intern(&mut strings, uri),
            range: Some(*range),
        })
        .collect();
    RawWorkspaceSymbols { strings, items }
}

/// The outline of a document: what was found there.
fn outline(found: &[(String, Range, &str)], document: &str) -> RawDocumentSymbols {
    let mut strings = Vec::new();
    let items = found
        .iter()
        .filter(|(uri, _, _)| uri == document)
        .map(|(_, range, name)| RawDocumentSymbol {
            name: Some(intern(&mut strings, name)),
            kind: kind(),
            range: *range,
            selection: None,
            container_name: None,
            parent: None,
        })
        .collect();
    RawDocumentSymbols { strings, items }
}

/// At most how many tokens a page takes: docs/TOOLS.md has how they are counted.
fn tokens_of(json: &[u8], cursor: &Value) -> u64 {
    let text = std::str::from_utf8(json).unwrap().replace(&cursor.to_string(), "null");
    let (mut tokens, mut last, mut room) = (if cursor.is_null() { 0 } else { 150 }, 'x', 0);
    for character in text.chars() {
        let (kind, size) = match character {
            '0'..='9' => ('9', 3),
            'a'..='z' | 'A'..='Z' => ('a', 8),
            '\0'..='\x7f' => ('.', 4),
            _ => ('x', 2),
        };
        for _ in 0..character.len_utf8() {
            if kind != last || room == 0 {
                (tokens, room) = (tokens + 1, size);
            }
            (last, room) = (kind, room - 1);
        }
    }
    tokens
}

/// The same call with the outlines that its tool takes.
fn with_outlines(mut call: Call, found: &[(String, Range, &str)]) -> Call {
    let disk = disk();
    let documents = call.with(&roots(&disk), &disk, |asked| call.tool.documents(&call.answers, asked)).unwrap();
    let outlined = |uri: CanonicalUri| {
        let outline = Raw::DocumentSymbols(outline(found, uri.as_str()));
        (uri, Some(outline))
    };
    call.outlines = documents.into_iter().rev().map(outlined).collect();
    call
}

fn locations(returned: &[(String, Range)]) -> RawLocations {
    let mut uris = Vec::new();
    let items =
        returned.iter().map(|(uri, range)| RawLocation { uri: intern(&mut uris, uri), range: *range }).collect();
    RawLocations { uris, items, without_range: 0 }
}

fn targets(returned: &[(String, Range, Option<Range>)]) -> RawTargets {
    let mut uris = Vec::new();
    let items = returned
        .iter()
        .map(|(uri, range, selection)| RawTarget { uri: intern(&mut uris, uri), range: *range, selection: *selection })
        .collect();
    RawTargets { uris, items, without_range: 0 }
}

fn call(returned: &[(String, Range)], declarations: &[RawTargets]) -> Call {
    let declarations = declarations.iter().cloned().map(Raw::Targets);
    let answers: Vec<_> = [Raw::Locations(locations(returned))].into_iter().chain(declarations).collect();
    Call::new(REFERENCES, answers)
}

fn canonical(returned: &[(String, Range)], declarations: &[RawTargets]) -> Retained {
    call(returned, declarations).set()
}

/// The contract's sort key of a location, read off its JSON; strings as JavaScript compares them.
fn sort_key(item: &Value) -> (Vec<u16>, [u64; 4]) {
    let number = |pointer| item.pointer(pointer).and_then(Value::as_u64).unwrap();
    let uri = item["uri"].as_str().unwrap().encode_utf16().collect();
    let start = [number("/range/start/line"), number("/range/start/character")];
    let end = [number("/range/end/line"), number("/range/end/character")];
    (uri, [start[0], start[1], end[0], end[1]])
}

fn request() -> RequestKey {
    let disk = disk();
    let document = roots(&disk).admit("file:///ws/a.ts", &disk).unwrap();
    let call = call(&[], &[]);
    call.arguments().question.request_key(call.tool, Some(&document.uri))
}

fn first_page(epochs: Epochs) -> Cursor {
    let (request, disk) = (request(), disk());
    let snapshot = SnapshotKey::derive(OF_SYMBOLS, &request, roots(&disk).key(), &epochs);
    Cursor { offset: 0, request, snapshot }
}

proptest! {
    #[test]
    fn shuffling_what_the_editor_returned_never_changes_a_byte(
        (returned, shuffled) in returned().prop_flat_map(|returned| (Just(returned.clone()), Just(returned).prop_shuffle())),
        (declared, redeclared) in links().prop_flat_map(|links| (Just(links.clone()), Just(links).prop_shuffle())),
    ) {
        prop_assert_eq!(canonical(&returned, &[targets(&declared)]), canonical(&shuffled, &[targets(&redeclared)]));

        let payload = |links: &[_]| Call::new("vscode.lsp.definition", [Raw::Targets(targets(links))]).payload(BUDGET);
        prop_assert_eq!(payload(&declared), payload(&redeclared));
    }

    #[test]
    fn shuffling_what_the_editor_returned_never_changes_a_compact_list(
        (returned, shuffled) in returned().prop_flat_map(|returned| (Just(returned.clone()), Just(returned).prop_shuffle())),
        (linked, relinked) in links().prop_flat_map(|links| (Just(links.clone()), Just(links).prop_shuffle())),
    ) {
        let usages = |returned: &[_], links: &[_]| {
            let links = Raw::Targets(targets(links));
            Call::new("vscode.lsp.usages", [Raw::Locations(locations(returned)), links.clone(), links]).set()
        };
        prop_assert_eq!(usages(&returned, &linked), usages(&shuffled, &relinked));

        let leads = |links: &[_]| Call::new("vscode.lsp.implementation", [Raw::Targets(targets(links))]).set();
        prop_assert_eq!(leads(&linked), leads(&relinked));
    }

    #[test]
    fn shuffling_what_was_found_never_changes_where_a_name_is(
        (found, shuffled) in named_places().prop_flat_map(|found| (Just(found.clone()), Just(found).prop_shuffle())),
    ) {
        let found_in = |places: &[_]| {
            with_outlines(Call::new("vscode.lsp.symbol.find", [Raw::WorkspaceSymbols(symbols(places))]), places).set()
        };
        prop_assert_eq!(found_in(&found), found_in(&shuffled));
    }

    #[test]
    fn shuffling_an_outline_never_changes_which_symbol_is_around_a_place(
        returned in returned(),
        (around, shuffled) in named_places().prop_flat_map(|around| (Just(around.clone()), Just(around).prop_shuffle())),
    ) {
        let usages = |around: &[_]| {
            let nothing = Raw::Targets(RawTargets::default());
            let answers = [Raw::Locations(locations(&returned)), nothing.clone(), nothing];
            with_outlines(Call::new("vscode.lsp.usages", answers), around).set()
        };
        prop_assert_eq!(usages(&around), usages(&shuffled));
    }

    #[test]
    fn where_a_page_ends_does_not_depend_on_its_cursor(returned in returned(), size in 0..1_000_u64, text in any::<u64>()) {
        let nothing = Raw::Targets(RawTargets::default());
        let call = Call::new("vscode.lsp.usages", [Raw::Locations(locations(&returned)), nothing.clone(), nothing]);
        let retained = call.set();
        let items = |text| {
            let wanted = WantedPage { size: Some(size), cursor: None, if_state: None };
            let cursor = first_page(Epochs { text, ..Epochs::default() });
            call.tool.page_of(&retained, &cursor, &wanted, &Limits::default(), BUDGET).unwrap().items
        };
        prop_assert_eq!(items(0), items(text));
    }

    #[test]
    fn pages_of_any_budget_add_up_to_what_references_have_and_keep_to_it(returned in returned(), tokens in vec(0..400_u64, 1..5)) {
        let nothing = Raw::Targets(RawTargets::default());
        let call = Call::new("vscode.lsp.usages", [Raw::Locations(locations(&returned)), nothing.clone(), nothing]);
        let (retained, disk) = (call.set(), disk());
        let mut cursor = first_page(Epochs::default());
        let (mut collected, mut states) = (Vec::new(), Vec::new());
        for tokens in tokens.into_iter().cycle() {
            let wanted = WantedPage { size: Some(tokens), cursor: None, if_state: None };
            let payload = call.tool.page_of(&retained, &cursor, &wanted, &Limits::default(), BUDGET).unwrap();
            let json = payload.joined(&retained.set);
            let item_count = payload.items;
            let payload: Value = serde_json::from_slice(&json).unwrap();
            let taken = tokens_of(&json, &payload["nextCursor"]);
            prop_assert!(item_count <= 1 || taken <= tokens, "{taken} tokens");
            states.push(payload["state"].clone());
            for file in payload["files"].as_array().unwrap() {
                // Every place of an answer is accepted by every input, and leads back.
                let uri = roots(&disk).uri_of(file["path"].as_str().unwrap(), &disk).unwrap();
                let uri = roots(&disk).admit(&uri, &disk).unwrap().uri;
                for place in file["at"].as_array().unwrap() {
                    collected.push((uri.as_str().to_owned(), place::read(place.as_str().unwrap()).unwrap().unwrap()));
                }
            }
            match payload["nextCursor"].as_str() {
                Some(next) => cursor = Cursor::decode(next, &cursor.request).unwrap(),
                None => break,
            }
        }
        let mut expected: Vec<_> = items(&canonical(&returned, &[]).set)
            .iter()
            .map(|item| {
                let (_, [line, character, end_line, end_character]) = sort_key(item);
                let at = |line: u64, character: u64| Position { line: u32::try_from(line).unwrap(), character: u32::try_from(character).unwrap() };
                // Of a place in one line, only the beginning is told.
                let end = if line == end_line { at(line, character) } else { at(end_line, end_character) };
                (item["uri"].as_str().unwrap().to_owned(), Range { start: at(line, character), end })
            })
            .collect();
        collected.sort();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(collected, expected);
        states.dedup();
        prop_assert_eq!(states.len(), 1, "the state is that of the full result");
    }

    #[test]
    fn pages_of_any_size_add_up_to_the_full_set(returned in returned(), sizes in vec(1..70_usize, 1..5)) {
        let (tool, retained) = (tools::named(REFERENCES).unwrap(), canonical(&returned, &[]));
        let mut cursor = first_page(Epochs::default());
        let mut collected = Vec::new();
        for size in sizes.into_iter().cycle() {
            let payload = tool.page(&retained, &cursor, page_size(size), BUDGET).unwrap();
            let payload: Value = serde_json::from_slice(&payload.joined(&retained.set)).unwrap();
            let on_page = payload["items"].as_array().unwrap();
            let left = retained.set.len() - collected.len();
            prop_assert_eq!(on_page.len(), size.min(left));
            collected.extend(on_page.iter().cloned());
            match payload["nextCursor"].as_str() {
                Some(next) => cursor = Cursor::decode(next, &cursor.request).unwrap(),
                None => break,
            }
            prop_assert_eq!(cursor.offset, collected.len());
        }
        prop_assert_eq!(collected, items(&retained.set));
    }

    #[test]
    fn the_order_is_total_so_that_every_item_is_greater_than_the_one_before(returned in returned()) {
        let keys: Vec<_> = items(&canonical(&returned, &[]).set).iter().map(sort_key).collect();
        prop_assert!(keys.is_sorted_by(|before, after| before < after), "{:?}", keys);
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_made_up(returned in returned()) {
        let retained = canonical(&returned, &[]);
        let disk = disk();
        let roots = roots(&disk);
        let mut expected = Vec::new();
        let mut outside = Vec::new();
        let mut missing = Vec::new();
        for (uri, range) in &returned {
            let Range { start, end } = *range;
            match roots.admit_output(uri, &disk) {
                Ok(uri) => expected.push((
                    uri.as_str().encode_utf16().collect::<Vec<_>>(),
                    [start.line, start.character, end.line, end.character].map(u64::from),
                )),
                Err(NotAllowed::Outside(path)) => outside.push((path, range)),
                Err(NotAllowed::Missing) => missing.push((uri, range)),
            }
        }
        expected.sort();
        expected.dedup();
        outside.sort();
        outside.dedup();
        missing.sort();
        missing.dedup();
        prop_assert_eq!(items(&retained.set).iter().map(sort_key).collect::<Vec<_>>(), expected);
        prop_assert_eq!(retained.omissions.outside, outside.len());
        prop_assert_eq!(retained.omissions.missing, missing.len());
    }

    #[test]
    fn deduplication_is_idempotent(returned in returned()) {
        let once = canonical(&returned, &[]);
        let doubled: Returned = returned.iter().chain(returned.iter().rev()).cloned().collect();
        prop_assert_eq!(&canonical(&doubled, &[]), &once);

        let again: Returned = items(&once.set)
            .iter()
            .map(|item| {
                let (_, [line, character, end_line, end_character]) = sort_key(item);
                let place = |line: u64, character: u64| Position {
                    line: u32::try_from(line).unwrap(),
                    character: u32::try_from(character).unwrap(),
                };
                let range = Range { start: place(line, character), end: place(end_line, end_character) };
                (item["uri"].as_str().unwrap().to_owned(), range)
            })
            .collect();
        prop_assert_eq!(canonical(&again, &[]).set, once.set);
    }

    #[test]
    fn no_declaration_is_among_the_references_without_declarations(returned in returned(), declared in links()) {
        let with = canonical(&returned, &[]);
        let without = canonical(&returned, &[targets(&declared)]);
        let disk = disk();
        let roots = roots(&disk);
        let is_declared = |item: &Value| declared.iter().any(|(uri, range, selection)| {
            roots.admit_output(uri, &disk).is_ok_and(|uri| uri.as_str() == item["uri"])
                && [Some(*range), *selection].into_iter().flatten().any(|Range { start, end }| {
                    sort_key(item).1 == [start.line, start.character, end.line, end.character].map(u64::from)
                })
        });
        let expected: Vec<_> = items(&with.set).into_iter().filter(|item| !is_declared(item)).collect();
        prop_assert_eq!(items(&without.set), expected);
    }

    #[test]
    fn a_minted_cursor_comes_back_as_it_was(offset in 0..usize::MAX / 2, roots in any::<u64>(), text in any::<u64>()) {
        let cursor = Cursor { offset, ..first_page(Epochs { roots, text, ..Epochs::default() }) };
        prop_assert_eq!(Cursor::decode(&cursor.mint(), &cursor.request), Ok(cursor));
    }

    #[test]
    fn a_cursor_with_another_version_or_request_is_refused(
        member in select(&["v", "k"][..]),
        value in prop_oneof![
            any::<i64>().prop_map(Value::from),
            "[0-9a-f]{64}".prop_map(Value::from),
            ".*".prop_map(Value::from),
            Just(Value::Null),
        ],
    ) {
        let cursor = first_page(Epochs::default());
        let mut wire = wire(&cursor);
        prop_assume!(wire[member] != value);
        wire[member] = value;
        prop_assert_eq!(code(Cursor::decode(&encoded(&wire.to_string()), &cursor.request)), Some(ErrorCode::CursorInvalid));
    }

    #[test]
    fn a_cursor_with_another_snapshot_never_matches_the_current_one(claimed in prop_oneof!["[0-9a-f]{64}", ".*"]) {
        let cursor = first_page(Epochs::default());
        let mut wire = wire(&cursor);
        prop_assume!(wire["s"] != claimed.as_str());
        wire["s"] = json!(claimed);
        let decoded = Cursor::decode(&encoded(&wire.to_string()), &cursor.request).unwrap();
        prop_assert_ne!(decoded.snapshot, cursor.snapshot);
    }

    #[test]
    fn a_cursor_with_a_changed_character_is_refused_or_of_another_page_or_state(at in any::<Index>(), to in "[ -~]") {
        let cursor = first_page(Epochs::default());
        let mut text = cursor.mint();
        let at = at.index(text.len());
        prop_assume!(text[at..=at] != to);
        text.replace_range(at..=at, &to);
        match Cursor::decode(&text, &cursor.request) {
            Ok(decoded) => prop_assert_ne!(decoded, cursor),
            Err(error) => prop_assert_eq!(error.code(), ErrorCode::CursorInvalid),
        }
    }

    #[test]
    fn text_that_is_no_cursor_is_refused(text in ".*", bytes in vec(any::<u8>(), 0..200)) {
        let request = request();
        prop_assert_eq!(code(Cursor::decode(&text, &request)), Some(ErrorCode::CursorInvalid));
        prop_assert_eq!(code(Cursor::decode(&URL_SAFE_NO_PAD.encode(bytes), &request)), Some(ErrorCode::CursorInvalid));
    }

    #[test]
    fn the_snapshot_key_changes_with_every_epoch_of_the_tool_and_with_no_other(
        (roots, text, fs, diagnostics) in any::<(u64, u64, u64, u64)>(),
        (other_roots, other_text, other_fs) in any::<(u64, u64, u64)>(),
    ) {
        let epochs = Epochs { roots, text, fs, diagnostics };
        let of = |epochs| first_page(epochs).snapshot;
        prop_assert_eq!(of(Epochs { diagnostics: diagnostics.wrapping_add(1), ..epochs }), of(epochs));
        for moved in [
            Epochs { roots: other_roots, ..epochs },
            Epochs { text: other_text, ..epochs },
            Epochs { fs: other_fs, ..epochs },
        ] {
            prop_assert_eq!(of(moved) == of(epochs), moved == epochs);
            prop_assert_eq!(moved.changed_since(&epochs, OF_SYMBOLS).is_empty(), moved == epochs);
        }
    }

    #[test]
    fn whatever_is_asked_about_is_refused_or_lies_inside(
        text in prop_oneof![
            ".*",
            "file:///(ws|outside|gone|link|out|a.ts|%2e|%2E|\\.|\\.\\.|/|\\\\|%2f|%5c|%|%00|é|😀|:|@|\\?|#)*",
            "file:///(ws|outside)/(link|out|deep|er|a.ts|\\.\\.|/)*",
        ],
    ) {
        let disk = disk();
        let roots = roots(&disk);
        if let Ok(document) = roots.admit(&text, &disk) {
            prop_assert!(document.uri.as_str() == "file:///ws" || document.uri.as_str().starts_with("file:///ws/"));
            prop_assert_eq!(document.uri.as_str(), &document.editor_uri);
            prop_assert_eq!(roots.admit(document.uri.as_str(), &disk), Ok(document));
        }
    }

    #[test]
    fn a_path_comes_back_from_its_uri(segments in vec("[^/\0]{1,12}", 1..5), windows in any::<bool>()) {
        let style = if windows { PathStyle::Windows } else { PathStyle::Posix };
        let dotted = |segment: &str| segment == "." || segment == "..";
        prop_assume!(!segments.iter().any(|segment| dotted(segment) || (windows && segment.contains(['\\', ':']))));
        // What looks like a drive is lower-cased by VS Code on every platform, so its URI names another path.
        prop_assume!(segments[0].get(1..2) != Some(":"));
        let root = if windows { "c:" } else { "" };
        let uri = file_uri(&format!("{root}/{}", segments.join("/")), style);
        let roots = AllowedRoots::resolve_in_style(&[PathBuf::from(format!("{root}/"))], &EverythingExists, style);
        let document = roots.admit(&uri, &EverythingExists).unwrap();
        prop_assert_eq!(document.uri.as_str(), &uri);
        prop_assert_eq!(roots.admit_output(&uri, &EverythingExists), Ok(document.uri));
    }

    #[test]
    fn each_distinct_path_is_resolved_once_for_an_answer(returned in returned(), declared in links()) {
        let disk = disk();
        let roots = roots(&disk);
        let counting = Counting { disk, looked_up: Mutex::default() };
        call(&returned, &[targets(&declared), targets(&declared)]).canonical(&roots, &counting).unwrap();
        let mut looked_up = counting.looked_up.into_inner().unwrap();
        let count = looked_up.len();
        looked_up.sort();
        looked_up.dedup();
        prop_assert_eq!(looked_up.len(), count);
    }
}

#[test]
fn a_share_outside_the_roots_is_never_looked_at() {
    let counting =
        Counting { disk: InMemory::new(PathStyle::Windows).with_file("c:/ws/a.ts"), looked_up: Mutex::default() };
    let roots = AllowedRoots::resolve_in_style(&[PathBuf::from("c:/ws")], &counting, PathStyle::Windows);
    counting.looked_up.lock().unwrap().clear();
    for uri in
        ["file://server/share/a.ts", "file:////server/share/a.ts", "file:///%5C%5Cserver/share/a.ts", "file://./c:/x"]
    {
        assert_eq!(roots.admit(uri, &counting).map_err(|error| error.code()), Err(ErrorCode::UriInvalid), "{uri}");
        assert_eq!(roots.admit_output(uri, &counting), Err(NotAllowed::Outside(uri.into())), "{uri}");
    }
    assert_eq!(*counting.looked_up.lock().unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn a_set_of_20000_items_of_800_bytes_can_be_retained_and_a_larger_one_cannot() {
    let long = format!("/{}", "x".repeat(700));
    let uri = file_uri(&long, PathStyle::NATIVE);
    let roots = AllowedRoots::resolve_in_style(&[PathBuf::from("/")], &EverythingExists, PathStyle::Posix);
    let place = |line| Position { line, character: 7 };
    let of_uri = |uri: String| {
        let items =
            (0..20_000).map(|line| RawLocation { uri: 0, range: Range { start: place(line), end: place(line) } });
        let raw = RawLocations { uris: vec![uri], items: items.collect(), without_range: 0 };
        match Call::new(REFERENCES, [Raw::Locations(raw)]).canonical(&roots, &EverythingExists) {
            Ok(Canonical::Set(retained)) => Arc::new(retained),
            other => panic!("{other:?}"),
        }
    };
    let key = first_page(Epochs::default()).snapshot;
    let mut snapshots = Snapshots::default();

    let large = of_uri(uri.clone());
    assert!(large.set.weight() > 20_000 * 790, "each item has about 800 bytes");
    snapshots.retain(key.clone(), Arc::clone(&large), Duration::ZERO).unwrap();
    assert_eq!(snapshots.get(&key, Duration::ZERO), Some(large));

    let too_large = snapshots.retain(key, of_uri(format!("{uri}{}", "x".repeat(100))), Duration::ZERO);
    assert_eq!(code(too_large), Some(ErrorCode::SnapshotTooLarge));
}

struct EverythingExists;

impl RealPaths for EverythingExists {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        Ok(path.to_owned())
    }
}

struct Counting {
    disk: InMemory,
    looked_up: Mutex<Vec<PathBuf>>,
}

impl RealPaths for Counting {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        self.looked_up.lock().unwrap().push(path.to_owned());
        self.disk.real_path(path)
    }
}

fn wire(cursor: &Cursor) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cursor.mint()).unwrap()).unwrap()
}

fn encoded(json: &str) -> String {
    URL_SAFE_NO_PAD.encode(json)
}

fn code<T>(result: Result<T, ToolError>) -> Option<ErrorCode> {
    result.err().map(|error| error.code())
}
