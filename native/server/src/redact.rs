//! Log lines without secrets and without paths outside the roots.
//!
//! Nothing in this crate logs a token, a session id or a body on purpose. This is the second line of defence, for what
//! comes in through errors of the system and of language extensions.

use std::fmt::{self, Write as _};

use tracing::Event;
use tracing::field::{Field, Visit};

/// From this length on, a run of base64url characters is taken for a secret: tokens have 43 of them, session ids 64.
const SECRET_LENGTH: usize = 40;
const SECRET: &str = "[redacted]";
const OUTSIDE: &str = "[path outside the roots]";

/// What may be named in a log, and what may not.
#[derive(Default)]
pub struct Redaction {
    tokens: Vec<String>,
    roots: Vec<String>,
}

impl Redaction {
    /// `tokens` never appear, whatever they look like; `roots` are the absolute paths under which paths may be named,
    /// each as the editor knows it and, if it differs, as its real path.
    pub fn new(tokens: &[String], roots: &[String]) -> Self {
        let without_end = |root: &String| root.trim_end_matches(['/', '\\']).to_owned();
        Self {
            tokens: tokens.iter().filter(|token| !token.is_empty()).cloned().collect(),
            roots: roots.iter().map(without_end).collect(),
        }
    }

    /// One line of text for an event: its message, then its other fields as `name=value`, each of them redacted.
    pub fn line(&self, event: &Event<'_>) -> String {
        let mut line = Line { redaction: self, message: String::new(), fields: String::new() };
        event.record(&mut line);
        line.message + &line.fields
    }

    /// `text` without secrets and without paths outside the roots. Rather too much is taken out than too little:
    /// an outside path can hold spaces, so unless it is quoted the rest of its line goes with it.
    pub fn redact(&self, text: &str) -> String {
        let text = self.tokens.iter().fold(text.to_owned(), |text, token| text.replace(token, SECRET));
        let text = without_long_runs(&text);
        text.split_inclusive('\n').fold(String::with_capacity(text.len()), |mut kept, line| {
            self.redact_paths(line, &mut kept);
            kept
        })
    }

    fn redact_paths(&self, line: &str, kept: &mut String) {
        let mut rest = line;
        while let Some(start) = path_start(rest) {
            let (before, path) = rest.split_at(start);
            kept.push_str(before);
            let end = if let Some(inside) = self.inside(path) {
                kept.push_str(&path[..inside]);
                inside
            } else {
                kept.push_str(OUTSIDE);
                outside_end(before, path)
            };
            rest = &path[end..];
        }
        kept.push_str(rest);
    }

    /// How much of `path`, an absolute path or `file:` URI followed by other text, lies inside a root; `None` if it
    /// lies outside, or may climb out.
    fn inside(&self, path: &str) -> Option<usize> {
        let plain = path.strip_prefix("file://").unwrap_or(path);
        let before = path.len() - plain.len();
        let inside = self.roots.iter().filter(|root| !root.is_empty()).filter_map(|root| {
            let below = plain.strip_prefix(root.as_str())?;
            let word = &below[..below.find(is_delimiter).unwrap_or(below.len())];
            let is_below = word.is_empty() || word.starts_with(['/', '\\']);
            (is_below && !climbs(below)).then_some(before + root.len() + word.len())
        });
        inside.max()
    }
}

/// Whether there is a `..` on the rest of the line, encoded or not. It need not belong to the path that comes first, but
/// where paths can hold spaces nothing tells that.
fn climbs(line: &str) -> bool {
    line.split(['/', '\\']).any(|segment| segment.starts_with("..") || segment.to_ascii_lowercase().contains("%2e"))
}

/// Where an absolute path or a `file:` URI begins.
fn path_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins_word =
        |at: usize| at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || b"_-./\\~%".contains(&bytes[at - 1]));
    (0..bytes.len()).filter(|&at| begins_word(at)).find(|&at| {
        let rest = &bytes[at..];
        let is_separator = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'\\'));
        let next_is_name = rest.get(1).is_some_and(|&next| !is_delimiter(char::from(next)));
        (rest[0] == b'/' && next_is_name)
            || rest.starts_with(b"\\\\")
            || (rest[0].is_ascii_alphabetic() && rest.get(1) == Some(&b':') && is_separator(rest.get(2)))
            || (rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"file:"))
            || (rest[0] == b'~' && is_separator(rest.get(1)))
    })
}

/// How far an outside path reaches at most: to the last quotation mark of the kind that stands before it, or else to the
/// end of the line.
fn outside_end(before: &str, path: &str) -> usize {
    let quotation_mark = before.chars().next_back().filter(|character| "\"'`".contains(*character));
    quotation_mark.and_then(|mark| path.rfind(mark)).unwrap_or_else(|| path.trim_end_matches('\n').len())
}

fn is_delimiter(character: char) -> bool {
    character.is_whitespace() || "\"'`()<>[]{},;|".contains(character)
}

fn without_long_runs(text: &str) -> String {
    let is_in_run = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_in_run) {
        let (before, run) = rest.split_at(start);
        let (run, after) = run.split_at(run.find(|character| !is_in_run(character)).unwrap_or(run.len()));
        kept.push_str(before);
        kept.push_str(if run.len() >= SECRET_LENGTH { SECRET } else { run });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

struct Line<'a> {
    redaction: &'a Redaction,
    message: String,
    fields: String,
}

impl Visit for Line<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let value = self.redaction.redact(value);
        if field.name() == "message" {
            self.message = value;
        } else {
            self.fields.push(' ');
            self.fields.push_str(field.name());
            self.fields.push('=');
            self.fields.push_str(&value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        // Writing to a string fails only if `value` itself fails, and then what it wrote so far is all there is.
        _ = write!(text, "{value:?}");
        self.record_str(field, &text);
    }
}
