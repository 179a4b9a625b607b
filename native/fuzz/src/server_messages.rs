//! What a language server writes to its stdout, as bytes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gateway_lsp::connection::{Connection, Peer, Refusal, RequestError};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

use crate::gateway_over_http::block_on;

/// How many requests wait for answers. Their ids count from 1.
const WAITING: usize = 3;

/// Nothing waits so long unless it waits for ever.
const LONG: Duration = Duration::from_secs(3600);

/// Connects to a server that writes the bytes, and then once more to one that writes them in pieces.
pub fn run(bytes: &[u8]) {
    let conversation = |piece| block_on(converse(bytes, piece));
    let whole = conversation(usize::MAX);
    check(&whole);
    let piece = 1 + bytes.len() % 13;
    assert_eq!(conversation(piece), whole, "in pieces of {piece}");
}

/// What came of it.
#[derive(Debug, PartialEq)]
struct Conversation {
    /// What the server has told and asked, in its order, and whether it was told a result.
    heard: Vec<(String, String, Option<bool>)>,
    results: Vec<Result<String, RequestError>>,
    /// What the server could read.
    written: Vec<u8>,
}

#[derive(Default)]
struct Listener(Mutex<Vec<(String, String, Option<bool>)>>);

impl Listener {
    fn hear(&self, method: &str, params: &RawValue, result: Option<bool>) {
        self.0.lock().expect("nobody panics").push((method.to_owned(), params.get().to_owned(), result));
    }
}

impl Peer for Listener {
    fn notified(&self, method: &str, params: &RawValue) {
        self.hear(method, params, None);
    }

    fn asked(&self, method: &str, params: &RawValue) -> Option<Result<Value, Refusal>> {
        let known = method.len().is_multiple_of(2);
        self.hear(method, params, Some(known));
        known.then_some(Ok(Value::Null))
    }
}

async fn converse(bytes: &[u8], piece: usize) -> Conversation {
    let ((stdin, mut read), (stdout, mut write)) = (duplex(64 * 1024), duplex(64 * 1024));
    let listener = Arc::new(Listener::default());
    let connection = Connection::start(stdout, stdin, listener.clone());
    let requests: Vec<_> = (0..WAITING).map(|_| connection.request("x", None::<()>, LONG)).collect();
    let writing = async {
        for piece in bytes.chunks(piece) {
            write.write_all(piece).await.expect("the client reads");
            tokio::task::yield_now().await;
        }
        // Until the client has done all that it does.
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(write);
    };
    let mut written = Vec::new();
    tokio::join!(writing, read.read_to_end(&mut written)).1.expect("the client writes to its end");
    let mut results = Vec::new();
    for request in requests {
        results.push(request.await.map(|result| result.get().to_owned()));
    }
    connection.ended().await;
    let heard = std::mem::take(&mut *listener.0.lock().expect("nobody panics"));
    Conversation { heard, results, written }
}

fn check(conversation: &Conversation) {
    for result in &conversation.results {
        match result {
            Ok(result) => assert!(serde_json::from_str::<&RawValue>(result).is_ok(), "{result}"),
            Err(RequestError::TimedOut) => panic!("nobody waits for the deadline once the server has ended"),
            Err(RequestError::Failed { message, .. }) => {
                let shown = |char: char| char == '\n' || char == '\t' || !char.is_control();
                assert!(message.chars().count() <= 1_000 && message.chars().all(shown), "{message:?}");
            }
            Err(_) => {}
        }
    }
    let messages = messages_in(&conversation.written);
    let (requests, answers) = messages.split_at(WAITING);
    for (request, id) in requests.iter().zip(["1", "2", "3"]) {
        assert_eq!((request.method, request.id.get()), (Some("x"), id));
    }
    // Those that could not be read are answered as well, and never heard of.
    let outcomes: Vec<_> = answers.iter().map(outcome).filter(|code| *code != Some(-32600)).collect();
    let told = conversation.heard.iter().filter_map(|(_, _, result)| *result);
    let expected: Vec<_> = told.map(|result| (!result).then_some(-32601)).collect();
    assert_eq!(outcomes, expected, "every request has one answer");
}

/// What the server can read. Ids are those that it has sent, whatever they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    method: Option<&'a str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
}

/// The code of an error, or none of a result.
fn outcome(answer: &Message<'_>) -> Option<i64> {
    match answer {
        Message { method: None, result: _, error: None, .. } => None,
        Message { method: None, result: None, error: Some(error), .. } => Some(error["code"].as_i64().expect("a code")),
        _ => panic!("an answer has a result or an error"),
    }
}

fn messages_in(mut written: &[u8]) -> Vec<Message<'_>> {
    let mut messages = Vec::new();
    while !written.is_empty() {
        let end = written.windows(4).position(|window| window == b"\r\n\r\n").expect("a whole header");
        let header = str::from_utf8(&written[..end]).expect("plain text");
        let length: usize = header.strip_prefix("Content-Length: ").expect("a length").parse().expect("a number");
        let (body, rest) = written[end + 4..].split_at(length);
        let message: Message<'_> = serde_json::from_slice(body).expect("JSON-RPC");
        assert_eq!(message.jsonrpc, "2.0");
        messages.push(message);
        written = rest;
    }
    messages
}
