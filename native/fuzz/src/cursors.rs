//! Cursors that come back changed, or were never made here.

use arbitrary::Unstructured;
use gateway_core::ask::Raw;
use gateway_core::completeness::Completeness;
use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epochs, OF_DIAGNOSTICS};
use gateway_core::error::ToolError;
use gateway_core::keys::SnapshotKey;
use gateway_core::limits::Limits;
use gateway_core::location::{RawLocation, RawLocations};
use gateway_core::page::{PageSize, ResponseBudget};
use gateway_core::position::{Position, Range};
use gateway_core::roots::AllowedRoots;
use gateway_core::tool::{Asked, Canonical};
use gateway_core::tools;
use gateway_core::uri::PathStyle;
use serde_json::Value;

use crate::checks;
use crate::in_memory::InMemory;

const ITEMS: usize = 7;

/// Decodes what may be a cursor, and pages from where it says.
pub fn run(bytes: &[u8]) {
    _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let disk = InMemory::new(PathStyle::Posix).with_file("/ws/a.ts");
    let roots = AllowedRoots::resolve_in_style(&["/ws".into()], &disk, PathStyle::Posix);
    let request = checks::request();
    let snapshot = SnapshotKey::derive(OF_DIAGNOSTICS, &request, roots.key(), &Epochs::default());
    let size: u64 = input.arbitrary()?;
    let text = if input.arbitrary()? {
        changed(&Cursor { offset: input.arbitrary()?, request: request.clone(), snapshot }.mint(), input)?
    } else {
        String::from_utf8_lossy(input.bytes(input.len())?).into_owned()
    };
    let cursor = match Cursor::decode(&text, &request) {
        Ok(cursor) => cursor,
        Err(error) => {
            assert!(matches!(error, ToolError::CursorInvalid(_)), "{error:?}");
            return Ok(());
        }
    };
    assert_eq!(Cursor::decode(&cursor.mint(), &request).as_ref(), Ok(&cursor), "what was read can be written");

    let item = |line| RawLocation { uri: 0, range: Range { start: at(line), end: at(line) } };
    let raw =
        RawLocations { uris: vec!["file:///ws/a.ts".to_owned()], items: (0..7).map(item).collect(), without_range: 0 };
    let tool = tools::named("vscode.lsp.references").expect("it is registered");
    let question = &checks::arguments(tool, "file:///ws/a.ts").expect("they fit").question;
    let asked = Asked {
        question,
        document: None,
        in_tab: false,
        outlines: &[],
        with_word: None,
        completeness: Completeness::Confirmed,
        roots: &roots,
        real: &disk,
        texts: &(),
    };
    let Ok(Canonical::Set(retained)) = tool.canonicalize(&[Raw::Locations(raw)], &asked) else {
        panic!("a small set");
    };
    let size = PageSize::clamped(Some(size), &Limits::default());
    match tool.page(&retained, &cursor, size, ResponseBudget::new(524_288, 0)) {
        Ok(payload) => {
            let payload: Value = serde_json::from_slice(&payload.joined(&retained.set)).expect("a payload is JSON");
            let lines: Vec<u64> =
                payload["items"].as_array().expect("items").iter().map(|item| checks::range(item)[0]).collect();
            let after = ITEMS.min(cursor.offset + size.get());
            assert_eq!(lines, (cursor.offset as u64..after as u64).collect::<Vec<_>>());
            assert_eq!(payload["nextCursor"].is_null(), after == ITEMS);
        }
        Err(error) => assert!(cursor.offset >= ITEMS && matches!(error, ToolError::CursorInvalid(_)), "{error:?}"),
    }
    Ok(())
}

/// The text with some of its characters changed, left out or doubled.
fn changed(text: &str, input: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..input.int_in_range(0..=3)? {
        let at = input.choose_index(characters.len())?;
        match input.int_in_range(0..=2)? {
            0 => characters[at] = char::from(input.int_in_range(b' '..=b'~')?),
            1 if characters.len() > 1 => _ = characters.remove(at),
            _ => characters.insert(at, characters[at]),
        }
    }
    Ok(characters.into_iter().collect())
}

fn at(line: u32) -> Position {
    Position { line, character: 0 }
}
