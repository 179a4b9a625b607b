//! The texts that the server knows, and the words in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// What columns count.
#[derive(Clone, Copy, Default)]
pub(crate) enum Encoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "utf-8" => Self::Utf8,
            "utf-16" => Self::Utf16,
            "utf-32" => Self::Utf32,
            _ => panic!("there is no encoding {name}"),
        }
    }

    fn units(self, char: char) -> usize {
        match self {
            Self::Utf8 => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Words that stand before what a line declares, with the kind of its symbol.
const DECLARING: [(&str, u32); 6] =
    [("class", 5), ("def", 12), ("fn", 12), ("function", 12), ("const", 14), ("let", 13)];

#[derive(Default)]
pub(crate) struct Texts {
    /// As they were on disk when it was looked there.
    files: BTreeMap<PathBuf, String>,
    /// With the last version.
    open: BTreeMap<PathBuf, (Value, String)>,
    pub(crate) encoding: Encoding,
    /// How many files, in their order, answers are about.
    pub(crate) limit: Option<usize>,
}

/// A stretch of one text, in bytes.
#[derive(Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A symbol that a text declares.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) kind: u32,
    pub(crate) at: Place,
}

impl Texts {
    /// Loads what lies in a folder, but for hidden names and `node_modules`.
    pub(crate) fn load(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            entries.retain(|path| {
                let name = path.file_name().unwrap().to_string_lossy();
                !name.starts_with('.') && name != "node_modules"
            });
            for entry in &entries {
                self.load(entry);
            }
        } else if !name.is_empty() {
            self.look_at(path);
        }
    }

    /// Takes over what is on disk now.
    pub(crate) fn look_at(&mut self, path: &Path) {
        match fs::read_to_string(path) {
            Ok(text) => self.files.insert(path.to_owned(), text),
            Err(_) => self.files.remove(path),
        };
    }

    pub(crate) fn open(&mut self, path: PathBuf, version: Value, text: String) {
        assert!(!self.open.contains_key(&path), "the client opens {} twice", path.display());
        self.open.insert(path, (version, text));
    }

    pub(crate) fn close(&mut self, path: &Path) {
        self.open.remove(path).expect("the client closes what is open");
    }

    pub(crate) fn change(&mut self, path: &Path, version: Value, changes: &[Value]) {
        let encoding = self.encoding;
        let (last, text) = self.open.get_mut(path).expect("the client changes what is open");
        assert!(version.as_i64() > last.as_i64(), "the client counts versions up");
        *last = version;
        for change in changes {
            let new = change["text"].as_str().unwrap();
            match change.get("range") {
                None => new.clone_into(text),
                Some(range) => {
                    let (start, end) = (offset(text, &range["start"], encoding), offset(text, &range["end"], encoding));
                    text.replace_range(start..end, new);
                }
            }
        }
    }

    pub(crate) fn version(&self, path: &Path) -> Value {
        self.open.get(path).map_or(Value::Null, |(version, _)| version.clone())
    }

    pub(crate) fn text(&self, path: &Path) -> Option<&str> {
        self.open.get(path).map(|(_, text)| text).or_else(|| self.files.get(path)).map(String::as_str)
    }

    /// All that answers are about, by their paths.
    fn known(&self) -> impl Iterator<Item = (&PathBuf, &str)> {
        let paths: BTreeSet<&PathBuf> = self.files.keys().chain(self.open.keys()).collect();
        let limit = self.limit.unwrap_or(usize::MAX);
        paths.into_iter().take(limit).filter_map(|path| Some((path, self.text(path)?)))
    }

    /// The word at a position.
    pub(crate) fn word_at(&self, path: &Path, position: &Value) -> Option<&str> {
        let text = self.text(path)?;
        let at = offset(text, position, self.encoding);
        let start = text[..at].rfind(|char| !in_word(char)).map_or(0, |before| before + width_at(text, before));
        let end = text[at..].find(|char| !in_word(char)).map_or(text.len(), |after| at + after);
        (start < end).then(|| &text[start..end])
    }

    /// Every whole-word occurrence.
    pub(crate) fn occurrences(&self, word: &str) -> Vec<Place> {
        self.known().flat_map(|(path, text)| occurrences_in(path, text, word)).collect()
    }

    pub(crate) fn occurrences_in(&self, path: &Path, word: &str) -> Vec<Place> {
        self.text(path).map(|text| occurrences_in(path, text, word)).unwrap_or_default()
    }

    /// Everything that is declared in one text, or in all.
    pub(crate) fn declared(&self, within: Option<&Path>) -> Vec<Declared> {
        match within {
            Some(path) => self.text(path).map(|text| declared_in(path, text)).unwrap_or_default(),
            None => self.known().flat_map(|(path, text)| declared_in(path, text)).collect(),
        }
    }

    /// The line that a place is in.
    pub(crate) fn line_of(&self, place: &Place) -> &str {
        let text = self.text(&place.path).unwrap_or_default();
        let start = text[..place.start].rfind('\n').map_or(0, |end| end + 1);
        text[start..].lines().next().unwrap_or_default()
    }

    pub(crate) fn range(&self, place: &Place) -> Value {
        let text = self.text(&place.path).unwrap_or_default();
        let position = |at: usize| {
            let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let character: usize = text[line_start..at].chars().map(|char| self.encoding.units(char)).sum();
            json!({ "line": text[..at].matches('\n').count(), "character": character })
        };
        json!({ "start": position(place.start), "end": position(place.end) })
    }
}

fn in_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn width_at(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr().addr();
    text.split(|char| !in_word(char))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr().addr() - start, word))
}

fn occurrences_in(path: &Path, text: &str, word: &str) -> Vec<Place> {
    let found = words(text).filter(|(_, other)| *other == word);
    found.map(|(start, word)| Place { path: path.to_owned(), start, end: start + word.len() }).collect()
}

fn declared_in(path: &Path, text: &str) -> Vec<Declared> {
    let mut before = "";
    let mut declared = Vec::new();
    for (start, word) in words(text) {
        if let Some((_, kind)) = DECLARING.iter().find(|(declaring, _)| *declaring == before) {
            let at = Place { path: path.to_owned(), start, end: start + word.len() };
            declared.push(Declared { name: word.to_owned(), kind: *kind, at });
        }
        before = word;
    }
    declared
}

/// The byte that a position is before. Beyond the end of a line it is that end.
fn offset(text: &str, position: &Value, encoding: Encoding) -> usize {
    let number = |name: &str| usize::try_from(position[name].as_u64().expect("a position")).unwrap();
    let line: &str = text.split_inclusive('\n').nth(number("line")).unwrap_or_default();
    let start = if line.is_empty() { text.len() } else { line.as_ptr().addr() - text.as_ptr().addr() };
    let mut left = number("character");
    let content = line.trim_end_matches(['\r', '\n']);
    let within = content.char_indices().find(|(_, char)| {
        let here = left == 0;
        left = left.saturating_sub(encoding.units(*char));
        here
    });
    start + within.map_or(content.len(), |(at, _)| at)
}

/// The path of a file URI.
pub(crate) fn path_of(uri: &str) -> PathBuf {
    let encoded = uri.strip_prefix("file://").expect("a file URI").as_bytes();
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < encoded.len() {
        if encoded[at] == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&encoded[at + 1..at + 3]).unwrap(), 16).unwrap());
            at += 3;
        } else {
            bytes.push(encoded[at]);
            at += 1;
        }
    }
    String::from_utf8(bytes).unwrap().into()
}

pub(crate) fn uri_of(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.to_str().unwrap().bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(byte)),
            _ => write!(uri, "%{byte:02X}").unwrap(),
        }
    }
    uri
}
