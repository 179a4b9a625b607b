//! What the tools beyond version 1 have in common: a place named in few tokens, and lists of places grouped by file.

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::shared::{MAX_URI_CHARACTERS, page_size};
use crate::ask::{Raw, Subject};
use crate::canonical::{CanonicalSet, Locations};
use crate::compact::{Frame, Group};
use crate::error::ToolError;
use crate::limits::{DEFAULT_PAGE_TOKENS, MAX_REFERENCES_ITEMS_TOTAL};
use crate::omissions::Omissions;
use crate::order::Text;
use crate::page::WantedPage;
use crate::place;
use crate::position::Range;
use crate::schema::{Field, Schema, optional, required};
use crate::snapshots::Retained;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, read_flat};

/// Most patterns of one call, and most characters of one of them.
const MAX_PATTERNS: usize = 32;
const MAX_PATTERN_CHARACTERS: usize = 1_024;

/// What every one of these tools takes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AtPlace {
    file: String,
    #[serde(deserialize_with = "place_text")]
    at: Result<Range, ToolError>,
    #[serde(default, deserialize_with = "page_size")]
    max_tokens: Option<u64>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default, deserialize_with = "text")]
    if_state: Option<String>,
}

/// Reads the arguments of a tool that takes a place and nothing else.
pub(super) fn read_place(arguments: &Value) -> Result<Arguments, Misfit> {
    let AtPlace { file, at, max_tokens, cursor, if_state } = read_flat(arguments)?;
    let page = WantedPage { size: max_tokens, cursor, if_state };
    about_place(file, at, Vec::new(), page)
}

/// The question about a place, or why it is none.
pub(super) fn about_place(
    file: String,
    at: Result<Range, ToolError>,
    parameters: Vec<String>,
    page: WantedPage,
) -> Result<Arguments, Misfit> {
    let position = at.map_err(Misfit::Refused)?.start;
    let uri = named(file)?;
    Ok(Arguments {
        question: Question { subject: Subject::Place { uri, position }, parameters },
        page: Some(page),
        by_path: true,
    })
}

/// The name of a file, which is not too long.
pub(super) fn named(file: String) -> Result<String, Misfit> {
    if file.chars().count() > MAX_URI_CHARACTERS {
        let advice = format!("`file` may have at most {MAX_URI_CHARACTERS} characters; correct the path.");
        return Err(Misfit::Refused(ToolError::InvalidParams(advice)));
    }
    Ok(file)
}

/// The arguments that name a place.
pub(super) fn place_fields() -> Vec<Field> {
    let at = format!(r#""string","pattern":{}"#, Value::from(place::PATTERN));
    vec![file_field(), required("at", Schema::of("0-based line:character of the name", &at))]
}

/// The argument that names a file.
pub(super) fn file_field() -> Field {
    required("file", Schema::of("Path below the root, or file: URI", r#""string""#))
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

/// Places by file.
pub(super) fn files_schema() -> Schema {
    let place = Schema::of("A place or a range.", &format!(r#""string","pattern":{}"#, Value::from(place::PATTERN)));
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
            let below = if asked.roots.folders().count() == 1 {
                &*path
            } else {
                path.split_once(':').map_or("", |(_, below)| below)
            };
            if patterns.as_ref().is_some_and(|patterns| !patterns.is_match(below)) {
                omissions.other_paths += items.len();
                continue;
            }
            used.insert(root);
            files.push((root, OfFile { path, places: items.iter().map(|&(_, range)| range).collect() }));
        }
        files.sort_by(|(root, file), (other_root, other)| {
            root.cmp(other_root).then_with(|| Text(&file.path).cmp(&Text(&other.path)))
        });
        let roots = asked.roots.told(&used);
        Ok(Self { files: files.into_iter().map(|(_, file)| file).collect(), omissions, roots })
    }

    pub(super) fn places(&self) -> usize {
        self.files.iter().map(|file| file.places.len()).sum()
    }

    /// The list of the places. `counts` are the members before it.
    pub(super) fn grouped(
        self,
        counts: &str,
        nouns: (&'static str, &'static str),
        asked: &Asked<'_>,
    ) -> Result<Canonical, ToolError> {
        let mut groups = Vec::with_capacity(self.files.len());
        let mut first = 0;
        for OfFile { path, places } in &self.files {
            groups.push(Group { first, opening: format!(r#"{{"path":{},"at":["#, Value::from(&**path)) });
            first += places.len();
        }
        let set =
            CanonicalSet::encode(self.files.iter().flat_map(|file| &file.places).map(|&range| place::written(range)))?;
        Ok(listed(set, self.roots, format!(r#"{counts}"files":["#), groups, nouns, self.omissions, asked))
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
    one: &'static str,
    many: &'static str,
) -> Result<Canonical, ToolError> {
    let [raw] = answers else { return Err(ToolError::Internal) };
    let raw = raw.targets()?;
    let locations = Locations::of_targets(raw, asked.roots, asked.real)?;
    ByFile::of(&locations, raw.without_range, &[], asked)?.grouped("", (one, many), asked)
}

/// The patterns of a call as one; nothing if there is none.
fn globs(patterns: &[String]) -> Result<Option<GlobSet>, ToolError> {
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
        set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(|_| unusable())?);
    }
    set.build().map(Some).map_err(|_| unusable())
}

/// Checks patterns before anybody is asked.
pub(super) fn check_globs(patterns: &[String]) -> Result<(), Misfit> {
    globs(patterns).map(|_| ()).map_err(Misfit::Refused)
}

/// Reads a place; what looks like one and cannot be one is kept as the error that it is.
pub(super) fn place_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Result<Range, ToolError>, D::Error> {
    let text = String::deserialize(deserializer)?;
    place::read(&text).ok_or_else(|| serde::de::Error::custom("no place"))
}

/// Reads a text that may be left out, and is not null.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}
