//! JSON-RPC with a server whose every byte the test writes. The clock stands still but for deadlines.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gateway_lsp::connection::{Connection, Ended, MAX_UNWRITTEN, Peer, Refusal, RequestError};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, BufWriter, DuplexStream};
use tokio::time::timeout;

/// How much fits in a pipe, in bytes.
const BUFFER: usize = 64 * 1024;

const SOON: Duration = Duration::from_secs(5);

/// What the server has told and asked, in its order.
#[derive(Default)]
struct Recorder(Mutex<Vec<(String, String)>>);

impl Peer for Recorder {
    fn notified(&self, method: &str, params: &RawValue) {
        assert_ne!(method, "panic", "the server's notification makes it panic");
        self.0.lock().unwrap().push((method.to_owned(), params.get().to_owned()));
    }

    fn asked(&self, method: &str, params: &RawValue) -> Option<Result<Value, Refusal>> {
        self.0.lock().unwrap().push((method.to_owned(), params.get().to_owned()));
        match method {
            "known" => Some(Ok(json!([null]))),
            "refused" => Some(Err(Refusal { code: -32803, message: "not here".to_owned() })),
            _ => None,
        }
    }
}

/// The server's end.
struct Server {
    stdin: BufReader<DuplexStream>,
    stdout: DuplexStream,
}

impl Server {
    /// The next message. The clock moves on when nobody has anything to do, so one that does not come is no endless wait.
    async fn received(&mut self) -> Value {
        timeout(10 * SOON, self.read()).await.expect("a message")
    }

    async fn read(&mut self) -> Value {
        let mut header = String::new();
        self.stdin.read_line(&mut header).await.unwrap();
        let length = header.strip_prefix("Content-Length: ").and_then(|rest| rest.strip_suffix("\r\n")).unwrap();
        let mut body = vec![0; 2 + length.parse::<usize>().unwrap()];
        self.stdin.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(body.strip_prefix(b"\r\n").unwrap()).unwrap()
    }

    /// How much comes until what it reads has ended.
    async fn rest(&mut self) -> usize {
        timeout(10 * SOON, self.stdin.read_to_end(&mut Vec::new())).await.expect("an end").unwrap()
    }

    /// The id of the request that comes next.
    async fn asked(&mut self, method: &str) -> Value {
        let request = self.received().await;
        assert_eq!(request["method"], method);
        request["id"].clone()
    }

    async fn write(&mut self, body: &[u8]) {
        self.stdout.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await.unwrap();
        self.stdout.write_all(body).await.unwrap();
    }

    async fn send(&mut self, message: Value) {
        self.write(message.to_string().as_bytes()).await;
    }

    async fn answer(&mut self, id: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }
}

fn connected() -> (Connection, Server, Arc<Recorder>) {
    let (stdin, to_server) = (tokio::io::duplex(BUFFER), Arc::new(Recorder::default()));
    let stdout = tokio::io::duplex(BUFFER);
    let connection = Connection::start(stdout.0, BufWriter::new(stdin.0), to_server.clone());
    (connection, Server { stdin: BufReader::new(stdin.1), stdout: stdout.1 }, to_server)
}

fn read(answer: Result<Box<RawValue>, RequestError>) -> Result<Value, RequestError> {
    answer.map(|result| serde_json::from_str(result.get()).unwrap())
}

/// As long as that, and written as it is.
fn text_of(bytes: usize) -> Box<RawValue> {
    RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap()
}

#[tokio::test(start_paused = true)]
async fn messages_arrive_in_the_order_of_the_calls() {
    let (connection, mut server, _) = connected();
    connection.notify("first", Some(json!({ "a": 1 }))).unwrap();
    let second = connection.request("second", None::<()>, SOON);
    let third = connection.request("third", Some([1]), SOON);
    connection.notify("fourth", None::<()>).unwrap();
    assert_eq!(server.received().await, json!({ "jsonrpc": "2.0", "method": "first", "params": { "a": 1 } }));
    assert_eq!(server.received().await, json!({ "jsonrpc": "2.0", "id": 1, "method": "second" }));
    assert_eq!(server.received().await, json!({ "jsonrpc": "2.0", "id": 2, "method": "third", "params": [1] }));
    assert_eq!(server.received().await, json!({ "jsonrpc": "2.0", "method": "fourth" }));
    server.answer(&json!(2), json!("3rd")).await;
    server.answer(&json!(1), json!("2nd")).await;
    assert_eq!(read(second.await), Ok(json!("2nd")));
    assert_eq!(read(third.await), Ok(json!("3rd")));
}

#[tokio::test(start_paused = true)]
async fn answers_that_fit_nothing_are_ignored() {
    let (connection, mut server, _) = connected();
    let asked = connection.request("one", None::<()>, SOON);
    let id = server.asked("one").await;
    for other in
        [json!("1"), json!(-1), json!(1.0), json!(0), json!(2), json!(u64::MAX), json!(null), json!([1]), json!({})]
    {
        server.answer(&other, json!("another's")).await;
    }
    server.answer(&id, json!("first")).await;
    server.answer(&id, json!("second")).await;
    assert_eq!(read(asked.await), Ok(json!("first")));
    let next = connection.request("two", None::<()>, SOON);
    let id = server.asked("two").await;
    server.answer(&id, json!("next")).await;
    assert_eq!(read(next.await), Ok(json!("next")));
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_the_request_is_cancelled_and_its_late_answer_not_used() {
    let (connection, mut server, _) = connected();
    assert_eq!(read(connection.request("slow", None::<()>, SOON).await), Err(RequestError::TimedOut));
    let id = server.asked("slow").await;
    assert_eq!(
        server.received().await,
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } })
    );
    let next = connection.request("next", None::<()>, SOON);
    server.answer(&id, json!([])).await;
    let next_id = server.asked("next").await;
    assert_ne!(next_id, id);
    server.answer(&next_id, json!("right")).await;
    assert_eq!(read(next.await), Ok(json!("right")));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_cancelled_unless_it_was_answered() {
    let (connection, mut server, recorder) = connected();
    let answered = connection.request("answered", None::<()>, SOON);
    let id = server.asked("answered").await;
    server.answer(&id, json!(1)).await;
    server.send(json!({ "method": "behind the answer" })).await;
    while recorder.0.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(answered);
    drop(connection.request("dropped", None::<()>, SOON));
    let id = server.asked("dropped").await;
    assert_eq!(
        server.received().await,
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } })
    );
}

#[tokio::test(start_paused = true)]
async fn errors_say_what_to_do() {
    let (connection, mut server, _) = connected();
    for (code, error) in [
        (-32800, RequestError::Again),
        (-32801, RequestError::Again),
        (-32802, RequestError::Again),
        (-32601, RequestError::NoMethod),
        (-32803, RequestError::Failed { code: -32803, message: "why".to_owned() }),
    ] {
        let asked = connection.request("x", None::<()>, SOON);
        let id = server.asked("x").await;
        server.send(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "why" } })).await;
        assert_eq!(read(asked.await), Err(error));
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_may_be_missing_and_an_error_null() {
    let (connection, mut server, _) = connected();
    for (answer, result) in [
        (json!({}), json!(null)),
        (json!({ "result": null }), json!(null)),
        (json!({ "result": [1], "error": null, "params": 3, "extra": {} }), json!([1])),
    ] {
        let asked = connection.request("x", None::<()>, SOON);
        let mut answer = answer;
        answer["id"] = server.asked("x").await;
        server.send(answer).await;
        assert_eq!(read(asked.await), Ok(result));
    }
}

#[tokio::test(start_paused = true)]
async fn every_request_of_the_server_gets_one_answer() {
    let (_connection, mut server, recorder) = connected();
    for (id, method, outcome) in [
        (json!(0), "known", json!({ "result": [null] })),
        (json!("a\"b"), "known", json!({ "result": [null] })),
        (json!(-1.5), "refused", json!({ "error": { "code": -32803, "message": "not here" } })),
        (json!(1), "unknown", json!({ "error": { "code": -32601, "message": "This client does not know it." } })),
    ] {
        server.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "x": 1 } })).await;
        let mut answer = outcome;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id;
        assert_eq!(server.received().await, answer);
    }
    server.send(json!({ "jsonrpc": "2.0", "id": 5, "method": "known" })).await;
    assert_eq!(server.received().await["id"], 5);
    let asked = recorder.0.lock().unwrap().clone();
    assert_eq!(asked[0], ("known".to_owned(), r#"{"x":1}"#.to_owned()));
    assert_eq!(asked[4], ("known".to_owned(), "null".to_owned()));
    assert_eq!(asked.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cannot_be_read_costs_that_message() {
    let (connection, mut server, recorder) = connected();
    let asked = connection.request("asked", None::<()>, SOON);
    let other = connection.request("other", None::<()>, SOON);
    server.asked("asked").await;
    server.asked("other").await;
    for odd in [
        &b""[..],
        b"{",
        b"[]",
        b"[{\"id\":2,\"result\":1}]",
        b"null",
        b"{\"method\":7}",
        b"{\"id\":[2],\"result\":}",
        b"\xff\xfe",
    ] {
        server.write(odd).await;
    }
    server.write(br#"{"id":1,"result":[}"#).await;
    let error = RequestError::Failed { code: 0, message: "its answer is not JSON-RPC".to_owned() };
    assert_eq!(read(asked.await), Err(error));
    server.write(br#"{"id":"s","method":"x","params":}"#).await;
    let answer = server.received().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("s"), &json!(-32600)));
    server.write(b"{\"id\":2,\"result\":\"caf\xe9\"}").await;
    assert_eq!(read(other.await), Ok(json!("caf\u{fffd}")));
    assert!(recorder.0.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn notifications_have_arrived_before_a_later_answer() {
    let (connection, mut server, recorder) = connected();
    let asked = connection.request("x", None::<()>, SOON);
    let id = server.asked("x").await;
    tokio::spawn(async move {
        for count in 0..500 {
            server.send(json!({ "jsonrpc": "2.0", "method": "told", "params": count })).await;
        }
        server.answer(&id, json!(null)).await;
        server.rest().await;
    });
    asked.await.unwrap();
    let expected: Vec<_> = (0..500).map(|count| ("told".to_owned(), count.to_string())).collect();
    assert_eq!(*recorder.0.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn when_the_stream_ends_nobody_waits_for_a_deadline() {
    for last in [&b""[..], b"Content-Length: 10\r\n\r\n{"] {
        let (connection, mut server, _) = connected();
        let began = tokio::time::Instant::now();
        let asked = connection.request("x", None::<()>, SOON);
        server.asked("x").await;
        server.stdout.write_all(last).await.unwrap();
        server.stdout.shutdown().await.unwrap();
        assert_eq!(read(asked.await), Err(RequestError::Ended));
        timeout(SOON, connection.ended()).await.unwrap();
        assert_eq!(connection.notify("x", None::<()>), Err(Ended));
        assert_eq!(read(connection.request("x", None::<()>, SOON).await), Err(RequestError::Ended));
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(server.rest().await, 0, "what the server reads has ended as well");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_what_it_reads_has_ended() {
    let (connection, server, _) = connected();
    drop(server.stdin);
    assert_eq!(read(connection.request("x", None::<()>, SOON).await), Err(RequestError::Ended));
    timeout(SOON, connection.ended()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_is_taken_for_ended() {
    let (connection, _server, _) = connected();
    let asked = connection.request("x", None::<()>, SOON);
    let text = text_of(1024 * 1024);
    let sent = (0..1_000).take_while(|_| connection.notify("told", Some(&text)).is_ok()).count();
    assert_eq!(sent, MAX_UNWRITTEN / (1024 * 1024) - 1);
    assert_eq!(read(asked.await), Err(RequestError::Ended));
}

#[tokio::test(start_paused = true)]
async fn what_was_written_counts_no_more() {
    let (connection, server, _) = connected();
    let mut stdin = server.stdin.into_inner();
    let text = text_of(MAX_UNWRITTEN / 8);
    let mut frame = vec![0; MAX_UNWRITTEN / 8];
    for _ in 0..9 {
        connection.notify("told", Some(&text)).unwrap();
        // Never more than one and a part of the next is unwritten.
        stdin.read_exact(&mut frame).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_fails_its_request_at_once() {
    let (connection, mut server, _) = connected();
    let (large, next) = (connection.request("large", None::<()>, SOON), connection.request("next", None::<()>, SOON));
    let (large_id, next_id) = (server.asked("large").await, server.asked("next").await);
    let start = format!(r#"{{"jsonrpc":"2.0","id":{large_id},"result":""#);
    let body = format!("{start}{}\"}}", "x".repeat(64 * 1024 * 1024));
    let writing = tokio::spawn(async move {
        server.write(body.as_bytes()).await;
        server.answer(&next_id, json!("in step")).await;
        (server, body.len() as u64)
    });
    let failed = read(large.await);
    let (_server, bytes) = writing.await.unwrap();
    assert_eq!(failed, Err(RequestError::TooLarge { bytes }));
    assert_eq!(read(next.await), Ok(json!("in step")));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_panics_leaves_nobody_waiting() {
    let (connection, mut server, _) = connected();
    let asked = connection.request("x", None::<()>, SOON);
    server.send(json!({ "method": "panic" })).await;
    assert_eq!(read(asked.await), Err(RequestError::Ended));
}

#[tokio::test(start_paused = true)]
async fn the_streams_are_closed_with_the_last_handle() {
    let (connection, mut server, _) = connected();
    let clone = connection.clone();
    drop(connection);
    clone.notify("still there", None::<()>).unwrap();
    assert_eq!(server.received().await["method"], "still there");
    drop(clone);
    assert_eq!(server.rest().await, 0);
    assert_eq!(server.stdout.write(b"x").await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}
