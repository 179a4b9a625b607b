//! Places as one short text each: `14:17` is a place, `14:17-24` a range in one line, `14:17-16:2` any other. Lines and
//! characters are counted as everywhere (contract section 3.3).

use std::collections::BTreeSet;

use crate::error::ToolError;
use crate::position::{MAX_COORDINATE, Position, Range};

/// How many places of several are told.
const MAX_TOLD: usize = 5;
/// What a place looks like, as a regular expression of JSON Schema.
pub(crate) const PATTERN: &str = r"^\d+:\d+(-(\d+:)?\d+)?$";

/// A range as text. An empty one is a place.
pub fn written(range: Range) -> String {
    let Range { start, end } = range;
    if start == end {
        start.to_string()
    } else if start.line == end.line {
        format!("{start}-{}", end.character)
    } else {
        format!("{start}-{end}")
    }
}

/// The first few of some places, one after the other.
pub(crate) fn first_of(places: &BTreeSet<Position>) -> String {
    let told: Vec<_> = places.iter().take(MAX_TOLD).map(Position::to_string).collect();
    told.join(", ")
}

/// The range that a text stands for, as [`written`] writes it; `None` if it is no place at all. A number that no position can
/// have is refused.
pub fn read(text: &str) -> Option<Result<Range, ToolError>> {
    let (start, end) = text.split_once('-').map_or((text, None), |(start, end)| (start, Some(end)));
    let start = pair(start)?;
    let end = match end {
        None => start,
        Some(end) if end.contains(':') => pair(end)?,
        Some(end) => (start.0, digits(end)?),
    };
    let position = |(line, character)| Some(Position { line: coordinate(line)?, character: coordinate(character)? });
    let range = position(start).zip(position(end)).map(|(start, end)| Range { start, end });
    Some(range.ok_or_else(|| {
        ToolError::InvalidParams(format!(
            "A line or character of a place is at most {MAX_COORDINATE}; correct the place."
        ))
    }))
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let (line, character) = text.split_once(':')?;
    Some((digits(line)?, digits(character)?))
}

fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

fn coordinate(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|number| *number <= MAX_COORDINATE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn position() -> impl Strategy<Value = Position> {
        (0..=MAX_COORDINATE, 0..=MAX_COORDINATE).prop_map(|(line, character)| Position { line, character })
    }

    #[test]
    fn a_place_is_written_in_its_shortest_form() {
        let range = |start: (u32, u32), end: (u32, u32)| {
            let place = |(line, character)| Position { line, character };
            written(Range { start: place(start), end: place(end) })
        };
        assert_eq!(range((14, 17), (14, 17)), "14:17");
        assert_eq!(range((14, 17), (14, 24)), "14:17-24");
        assert_eq!(range((14, 17), (16, 2)), "14:17-16:2");
    }

    #[test]
    fn what_is_no_place_is_not_read() {
        for text in [
            "",
            "1",
            "1:",
            ":1",
            "a:1",
            "1:2-",
            "1:2-3:",
            "1:2-3:4:5",
            "1:2:3",
            "-1:2",
            "1:2--3",
            " 1:2",
            "+1:2",
            "١:٢",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_that_no_position_has_are_refused() {
        for text in ["2147483648:0", "0:0-99999999999999999999", "0:0-4294967296:1"] {
            assert!(matches!(read(text), Some(Err(ToolError::InvalidParams(_)))), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_range_that_is_written_is_read_back(start in position(), end in position(), one_line in any::<bool>()) {
            let end = if one_line { Position { line: start.line, ..end } } else { end };
            let range = Range { start, end };
            prop_assert_eq!(read(&written(range)), Some(Ok(range)));
        }
    }
}
