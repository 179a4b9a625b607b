//! Rows as they cross from JavaScript, and what becomes of those that add up.

use std::sync::Arc;

use arbitrary::Unstructured;
use gateway_core::ask::{Raw, Shape};
use gateway_core::completeness::Completeness;
use gateway_core::cursor::Cursor;
use gateway_core::epochs::Epochs;
use gateway_core::error::ToolError;
use gateway_core::keys::SnapshotKey;
use gateway_core::limits::Limits;
use gateway_core::page::WantedPage;
use gateway_core::page::{PageSize, ResponseBudget};
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::Retained;
use gateway_core::texts::Texts;
use gateway_core::tool::{Asked, Canonical, Registered};
use gateway_core::tools;
use gateway_core::uri::{CanonicalUri, PathStyle};
use serde_json::Value;

use crate::in_memory::InMemory;
use crate::{checks, rows};

const SOURCE: &str = "vscode.lsp.symbol.source";

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
    let kind = input.int_in_range(0..=tools::ALL.len() + 2)?;
    let size: u8 = input.arbitrary()?;
    let (text, cells) = packed(input)?;
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
        kind => {
            let tool = tools::ALL[kind - 3];
            let arguments = checks::arguments(tool, "file:///ws/a.ts").expect("some arguments fit");
            let asks = tool.asks(&arguments.question);
            // Each ask is answered by the same rows, as far as these have its shape.
            let answers: Vec<Raw> = asks
                .iter()
                .map(|ask| rows::unpack(ask.shape, &text, &cells))
                .enumerate()
                .map(|(at, raw)| raw.ok().or((at > 0).then(|| asks[at].shape.nothing())))
                .collect::<Option<_>>()
                .unwrap_or_default();
            if answers.is_empty() {
                return Ok(());
            }
            let asked = Asked {
                question: &arguments.question,
                document: arguments.question.subject.uri().map(|_| &document),
                in_tab: size > 127,
                outlines: &[],
                with_word: None,
                completeness: Completeness::Confirmed,
                roots: &roots,
                real: &disk,
                texts: &Written,
            };
            check(tool, asks[0].shape, tool.canonicalize(&answers, &asked), size);
        }
    }
    Ok(())
}

/// A short text in every file.
struct Written;

impl Texts for Written {
    fn text(&self, _: &CanonicalUri) -> Option<Arc<str>> {
        Some("// a\n  b c\r\nd".into())
    }
}

/// Checks what was made of rows.
fn check(tool: Registered, shape: Shape, canonical: Result<Canonical, ToolError>, size: u8) {
    let budget = ResponseBudget::new(CAP, 100);
    let items = match canonical {
        Ok(Canonical::Whole(whole)) => match whole.payload(budget) {
            Ok(payload) => {
                assert!(payload.len() + 100 <= CAP, "{} bytes", payload.len());
                let payload: Value = serde_json::from_slice(&payload.before).expect("a payload is JSON");
                let items = checks::items(&payload).clone();
                checks::list(&items, checks::order_of(shape, false));
                items
            }
            Err(error) => return assert!(matches!(error, ToolError::ResponseTooLarge { .. }), "{error:?}"),
        },
        Ok(Canonical::Set(retained)) if retained.frame.is_some() => {
            return compact_pages(tool, &retained, size, budget);
        }
        Ok(Canonical::Set(retained)) => {
            let items = pages(tool, &retained, size, budget);
            checks::sorted(&items, checks::order_of(shape, true));
            items
        }
        // No symbol need be at the place.
        Err(ToolError::InvalidParams(_)) if tool.name() == SOURCE => return,
        Err(error) => return assert_eq!(error, ToolError::NotAnalysed, "what adds up is answered"),
    };
    for item in &items {
        for uri in [&item["uri"], &item["location"]["uri"]].into_iter().filter_map(Value::as_str) {
            assert!(is_inside(uri), "{item}");
        }
        if let Some(diagnostics) = item["diagnostics"].as_array() {
            assert!(!diagnostics.is_empty(), "a group of nothing");
            checks::list(diagnostics, checks::diagnostics);
        }
    }
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

/// All items of the set, page by page. A page that is too large is asked for in the size that its refusal suggests.
fn pages(tool: Registered, retained: &Retained, size: u8, budget: ResponseBudget) -> Vec<Value> {
    let request = checks::request();
    let roots = AllowedRoots::resolve_in_style(&[], &InMemory::new(PathStyle::Posix), PathStyle::Posix);
    let snapshot = SnapshotKey::derive(tool.epochs(), &request, roots.key(), &Epochs::default());
    let mut cursor = Cursor { offset: 0, request: request.clone(), snapshot };
    let mut size = PageSize::clamped(Some(u64::from(size)), &Limits::default());
    let mut items = Vec::new();
    loop {
        match tool.page(retained, &cursor, size, budget) {
            Ok(payload) => {
                assert!(payload.len() + 100 <= CAP, "{} bytes", payload.len());
                let told = payload.items;
                let payload: Value = serde_json::from_slice(&payload.joined(&retained.set)).expect("a payload is JSON");
                let page = checks::items(&payload);
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

/// Pages through a compact list: the pages add up to the set, and no page but one of a single item is larger than was asked.
fn compact_pages(tool: Registered, retained: &Retained, tokens: u8, budget: ResponseBudget) {
    let request = checks::request();
    let roots = AllowedRoots::resolve_in_style(&[], &InMemory::new(PathStyle::Posix), PathStyle::Posix);
    let snapshot = SnapshotKey::derive(tool.epochs(), &request, roots.key(), &Epochs::default());
    let mut cursor = Cursor { offset: 0, request: request.clone(), snapshot };
    let tokens = u64::from(tokens) * 16;
    let wanted = WantedPage { size: Some(tokens), cursor: None, if_state: None };
    let mut items = Vec::new();
    loop {
        let payload =
            tool.page_of(retained, &cursor, &wanted, &Limits::default(), budget).expect("one item always fits");
        let payload_bytes = payload.len();
        assert!(payload_bytes + 100 <= CAP, "{payload_bytes} bytes");
        assert!(payload.items <= 1 || payload_bytes as u64 * 2 <= tokens.max(1) * 7, "{payload_bytes} bytes");
        let told = payload.items;
        let payload: Value = serde_json::from_slice(&payload.joined(&retained.set)).expect("a payload is JSON");
        let names_files = payload["languages"].is_null();
        assert!(!names_files || payload["root"] == "file:///ws", "{payload}");
        let page = checks::compact(&payload);
        assert_eq!(page.len(), told);
        assert!(!names_files || page.iter().all(|(path, _)| matches!(&**path, "a.ts" | "b.ts")), "{payload}");
        items.extend(page);
        let Some(next) = payload["nextCursor"].as_str() else { break };
        cursor = Cursor::decode(next, &request).expect("a cursor of ours");
        assert_eq!(cursor.offset, items.len());
    }
    assert_eq!(items.len(), retained.set.len(), "the pages add up");
}

fn is_inside(uri: &str) -> bool {
    matches!(uri, "file:///ws/a.ts" | "file:///ws/b.ts")
}
