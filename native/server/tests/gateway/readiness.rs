//! Answers of languages that are not ready, and answers that come late (D27 to D29), with a stand-in for the editor.

use std::sync::Arc;
use std::time::Duration;

use crate::bench::{
    Bench, DEFINITION, DOCUMENT_DIAGNOSTICS, HOVER, Meanwhile, REFERENCES, WORKSPACE_DIAGNOSTICS, WORKSPACE_SYMBOLS,
    settings,
};
use gateway_core::epochs::Epoch;
use gateway_core::error::{Explanation, ToolError};
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_server::editor::{EditorError, Readiness};
use gateway_server::session::Sessions;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

const UNCONFIRMED: &str = "; no language server has shown that it is ready, so there may be more.";
const TIMEOUT: ToolError = ToolError::Timeout { limit: Duration::from_secs(2) };

/// A window whose language is not ready yet.
fn cold() -> Arc<Bench> {
    let bench = Bench::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| {})));
    bench.editor.set(|answers| answers.readiness.send_replace(None));
    Arc::new(bench)
}

/// The same, and its extension says nothing of itself.
fn cold_and_silent() -> Arc<Bench> {
    silent("lua")
}

/// A window whose language is this one, and nothing says whether it is ready.
fn silent(language: &'static str) -> Arc<Bench> {
    let bench = cold();
    bench.editor.set(|answers| {
        answers.silent = true;
        answers.language = Some(language);
    });
    bench
}

fn whole(count: usize) -> (usize, String) {
    (count, summary(count, "."))
}

fn marked(count: usize) -> (usize, String) {
    (count, summary(count, UNCONFIRMED))
}

fn summary(count: usize, end: &str) -> String {
    match count {
        0 => format!("Returned no references{end}"),
        1 => format!("Returned 1 reference{end}"),
        _ => format!("Returned {count} references{end}"),
    }
}

async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

fn hovers(text: &str) -> RawHovers {
    let fragment = RawHoverFragment { range: None, language: None, value: 0 };
    RawHovers { strings: vec![text.to_owned()], items: vec![fragment] }
}

impl Bench {
    /// How many references are found, and what the summary says.
    async fn found_references(&self) -> Result<(usize, String), ToolError> {
        let position = json!({ "line": 0, "character": 0 });
        let arguments = json!({ "uri": self.uri("a.ts"), "position": position, "includeDeclaration": true });
        let page = self.call(REFERENCES, arguments).await?;
        let items = page["items"].as_array().expect("items").len();
        Ok((items, page["summary"].as_str().expect("a summary").to_owned()))
    }

    async fn diagnostics(&self) -> Result<Value, ToolError> {
        self.call(DOCUMENT_DIAGNOSTICS, json!({ "uri": self.uri("a.ts") })).await
    }

    /// The text of the hover on a line.
    async fn hover(&self, line: u32) -> Result<String, ToolError> {
        let arguments = json!({ "uri": self.uri("a.ts"), "position": { "line": line, "character": 3 } });
        let payload = self.call(HOVER, arguments).await?;
        Ok(payload["contents"][0]["value"].as_str().expect("a text").to_owned())
    }

    fn becomes(&self, readiness: Readiness) {
        self.editor.set(|answers| answers.readiness.send_replace(Some(readiness)));
    }

    fn asked(&self) -> usize {
        self.editor.set(|answers| answers.asked)
    }

    /// Each of these is found in turn, when it is asked for references; the last one from then on.
    fn finds_in_turn(&self, counts: &[u32]) {
        let (first, later) = counts.split_first().expect("at least one");
        self.refer_to(0..*first);
        for &count in later {
            let editor = self.editor.clone();
            self.refer_to(0..count);
            let next = self.editor.set(|answers| answers.references.clone());
            let change: Meanwhile = Box::new(move |_| editor.set(|answers| answers.references = next));
            self.editor.set(|answers| answers.meanwhile.push_back(change));
        }
        self.refer_to(0..*first);
    }
}

#[tokio::test(start_paused = true)]
async fn a_language_that_tells_when_it_is_ready_is_not_asked_before() {
    let bench = cold();
    bench.refer_to([1]);

    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp));
    assert_eq!(bench.asked(), 0);

    bench.becomes(Readiness::Shown);
    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 1, "the call whose time was over and the one after it made one ask");
}

#[tokio::test(start_paused = true)]
async fn a_language_that_shows_that_it_is_ready_as_the_document_is_opened_is_not_asked_whether_it_is() {
    let bench = cold();
    bench.refer_to([1]);
    bench.publish([("a.ts", &[3][..])]);
    bench.editor.set(|answers| answers.ready_at_once = true);

    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.diagnostics().await.expect("an answer")["diagnostics"][0]["range"]["start"]["line"], 3);

    // It has started anew since.
    bench.editor.set(|answers| answers.ready_at_once = false);
    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp));
    assert_eq!(bench.diagnostics().await, Err(ToolError::WarmingUp));
}

#[tokio::test(start_paused = true)]
async fn a_language_that_is_about_to_be_ready_is_asked_once_and_believed_once_it_is() {
    let bench = cold();
    bench.refer_to([1]);
    bench.becomes(Readiness::Resting);

    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp), "it may have to work again");
    bench.becomes(Readiness::Shown);
    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_language_answers_before_it_works_again_is_not_believed() {
    let bench = cold();
    bench.refer_to([1]);
    bench.becomes(Readiness::Resting);
    // It works while it is asked as it rests; then while it is asked as it is ready, after which all is asked once more.
    for becomes in [Readiness::Shown, Readiness::Resting, Readiness::Shown] {
        let working = Arc::clone(&bench);
        let works: Meanwhile = Box::new(move |gateway| {
            gateway.bump(Epoch::Text);
            working.becomes(becomes);
        });
        bench.editor.set(|answers| answers.meanwhile.push_back(works));
    }

    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 4);
}

/// Lets the language work until it `becomes` this, from which on it finds 2 references, and no longer a part of them.
fn works(bench: &Arc<Bench>, becomes: Readiness) -> Meanwhile {
    let (working, worked) = (bench.editor.clone(), Arc::clone(bench));
    let runtime = tokio::runtime::Handle::current();
    Box::new(move |gateway| {
        gateway.bump(Epoch::Text);
        working.set(|answers| answers.readiness.send_replace(None));
        runtime.spawn(async move {
            sleep(Duration::from_millis(500)).await;
            worked.refer_to(0..2);
            worked.becomes(becomes);
        });
    })
}

#[tokio::test(start_paused = true)]
async fn work_that_begins_before_the_gateway_hears_of_the_rest_is_not_missed() {
    for told in [Readiness::Resting, Readiness::Shown] {
        let bench = cold();
        bench.refer_to(0..1);
        bench.becomes(told);
        let works = works(&bench, Readiness::Shown);
        bench.editor.set(|answers| answers.while_telling = Some(works));

        assert_eq!(bench.found_references().await, Ok(whole(2)), "{told:?}");
        assert_eq!(bench.asked(), 1, "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_language_that_rests_again_is_asked_again() {
    let bench = cold();
    bench.refer_to(0..1);
    bench.becomes(Readiness::Resting);
    let call = tokio::spawn({
        let bench = Arc::clone(&bench);
        async move { bench.found_references().await }
    });
    sleep(Duration::from_millis(200)).await;
    assert_eq!(bench.asked(), 1, "once for the rest");

    works(&bench, Readiness::Resting)(&bench.gateway);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(bench.asked(), 2, "once for the next");
    bench.becomes(Readiness::Shown);

    assert_eq!(call.await.expect("an end"), Ok(whole(2)));
    assert_eq!(bench.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_language_that_fails_before_it_is_ready_is_asked_again_once_it_is() {
    let bench = cold();
    bench.becomes(Readiness::Resting);

    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp));
    bench.refer_to([1]);
    bench.becomes(Readiness::Shown);
    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_language_that_tells_is_waited_for_again_when_it_has_started_anew() {
    let bench = cold();
    bench.refer_to([1]);
    bench.becomes(Readiness::Shown);
    assert_eq!(bench.found_references().await, Ok(whole(1)));

    bench.editor.set(|answers| answers.readiness.send_replace(None));

    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_not_believed_before_the_language_has_had_its_time_and_then_says_so() {
    let bench = cold_and_silent();
    bench.refer_to([]);
    let begun = Instant::now();

    while begun.elapsed() < Duration::from_secs(58) {
        assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp), "after {:?}", begun.elapsed());
    }

    seconds(3).await;
    assert_eq!(bench.found_references().await, Ok(marked(0)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_sign_is_given_at_once_and_says_so() {
    let bench = cold_and_silent();
    bench.refer_to(0..28);

    for _ in 0..100 {
        let begun = Instant::now();
        assert_eq!(bench.found_references().await, Ok(marked(28)));
        assert_eq!(begun.elapsed(), Duration::ZERO);
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(bench.asked(), 100);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_stays_the_same_is_whole_only_after_the_longest_pause_known_of_its_language() {
    for (language, before, after) in [("lua", 59, 1), ("python", 9, 1), ("json", 0, 0)] {
        let bench = silent(language);
        bench.refer_to(0..28);
        if before > 0 {
            assert_eq!(bench.found_references().await, Ok(marked(28)), "{language}");
            seconds(before).await;
            assert_eq!(bench.found_references().await, Ok(marked(28)), "{language} after {before} s");
            seconds(after).await;
        }

        assert_eq!(bench.found_references().await, Ok(whole(28)), "{language}");
        bench.refer_to([]);
        bench.gateway.bump(Epoch::Text);
        assert_eq!(bench.found_references().await, Ok(whole(0)), "{language} is believed from now on");
    }
}

#[tokio::test(start_paused = true)]
async fn no_answer_shows_that_a_language_is_ready_whose_pauses_grow_with_the_project() {
    for language in ["rust", "c", "cpp"] {
        let bench = silent(language);
        bench.refer_to(0..28);
        for _ in 0..10 {
            assert_eq!(bench.found_references().await, Ok(marked(28)), "{language}");
            seconds(60).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_become_another_has_to_stay_for_as_long_again() {
    let bench = cold_and_silent();
    bench.finds_in_turn(&[18, 18, 93]);

    assert_eq!(bench.found_references().await, Ok(marked(18)));
    seconds(50).await;
    assert_eq!(bench.found_references().await, Ok(marked(93)));
    seconds(50).await;
    assert_eq!(bench.found_references().await, Ok(marked(93)));
    seconds(10).await;
    assert_eq!(bench.found_references().await, Ok(whole(93)));
}

#[tokio::test(start_paused = true)]
async fn a_language_that_has_found_something_may_find_nothing_elsewhere_and_says_so() {
    let bench = cold_and_silent();
    bench.editor.set(|answers| answers.hover = Some(hovers("a text")));
    bench.refer_to([]);
    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp));

    assert!(bench.hover(0).await.is_ok());

    assert_eq!(bench.found_references().await, Ok(marked(0)));
}

#[tokio::test(start_paused = true)]
async fn a_cursor_stays_good_when_its_set_turns_out_to_be_whole() {
    let bench = cold_and_silent();
    bench.refer_to(0..28);
    let position = json!({ "line": 0, "character": 0 });
    let page = async |cursor: &Value| {
        let uri = bench.uri("a.ts");
        let arguments =
            json!({ "uri": uri, "position": position, "includeDeclaration": true, "pageSize": 20, "cursor": cursor });
        bench.call(REFERENCES, arguments).await.expect("a page")
    };
    let first = page(&Value::Null).await;
    seconds(60).await;
    assert_eq!(bench.found_references().await, Ok(whole(28)));

    assert_eq!(page(&first["nextCursor"]).await["summary"], "Returned 8 references.");
}

#[tokio::test(start_paused = true)]
async fn a_language_that_no_longer_finds_what_it_found_in_the_same_files_is_loading_again() {
    let bench = cold_and_silent();
    bench.refer_to(0..28);
    assert_eq!(bench.found_references().await, Ok(marked(28)));
    bench.refer_to([]);
    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp), "before it was ready");

    let bench = cold_and_silent();
    bench.refer_to(0..28);
    assert_eq!(bench.found_references().await, Ok(marked(28)));
    seconds(60).await;
    assert_eq!(bench.found_references().await, Ok(whole(28)));

    bench.refer_to([]);
    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp), "after");
    bench.refer_to(0..20);
    seconds(1).await;
    assert_eq!(bench.found_references().await, Ok(marked(20)));
}

#[tokio::test(start_paused = true)]
async fn what_no_longer_is_in_files_that_have_changed_has_gone() {
    let bench = cold_and_silent();
    bench.refer_to(0..28);
    assert_eq!(bench.found_references().await, Ok(marked(28)));

    bench.refer_to([]);
    bench.gateway.bump(Epoch::Text);
    assert_eq!(bench.found_references().await, Ok(marked(0)));
}

#[tokio::test(start_paused = true)]
async fn what_answers_have_shown_of_a_language_is_void_once_it_gives_signs() {
    let bench = cold_and_silent();
    bench.refer_to(0..28);
    assert_eq!(bench.found_references().await, Ok(marked(28)));
    seconds(60).await;
    assert_eq!(bench.found_references().await, Ok(whole(28)));

    bench.editor.set(|answers| answers.silent = false);
    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp), "it tells that it is loading");

    // Its server has ended, and with it the sign.
    bench.editor.set(|answers| answers.silent = true);
    bench.becomes(Readiness::Assumed);
    seconds(10).await;
    bench.gateway.bump(Epoch::Text);
    assert_eq!(bench.found_references().await, Ok(marked(28)));
}

#[tokio::test(start_paused = true)]
async fn a_language_that_tells_and_never_becomes_ready_is_warming_up_however_long_it_takes() {
    let bench = cold();
    bench.refer_to([1]);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(200) {
        assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp), "after {:?}", begun.elapsed());
    }
    assert_eq!(bench.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_while_its_language_starts_is_asked_again() {
    let bench = cold_and_silent();
    bench.editor.set(|answers| answers.definition = Some(Err(EditorError::Failed(None))));
    let position = json!({ "line": 0, "character": 0 });
    let definition = || bench.call(DEFINITION, json!({ "uri": bench.uri("a.ts"), "position": position }));

    assert_eq!(definition().await, Err(ToolError::WarmingUp));

    seconds(60).await;
    assert_eq!(definition().await, Err(ToolError::ProviderFailed(None)));
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_back_end_explains_is_believed_also_while_the_language_starts() {
    let bench = cold_and_silent();
    let explanation = Some(Explanation { reason: None, message: "The server has ended; start it.".to_owned() });
    bench.editor.set(|answers| answers.definition = Some(Err(EditorError::Failed(explanation.clone()))));
    let arguments = json!({ "uri": bench.uri("a.ts"), "position": { "line": 0, "character": 0 } });
    assert_eq!(bench.call(DEFINITION, arguments).await, Err(ToolError::ProviderFailed(explanation)));
}

#[tokio::test(start_paused = true)]
async fn questions_about_the_whole_workspace_wait_for_its_languages() {
    for (tool, arguments, expected) in [
        (WORKSPACE_SYMBOLS, json!({ "query": "f" }), format!("Returned 1 workspace symbol{UNCONFIRMED}")),
        (
            WORKSPACE_DIAGNOSTICS,
            json!({}),
            "Returned diagnostics for 1 file; files that no language server has analysed are not among them."
                .to_owned(),
        ),
    ] {
        let bench = cold();
        bench.name([1]);
        bench.publish([("a.ts", &[1][..])]);

        assert_eq!(bench.call(tool, arguments.clone()).await, Err(ToolError::WarmingUp));

        bench.becomes(Readiness::Assumed);
        let page = bench.call(tool, arguments).await.expect("a page");
        assert_eq!(page["summary"], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_language_without_a_sign_has_published_does_not_show_that_it_knows_the_workspace() {
    let bench = cold_and_silent();
    bench.name([1]);
    bench.becomes(Readiness::Shown);

    let page = bench.call(WORKSPACE_SYMBOLS, json!({ "query": "f" })).await.expect("a page");

    assert_eq!(page["summary"], format!("Returned 1 workspace symbol{UNCONFIRMED}"));
}

#[tokio::test(start_paused = true)]
async fn a_file_counts_as_not_analysed_only_when_its_language_is_ready() {
    for (shown, expected) in [
        (false, Err(ToolError::NotAnalysed)),
        (true, Ok("Returned no diagnostics; no language server has reported on this file.")),
    ] {
        let bench = cold_and_silent();
        bench.editor.set(|answers| answers.in_tab = shown);
        bench.publish([("b.ts", &[1][..])]);

        assert_eq!(bench.diagnostics().await, Err(ToolError::WarmingUp));

        bench.becomes(Readiness::Assumed);
        let summary = bench.diagnostics().await.map(|payload| payload["summary"].clone());
        assert_eq!(summary, expected.map(Value::from));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_published_about_a_file_is_an_answer_also_before_its_language_is_ready() {
    let bench = cold_and_silent();
    bench.publish([("a.ts", &[3][..])]);

    let payload = bench.diagnostics().await.expect("an answer");

    assert_eq!(payload["diagnostics"][0]["range"]["start"]["line"], 3);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_when_the_time_is_over_serves_the_next_call() {
    let bench = cold();
    bench.becomes(Readiness::Shown);
    bench.refer_to([1]);
    let permits = Arc::new(Semaphore::new(0));
    bench.editor.set(|answers| answers.permits = Some(Arc::clone(&permits)));

    assert_eq!(bench.found_references().await, Err(TIMEOUT));
    permits.add_permits(1);
    sleep(Duration::from_secs(1)).await;

    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 1);
    permits.add_permits(1);
    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 2, "only one call has the late answer");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_late_is_not_given_after_a_change() {
    for epoch in [Epoch::Text, Epoch::Fs, Epoch::Roots] {
        let bench = cold();
        bench.becomes(Readiness::Shown);
        bench.refer_to([1]);
        let permits = Arc::new(Semaphore::new(0));
        bench.editor.set(|answers| answers.permits = Some(Arc::clone(&permits)));
        assert_eq!(bench.found_references().await, Err(TIMEOUT));
        permits.add_permits(1);
        sleep(Duration::from_secs(1)).await;

        bench.gateway.bump(epoch);
        permits.add_permits(1);

        assert_eq!(bench.found_references().await, Ok(whole(1)));
        assert_eq!(bench.asked(), 2, "{epoch:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn diagnostics_that_are_published_while_a_language_starts_do_not_part_a_call_from_its_ask() {
    let bench = cold();
    bench.refer_to([1]);
    assert_eq!(bench.found_references().await, Err(ToolError::WarmingUp));

    bench.gateway.bump(Epoch::Diagnostics);
    bench.becomes(Readiness::Shown);

    assert_eq!(bench.found_references().await, Ok(whole(1)));
    assert_eq!(bench.asked(), 1);
}

#[tokio::test]
async fn a_root_that_is_removed_while_a_language_starts_takes_its_answer_with_it() {
    let bench = cold();
    bench.refer_to([1]);
    let elsewhere = bench.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");

    let waiting = tokio::spawn({
        let bench = Arc::clone(&bench);
        async move { bench.found_references().await }
    });
    // The document is open, so it has been admitted.
    while bench.editor.set(|answers| answers.opened.is_empty()) {
        tokio::task::yield_now().await;
    }
    let gateway = Arc::clone(&bench.gateway);
    tokio::task::spawn_blocking(move || gateway.configure(settings(vec![elsewhere], Duration::from_secs(2))))
        .await
        .expect("the roots change");
    bench.becomes(Readiness::Shown);

    assert_eq!(waiting.await.expect("no panic"), Err(ToolError::OutsideRoots));
}
