//! What the tools beyond version 1 have in common: a place named in few tokens, and lists of places grouped by file.

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::document_symbols::{containers, innermost, name};
use super::shared::{MAX_URI_CHARACTERS, page_size};
use crate::ask::{Raw, Subject};
use crate::canonical::{CanonicalSet, Locations, ordered};
use crate::compact::{Frame, Group};
use crate::error::ToolError;
use crate::limits::{DEFAULT_PAGE_TOKENS, MAX_REFERENCES_ITEMS_TOTAL};
use crate::name_path::NamePath;
use crate::omissions::Omissions;
use crate::order::Text;
use crate::page::WantedPage;
use crate::piece::Piece;
use crate::place;
use crate::position::{Position, Range};
use crate::schema::{Field, Schema, optional, required};
use crate::snapshots::Retained;
use crate::texts::{self, ShownLines};
use crate::tool::{Aim, Arguments, Asked, Canonical, Misfit, Question};
use crate::uri::CanonicalUri;

/// Most patterns of one call, and most characters of one of them.
const MAX_PATTERNS: usize = 32;
pub(super) const MAX_PATTERN_CHARACTERS: usize = 1_024;

/// The arguments that say what is asked about.
pub(super) const TARGET: [&str; 6] = ["file", "at", "symbol", "text", "near", "expect"];
/// The arguments that choose a page.
pub(super) const PAGE: [&str; 3] = ["maxTokens", "cursor", "ifState"];

/// All that one of these tools takes. Each takes some of it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Input {
    #[serde(deserialize_with = "text")]
    pub(super) file: Option<String>,
    #[serde(deserialize_with = "place_text")]
    at: Option<Result<Range, ToolError>>,
    #[serde(deserialize_with = "text")]
    pub(super) symbol: Option<String>,
    #[serde(deserialize_with = "text")]
    text: Option<String>,
    #[serde(deserialize_with = "text")]
    near: Option<String>,
    #[serde(deserialize_with = "text")]
    expect: Option<String>,
    pub(super) detail: Detail,
    pub(super) declarations: bool,
    lines: bool,
    #[serde(deserialize_with = "page_size")]
    pub(super) depth: Option<u64>,
    #[serde(rename = "match", deserialize_with = "text")]
    pub(super) pattern: Option<String>,
    pub(super) kinds: Vec<String>,
    pub(super) paths: Vec<String>,
    #[serde(deserialize_with = "page_size")]
    max_tokens: Option<u64>,
    cursor: Option<String>,
    #[serde(deserialize_with = "text")]
    if_state: Option<String>,
}

const WITH_LINES: &str = "lines";

/// How much is told of each file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Detail {
    #[default]
    Places,
    Counts,
    Symbols,
}

impl Input {
    /// Reads arguments of which the tool takes these.
    pub(super) fn read(arguments: &Value, names: &[&[&str]]) -> Result<Self, Misfit> {
        let Value::Object(fields) = arguments else { return Err(Misfit::Schema) };
        if fields.keys().any(|name| !names.iter().any(|names| names.contains(&&**name))) {
            return Err(Misfit::Schema);
        }
        let input = Self::deserialize(arguments).map_err(|_| Misfit::Schema)?;
        if input.file.as_ref().is_some_and(|file| file.chars().count() > MAX_URI_CHARACTERS) {
            let advice = format!("`file` may have at most {MAX_URI_CHARACTERS} characters; correct the path.");
            return Err(refused(advice));
        }
        if input.file.as_ref().is_some_and(String::is_empty) {
            return Err(refused("`file` is empty; pass the path of a file.".to_owned()));
        }
        check_globs(&input.paths)?;
        Ok(input)
    }

    /// The page that is wanted.
    pub(super) fn page(&mut self) -> WantedPage {
        WantedPage { size: self.max_tokens, cursor: self.cursor.take(), if_state: self.if_state.take() }
    }

    /// A parameter of the question to a tool that gives source lines if they are wanted.
    pub(super) fn lines_parameter(&self) -> String {
        if self.lines { WITH_LINES.to_owned() } else { String::new() }
    }

    /// The question about the target, with parameters after what is told of the target, or why it is none.
    pub(super) fn about_target(mut self, parameters: Vec<String>) -> Result<Arguments, Misfit> {
        let page = Some(self.page());
        if self.expect.as_ref().is_some_and(|expected| !texts::is_digest(expected)) {
            let advice = "`expect` is no digest; pass the one that `symbol.source` gave, or leave it out.";
            return Err(refused(advice.to_owned()));
        }
        let (subject, aim) = match (self.file, self.at, self.symbol, self.text, self.near) {
            (Some(uri), Some(at), None, None, None) => {
                let range = at.map_err(Misfit::Refused)?;
                let aim = (range.start != range.end).then_some(Aim::Range(range));
                (Subject::Place { uri, position: range.start }, aim)
            }
            (file, None, Some(symbol), None, None) => {
                NamePath::read(&symbol).map_err(Misfit::Refused)?;
                let subject = file.map_or(Subject::Workspace { query: None }, |uri| Subject::Document { uri });
                (subject, Some(Aim::Symbol(symbol)))
            }
            (Some(uri), None, None, Some(text), near) => {
                let piece = Piece::read(&text, near.as_deref()).map_err(Misfit::Refused)?;
                (Subject::Document { uri }, Some(Aim::Piece(piece)))
            }
            _ => {
                let advice = "Say in one way what to ask about: pass `symbol`, or `file` with `at` or with `text`.";
                return Err(refused(advice.to_owned()));
            }
        };
        let parameters = [vec![String::new()], parameters].concat();
        let question = Question { subject, parameters };
        Ok(Arguments { page, by_path: true, aim, expect: self.expect, ..Arguments::of(question) })
    }
}

fn refused(advice: String) -> Misfit {
    Misfit::Refused(ToolError::InvalidParams(advice))
}

/// The arguments that say what is asked about.
pub(super) fn target_fields() -> Vec<Field> {
    let at = format!(r#""string","pattern":{}"#, Value::from(place::PATTERN));
    vec![
        optional("file", file_schema()),
        optional("at", Schema::of("0-based line:character of the name", &at)),
        optional("symbol", Schema::of("Name instead of at, such as Class.method", r#""string""#)),
        optional("text", Schema::of("Piece of a line, | before the place: a.sub|scribe(", r#""string""#)),
        optional("near", Schema::of("Lines of text, such as 10-40", r#""string""#)),
        optional("expect", Schema::of("Fail if file has not this digest", r#""string""#)),
    ]
}

/// What names a file.
pub(super) fn file_schema() -> Schema {
    Schema::of("Path below the root, or file: URI", r#""string""#)
}

/// The argument that asks for source lines.
pub(super) fn lines_field() -> Field {
    optional("lines", Schema::of("With source lines", r#""boolean""#))
}

/// Whether source lines are wanted: [`Input::lines_parameter`].
pub(super) fn wants_lines(question: &Question) -> bool {
    question.parameters.iter().skip(1).any(|parameter| parameter == WITH_LINES)
}

/// What chooses files.
pub(super) fn paths_field() -> Field {
    optional("paths", Schema::of("Globs", r#""array","items":{"type":"string"}"#))
}

/// The arguments that choose a page.
pub(super) fn page_fields() -> [Field; 3] {
    [
        optional("maxTokens", Schema::plain(&format!(r#""integer","minimum":1,"default":{DEFAULT_PAGE_TOKENS}"#))),
        optional("cursor", Schema::plain(r#"["string","null"]"#)),
        optional("ifState", Schema::plain(r#""string""#)),
    ]
}

/// The members of an answer around the list.
pub(super) fn output(list: &'static str, items: Schema, counts: &[&'static str]) -> Vec<Field> {
    let root = Schema::object(
        "A folder.",
        &[
            required("id", Schema::of("What its paths begin with, before a colon.", r#""string""#)),
            required("uri", Schema::of("The folder.", r#""string","pattern":"^file://""#)),
        ],
    );
    let mut fields = vec![
        optional(
            "root",
            Schema::of(
                "The folder in which all paths begin, if there is only one.",
                r#""string","pattern":"^file://""#,
            ),
        ),
        optional(
            "roots",
            Schema::array(
                "The folders in which the paths begin, if there are several.",
                MAX_REFERENCES_ITEMS_TOTAL,
                &root,
            ),
        ),
    ];
    if list == "symbols" {
        fields.push(optional(
            "path",
            Schema::of("The file: its path below the root, or root id, colon, path.", r#""string""#),
        ));
    }
    fields.extend(counts.iter().map(|name| {
        optional(name, Schema::of("How many there are on all pages together.", r#""integer","minimum":0"#))
    }));
    fields.extend([
        optional(list, items),
        optional("unchanged", Schema::of("The result is the one that `ifState` names, so nothing else is said.", r#""boolean""#)),
        optional("nextCursor", Schema::of("Pass this as cursor, with otherwise the same arguments, to get the next page. null: this page is the last.", r#"["string","null"]"#)),
        required("state", Schema::of("What tells the full result from others.", r#""string","pattern":"^[0-9a-f]{16}$""#)),
        required("summary", Schema::of("One sentence: how much was found, and how much was left out.", r#""string""#)),
    ]);
    fields
}

/// The members of an answer about a target, which may be a list of the symbols that a name fits.
pub(super) fn of_target(list: &'static str, items: Schema, counts: &[&'static str]) -> Vec<Field> {
    let mut fields = vec![optional("target", symbol_schema("What the name was taken for."))];
    fields.extend(output(list, items, counts));
    fields.push(optional(
        "symbols",
        symbols_schema("What the name fits, if that is not one symbol: choose one, and pass its path and place."),
    ));
    fields
}

/// Symbols, each by its name.
pub(super) fn symbols_schema(description: &str) -> Schema {
    Schema::array(description, MAX_REFERENCES_ITEMS_TOTAL, &symbol_schema("A symbol."))
}

fn symbol_schema(description: &str) -> Schema {
    let place = format!(r#""string","pattern":{}"#, Value::from(place::PATTERN));
    Schema::object(
        description,
        &[
            required("name", Schema::of("Its name.", r#""string""#)),
            optional("in", Schema::of("The names of what contains it, the innermost last.", r#""string""#)),
            required("kind", Schema::of("LSP's name of its kind.", r#""string""#)),
            required("path", Schema::of("Its file.", r#""string""#)),
            required("at", Schema::of("Where its name stands.", &place)),
            optional("head", Schema::of("The line of its name.", r#""string""#)),
            optional("note", Schema::of("What is not sure about it.", r#""string""#)),
        ],
    )
}

/// Places by file.
pub(super) fn files_schema() -> Schema {
    let place = Schema::of(
        "A place or a range; then, if wanted, in brackets the symbol around it, and its line.",
        r#""string""#,
    );
    let file = Schema::object(
        "A file.",
        &[
            required("path", Schema::of("Its path below the root, or root id, colon, path.", r#""string""#)),
            optional("at", Schema::array("The places, in order.", MAX_REFERENCES_ITEMS_TOTAL, &place)),
            optional("uses", Schema::of("How many places it has.", r#""integer","minimum":1"#)),
        ],
    );
    Schema::array("The files, in order.", MAX_REFERENCES_ITEMS_TOTAL, &file)
}

/// The places of a file, by the file's name in answers.
pub(super) struct OfFile {
    pub(super) uri: CanonicalUri,
    pub(super) path: String,
    pub(super) places: Vec<Range>,
}

/// Places grouped by file, in order, with what was left out and where the paths begin.
pub(super) struct ByFile {
    pub(super) files: Vec<OfFile>,
    pub(super) omissions: Omissions,
    pub(super) roots: String,
}

impl ByFile {
    /// The files among `locations` that match one of the patterns, or all if there is none.
    pub(super) fn of(
        locations: &Locations,
        without_range: usize,
        patterns: &[String],
        asked: &Asked<'_>,
    ) -> Result<Self, ToolError> {
        let patterns = globs(patterns)?;
        let mut omissions = Omissions { without_range, ..locations.omissions() };
        let (mut used, mut files) = (BTreeSet::new(), Vec::new());
        for (uri, items) in locations.by_uri() {
            let (root, path) = asked.roots.shown(uri).ok_or(ToolError::Internal)?;
            let below = asked.roots.below_root(&path);
            if patterns.as_ref().is_some_and(|patterns| !patterns.is_match(below)) {
                omissions.other_paths += items.len();
                continue;
            }
            used.insert(root);
            let uri = uri.clone();
            files.push((root, OfFile { uri, path, places: items.iter().map(|&(_, range)| range).collect() }));
        }
        files.sort_by(|(root, file), (other_root, other)| {
            root.cmp(other_root).then_with(|| Text(&file.path).cmp(&Text(&other.path)))
        });
        let roots = asked.roots.told(&used);
        Ok(Self { files: files.into_iter().map(|(_, file)| file).collect(), omissions, roots })
    }

    /// The same with only the beginning of each place that lies in one line: it ends where the symbol's name does.
    pub(super) fn beginnings(mut self) -> Self {
        for file in &mut self.files {
            for place in file.places.iter_mut().filter(|place| place.start.line == place.end.line) {
                place.end = place.start;
            }
            file.places = ordered(std::mem::take(&mut file.places));
        }
        self
    }

    pub(super) fn places(&self) -> usize {
        self.files.iter().map(|file| file.places.len()).sum()
    }

    /// The list of the places. `counts` are the members before it.
    pub(super) fn grouped(
        self,
        counts: &str,
        nouns: (&'static str, &'static str),
        with_lines: bool,
        asked: &Asked<'_>,
    ) -> Result<Canonical, ToolError> {
        let (mut groups, mut omissions) = (Vec::with_capacity(self.files.len()), self.omissions);
        let mut first = 0;
        let mut items = Vec::with_capacity(self.places());
        for OfFile { uri, path, places } in &self.files {
            let text = if with_lines { asked.texts.text(uri) } else { None };
            let mut lines = text.as_deref().map(ShownLines::of);
            let outline = asked.outlines.iter().find_map(|(of, outline)| outline.as_ref().filter(|_| of == uri));
            for &range in places {
                let mut item = place::written(range);
                if let Some(symbol) = outline.map(|raw| around(raw, range.start)).transpose()?.flatten() {
                    item = format!("{item} [{symbol}]");
                }
                match lines.as_mut().and_then(|lines| lines.around(range.start)) {
                    Some(line) => item = format!("{item} {line}"),
                    None => omissions.without_line += usize::from(with_lines),
                }
                items.push(item);
            }
            groups.push(Group { first, opening: format!(r#"{{"path":{},"at":["#, Value::from(&**path)) });
            first += places.len();
        }
        let set = CanonicalSet::encode(items)?;
        let opening = format!(r#"{}{counts}"files":["#, target_member(asked));
        Ok(listed(set, self.roots, opening, groups, nouns, omissions, asked))
    }
}

/// The innermost symbol around a place, by its name after those of what contains it.
fn around(outline: &Raw, place: Position) -> Result<Option<String>, ToolError> {
    let raw = outline.document_symbols()?;
    let Some(symbol) = innermost(raw, place)? else { return Ok(None) };
    let mut names = containers(raw, symbol)?;
    names.extend(name(raw, symbol)?);
    Ok(Some(names.join(".")))
}

/// The member that tells what a name was taken for, with its comma; nothing where a place was given.
pub(super) fn target_member(asked: &Asked<'_>) -> String {
    match asked.question.parameters.first() {
        Some(target) if !target.is_empty() => format!(r#""target":{target},"#),
        _ => String::new(),
    }
}

/// A compact list, ready to be paged.
pub(super) fn listed(
    set: CanonicalSet,
    roots: String,
    opening: String,
    groups: Vec<Group>,
    nouns: (&'static str, &'static str),
    omissions: Omissions,
    asked: &Asked<'_>,
) -> Canonical {
    let frame = Some(Box::new(Frame::of(&set, roots, opening, groups, nouns)));
    Canonical::Set(Retained { set, omissions, completeness: asked.completeness, frame })
}

/// Where a symbol leads, by file.
pub(super) fn targets(
    answers: &[Raw],
    asked: &Asked<'_>,
    nouns: (&'static str, &'static str),
) -> Result<Canonical, ToolError> {
    let [raw] = answers else { return Err(ToolError::Internal) };
    let raw = raw.targets()?;
    let locations = Locations::of_targets(raw, asked.roots, asked.real)?;
    ByFile::of(&locations, raw.without_range, &[], asked)?.grouped("", nouns, wants_lines(asked.question), asked)
}

/// The patterns of a call as one; nothing if there is none.
pub(super) fn globs(patterns: &[String]) -> Result<Option<GlobSet>, ToolError> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let unusable =
        || ToolError::InvalidParams("A pattern of `paths` is no glob such as src/**/*.ts; correct it.".to_owned());
    if patterns.len() > MAX_PATTERNS || patterns.iter().any(|pattern| pattern.chars().count() > MAX_PATTERN_CHARACTERS)
    {
        return Err(ToolError::InvalidParams(format!(
            "`paths` may have at most {MAX_PATTERNS} patterns of at most {MAX_PATTERN_CHARACTERS} characters; pass fewer or shorter ones."
        )));
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        // A folder stands for all in it.
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        for pattern in [pattern, &format!("{pattern}/**")] {
            set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(|_| unusable())?);
        }
    }
    set.build().map(Some).map_err(|_| unusable())
}

/// Checks patterns before anybody is asked.
fn check_globs(patterns: &[String]) -> Result<(), Misfit> {
    globs(patterns).map(|_| ()).map_err(Misfit::Refused)
}

/// Reads a place; what looks like one and cannot be one is kept as the error that it is.
fn place_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Result<Range, ToolError>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    place::read(&text).map(Some).ok_or_else(|| serde::de::Error::custom("no place"))
}

/// Reads a text that may be left out, and is not null.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}
