//! Places named by a piece of the line in which they stand, such as `source.sub|scribe(`.

use std::collections::BTreeSet;

use crate::error::ToolError;
use crate::place;
use crate::position::{MAX_COORDINATE, Position};
use crate::texts;

/// The longest piece that is looked for, in characters.
const MAX_CHARACTERS: usize = 1_024;
/// How many bars it may have: each may be the mark.
const MAX_MARKS: usize = 8;
/// How many places of a piece are counted.
const MAX_COUNTED: usize = 1_000;
/// What stands before the place in a piece.
const MARK: char = '|';

/// A piece of a line, and in which lines it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What the line may have, and how many bytes of it stand before the place. A bar is the mark, or of the text itself.
    readings: Vec<(String, usize)>,
    first: u32,
    last: u32,
}

impl Piece {
    /// Reads a piece, and the lines near which it is, such as `10-40`; without those it is looked for in the whole file.
    pub(crate) fn read(text: &str, near: Option<&str>) -> Result<Self, ToolError> {
        let refused = |advice: String| Err(ToolError::InvalidParams(advice));
        if text.chars().count() > MAX_CHARACTERS || text.contains(['\n', '\r']) {
            return refused(format!(
                "`text` is to be a piece of one line, of at most {MAX_CHARACTERS} characters; pass a shorter one."
            ));
        }
        if text.matches(MARK).count() > MAX_MARKS {
            return refused(format!("`text` may have at most {MAX_MARKS} bars; pass a piece with fewer."));
        }
        let marked = text.match_indices(MARK).map(|(at, _)| ([&text[..at], &text[at + 1..]].concat(), at));
        let readings: Vec<_> =
            marked.chain([(text.to_owned(), 0)]).filter(|(piece, _)| !piece.trim().is_empty()).collect();
        if readings.is_empty() {
            return refused(
                "`text` has nothing to look for; pass a piece of a line, such as source.sub|scribe(.".to_owned(),
            );
        }
        let Some((first, last)) = near.map_or(Some((0, MAX_COORDINATE)), lines) else {
            return refused(format!(
                "`near` is to be a line or the first and the last of some, such as 10-40, up to {MAX_COORDINATE}; correct it."
            ));
        };
        Ok(Self { readings, first, last })
    }

    /// Where in this text it stands, if that is one place.
    pub fn position_in(&self, text: &str) -> Result<Position, ToolError> {
        let mut places = BTreeSet::new();
        for (line, text) in (0..=self.last).zip(texts::lines(text)).skip_while(|(line, _)| *line < self.first) {
            for (piece, before) in &self.readings {
                let characters = places_in(text, piece, *before).take(MAX_COUNTED + 1);
                places.extend(characters.map(|character| Position { line, character }));
            }
            if places.len() > MAX_COUNTED {
                break;
            }
        }
        let count = match places.len() {
            0 => return Err(ToolError::TextNotFound),
            1 => return places.pop_first().ok_or(ToolError::Internal),
            count @ ..=MAX_COUNTED => count.to_string(),
            _ => format!("more than {MAX_COUNTED}"),
        };
        let told = place::first_of(&places);
        let advice = format!("`text` stands at {count} places, such as {told}; pass more of the line, or `near`.");
        Err(ToolError::InvalidParams(advice))
    }
}

/// Where in a line, in UTF-16, what stands `before` bytes behind the begin of each piece like this one is, in order.
fn places_in(line: &str, piece: &str, before: usize) -> impl Iterator<Item = u32> {
    let (mut from, mut counted, mut units) = (0, 0, 0);
    std::iter::from_fn(move || {
        let begin = from + line.get(from..)?.find(piece)?;
        from = begin + line[begin..].chars().next()?.len_utf8();
        units += line[counted..begin + before].encode_utf16().count();
        counted = begin + before;
        Some(u32::try_from(units).unwrap_or(MAX_COORDINATE))
    })
}

fn lines(near: &str) -> Option<(u32, u32)> {
    let (first, last) = near.split_once('-').unwrap_or((near, near));
    let line = |digits: &str| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number| is_number && *number <= MAX_COORDINATE)
    };
    Some((line(first)?, line(last)?)).filter(|(first, last)| first <= last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "source.subscribe(a);\nlet b: A | B = a || b;\n  aaa 𝒳.run();\nsource.subscribe(b);\n";

    fn found(text: &str, near: Option<&str>) -> Result<String, ToolError> {
        Ok(Piece::read(text, near)?.position_in(TEXT)?.to_string())
    }

    #[test]
    fn a_piece_that_stands_once_is_a_place() {
        let cases = [
            ("source.sub|scribe(a", None, "0:10"),
            ("source.sub|scribe(", Some("2-9"), "3:10"),
            ("source.|subscribe(", Some("0"), "0:7"),
            ("|b: A", None, "1:4"),
            ("= a", None, "1:13"),
            // Bars of the text itself.
            ("A | B", None, "1:7"),
            ("a || |b", None, "1:20"),
            // Counted in UTF-16.
            ("𝒳.|run", None, "2:9"),
        ];
        for (text, near, place) in cases {
            assert_eq!(found(text, near), Ok(place.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_piece_that_stands_nowhere_or_more_than_once_is_told() {
        for (text, near) in [("unsubscribe", None), ("source", Some("1-2")), ("run", Some("900"))] {
            assert_eq!(found(text, near), Err(ToolError::TextNotFound), "{text}");
        }
        for (text, told) in
            [("source.sub|scribe", "2 places, such as 0:10, 3:10;"), ("aa", "2 places, such as 2:2, 2:3;")]
        {
            let Err(ToolError::InvalidParams(advice)) = found(text, None) else { panic!("{text} is refused") };
            assert!(advice.contains(told), "{advice}");
        }
        // Each place in a line as long as a file may be is begun to be compared, and few are kept.
        for (count, told) in [(1_000, "at 1000 places, such as 0:2, 0:3"), (16_000_000, "at more than 1000 places,")] {
            let piece = Piece::read(&format!("{}|", "a".repeat(2)), None).unwrap();
            let Err(ToolError::InvalidParams(advice)) = piece.position_in(&"a".repeat(count + 1)) else { panic!() };
            assert!(advice.contains(told), "{advice}");
        }
    }

    #[test]
    fn what_is_no_piece_of_a_line_is_refused() {
        let long = "a".repeat(MAX_CHARACTERS + 1);
        let cases = [
            ("", None),
            ("  ", None),
            ("a\nb", None),
            (&*long, None),
            ("a", Some("x")),
            ("a", Some("+1")),
            ("a", Some("2147483648")),
            ("a", Some("20-10")),
            ("a|||||||||", None),
        ];
        for (text, near) in cases {
            assert!(matches!(found(text, near), Err(ToolError::InvalidParams(_))), "{text} {near:?}");
        }
    }
}
