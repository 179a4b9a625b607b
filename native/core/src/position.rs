//! Positions and ranges as LSP counts them: 0-based lines, 0-based UTF-16 characters (contract section 3.3).

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ToolError;

/// The largest line or character that the contract's numbers can hold (D10).
pub const MAX_COORDINATE: u32 = 0x7fff_ffff;

/// A place between two UTF-16 units of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// 0-based line.
    #[serde(deserialize_with = "coordinate")]
    pub line: u32,
    /// 0-based offset in the line, in UTF-16 units.
    #[serde(deserialize_with = "coordinate")]
    pub character: u32,
}

/// A half-open span of a document. Its order is the contract's range order: start, then end (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Range {
    /// The first place inside.
    pub start: Position,
    /// The first place after.
    pub end: Position,
}

impl Position {
    /// Whether the place exists in a document of `line_count` lines, of which this line has `line_length` UTF-16 units,
    /// or nothing if there is no such line. The end of the line is a place (D10).
    pub fn check(self, line_count: u32, line_length: Option<u32>) -> Result<(), ToolError> {
        let Self { line, character } = self;
        match line_length {
            Some(line_length) if line < line_count => {
                if character > line_length {
                    return Err(ToolError::CharacterNotFound { line, character, line_length });
                }
                Ok(())
            }
            _ => Err(ToolError::LineNotFound { line, line_count }),
        }
    }
}

/// The text of a position inside ids (D6).
impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.character)
    }
}

/// Reads a line or character. JSON knows one kind of number, so `4.0` is 4.
fn coordinate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    struct Coordinate;

    impl Visitor<'_> for Coordinate {
        type Value = u32;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "an integer from 0 to {MAX_COORDINATE}")
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
            match u32::try_from(number) {
                Ok(number) if number <= MAX_COORDINATE => Ok(number),
                _ => Err(E::custom("out of range")),
            }
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<u32, E> {
            if number.fract() != 0.0 || !(0.0..=f64::from(MAX_COORDINATE)).contains(&number) {
                return Err(E::custom("out of range or not an integer"));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
            Ok(number as u32)
        }
    }

    deserializer.deserialize_any(Coordinate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, character: &str) -> Option<Position> {
        serde_json::from_str(&format!(r#"{{"line":{line},"character":{character}}}"#)).ok()
    }

    #[test]
    fn a_position_is_two_integers_from_0_to_the_largest_coordinate() {
        assert_eq!(read("0", "2147483647"), Some(Position { line: 0, character: MAX_COORDINATE }));
        assert_eq!(read("3.0", "2147483647.0"), Some(Position { line: 3, character: MAX_COORDINATE }));
        assert_eq!(read("1e1", "-0.0"), Some(Position { line: 10, character: 0 }));
        for not_a_coordinate in ["2147483648", "-1", "1.5", "2147483648.0", "1e30", "-1e30", "null", "\"1\"", "true"] {
            assert_eq!(read("0", not_a_coordinate), None, "{not_a_coordinate}");
            assert_eq!(read(not_a_coordinate, "0"), None, "{not_a_coordinate}");
        }
    }

    #[test]
    fn a_place_exists_up_to_the_end_of_the_last_line() {
        let check = |line, character, line_length| Position { line, character }.check(10, line_length);
        let no_line = |line| Err(ToolError::LineNotFound { line, line_count: 10 });
        assert_eq!(check(9, 0, Some(0)), Ok(()));
        assert_eq!(check(9, 4, Some(4)), Ok(()));
        assert_eq!(check(9, 5, Some(4)), Err(ToolError::CharacterNotFound { line: 9, character: 5, line_length: 4 }));
        assert_eq!(check(10, 0, None), no_line(10));
        assert_eq!(check(10, 0, Some(4)), no_line(10), "an editor that contradicts itself is not believed");
        assert_eq!(check(3, 0, None), no_line(3));
    }
}
