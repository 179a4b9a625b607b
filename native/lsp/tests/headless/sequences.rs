//! Sequences of writes and questions, with a server behind them that is odd in several ways: each answer is the right one,
//! or an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gateway_core::error::{ErrorCode, ToolError};
use gateway_lsp::table::Rule;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{Bench, WATCHES, With, name_of, parsed};

/// The file that is asked about, which always begins with the word.
const ASKED: usize = 0;
const FILES: usize = 4;
/// More than a server is given one by one.
const MANY: usize = 40;
/// Each starts a server, so it is tried on fewer cases than other properties.
const FEWER: u32 = 8;

#[derive(Debug, Clone)]
enum Step {
    /// A file with the word on so many lines more, and a symbol.
    Write(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    /// Other files, with the word once in each.
    CheckOut,
    References,
    Symbols,
}

/// What is there, by an account of its own.
#[derive(Debug)]
struct Model {
    files: BTreeMap<String, File>,
    /// Whether the other files have the word.
    others: bool,
}

#[derive(Debug, Clone, Copy)]
struct File {
    /// On how many lines, from the first on, it has the word.
    lines: usize,
    has_symbol: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let file = 0..FILES;
    let step = prop_oneof![
        3 => (file.clone(), 0..3_usize).prop_map(|(file, lines)| Step::Write(file, lines)),
        1 => (1..FILES).prop_map(Step::Remove),
        1 => (1..FILES, 1..FILES).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => Just(Step::CheckOut),
        4 => Just(Step::References),
        2 => Just(Step::Symbols),
    ];
    prop::collection::vec(step, 1..12)
}

/// What the server does in place of an honest answer, at which of its questions. The first few cost no answer.
fn oddities() -> impl Strategy<Value = Vec<(&'static str, u64, Value)>> {
    let honest = json!({ "honest": true });
    let method = prop_oneof![Just("textDocument/references"), Just("workspace/symbol")];
    let odd = prop_oneof![
        Just(json!([{ "error": { "code": -32801, "message": "the content was modified" } }])),
        Just(json!([{ "error": { "code": -32800, "message": "cancelled" } }])),
        Just(json!([{ "bytes": "a line that is no header\r\n" }, honest])),
        Just(json!([{ "send": { "jsonrpc": "2.0", "id": "nobody", "result": [] } }, honest])),
        Just(json!([honest, { "answer": [] }])),
        Just(json!([{ "later": { "ms": 20, "do": [honest] } }])),
        Just(json!([{ "ask": { "method": "workspace/applyEdit", "params": { "edit": {} }, "then": [honest] } }])),
        Just(json!([{ "ask": { "method": "no/such", "then": [honest] } }])),
        Just(json!([{ "stderr": { "text": "a line\n", "times": 10_000 } }, honest])),
        Just(json!([{ "style": { "header": "content-length: ", "cut": 7 } }, honest])),
        Just(json!([{ "error": { "code": -32603, "message": "it has failed" } }])),
        Just(json!([{ "answer": 17 }])),
        Just(json!([{ "exit": 3 }])),
    ];
    prop::collection::vec((method, 1..6_u64, odd), 0..4)
}

fn name(file: usize) -> String {
    format!("{}.txt", ["a", "b", "c", "d"][file])
}

impl Model {
    fn new() -> Self {
        // As the bench has them.
        let file = |lines| File { lines, has_symbol: false };
        Self { files: BTreeMap::from([(name(0), file(2)), (name(1), file(1))]), others: false }
    }

    fn write(&mut self, bench: &Bench, step: &Step) {
        match *step {
            Step::Write(file, lines) => {
                let lines = if file == ASKED { lines + 1 } else { lines };
                bench.write(&name(file), &("word\n".repeat(lines) + "let symbol\n"));
                self.files.insert(name(file), File { lines, has_symbol: true });
            }
            Step::Remove(file) => {
                if self.files.remove(&name(file)).is_some() {
                    fs::remove_file(bench.root.join(name(file))).unwrap();
                }
            }
            Step::Rename(from, to) => {
                if let Some(file) = self.files.remove(&name(from)) {
                    fs::rename(bench.root.join(name(from)), bench.root.join(name(to))).unwrap();
                    self.files.insert(name(to), file);
                }
            }
            Step::CheckOut => {
                self.others = !self.others;
                for number in 0..MANY {
                    bench.write(&format!("other{number:02}.txt"), if self.others { "word\n" } else { "none\n" });
                }
            }
            Step::References | Step::Symbols => {}
        }
    }

    fn references(&self) -> BTreeSet<String> {
        let of_files =
            self.files.iter().flat_map(|(name, file)| (0..file.lines).map(move |line| format!("{name}:{line}")));
        let others = if self.others { 0..MANY } else { 0..0 };
        of_files.chain(others.map(|number| format!("other{number:02}.txt:0"))).collect()
    }

    fn symbols(&self) -> BTreeSet<String> {
        self.files.iter().filter(|(_, file)| file.has_symbol).map(|(name, _)| name.clone()).collect()
    }
}

async fn check(steps: &[Step], rule: Rule, oddities: &[(&'static str, u64, Value)]) {
    let mut rules = parsed(&[WATCHES]);
    if rule == Rule::Pyright {
        let found =
            json!({ "method": "window/logMessage", "params": { "type": 3, "message": "Found 2 source files" } });
        rules[0]["do"].as_array_mut().unwrap().push(json!({ "notify": found }));
        let again = json!([{ "honest": true }, { "notify": found }]);
        rules.push(json!({ "on": "workspace/didChangeWatchedFiles", "do": again }));
    }
    let odd = oddities.iter().map(|(method, nth, actions)| json!({ "on": method, "nth": nth, "do": actions }));
    rules.extend(odd);
    let script = json!({ "rules": rules, "diagnostics": { "push": true, "version": true } });
    let bench = Bench::with(With { rule, ..With::default() }, &script);
    let mut model = Model::new();
    for step in steps.iter().chain(&[Step::References, Step::Symbols]) {
        model.write(&bench, step);
        let (found, expected) = match step {
            Step::References => (all(&bench, "vscode.lsp.references", bench.place()).await, model.references()),
            Step::Symbols => {
                let query = json!({ "query": "symbol" });
                (all(&bench, "vscode.lsp.workspaceSymbols", query).await, model.symbols())
            }
            _ => continue,
        };
        match found {
            Ok(found) => assert_eq!(found, expected, "{step:?}"),
            Err(error) => {
                let said = [ErrorCode::Internal, ErrorCode::ProviderUnavailable, ErrorCode::CursorExpired];
                assert!(said.contains(&error.code()), "{error:?}");
                assert!(!oddities.is_empty(), "an honest server answers: {error:?}");
            }
        }
    }
}

/// The items of all pages: where each is, and for references on which line.
async fn all(bench: &Bench, tool: &str, mut arguments: Value) -> Result<BTreeSet<String>, ToolError> {
    let mut found = BTreeSet::new();
    arguments["pageSize"] = 200.into();
    let page = bench.call(tool, arguments).await?;
    assert_eq!(page["nextCursor"], Value::Null);
    for item in page["items"].as_array().unwrap() {
        found.insert(if item["location"].is_null() {
            format!("{}:{}", name_of(item), item["range"]["start"]["line"])
        } else {
            name_of(&item["location"])
        });
    }
    Ok(found)
}

#[test]
fn whatever_a_server_does_an_answer_is_right_or_an_error() {
    let runtime = Runtime::new().unwrap();
    let rules = prop_oneof![Just(Rule::InOrder), Just(Rule::Pyright), Just(Rule::Clangd)];
    let config = ProptestConfig {
        cases: ProptestConfig::default().cases / FEWER,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let tried = runner.run(&(steps(), rules, oddities()), |(steps, rule, oddities)| {
        runtime.block_on(check(&steps, rule, &oddities));
        Ok(())
    });
    tried.unwrap();
}
