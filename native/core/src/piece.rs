//! Places named by a piece of the line in which they stand, such as `source.sub|scribe(`.

use crate::error::ToolError;
use crate::position::{MAX_COORDINATE, Position};
use crate::texts;

/// The longest piece that is looked for, in characters.
const MAX_CHARACTERS: usize = 1_024;
/// How many places are told of a piece that stands at several.
const MAX_TOLD: usize = 5;
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
                "`near` is to be one or two lines up to {MAX_COORDINATE}, such as 10-40; correct it."
            ));
        };
        Ok(Self { readings, first, last })
    }

    /// Where in this text it stands, if that is one place.
    pub fn position_in(&self, text: &str) -> Result<Position, ToolError> {
        let lines = (0..=self.last).zip(texts::lines(text)).skip_while(|(number, _)| *number < self.first);
        let mut places: Vec<_> = lines.flat_map(|(number, line)| self.places_in(number, line)).collect();
        places.sort();
        places.dedup();
        match &*places {
            [] => Err(ToolError::TextNotFound),
            [place] => Ok(*place),
            several => {
                let told: Vec<_> = several.iter().take(MAX_TOLD).map(Position::to_string).collect();
                let (count, told) = (several.len(), told.join(", "));
                let advice =
                    format!("`text` stands at {count} places, such as {told}; pass more of the line, or `near`.");
                Err(ToolError::InvalidParams(advice))
            }
        }
    }

    fn places_in<'a>(&'a self, number: u32, line: &'a str) -> impl Iterator<Item = Position> + 'a {
        self.readings.iter().flat_map(move |(piece, before)| {
            let begins = line.char_indices().map(|(at, _)| at).filter(|at| line[*at..].starts_with(&**piece));
            begins.map(move |at| Position { line: number, character: units(&line[..at + before]) })
        })
    }
}

fn units(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(MAX_COORDINATE)
}

fn lines(near: &str) -> Option<(u32, u32)> {
    let (first, last) = near.split_once('-').unwrap_or((near, near));
    let line = |digits: &str| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number| is_number && *number <= MAX_COORDINATE)
    };
    Some((line(first)?, line(last)?))
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
        for (text, near) in [("unsubscribe", None), ("source", Some("1-2")), ("run", Some("900")), ("a", Some("3-2"))] {
            assert_eq!(found(text, near), Err(ToolError::TextNotFound), "{text}");
        }
        for (text, told) in
            [("source.sub|scribe", "2 places, such as 0:10, 3:10;"), ("aa", "2 places, such as 2:2, 2:3;")]
        {
            let Err(ToolError::InvalidParams(advice)) = found(text, None) else { panic!("{text} is refused") };
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
        ];
        for (text, near) in cases {
            assert!(matches!(found(text, near), Err(ToolError::InvalidParams(_))), "{text} {near:?}");
        }
    }
}
