//! What is written in files, as far as answers repeat some of it.

use std::fmt::Write;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::position::Range;
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

/// What is shown of the line in which a range begins: cut to [`MAX_LINE`] characters around that, and without the space around
/// it.
pub(crate) fn shown_line(line: &str, range: Range) -> String {
    let all: Vec<char> = line.chars().collect();
    let (mut units, mut begin) = (0, 0);
    while begin < all.len() && units < range.start.character as usize {
        units += all[begin].len_utf16();
        begin += 1;
    }
    let first = begin.saturating_sub(MAX_LINE / 2).min(all.len().saturating_sub(MAX_LINE));
    all.iter().skip(first).take(MAX_LINE).collect::<String>().trim().to_owned()
}

/// What tells a text from others: the first 16 hexadecimal digits of its SHA-256.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;

    #[test]
    fn lines_end_as_lsp_has_it() {
        assert_eq!(lines("a\r\nbc\rd\n"), ["a", "bc", "d", ""]);
        assert_eq!(lines(""), [""]);
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let at = |character| {
            let start = Position { line: 0, character };
            Range { start, end: start }
        };
        assert_eq!(shown_line("  return 1;  ", at(2)), "return 1;");
        let long = format!("{}b{}", "a".repeat(500), "c".repeat(500));
        assert_eq!(shown_line(&long, at(500)), format!("{}b{}", "a".repeat(60), "c".repeat(59)));
        assert_eq!(shown_line(&long, at(0)), "a".repeat(120));
        assert_eq!(shown_line(&long, at(1_001)), "c".repeat(120));
        // A place is counted in UTF-16.
        let wide = format!("{}b{}", "\u{1d4b3}".repeat(200), "c".repeat(200));
        assert_eq!(shown_line(&wide, at(400)), format!("{}b{}", "\u{1d4b3}".repeat(60), "c".repeat(59)));
    }

    #[test]
    fn a_digest_is_the_beginning_of_sha_256() {
        assert_eq!(digest(""), "e3b0c44298fc1c14");
        assert_eq!(digest("abc"), "ba7816bf8f01cfea");
    }
}
