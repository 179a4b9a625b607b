//! Targets that no place says: the name, or the piece of a line, is looked for first, and what is there is asked about.

use std::fs;

use gateway_core::epochs::Epoch;
use gateway_core::error::ToolError;
use gateway_core::location::{RawLocation, RawLocations, RawTargets};
use gateway_core::position::{Position, Range};
use gateway_core::symbol::{RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbols};
use gateway_core::texts::{RawText, RawTexts};
use gateway_server::editor::Readiness;
use gateway_server::gateway::Gateway;
use gateway_server::session::Sessions;
use serde_json::{Value, json};

use crate::bench::{Bench, StandIn, function, on_line};

const USAGES: &str = "vscode.lsp.usages";

/// A gateway whose editor finds `f` in `a.ts` on these lines, and outlines it there.
fn with_f_on(lines: &[u32]) -> Bench {
    let bench = Bench::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| {})));
    bench.name(lines.iter().copied());
    bench.refer_to([0, 1]);
    bench.editor.set(|answers| {
        answers.definition = Some(Ok(RawTargets::default()));
        answers.document_symbols = Some(outline(lines));
    });
    bench
}

fn outline(lines: &[u32]) -> RawDocumentSymbols {
    let item = |&line: &u32| RawDocumentSymbol {
        name: Some(0),
        kind: function(),
        range: on_line(line),
        selection: Some(at(line, 4)),
        container_name: None,
        parent: None,
    };
    RawDocumentSymbols { strings: vec!["f".to_owned()], items: lines.iter().map(item).collect() }
}

fn at(line: u32, character: u32) -> Range {
    let start = Position { line, character };
    Range { start, end: start }
}

/// Lets the editor find a reference in each of so many files, which are there.
fn with_uses_in(bench: &Bench, files: usize) {
    let names: Vec<_> = (0..files).map(|file| format!("f{file:02}.ts")).collect();
    for name in &names {
        fs::write(bench.root.join(name), "f\n").expect("it is written");
    }
    let items = (0..).take(files).map(|uri| RawLocation { uri, range: on_line(0) }).collect();
    let uris = names.iter().map(|name| bench.uri(name)).collect();
    bench.editor.set(|answers| answers.references = Some(RawLocations { uris, items, without_range: 0 }));
}

/// Where documents were opened to be asked about a place.
fn asked_places(bench: &Bench) -> Vec<u32> {
    bench.editor.set(|answers| answers.opened.iter().filter_map(|(_, line)| *line).collect())
}

#[tokio::test]
async fn what_alone_has_the_name_is_asked_about_and_told() {
    let bench = with_f_on(&[1]);

    let answer = bench.call(USAGES, json!({ "symbol": "f" })).await.expect("an answer");
    assert_eq!(answer["target"], json!({ "name": "f", "kind": "function", "path": "a.ts", "at": "1:4" }));
    assert_eq!(answer["files"], json!([{ "path": "a.ts", "at": ["0:0", "1:0"] }]));
    assert_eq!(asked_places(&bench), [1]);

    let in_file = bench.call(USAGES, json!({ "symbol": "f", "file": "a.ts" })).await.expect("an answer");
    assert_eq!(in_file, answer);
}

#[tokio::test]
async fn that_others_may_have_the_name_is_told() {
    let bench = with_f_on(&[1]);
    bench.editor.set(|answers| {
        answers.silent = true;
        answers.readiness.send_replace(Some(Readiness::Assumed));
    });
    let answer = bench.call(USAGES, json!({ "symbol": "f" })).await.expect("an answer");
    assert!(answer["target"]["note"].as_str().is_some_and(|note| note.contains("may have this name")), "{answer}");
}

#[tokio::test]
async fn a_page_of_what_was_named_goes_on() {
    let bench = with_f_on(&[1]);
    let first = bench.call(USAGES, json!({ "symbol": "f", "maxTokens": 1 })).await.expect("a page");
    let second = json!({ "symbol": "f", "maxTokens": 1, "cursor": first["nextCursor"] });
    let second = bench.call(USAGES, second).await.expect("a page");
    assert_eq!(second["files"], json!([{ "path": "a.ts", "at": ["1:0"] }]));
    assert_eq!(second["nextCursor"], Value::Null);
}

#[tokio::test]
async fn what_several_have_or_nothing_has_is_answered_by_what_was_found() {
    for (lines, summary) in [(&[0, 1][..], "2 symbols."), (&[][..], "No symbols.")] {
        let bench = with_f_on(lines);

        let answer = bench.call(USAGES, json!({ "symbol": "f" })).await.expect("an answer");
        assert_eq!(answer["symbols"].as_array().map(Vec::len), Some(lines.len()));
        assert_eq!(answer["summary"], summary);
        assert!(asked_places(&bench).is_empty(), "Nothing is asked about a place.");
    }
}

#[tokio::test]
async fn what_has_a_name_only_like_it_is_told_and_not_asked_about() {
    let bench = with_f_on(&[1]);
    for (name, symbol) in [("ff", "f"), ("F", "f")] {
        bench.editor.set(|answers| {
            answers.document_symbols.as_mut().expect("there is an outline").strings[0] = name.to_owned();
        });
        let answer = bench.call(USAGES, json!({ "symbol": symbol, "file": "a.ts" })).await.expect("an answer");
        assert_eq!(answer["symbols"][0]["name"], name);
        assert!(asked_places(&bench).is_empty(), "Nothing is asked about a place.");
    }
}

#[tokio::test]
async fn a_cursor_is_stale_once_something_else_is_told_of_the_target() {
    let bench = with_f_on(&[1]);
    fs::write(bench.root.join("a.ts"), "\n    f\n").expect("it is written");
    let page = json!({ "symbol": "f", "maxTokens": 1 });
    let mut next = page.clone();
    next["cursor"] = bench.call(USAGES, page).await.expect("a page")["nextCursor"].clone();
    fs::write(bench.root.join("a.ts"), "\n    f()\n").expect("it is written");
    bench.gateway.bump(Epoch::Text);
    let stale = bench.call(USAGES, next.clone()).await;
    assert!(matches!(stale, Err(ToolError::CursorStale { .. })), "{stale:?}");

    next["cursor"] = json!("none");
    let invalid = bench.call(USAGES, next).await;
    assert!(matches!(invalid, Err(ToolError::CursorInvalid(_))), "{invalid:?}");
}

#[tokio::test]
async fn what_was_found_beyond_the_end_of_a_text_is_of_another_moment() {
    let bench = with_f_on(&[2]);
    assert_eq!(bench.call(USAGES, json!({ "symbol": "f" })).await, Err(ToolError::CatchingUp));
    let at = bench.call(USAGES, json!({ "file": "a.ts", "at": "2:0" })).await;
    assert!(matches!(at, Err(ToolError::LineNotFound { .. })), "{at:?}");
}

#[tokio::test]
async fn what_has_moved_while_it_was_asked_about_is_looked_for_again() {
    let bench = with_f_on(&[0]);
    let editor = bench.editor.clone();
    bench.editor.set(|answers| {
        // The first question on its way is the search for the name, the second that for its uses.
        answers.meanwhile.push_back(Box::new(|_: &Gateway<StandIn>| {}));
        answers.meanwhile.push_back(Box::new(move |gateway| {
            editor.set(|answers| answers.document_symbols = Some(outline(&[1])));
            gateway.bump(Epoch::Text);
        }));
    });

    let answer = bench.call(USAGES, json!({ "symbol": "f" })).await.expect("an answer");
    assert_eq!(answer["target"]["at"], "1:4");
    assert_eq!(asked_places(&bench).last(), Some(&1));
}

#[tokio::test]
async fn uses_are_told_with_the_symbols_around_them_in_the_first_files() {
    let bench = with_f_on(&[0]);
    with_uses_in(&bench, 34);
    let uses = json!({ "symbol": "f", "detail": "symbols", "maxTokens": 20_000 });
    let answer = bench.call(USAGES, uses).await.expect("an answer");
    let told = |at: &str| {
        answer["files"].as_array().map(|files| files.iter().filter(|file| file["at"] == json!([at])).count())
    };
    assert_eq!((told("0:0 [f]"), told("0:0")), (Some(32), Some(2)), "{answer}");
    assert_eq!(answer["files"][33]["at"], json!(["0:0"]));
    assert_eq!(answer["summary"], "34 uses; 2 in files beyond the first 32, without their symbol.");
}

#[tokio::test]
async fn a_range_of_an_outline_stands_for_the_name_in_it() {
    let bench = with_f_on(&[1]);
    bench.editor.set(|answers| {
        let symbol = &mut answers.document_symbols.as_mut().expect("there is an outline").items[0];
        symbol.range = Range { start: Position { line: 0, character: 0 }, end: Position { line: 1, character: 9 } };
    });
    for (at, line) in [("0:0-1:9", 1), ("0:0-1:8", 0), ("0:0", 0)] {
        bench.call(USAGES, json!({ "file": "a.ts", "at": at })).await.expect("an answer");
        assert_eq!(asked_places(&bench).last(), Some(&line), "{at}");
    }

    // A macro makes several symbols of one text.
    bench.editor.set(|answers| {
        let items = &mut answers.document_symbols.as_mut().expect("there is an outline").items;
        items.push(RawDocumentSymbol { selection: Some(at(0, 6)), ..items[0] });
    });
    let refused = bench.call(USAGES, json!({ "file": "a.ts", "at": "0:0-1:9" })).await;
    let advice = "2 symbols take this range, with names at 0:6, 1:4; pass one of these as `at`.";
    assert_eq!(refused, Err(ToolError::InvalidParams(advice.to_owned())));
}

#[tokio::test]
async fn what_a_file_does_not_have_is_looked_for_everywhere() {
    let bench = with_f_on(&[1]);
    fs::write(bench.root.join("b.ts"), "f();\n").expect("it is written");
    let elsewhere = bench.uri("b.ts");
    bench.editor.set(|answers| answers.nothing_in = Some(elsewhere));
    let answer = bench.call(USAGES, json!({ "symbol": "f", "file": "b.ts" })).await.expect("an answer");
    assert_eq!(answer["target"]["path"], "a.ts");
    let find = bench.call("vscode.lsp.symbol.find", json!({ "symbol": "f", "file": "b.ts" })).await.expect("an answer");
    assert_eq!(find["symbols"], json!([]));
}

#[tokio::test]
async fn where_a_piece_of_a_line_stands_is_asked_about_in_the_text_as_it_is() {
    let bench = with_f_on(&[0]);
    let uses = || bench.call(USAGES, json!({ "file": "a.ts", "text": "let |f" }));
    fs::write(bench.root.join("a.ts"), "\nlet f = 1;\n").expect("it is written");
    uses().await.expect("an answer");
    assert_eq!(asked_places(&bench), [1]);

    let strings = vec![bench.uri("a.ts"), "let f = 1;\n".to_owned()];
    bench.editor.set(|answers| answers.unsaved = RawTexts { strings, items: vec![RawText { uri: 0, text: Some(1) }] });
    uses().await.expect("an answer");
    assert_eq!(asked_places(&bench), [1, 0]);

    bench.editor.set(|answers| answers.unsaved.strings[1] = "let g = 1;\n".to_owned());
    assert_eq!(uses().await, Err(ToolError::TextNotFound));
}

#[tokio::test]
async fn a_piece_that_has_moved_while_it_was_asked_about_is_looked_for_again() {
    let bench = with_f_on(&[0]);
    fs::write(bench.root.join("a.ts"), "let f = 1;\n").expect("it is written");
    let file = bench.root.join("a.ts");
    bench.editor.set(|answers| {
        answers.meanwhile.push_back(Box::new(move |gateway| {
            fs::write(file, "\nlet f = 1;\n").expect("it is written");
            gateway.bump(Epoch::Text);
        }));
    });

    bench.call(USAGES, json!({ "file": "a.ts", "text": "let |f" })).await.expect("an answer");
    assert_eq!(asked_places(&bench).last(), Some(&1));
}

#[tokio::test]
async fn an_answer_is_given_about_the_text_that_is_expected_and_no_other() {
    let bench = with_f_on(&[0]);
    fs::write(bench.root.join("a.ts"), "abc").expect("it is written");
    let targets = [
        json!({ "file": "a.ts", "at": "0:0" }),
        json!({ "file": "a.ts", "text": "abc" }),
        json!({ "symbol": "f" }),
        json!({ "symbol": "f", "file": "a.ts" }),
    ];
    // The first 16 digits of the SHA-256 of `abc`.
    for (expect, is_given) in [("ba7816bf8f01cfea", true), ("ba7816bf8f01cfeb", false)] {
        for mut target in targets.clone() {
            target["expect"] = json!(expect);
            let answer = bench.call(USAGES, target.clone()).await;
            let expected = if is_given { None } else { Some(ToolError::FileChanged) };
            assert_eq!(answer.err(), expected, "{target}");
        }
    }
}

#[tokio::test]
async fn what_the_search_does_not_find_is_found_by_what_contains_it() {
    let bench = with_f_on(&[0]);
    bench.editor.set(|answers| {
        let mut outline = outline(&[0, 1]);
        outline.strings.push("inner".to_owned());
        outline.items[1].name = Some(1);
        outline.items[1].parent = Some(0);
        answers.document_symbols = Some(outline);
    });

    let find = json!({ "symbol": "f.inner" });
    let answer = bench.call("vscode.lsp.symbol.find", find).await.expect("an answer");
    assert_eq!(
        answer["symbols"],
        json!([{ "name": "inner", "in": "f", "kind": "function", "path": "a.ts", "at": "1:4" }])
    );
    let searched = bench.editor.set(|answers| answers.asked_about.clone());
    assert!(searched.iter().filter(|about| !about.starts_with("file:")).eq(["inner", "f"]), "{searched:?}");
}

#[tokio::test]
async fn what_no_search_finds_is_found_in_the_files_that_have_the_word() {
    let bench = with_f_on(&[1]);
    let find = || bench.call("vscode.lsp.symbol.find", json!({ "symbol": "f" }));
    let count = |answer: Value| answer["symbols"].as_array().map(Vec::len);
    for searched in [Some(RawWorkspaceSymbols::default()), None] {
        bench.editor.set(|answers| answers.workspace_symbols = searched.clone());
        fs::write(bench.root.join("a.ts"), "let f = 1;\n").expect("it is written");
        assert_eq!(find().await.map(count), Ok(Some(1)));

        fs::write(bench.root.join("a.ts"), "let ff = 1;\n").expect("it is written");
        let expected = searched.map(|_| Some(0)).ok_or(ToolError::ProviderUnavailable(None));
        assert_eq!(
            find().await.map(count),
            expected,
            "Who can neither search nor outline cannot say that there is none."
        );
    }
}

#[tokio::test]
async fn what_was_left_out_is_told_although_the_search_goes_on() {
    let bench = with_f_on(&[1]);
    bench.editor.set(|answers| answers.document_symbols = Some(outline(&[1])));
    for (arguments, summary) in [
        (json!({ "symbol": "f", "paths": ["src/**"] }), "No symbols; 1 in other paths was left out."),
        (json!({ "symbol": "f", "kinds": ["class"] }), "No symbols; 1 of another kind was left out."),
        (json!({ "symbol": "f[1]" }), "No symbols; 1 with another number was left out."),
    ] {
        let answer = bench.call("vscode.lsp.symbol.find", arguments.clone()).await.expect("an answer");
        assert_eq!(answer["summary"], summary, "{arguments}");
    }
}

#[tokio::test]
async fn that_a_search_may_have_stopped_or_found_more_than_outlines_have_is_told() {
    let find =
        async |bench: &Bench| bench.call("vscode.lsp.symbol.find", json!({ "symbol": "f", "maxTokens": 20_000 })).await;
    for (found, summary) in [
        (99, "99 symbols."),
        (100, "100 symbols; no language server has shown that it is ready, so there may be more."),
    ] {
        let bench = with_f_on(&(0..found).collect::<Vec<_>>());
        assert_eq!(find(&bench).await.expect("an answer")["summary"], summary);
    }

    let bench = with_f_on(&[1]);
    bench.name([1, 4]);
    let summary = "1 symbol; 1 that no outline has was left out.";
    assert_eq!(find(&bench).await.expect("an answer")["summary"], summary);
    let target = bench.call(USAGES, json!({ "symbol": "f" })).await.expect("an answer");
    assert_eq!(target["target"]["note"], "others may have this name: some are in no outline");
}

#[tokio::test]
async fn only_files_that_were_asked_for_are_looked_through_and_what_was_not_is_told() {
    let bench = with_f_on(&[0]);
    bench.editor.set(|answers| answers.workspace_symbols = Some(RawWorkspaceSymbols::default()));
    let write = |name: &str, text: &[u8]| {
        let path = bench.root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        fs::write(path, text).expect("it is written");
    };
    for file in 0..40 {
        write(&format!("lib/{file:02}.ts"), b"f\n");
    }
    write("src/z.ts", b"f\n");
    let find = |paths| bench.call("vscode.lsp.symbol.find", json!({ "symbol": "f", "paths": paths }));
    for paths in ["src/**", "./src/**", "src", "src/"] {
        let answer = find([paths]).await.expect("an answer");
        assert_eq!((&answer["symbols"][0]["path"], &answer["summary"]), (&json!("src/z.ts"), &json!("1 symbol.")));
    }
    // Larger than any that is read, in Latin 1, and no text at all.
    write("lib/large.ts", "f\n".repeat(8 * 1024 * 1024 + 1).as_bytes());
    write("lib/latin.ts", b"f // \xe9\n");
    write("lib/picture.png", b"\0 f \xff");
    let answer = find(["src/**"]).await.expect("an answer");
    assert_eq!(answer["summary"], "1 symbol; at least 2 files were not searched for it.");
    let target = bench.call(USAGES, json!({ "symbol": "f", "file": "src/z.ts" })).await.expect("an answer");
    assert_eq!(target["target"]["note"], Value::Null);
    for file in 0..40 {
        fs::remove_file(bench.root.join(format!("lib/{file:02}.ts"))).expect("it was there");
    }
    let target = bench.call(USAGES, json!({ "symbol": "f" })).await.expect("an answer");
    assert_eq!(target["target"]["note"], "others may have this name: not all files were searched");
}

#[tokio::test]
async fn a_target_is_a_name_or_a_place_in_a_file_or_a_piece_of_its_text() {
    let bench = with_f_on(&[0]);
    for arguments in [
        json!({}),
        json!({ "file": "a.ts" }),
        json!({ "at": "0:0" }),
        json!({ "symbol": "f", "at": "0:0" }),
        json!({ "symbol": "f", "file": "a.ts", "at": "0:0" }),
        json!({ "text": "f" }),
        json!({ "file": "a.ts", "at": "0:0", "text": "f" }),
        json!({ "file": "a.ts", "at": "0:0", "near": "0-1" }),
        json!({ "file": "a.ts", "near": "0-1" }),
        json!({ "symbol": "f", "near": "0-1" }),
        json!({ "symbol": "::" }),
        json!({ "symbol": "f", "expect": "" }),
    ] {
        let refused = bench.call(USAGES, arguments.clone()).await.expect_err("it is refused");
        assert!(matches!(refused, ToolError::InvalidParams(_)), "{arguments}: {refused:?}");
    }
}
