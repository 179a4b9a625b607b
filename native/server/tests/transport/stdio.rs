//! MCP over a pair of streams: the same messages as over HTTP, one on each line.

use std::sync::Arc;
use std::time::Duration;

use gateway_server::stdio;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::double::{Behaviour, Double};
use crate::wire::patiently;

/// How much fits in a stream before its other end has to read.
const ROOMY: usize = 4 * 1_048_576;

struct Client {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    gateway: Arc<Double>,
    served: JoinHandle<()>,
}

impl Client {
    fn start() -> Self {
        Self::with(false, ROOMY)
    }

    fn with(fallback: bool, room: usize) -> Self {
        let gateway = Arc::new(Double::new());
        let (input, taken) = duplex(room);
        let (given, output) = duplex(room);
        let served = tokio::spawn(stdio::serve(Arc::clone(&gateway), fallback, taken, given));
        Self { input, output: BufReader::new(output), gateway, served }
    }

    /// A client whose session is ready for calls.
    async fn ready() -> Self {
        let mut client = Self::start();
        client.begin().await;
        client
    }

    async fn begin(&mut self) {
        let answer = self.ask(&initialize("2025-11-25")).await;
        assert!(answer.get("result").is_some(), "{answer}");
        self.send(&initialized()).await;
    }

    async fn write(&mut self, text: impl AsRef<[u8]>) {
        patiently(self.input.write_all(text.as_ref())).await.unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n")).await;
    }

    /// The next line, with what ends it.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        patiently(self.output.read_line(&mut line)).await.unwrap();
        line
    }

    /// The next answer.
    async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line().await).expect("JSON on one line")
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.answer().await
    }

    /// Ends the input, and gives what else is written until the server has returned.
    async fn end(mut self) -> String {
        drop(self.input);
        let mut rest = String::new();
        patiently(self.output.read_to_string(&mut rest)).await.unwrap();
        patiently(self.served).await.unwrap();
        rest
    }
}

fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {"protocolVersion": version}})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn request(id: u32, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

fn call(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "vscode.lsp.definition",
        "arguments": {"uri": "file:///a.ts", "position": {"line": 0, "character": 0}},
    }})
}

fn cancelled(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

/// A ping of so many bytes.
fn ping_of(bytes: usize) -> String {
    let ping = request(7, "ping").to_string();
    " ".repeat(bytes - ping.len()) + &ping
}

#[tokio::test]
async fn each_answer_is_one_line_and_nothing_else_is_written() {
    let mut client = Client::start();
    let answer = client.ask(&initialize("2025-11-25")).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["protocolVersion"], &answer["result"]["serverInfo"]["version"]),
        (&json!("init"), &json!("2025-11-25"), &json!("1.2.3"))
    );
    client.send(&initialized()).await;
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/never-heard-of"})).await;
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})).await;
    assert_eq!(client.ask(&request(1, "ping")).await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(client.ask(&request(2, "tools/list")).await["result"]["tools"].as_array().unwrap().len(), 7);
    assert_eq!(client.ask(&request(3, "resources/list")).await["error"]["code"], -32601);
    client.gateway.behave(Behaviour::Answer(r#"{"locations":[ ],"summary":"é"}"#));
    client.send(&call(4)).await;
    assert_eq!(
        client.line().await,
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"isError\":false,\"structuredContent\":{\"locations\":[ ],\"summary\":\"é\"},\"content\":[]}}\n"
    );
    assert_eq!(client.end().await, "");
}

#[tokio::test]
async fn a_slow_call_holds_up_neither_a_ping_nor_another_call() {
    let mut client = Client::ready().await;
    client.gateway.behave(Behaviour::Hang);
    client.send(&call(1)).await;
    patiently(client.gateway.started.notified()).await;
    assert_eq!(client.ask(&request(2, "ping")).await["id"], 2);
    client.gateway.behave(Behaviour::Answer("{}"));
    assert_eq!(client.ask(&call(3)).await["id"], 3);
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    let mut client = Client::ready().await;
    client.gateway.behave(Behaviour::Hang);
    client.send(&call(1)).await;
    patiently(client.gateway.started.notified()).await;
    client.send(&cancelled(1)).await;
    patiently(client.gateway.dropped.notified()).await;
    client.gateway.behave(Behaviour::Answer("{}"));
    // Both at once, so that the server has not begun with the call when it reads that it is cancelled.
    for id in 2..30 {
        client.write(format!("{}\n{}\n", call(id), cancelled(id))).await;
    }
    // What was cancelled would have been answered before.
    assert_eq!(client.ask(&call(30)).await["id"], 30);
    assert_eq!(client.end().await, "");
}

#[tokio::test]
async fn what_is_not_a_message_is_answered_by_an_error_with_id_null() {
    let mut client = Client::ready().await;
    for (line, code, told) in [
        ("{", -32700, "the line cannot be read as JSON"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, "batches are not supported"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, "`id` must be"),
    ] {
        client.write(format!("{line}\n")).await;
        let answer = client.answer().await;
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (Some(&Value::Null), &json!(code)), "{line}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(told), "{answer}");
    }
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n").await;
    assert_eq!(client.answer().await["error"]["code"], -32700);
}

#[tokio::test]
async fn lines_may_end_as_on_windows_and_blank_ones_are_passed_over() {
    let mut client = Client::ready().await;
    client.write(format!("\n  \r\n{}\r\n", request(1, "ping"))).await;
    assert_eq!(client.answer().await["id"], 1);
    assert_eq!(client.end().await, "");
}

#[tokio::test]
async fn a_line_of_one_mebibyte_is_read_and_a_longer_one_is_refused_and_passed_over() {
    let mut client = Client::ready().await;
    client.write(ping_of(1_048_576) + "\n").await;
    assert_eq!(client.answer().await["id"], 7);
    for longer in [1_048_577, 3 * 1_048_576] {
        client.write(ping_of(longer) + "\n").await;
        let answer = client.answer().await;
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (Some(&Value::Null), &json!(-32600)));
        assert!(answer["error"]["message"].as_str().unwrap().contains("at most 1048576 bytes"), "{answer}");
        assert_eq!(client.ask(&request(8, "ping")).await["id"], 8);
    }
}

/// Clients of newer revisions probe first. Some go on to `initialize` only if there is no such method.
#[tokio::test]
async fn before_initialize_a_ping_is_answered_an_unknown_method_is_not_found_and_a_call_is_refused() {
    let mut client = Client::start();
    client.send(&initialized()).await;
    assert_eq!(client.ask(&request(1, "server/discover")).await["error"]["code"], -32601);
    assert_eq!(client.ask(&request(2, "ping")).await["result"], json!({}));
    for refused in [request(3, "tools/list"), call(3)] {
        let answer = client.ask(&refused).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(3), &json!(-32600)));
    }
    assert_eq!(*client.gateway.asked.lock().unwrap(), []);
    client.begin().await;
    assert!(client.ask(&call(4)).await.get("result").is_some());
}

#[tokio::test]
async fn initialize_once_more_begins_another_session_and_ends_the_calls_of_the_one_before() {
    let mut client = Client::ready().await;
    client.gateway.behave(Behaviour::Hang);
    client.send(&call(1)).await;
    patiently(client.gateway.started.notified()).await;

    let mut unusable = initialize("");
    unusable["params"] = json!({});
    assert_eq!(client.ask(&unusable).await["error"]["code"], -32602);
    assert!(client.ask(&request(2, "tools/list")).await.get("result").is_some(), "the session goes on");
    assert!(client.gateway.ended.lock().unwrap().is_empty());

    assert!(client.ask(&initialize("2025-11-25")).await.get("result").is_some());
    patiently(client.gateway.dropped.notified()).await;
    assert_eq!(client.gateway.ended.lock().unwrap().last().unwrap().len(), 1);
    client.gateway.behave(Behaviour::Answer("{}"));
    client.send(&initialized()).await;
    assert!(client.ask(&call(1)).await.get("result").is_some());
    let gateway = Arc::clone(&client.gateway);
    assert_eq!(client.end().await, "");
    assert_eq!(gateway.ended.lock().unwrap().last().unwrap().len(), 2);
}

#[tokio::test]
async fn any_other_revision_is_answered_with_2025_11_25_unless_the_fallback_is_on_and_asked_for() {
    for (fallback, asked, answered) in [
        (false, "2025-06-18", "2025-11-25"),
        (false, "2024-11-05", "2025-11-25"),
        (true, "2025-03-26", "2025-11-25"),
        (true, "2025-06-18", "2025-06-18"),
    ] {
        let mut client = Client::with(fallback, ROOMY);
        let answer = client.ask(&initialize(asked)).await;
        assert_eq!(answer["result"]["protocolVersion"], answered, "{asked}");
        client.send(&initialized()).await;
        let is_told_twice = client.ask(&call(1)).await["result"]["content"] != json!([]);
        assert_eq!(is_told_twice, answered == "2025-06-18", "{asked}");
    }
}

#[tokio::test]
async fn the_129th_call_at_once_is_told_so() {
    let mut client = Client::ready().await;
    client.gateway.behave(Behaviour::Hang);
    for id in 1..=129 {
        client.send(&call(id)).await;
    }
    let answer = client.answer().await;
    assert_eq!((&answer["id"], &answer["error"]["data"]["details"]["reason"]), (&json!(129), &json!("busy")));
    assert_eq!(client.ask(&request(130, "ping")).await["id"], 130);
}

#[tokio::test(start_paused = true)]
async fn no_more_is_read_while_192_requests_wait_for_the_end_of_the_handshake() {
    let mut client = Client::start();
    assert!(client.ask(&initialize("2025-11-25")).await.get("result").is_some());
    for id in 0..192 {
        client.send(&request(id, "tools/list")).await;
    }
    client.send(&request(192, "ping")).await;
    assert_eq!(client.answer().await["error"]["code"], -32600, "one of those that have waited");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_no_answers_is_not_read_from_either_and_misses_none() {
    let mut client = Client::with(false, 1_024);
    let ping = ping_of(10_000) + "\n";
    let mut taken = 0;
    while taken < 1_000 && timeout(Duration::from_secs(1), client.input.write_all(ping.as_bytes())).await.is_ok() {
        taken += 1;
    }
    // So many answers fit into the stream and the buffer before it, and 16 wait; one is being passed on, and one ping read.
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n";
    assert!(taken <= (1_024 + 8_192) / answer.len() + 20, "{taken}");
    let mut read = 0;
    while timeout(Duration::from_secs(1), client.line()).await.is_ok_and(|line| line == answer) {
        read += 1;
    }
    assert_eq!(read, taken);
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_calls_and_the_session() {
    let mut client = Client::ready().await;
    client.gateway.behave(Behaviour::Hang);
    client.send(&call(1)).await;
    patiently(client.gateway.started.notified()).await;
    let gateway = Arc::clone(&client.gateway);
    assert_eq!(client.end().await, "");
    patiently(gateway.dropped.notified()).await;
    assert_eq!(gateway.ended.lock().unwrap().last().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_ended_its_input_and_does_not_read_is_not_waited_for() {
    let mut client = Client::with(false, 16);
    client.send(&request(1, "ping")).await;
    drop(client.input);
    patiently(client.served).await.unwrap();
}

#[tokio::test]
async fn a_client_that_closes_its_end_of_the_output_ends_its_calls_and_its_session() {
    let mut client = Client::ready().await;
    client.gateway.behave(Behaviour::Hang);
    client.send(&call(1)).await;
    patiently(client.gateway.started.notified()).await;
    drop(client.output);
    patiently(client.input.write_all(format!("{}\n", request(2, "ping")).as_bytes())).await.unwrap();
    patiently(client.served).await.unwrap();
    patiently(client.gateway.dropped.notified()).await;
    assert_eq!(client.gateway.ended.lock().unwrap().last().unwrap().len(), 1);
}
