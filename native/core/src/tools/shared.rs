//! What the inputs, outputs and summaries of tools have in common.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::ask::{Raw, Subject};
use crate::canonical::Locations;
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::limits::{DEFAULT_PAGE_SIZE, MAX_ITEMS_NONPAGED, MAX_PAGE_SIZE};
use crate::omissions::Omissions;
use crate::page::{List, Page, PageSize, Payload, ResponseBudget, WantedPage};
use crate::position::Position;
use crate::schema::{Field, Schema, optional, required};
use crate::snapshots::Retained;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, read};

/// The longest `uri` that is accepted, in characters.
pub(super) const MAX_URI_CHARACTERS: usize = 16_384;

/// The arguments of a tool that asks about a place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AtPlace {
    #[serde(deserialize_with = "uri")]
    uri: String,
    position: Position,
}

/// The arguments of a tool that asks about a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfDocument {
    #[serde(deserialize_with = "uri")]
    uri: String,
}

pub(super) fn read_place(arguments: &Value) -> Result<Arguments, Misfit> {
    let AtPlace { uri, position } = read(arguments)?;
    Ok(Arguments::of(Question::about(Subject::Place { uri, position })))
}

pub(super) fn read_document(arguments: &Value) -> Result<Arguments, Misfit> {
    let OfDocument { uri } = read(arguments)?;
    Ok(Arguments::of(Question::about(Subject::Document { uri })))
}

pub(super) fn paged(question: Question, size: Option<u64>, cursor: Option<String>) -> Arguments {
    Arguments { page: Some(WantedPage { size, cursor, if_state: None }), ..Arguments::of(question) }
}

/// The argument that names the document. `to` tells what for.
pub(super) fn uri_field(to: &str) -> Field {
    let description = format!(
        "The file to {to}, as an absolute file: URI, percent-encoded, without query or fragment, for example file:///home/me/project/src/main.ts. It must lie inside an open workspace folder or an allowed root."
    );
    required("uri", Schema::of(&description, &format!(r#""string","maxLength":{MAX_URI_CHARACTERS}"#)))
}

pub(super) fn place_fields() -> Vec<Field> {
    let line = Schema::coordinate("0-based line: the first line of the file is 0.");
    let character = Schema::coordinate(
        "0-based offset in the line, counted in UTF-16 code units: the first character is 0, a character outside the Basic Multilingual Plane such as an emoji counts as 2.",
    );
    let position = Schema::object(
        "The place to ask about: a position on the name of the symbol. Editors and compilers often count lines and columns from 1; subtract 1 from both.",
        &[required("line", line), required("character", character)],
    );
    vec![uri_field("ask about"), required("position", position)]
}

/// The arguments of a paged tool: what it has pages of, and which arguments have to stay the same.
pub(super) fn page_fields(items: &str, same: &str) -> [Field; 2] {
    let size = format!(
        "How many {items} to return at most on this page; {DEFAULT_PAGE_SIZE} if left out. A larger number than the gateway allows ({MAX_PAGE_SIZE}, or less if configured) counts as that maximum."
    );
    let cursor = format!(
        "Where to go on. Leave it out or pass null for the first page, which always asks the editor afresh. For the next page pass nextCursor of the page before, unchanged, with {same}. A cursor holds for one state of the workspace: if the call fails with CURSOR_STALE or CURSOR_EXPIRED, start again with null."
    );
    [
        optional("pageSize", Schema::of(&size, &format!(r#""integer","minimum":1,"default":{DEFAULT_PAGE_SIZE}"#))),
        optional("cursor", Schema::of(&cursor, r#"["string","null"],"default":null"#)),
    ]
}

/// The members of a page.
pub(super) fn page_output(items: &str, item: &Schema) -> Vec<Field> {
    let cursor =
        "Pass this as cursor, with otherwise the same arguments, to get the next page. null: this page is the last.";
    vec![
        required("items", Schema::array(items, MAX_PAGE_SIZE, item)),
        required("nextCursor", Schema::of(cursor, r#"["string","null"]"#)),
        summary_field(),
    ]
}

pub(super) fn summary_field() -> Field {
    let description = "One sentence for a reader: how much was found, and how much was cut or left out.";
    optional("summary", Schema::of(description, r#""string""#))
}

/// The member that names a file.
pub(super) fn file_field() -> Field {
    let description = "The file, as a canonical file: URI: symbolic links are resolved and reserved characters percent-encoded. It can be passed back to any tool.";
    required("uri", Schema::of(description, r#""string","pattern":"^file://""#))
}

pub(super) fn location_schema(description: &str) -> Schema {
    Schema::object(description, &[file_field(), required("range", Schema::range("Where in that file."))])
}

pub(super) fn id_field() -> Field {
    let description = "Stable identifier: the same for the same item as long as its content and place do not change.";
    required("id", Schema::of(description, r#""string","pattern":"^sha256:[0-9a-f]{64}$""#))
}

/// The first members of a symbol.
pub(super) fn symbol_fields() -> [Field; 3] {
    let kind = "LSP's SymbolKind: 1 File, 2 Module, 3 Namespace, 4 Package, 5 Class, 6 Method, 7 Property, 8 Field, 9 Constructor, 10 Enum, 11 Interface, 12 Function, 13 Variable, 14 Constant, 15 String, 16 Number, 17 Boolean, 18 Array, 19 Object, 20 Key, 21 Null, 22 EnumMember, 23 Struct, 24 Event, 25 Operator, 26 TypeParameter.";
    [
        id_field(),
        required("name", Schema::of("The name of the symbol.", r#""string","minLength":1"#)),
        required("kind", Schema::of(kind, r#""integer","minimum":1,"maximum":26"#)),
    ]
}

pub(super) fn container_field() -> Field {
    let description = "The name of what directly contains the symbol, such as its class. Absent if nothing does.";
    optional("containerName", Schema::of(description, r#""string","minLength":1"#))
}

pub(super) fn diagnostics_schema(description: &str) -> Schema {
    let severity =
        "LSP's DiagnosticSeverity: 1 error, 2 warning, 3 information, 4 hint. Absent if its reporter gave none.";
    let code = "The reporter's code for this kind of problem, for example 2322. A number is given as decimal text. Absent if there is none.";
    let source = "Who reports it, for example ts or eslint. Absent if the reporter gave none.";
    let diagnostic = Schema::object(
        "One diagnostic.",
        &[
            id_field(),
            required("range", Schema::range("The code that it is about.")),
            optional("severity", Schema::of(severity, r#""integer","minimum":1,"maximum":4"#)),
            optional("code", Schema::of(code, r#""string""#)),
            optional("source", Schema::of(source, r#""string","minLength":1"#)),
            required("message", Schema::of("What is wrong, in the words of its reporter.", r#""string""#)),
        ],
    );
    Schema::array(description, MAX_ITEMS_NONPAGED, &diagnostic)
}

/// The members of an answer that tells where a symbol leads: what that is called, and what it means if there is none.
pub(super) fn targets_output(description: &str, one: &str) -> Vec<Field> {
    let one = format!("One {one}: the file, and the range of its name where the language server tells it.");
    vec![required("locations", Schema::array(description, MAX_ITEMS_NONPAGED, &location_schema(&one))), summary_field()]
}

/// Where a symbol leads, as a list.
pub(super) fn targets(answers: &[Raw], asked: &Asked<'_>, one: &str, many: &str) -> Result<Canonical, ToolError> {
    let [raw] = answers else { return Err(ToolError::Internal) };
    let raw = raw.targets()?;
    let locations = Locations::of_targets(raw, asked.roots, asked.real)?;
    let omissions = Omissions { without_range: raw.without_range, ..locations.omissions() };
    let items = locations.encode(MAX_ITEMS_NONPAGED)?;
    let (found, returned) = (locations.len(), items.len());
    let told = match found {
        0 => format!("Found no {one}"),
        1 => format!("Found 1 {one}"),
        found if found > returned => format!("Returned {returned} of {found} {many}"),
        found => format!("Found {found} {many}"),
    };
    let summary = format!("{told}{omissions}{}.", asked.completeness);
    Ok(Canonical::Whole(Box::new(List { opening: r#"{"locations":["#.to_owned(), items, summary })))
}

/// The text without what surrounds it and is whitespace to Unicode or to JavaScript, which differ in two characters.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

/// So many of them, as summaries say it: `no references`, `1 reference`, `2 references`.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// As [`counted`], of a list that may have been cut: `200 of 512 diagnostics` (D15).
pub(super) fn counted_of(returned: usize, found: usize, one: &str, many: &str) -> String {
    if returned < found { format!("{returned} of {found} {many}") } else { counted(found, one, many) }
}

/// A page of a set of items that are called so, with the summary that says how many it has.
pub(super) fn items_page(
    retained: &Retained,
    cursor: &Cursor,
    size: PageSize,
    budget: ResponseBudget,
    one: &str,
    many: &str,
) -> Result<Payload, ToolError> {
    let summarize = |items, more| {
        let returned = counted(items, one, many);
        format!("Returned {returned}{}{}{}.", next_page(more), retained.omissions, retained.completeness)
    };
    Page::new(&retained.set, cursor, size, summarize)?.payload(budget)
}

/// What the summary of a page says of the next.
pub(super) fn next_page(more: bool) -> &'static str {
    if more { " (next page available)" } else { "" }
}

/// Reads the name of a document, which is not too long.
pub(super) fn uri<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let uri = String::deserialize(deserializer)?;
    if uri.chars().count() > MAX_URI_CHARACTERS {
        return Err(D::Error::custom("too long"));
    }
    Ok(uri)
}

/// Reads an optional page size. JSON knows one kind of number, so `50.0` is 50; what is too large for the type is
/// clamped like everything else above the maximum (D11).
pub(super) fn page_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct AtLeastOne;

    impl Visitor<'_> for AtLeastOne {
        type Value = Option<u64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an integer from 1")
        }

        fn visit_u64<E: Error>(self, size: u64) -> Result<Self::Value, E> {
            if size == 0 { Err(E::custom("less than 1")) } else { Ok(Some(size)) }
        }

        fn visit_f64<E: Error>(self, size: f64) -> Result<Self::Value, E> {
            if size < 1.0 || size.fract() != 0.0 {
                return Err(E::custom("not an integer from 1"));
            }
            // A conversion from a float saturates.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above; saturates")]
            Ok(Some(size as u64))
        }
    }

    deserializer.deserialize_any(AtLeastOne)
}
