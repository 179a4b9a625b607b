//! The cases under test/golden: what is asked, what is on disk, what the editor returned, and the payload or error that
//! has to come of it, byte for byte.
#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read their cases from files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod in_memory;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gateway_core::cursor::Cursor;
use gateway_core::epochs::{EpochHistory, Epochs, Remembered};
use gateway_core::error::ToolError;
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::limits::{Limits, MAX_RESPONSE_BYTES, REQUEST_TIMEOUT};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::page::{PageSize, ResponseBudget};
use gateway_core::position;
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::Snapshots;
use gateway_core::tools::{Tool, definition, references};
use gateway_core::uri::PathStyle;
use in_memory::InMemory;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
}

impl Default for Document {
    fn default() -> Self {
        Self { line_count: 1_000, line_length: Some(200) }
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
    uri: String,
    #[expect(dead_code, reason = "for the script")]
    roots: Vec<String>,
    roots_key: String,
    k: String,
    s: String,
}

/// What the editor returns, in the shapes of its API.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Editor {
    definition: Vec<Returned>,
    declaration: Vec<Returned>,
    references: Vec<Location>,
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

/// A location with its members in the contract's order.
#[derive(Deserialize, Serialize, Clone)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Location {
    uri: String,
    range: Range,
    /// Stands for this many locations: this one, and the same on each of the lines after it.
    #[serde(skip_serializing)]
    on_lines: Option<u32>,
}

#[derive(Deserialize, Serialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Deserialize, Serialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Position {
    line: u32,
    character: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expectation {
    payload: Option<Value>,
    /// What the script needs to make `payload.nextCursor`.
    #[expect(dead_code, reason = "for the script")]
    next_offset: Option<usize>,
    error: Option<Value>,
    /// How the editor is asked for the document (D31).
    editor_uri: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct DefinitionPayload {
    locations: Vec<Location>,
    summary: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReferencesPayload {
    items: Vec<Location>,
    next_cursor: Option<String>,
    summary: String,
}

#[test]
fn every_golden_case_comes_out_as_written() {
    let mut failed = Vec::new();
    let files = case_files();
    assert!(files.len() >= 40, "the cases are there");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let case: Case = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        failed.extend(check(&case).into_iter().map(|difference| format!("{}: {difference}", file.display())));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The schemas are the source of truth for what goes in and out, so the cases have to agree with them (contract
/// section 8).
#[test]
fn every_golden_payload_validates_against_the_output_schema_of_its_tool() {
    for file in case_files() {
        let case: Case = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let schema = golden_folder().join(format!("../../schemas/tools/{}.output.json", case.tool));
        let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
        if let Some(payload) = &case.expect.payload {
            let payload: Value = serde_json::from_str(&expected_payload(&case.tool, payload)).unwrap();
            jsonschema::validate(&schema, &payload).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
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
fn check(case: &Case) -> Vec<String> {
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
        let expected = match (&case.expect.payload, &case.expect.error) {
            (Some(payload), None) => format!("payload {}", expected_payload(&case.tool, payload)),
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
    let tool = Tool::from_name(&case.tool).unwrap();
    match tool {
        Tool::Definition => {
            let input: definition::Input = input(arguments)?;
            admit(case, &roots, &disk, &input.uri, input.position)?;
            definition::Answer::new(&targets(&case.editor.definition), &roots, &disk)?.payload(budget)
        }
        Tool::References => {
            let input: references::Input = input(arguments)?;
            let size = PageSize::clamped(input.page_size, &limits);
            let uri = admit(case, &roots, &disk, &input.uri, input.position)?;
            let declarations = if input.include_declaration {
                Vec::new()
            } else {
                vec![targets(&case.editor.definition), targets(&case.editor.declaration)]
            };
            let set = references::canonicalize(&locations(&case.editor.references), &declarations, &roots, &disk);
            let request = RequestKey::references(&uri, input.position, input.include_declaration);
            let epochs = epochs(case.epochs);
            let snapshot = SnapshotKey::derive(tool, &request, roots.key(), &epochs);
            if let Some(keys) = &case.keys {
                assert_eq!(uri.as_str(), keys.uri, "{}: uri", case.about);
                assert_eq!(request.as_str(), keys.k, "{}: k", case.about);
                assert_eq!(snapshot.as_str(), keys.s, "{}: s", case.about);
            }
            let now = Duration::ZERO;
            let mut snapshots = Snapshots::default();
            let mut history = EpochHistory::default();
            history.remember(snapshot.clone(), Remembered { tool, epochs, fingerprint: 1 });
            let Some(cursor) = &input.cursor else {
                let set = Arc::new(set?);
                snapshots.retain(snapshot.clone(), Arc::clone(&set), now)?;
                return references::page(&set, &Cursor { offset: 0, request, snapshot }, size, budget);
            };
            if let Some(minted) = case.cursor.as_ref().and_then(|cursor| cursor.epochs) {
                let minted = self::epochs(minted);
                let remembered = Remembered { tool, epochs: minted, fingerprint: 1 };
                history.remember(SnapshotKey::derive(tool, &request, roots.key(), &minted), remembered);
            }
            if case.cursor.as_ref().is_none_or(|cursor| !cursor.expired) {
                snapshots.retain(snapshot.clone(), Arc::new(set?), now)?;
            }
            let cursor = Cursor::decode(cursor, &request)?;
            if cursor.snapshot != snapshot {
                return Err(ToolError::CursorStale { changed: history.changed_since(&cursor.snapshot, &epochs, tool) });
            }
            let retained = snapshots.get(&snapshot, now).ok_or(ToolError::CursorExpired)?;
            references::page(&retained, &cursor, size, budget)
        }
        _ => Err(ToolError::NotBuiltYet),
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
    position: position::Position,
) -> Result<gateway_core::uri::CanonicalUri, ToolError> {
    let document = roots.admit(uri, disk)?;
    if let Some(expected) = &case.expect.editor_uri {
        assert_eq!(&document.editor_uri, expected, "{}: the URI for the editor", case.about);
    }
    position.check(case.document.line_count, case.document.line_length)?;
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

fn expected_payload(tool: &str, payload: &Value) -> String {
    let encoded = if tool == Tool::Definition.name() {
        let mut payload = DefinitionPayload::deserialize(payload).unwrap();
        payload.locations = payload.locations.iter().flat_map(on_lines).collect();
        serde_json::to_string(&payload)
    } else {
        let mut payload = ReferencesPayload::deserialize(payload).unwrap();
        payload.items = payload.items.iter().flat_map(on_lines).collect();
        serde_json::to_string(&payload)
    };
    encoded.unwrap()
}

fn on_lines(location: &Location) -> impl Iterator<Item = Location> + use<> {
    let location = location.clone();
    (0..location.on_lines.unwrap_or(1)).map(move |line| {
        let mut location = location.clone();
        location.range.start.line += line;
        location.range.end.line += line;
        location
    })
}

fn epochs(EpochsOf { roots, text, fs, diagnostics }: EpochsOf) -> Epochs {
    Epochs { roots, text, fs, diagnostics }
}

fn locations(returned: &[Location]) -> RawLocations {
    let mut uris = Vec::new();
    let items = returned
        .iter()
        .flat_map(on_lines)
        .map(|location| RawLocation { uri: intern(&mut uris, &location.uri), range: range(location.range) })
        .collect();
    RawLocations { uris, items }
}

fn targets(returned: &[Returned]) -> RawTargets {
    let mut uris = Vec::new();
    let mut items = Vec::new();
    for target in returned {
        match target {
            Returned::Location(location) => items.extend(on_lines(location).map(|location| RawTarget {
                uri: intern(&mut uris, &location.uri),
                range: range(location.range),
                selection: None,
            })),
            Returned::Link(link) => items.push(RawTarget {
                uri: intern(&mut uris, &link.target_uri),
                range: range(link.target_range),
                selection: link.target_selection_range.map(range),
            }),
        }
    }
    RawTargets { uris, items }
}

fn intern(uris: &mut Vec<String>, uri: &str) -> u32 {
    let index = uris.iter().position(|known| known == uri).unwrap_or_else(|| {
        uris.push(uri.to_owned());
        uris.len() - 1
    });
    u32::try_from(index).unwrap()
}

fn range(Range { start, end }: Range) -> position::Range {
    let place = |Position { line, character }: Position| position::Position { line, character };
    position::Range { start: place(start), end: place(end) }
}
