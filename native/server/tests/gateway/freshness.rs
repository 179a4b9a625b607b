//! What is written under the roots, and what language servers know of it when they are asked.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::bench::{Bench, DOCUMENT_DIAGNOSTICS, REFERENCES, settings};
use gateway_core::epochs::Epoch;
use gateway_core::error::ToolError;
use gateway_server::gateway::Settings;
use gateway_server::session::Sessions;
use gateway_server::watch::{Ignore, Kind};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

impl Bench {
    fn watched() -> Self {
        let bench = Self::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| {})));
        bench.refer_to([1, 2]);
        bench.ignore(&[]);
        bench
    }

    fn ignore(&self, patterns: &[String]) {
        let settings = settings(vec![self.root.clone()], Duration::from_secs(2));
        self.gateway.configure(Settings { ignore: Ignore::new(patterns), ..settings });
    }

    fn arguments(&self, cursor: &Value) -> Value {
        let position = json!({ "line": 0, "character": 0 });
        let uri = self.uri("a.ts");
        json!({ "uri": uri, "position": position, "includeDeclaration": true, "pageSize": 1, "cursor": cursor })
    }

    async fn ask(&self) -> Result<Value, ToolError> {
        self.page(Value::Null).await
    }

    /// How long an answer takes.
    async fn time_to_answer(&self) -> Duration {
        let begun = Instant::now();
        self.ask().await.expect("a page");
        begun.elapsed()
    }

    async fn page(&self, cursor: Value) -> Result<Value, ToolError> {
        self.call(REFERENCES, self.arguments(&cursor)).await
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// Files that are there, and known to be.
    async fn with(names: &[&str]) -> Self {
        let bench = Self::watched();
        for name in names {
            bench.write(name, "");
        }
        // Nobody tells of them.
        while bench.ask().await == Err(ToolError::CatchingUp) {}
        bench.opened();
        bench
    }

    /// The names of the files that were opened since this was last called, less the one that is asked about.
    fn opened(&self) -> Vec<String> {
        let opened = self.editor.set(|answers| std::mem::take(&mut answers.opened));
        let name = |(uri, _): (String, _)| uri.rsplit_once('/').map(|(_, name)| name.to_owned());
        let mut names: Vec<_> = opened.into_iter().filter_map(name).filter(|name| name != "a.ts").collect();
        names.sort();
        names
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_makes_cursors_stale_as_soon_as_it_has_ended() {
    let bench = Bench::with(&["b.ts"]).await;
    for name in ["b.ts", "a.ts"] {
        let cursor = bench.ask().await.expect("a page")["nextCursor"].clone();
        bench.write(name, "// written");
        let stale = ToolError::CursorStale { changed: vec![Epoch::Fs] };
        assert_eq!(bench.page(cursor).await, Err(stale), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_written_is_opened_before_the_question_and_only_once() {
    let bench = Bench::with(&["b.ts", "c.ts"]).await;
    for name in ["b.ts", "c.ts"] {
        bench.write(name, "one");
    }
    fs::create_dir(bench.root.join("folder")).expect("a folder");
    bench.ask().await.expect("a page");
    assert_eq!(bench.opened(), ["b.ts", "c.ts"]);
    bench.ask().await.expect("a page");
    assert_eq!(bench.opened(), [""; 0]);
    bench.write("b.ts", "two");
    bench.ask().await.expect("a page");
    assert_eq!(bench.opened(), ["b.ts"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_ignored_or_has_come_and_gone_is_not_opened() {
    let bench = Bench::with(&[]).await;
    bench.ignore(&["**/*.log".to_owned()]);
    // What was written before the new watch began, it cannot tell.
    assert_eq!(bench.ask().await, Err(ToolError::CatchingUp));
    bench.ask().await.expect("a page");
    bench.opened();
    bench.write("x.log", "");
    fs::remove_file(bench.write("temporary.ts", "")).expect("removed");
    bench.ask().await.expect("a page");
    assert_eq!(bench.opened(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_ignored_file_counts_once_an_answer_names_it_or_it_was_asked_about() {
    let bench = Bench::with(&["c.ts"]).await;
    bench.ignore(&["[ab].ts".to_owned(), "c.ts".to_owned()]);
    bench.editor.set(|answers| {
        let references = answers.references.as_mut().expect("there are some");
        references.uris = vec![bench.uri("c.ts")];
    });
    // It was made so short a time ago that it is opened at first.
    while bench.ask().await == Err(ToolError::CatchingUp) {}
    bench.opened();
    for (name, counts) in [("c.ts", true), ("a.ts", true), ("b.ts", false)] {
        let cursor = bench.ask().await.expect("a page")["nextCursor"].clone();
        bench.write(name, "written");
        let stale = Err(ToolError::CursorStale { changed: vec![Epoch::Fs] });
        assert_eq!(bench.page(cursor).await == stale, counts, "{name}");
    }
    bench.ask().await.expect("a page");
    assert_eq!(bench.opened(), ["c.ts"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_written_while_the_editor_is_asked_is_asked_about_again() {
    let bench = Bench::with(&["b.ts", "c.ts", "d.ts"]).await;
    for name in ["b.ts", "c.ts", "d.ts"] {
        let path = bench.root.join(name);
        bench.editor.set(|answers| {
            answers.meanwhile.push_back(Box::new(move |_| fs::write(path, "more").expect("written")));
        });
    }
    let before = bench.editor.set(|answers| answers.asked);
    bench.ask().await.expect("a page");
    assert_eq!(bench.editor.set(|answers| answers.asked) - before, 4);
    assert_eq!(bench.opened(), ["b.ts", "c.ts", "d.ts"]);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_no_language_server_reads_is_opened_once_and_puts_off_no_answer() {
    let bench = Bench::with(&["notes"]).await;
    bench.editor.set(|answers| answers.language = Some("plaintext"));
    bench.write("notes", "one");
    bench.ask().await.expect("a page");
    assert_eq!(bench.opened(), ["notes"]);
    let path = bench.root.join("notes");
    let before = bench.editor.set(|answers| {
        for text in ["two", "three", "four"] {
            let path = path.clone();
            answers.meanwhile.push_back(Box::new(move |_| fs::write(path, text).expect("written")));
        }
        answers.asked
    });
    bench.ask().await.expect("a page");
    assert_eq!(bench.editor.set(|answers| answers.asked) - before, 2, "once more, since the workspace moved");
    assert_eq!(bench.opened(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_new_file_like_those_that_no_language_server_reads_is_not_waited_for() {
    let bench = Bench::with(&["a.txt"]).await;
    bench.editor.set(|answers| answers.language = Some("plaintext"));
    bench.write("a.txt", "more");
    bench.ask().await.expect("a page");
    bench.opened();
    bench.write("b.txt", "");
    let begun = Instant::now();
    bench.ask().await.expect("a page");
    assert_eq!((bench.opened(), begun.elapsed()), (vec!["b.txt".to_owned()], Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_new_file_like_one_that_a_language_server_reads_is_waited_for_whatever_else_is_called_like_it() {
    let bench = Bench::with(&["a.py"]).await;
    for language in [Some("plaintext"), Some("python")] {
        bench.editor.set(|answers| answers.language = language);
        bench.write(if language == Some("python") { "b.py" } else { "a.py" }, "more");
        while bench.ask().await == Err(ToolError::CatchingUp) {}
    }
    bench.opened();
    bench.write("c.py", "");
    assert_eq!(bench.ask().await, Err(ToolError::CatchingUp));
    assert_eq!(bench.opened(), [""; 0], "not before the editor tells of it");
}

#[tokio::test(start_paused = true)]
async fn of_what_is_deleted_the_editor_has_to_tell() {
    let bench = Bench::with(&["b.ts"]).await;
    let path = bench.root.join("b.ts");
    fs::remove_file(&path).expect("removed");

    let begun = Instant::now();
    let telling = async {
        sleep(Duration::from_millis(400)).await;
        bench.gateway.editor_saw(vec![(path.clone(), Kind::Changed)]).await;
        sleep(Duration::from_millis(100)).await;
        bench.gateway.editor_saw(vec![(path.clone(), Kind::Deleted)]).await;
    };
    let (took, ()) = tokio::join!(bench.time_to_answer(), telling);
    assert_eq!(took.as_millis(), 500, "the event of an earlier write says nothing");
    bench.ask().await.expect("a page");
    assert!(begun.elapsed() < Duration::from_millis(510), "it is known now");
}

#[tokio::test(start_paused = true)]
async fn whoever_tells_of_diagnostics_is_told_for_how_long_what_was_written_is_known() {
    let bench = Bench::with(&["b.ts", "c.ts"]).await;
    bench.publish([("a.ts", &[1][..])]);
    let known_for = async || {
        let input = json!({ "uri": bench.uri("a.ts") });
        bench.call(DOCUMENT_DIAGNOSTICS, input).await.expect("a page");
        bench.editor.set(|answers| answers.known_for)
    };
    sleep(Duration::from_secs(60)).await;
    bench.write("b.ts", "more");
    assert_eq!(known_for().await, Some(Duration::ZERO), "it was opened for this question");
    fs::remove_file(bench.root.join("c.ts")).expect("removed");
    assert_eq!(bench.ask().await, Err(ToolError::CatchingUp));
    sleep(Duration::from_secs(60)).await;
    assert_eq!(known_for().await, Some(Duration::from_secs(59)), "for 3 s, the editor was waited for");
}

#[tokio::test(start_paused = true)]
async fn what_the_editor_never_tells_of_is_catching_up_and_then_holds_nobody_up() {
    let bench = Bench::with(&["b.ts"]).await;
    let path = bench.root.join("b.ts");
    fs::remove_file(path).expect("removed");

    let begun = Instant::now();
    assert_eq!(bench.ask().await, Err(ToolError::CatchingUp));
    assert_eq!(begun.elapsed().as_secs(), 2);
    bench.ask().await.expect("a page");
    assert_eq!(begun.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_new_file_is_opened_once_the_editor_has_told_of_it() {
    let bench = Bench::with(&[]).await;
    let path = bench.write("b.ts", "");

    let telling = async {
        sleep(Duration::from_millis(200)).await;
        bench.gateway.editor_saw(vec![(path.clone(), Kind::Created)]).await;
        bench.write("b.ts", "written again");
    };
    let (took, ()) = tokio::join!(bench.time_to_answer(), telling);
    assert_eq!(took.as_millis(), 200);
    assert_eq!(bench.opened(), ["b.ts"]);
}

#[tokio::test(start_paused = true)]
async fn many_files_are_not_opened_but_waited_for() {
    // Of the more, it is not remembered which they are, and the editor may tell of further ones for some time.
    for (count, batches, known_after) in [(40, 1, 200), (1_100, 2, 700)] {
        let bench = Bench::with(&[]).await;
        let files: Vec<_> = (0..count).map(|number| bench.write(&format!("b{number}.ts"), "")).collect();

        let telling = async {
            for files in files.chunks(count / batches) {
                sleep(Duration::from_millis(200)).await;
                let created = files.iter().map(|path| (path.clone(), Kind::Created));
                bench.gateway.editor_saw(created.collect()).await;
            }
        };
        let (took, ()) = tokio::join!(bench.time_to_answer(), telling);
        assert_eq!(took.as_millis(), known_after, "{count} files");
        assert_eq!(bench.opened(), [""; 0], "{count} files");
    }
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_tells_of_a_folder_that_is_gone_tells_of_all_that_was_in_it() {
    let bench = Bench::with(&[]).await;
    let folder = bench.root.join("folder");
    fs::create_dir(&folder).expect("a folder");
    bench.write("folder/b.ts", "");
    while bench.ask().await == Err(ToolError::CatchingUp) {}
    fs::remove_dir_all(&folder).expect("removed");

    let telling = bench.gateway.editor_saw(vec![(folder, Kind::Deleted)]);
    let (took, ()) = tokio::join!(bench.time_to_answer(), telling);
    assert_eq!(took, Duration::ZERO);
}
