//! The cases under test/golden: what is asked, what is on disk, what the editor returned, and the payload or error that
//! has to come of it, byte for byte.
#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read their cases from files")]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod in_memory;
mod written_out;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gateway_core::belief::Belief;
use gateway_core::cursor::Cursor;
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::epochs::{EpochHistory, Epochs, Remembered};
use gateway_core::error::ToolError;
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::limits::{Limits, MAX_RESPONSE_BYTES, REQUEST_TIMEOUT};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::page::{EncodedPayload, PageSize, ResponseBudget};
use gateway_core::position;
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::{Retained, Snapshots};
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use gateway_core::tools::workspace_symbols::Query;
use gateway_core::tools::{
    Tool, Whole, definition, diagnostics_document, diagnostics_workspace, document_symbols, hover, references,
    workspace_symbols,
};
use gateway_core::uri::{CanonicalUri, PathStyle};
use in_memory::InMemory;
use serde::Deserialize;
use serde_json::{Value, json};
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
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Editor {
    /// Whether its language has not shown that it is ready.
    unconfirmed: bool,
    definition: Vec<Returned>,
    declaration: Vec<Returned>,
    references: Vec<Location>,
    hover: Vec<Hover>,
    document_symbols: Vec<Symbol>,
    workspace_symbols: Vec<Symbol>,
    diagnostics: Vec<(String, Vec<Diagnostic>)>,
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
    let validators: BTreeMap<&str, _> = Tool::ALL
        .into_iter()
        .map(|tool| {
            let schema = golden_folder().join(format!("../../schemas/tools/{}.output.json", tool.name()));
            let schema = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
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
            Ok(payload) => format!("payload {}", String::from_utf8(payload.json).unwrap()),
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
fn answer(case: &Case, arguments: &Value) -> Result<EncodedPayload, ToolError> {
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
    let editor = &case.editor;
    let belief = if editor.unconfirmed { Belief::Unconfirmed } else { Belief::Confirmed };
    let admit = |uri, position| admit(case, &roots, &disk, uri, position);
    match Tool::from_name(&case.tool).unwrap() {
        Tool::Definition => {
            let input: definition::Input = input(arguments)?;
            admit(&input.uri, Some(input.position))?;
            definition::Answer::new(&targets(&editor.definition), belief, &roots, &disk)?.payload(budget)
        }
        Tool::References => {
            let input: references::Input = input(arguments)?;
            let uri = admit(&input.uri, Some(input.position))?;
            let declarations = if input.include_declaration {
                Vec::new()
            } else {
                vec![targets(&editor.definition), targets(&editor.declaration)]
            };
            let asked = Asked {
                request: RequestKey::references(&uri, input.position, input.include_declaration),
                size: PageSize::clamped(input.page_size, &limits),
                cursor: input.cursor,
            };
            let set = references::canonicalize(&locations(&editor.references), &declarations, belief, &roots, &disk);
            asked.page(case, &roots, set, |set, cursor, size| references::page(set, cursor, size, budget))
        }
        Tool::Hover => {
            let input: hover::Input = input(arguments)?;
            admit(&input.uri, Some(input.position))?;
            hover::Answer::new(&hovers(&editor.hover), belief)?.payload(budget)
        }
        Tool::DocumentSymbols => {
            let input: document_symbols::Input = input(arguments)?;
            let uri = admit(&input.uri, None)?;
            document_symbols::Answer::new(&outline(&editor.document_symbols), belief, &uri)?.payload(budget)
        }
        Tool::WorkspaceSymbols => {
            let input: workspace_symbols::Input = input(arguments)?;
            let asked = Asked {
                request: RequestKey::workspace_symbols(&Query::normalized(&input.query)?),
                size: PageSize::clamped(input.page_size, &limits),
                cursor: input.cursor,
            };
            let set = workspace_symbols::canonicalize(&symbols(&editor.workspace_symbols), belief, &roots, &disk);
            asked.page(case, &roots, set, |set, cursor, size| workspace_symbols::page(set, cursor, size, budget))
        }
        Tool::DiagnosticsDocument => {
            let input: diagnostics_document::Input = input(arguments)?;
            let uri = admit(&input.uri, None)?;
            let raw = diagnostics(&editor.diagnostics);
            diagnostics_document::Answer::new(&raw, &uri, case.document.shown, &roots, &disk)?.payload(budget)
        }
        Tool::DiagnosticsWorkspace => {
            let input: diagnostics_workspace::Input = input(arguments)?;
            let asked = Asked {
                request: RequestKey::workspace_diagnostics(),
                size: PageSize::clamped(input.page_size, &limits),
                cursor: input.cursor,
            };
            let set = diagnostics_workspace::canonicalize(&diagnostics(&editor.diagnostics), &roots, &disk);
            asked.page(case, &roots, set, |set, cursor, size| diagnostics_workspace::page(set, cursor, size, budget))
        }
    }
}

/// A question to a paged tool.
struct Asked {
    request: RequestKey,
    size: PageSize,
    cursor: Option<String>,
}

impl Asked {
    fn page(
        self,
        case: &Case,
        roots: &AllowedRoots,
        set: Result<Retained, ToolError>,
        page: impl Fn(&Retained, &Cursor, PageSize) -> Result<EncodedPayload, ToolError>,
    ) -> Result<EncodedPayload, ToolError> {
        let Self { request, size, cursor } = self;
        let tool = Tool::from_name(&case.tool).unwrap();
        let epochs = epochs(case.epochs);
        let snapshot = SnapshotKey::derive(tool, &request, roots.key(), &epochs);
        if let Some(keys) = &case.keys {
            assert_eq!(Some(request.as_str()), keys.k.as_deref(), "{}: k", case.about);
            assert_eq!(Some(snapshot.as_str()), keys.s.as_deref(), "{}: s", case.about);
        }
        let now = Duration::ZERO;
        let mut snapshots = Snapshots::default();
        let mut history = EpochHistory::default();
        history.remember(snapshot.clone(), Remembered { tool, epochs, fingerprint: 1 });
        let Some(cursor) = cursor else {
            let set = Arc::new(set?);
            snapshots.retain(snapshot.clone(), Arc::clone(&set), now)?;
            return page(&set, &Cursor { offset: 0, request, snapshot }, size);
        };
        if let Some(minted) = case.cursor.as_ref().and_then(|cursor| cursor.epochs) {
            let minted = self::epochs(minted);
            let remembered = Remembered { tool, epochs: minted, fingerprint: 1 };
            history.remember(SnapshotKey::derive(tool, &request, roots.key(), &minted), remembered);
        }
        if case.cursor.as_ref().is_none_or(|cursor| !cursor.expired) {
            snapshots.retain(snapshot.clone(), Arc::new(set?), now)?;
        }
        let cursor = Cursor::decode(&cursor, &request)?;
        if cursor.snapshot != snapshot {
            return Err(ToolError::CursorStale { changed: history.changed_since(&cursor.snapshot, &epochs, tool) });
        }
        let retained = snapshots.get(&snapshot, now).ok_or(ToolError::CursorExpired)?;
        page(&retained, &cursor, size)
    }
}

fn input<'de, T: Deserialize<'de>>(arguments: &'de Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|_| ToolError::InvalidParams("The arguments do not fit.".to_owned()))
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
    let mut wire = json!({ "code": error.code().as_str(), "message": error.to_string() });
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
