//! The gateway without an editor, over a real process that does what a script says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod sequences;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway_core::error::{ErrorCode, ToolError};
use gateway_core::limits::Limits;
use gateway_core::tools;
use gateway_lsp::headless::Headless;
use gateway_lsp::process::Supervisor;
use gateway_lsp::programs::Programs;
use gateway_lsp::setup::Surroundings;
use gateway_lsp::table::{Choice, Row, Rule};
use gateway_server::access::Access;
use gateway_server::catalog;
use gateway_server::gateway::{Gateway, Settings};
use gateway_server::lifecycle::Calls as _;
use gateway_server::session::Sessions;
use gateway_server::watch::Ignore;
use serde_json::{Value, json};
use tempfile::TempDir;

const SERVER: &str = env!("CARGO_BIN_EXE_scripted-server");
const HOST: &str = env!("CARGO_BIN_EXE_host");

/// Asks to be told of all files, as soon as it may.
const WATCHES: &str = r#"{"on":"initialized","do":[{"honest":true},{"ask":{"method":"client/registerCapability","params":{"registrations":[
    {"id":"files","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.txt"}]}}]}}}]}"#;

/// A folder of texts with a server of its own. Another one, without a script, reads what ends with `.md`.
struct Bench {
    _folder: TempDir,
    root: PathBuf,
    log: PathBuf,
    gateway: Arc<Gateway<Headless>>,
}

/// What differs from a trusted folder with a server that takes all in its order.
struct With {
    rule: Rule,
    safe: bool,
    trusted: bool,
    program: PathBuf,
    idle_end: Duration,
    python: bool,
    /// Further servers.
    more: Vec<Row>,
}

impl Default for With {
    fn default() -> Self {
        Self {
            rule: Rule::InOrder,
            safe: true,
            trusted: false,
            program: SERVER.into(),
            idle_end: Duration::from_secs(600),
            python: false,
            more: Vec::new(),
        }
    }
}

impl Bench {
    fn new(rules: &[&str]) -> Self {
        Self::with(With::default(), &json!({ "rules": parsed(rules) }))
    }

    fn with(with: With, script: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let root = base.join("project");
        fs::create_dir(&root).unwrap();
        for (name, text) in [("a.txt", "word wrong\nword\n"), ("b.txt", "a word\n")] {
            fs::write(root.join(name), text).unwrap();
        }
        let log = base.join("log");
        let row = Row {
            name: "scripted".to_owned(),
            title: "Scripted".to_owned(),
            languages: BTreeMap::from([("txt".to_owned(), "prose".to_owned())]),
            programs: vec![with.program],
            args: ["--log", log.to_str().unwrap(), "--script", &script.to_string()].map(str::to_owned).to_vec(),
            safe: with.safe,
            rule: with.rule,
            python: with.python,
            settings: json!({ "ours": { "is": "so" } }),
            install: "get it".to_owned(),
            ..Row::default()
        };
        let plain = Row {
            name: "plain".to_owned(),
            title: "Plain".to_owned(),
            languages: BTreeMap::from([("md".to_owned(), "markdown".to_owned())]),
            programs: vec![SERVER.into()],
            safe: true,
            rule: Rule::InOrder,
            ..Row::default()
        };
        let surroundings = Surroundings {
            programs: Programs::outside(std::slice::from_ref(&root), "".as_ref()),
            environment: BTreeMap::new(),
            is_trusted: with.trusted,
            cache: base.join("cache"),
            supervisor: Supervisor { program: HOST.into(), args: vec!["supervise".into()] },
            idle_end: with.idle_end,
        };
        let rows = [row, plain].into_iter().chain(with.more).collect();
        let headless = Headless::new(rows, vec![(root.clone(), Choice::default())], surroundings);
        let settings = Settings {
            roots: vec![root.clone()],
            access: Access::default(),
            catalog: tools::v1(),
            limits: Limits::default(),
            ignore: Ignore::new(&["**/*.log".to_owned()]),
        };
        let sessions = Sessions::new(&[0; 32], "headless", &[], Box::new(|_| {}));
        let gateway = Arc::new(Gateway::new(headless, settings, sessions, "1.2.3".to_owned(), 1_000));
        Self { _folder: folder, root, log, gateway }
    }

    async fn try_call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError> {
        let tool = tools::named(tool).unwrap();
        let answered = self.gateway.call(tool, catalog::read(tool, arguments)?, 100).await?;
        Ok(serde_json::from_slice(&answered.json()).unwrap())
    }

    /// Calls as a patient client does: again while the error says so.
    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let begun = Instant::now();
        loop {
            match self.try_call(tool, &arguments).await {
                Err(error) if error.details().is_some_and(|details| details["retryable"] == true) => {
                    assert!(begun.elapsed() < Duration::from_secs(30), "{error:?}");
                }
                answer => return answer,
            }
        }
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.root.join(name).to_str().unwrap())
    }

    fn place(&self) -> Value {
        json!({ "uri": self.uri("a.txt"), "position": { "line": 0, "character": 1 }, "includeDeclaration": true })
    }

    /// In which files, and on which lines, the word is found.
    async fn references(&self) -> Result<Vec<String>, ToolError> {
        let page = self.call("vscode.lsp.references", self.place()).await?;
        let items = page["items"].as_array().unwrap().iter();
        Ok(items.map(|item| format!("{}:{}", name_of(item), item["range"]["start"]["line"])).collect())
    }

    /// Writes a text for the other server, and counts where the word of its beginning is found.
    async fn references_in_markdown(&self, text: &str) -> usize {
        self.write("c.md", text);
        let mut place = self.place();
        place["uri"] = self.uri("c.md").into();
        let page = self.call("vscode.lsp.references", place).await.unwrap();
        page["items"].as_array().unwrap().iter().filter(|item| name_of(item) == "c.md").count()
    }

    /// Waits until the server is to say what it can.
    async fn initializes(&self) {
        while self.received("initialize").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn diagnostics(&self) -> Vec<(String, Value)> {
        let answer = self.call("vscode.lsp.diagnostics.document", json!({ "uri": self.uri("a.txt") })).await.unwrap();
        let found = answer["diagnostics"].as_array().unwrap().iter();
        found.map(|one| (one["range"]["start"].to_string(), one["severity"].clone())).collect()
    }

    /// What the server was sent, of this method.
    fn received(&self, method: &str) -> Vec<Value> {
        let log = self.lines().into_iter().map(|mut line| line["received"].take());
        log.filter(|message| message["method"] == method).map(|mut message| message["params"].take()).collect()
    }

    /// What the server was answered when it asked.
    fn answers(&self) -> Vec<Value> {
        let log = self.lines().into_iter().map(|mut line| line["received"].take());
        log.filter(|message| message["method"].is_null() && !message["id"].is_null()).collect()
    }

    fn starts(&self) -> usize {
        self.lines().iter().filter(|line| !line["started"].is_null()).count()
    }

    fn lines(&self) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }
}

fn parsed(rules: &[&str]) -> Vec<Value> {
    rules.iter().map(|rule| serde_json::from_str(rule).unwrap()).collect()
}

fn name_of(item: &Value) -> String {
    let uri = item["uri"].as_str().unwrap();
    Path::new(uri).file_name().unwrap().to_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_was_written_is_told_before_the_question_that_follows() {
    let bench = Bench::new(&[WATCHES]);
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "b.txt:0"]);
    bench.write("c.txt", "word");
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "b.txt:0", "c.txt:0"]);
    bench.write("b.txt", "no\nword");
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "b.txt:1", "c.txt:0"]);
    bench.write("a.txt", "word");
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "b.txt:1", "c.txt:0"]);
    fs::rename(bench.root.join("b.txt"), bench.root.join("d.txt")).unwrap();
    fs::remove_file(bench.root.join("c.txt")).unwrap();
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "d.txt:1"]);
    let kinds = bench.received("workspace/didChangeWatchedFiles").into_iter().flat_map(|told| {
        let changes = told["changes"].as_array().unwrap().iter();
        changes.map(|change| format!("{} {}", name_of(change), change["type"])).collect::<Vec<_>>()
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, ["c.txt 1", "b.txt 2", "a.txt 2", "b.txt 3", "c.txt 3", "d.txt 1"]);
}

#[tokio::test]
async fn a_checkout_of_thousands_of_files_is_known_to_the_next_question() {
    let bench = Bench::new(&[WATCHES]);
    assert_eq!(bench.references().await.unwrap().len(), 3);
    for number in 0..2_000 {
        bench.write(&format!("new{number:04}.txt"), "word");
    }
    assert_eq!(
        bench.call("vscode.lsp.references", bench.place()).await.unwrap()["summary"],
        "Returned 100 references (next page available)."
    );
    fs::remove_file(bench.root.join("new1999.txt")).unwrap();
    let (mut found, mut cursor) = (0, Value::Null);
    loop {
        let mut arguments = bench.place();
        arguments["pageSize"] = 200.into();
        arguments["cursor"] = cursor.take();
        if arguments["cursor"].is_null() {
            arguments.as_object_mut().unwrap().remove("cursor");
        }
        let page = bench.call("vscode.lsp.references", arguments).await.unwrap();
        found += page["items"].as_array().unwrap().len();
        if page["nextCursor"].is_null() {
            break;
        }
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(found, 2_002);
}

#[tokio::test]
async fn a_document_is_held_open_and_changed_only_if_its_text_is() {
    let bench = Bench::new(&[WATCHES]);
    for _ in 0..3 {
        bench.references().await.unwrap();
    }
    bench.write("a.txt", "word");
    bench.references().await.unwrap();
    let opened = bench.received("textDocument/didOpen");
    assert_eq!(opened.len(), 1);
    assert_eq!(
        (&opened[0]["textDocument"]["languageId"], &opened[0]["textDocument"]["version"]),
        (&json!("prose"), &json!(1))
    );
    let changed = bench.received("textDocument/didChange");
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0]["textDocument"]["version"], 2);
    assert_eq!(bench.received("textDocument/didClose").len(), 0);
}

#[tokio::test]
async fn a_byte_order_mark_is_no_part_of_a_text() {
    let bench = Bench::new(&[WATCHES]);
    bench.write("a.txt", "\u{feff}word wrong\nword\n");
    let target = json!({ "file": "a.txt", "text": "|word wrong", "declarations": true });
    let answer = bench.call("vscode.lsp.usages", target).await.unwrap();
    assert_eq!(answer["files"][0]["at"], json!(["0:0", "1:0"]));
    assert_eq!(bench.received("textDocument/didOpen")[0]["textDocument"]["text"], "word wrong\nword\n");
}

#[tokio::test]
async fn a_file_that_is_no_text_is_not_the_one_that_a_language_is_known_by() {
    let bench = Bench::new(&[]);
    fs::write(bench.root.join("0.txt"), [0xff]).unwrap();
    let search = || bench.call("vscode.lsp.workspaceSymbols", json!({ "query": "word" }));
    search().await.unwrap();
    // It was known by this one.
    fs::write(bench.root.join("a.txt"), [0xff]).unwrap();
    search().await.unwrap();
}

#[tokio::test]
async fn whatever_a_server_asks_is_answered_and_nothing_is_written_for_it() {
    let edit = json!({ "changes": {} });
    let asks = [
        ("workspace/configuration", json!({ "items": [{ "section": "ours" }, { "section": "a.b" }, {}] })),
        ("workspace/applyEdit", json!({ "edit": edit })),
        ("window/showDocument", json!({ "uri": "https://example.org" })),
        ("window/showMessageRequest", json!({ "type": 1, "message": "?" })),
        ("window/workDoneProgress/create", json!({ "token": 1 })),
        ("workspace/workspaceFolders", Value::Null),
        ("workspace/semanticTokens/refresh", Value::Null),
        ("client/unregisterCapability", json!({ "unregisterations": [{ "id": "files", "method": "x" }] })),
        ("their/own", json!({})),
    ];
    // Each is answered before the question is, so that a client that does not answer never gets its answer.
    let rule = asks.iter().rev().fold(
        json!([{ "honest": true }]),
        |then, (method, params)| json!([{ "ask": { "method": method, "params": params, "then": then } }]),
    );
    let bench = Bench::new(&[&json!({ "on": "textDocument/references", "do": rule }).to_string()]);
    assert_eq!(bench.references().await.unwrap().len(), 3);
    let answers = bench.answers();
    let results: Vec<_> = answers.iter().map(|answer| answer["result"].clone()).collect();
    assert_eq!(results[0][0], json!({ "is": "so" }));
    assert_eq!((results[0].as_array().unwrap().len(), &results[0][1]), (3, &Value::Null));
    assert_eq!(results[1]["applied"], false);
    assert_eq!(results[2], json!({ "success": false }));
    assert_eq!(results[3..5], [Value::Null, Value::Null]);
    assert_eq!(results[5][0]["uri"], format!("file://{}", bench.root.to_str().unwrap()));
    assert_eq!(answers[8]["error"]["code"], -32601);
    assert_eq!(answers.len(), asks.len());
}

#[tokio::test]
async fn a_server_that_wants_to_be_asked_again_is_asked_again() {
    for code in [-32800, -32801, -32802] {
        let error = json!({ "error": { "code": code, "message": "later" } });
        let rule = json!({ "on": "textDocument/references", "nth": [1, 3], "do": [error] });
        let bench = Bench::new(&[&rule.to_string()]);
        assert_eq!(bench.references().await.unwrap().len(), 3, "{code}");
        assert_eq!(bench.received("textDocument/references").len(), 4, "{code}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_an_error_and_one_odd_item_costs_itself() {
    let bench = Bench::new(&[r#"{"on":"textDocument/references","do":[{"answer":"all of them"}]}"#]);
    assert_eq!(bench.references().await.unwrap_err().code(), ErrorCode::Internal);
    let odd = r#"{"on":"textDocument/references","do":[{"honest_and":[{"uri":7,"range":{}}]}]}"#;
    let bench = Bench::new(&[odd]);
    let page = bench.call("vscode.lsp.references", bench.place()).await.unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 3);
    assert_ne!(page["summary"], "Returned 3 references.", "what is left out is told");
}

#[tokio::test]
async fn what_a_server_does_not_offer_is_not_asked() {
    let script = json!({ "capabilities": { "referencesProvider": null } });
    let bench = Bench::with(With::default(), &script);
    assert_eq!(bench.references().await.unwrap_err().code(), ErrorCode::ProviderUnavailable);
    assert_eq!(bench.received("textDocument/references").len(), 0);
}

#[tokio::test]
async fn a_server_that_counts_in_another_encoding_is_not_asked() {
    let bench = Bench::with(With::default(), &json!({ "encoding": "utf-8" }));
    assert_eq!(bench.references().await.unwrap_err().code(), ErrorCode::Internal);
    assert_eq!(bench.received("textDocument/references").len(), 0);
}

#[tokio::test]
async fn a_server_that_ends_is_started_again_after_a_pause_and_not_for_ever() {
    let bench = Bench::new(&[r#"{"on":"textDocument/references","do":[{"exit":3}]}"#]);
    let begun = Instant::now();
    assert_eq!(bench.references().await.unwrap_err().code(), ErrorCode::Internal, "the call under way fails");
    let starts = bench.starts();
    assert_eq!(bench.references().await.unwrap_err().code(), ErrorCode::Internal);
    assert!(bench.starts() > starts);
    assert!(begun.elapsed() >= Duration::from_secs(1), "there was a pause");
}

#[tokio::test]
async fn a_server_that_never_starts_is_not_started_for_ever() {
    let bench = Bench::new(&[r#"{"on":"start","do":[{"exit":3}]}"#]);
    // The pauses would take half a minute: time goes on as fast as the process ends.
    for ends in 1..=5 {
        let error = bench.references().await.unwrap_err();
        assert_eq!(error.details().unwrap()["reason"], "not_started", "{ends}");
        if ends == 2 {
            break;
        }
    }
    assert_eq!(bench.starts(), 2);
}

#[tokio::test]
async fn a_server_that_runs_what_lies_in_a_project_waits_for_trust() {
    let with = || With { safe: false, ..With::default() };
    let bench = Bench::with(with(), &json!({}));
    let error = bench.references().await.unwrap_err();
    assert_eq!(
        (error.code(), &error.details().unwrap()["reason"]),
        (ErrorCode::ProviderUnavailable, &json!("untrusted"))
    );
    assert_eq!(bench.starts(), 0);
    let bench = Bench::with(With { trusted: true, ..with() }, &json!({}));
    assert_eq!(bench.references().await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_program_that_is_missing_is_named_with_what_installs_it() {
    let bench = Bench::with(With { program: "no-such-server".into(), ..With::default() }, &json!({}));
    let error = bench.references().await.unwrap_err();
    assert_eq!(error.details().unwrap()["reason"], "not_installed");
    let ToolError::ProviderUnavailable(Some(explanation)) = error else { panic!("{error:?}") };
    assert!(explanation.message.contains("get it"), "{}", explanation.message);
}

#[tokio::test]
async fn diagnostics_are_pulled_where_that_is_offered_and_published_ones_belong_to_the_version() {
    let wrong = (json!({ "line": 0, "character": 5 }).to_string(), json!(1));
    for diagnostics in [json!({ "pull": "static" }), json!({ "pull": "dynamic" })] {
        let bench = Bench::with(With::default(), &json!({ "diagnostics": diagnostics }));
        assert_eq!(bench.diagnostics().await, std::slice::from_ref(&wrong), "a severity that is missing is an error");
        bench.write("a.txt", "right");
        assert_eq!(bench.diagnostics().await, []);
    }
    // What was published for the text before is not taken for the text of now.
    let late = r#"{"on":"textDocument/didChange","do":[{"later":{"ms":300,"do":[{"honest":true}]}}]}"#;
    let script = json!({ "diagnostics": { "push": true, "version": true }, "rules": parsed(&[late]) });
    let bench = Bench::with(With::default(), &script);
    assert_eq!(bench.diagnostics().await, [wrong]);
    bench.write("a.txt", "right");
    assert_eq!(bench.diagnostics().await, []);
}

#[tokio::test]
async fn flat_symbols_become_a_tree_and_links_lead_to_the_name() {
    let rule = r#"{"on":"textDocument/documentSymbol","do":[{"answer":[
        {"name":"inner","kind":12,"location":{"uri":"${uri}","range":{"start":{"line":0,"character":1},"end":{"line":0,"character":4}}}},
        {"name":"outer","kind":5,"location":{"uri":"${uri}","range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}}}}]}]}"#;
    let link = r#"{"on":"textDocument/definition","do":[{"answer":[{"targetUri":"${uri}",
        "targetRange":{"start":{"line":0,"character":0},"end":{"line":1,"character":4}},
        "targetSelectionRange":{"start":{"line":0,"character":5},"end":{"line":0,"character":10}}}]}]}"#;
    let bench = Bench::new(&[rule, link]);
    let outline = bench.call("vscode.lsp.documentSymbols", json!({ "uri": bench.uri("a.txt") })).await.unwrap();
    let symbols: Vec<_> = outline["symbols"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].clone(), one["containerName"].clone()))
        .collect();
    assert_eq!(symbols, [(json!("outer"), Value::Null), (json!("inner"), json!("outer"))]);
    let mut place = bench.place();
    place.as_object_mut().unwrap().remove("includeDeclaration");
    let definition = bench.call("vscode.lsp.definition", place).await.unwrap();
    assert_eq!(definition["locations"][0]["range"]["start"], json!({ "line": 0, "character": 5 }));
}

#[tokio::test]
async fn rust_analyzer_is_believed_while_it_is_quiescent_and_asked_again_when_it_was_not() {
    let status = |quiescent: bool| json!({ "notify": { "method": "experimental/serverStatus", "params": { "health": "ok", "quiescent": quiescent } } });
    // It has a part at first, shows that it is quiescent, works again during the first question, and then has all.
    let rules = [
        json!({ "on": "initialized", "do": [{ "knows": 1 }, { "later": { "ms": 200, "do": [status(true)] } }] }),
        json!({ "on": "textDocument/references", "nth": 1, "do": [
            status(false), { "honest": true }, { "knows": null }, { "later": { "ms": 200, "do": [status(true)] } }] }),
    ];
    let with = With { rule: Rule::RustAnalyzer, ..With::default() };
    let bench = Bench::with(with, &json!({ "rules": rules }));
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "b.txt:0"]);
    assert_eq!(bench.received("textDocument/references").len(), 2);
}

#[tokio::test]
async fn a_server_that_says_that_it_cannot_load_the_project_is_not_believed() {
    let status = json!({ "health": "error", "quiescent": true, "message": "no /secret/place" });
    let status = json!({ "notify": { "method": "experimental/serverStatus", "params": status } });
    let script = json!({ "rules": [{ "on": "initialized", "do": [status] }] });
    let bench = Bench::with(With { rule: Rule::RustAnalyzer, ..With::default() }, &script);
    let error = bench.references().await.unwrap_err();
    assert_eq!(error.details().unwrap()["reason"], "cannot_load");
    let ToolError::ProviderFailed(Some(explanation)) = error else { panic!("{error:?}") };
    assert!(!explanation.message.contains("secret"), "{}", explanation.message);
}

#[tokio::test]
async fn pyright_is_asked_once_it_has_found_its_source_files_and_waited_for_when_one_has_come() {
    let found = json!({ "notify": { "method": "window/logMessage", "params": { "type": 3, "message": "Found 2 source files" } } });
    let rules = [
        json!({ "on": "initialized", "do": [{ "knows": 1 }, { "ask": { "method": "client/registerCapability", "params": { "registrations": [
            { "id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": [{ "globPattern": "**" }] } }] } } },
            { "later": { "ms": 200, "do": [{ "knows": null }, found] } }] }),
        json!({ "on": "workspace/didChangeWatchedFiles", "do": [{ "later": { "ms": 300, "do": [{ "honest": true }, found] } }] }),
    ];
    let bench = Bench::with(With { rule: Rule::Pyright, ..With::default() }, &json!({ "rules": rules }));
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "b.txt:0"]);
    assert_eq!(bench.received("workspace/symbol").len(), 1, "it has begun to read them");
    fs::remove_file(bench.root.join("b.txt")).unwrap();
    // Were it not waited for, a reference in the file would be left out as one that leads nowhere, and that would be told.
    let page = bench.call("vscode.lsp.references", bench.place()).await.unwrap();
    assert_eq!(page["summary"], "Returned 2 references.");
}

#[tokio::test]
async fn a_server_that_does_not_show_that_it_knows_what_was_written_is_started_again() {
    let found = json!({ "notify": { "method": "window/logMessage", "params": { "type": 3, "message": "Found 2 source files" } } });
    let rules = [json!({ "on": "initialized", "do": [{ "honest": true }, found] })];
    let bench = Bench::with(With { rule: Rule::Pyright, ..With::default() }, &json!({ "rules": rules }));
    assert_eq!(bench.references().await.unwrap().len(), 3);
    fs::remove_file(bench.root.join("b.txt")).unwrap();
    assert_eq!(bench.call("vscode.lsp.references", bench.place()).await.unwrap()["summary"], "Returned 2 references.");
    assert_eq!(bench.starts(), 2);
}

#[tokio::test]
async fn servers_that_take_no_notice_are_given_what_was_written_and_started_again_where_a_file_is_gone() {
    for rule in [Rule::Clangd, Rule::TsServer] {
        let script = json!({ "diagnostics": { "push": true, "version": true } });
        let bench = Bench::with(With { rule, ..With::default() }, &script);
        assert_eq!(bench.references().await.unwrap().len(), 3);
        bench.write("c.txt", "word");
        assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "b.txt:0", "c.txt:0"]);
        fs::remove_file(bench.root.join("b.txt")).unwrap();
        assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1", "c.txt:0"]);
        // To tsserver a file that is new is of no project yet.
        assert_eq!(bench.starts(), if rule == Rule::TsServer { 3 } else { 2 });
    }
}

#[tokio::test]
async fn what_was_published_before_another_file_was_written_does_not_count() {
    let script = json!({ "diagnostics": { "push": true, "version": true } });
    let bench = Bench::with(With::default(), &script);
    assert_eq!(bench.diagnostics().await.len(), 1);
    bench.write("b.txt", "other\n");
    assert_eq!(bench.diagnostics().await.len(), 1);
    let changed = bench.received("textDocument/didChange");
    let versions: Vec<_> = changed.iter().map(|params| &params["textDocument"]).collect();
    assert_eq!(versions, [&json!({ "uri": bench.uri("a.txt"), "version": 2 })], "it is to report again");
}

#[tokio::test]
async fn diagnostics_of_tsserver_are_asked_for_in_its_own_way() {
    let body = |text: &str| {
        json!({ "answer": { "body": [{
        "start": { "line": 1, "offset": 6 }, "end": { "line": 1, "offset": 11 }, "text": text, "code": 1, "category": "error",
    }] } })
    };
    let rules = json!([
        { "on": "workspace/executeCommand", "nth": 1, "do": [body("syntax")] },
        { "on": "workspace/executeCommand", "nth": 2, "do": [body("meaning")] },
        { "on": "workspace/executeCommand", "nth": 3, "do": [{ "answer": { "body": [] } }] },
    ]);
    let bench = Bench::with(With { rule: Rule::TsServer, ..With::default() }, &json!({ "rules": rules }));
    assert_eq!(bench.diagnostics().await.len(), 2);
    let asked = bench.received("workspace/executeCommand");
    assert_eq!(asked[1]["arguments"][1]["file"], json!(bench.root.join("a.txt")));
}

#[tokio::test]
async fn a_server_is_not_asked_what_it_lacks() {
    let lacking = |lacks: &str| Row {
        lacks: vec![lacks.to_owned()],
        ..another("Lacking", SERVER, &json!({ "diagnostics": { "pull": "static" } }))
    };
    let with = |lacks| With { program: "/nowhere/server".into(), more: vec![lacking(lacks)], ..With::default() };
    let bench = Bench::with(with("workspace/symbol"), &json!({}));
    let query = json!({ "query": "word" });
    let error = bench.call("vscode.lsp.workspaceSymbols", query.clone()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProviderUnavailable);
    // What another language has is not all.
    bench.write("c.md", "let word\n");
    let page = bench.call("vscode.lsp.workspaceSymbols", query).await.unwrap();
    assert!(page["summary"].as_str().unwrap().ends_with("so there may be more."), "{page}");
    let bench = Bench::with(with("textDocument/diagnostic"), &json!({}));
    let error = bench.call("vscode.lsp.diagnostics.document", json!({ "uri": bench.uri("a.txt") })).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProviderUnavailable);
}

/// What a file includes is read again in the background.
#[tokio::test]
async fn clangd_is_asked_once_it_has_read_again_what_a_document_includes() {
    let script = json!({
        "diagnostics": { "push": true, "version": true },
        "rules": [{
            "on": "textDocument/didChange",
            "uri": "a.txt",
            "do": [{ "knows": 1 }, { "later": { "ms": 300, "do": [{ "knows": null }, { "honest": true }] } }],
        }],
    });
    let bench = Bench::with(With { rule: Rule::Clangd, ..With::default() }, &script);
    assert_eq!(bench.references().await.unwrap().len(), 3);
    bench.write("b.txt", "word\nword\n");
    assert_eq!(bench.references().await.unwrap().len(), 4);
    assert_eq!(bench.received("textDocument/didChange").last().unwrap()["forceRebuild"], true);
}

/// A server believes the text that it was given more than the file.
#[tokio::test]
async fn what_is_open_is_changed_however_much_else_was_written() {
    let bench = Bench::new(&[WATCHES]);
    bench.call("vscode.lsp.documentSymbols", json!({ "uri": bench.uri("b.txt") })).await.unwrap();
    assert_eq!(bench.references().await.unwrap().len(), 3);
    for number in 0..32 {
        bench.write(&format!("a{number:02}.txt"), "other");
    }
    bench.write("b.txt", "none\n");
    assert_eq!(bench.references().await.unwrap(), ["a.txt:0", "a.txt:1"]);
}

#[tokio::test]
async fn clangd_is_given_commands_in_a_folder_of_ours_and_believed_only_with_them() {
    let script = json!({ "diagnostics": { "push": true, "version": true } });
    let bench = Bench::with(With { rule: Rule::Clangd, ..With::default() }, &script);
    let summary = async || bench.call("vscode.lsp.references", bench.place()).await.unwrap()["summary"].clone();
    bench.write("compile_flags.txt", "-Iinclude\n\n  -DX=1 \n");
    let remark = "; no language server has shown that it is ready, so there may be more.";
    assert_eq!(summary().await, format!("Returned 3 references{remark}"));
    let flags = bench.received("initialize")[0]["initializationOptions"]["fallbackFlags"].take();
    assert_eq!(flags, json!(["-Iinclude", "-DX=1", format!("-working-directory={}", bench.root.display())]));

    let commands = json!([{ "directory": bench.root, "file": "a.txt", "command": "cc a.txt" }]).to_string();
    fs::create_dir_all(bench.root.join("lib/build")).unwrap();
    bench.write("lib/build/compile_commands.json", &commands);
    assert_eq!(summary().await, "Returned 3 references.");
    let folders = fs::read_dir(bench.root.with_file_name("cache").join("scripted")).unwrap();
    let copies: Vec<_> = folders.map(|folder| folder.unwrap().path().join("compile_commands.json")).collect();
    assert_eq!(fs::read_to_string(&copies[0]).unwrap(), commands);

    fs::remove_file(bench.root.join("lib/build/compile_commands.json")).unwrap();
    assert_eq!(summary().await, format!("Returned 3 references{remark}"));
    assert_eq!(fs::read_to_string(&copies[0]).unwrap(), "[]");
}

#[tokio::test]
async fn a_server_that_does_not_start_holds_up_no_other() {
    let bench = Bench::new(&[r#"{"on":"initialize","do":[]}"#]);
    let other = async {
        bench.initializes().await;
        for text in ["word\n", "word\nword\n"] {
            assert_eq!(bench.references_in_markdown(text).await, text.lines().count());
        }
    };
    tokio::select! {
        answer = bench.references() => panic!("{answer:?}"),
        () = other => {}
    }
}

#[tokio::test]
async fn what_was_written_while_a_server_starts_is_told_before_it_is_asked() {
    let script = json!({
        "diagnostics": { "push": true, "version": true },
        "rules": [{ "on": "initialize", "do": [{ "later": { "ms": 1_000, "do": [{ "honest": true }] } }] }],
    });
    let bench = Bench::with(With { rule: Rule::Clangd, ..With::default() }, &script);
    let other = async {
        bench.initializes().await;
        bench.write("c.txt", "word\n");
        assert_eq!(bench.references_in_markdown("other\n").await, 1, "by then the watch has seen it");
    };
    let (found, ()) = tokio::join!(bench.references(), other);
    assert_eq!(found.unwrap().len(), 4);
    let opened = bench.received("textDocument/didOpen");
    assert!(opened.iter().any(|params| params["textDocument"]["uri"] == bench.uri("c.txt")), "{opened:?}");
}

#[tokio::test]
async fn a_question_about_the_workspace_says_what_is_missing_where_nothing_is_served() {
    let bench = Bench::with(With { program: "/nowhere/server".into(), ..With::default() }, &json!({}));
    for (tool, arguments) in
        [("vscode.lsp.workspaceSymbols", json!({ "query": "word" })), ("vscode.lsp.diagnostics.workspace", json!({}))]
    {
        let error = bench.call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(error.details().unwrap()["reason"], "not_installed");
        bench.write("c.md", "word\n");
        assert!(bench.call(tool, arguments).await.is_ok(), "another language is served");
        fs::remove_file(bench.root.join("c.md")).unwrap();
    }
}

#[tokio::test]
async fn symbols_of_the_workspace_come_from_each_language_that_it_has() {
    let bench = Bench::new(&[]);
    let page = bench.call("vscode.lsp.workspaceSymbols", json!({ "query": "word" })).await.unwrap();
    assert!(page["summary"].as_str().unwrap().starts_with("Returned"), "{page}");
    assert!(!page["summary"].as_str().unwrap().contains("ready"), "{page}");
}

#[tokio::test]
async fn symbols_of_the_workspace_are_those_of_what_was_written_last() {
    let bench = Bench::new(&[WATCHES]);
    for text in ["let word\n", "let word\nlet words\n", "let word\n"] {
        bench.write("a.txt", text);
        let page = bench.call("vscode.lsp.workspaceSymbols", json!({ "query": "word" })).await.unwrap();
        assert_eq!(page["items"].as_array().unwrap().len(), text.matches("let").count(), "{text}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_needed_any_more_is_ended_as_lsp_has_it() {
    let bench = Bench::new(&[]);
    bench.references().await.unwrap();
    bench.gateway.editor().end().await;
    let log = fs::read_to_string(&bench.log).unwrap();
    assert!(log.contains(r#""method":"shutdown"}"#), "without params, which TypeScript 7 does not bear: {log}");
    assert_eq!(bench.received("exit").len(), 1);
}

/// A further server of the same language.
fn another(name: &str, program: &str, script: &Value) -> Row {
    Row {
        name: name.to_owned(),
        title: name.to_owned(),
        languages: BTreeMap::from([("txt".to_owned(), "prose".to_owned())]),
        programs: vec![program.into()],
        args: ["--script", &script.to_string()].map(str::to_owned).to_vec(),
        safe: true,
        rule: Rule::InOrder,
        ..Row::default()
    }
}

#[tokio::test]
async fn of_two_servers_of_a_language_the_first_that_is_there_answers() {
    let second =
        another("Second", SERVER, &json!({ "rules": [{ "on": "textDocument/references", "do": [{ "answer": [] }] }] }));
    let more = || vec![second.clone()];
    let bench = Bench::with(With { more: more(), ..With::default() }, &json!({}));
    assert_eq!(bench.references().await.unwrap().len(), 3);
    let missing = With { program: "/nowhere/server".into(), more: more(), ..With::default() };
    assert_eq!(Bench::with(missing, &json!({})).references().await.unwrap().len(), 0);
}

#[tokio::test]
async fn what_a_server_beside_another_says_is_added() {
    let hover = |text: &str| json!([{ "on": "textDocument/hover", "do": [{ "answer": { "contents": text } }] }]);
    let beside = |program: &str| {
        let offers = json!({ "referencesProvider": null, "definitionProvider": null });
        let script = json!({
            "capabilities": offers, "rules": hover("beside"), "diagnostics": { "pull": "static", "severity": 2 },
        });
        vec![Row { beside: true, ..another("Beside", program, &script) }]
    };
    let script = json!({ "rules": hover("main"), "diagnostics": { "pull": "static" } });
    let bench = Bench::with(With { more: beside(SERVER), ..With::default() }, &script);
    let mut place = bench.place();
    place.as_object_mut().unwrap().remove("includeDeclaration");
    let hovers = bench.call("vscode.lsp.hover", place).await.unwrap();
    assert_eq!(hovers["contents"].as_array().unwrap().len(), 2, "{hovers}");
    assert_eq!(bench.references().await.unwrap().len(), 3, "it does not answer this");
    let severities: Vec<_> = bench.diagnostics().await.into_iter().map(|(_, severity)| severity).collect();
    assert_eq!(severities, [json!(1), json!(2)]);

    // One that does not start is missed only where it has a part.
    let script = json!({ "diagnostics": { "pull": "static" } });
    let failing = Row { args: Vec::new(), ..beside("/bin/false").remove(0) };
    let bench = Bench::with(With { more: vec![failing], ..With::default() }, &script);
    assert_eq!(bench.references().await.unwrap().len(), 3);
    let error = bench.call("vscode.lsp.diagnostics.document", json!({ "uri": bench.uri("a.txt") })).await.unwrap_err();
    assert_eq!(error.details().unwrap()["reason"], "not_started");
}

#[tokio::test]
async fn uses_come_from_the_servers_of_all_environments_of_a_checkout() {
    let bench = Bench::with(With { python: true, trusted: true, ..With::default() }, &json!({}));
    fs::create_dir_all(bench.root.join("one/.venv")).unwrap();
    bench.write("one/.venv/pyvenv.cfg", "");
    bench.write("one/c.txt", "word\n");
    let mut place = bench.place();
    place["uri"] = bench.uri("one/c.txt").into();
    let page = bench.call("vscode.lsp.references", place.clone()).await.unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 4, "{page}");
    let roots: Vec<_> = bench.received("initialize").iter().map(|params| params["rootUri"].clone()).collect();
    assert_eq!(roots, [json!(bench.uri("one")), json!(format!("file://{}", bench.root.display()))]);

    // So it is where a part of the checkout is a module of its own.
    let module = Row { markers: vec!["go.mod".to_owned()], ..another("Modules", SERVER, &json!({})) };
    let modules =
        Bench::with(With { program: "/nowhere/server".into(), more: vec![module], ..With::default() }, &json!({}));
    fs::create_dir(modules.root.join("one")).unwrap();
    modules.write("one/go.mod", "");
    modules.write("one/c.txt", "word\n");
    let mut in_module = modules.place();
    in_module["uri"] = modules.uri("one/c.txt").into();
    let page = modules.call("vscode.lsp.references", in_module).await.unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 4, "{page}");

    // Another checkout has other files of the same names.
    fs::create_dir(bench.root.join("tree")).unwrap();
    bench.write("tree/.git", "gitdir: /somewhere/.git/worktrees/tree\n");
    bench.write("tree/d.txt", "word\n");
    place["uri"] = bench.uri("tree/d.txt").into();
    let page = bench.call("vscode.lsp.references", place).await.unwrap();
    assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
}

#[tokio::test]
async fn a_server_that_nobody_asks_ends_and_is_started_when_it_is_asked() {
    let bench = Bench::with(With { idle_end: Duration::from_millis(300), ..With::default() }, &json!({}));
    for times in 1..=2 {
        assert_eq!(bench.references().await.unwrap().len(), 3);
        while bench.received("exit").len() < times {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    assert_eq!(bench.starts(), 2);
}

#[tokio::test]
async fn a_server_of_which_nothing_is_known_is_never_taken_for_whole() {
    let unknown = Row { has_index: false, rule: Rule::Unknown, ..another("Unknown", SERVER, &json!({})) };
    let missing = With { program: "/nowhere/server".into(), more: vec![unknown], ..With::default() };
    let bench = Bench::with(missing, &json!({}));
    let page = bench.call("vscode.lsp.references", bench.place()).await.unwrap();
    assert!(page["summary"].as_str().unwrap().ends_with("so there may be more."), "{page}");
}
