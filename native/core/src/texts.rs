//! What is written in files, as far as answers repeat some of it.

use std::fmt::Write;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::position::Position;
use crate::uri::CanonicalUri;

/// How many characters of a line are shown at most.
const MAX_LINE: usize = 120;

/// The only way in which core learns what is written in a file.
pub trait Texts: Send + Sync {
    /// The text of a file that may be spoken of, as language servers know it; nothing if it cannot be told.
    fn text(&self, uri: &CanonicalUri) -> Option<Arc<str>>;
}

/// No text of any file.
impl Texts for () {
    fn text(&self, _: &CanonicalUri) -> Option<Arc<str>> {
        None
    }
}

/// The texts of documents that somebody has changed and not saved. Texts and URIs are interned: an item names them by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawTexts {
    /// The distinct texts and URIs.
    pub strings: Vec<String>,
    /// The documents.
    pub items: Vec<RawText>,
}

/// One document of [`RawTexts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawText {
    /// Index of the URI.
    pub uri: u32,
    /// Index of the text, if it is not too long.
    pub text: Option<u32>,
}

/// The files that have a word in them.
#[derive(Debug, Default)]
pub struct WithWord {
    /// In the order of their URIs.
    pub files: Vec<CanonicalUri>,
    /// How many may have it, and were not looked through, or nobody can read them: at least so many.
    pub unsearched: usize,
}

/// The lines of a text, as LSP counts them, without their ends.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\n', '\r']) {
        lines.push(&rest[..end]);
        rest = rest[end..].strip_prefix("\r\n").unwrap_or(&rest[end + 1..]);
    }
    lines.push(rest);
    lines
}

/// Shows lines of a text. It takes little for each of many places in one long line, if they come in order.
#[derive(Debug)]
pub(crate) struct ShownLines<'a> {
    lines: Vec<&'a str>,
    /// The place that was shown last, and where in its line it is, in bytes.
    last: (Position, usize),
}

impl<'a> ShownLines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { lines: lines(text), last: (Position { line: 0, character: 0 }, 0) }
    }

    /// What is shown of the line of a place: cut to [`MAX_LINE`] characters around that, and without the space around it.
    pub(crate) fn around(&mut self, place: Position) -> Option<&'a str> {
        let line = *self.lines.get(place.line as usize)?;
        let begin = self.byte_of(place, line);
        let after = line[begin..].chars().take(MAX_LINE).count();
        let before = (MAX_LINE / 2).max(MAX_LINE - after);
        let first = line[..begin].char_indices().rev().take(before).last().map_or(begin, |(at, _)| at);
        let end = line[first..].char_indices().nth(MAX_LINE).map_or(line.len(), |(length, _)| first + length);
        Some(line[first..end].trim())
    }

    fn byte_of(&mut self, place: Position, line: &str) -> usize {
        let (mut at, mut byte) = match self.last {
            (last, byte) if last.line == place.line && last.character <= place.character => (last.character, byte),
            _ => (0, 0),
        };
        let mut ahead = line[byte..].chars();
        while at < place.character
            && let Some(next) = ahead.next()
        {
            at += if next.len_utf16() == 1 { 1 } else { 2 };
            byte += next.len_utf8();
        }
        self.last = (Position { line: place.line, character: at }, byte);
        byte
    }
}

/// How many bytes of a text's SHA-256 tell it from others.
const DIGEST_BYTES: usize = 8;

/// What tells a text from others: the first 16 hexadecimal digits of its SHA-256.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(DIGEST_BYTES).fold(String::new(), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Whether it looks like a [`digest`].
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 2 * DIGEST_BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_lsp_has_it() {
        assert_eq!(lines("a\r\nbc\rd\n"), ["a", "bc", "d", ""]);
        assert_eq!(lines(""), [""]);
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let shown =
            |line: &str, character| ShownLines::of(line).around(Position { line: 0, character }).map(str::to_owned);
        assert_eq!(shown("  return 1;  ", 2).as_deref(), Some("return 1;"));
        let long = format!("{}b{}", "a".repeat(500), "c".repeat(500));
        assert_eq!(shown(&long, 500), Some(format!("{}b{}", "a".repeat(60), "c".repeat(59))));
        assert_eq!(shown(&long, 0), Some("a".repeat(120)));
        assert_eq!(shown(&long, 1_001), Some("c".repeat(120)));
        // A place is counted in UTF-16.
        let wide = format!("{}b{}", "\u{1d4b3}".repeat(200), "c".repeat(200));
        assert_eq!(shown(&wide, 400), Some(format!("{}b{}", "\u{1d4b3}".repeat(60), "c".repeat(59))));
    }

    #[test]
    fn lines_are_shown_in_any_order_and_in_order_at_once() {
        // Were each place looked for from the begin of the line, this would take an hour.
        let long = "0123456789".repeat(1_600_000);
        let text = format!("first\n{long}\n");
        let mut shown = ShownLines::of(&text);
        for place in (0..20_000).map(|place| place * 800) {
            let around = shown.around(Position { line: 1, character: place + 1 });
            assert!(around.is_some_and(|around| around.contains("0123456789")));
        }
        for (line, character, expected) in [(0, 3, Some("first")), (1, 0, Some(&long[..120])), (3, 0, None)] {
            assert_eq!(shown.around(Position { line, character }), expected);
        }
    }

    #[test]
    fn a_digest_is_the_beginning_of_sha_256() {
        assert_eq!(digest(""), "e3b0c44298fc1c14");
        assert_eq!(digest("abc"), "ba7816bf8f01cfea");
        assert!(is_digest("ba7816bf8f01cfea"));
        for text in ["", "BA7816BF8F01CFEA", "ba7816bf8f01cfe", "ba7816bf8f01cfeaa", "ba7816bf8f01cfeg"] {
            assert!(!is_digest(text), "{text}");
        }
    }
}
