//! The way of one call through the gateway, with a stand-in for the editor and a real disk.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::bench::{
    Bench, DEFINITION, DOCUMENT_DIAGNOSTICS, DOCUMENT_SYMBOLS, HOVER, Meanwhile, REFERENCES, StandIn,
    WORKSPACE_DIAGNOSTICS, WORKSPACE_SYMBOLS, function, on_line, settings, uri_of,
};
use gateway_core::epochs::Epoch;
use gateway_core::error::{ErrorCode, ToolError};
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::position::Position;
use gateway_core::symbol::{RawDocumentSymbol, RawDocumentSymbols};
use gateway_core::tools;
use gateway_server::activity::{About, Ended, Unopenable};
use gateway_server::catalog::Profile;
use gateway_server::editor::EditorError;
use gateway_server::gateway::{Gateway, Settings};
use gateway_server::lifecycle::Calls as _;
use gateway_server::session::{Revision, Sessions};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::Instant;

impl Bench {
    fn new() -> Self {
        Self::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| {})))
    }

    async fn references(&self, changes: Value) -> Result<Value, ToolError> {
        self.call(REFERENCES, self.about_references(&changes)).await
    }

    fn about_references(&self, changes: &Value) -> Value {
        let mut arguments =
            json!({ "uri": self.uri("a.ts"), "position": { "line": 0, "character": 0 }, "includeDeclaration": true });
        for (name, value) in changes.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        arguments
    }

    /// The cursor of the second page of two references, at one a page.
    async fn cursor(&self) -> Value {
        self.refer_to([1, 2]);
        let page = self.references(json!({ "pageSize": 1 })).await.expect("a page");
        assert!(page["nextCursor"].is_string(), "{page}");
        page["nextCursor"].clone()
    }
}

/// The lines that the items of a page of workspace symbols are on.
fn lines_of_symbols(page: &Value) -> Vec<u64> {
    let items = page["items"].as_array().expect("items");
    items.iter().map(|item| item["location"]["range"]["start"]["line"].as_u64().expect("a line")).collect()
}

/// The names of the files on a page of workspace diagnostics, each with the lines of its diagnostics.
fn files_of(page: &Value) -> Vec<(String, Vec<u64>)> {
    let lines_of = |diagnostics: &Value| {
        let diagnostics = diagnostics.as_array().expect("diagnostics");
        diagnostics.iter().map(|item| item["range"]["start"]["line"].as_u64().expect("a line")).collect()
    };
    let items = page["items"].as_array().expect("items");
    items
        .iter()
        .map(|file| {
            let (_, name) = file["uri"].as_str().and_then(|uri| uri.rsplit_once('/')).expect("a URI");
            (name.to_owned(), lines_of(&file["diagnostics"]))
        })
        .collect()
}

fn lines_of(page: &Value) -> Vec<u64> {
    let items = page["items"].as_array().expect("items");
    items.iter().map(|item| item["range"]["start"]["line"].as_u64().expect("a line")).collect()
}

fn stale(changed: &[Epoch]) -> ToolError {
    ToolError::CursorStale { changed: changed.to_vec() }
}

#[tokio::test]
async fn the_first_page_is_asked_for_afresh_and_the_next_comes_from_the_retained_set() {
    let bench = Bench::new();
    bench.refer_to([5, 3, 4]);

    let first = bench.references(json!({ "pageSize": 2 })).await.expect("a page");
    assert_eq!(lines_of(&first), [3, 4]);
    let second = bench.references(json!({ "pageSize": 2, "cursor": first["nextCursor"] })).await.expect("a page");
    assert_eq!(lines_of(&second), [5]);
    assert_eq!(second["nextCursor"], Value::Null);
    assert_eq!(bench.editor.set(|answers| answers.asked), 1);

    let again = bench.references(json!({ "pageSize": 2 })).await.expect("a page");
    assert_eq!(again, first);
    assert_eq!(bench.editor.set(|answers| answers.asked), 2);
}

#[tokio::test]
async fn each_kind_of_change_makes_a_cursor_of_references_stale_but_diagnostics_do_not() {
    for (epoch, expected) in [
        (Epoch::Text, Some(stale(&[Epoch::Text]))),
        (Epoch::Fs, Some(stale(&[Epoch::Fs]))),
        (Epoch::Roots, Some(stale(&[Epoch::Roots]))),
        (Epoch::Diagnostics, None),
    ] {
        let bench = Bench::new();
        let cursor = bench.cursor().await;
        bench.gateway.bump(epoch);
        assert_eq!(bench.references(json!({ "cursor": cursor })).await.err(), expected, "{epoch:?}");
    }
}

#[tokio::test]
async fn a_cursor_of_before_a_reload_is_stale() {
    let bench = Bench::new();
    let cursor = bench.cursor().await;
    let sessions = Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| {}));
    let settings = settings(vec![bench.root.clone()], Duration::from_secs(2));
    let reloaded = Bench {
        gateway: Arc::new(Gateway::new(bench.editor.clone(), settings, sessions, String::new(), 2_000)),
        ..bench
    };

    assert_eq!(reloaded.references(json!({ "cursor": cursor })).await, Err(stale(&[])));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_page_is_given_while_its_document_and_its_root_are_where_they_were() {
    let bench = Bench::new();
    let cursor = bench.cursor().await;
    let page = async || bench.references(json!({ "cursor": cursor })).await.err().map(|error| error.code());
    let (document, aside, moved) =
        (bench.root.join("a.ts"), bench.root.join("b.ts"), bench.root.with_file_name("moved"));
    assert_eq!(page().await, None);

    fs::rename(&document, &aside).expect("moved");
    assert_eq!(page().await, Some(ErrorCode::UriInvalid), "the document is gone");
    std::os::unix::fs::symlink(&aside, &document).expect("a link");
    assert_eq!(page().await, Some(ErrorCode::CursorInvalid), "the document is a link to another");
    fs::remove_file(&document).expect("removed");
    fs::create_dir(&document).expect("a folder");
    assert_eq!(page().await, Some(ErrorCode::NotFound), "the document is a folder");
    fs::remove_dir(&document).expect("removed");
    fs::rename(&aside, &document).expect("moved back");
    assert_eq!(page().await, None);

    fs::rename(&bench.root, &moved).expect("moved");
    std::os::unix::fs::symlink(&moved, &bench.root).expect("a link");
    assert_eq!(page().await, Some(ErrorCode::WorkspaceDenied), "the root is a link");
}

#[tokio::test]
async fn a_server_that_changes_its_mind_makes_the_old_cursor_stale() {
    let bench = Bench::new();
    let old = bench.cursor().await;
    bench.refer_to([1, 2, 3]);
    assert!(bench.references(json!({ "cursor": old })).await.is_ok(), "until it is asked again, the old set holds");

    let first = bench.references(json!({ "pageSize": 1 })).await.expect("a page");

    assert_eq!(bench.references(json!({ "cursor": old })).await, Err(stale(&[Epoch::Text])));
    let rest = bench.references(json!({ "cursor": first["nextCursor"] })).await.expect("the new set is held");
    assert_eq!(lines_of(&rest), [2, 3]);
}

#[tokio::test]
async fn a_change_during_the_ask_is_asked_about_once_more() {
    let bench = Bench::new();
    bench.refer_to([1, 2]);
    let uri = bench.uri("a.ts");
    let editor = bench.editor.clone();
    let change: Meanwhile = Box::new(move |gateway| {
        gateway.bump(Epoch::Text);
        let items = [7, 8].map(|line| RawLocation { uri: 0, range: on_line(line) }).to_vec();
        editor.set(|answers| answers.references = Some(RawLocations { uris: vec![uri], items, without_range: 0 }));
    });
    bench.editor.set(|answers| answers.meanwhile.push_back(change));

    let first = bench.references(json!({ "pageSize": 1 })).await.expect("a page");

    assert_eq!(bench.editor.set(|answers| answers.asked), 2);
    assert_eq!(lines_of(&first), [7]);
    let second = bench.references(json!({ "cursor": first["nextCursor"] })).await.expect("its cursor holds");
    assert_eq!(lines_of(&second), [8]);
}

#[tokio::test]
async fn a_workspace_that_does_not_hold_still_is_answered_with_a_cursor_that_is_stale() {
    let bench = Bench::new();
    bench.refer_to([1, 2]);
    for _ in 0..2 {
        bench.editor.set(|answers| answers.meanwhile.push_back(Box::new(|gateway| gateway.bump(Epoch::Fs))));
    }

    let first = bench.references(json!({ "pageSize": 1 })).await.expect("a page");

    assert_eq!(bench.editor.set(|answers| answers.asked), 2);
    assert_eq!(bench.references(json!({ "cursor": first["nextCursor"] })).await, Err(stale(&[Epoch::Fs])));
}

#[tokio::test]
async fn a_root_removed_during_the_ask_takes_its_answer_with_it() {
    let bench = Bench::new();
    bench.refer_to([1]);
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    // The first change alone would be asked about once more; that the roots moved always counts.
    bench.editor.set(|answers| {
        answers.meanwhile.push_back(Box::new(|gateway| gateway.bump(Epoch::Fs)));
        let removal =
            move |gateway: &Gateway<StandIn>| gateway.configure(settings(vec![elsewhere], Duration::from_secs(2)));
        answers.meanwhile.push_back(Box::new(removal));
    });

    assert_eq!(bench.references(json!({})).await, Err(ToolError::OutsideRoots));
}

#[tokio::test]
async fn a_root_removed_while_the_document_opens_takes_the_question_with_it() {
    let bench = Bench::new();
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    // The answer names no file, so that nothing would be left out of it.
    let fragment = RawHoverFragment { range: None, language: None, value: 0 };
    bench.editor.set(|answers| {
        answers.hover = Some(RawHovers { strings: vec!["let x".to_owned()], items: vec![fragment] });
        answers.while_opening = Some(Box::new(move |gateway| {
            gateway.configure(settings(vec![elsewhere], Duration::from_secs(2)));
        }));
    });
    let arguments = json!({ "uri": bench.uri("a.ts"), "position": { "line": 1, "character": 7 } });

    assert_eq!(bench.call(HOVER, arguments).await, Err(ToolError::OutsideRoots));

    assert!(bench.editor.set(|answers| answers.asked_about.is_empty()), "the editor is not asked about it");
}

#[tokio::test]
async fn a_key_never_stands_for_two_sets_even_after_the_first_was_evicted() {
    let bench = Bench::new();
    let old = bench.cursor().await;
    // Each of these sets takes more than 2 MiB, and 64 MiB are held in all.
    bench.refer_to(0..20_000);
    for request in 0..32 {
        let position = json!({ "line": 1, "character": request / 2 });
        let changes = json!({ "position": position, "includeDeclaration": request % 2 == 0 });
        bench.references(changes).await.expect("a page");
    }
    assert_eq!(bench.references(json!({ "cursor": old })).await, Err(ToolError::CursorExpired));

    bench.refer_to([1, 2, 3]);
    bench.references(json!({})).await.expect("a page");

    assert_eq!(bench.references(json!({ "cursor": old })).await, Err(stale(&[Epoch::Text])));
}

#[tokio::test]
async fn a_set_that_has_become_too_large_makes_the_old_cursor_stale() {
    let bench = Bench::new();
    let old = bench.cursor().await;
    bench.refer_to(0..20_001);

    let too_many = ToolError::TooManyItems { items: 20_001, max_items: 20_000 };
    assert_eq!(bench.references(json!({})).await, Err(too_many));

    assert_eq!(bench.references(json!({ "cursor": old })).await, Err(stale(&[Epoch::Text])));
}

#[tokio::test]
async fn a_cursor_whose_set_is_forgotten_is_stale() {
    let bench = Bench::new();
    let old = bench.cursor().await;
    for request in 1..=1_024 {
        if request == 1_024 {
            let known = bench.references(json!({ "cursor": old })).await;
            assert!(known.is_ok(), "with 1,023 others it is among the last 1,024 states: {known:?}");
        }
        let name = format!("{request}.ts");
        fs::write(bench.root.join(&name), "").expect("a file");
        bench.references(json!({ "uri": bench.uri(&name) })).await.expect("a page");
    }

    assert_eq!(bench.references(json!({ "cursor": old })).await, Err(stale(&[])));
}

#[tokio::test]
async fn a_root_that_is_moved_away_is_out_until_it_is_back() {
    let bench = Bench::new();
    let cursor = bench.cursor().await;
    let moved = bench.root.with_file_name("moved");

    fs::rename(&bench.root, &moved).expect("moved");
    assert_eq!(bench.references(json!({ "cursor": cursor })).await, Err(ToolError::RootsGone));

    fs::rename(&moved, &bench.root).expect("moved back");
    assert_eq!(bench.references(json!({ "cursor": cursor })).await, Err(stale(&[Epoch::Roots])));
    assert!(bench.references(json!({})).await.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_the_place_of_a_root_leads_nowhere() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    bench.refer_to([1]);
    let nested = bench.root.join("nested");
    let outside = bench.root.with_file_name("outside");
    for folder in [&nested, &outside] {
        fs::create_dir(folder).expect("a folder");
        fs::write(folder.join("b.ts"), "").expect("a file");
    }
    bench.gateway.configure(settings(vec![bench.root.clone(), nested.clone()], Duration::from_secs(2)));
    let ask = || bench.references(json!({ "uri": bench.uri("nested/b.ts") }));
    assert!(ask().await.is_ok());

    fs::remove_dir_all(&nested).expect("removed");
    symlink(&outside, &nested).expect("a link");

    assert_eq!(ask().await, Err(ToolError::OutsideRoots));
}

#[cfg(unix)]
#[tokio::test]
async fn a_linked_root_that_gets_another_target_is_not_opened_there() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    bench.refer_to([1]);
    let (link, outside) = (bench.root.with_file_name("link"), bench.root.with_file_name("outside"));
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("a.ts"), "").expect("a file");
    symlink(&bench.root, &link).expect("a link");
    bench.gateway.configure(settings(vec![link.clone()], Duration::from_secs(2)));

    fs::remove_file(&link).expect("removed");
    symlink(&outside, &link).expect("another link");

    // By its real path the file is where it was, but the editor would be asked for it by way of the link.
    assert_eq!(bench.references(json!({})).await, Err(ToolError::RootsGone));
    assert!(bench.editor.set(|answers| answers.opened.is_empty()));
}

#[cfg(unix)]
#[tokio::test]
async fn the_editor_knows_a_linked_root_by_the_name_under_which_it_was_opened() {
    let bench = Bench::new();
    bench.refer_to([1]);
    let link = bench.root.with_file_name("link");
    std::os::unix::fs::symlink(&bench.root, &link).expect("a link");
    bench.gateway.configure(settings(vec![link.clone()], Duration::from_secs(2)));

    let page = bench.references(json!({})).await.expect("a page");

    assert_eq!(page["items"][0]["uri"], bench.uri("a.ts"));
    assert_eq!(bench.editor.set(|answers| answers.opened.last().cloned()), Some((uri_of(&link.join("a.ts")), Some(0))));
}

#[tokio::test]
async fn what_is_no_regular_file_is_not_found_and_the_editor_is_not_asked_to_open_it() {
    let bench = Bench::new();
    fs::create_dir(bench.root.join("folder")).expect("a folder");
    #[cfg(unix)]
    std::os::unix::net::UnixListener::bind(bench.root.join("socket")).expect("a socket");

    for name in if cfg!(unix) { vec!["folder", "socket"] } else { vec!["folder"] } {
        let answer = bench.references(json!({ "uri": bench.uri(name) })).await;
        assert_eq!(answer, Err(ToolError::DocumentNotFound), "{name}");
    }
    assert!(bench.editor.set(|answers| answers.opened.is_empty()));
}

#[tokio::test]
async fn a_workspace_without_roots_is_denied() {
    let bench = Bench::new();
    bench.gateway.configure(settings(Vec::new(), Duration::from_secs(2)));

    assert_eq!(bench.references(json!({})).await, Err(ToolError::NoRoots));
}

// Time passes as soon as nobody has anything to do, so a busy machine makes no difference to it.
#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_is_given_up_at_the_time_limit() {
    let bench = Bench::new();
    bench.refer_to([1]);
    bench.editor.set(|answers| answers.permits = Some(Arc::new(Semaphore::new(0))));
    let limit = Duration::from_millis(100);
    bench.gateway.configure(settings(vec![bench.root.clone()], limit));
    let begun = Instant::now();

    assert_eq!(bench.references(json!({})).await, Err(ToolError::Timeout { limit }));

    // Timers count in whole milliseconds.
    let took = begun.elapsed();
    assert!((limit..limit + Duration::from_millis(5)).contains(&took), "{took:?}");
}

#[tokio::test]
async fn identical_calls_in_flight_share_one_ask_and_a_call_after_a_change_does_not() {
    let bench = Bench::new();
    bench.refer_to([1]);
    let permits = Arc::new(Semaphore::new(0));
    bench.editor.set(|answers| answers.permits = Some(Arc::clone(&permits)));
    let asked = |count: usize| {
        let editor = bench.editor.clone();
        async move {
            while editor.set(|answers| answers.asked) < count {
                tokio::task::yield_now().await;
            }
        }
    };

    let sharing = async { tokio::join!(bench.references(json!({})), bench.references(json!({ "pageSize": 7 }))) };
    let changed = async {
        asked(1).await;
        bench.gateway.bump(Epoch::Text);
        let late = bench.references(json!({}));
        let release = async {
            asked(2).await;
            permits.add_permits(100);
        };
        tokio::join!(late, release).0
    };
    let both = Box::pin(async { tokio::join!(sharing, changed) });
    let both = tokio::time::timeout(Duration::from_secs(30), both);
    let ((first, second), late) = both.await.expect("the late call asks for itself");

    assert_eq!(first, second);
    assert_eq!(first, late);
    // The shared ask, once more because of the change (D23), and the late one.
    assert_eq!(bench.editor.set(|answers| answers.asked), 3);
}

#[tokio::test]
async fn a_position_past_the_end_is_not_found_and_tells_where_the_end_is() {
    let bench = Bench::new();
    bench.refer_to([1]);
    let at =
        |line: u32, character: u32| bench.references(json!({ "position": { "line": line, "character": character } }));

    assert!(at(1, 20).await.is_ok(), "the end of a line is a position");
    assert_eq!(at(1, 21).await, Err(ToolError::CharacterNotFound { line: 1, character: 21, line_length: 20 }));
    assert_eq!(at(2, 0).await, Err(ToolError::LineNotFound { line: 2, line_count: 2 }));
}

#[tokio::test]
async fn declarations_are_removed_by_default_and_a_language_without_definitions_has_none() {
    let bench = Bench::new();
    bench.refer_to([1, 2, 3]);
    let lines = |page: Result<Value, ToolError>| lines_of(&page.expect("a page"));

    assert_eq!(lines(bench.references(json!({ "includeDeclaration": false })).await), [1, 2, 3]);

    let target = RawTarget { uri: 0, range: on_line(9), selection: Some(on_line(2)) };
    let targets = RawTargets { uris: vec![bench.uri("a.ts")], items: vec![target], without_range: 0 };
    bench.editor.set(|answers| answers.definition = Some(Ok(targets)));
    assert_eq!(lines(bench.references(json!({ "includeDeclaration": false })).await), [1, 3]);
    assert_eq!(lines(bench.references(json!({ "includeDeclaration": true })).await), [1, 2, 3]);

    bench.editor.set(|answers| answers.definition = Some(Err(EditorError::Failed(None))));
    assert_eq!(bench.references(json!({ "includeDeclaration": false })).await, Err(ToolError::ProviderFailed(None)));
}

#[tokio::test]
async fn a_question_that_nothing_answers_is_unavailable() {
    let bench = Bench::new();
    let position = json!({ "uri": bench.uri("a.ts"), "position": { "line": 0, "character": 0 } });

    assert_eq!(bench.references(json!({})).await, Err(ToolError::ProviderUnavailable(None)));
    assert_eq!(bench.call(DEFINITION, position).await, Err(ToolError::ProviderUnavailable(None)));
}

#[tokio::test]
async fn a_definition_is_a_location_of_the_selection() {
    let bench = Bench::new();
    let target = RawTarget { uri: 0, range: on_line(9), selection: Some(on_line(2)) };
    let targets = RawTargets { uris: vec![bench.uri("a.ts")], items: vec![target, target], without_range: 0 };
    bench.editor.set(|answers| answers.definition = Some(Ok(targets)));

    let arguments = json!({ "uri": bench.uri("a.ts"), "position": { "line": 0, "character": 0 } });
    let payload = bench.call(DEFINITION, arguments).await.expect("an answer");

    assert_eq!(
        payload,
        json!({
            "locations": [{
                "uri": bench.uri("a.ts"),
                "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 1 } },
            }],
            "summary": "Found 1 definition.",
        })
    );
}

#[tokio::test]
async fn a_hover_is_asked_for_at_its_position() {
    let bench = Bench::new();
    let item = RawHoverFragment { range: Some(on_line(1)), language: Some(0), value: 1 };
    let hover = RawHovers { strings: vec!["ts".to_owned(), "let x".to_owned()], items: vec![item, item] };
    let arguments = json!({ "uri": bench.uri("a.ts"), "position": { "line": 1, "character": 7 } });
    assert_eq!(bench.call(HOVER, arguments.clone()).await, Err(ToolError::ProviderUnavailable(None)));

    bench.editor.set(|answers| answers.hover = Some(hover));
    let payload = bench.call(HOVER, arguments).await.expect("an answer");

    assert_eq!(
        payload,
        json!({
            "contents": [{ "kind": "markdown", "value": "```ts\nlet x\n```" }],
            "range": { "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 1 } },
            "summary": "Hover available.",
        })
    );
    let asked = bench.editor.set(|answers| answers.asked_about.clone());
    assert_eq!(asked, [format!("{} 1:7", bench.uri("a.ts")), format!("{} 1:7", bench.uri("a.ts"))]);
    let past_the_end = json!({ "uri": bench.uri("a.ts"), "position": { "line": 2, "character": 0 } });
    assert_eq!(bench.call(HOVER, past_the_end).await, Err(ToolError::LineNotFound { line: 2, line_count: 2 }));
}

#[tokio::test]
async fn an_outline_is_asked_for_once_the_document_is_open_and_no_line_is_asked_about() {
    let bench = Bench::new();
    let item = RawDocumentSymbol {
        name: Some(0),
        kind: function(),
        range: on_line(1),
        selection: None,
        container_name: None,
        parent: None,
    };
    let symbols = RawDocumentSymbols { strings: vec!["f".to_owned()], items: vec![item] };
    bench.editor.set(|answers| answers.document_symbols = Some(symbols));

    let payload = bench.call(DOCUMENT_SYMBOLS, json!({ "uri": bench.uri("a.ts") })).await.expect("an answer");

    assert_eq!(payload["symbols"][0]["name"], "f");
    assert_eq!(payload["summary"], "Returned 1 document symbol.");
    assert_eq!(bench.editor.set(|answers| answers.opened.clone()), [(bench.uri("a.ts"), None)]);
    assert_eq!(bench.editor.set(|answers| answers.asked_about.clone()), [bench.uri("a.ts")]);
}

#[tokio::test]
async fn a_search_is_trimmed_and_paged() {
    let bench = Bench::new();
    bench.name([3, 1, 2]);
    let page = |query: &str, cursor: &Value| {
        bench.call(WORKSPACE_SYMBOLS, json!({ "query": query, "pageSize": 2, "cursor": cursor }))
    };

    let first = page(" \u{feff}some thing\n", &Value::Null).await.expect("a page");
    assert_eq!(lines_of_symbols(&first), [1, 2]);
    let second = page("some thing", &first["nextCursor"]).await.expect("a page");
    assert_eq!(lines_of_symbols(&second), [3]);

    assert_eq!(bench.editor.set(|answers| answers.asked_about.clone()), ["some thing"]);
    assert_eq!(bench.editor.set(|answers| answers.opened.len()), 0, "a search opens no document");
    let another = page("something", &first["nextCursor"]).await.expect_err("another search");
    assert_eq!(another.code(), ErrorCode::CursorInvalid);
    let blank = page("\u{85}\u{feff}", &Value::Null).await.expect_err("blank");
    assert_eq!(blank.code(), ErrorCode::InvalidParams);
}

#[tokio::test]
async fn each_kind_of_change_makes_a_cursor_of_workspace_diagnostics_stale_but_text_does_not() {
    for (epoch, expected) in [
        (Epoch::Diagnostics, Some(stale(&[Epoch::Diagnostics]))),
        (Epoch::Fs, Some(stale(&[Epoch::Fs]))),
        (Epoch::Roots, Some(stale(&[Epoch::Roots]))),
        (Epoch::Text, None),
    ] {
        let bench = Bench::new();
        fs::write(bench.root.join("b.ts"), "").expect("a file");
        bench.publish([("a.ts", &[1][..]), ("b.ts", &[2])]);
        let first = bench.call(WORKSPACE_DIAGNOSTICS, json!({ "pageSize": 1 })).await.expect("a page");
        assert_eq!(files_of(&first), [("a.ts".to_owned(), vec![1])]);
        bench.gateway.bump(epoch);

        let second = bench.call(WORKSPACE_DIAGNOSTICS, json!({ "cursor": first["nextCursor"] })).await;

        assert_eq!(second.as_ref().err(), expected.as_ref(), "{epoch:?}");
        assert!(second.is_err() || files_of(&second.expect("a page")) == [("b.ts".to_owned(), vec![2])]);
    }
}

#[tokio::test]
async fn other_diagnostics_without_an_event_are_a_change_of_diagnostics_and_of_nothing_else() {
    let bench = Bench::new();
    fs::write(bench.root.join("b.ts"), "").expect("a file");
    bench.publish([("a.ts", &[1][..]), ("b.ts", &[2])]);
    let references = bench.cursor().await;
    let first = bench.call(WORKSPACE_DIAGNOSTICS, json!({ "pageSize": 1 })).await.expect("a page");
    bench.publish([("a.ts", &[1][..]), ("b.ts", &[2, 3])]);
    let at = |cursor: Value| bench.call(WORKSPACE_DIAGNOSTICS, json!({ "cursor": cursor, "pageSize": 1 }));

    let afresh = at(Value::Null).await.expect("a page");

    assert_eq!(at(first["nextCursor"].clone()).await, Err(stale(&[Epoch::Diagnostics])));
    assert_eq!(files_of(&at(afresh["nextCursor"].clone()).await.expect("a page")), [("b.ts".to_owned(), vec![2, 3])]);
    assert!(bench.references(json!({ "cursor": references })).await.is_ok(), "text has not moved on");
}

#[tokio::test]
async fn diagnostics_that_change_during_the_ask_are_asked_for_once_more() {
    let bench = Bench::new();
    bench.publish([("a.ts", &[1][..])]);
    bench.editor.set(|answers| {
        answers.meanwhile.push_back(Box::new(|gateway| gateway.bump(Epoch::Text)));
        answers.meanwhile.push_back(Box::new(|gateway| gateway.bump(Epoch::Diagnostics)));
    });
    let asked = || bench.editor.set(|answers| answers.asked);

    bench.call(DOCUMENT_DIAGNOSTICS, json!({ "uri": bench.uri("a.ts") })).await.expect("an answer");
    assert_eq!(asked(), 1, "text does not matter");
    bench.call(DOCUMENT_DIAGNOSTICS, json!({ "uri": bench.uri("a.ts") })).await.expect("an answer");
    assert_eq!(asked(), 3);
}

#[tokio::test]
async fn a_document_that_nobody_has_reported_on_is_not_analysed_and_one_with_nothing_to_report_is_empty() {
    let bench = Bench::new();
    let of_a = || bench.call(DOCUMENT_DIAGNOSTICS, json!({ "uri": bench.uri("a.ts") }));
    bench.publish([("b.ts", &[1][..])]);
    assert_eq!(of_a().await, Err(ToolError::NotAnalysed));
    assert_eq!(bench.editor.set(|answers| answers.opened.clone()), [(bench.uri("a.ts"), None)], "it is held open");

    bench.publish([("a.ts", &[][..])]);
    let empty = json!({ "uri": bench.uri("a.ts"), "diagnostics": [], "summary": "Returned no diagnostics." });
    assert_eq!(of_a().await, Ok(empty));
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_published_under_a_link_belongs_to_the_real_file() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(bench.root.join("a.ts"), bench.root.join("link.ts")).expect("a link");
    bench.publish([("link.ts", &[7][..]), ("a.ts", &[3])]);

    let of_link = bench.call(DOCUMENT_DIAGNOSTICS, json!({ "uri": bench.uri("link.ts") })).await.expect("an answer");
    let of_all = bench.call(WORKSPACE_DIAGNOSTICS, json!({})).await.expect("a page");

    assert_eq!(files_of(&of_all), [("a.ts".to_owned(), vec![3, 7])]);
    assert_eq!(of_link["uri"], bench.uri("a.ts"));
    assert_eq!(of_link["diagnostics"], of_all["items"][0]["diagnostics"]);
}

#[tokio::test]
async fn questions_about_the_whole_workspace_are_denied_without_roots_and_with_a_cursor_too() {
    let bench = Bench::new();
    fs::write(bench.root.join("b.ts"), "").expect("a file");
    bench.name([1, 2]);
    bench.publish([("a.ts", &[1][..]), ("b.ts", &[1])]);
    for (tool, arguments) in
        [(WORKSPACE_SYMBOLS, json!({ "query": "f", "pageSize": 1 })), (WORKSPACE_DIAGNOSTICS, json!({ "pageSize": 1 }))]
    {
        bench.gateway.configure(settings(vec![bench.root.clone()], Duration::from_secs(2)));
        let mut arguments = arguments;
        let first = bench.call(tool, arguments.clone()).await.expect("a page");
        bench.gateway.configure(settings(Vec::new(), Duration::from_secs(2)));

        assert_eq!(bench.call(tool, arguments.clone()).await, Err(ToolError::NoRoots));
        arguments["cursor"] = first["nextCursor"].clone();
        assert!(arguments["cursor"].is_string(), "{arguments}");
        assert_eq!(bench.call(tool, arguments).await, Err(ToolError::NoRoots));
    }
}

#[tokio::test]
async fn a_root_that_was_moved_away_makes_cursors_of_the_whole_workspace_stale() {
    let bench = Bench::new();
    bench.name([1, 2]);
    let search =
        |cursor: Value| bench.call(WORKSPACE_SYMBOLS, json!({ "query": "f", "pageSize": 1, "cursor": cursor }));
    let first = search(Value::Null).await.expect("a page");
    let moved = bench.root.with_file_name("moved");
    fs::rename(&bench.root, &moved).expect("moved");
    assert_eq!(search(first["nextCursor"].clone()).await, Err(ToolError::RootsGone));
    fs::rename(&moved, &bench.root).expect("moved back");

    assert_eq!(search(first["nextCursor"].clone()).await, Err(stale(&[Epoch::Roots])));
}

#[tokio::test]
async fn identical_questions_of_different_tools_do_not_share_an_ask() {
    let bench = Bench::new();
    bench.publish([("a.ts", &[1][..])]);
    let of_document = bench.call(DOCUMENT_DIAGNOSTICS, json!({ "uri": bench.uri("a.ts") }));
    let outline = bench.call(DOCUMENT_SYMBOLS, json!({ "uri": bench.uri("a.ts") }));

    let (of_document, outline) = tokio::join!(of_document, outline);

    assert_eq!(of_document.expect("an answer")["diagnostics"][0]["range"]["start"]["line"], 1);
    assert_eq!(outline, Err(ToolError::ProviderUnavailable(None)));
}

#[tokio::test]
async fn a_call_leads_to_the_file_that_it_asked_about_and_only_while_clients_may_ask_about_it() {
    let bench = Bench::new();
    let sessions = Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| {}));
    let session = sessions.mint(Revision::Current, Profile::Offered).expect("a session");
    let place = Position { line: 1, character: 2 };
    let note = |uri: String| {
        let about = About::document(uri, Some(place));
        let duration = Duration::from_millis(1);
        let call = Ended { tool: tools::named(HOVER).expect("a tool"), about, outcome: Ok(1), bytes: 10, duration };
        bench.gateway.activity().call_ended(session, call);
    };
    note(bench.uri("a.ts"));
    note("file:///etc/hostname".to_owned());
    assert_eq!(bench.gateway.place_of_call(1).await, Ok((bench.uri("a.ts"), Some(place))));
    // It counts as answered here, so nothing but the look at the roots keeps anybody from there.
    assert_eq!(bench.gateway.place_of_call(2).await, Err(Unopenable::Refused));
    assert_eq!(bench.gateway.place_of_call(3).await, Err(Unopenable::Forgotten));

    fs::remove_file(bench.root.join("a.ts")).expect("the file");
    assert_eq!(bench.gateway.place_of_call(1).await, Err(Unopenable::Gone));
    fs::write(bench.root.join("a.ts"), "").expect("the file again");
    bench.gateway.configure(settings(vec![bench.folder.path().join("elsewhere")], Duration::from_secs(1)));
    assert_eq!(bench.gateway.place_of_call(1).await, Err(Unopenable::Refused));
}

#[tokio::test]
async fn a_session_ends_with_its_catalog_and_goes_on_where_that_is_offered_again() {
    let bench = Bench::new();
    let settings = || settings(vec![bench.root.clone()], Duration::from_secs(2));
    let names = || bench.gateway.catalog().tools().iter().map(|tool| tool.name()).collect::<Vec<_>>();
    let all = names();
    let session = bench.gateway.sessions().mint(Revision::Current, Profile::Offered).expect("a session").to_string();
    let is_known = || bench.gateway.sessions().admit(&session).is_some();
    assert!(is_known());

    let chosen = [HOVER.to_owned(), DEFINITION.to_owned(), "vscode.lsp.rename".to_owned()];
    bench.gateway.configure(Settings { catalog: tools::chosen(&chosen), ..settings() });
    assert_eq!(names(), [DEFINITION, HOVER], "in the order of the registry, and nothing that there is not");
    assert!(!is_known());

    bench.gateway.configure(Settings { catalog: tools::chosen(&["v1".to_owned()]), ..settings() });
    assert_eq!(names(), all);
    assert!(is_known());
}

#[tokio::test]
async fn a_session_of_another_catalog_that_has_ended_stays_ended_across_a_reload() {
    let all = || Settings { catalog: tools::ALL.to_vec(), ..settings(Vec::new(), Duration::from_secs(2)) };
    let (told, ended) = std::sync::mpsc::channel();
    let before =
        Bench::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(move |ids| told.send(ids).expect("heard"))));
    before.gateway.configure(all());
    let session = before.gateway.sessions().mint(Revision::Current, Profile::Offered).expect("a session");
    before.gateway.sessions().end(session);

    let stored = ended.recv().expect("it was told");
    let after = Bench::of(Sessions::new(&[0; 32], "workspace", &stored, Box::new(|_| {})));
    after.gateway.configure(all());
    assert!(after.gateway.sessions().admit(&session.to_string()).is_none());
}
