//! Rows as they cross from JavaScript, and what becomes of those that add up.

use arbitrary::Unstructured;
use gateway_core::belief::Belief;
use gateway_core::cursor::Cursor;
use gateway_core::epochs::Epochs;
use gateway_core::error::ToolError;
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::limits::Limits;
use gateway_core::page::{EncodedPayload, PageSize, ResponseBudget, WritePage};
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::Retained;
use gateway_core::tools::{
    Tool, Whole, definition, diagnostics_document, diagnostics_workspace, document_symbols, hover, references,
    workspace_symbols,
};
use gateway_core::uri::PathStyle;
use serde_json::Value;

use crate::in_memory::InMemory;
use crate::{checks, rows};

/// Most bytes of a response.
const CAP: usize = 16_384;

/// Texts that are worth having: files inside and outside, and names that sort oddly.
const TEXTS: [&str; 12] = [
    "file:///ws/a.ts",
    "file:///ws/b.ts",
    "file:///ws/./a.ts",
    "file:///ws/link/secret.ts",
    "file:///outside/secret.ts",
    "file:///ws/none.ts",
    "git:/ws/a.ts",
    "",
    "\u{1f600}",
    "\u{ffee}",
    "name",
    "\u{0}\"\\\n",
];

/// Unpacks rows of any kind and makes the answer of them.
pub fn run(bytes: &[u8]) {
    _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let disk = InMemory::new(PathStyle::Posix)
        .with_file("/ws/a.ts")
        .with_file("/ws/b.ts")
        .with_file("/outside/secret.ts")
        .with_link("/ws/link", "/outside");
    let roots = AllowedRoots::resolve_in_style(&["/ws".into()], &disk, PathStyle::Posix);
    let document = roots.admit("file:///ws/a.ts", &disk).expect("it is inside").uri;
    let kind = input.int_in_range(0..=10)?;
    let size: u8 = input.arbitrary()?;
    let (text, cells) = packed(input)?;
    let budget = ResponseBudget::new(CAP, 100);
    let believed = Belief::Confirmed;
    let inside = |item: &Value| assert!(is_inside(checks::text(item, "uri")), "{item}");
    match kind {
        0 => {
            if let Ok(document) = rows::unpack_open(&text, &cells) {
                assert!(document.line_count > 0);
            }
        }
        1 => _ = rows::unpack_ready(&text, &cells),
        2 => {
            if let Ok(documents) = rows::unpack_main_documents(&text, &cells) {
                assert!(documents.iter().all(|document| text.contains(&document.uri)));
            }
        }
        3 => {
            let Ok(raw) = rows::unpack_targets(&text, &cells) else { return Ok(()) };
            assert_eq!(raw.uris.concat(), text);
            whole(definition::Answer::new(&raw, believed, &roots, &disk), budget, |payload| {
                let items = list(payload, "locations");
                checks::list(items, checks::locations);
                items.iter().for_each(inside);
            });
        }
        4 => {
            let Ok(raw) = rows::unpack_hovers(&text, &cells) else { return Ok(()) };
            whole(hover::Answer::new(&raw, believed), budget, |payload| {
                let items = list(payload, "contents");
                assert!(items.len() <= 8);
                checks::list(items, checks::fragments);
            });
        }
        5 => {
            let Ok(raw) = rows::unpack_document_symbols(&text, &cells) else { return Ok(()) };
            whole(document_symbols::Answer::new(&raw, believed, &document), budget, |payload| {
                checks::list(list(payload, "symbols"), checks::document_symbols);
            });
        }
        6 => {
            let Ok(raw) = rows::unpack_diagnostics(&text, &cells) else { return Ok(()) };
            let answer = diagnostics_document::Answer::new(&raw, &document, size > 127, &roots, &disk);
            whole(answer, budget, |payload| checks::list(list(payload, "diagnostics"), checks::diagnostics));
        }
        7 => {
            let Ok(raw) = rows::unpack_workspace_symbols(&text, &cells) else { return Ok(()) };
            let set = workspace_symbols::canonicalize(&raw, believed, &roots, &disk);
            let items = pages(set, workspace_symbols::page, size, budget);
            checks::sorted(&items, checks::workspace_symbols);
            items.iter().for_each(|item| inside(&item["location"]));
        }
        8 => {
            let Ok(raw) = rows::unpack_diagnostics(&text, &cells) else { return Ok(()) };
            let set = diagnostics_workspace::canonicalize(&raw, &roots, &disk);
            let items = pages(set, diagnostics_workspace::page, size, budget);
            checks::sorted(&items, checks::groups);
            for group in &items {
                inside(group);
                let diagnostics = list(group, "diagnostics");
                assert!(!diagnostics.is_empty(), "a group of nothing");
                checks::list(diagnostics, checks::diagnostics);
            }
        }
        kind => {
            let Ok(raw) = rows::unpack_locations(&text, &cells) else { return Ok(()) };
            let removed =
                if kind == 9 { Vec::new() } else { rows::unpack_targets(&text, &cells).into_iter().collect() };
            let set = references::canonicalize(&raw, &removed, believed, &roots, &disk);
            let items = pages(set, references::page, size, budget);
            checks::sorted(&items, checks::locations);
            items.iter().for_each(inside);
        }
    }
    Ok(())
}

/// A text and cells: rows that are meant to add up, or anything.
fn packed(input: &mut Unstructured<'_>) -> arbitrary::Result<(String, Vec<u32>)> {
    let mut text = String::new();
    let mut lengths = Vec::new();
    for _ in 0..input.int_in_range(0..=8)? {
        let string = TEXTS[input.choose_index(TEXTS.len())?];
        text.push_str(string);
        let length = u32::try_from(string.encode_utf16().count()).expect("short");
        lengths.push(if input.ratio(1, 40)? { input.arbitrary()? } else { length });
    }
    let mut cells = vec![u32::try_from(lengths.len()).expect("few")];
    if input.ratio(1, 40)? {
        cells[0] = input.arbitrary()?;
    }
    cells.extend(lengths);
    while !input.is_empty() {
        cells.push(match input.arbitrary::<u8>()? {
            255 => u32::MAX,
            254 => 0x7fff_ffff,
            253 => input.arbitrary()?,
            small => u32::from(small % 16),
        });
    }
    Ok((text, cells))
}

fn whole<A: Whole>(answer: Result<A, ToolError>, budget: ResponseBudget, check: impl FnOnce(&Value)) {
    match answer.and_then(|answer| answer.payload(budget)) {
        Ok(EncodedPayload { json: payload, .. }) => {
            assert!(payload.len() + 100 <= CAP, "{} bytes", payload.len());
            check(&serde_json::from_slice(&payload).expect("a payload is JSON"));
        }
        Err(error) => assert!(
            matches!(error, ToolError::ResponseTooLarge { .. } | ToolError::NotAnalysed),
            "what adds up is answered: {error:?}"
        ),
    }
}

/// All items of the set, page by page. A page that is too large is asked for in the size that its refusal suggests.
fn pages(found: Result<Retained, ToolError>, page: WritePage, size: u8, budget: ResponseBudget) -> Vec<Value> {
    let retained = found.expect("so few items make a set");
    let request = RequestKey::workspace_diagnostics();
    let roots = AllowedRoots::resolve_in_style(&[], &InMemory::new(PathStyle::Posix), PathStyle::Posix);
    let snapshot = SnapshotKey::derive(Tool::DiagnosticsWorkspace, &request, roots.key(), &Epochs::default());
    let mut cursor = Cursor { offset: 0, request: request.clone(), snapshot };
    let mut size = PageSize::clamped(Some(u64::from(size)), &Limits::default());
    let mut items = Vec::new();
    loop {
        match page(&retained, &cursor, size, budget) {
            Ok(EncodedPayload { json, items: told }) => {
                assert!(json.len() + 100 <= CAP, "{} bytes", json.len());
                let payload: Value = serde_json::from_slice(&json).expect("a payload is JSON");
                let page = list(&payload, "items");
                assert_eq!(page.len(), told);
                assert!(page.len() <= size.get());
                items.extend_from_slice(page);
                let Some(next) = payload["nextCursor"].as_str() else {
                    assert_eq!(items.len(), retained.set.len(), "the pages add up");
                    return items;
                };
                cursor = Cursor::decode(next, &request).expect("a cursor of ours");
                assert_eq!(cursor.offset, items.len());
            }
            Err(ToolError::ResponseTooLarge { suggested_page_size: Some(suggested), .. }) => {
                assert!(suggested < size.get());
                size = PageSize::clamped(Some(suggested as u64), &Limits::default());
            }
            Err(ToolError::ResponseTooLarge { suggested_page_size: None, .. }) => return items,
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn list<'a>(payload: &'a Value, member: &str) -> &'a [Value] {
    payload[member].as_array().unwrap_or_else(|| panic!("{member} of {payload}"))
}

fn is_inside(uri: &str) -> bool {
    matches!(uri, "file:///ws/a.ts" | "file:///ws/b.ts")
}
