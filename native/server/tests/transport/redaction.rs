//! What may stand in a log line.

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use gateway_core::error::ToolError;
use gateway_server::redact::Redaction;
use serde_json::json;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::double::{Behaviour, TOKEN};
use crate::wire::{Request, Server};

/// Keeps every event's line.
#[derive(Clone, Default)]
struct Lines {
    redaction: Arc<Redaction>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.lines.lock().unwrap().push(self.redaction.line(event));
    }
}

#[test]
fn an_event_becomes_its_message_and_its_fields_each_redacted() {
    let redaction = Arc::new(Redaction::new(&["short".to_owned()], &["/home/me/project".to_owned()]));
    let lines = Lines { redaction, ..Lines::default() };
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!(items = 3, from = "/etc/a b", at = %"/home/me/project/x", "asked with {}", "short");
    });
    let expected = "asked with [redacted] items=3 from=[path outside the roots] at=/home/me/project/x";
    assert_eq!(*lines.lines.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn what_the_server_logs_of_its_own_holds_no_secret_and_nothing_of_a_request() {
    // Without redaction, so that it shows what the second line of defence is spared. For the whole process, because a
    // place that logs is switched off for good when it is first reached by a thread that nobody listens to.
    let lines = Arc::new(Mutex::new(Vec::new()));
    let raw = Raw { thread: thread::current().id(), lines: Arc::clone(&lines) };
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(raw)).unwrap();
    let server = Server::start();
    let session = server.session().await;
    let call = Request::post(&json!({"jsonrpc": "2.0", "id": "s3cret", "method": "tools/call", "params": {
        "name": "vscode.lsp.workspaceSymbols", "arguments": {"query": "s3cret"},
    }}))
    .in_session(&session);
    server.send(&call).await;
    server.gateway.behave(Behaviour::Fail(ToolError::OutsideRoots));
    server.send(&call).await;
    for (header, value) in [
        ("Host", "s3cret"),
        ("Origin", "s3cret"),
        ("Authorization", "Bearer s3cret"),
        ("Content-Type", "s3cret"),
        ("Accept", "s3cret"),
        ("MCP-Session-Id", "s3cret"),
        ("MCP-Protocol-Version", "s3cret"),
    ] {
        server.send(&call.clone().set(header, value)).await;
    }
    server.send(&Request::of_body(b"s3cret")).await;
    server.send(&call.start("POST /s3cret HTTP/1.1")).await;
    server.send(&Request::delete().in_session(&session)).await;
    let lines = lines.lock().unwrap().join("\n");
    assert!(lines.contains("listening") && lines.contains("a client began a session"), "{lines}");
    assert!(lines.contains("Bearer") && lines.contains("workspaceSymbols"), "refusals and calls are logged: {lines}");
    for secret in ["s3cret", TOKEN, &session] {
        assert!(!lines.contains(secret), "{lines}");
    }
}

/// Keeps every event of one thread as it is.
struct Raw {
    thread: ThreadId,
    lines: Arc<Mutex<Vec<String>>>,
}

impl<S: Subscriber> Layer<S> for Raw {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if thread::current().id() == self.thread {
            self.lines.lock().unwrap().push(format!("{event:?}"));
        }
    }
}

fn redacted(text: &str) -> String {
    let roots = ["/home/me/project/".to_owned(), "/srv/real project".to_owned(), r"c:\work".to_owned()];
    Redaction::new(&[TOKEN.to_owned(), "short".to_owned(), String::new()], &roots).redact(text)
}

#[test]
fn a_valid_token_never_appears_whatever_it_looks_like() {
    assert_eq!(redacted(&format!("token={TOKEN}.")), "token=[redacted].");
    assert_eq!(redacted("is short long?"), "is [redacted] long?");
}

#[test]
fn what_looks_like_a_token_or_a_session_id_never_appears() {
    let session = "AAECAwQFBgcICQoLDA0OD-_".to_owned() + &"x".repeat(41);
    assert_eq!(redacted(&format!("{session} ended")), "[redacted] ended");
    assert_eq!(redacted(&format!("Bearer {}", "a".repeat(43))), "Bearer [redacted]");
}

#[test]
fn ordinary_words_stay() {
    let line = "tools/list answered 12 bytes in 3 ms, 50% and/or more at 127.0.0.1:39400 - a.b, 1 / 2";
    assert_eq!(redacted(line), line);
}

#[test]
fn a_path_inside_a_root_stays() {
    for path in [
        "/home/me/project",
        "/home/me/project/src/a.ts:3:4",
        "file:///home/me/project/a.ts",
        "/srv/real project/b.ts",
        r"c:\work\x.ts",
    ] {
        let line = format!("in {path}, twice ({path})");
        assert_eq!(redacted(&line), line);
    }
}

#[test]
fn a_path_outside_the_roots_is_taken_out() {
    let outside = [
        "/etc/passwd",
        "/home/me/projects/a.ts",
        "/home/me/project/../other/a.ts",
        "/home/me/project/%2e%2e/other/a.ts",
        "/home/me",
        "file:///home/me/other/a.ts",
        "FILE:/etc/passwd",
        r"C:\Users\me\x.ts",
        "d:/x/y.ts",
        r"\\server\share\x",
        "~/secret.txt",
        "/home/me/My Documents/a b/c d.ts",
        "/home/bob's/a (copy).ts",
        "/home/me/project/a b/../../other",
    ];
    for path in outside {
        assert_eq!(
            redacted(&format!("cannot open '{path}' now")),
            "cannot open '[path outside the roots]' now",
            "{path}"
        );
        assert_eq!(redacted(&format!("cannot open {path}")), "cannot open [path outside the roots]", "{path}");
    }
}

#[test]
fn every_line_of_a_stack_is_looked_at() {
    let stack = "Error: no\n    at f (/opt/ext/out/main.js:1:2)\n    at g (/home/me/project/p.js:3:4)\n";
    let expected = "Error: no\n    at f ([path outside the roots]\n    at g (/home/me/project/p.js:3:4)\n";
    assert_eq!(redacted(stack), expected);
}

#[test]
fn without_roots_no_path_stays() {
    let redaction = Redaction::new(&[], &["/".to_owned()]);
    assert_eq!(redaction.redact("at /etc/passwd"), "at [path outside the roots]");
    assert_eq!(Redaction::default().redact("at /etc/passwd"), "at [path outside the roots]");
}
