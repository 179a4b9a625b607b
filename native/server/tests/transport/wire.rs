//! Requests as raw bytes, and what comes back.

use std::sync::Arc;
use std::time::Duration;

use gateway_server::serve::{Loopback, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::double::{Double, TOKEN};

/// After this, what a test waits for will not come. No test takes as long.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn patiently<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("the server keeps the test waiting")
}

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) gateway: Arc<Double>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) served: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::of(Double::new())
    }

    pub(crate) fn of(gateway: Double) -> Self {
        let listener = Loopback::bind(&[0]).unwrap();
        let port = listener.port();
        let gateway = Arc::new(gateway);
        let shutdown = CancellationToken::new();
        let served = tokio::spawn(serve(listener, Arc::clone(&gateway), shutdown.clone()));
        Self { port, gateway, shutdown, served }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::to(self.port).await
    }

    pub(crate) async fn send(&self, request: &Request) -> Response {
        self.connect().await.send(request).await
    }

    /// A session whose handshake is not finished.
    pub(crate) async fn new_session(&self) -> String {
        let response = self.send(&Request::initialize()).await;
        assert_eq!(response.status, 200, "{response:?}");
        response.header("mcp-session-id").expect("a session").to_owned()
    }

    /// A session that is ready for calls.
    pub(crate) async fn session(&self) -> String {
        let session = self.new_session().await;
        self.make_ready(&session).await;
        session
    }

    /// Finishes a handshake.
    pub(crate) async fn make_ready(&self, session: &str) {
        let ready =
            Request::post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).in_session(session);
        assert_eq!(self.send(&ready.without("MCP-Protocol-Version")).await.status, 202);
    }

    /// Sends a request inside a session that is ready, and gives its JSON.
    pub(crate) async fn ask(&self, message: &Value) -> Value {
        let session = self.session().await;
        let response = self.send(&Request::post(message).in_session(&session)).await;
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    /// Sends a body as it is inside a session that is ready.
    pub(crate) async fn ask_raw(&self, body: &[u8]) -> Response {
        let session = self.session().await;
        self.send(&Request::of_body(body).in_session(&session)).await
    }
}

/// One request, well formed until a test spoils it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) start: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    /// Sent as one chunk, without Content-Length.
    pub(crate) chunked: bool,
}

impl Request {
    pub(crate) fn of_body(body: &[u8]) -> Self {
        let headers = [
            ("Host", "127.0.0.1:39400".to_owned()),
            ("Authorization", format!("Bearer {TOKEN}")),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
        ];
        Self {
            start: "POST /mcp HTTP/1.1".to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.into_bytes())).into(),
            body: body.to_vec(),
            chunked: false,
        }
    }

    pub(crate) fn post(message: &Value) -> Self {
        Self::of_body(message.to_string().as_bytes())
    }

    pub(crate) fn initialize() -> Self {
        Self::post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"},
        }}))
    }

    pub(crate) fn ping() -> Self {
        Self::post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    }

    pub(crate) fn delete() -> Self {
        Self::of_body(b"").start("DELETE /mcp HTTP/1.1").without("Content-Type")
    }

    pub(crate) fn start(mut self, start: &str) -> Self {
        start.clone_into(&mut self.start);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// One more line of a header.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// The header with this value and no other.
    pub(crate) fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).with(name, value)
    }

    pub(crate) fn in_session(self, session: &str) -> Self {
        self.set("MCP-Session-Id", session)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.start).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        if self.chunked {
            bytes.extend_from_slice(format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", self.body.len()).as_bytes());
            bytes.extend_from_slice(&self.body);
            bytes.extend_from_slice(b"\r\n0\r\n\r\n");
        } else {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", self.body.len()).as_bytes());
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case, in the order in which they came.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub(crate) async fn to(port: u16) -> Self {
        let stream = patiently(TcpStream::connect(("127.0.0.1", port))).await.unwrap();
        Self { stream, received: Vec::new() }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        patiently(self.stream.write_all(bytes)).await.unwrap();
    }

    pub(crate) async fn send(&mut self, request: &Request) -> Response {
        self.write(&request.bytes()).await;
        self.response().await
    }

    /// The next response on this connection.
    pub(crate) async fn response(&mut self) -> Response {
        let end = loop {
            if let Some(at) = self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                break at;
            }
            assert!(self.more().await, "the connection ended: {:?}", String::from_utf8_lossy(&self.received));
        };
        let head = String::from_utf8(self.received.drain(..end + 4).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length =
            headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
        while self.received.len() < length {
            assert!(self.more().await, "the body ended early");
        }
        Response { status, headers, body: self.received.drain(..length).collect() }
    }

    /// Waits until the server closes the connection, and says what it sent before.
    pub(crate) async fn closed(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.received)
    }

    /// As [`Self::closed`], for tests in which time does not pass by itself.
    pub(crate) async fn closed_whenever(&mut self) -> Vec<u8> {
        while self.stream.read_buf(&mut self.received).await.is_ok_and(|count| count > 0) {}
        std::mem::take(&mut self.received)
    }

    /// Whether bytes have arrived that nobody has read yet.
    pub(crate) fn has_answer(&self) -> bool {
        self.stream.try_read(&mut [0; 1]).is_ok()
    }

    async fn more(&mut self) -> bool {
        patiently(self.stream.read_buf(&mut self.received)).await.is_ok_and(|count| count > 0)
    }
}
