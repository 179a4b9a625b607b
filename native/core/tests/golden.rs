//! The cases under test/golden: what is asked, what is on disk, what the editor returned, and the payload or error that
//! has to come of it, byte for byte.
#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read their cases from files")]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod in_memory;
// The cases show what the users of VS Code are told.
#[path = "../../addon/src/wording.rs"]
mod wording;
mod written_out;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gateway_core::ask::{Ask, Raw, Shape};
use gateway_core::canonical::CanonicalSet;
use gateway_core::completeness::Completeness;
use gateway_core::cursor::Cursor;
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::epochs::Epochs;
use gateway_core::error::ToolError;
use gateway_core::highlight::{HighlightKind, RawHighlights};
use gateway_core::history::{EpochHistory, Remembered};
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::limits::{Limits, MAX_RESPONSE_BYTES, REQUEST_TIMEOUT};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::page::ResponseBudget;
use gateway_core::position;
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::{Retained, Snapshots};
use gateway_core::status::{RawServer, RawStatus, Stage};
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use gateway_core::texts::Texts;
use gateway_core::tool::{Arguments, Asked, Canonical, Misfit, Registered};
use gateway_core::tools;
use gateway_core::uri::{CanonicalUri, PathStyle};
use in_memory::InMemory;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wording::VS_CODE;
use written_out::Json;

/// One case. README.md beside the cases says what the members mean.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    about: String,
    tool: String,
    #[serde(default)]
    windows: bool,
    disk: Disk,
    roots: Vec<PathBuf>,
    #[serde(default)]
    epochs: EpochsOf,
    #[serde(default)]
    document: Document,
    #[serde(default)]
    settings: Settings,
    arguments: Value,
    #[serde(default)]
    spellings: Vec<String>,
    cursor: Option<CursorOf>,
    keys: Option<Keys>,
    #[serde(default)]
    editor: Editor,
    expect: Expectation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Disk {
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    folders: Vec<String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    /// What is written in files, by their canonical URIs.
    #[serde(default)]
    texts: BTreeMap<String, String>,
}

impl Texts for Disk {
    fn text(&self, uri: &CanonicalUri) -> Option<Arc<str>> {
        self.texts.get(uri.as_str()).map(|text| Arc::from(&**text))
    }
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default, deny_unknown_fields)]
struct EpochsOf {
    roots: u64,
    text: u64,
    fs: u64,
    diagnostics: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    line_count: u32,
    line_length: Option<u32>,
    #[serde(default)]
    shown: bool,
}

impl Default for Document {
    fn default() -> Self {
        Self { line_count: 1_000, line_length: Some(200), shown: false }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Settings {
    max_items_per_page: usize,
    max_response_bytes: usize,
    /// Bytes of the response around the payload.
    envelope_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_items_per_page: usize::MAX, max_response_bytes: MAX_RESPONSE_BYTES, envelope_bytes: 0 }
    }
}

/// What the script needs to make `arguments.cursor`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CursorOf {
    #[expect(dead_code, reason = "for the script")]
    o: Option<Value>,
    #[expect(dead_code, reason = "for the script")]
    with: Option<Value>,
    /// The epochs when it was minted, if they were others than now.
    epochs: Option<EpochsOf>,
    #[serde(default)]
    expired: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Keys {
    /// Of a tool that is asked about a document.
    uri: Option<String>,
    #[expect(dead_code, reason = "for the script")]
    roots: Vec<String>,
    roots_key: String,
    /// Of a paged tool, like `s`.
    k: Option<String>,
    s: Option<String>,
}

/// What the editor returns, in the shapes of its API.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Editor {
    /// Whether its language has not shown that it is ready.
    unconfirmed: bool,
    /// The outlines of documents that are not asked about, by their canonical URIs.
    outlines: BTreeMap<String, Value>,
    #[serde(flatten)]
    returned: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Returned {
    Location(Location),
    Link(Link),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names are the editor's")]
struct Link {
    target_uri: String,
    target_range: Range,
    target_selection_range: Option<Range>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Location {
    uri: String,
    range: Range,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hover {
    contents: Vec<Content>,
    range: Option<Range>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Tagged { language: Option<String>, value: String },
}

/// A `DocumentSymbol`, a `SymbolInformation`, or both at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Symbol {
    name: Option<String>,
    kind: u32,
    range: Option<Range>,
    selection_range: Option<Range>,
    children: Option<Vec<Symbol>>,
    location: Option<Somewhere>,
    container_name: Option<String>,
}

/// A location whose range may not be known yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Somewhere {
    uri: String,
    range: Option<Range>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    language: String,
    by: Option<String>,
    stage: u32,
    why: Option<String>,
    cannot: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Highlight {
    range: Range,
    kind: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Diagnostic {
    range: Range,
    severity: Option<u32>,
    code: Option<String>,
    source: Option<String>,
    message: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Position {
    line: u32,
    character: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expectation {
    #[expect(dead_code, reason = "taken from the text of the case, where its members are in order")]
    payload: Option<Value>,
    /// What the script needs to make `payload.nextCursor`.
    #[expect(dead_code, reason = "for the script")]
    next_offset: Option<usize>,
    error: Option<Value>,
    #[expect(dead_code, reason = "for the script")]
    whole: Option<Value>,
    /// How the editor is asked for the document (D31).
    editor_uri: Option<String>,
}

#[test]
fn every_golden_case_comes_out_as_written() {
    let mut failed = Vec::new();
    let files = case_files();
    assert!(files.len() >= 100, "the cases are there");
    for file in files {
        let (case, payload) = read(&file);
        let differences = check(&case, payload.as_deref());
        failed.extend(differences.into_iter().map(|difference| format!("{}: {difference}", file.display())));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The schemas are the source of truth for what goes in and out, so the cases have to agree with them (contract
/// section 8).
#[test]
fn every_golden_payload_validates_against_the_output_schema_of_its_tool() {
    let validators: BTreeMap<&str, _> = tools::ALL
        .iter()
        .map(|tool| {
            let schema = serde_json::from_str(tool.output_schema().as_str()).unwrap();
            (tool.name(), jsonschema::validator_for(&schema).unwrap())
        })
        .collect();
    for file in case_files() {
        let written: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let Some(payload) = written.member("expect").and_then(|expect| expect.member("payload")) else { continue };
        let payload = serde_json::to_value(payload.clone().written_out()).unwrap();
        let tool = serde_json::to_value(written.member("tool")).unwrap();
        let fits = validators[tool.as_str().unwrap()].validate(&payload);
        fits.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

/// The case and its payload, byte for byte.
fn read(file: &Path) -> (Case, Option<String>) {
    let written: Json = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let written = written.written_out();
    let payload = written.member("expect").and_then(|expect| expect.member("payload"));
    let payload = payload.map(|payload| serde_json::to_string(payload).unwrap());
    let case = serde_json::from_value(serde_json::to_value(&written).unwrap());
    (case.unwrap_or_else(|error| panic!("{}: {error}", file.display())), payload)
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/golden")
}

fn case_files() -> Vec<PathBuf> {
    let folders =
        fs::read_dir(golden_folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<_> =
        folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect();
    files.sort();
    files
}

/// Answers the case in every spelling of its URI, and tells each difference from what is expected.
fn check(case: &Case, payload: Option<&str>) -> Vec<String> {
    let spellings = if case.spellings.is_empty() {
        vec![case.arguments.clone()]
    } else {
        case.spellings
            .iter()
            .map(|uri| {
                let mut arguments = case.arguments.clone();
                arguments["uri"] = json!(uri);
                arguments
            })
            .collect()
    };
    let mut differences = Vec::new();
    for arguments in spellings {
        let asked = arguments["uri"].clone();
        let actual = match answer(case, &arguments) {
            Ok(payload) => format!("payload {}", String::from_utf8(payload).unwrap()),
            Err(error) => format!("error {}", wire(&error)),
        };
        let expected = match (payload, &case.expect.error) {
            (Some(payload), None) => format!("payload {payload}"),
            (None, Some(error)) => format!("error {error}"),
            _ => "either a payload or an error".to_owned(),
        };
        if actual != expected {
            differences.push(format!("asked about {asked}\n  expected {expected}\n  actual   {actual}"));
        }
    }
    differences
}

/// The way of one call, without the editor and the transport.
fn answer(case: &Case, arguments: &Value) -> Result<Vec<u8>, ToolError> {
    let style = if case.windows { PathStyle::Windows } else { PathStyle::Posix };
    let mut disk = InMemory::new(style);
    for folder in &case.disk.folders {
        disk = disk.with_folder(folder);
    }
    for file in &case.disk.files {
        disk = disk.with_file(file);
    }
    for (link, target) in &case.disk.links {
        disk = disk.with_link(link, target);
    }
    let roots = AllowedRoots::resolve_in_style(&case.roots, &disk, style);
    if let Some(keys) = &case.keys {
        assert_eq!(roots.key().as_str(), keys.roots_key, "{}: rootsKey", case.about);
    }
    let Settings { max_items_per_page, max_response_bytes, envelope_bytes } = case.settings;
    let limits = Limits::tightened(max_items_per_page, max_response_bytes, REQUEST_TIMEOUT);
    let budget = ResponseBudget::new(limits.max_response_bytes(), envelope_bytes);

    let tool = tools::named(&case.tool).unwrap();
    let Arguments { mut question, page, by_path, .. } = tool.read(arguments).map_err(|misfit| match misfit {
        Misfit::Schema => ToolError::InvalidParams("The arguments do not fit.".to_owned()),
        Misfit::Refused(error) => error,
    })?;
    if by_path && let Some(file) = question.subject.uri() {
        let uri = roots.uri_of(file, &disk)?;
        question.subject = question.subject.with_uri(uri);
    }
    let uri = question.subject.uri();
    let document = uri.map(|uri| admit(case, &roots, &disk, uri, question.subject.position())).transpose()?;
    let answers: Vec<_> = tool.asks(&question).iter().map(|ask| returned(&case.editor, *ask)).collect();
    let asked = Asked {
        question: &question,
        document: document.as_ref(),
        in_tab: case.document.shown,
        outlines: &[],
        with_word: None,
        completeness: if case.editor.unconfirmed { Completeness::Unconfirmed } else { Completeness::Confirmed },
        roots: &roots,
        real: &disk,
        texts: &case.disk,
    };
    let documents = if tool.takes_outlines(&question) { tool.documents(&answers, &asked)? } else { Vec::new() };
    let outlines: Vec<_> = documents
        .into_iter()
        .map(|uri| {
            let returned = case.editor.outlines.get(uri.as_str()).cloned();
            let outline = returned.map(|returned| Raw::DocumentSymbols(self::outline(&read_as(returned))));
            (uri, outline)
        })
        .collect();
    let canonical = tool.canonicalize(&answers, &Asked { outlines: &outlines, ..asked });
    let Some(wanted) = page else {
        let Canonical::Whole(whole) = canonical? else { panic!("{}: not paged", case.about) };
        return Ok(whole.payload(budget)?.joined(&CanonicalSet::default()));
    };
    let set = canonical.map(|canonical| match canonical {
        Canonical::Set(set) => set,
        Canonical::Whole(_) => panic!("{}: paged", case.about),
    });
    let request = question.request_key(tool, document.as_ref());
    let (cursor, set) = held(case, tool, &roots, request, wanted.cursor.as_deref(), set)?;
    Ok(tool.page_of(&set, &cursor, &wanted, &limits, budget)?.joined(&set.set))
}

/// The set in which the page lies, and where it begins.
fn held(
    case: &Case,
    tool: Registered,
    roots: &AllowedRoots,
    request: RequestKey,
    cursor: Option<&str>,
    set: Result<Retained, ToolError>,
) -> Result<(Cursor, Arc<Retained>), ToolError> {
    let (epochs, relevant) = (epochs(case.epochs), tool.epochs());
    let snapshot = SnapshotKey::derive(relevant, &request, roots.key(), &epochs);
    if let Some(keys) = &case.keys {
        assert_eq!(Some(request.as_str()), keys.k.as_deref(), "{}: k", case.about);
        assert_eq!(Some(snapshot.as_str()), keys.s.as_deref(), "{}: s", case.about);
    }
    let now = Duration::ZERO;
    let mut snapshots = Snapshots::default();
    let mut history = EpochHistory::default();
    history.remember(snapshot.clone(), Remembered { relevant, epochs, fingerprint: 1 });
    let Some(cursor) = cursor else {
        let set = Arc::new(set?);
        snapshots.retain(snapshot.clone(), Arc::clone(&set), now)?;
        return Ok((Cursor { offset: 0, request, snapshot }, set));
    };
    if let Some(minted) = case.cursor.as_ref().and_then(|cursor| cursor.epochs) {
        let minted = self::epochs(minted);
        let remembered = Remembered { relevant, epochs: minted, fingerprint: 1 };
        history.remember(SnapshotKey::derive(relevant, &request, roots.key(), &minted), remembered);
    }
    if case.cursor.as_ref().is_none_or(|cursor| !cursor.expired) {
        snapshots.retain(snapshot.clone(), Arc::new(set?), now)?;
    }
    let cursor = Cursor::decode(cursor, &request)?;
    if cursor.snapshot != snapshot {
        return Err(ToolError::CursorStale { changed: history.changed_since(&cursor.snapshot, &epochs) });
    }
    let set = snapshots.get(&snapshot, now).ok_or(ToolError::CursorExpired)?;
    Ok((cursor, set))
}

/// What the editor of the case returned to this ask, by the last part of its method.
fn returned(editor: &Editor, ask: Ask) -> Raw {
    let member = match ask.method {
        "textDocument/documentSymbol" => "documentSymbols",
        "workspace/symbol" => "workspaceSymbols",
        "textDocument/diagnostic" | "workspace/diagnostic" => "diagnostics",
        method => method.rsplit('/').next().unwrap(),
    };
    let returned = editor.returned.get(member).cloned().unwrap_or_else(|| json!([]));
    match ask.shape {
        Shape::Targets => Raw::Targets(targets(&read_as(returned))),
        Shape::Locations => Raw::Locations(locations(&read_as(returned))),
        Shape::Hovers => Raw::Hovers(hovers(&read_as(returned))),
        Shape::DocumentSymbols => Raw::DocumentSymbols(outline(&read_as(returned))),
        Shape::WorkspaceSymbols => Raw::WorkspaceSymbols(symbols(&read_as(returned))),
        Shape::Diagnostics => Raw::Diagnostics(diagnostics(&read_as(returned))),
        Shape::Highlights => Raw::Highlights(highlights(&read_as(returned))),
        Shape::Status => Raw::Status(status(&read_as(returned))),
        shape => panic!("no case has returned {shape:?} so far"),
    }
}

fn read_as<T: DeserializeOwned>(returned: Value) -> Vec<T> {
    serde_json::from_value(returned).unwrap()
}

fn admit(
    case: &Case,
    roots: &AllowedRoots,
    disk: &InMemory,
    uri: &str,
    position: Option<position::Position>,
) -> Result<CanonicalUri, ToolError> {
    let document = roots.admit(uri, disk)?;
    if let Some(expected) = &case.expect.editor_uri {
        assert_eq!(&document.editor_uri, expected, "{}: the URI for the editor", case.about);
    }
    if let Some(uri) = case.keys.as_ref().and_then(|keys| keys.uri.as_ref()) {
        assert_eq!(document.uri.as_str(), uri, "{}: uri", case.about);
    }
    if let Some(position) = position {
        position.check(case.document.line_count, case.document.line_length)?;
    }
    Ok(document.uri)
}

/// The error as it stands on the wire, without JSON-RPC's number (D3).
fn wire(error: &ToolError) -> Value {
    let mut wire = json!({ "code": error.code().as_str(), "message": error.message(&VS_CODE) });
    if let Some(details) = error.details() {
        wire["details"] = details;
    }
    wire
}

fn epochs(EpochsOf { roots, text, fs, diagnostics }: EpochsOf) -> Epochs {
    Epochs { roots, text, fs, diagnostics }
}

fn locations(returned: &[Location]) -> RawLocations {
    let mut uris = Vec::new();
    let items = returned
        .iter()
        .map(|location| RawLocation { uri: intern(&mut uris, &location.uri), range: range(location.range) })
        .collect();
    RawLocations { uris, items, without_range: 0 }
}

fn targets(returned: &[Returned]) -> RawTargets {
    let mut uris = Vec::new();
    let mut items = Vec::new();
    for target in returned {
        items.push(match target {
            Returned::Location(location) => {
                RawTarget { uri: intern(&mut uris, &location.uri), range: range(location.range), selection: None }
            }
            Returned::Link(link) => RawTarget {
                uri: intern(&mut uris, &link.target_uri),
                range: range(link.target_range),
                selection: link.target_selection_range.map(range),
            },
        });
    }
    RawTargets { uris, items, without_range: 0 }
}

fn hovers(returned: &[Hover]) -> RawHovers {
    let mut strings = Vec::new();
    let mut items = Vec::new();
    for hover in returned {
        for content in &hover.contents {
            let (language, value) = match content {
                Content::Text(value) => (None, value),
                Content::Tagged { language, value } => (language.as_ref(), value),
            };
            items.push(RawHoverFragment {
                range: hover.range.map(range),
                language: language.map(|language| intern(&mut strings, language)),
                value: intern(&mut strings, value),
            });
        }
    }
    RawHovers { strings, items }
}

fn outline(returned: &[Symbol]) -> RawDocumentSymbols {
    let mut outline = RawDocumentSymbols::default();
    for symbol in returned {
        add_to_outline(symbol, None, &mut outline);
    }
    outline
}

fn add_to_outline(symbol: &Symbol, parent: Option<u32>, outline: &mut RawDocumentSymbols) {
    let row = u32::try_from(outline.items.len()).unwrap();
    let strings = &mut outline.strings;
    let name = symbol.name.as_ref().map(|name| intern(strings, name));
    let kind = kind(symbol.kind);
    // Children are looked for first (D13).
    let information = if symbol.children.is_none() { symbol.location.as_ref() } else { None };
    outline.items.push(match information {
        Some(location) => RawDocumentSymbol {
            name,
            kind,
            range: range(location.range.unwrap()),
            selection: None,
            container_name: symbol.container_name.as_ref().map(|name| intern(strings, name)),
            parent,
        },
        None => RawDocumentSymbol {
            name,
            kind,
            range: range(symbol.range.unwrap()),
            selection: symbol.selection_range.map(range),
            container_name: None,
            parent,
        },
    });
    for child in symbol.children.iter().flatten() {
        add_to_outline(child, Some(row), outline);
    }
}

fn symbols(returned: &[Symbol]) -> RawWorkspaceSymbols {
    let mut strings = Vec::new();
    let mut items = Vec::new();
    for symbol in returned {
        let location = symbol.location.as_ref().unwrap();
        items.push(RawWorkspaceSymbol {
            name: symbol.name.as_ref().map(|name| intern(&mut strings, name)),
            kind: kind(symbol.kind),
            container_name: symbol.container_name.as_ref().map(|name| intern(&mut strings, name)),
            uri: intern(&mut strings, &location.uri),
            range: location.range.map(range),
        });
    }
    RawWorkspaceSymbols { strings, items }
}

fn status(returned: &[Server]) -> RawStatus {
    let mut raw = RawStatus::default();
    for Server { language, by, stage, why, cannot } in returned {
        let mut text = |text: &String| {
            raw.strings.push(text.clone());
            u32::try_from(raw.strings.len() - 1).unwrap()
        };
        let language = text(language);
        let [by, why, cannot] = [by, why, cannot].map(|about| about.as_ref().map(&mut text));
        let stage = Stage::of_number(*stage).unwrap();
        raw.items.push(RawServer { language, by, stage, why, cannot });
    }
    raw
}

fn highlights(returned: &[Highlight]) -> RawHighlights {
    // The editor counts from 0 (D7).
    let kind = |kind: u32| HighlightKind::of_lsp(kind + 1).unwrap();
    let items = returned.iter().map(|highlight| (range(highlight.range), highlight.kind.map(kind))).collect();
    RawHighlights { items, ..RawHighlights::default() }
}

fn diagnostics(returned: &[(String, Vec<Diagnostic>)]) -> RawDiagnostics {
    let mut strings = Vec::new();
    let mut items = Vec::new();
    for (uri, diagnostics) in returned {
        let uri = intern(&mut strings, uri);
        if diagnostics.is_empty() {
            items.push(RawReport { uri, diagnostic: None });
        }
        for Diagnostic { range, severity, code, source, message } in diagnostics {
            let diagnostic = RawDiagnostic {
                range: self::range(*range),
                // The editor counts from 0 (D7).
                severity: severity.map(|severity| Severity::of_lsp(severity + 1).unwrap()),
                code: code.as_ref().map(|code| intern(&mut strings, code)),
                source: source.as_ref().map(|source| intern(&mut strings, source)),
                message: intern(&mut strings, message),
            };
            items.push(RawReport { uri, diagnostic: Some(diagnostic) });
        }
    }
    RawDiagnostics { strings, items, incomplete: Vec::new() }
}

/// The editor counts from 0 (D7).
fn kind(number: u32) -> SymbolKind {
    SymbolKind::of_lsp(number + 1).unwrap()
}

fn intern(strings: &mut Vec<String>, string: &str) -> u32 {
    let index = strings.iter().rposition(|known| known == string).unwrap_or_else(|| {
        strings.push(string.to_owned());
        strings.len() - 1
    });
    u32::try_from(index).unwrap()
}

fn range(Range { start, end }: Range) -> position::Range {
    let place = |Position { line, character }: Position| position::Position { line, character };
    position::Range { start: place(start), end: place(end) }
}
