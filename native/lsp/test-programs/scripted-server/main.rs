//! A language server that does what a script says, for tests: a real process, which shares no code with the product.
//!
//! Without a script it is a plain, honest server. It knows the texts of the files under its roots as they were when it was
//! initialized, and what it was told of since (`didOpen`, `didChange`, `didClose`, `didChangeWatchedFiles`), so that what is
//! stale shows. A position stands for the word there, and that for every whole-word occurrence of it.
//!
//! ```text
//! scripted-server [--log FILE] [--script JSON | --script-file FILE]
//! scripted-server --wrapper ARGS…           starts itself with ARGS, and waits for it, as wrappers of npm and PyPI do
//! scripted-server --ignore-sigterm ARGS…    becomes itself with ARGS, and SIGTERM ignored
//! scripted-server --sleep                   sleeps for ever
//! ```
//!
//! The log has one JSON value on a line, in the order in which things happened: `{"started":PID}`, `{"received":MESSAGE}` for
//! everything that the client has sent, answers to what this asked among them, `{"spawned":PID}` for each child, `{"eof":true}`.
//! Tests wait for lines of it. The product's tests run this as `env!("CARGO_BIN_EXE_scripted-server")`; a crate that is not
//! `gateway-lsp` needs a `[[bin]]` of its own, by another name, with the path of this file.
//!
//! A script is an object; every member may be left out:
//!
//! - `capabilities`: members that replace those of the answer to `initialize`; `null` takes one away. `serverInfo`: likewise.
//! - `encoding`: `utf-8`, `utf-16` or `utf-32`, which columns are counted in; the answer says so where it is given.
//! - `symbols: "flat"`: `SymbolInformation` instead of a tree. `links: true`: definitions are `LocationLink`s.
//! - `diagnostics`: `{"push":true}`, `{"pull":"static"}` or `{"pull":"dynamic"}`, of each word `wrong`, with `severity` and,
//!   pushed, `version: true` if wanted. A pull whose `previousResultId` fits the text is answered `unchanged`.
//! - `style`: `{"header":"content-length:"}` how headers are written, `{"before":"junk\n"}` what is printed before each,
//!   `{"cut":7}` in pieces of how many bytes a frame is written, `{"join":2}` how many frames are written at once.
//! - `rules`: `{"on":METHOD, "do":[ACTION…]}`. `on` is a method, `start`, `eof`, or `*` for every request. `nth` picks one time
//!   (`2`) or some (`[2,4]`, `[2,null]`) of those that the rule could be about, `uri` only documents whose URI ends so. The
//!   first rule that fits takes the place of the honest reaction; for `initialize`, `shutdown` and `exit` as well.
//!
//! Actions, each an object with one member:
//!
//! - `{"honest":true}`: what would be done without a rule. `{"honest_and":[ITEM…]}`: the honest list with these behind it.
//! - `{"answer":RESULT}`, `{"error":{"code":…,"message":…}}`: twice for two answers; none for none.
//! - `{"big":BYTES}`: an answer of that length.
//! - `{"hold":NAME}`: nothing yet; `{"release":{"held":NAME,"do":[ACTION…]}}`: these, with the message that was held.
//! - `{"notify":{"method":…,"params":…}}`, `{"ask":{"method":…,"params":…,"id":…,"then":[ACTION…]}}`: `then` once it is answered.
//! - `{"send":MESSAGE}`: any JSON in a frame. `{"bytes":TEXT}`: a byte for each character up to U+00FF, without a frame.
//! - `{"later":{"ms":…,"do":[ACTION…]}}`: after a while, reading on.
//! - `{"knows":N}`: honest answers are about the first N files only, `null` for all.
//! - `{"style":{…}}`: from now on.
//! - `{"stderr":{"text":TEXT,"times":N}}`.
//! - `{"spawn":"child"}` in the process group, `{"spawn":"daemon"}` two, in a session of their own,
//!   of which the one is the other's child and has no other parent.
//! - `{"exit":CODE}`, `{"abort":true}` by a signal.
//! - `{"stop_reading":true}`: never reads its stdin again.
//!
//! In their values, the texts `${id}`, `${uri}`, `${version}` (the last one of the document) and `${root}` stand for what the
//! message that is reacted to has; alone in a string, for the value itself.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test shows what is wrong with a script")]

mod honest;
mod texts;
mod wire;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Write as _};
use std::process::{Command, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use honest::Honest;
use serde_json::{Value, json};
use wire::Wire;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut log = None;
    let mut script = json!({});
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--sleep" => sleep_for_ever(),
            "--daemon" => return daemon(&args.next().unwrap()),
            "--session" => session(&args.next().unwrap()),
            "--wrapper" => exit(itself(args).status().unwrap().code().unwrap_or(1)),
            #[cfg(unix)]
            "--ignore-sigterm" => ignore_sigterm(args),
            "--log" => log = args.next(),
            "--script" => script = serde_json::from_str(&args.next().unwrap()).unwrap(),
            "--script-file" => script = serde_json::from_slice(&std::fs::read(args.next().unwrap()).unwrap()).unwrap(),
            // What real servers are given, such as --stdio.
            _ => {}
        }
    }
    Server::new(script, log).run();
}

fn itself(args: impl Iterator<Item = String>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args);
    command
}

fn sleep_for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Leaves processes that no group leads to, and the first of them without its parent.
#[expect(clippy::zombie_processes, reason = "it is to be left")]
fn daemon(log: &str) {
    itself(["--session".to_owned(), log.to_owned()].into_iter()).stdin(Stdio::null()).spawn().unwrap();
}

/// In a session of its own, with a child.
#[expect(clippy::zombie_processes, reason = "it is to be left")]
fn session(log: &str) -> ! {
    #[cfg(unix)]
    rustix::process::setsid().unwrap();
    let child = itself(["--sleep".to_owned()].into_iter()).spawn().unwrap();
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    for pid in [std::process::id(), child.id()] {
        log.write_all(format!("{}\n", json!({ "spawned": pid })).as_bytes()).unwrap();
    }
    sleep_for_ever();
}

/// A signal that a shell ignores is ignored by what it becomes.
#[cfg(unix)]
fn ignore_sigterm(args: impl Iterator<Item = String>) -> ! {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "trap '' TERM; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap()).args(args);
    panic!("{}", shell.exec());
}

enum Event {
    Message(Value),
    Eof,
}

struct Rule {
    on: String,
    uri: Option<String>,
    /// The first time and the last.
    nth: (u64, u64),
    times: u64,
    actions: Vec<Value>,
}

impl Rule {
    fn of(rule: &Value) -> Self {
        let nth = match &rule["nth"] {
            Value::Null => (1, u64::MAX),
            Value::Number(nth) => (nth.as_u64().unwrap(), nth.as_u64().unwrap()),
            some => (some[0].as_u64().unwrap(), some[1].as_u64().unwrap_or(u64::MAX)),
        };
        Self {
            on: rule["on"].as_str().expect("on: a method").to_owned(),
            uri: rule["uri"].as_str().map(str::to_owned),
            nth,
            times: 0,
            actions: rule["do"].as_array().expect("do: actions").clone(),
        }
    }

    /// Counts what it could be about, and whether it is about this time.
    fn fits(&mut self, event: &str, message: &Value) -> bool {
        let any_request = self.on == "*" && message["method"].is_string() && !message["id"].is_null();
        let uri = message["params"]["textDocument"]["uri"].as_str().unwrap_or_default();
        if !(self.on == event || any_request) || self.uri.as_ref().is_some_and(|end| !uri.ends_with(end.as_str())) {
            return false;
        }
        self.times += 1;
        (self.nth.0..=self.nth.1).contains(&self.times)
    }
}

struct Server {
    wire: Wire,
    log: Option<(String, File)>,
    rules: Vec<Rule>,
    honest: Honest,
    held: BTreeMap<String, Value>,
    /// What to do once the client has answered which id, and the message that this is about.
    asked: BTreeMap<String, (Vec<Value>, Value)>,
    last_id: u64,
    later: Vec<(Instant, Vec<Value>, Value)>,
    reads: Arc<AtomicBool>,
}

impl Server {
    fn new(script: Value, log: Option<String>) -> Self {
        let mut wire = Wire::default();
        wire.restyle(&script["style"]);
        let open = |path: String| {
            let file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
            (path, file)
        };
        Self {
            wire,
            log: log.map(open),
            rules: script["rules"].as_array().into_iter().flatten().map(Rule::of).collect(),
            honest: Honest::of(script),
            held: BTreeMap::new(),
            asked: BTreeMap::new(),
            last_id: 0,
            later: Vec::new(),
            reads: Arc::new(AtomicBool::new(true)),
        }
    }

    fn run(mut self) {
        self.note(&json!({ "started": std::process::id() }));
        self.react("start", &Value::Null);
        let events = self.start_reading();
        loop {
            let next = self.later.iter().map(|(at, ..)| *at).min();
            let wait = next.map_or(Duration::from_secs(3600), |at| at.saturating_duration_since(Instant::now()));
            match events.recv_timeout(wait) {
                Ok(Event::Message(message)) => self.receive(&message),
                Ok(Event::Eof) => {
                    self.note(&json!({ "eof": true }));
                    if !self.react("eof", &Value::Null) {
                        exit(0);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Nothing is read any more, and what was to be done later is still done.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
            }
            let now = Instant::now();
            let (due, later) = std::mem::take(&mut self.later).into_iter().partition(|(at, ..)| *at <= now);
            self.later = later;
            let due: Vec<_> = due;
            for (_, actions, message) in due {
                self.act(&actions, &message);
            }
        }
    }

    /// Hands each message over only when the one before was taken, so that little is read ahead.
    fn start_reading(&self) -> Receiver<Event> {
        let (events, taken) = sync_channel(0);
        let reads = self.reads.clone();
        thread::spawn(move || read(&events, &reads));
        taken
    }

    fn receive(&mut self, message: &Value) {
        self.note(&json!({ "received": message }));
        let Some(method) = message["method"].as_str() else {
            if let Some((actions, about)) = self.asked.remove(&message["id"].to_string()) {
                self.act(&actions, &about);
            }
            return;
        };
        if !self.react(method, message) {
            self.be_honest(message);
        }
    }

    fn note(&mut self, line: &Value) {
        if let Some((_, log)) = &mut self.log {
            log.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }

    /// Whether a rule has told what to do.
    fn react(&mut self, event: &str, message: &Value) -> bool {
        // Every rule counts, also behind the one that fits.
        let fitting = self.rules.iter_mut().fold(None, |found: Option<Vec<Value>>, rule| {
            let fits = rule.fits(event, message);
            found.or_else(|| fits.then(|| rule.actions.clone()))
        });
        if let Some(actions) = &fitting {
            self.act(actions, message);
        }
        fitting.is_some()
    }

    fn be_honest(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default();
        match (method, message["id"].is_null()) {
            ("exit", _) => exit(0),
            (_, true) => {
                for (method, params) in self.honest.notified(message) {
                    match method {
                        "client/registerCapability" => {
                            self.ask(&json!({ "method": method, "params": params }), message);
                        }
                        _ => self.wire.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })),
                    }
                }
            }
            (_, false) => {
                let answer = match self.honest.answer(message) {
                    Some(result) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
                    None => error(message, &json!({ "code": -32601, "message": format!("no {method} here") })),
                };
                self.wire.send(&answer);
            }
        }
    }

    fn act(&mut self, actions: &[Value], message: &Value) {
        for action in actions {
            let (name, value) = action.as_object().and_then(|action| action.iter().next()).expect("an action");
            let value = &self.honest.filled(value, message);
            self.act_once(name, value, message);
        }
    }

    fn act_once(&mut self, name: &str, value: &Value, message: &Value) {
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        match name {
            "honest" => self.be_honest(message),
            "honest_and" => {
                let mut list = self.honest.answer(message).unwrap();
                list.as_array_mut().unwrap().extend(value.as_array().unwrap().iter().cloned());
                self.wire.send(&answer(list));
            }
            "answer" => self.wire.send(&answer(value.clone())),
            "error" => self.wire.send(&error(message, value)),
            "big" => {
                let around = answer(json!("")).to_string().len();
                let bytes = usize::try_from(value.as_u64().unwrap()).unwrap() - around;
                self.wire.send(&answer(json!("x".repeat(bytes))));
            }
            "hold" => {
                self.held.insert(value.as_str().unwrap().to_owned(), message.clone());
            }
            "release" => {
                let held = self.held.remove(value["held"].as_str().unwrap()).expect("it was held");
                self.act(value["do"].as_array().unwrap(), &held);
            }
            "notify" => {
                let (method, params) = (&value["method"], &value["params"]);
                self.wire.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
            }
            "ask" => self.ask(value, message),
            "send" => self.wire.send(value),
            "bytes" => {
                let bytes: Vec<u8> = value.as_str().unwrap().chars().map(|char| u8::try_from(char).unwrap()).collect();
                self.wire.write(&bytes);
            }
            "later" => {
                let at = Instant::now() + Duration::from_millis(value["ms"].as_u64().unwrap());
                self.later.push((at, value["do"].as_array().unwrap().clone(), message.clone()));
            }
            "knows" => self.honest.texts.limit = value.as_u64().map(|files| usize::try_from(files).unwrap()),
            "style" => self.wire.restyle(value),
            "stderr" => {
                let text = value["text"].as_str().unwrap();
                let mut stderr = std::io::stderr().lock();
                for _ in 0..value["times"].as_u64().unwrap_or(1) {
                    stderr.write_all(text.as_bytes()).unwrap();
                }
            }
            "spawn" => self.spawn(value.as_str().unwrap()),
            "exit" => exit(i32::try_from(value.as_i64().unwrap()).unwrap()),
            "abort" => std::process::abort(),
            "stop_reading" => self.reads.store(false, Ordering::SeqCst),
            _ => panic!("there is no action {name}"),
        }
    }

    fn ask(&mut self, value: &Value, message: &Value) {
        self.last_id += 1;
        let id = if value["id"].is_null() { json!(format!("asked-{}", self.last_id)) } else { value["id"].clone() };
        let then = value["then"].as_array().cloned().unwrap_or_default();
        self.asked.insert(id.to_string(), (then, message.clone()));
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": value["method"] });
        if let Some(params) = value.get("params") {
            request["params"] = params.clone();
        }
        self.wire.send(&request);
    }

    #[expect(clippy::zombie_processes, reason = "it is to be left")]
    fn spawn(&mut self, how: &str) {
        let log = self.log.as_ref().map(|(path, _)| path.clone()).expect("a log");
        match how {
            "child" => {
                let child = itself(["--sleep".to_owned()].into_iter()).spawn().unwrap();
                self.note(&json!({ "spawned": child.id() }));
            }
            "daemon" => {
                let mut parent = itself(["--daemon".to_owned(), log].into_iter()).spawn().unwrap();
                assert!(parent.wait().unwrap().success());
            }
            _ => panic!("there is no child of the kind {how}"),
        }
    }
}

fn error(message: &Value, error: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })
}

fn read(events: &SyncSender<Event>, reads: &AtomicBool) {
    let mut stdin = BufReader::new(std::io::stdin());
    while reads.load(Ordering::SeqCst) {
        let event = wire::read(&mut stdin).map_or(Event::Eof, Event::Message);
        let eof = matches!(event, Event::Eof);
        if events.send(event).is_err() || eof {
            break;
        }
    }
}
