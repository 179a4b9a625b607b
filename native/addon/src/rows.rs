//! Unpacks the rows in which an editor's answers cross from JavaScript (`extension/boundary/rows.ts` packs them), and
//! checks each of them: whatever does not add up is refused whole, never guessed at.

use gateway_core::ask::{Raw, Shape};
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::highlight::{HighlightKind, RawHighlights};
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::position::{MAX_COORDINATE, Position, Range};
use gateway_core::status::{RawServer, RawStatus, Stage};
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use gateway_core::texts::{RawText, RawTexts};
use gateway_server::editor::{Language, MainDocument, OpenDocument, Readiness};

/// Stands for something absent in a cell.
const ABSENT: u32 = u32::MAX;

/// The rows do not add up. The text says where, and holds nothing of what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Unpacks an answer of this shape.
pub(crate) fn unpack(shape: Shape, text: &str, cells: &[u32]) -> Result<Raw, Malformed> {
    match shape {
        Shape::Targets => unpack_targets(text, cells).map(Raw::Targets),
        Shape::Locations => unpack_locations(text, cells).map(Raw::Locations),
        Shape::Hovers => unpack_hovers(text, cells).map(Raw::Hovers),
        Shape::DocumentSymbols => unpack_document_symbols(text, cells).map(Raw::DocumentSymbols),
        Shape::WorkspaceSymbols => unpack_workspace_symbols(text, cells).map(Raw::WorkspaceSymbols),
        Shape::Highlights => unpack_highlights(text, cells).map(Raw::Highlights),
        Shape::Diagnostics => unpack_diagnostics(text, cells).map(Raw::Diagnostics),
        Shape::Status => unpack_status(text, cells).map(Raw::Status),
        Shape::Texts => unpack_texts(text, cells).map(Raw::Texts),
        _ => Err(Malformed("a shape that is not known")),
    }
}

/// Unpacks what is known of an open document: its number of lines, the length of one of them, its language, whether
/// something shows when that is ready and has just done so, and whether the document is in a tab.
pub(crate) fn unpack_open(text: &str, cells: &[u32]) -> Result<OpenDocument, Malformed> {
    let (strings, rows) = split::<6>(text, cells)?;
    let [[line_count, line_length, language, has_readiness_probe, ready, in_tab]] = rows else {
        return Err(Malformed("not exactly one document"));
    };
    let line_count = coordinate(*line_count)?;
    if line_count == 0 {
        return Err(Malformed("a document without lines"));
    }
    Ok(OpenDocument {
        line_count,
        line_length: optional(*line_length).map(coordinate).transpose()?,
        language: self::language(*language, *has_readiness_probe, &strings)?,
        ready: flag(*ready)?,
        in_tab: flag(*in_tab)?,
    })
}

/// Unpacks why a language is not waited for any longer.
pub(crate) fn unpack_ready(text: &str, cells: &[u32]) -> Result<Readiness, Malformed> {
    let (_, rows) = split::<1>(text, cells)?;
    match rows {
        [[0]] => Ok(Readiness::Assumed),
        [[1]] => Ok(Readiness::Shown),
        [[2]] => Ok(Readiness::Resting),
        _ => Err(Malformed("not exactly one readiness")),
    }
}

/// Unpacks the documents that stand for their languages.
pub(crate) fn unpack_main_documents(text: &str, cells: &[u32]) -> Result<Vec<MainDocument>, Malformed> {
    let (strings, rows) = split::<3>(text, cells)?;
    rows.iter()
        .map(|&[uri, id, has_readiness_probe]| {
            let uri = strings.get(uri as usize).ok_or(Malformed("a string that is not there"))?;
            Ok(MainDocument { uri: uri.clone(), language: language(id, has_readiness_probe, &strings)? })
        })
        .collect()
}

/// Unpacks locations. A row may lack the range.
fn unpack_locations(text: &str, cells: &[u32]) -> Result<RawLocations, Malformed> {
    let (uris, rows) = split::<5>(text, cells)?;
    let mut items = Vec::with_capacity(rows.len());
    for &[uri, range @ ..] in rows {
        let uri = string_index(uri, &uris)?;
        if let Some(range) = optional_range(range)? {
            items.push(RawLocation { uri, range });
        }
    }
    let without_range = rows.len() - items.len();
    Ok(RawLocations { uris, items, without_range })
}

/// Unpacks definitions or declarations. A row may lack the range.
fn unpack_targets(text: &str, cells: &[u32]) -> Result<RawTargets, Malformed> {
    let (uris, rows) = split::<9>(text, cells)?;
    let mut items = Vec::with_capacity(rows.len());
    for &[uri, a, b, c, d, selection @ ..] in rows {
        let uri = string_index(uri, &uris)?;
        let selection = optional_range(selection)?;
        if let Some(range) = optional_range([a, b, c, d])? {
            items.push(RawTarget { uri, range, selection });
        }
    }
    let without_range = rows.len() - items.len();
    Ok(RawTargets { uris, items, without_range })
}

/// Unpacks the fragments of hovers.
fn unpack_hovers(text: &str, cells: &[u32]) -> Result<RawHovers, Malformed> {
    let (strings, rows) = split::<6>(text, cells)?;
    let items = rows
        .iter()
        .map(|&[a, b, c, d, language, value]| {
            Ok(RawHoverFragment {
                range: optional_range([a, b, c, d])?,
                language: optional_string_index(language, &strings)?,
                value: string_index(value, &strings)?,
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(RawHovers { strings, items })
}

/// Unpacks the outline of a document. What contains a symbol has to stand before it.
fn unpack_document_symbols(text: &str, cells: &[u32]) -> Result<RawDocumentSymbols, Malformed> {
    let (strings, rows) = split::<12>(text, cells)?;
    let items = (0..)
        .zip(rows)
        .map(|(row, &[name, number, a, b, c, d, e, f, g, h, container_name, parent])| {
            let parent = optional(parent);
            if parent.is_some_and(|parent| parent >= row) {
                return Err(Malformed("a symbol inside one that does not stand before it"));
            }
            Ok(RawDocumentSymbol {
                name: optional_string_index(name, &strings)?,
                kind: kind(number)?,
                range: range([a, b, c, d])?,
                selection: optional_range([e, f, g, h])?,
                container_name: optional_string_index(container_name, &strings)?,
                parent,
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(RawDocumentSymbols { strings, items })
}

/// Unpacks symbols of the workspace.
fn unpack_workspace_symbols(text: &str, cells: &[u32]) -> Result<RawWorkspaceSymbols, Malformed> {
    let (strings, rows) = split::<8>(text, cells)?;
    let items = rows
        .iter()
        .map(|&[name, number, container_name, uri, range @ ..]| {
            Ok(RawWorkspaceSymbol {
                name: optional_string_index(name, &strings)?,
                kind: kind(number)?,
                container_name: optional_string_index(container_name, &strings)?,
                uri: string_index(uri, &strings)?,
                range: optional_range(range)?,
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(RawWorkspaceSymbols { strings, items })
}

/// Unpacks places in a document. A row may lack the range, or the kind.
fn unpack_highlights(text: &str, cells: &[u32]) -> Result<RawHighlights, Malformed> {
    let (strings, rows) = split::<5>(text, cells)?;
    let mut items = Vec::with_capacity(rows.len());
    for &[a, b, c, d, number] in rows {
        let kind = optional(number).map(highlight_kind).transpose()?;
        items.extend(optional_range([a, b, c, d])?.map(|range| (range, kind)));
    }
    let without_range = rows.len() - items.len();
    Ok(RawHighlights { strings, items, without_range })
}

/// Unpacks what answers for languages. A row may lack a name, why it cannot be asked, and what it cannot be asked.
fn unpack_status(text: &str, cells: &[u32]) -> Result<RawStatus, Malformed> {
    let (strings, rows) = split::<5>(text, cells)?;
    let items = rows.iter().map(|&[language, by, stage, why, cannot]| {
        Ok(RawServer {
            language: string_index(language, &strings)?,
            by: optional_string_index(by, &strings)?,
            stage: Stage::of_number(stage).ok_or(Malformed("a stage that is not known"))?,
            why: optional_string_index(why, &strings)?,
            cannot: optional_string_index(cannot, &strings)?,
        })
    });
    let items = items.collect::<Result<_, _>>()?;
    Ok(RawStatus { strings, items })
}

/// Unpacks texts that are not saved. A row may lack the text.
fn unpack_texts(text: &str, cells: &[u32]) -> Result<RawTexts, Malformed> {
    let (strings, rows) = split::<2>(text, cells)?;
    let items = rows.iter().map(|&[uri, text]| {
        Ok(RawText { uri: string_index(uri, &strings)?, text: optional_string_index(text, &strings)? })
    });
    let items = items.collect::<Result<_, _>>()?;
    Ok(RawTexts { strings, items })
}

/// Unpacks diagnostics. A row of a URI and nothing else is a document that was published without any; one without a range
/// is a diagnostic without a range or a message.
fn unpack_diagnostics(text: &str, cells: &[u32]) -> Result<RawDiagnostics, Malformed> {
    let (strings, rows) = split::<9>(text, cells)?;
    let (mut items, mut incomplete) = (Vec::with_capacity(rows.len()), Vec::new());
    for &[uri, diagnostic @ ..] in rows {
        let diagnostic: [u32; 8] = diagnostic;
        let uri = string_index(uri, &strings)?;
        if diagnostic == [ABSENT; 8] {
            items.push(RawReport { uri, diagnostic: None });
            continue;
        }
        let [a, b, c, d, number, code, source, message] = diagnostic;
        let message = string_index(message, &strings)?;
        let Some(range) = optional_range([a, b, c, d])? else {
            incomplete.push(uri);
            continue;
        };
        let diagnostic = RawDiagnostic {
            range,
            severity: optional(number).map(severity).transpose()?,
            code: optional_string_index(code, &strings)?,
            source: optional_string_index(source, &strings)?,
            message,
        };
        items.push(RawReport { uri, diagnostic: Some(diagnostic) });
    }
    Ok(RawDiagnostics { strings, items, incomplete })
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

/// A language by the index of its identifier, and the flag whether something shows when it is ready.
fn language(id: u32, has_readiness_probe: u32, strings: &[String]) -> Result<Language, Malformed> {
    let id = strings.get(id as usize).ok_or(Malformed("a string that is not there"))?;
    Ok(Language { id: id.clone(), has_readiness_probe: flag(has_readiness_probe)? })
}

fn flag(cell: u32) -> Result<bool, Malformed> {
    match cell {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed("a flag that is neither 0 nor 1")),
    }
}

fn optional_string_index(index: u32, strings: &[String]) -> Result<Option<u32>, Malformed> {
    optional(index).map(|index| string_index(index, strings)).transpose()
}

fn optional(cell: u32) -> Option<u32> {
    (cell != ABSENT).then_some(cell)
}

/// VS Code counts kinds and severities from 0, LSP from 1 (D7).
fn kind(cell: u32) -> Result<SymbolKind, Malformed> {
    cell.checked_add(1).and_then(SymbolKind::of_lsp).ok_or(Malformed("a kind of symbol that is not known"))
}

fn highlight_kind(cell: u32) -> Result<HighlightKind, Malformed> {
    cell.checked_add(1).and_then(HighlightKind::of_lsp).ok_or(Malformed("a kind of highlight that is not known"))
}

fn severity(cell: u32) -> Result<Severity, Malformed> {
    cell.checked_add(1).and_then(Severity::of_lsp).ok_or(Malformed("a severity that is not known"))
}

fn optional_range(cells: [u32; 4]) -> Result<Option<Range>, Malformed> {
    if cells == [ABSENT; 4] { Ok(None) } else { range(cells).map(Some) }
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
    fn a_fragment_of_a_hover_has_a_range_and_a_language_or_not() {
        let cells = [2, 2, 1, 1, 2, 3, MAX_COORDINATE, 0, 1, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 0];

        let hovers = unpack_hovers("tsv", &cells).expect("rows");

        let whole = RawHoverFragment { range: Some(RANGE), language: Some(0), value: 1 };
        let bare = RawHoverFragment { range: None, language: None, value: 0 };
        assert_eq!(hovers, RawHovers { strings: vec!["ts".into(), "v".into()], items: vec![whole, bare] });
    }

    #[test]
    fn a_symbol_of_a_document_has_lsps_kind_and_stands_after_what_contains_it() {
        let outer = [0, 11, 1, 2, 3, MAX_COORDINATE, 1, 2, 3, MAX_COORDINATE, 0, ABSENT];
        let inner = [ABSENT, 0, 1, 2, 3, MAX_COORDINATE, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 0];
        let cells = |rows: [&[u32]; 2]| [&[1, 1], rows[0], rows[1]].concat();
        let kind = |number| SymbolKind::of_lsp(number).expect("a kind");

        let symbols = unpack_document_symbols("n", &cells([&outer, &inner])).expect("rows");

        let (name, container_name) = (Some(0), Some(0));
        let whole = RawDocumentSymbol {
            name,
            kind: kind(12),
            range: RANGE,
            selection: Some(RANGE),
            container_name,
            parent: None,
        };
        let bare = RawDocumentSymbol {
            name: None,
            kind: kind(1),
            range: RANGE,
            selection: None,
            container_name: None,
            parent: Some(0),
        };
        assert_eq!(symbols.items, [whole, bare]);
        let before = unpack_document_symbols("n", &cells([&inner, &outer])).expect_err("inside itself");
        assert_eq!(before.0, "a symbol inside one that does not stand before it");
    }

    #[test]
    fn a_symbol_of_the_workspace_has_a_name_a_container_and_a_range_or_not() {
        let cells = [1, 1, 0, 25, 0, 0, 1, 2, 3, MAX_COORDINATE, ABSENT, 0, ABSENT, 0, ABSENT, ABSENT, ABSENT, ABSENT];
        let kind = |number| SymbolKind::of_lsp(number).expect("a kind");

        let symbols = unpack_workspace_symbols("n", &cells).expect("rows");

        let (name, container_name) = (Some(0), Some(0));
        let whole = RawWorkspaceSymbol { name, kind: kind(26), container_name, uri: 0, range: Some(RANGE) };
        let bare = RawWorkspaceSymbol { name: None, kind: kind(1), container_name: None, uri: 0, range: None };
        assert_eq!(symbols.items, [whole, bare]);
    }

    #[test]
    fn a_document_that_was_published_without_diagnostics_is_a_row_of_its_uri_alone() {
        let whole = [0, 1, 2, 3, MAX_COORDINATE, 0, 0, 0, 0];
        let bare = [0, 1, 2, 3, MAX_COORDINATE, ABSENT, ABSENT, ABSENT, 0];
        let nothing = [0, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT];

        let diagnostics = unpack_diagnostics("m", &[&[1, 1], &whole[..], &bare, &nothing].concat()).expect("rows");

        let whole =
            RawDiagnostic { range: RANGE, severity: Severity::of_lsp(1), code: Some(0), source: Some(0), message: 0 };
        let bare = RawDiagnostic { range: RANGE, severity: None, code: None, source: None, message: 0 };
        let expected = [Some(whole), Some(bare), None].map(|diagnostic| RawReport { uri: 0, diagnostic });
        assert_eq!(diagnostics.items, expected);
    }

    #[test]
    fn kinds_and_severities_that_do_not_exist_are_refused() {
        let of_kind = |kind| unpack_workspace_symbols("n", &[1, 1, 0, kind, ABSENT, 0, 1, 2, 3, 4]).map(|_| ());
        assert_eq!(of_kind(25), Ok(()));
        assert_eq!(of_kind(26), Err(Malformed("a kind of symbol that is not known")));
        assert_eq!(of_kind(ABSENT), Err(Malformed("a kind of symbol that is not known")));

        let of_severity =
            |severity| unpack_diagnostics("m", &[1, 1, 0, 1, 2, 3, 4, severity, ABSENT, ABSENT, 0]).map(|_| ());
        assert_eq!(of_severity(3), Ok(()));
        assert_eq!(of_severity(4), Err(Malformed("a severity that is not known")));
    }

    #[test]
    fn a_diagnostic_without_a_range_is_counted_and_half_of_one_or_no_message_is_refused() {
        let without_a_range = [1, 1, 0, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, 0];
        let unpacked = unpack_diagnostics("m", &without_a_range).expect("rows");
        assert_eq!((unpacked.items.len(), unpacked.incomplete), (0, vec![0]));

        let check = |cells: &[u32]| unpack_diagnostics("m", cells).expect_err("junk").0;
        assert_eq!(check(&[1, 1, 0, 1, 2, 3, 4, ABSENT, ABSENT, ABSENT, ABSENT]), "a string that is not there");
        let half_a_range = [1, 1, 0, 1, 2, ABSENT, ABSENT, 0, ABSENT, ABSENT, 0];
        assert_eq!(check(&half_a_range), "a coordinate that is too large");
    }

    #[test]
    fn a_location_or_a_target_without_a_range_is_counted() {
        let location = [1, 1, 0, ABSENT, ABSENT, ABSENT, ABSENT];
        let unpacked = unpack_locations("m", &location).expect("rows");
        assert_eq!((unpacked.items.len(), unpacked.without_range), (0, 1));
        let target = [1, 1, 0, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT];
        let unpacked = unpack_targets("m", &target).expect("rows");
        assert_eq!((unpacked.items.len(), unpacked.without_range), (0, 1));
    }

    #[test]
    fn a_highlight_has_a_kind_or_none_and_one_without_a_range_is_counted() {
        let cells = |kind| [0, 1, 2, 3, MAX_COORDINATE, kind, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT];
        let unpacked = |kind| unpack_highlights("", &cells(kind)).map(|raw| (raw.items, raw.without_range));
        assert_eq!(unpacked(2), Ok((vec![(RANGE, HighlightKind::of_lsp(3))], 1)));
        assert_eq!(unpacked(ABSENT), Ok((vec![(RANGE, None)], 1)));
        assert_eq!(unpacked(3), Err(Malformed("a kind of highlight that is not known")));
    }

    #[test]
    fn strings_are_cut_by_utf16_units() {
        assert_eq!(split_text("é😀xyz", &[1, 2, 0, 3]), Ok(vec!["é".into(), "😀".into(), String::new(), "xyz".into()]));
        assert_eq!(split_text("xyé", &[2, 1]), Ok(vec!["xy".into(), "é".into()]));
    }

    #[test]
    fn an_open_document_has_lines() {
        let open = |line_length, has_readiness_probe, ready, in_tab| {
            let language = Language { id: "ts".to_owned(), has_readiness_probe };
            Ok(OpenDocument { line_count: 7, line_length, language, ready, in_tab })
        };
        assert_eq!(unpack_open("ts", &[1, 2, 7, 3, 0, 1, 0, 0]), open(Some(3), true, false, false));
        assert_eq!(unpack_open("ts", &[1, 2, 7, 3, 0, 1, 1, 0]), open(Some(3), true, true, false));
        assert_eq!(unpack_open("ts", &[1, 2, 7, ABSENT, 0, 0, 0, 1]), open(None, false, false, true));
    }

    #[test]
    fn a_language_is_shown_or_assumed_to_be_ready_or_is_resting() {
        assert_eq!(unpack_ready("", &[0, 1]), Ok(Readiness::Shown));
        assert_eq!(unpack_ready("", &[0, 0]), Ok(Readiness::Assumed));
        assert_eq!(unpack_ready("", &[0, 2]), Ok(Readiness::Resting));
        assert_eq!(unpack_ready("", &[0, 3]), Err(Malformed("not exactly one readiness")));
        assert_eq!(unpack_ready("", &[0]), Err(Malformed("not exactly one readiness")));
    }

    #[test]
    fn a_main_document_has_a_language() {
        let expected = |uri: &str, id: &str, has_readiness_probe| MainDocument {
            uri: uri.to_owned(),
            language: Language { id: id.to_owned(), has_readiness_probe },
        };
        let documents = unpack_main_documents("f:atsf:bc", &[4, 3, 2, 3, 1, 0, 1, 1, 2, 3, 0]);
        assert_eq!(documents, Ok(vec![expected("f:a", "ts", true), expected("f:b", "c", false)]));
        assert_eq!(unpack_main_documents("", &[0]), Ok(Vec::new()));
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

        assert_eq!(check("ts", &[1, 2]), "not exactly one document");
        assert_eq!(check("ts", &[1, 2, 7, 3, 0, 1, 0, 0, 7, 3, 0, 1, 0, 0]), "not exactly one document");
        assert_eq!(check("ts", &[1, 2, 0, ABSENT, 0, 0, 0, 1]), "a document without lines");
        assert_eq!(check("ts", &[1, 2, 7, MAX_COORDINATE + 1, 0, 1, 0, 0]), "a coordinate that is too large");
        assert_eq!(check("", &[0, 7, 3, ABSENT, 0, 0, 0]), "a string that is not there");
        for flags in [[2, 0, 0], [1, 2, 0], [1, 0, 2]] {
            let cells = [&[1, 2, 7, 3, 0][..], &flags].concat();
            assert_eq!(check("ts", &cells), "a flag that is neither 0 nor 1", "{flags:?}");
        }
    }
}
