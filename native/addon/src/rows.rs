//! Unpacks the rows in which an editor's answers cross from JavaScript (`extension/rows.ts` packs them), and checks each
//! of them: whatever does not add up is refused whole, never guessed at.

use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::position::{MAX_COORDINATE, Position, Range};
use gateway_server::editor::OpenDocument;

/// Stands for something absent in a cell.
const ABSENT: u32 = u32::MAX;

/// The rows do not add up. The text says where, and holds nothing of what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Unpacks what is known of an open document: its number of lines, and the length of one of them.
pub(crate) fn unpack_open(text: &str, cells: &[u32]) -> Result<OpenDocument, Malformed> {
    let (strings, rows) = split::<2>(text, cells)?;
    if !strings.is_empty() {
        return Err(Malformed("strings in an answer that has none"));
    }
    let [[line_count, line_length]] = rows else {
        return Err(Malformed("not exactly one document"));
    };
    let line_count = coordinate(*line_count)?;
    if line_count == 0 {
        return Err(Malformed("a document without lines"));
    }
    let line_length = if *line_length == ABSENT { None } else { Some(coordinate(*line_length)?) };
    Ok(OpenDocument { line_count, line_length })
}

/// Unpacks locations.
pub(crate) fn unpack_locations(text: &str, cells: &[u32]) -> Result<RawLocations, Malformed> {
    let (uris, rows) = split::<5>(text, cells)?;
    let items = rows
        .iter()
        .map(|&[uri, start_line, start_character, end_line, end_character]| {
            let range = range([start_line, start_character, end_line, end_character])?;
            Ok(RawLocation { uri: string_index(uri, &uris)?, range })
        })
        .collect::<Result<_, _>>()?;
    Ok(RawLocations { uris, items })
}

/// Unpacks definitions or declarations.
pub(crate) fn unpack_targets(text: &str, cells: &[u32]) -> Result<RawTargets, Malformed> {
    let (uris, rows) = split::<9>(text, cells)?;
    let items = rows
        .iter()
        .map(|&[uri, a, b, c, d, selection @ ..]| {
            let selection: [u32; 4] = selection;
            let selection = if selection == [ABSENT; 4] { None } else { Some(range(selection)?) };
            Ok(RawTarget { uri: string_index(uri, &uris)?, range: range([a, b, c, d])?, selection })
        })
        .collect::<Result<_, _>>()?;
    Ok(RawTargets { uris, items })
}

/// The strings and the rows of `WIDTH` cells each.
fn split<'a, const WIDTH: usize>(text: &str, cells: &'a [u32]) -> Result<(Vec<String>, &'a [[u32; WIDTH]]), Malformed> {
    let (count, rest) = cells.split_first().ok_or(Malformed("no cells"))?;
    let count = usize::try_from(*count).map_err(|_| Malformed("more strings than memory"))?;
    let (lengths, rows) = rest.split_at_checked(count).ok_or(Malformed("fewer lengths than strings"))?;
    let (rows, left_over) = rows.as_chunks::<WIDTH>();
    if !left_over.is_empty() {
        return Err(Malformed("a row that is cut off"));
    }
    Ok((split_text(text, lengths)?, rows))
}

/// Cuts the joined text into strings whose lengths are given in UTF-16 units, as JavaScript counts.
fn split_text(text: &str, lengths: &[u32]) -> Result<Vec<String>, Malformed> {
    let mut strings = Vec::with_capacity(lengths.len());
    let mut rest = text;
    for &length in lengths {
        let (string, after) = split_utf16(rest, length).ok_or(Malformed("a string that is longer than the text"))?;
        strings.push(string.to_owned());
        rest = after;
    }
    if rest.is_empty() { Ok(strings) } else { Err(Malformed("text that belongs to no string")) }
}

/// Splits after `length` UTF-16 units; `None` if the text is shorter, or would be cut inside a character.
fn split_utf16(text: &str, length: u32) -> Option<(&str, &str)> {
    let length = usize::try_from(length).ok()?;
    // Nearly every string is a URI, which is ASCII, where units are bytes.
    if text.as_bytes().get(..length)?.is_ascii() {
        return text.split_at_checked(length);
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        if units >= length {
            return if units == length { text.split_at_checked(at) } else { None };
        }
        units += character.len_utf16();
    }
    (units == length).then_some((text, ""))
}

fn string_index(index: u32, strings: &[String]) -> Result<u32, Malformed> {
    let known = usize::try_from(index).is_ok_and(|index| index < strings.len());
    if known { Ok(index) } else { Err(Malformed("a string that is not there")) }
}

fn range([start_line, start_character, end_line, end_character]: [u32; 4]) -> Result<Range, Malformed> {
    Ok(Range {
        start: Position { line: coordinate(start_line)?, character: coordinate(start_character)? },
        end: Position { line: coordinate(end_line)?, character: coordinate(end_character)? },
    })
}

fn coordinate(cell: u32) -> Result<u32, Malformed> {
    if cell <= MAX_COORDINATE { Ok(cell) } else { Err(Malformed("a coordinate that is too large")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range =
        Range { start: Position { line: 1, character: 2 }, end: Position { line: 3, character: MAX_COORDINATE } };

    #[test]
    fn locations_name_their_uris_by_index() {
        let cells = [2, 3, 2, 1, 1, 2, 3, MAX_COORDINATE, 0, 1, 2, 3, MAX_COORDINATE];

        let locations = unpack_locations("f:a😀", &cells).expect("rows that add up");

        assert_eq!(locations.uris, ["f:a", "😀"]);
        assert_eq!(locations.items, [RawLocation { uri: 1, range: RANGE }, RawLocation { uri: 0, range: RANGE }]);
    }

    #[test]
    fn a_target_has_a_selection_or_none() {
        let absent = [1, 1, 0, 1, 2, 3, MAX_COORDINATE, ABSENT, ABSENT, ABSENT, ABSENT];
        let present = [1, 1, 0, 0, 0, 9, 9, 1, 2, 3, MAX_COORDINATE];

        assert_eq!(unpack_targets("u", &absent).expect("rows").items[0].selection, None);
        assert_eq!(unpack_targets("u", &present).expect("rows").items[0].selection, Some(RANGE));
    }

    #[test]
    fn strings_are_cut_by_utf16_units() {
        assert_eq!(split_text("é😀xyz", &[1, 2, 0, 3]), Ok(vec!["é".into(), "😀".into(), String::new(), "xyz".into()]));
        assert_eq!(split_text("xyé", &[2, 1]), Ok(vec!["xy".into(), "é".into()]));
    }

    #[test]
    fn an_open_document_has_lines() {
        assert_eq!(unpack_open("", &[0, 7, 3]), Ok(OpenDocument { line_count: 7, line_length: Some(3) }));
        assert_eq!(unpack_open("", &[0, 7, ABSENT]), Ok(OpenDocument { line_count: 7, line_length: None }));
    }

    #[test]
    fn rows_that_do_not_add_up_are_refused() {
        let check = |text, cells: &[u32]| unpack_locations(text, cells).map(|_| ()).expect_err("junk").0;

        assert_eq!(check("", &[]), "no cells");
        assert_eq!(check("", &[2, 0]), "fewer lengths than strings");
        assert_eq!(check("", &[u32::MAX]), "fewer lengths than strings");
        assert_eq!(check("ab", &[1, 2, 0, 1]), "a row that is cut off");
        assert_eq!(check("ab", &[1, 3]), "a string that is longer than the text");
        assert_eq!(check("é", &[1, 2]), "a string that is longer than the text");
        assert_eq!(check("😀", &[2, 1, 1]), "a string that is longer than the text");
        assert_eq!(check("ab", &[1, 1]), "text that belongs to no string");
        assert_eq!(check("ab", &[1, 2, 1, 0, 0, 0, 0]), "a string that is not there");
        assert_eq!(check("ab", &[1, 2, ABSENT, 0, 0, 0, 0]), "a string that is not there");
        assert_eq!(check("ab", &[1, 2, 0, 0, 0, 0, MAX_COORDINATE + 1]), "a coordinate that is too large");
    }

    #[test]
    fn a_selection_that_is_half_there_is_refused() {
        let cells = [1, 1, 0, 1, 2, 3, 4, 1, 2, ABSENT, ABSENT];

        assert_eq!(unpack_targets("u", &cells), Err(Malformed("a coordinate that is too large")));
    }

    #[test]
    fn a_document_that_does_not_add_up_is_refused() {
        let check = |text, cells: &[u32]| unpack_open(text, cells).expect_err("junk").0;

        assert_eq!(check("", &[0]), "not exactly one document");
        assert_eq!(check("", &[0, 1, 1, 1, 1]), "not exactly one document");
        assert_eq!(check("", &[0, 0, 0]), "a document without lines");
        assert_eq!(check("", &[0, ABSENT, 0]), "a coordinate that is too large");
        assert_eq!(check("a", &[1, 1, 1, 1]), "strings in an answer that has none");
    }
}
