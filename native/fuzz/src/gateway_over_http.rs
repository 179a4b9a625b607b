//! A gateway behind its HTTP face, without a socket.

use std::future::Future;
use std::sync::Arc;

use gateway_core::error::ToolError;
use gateway_core::limits::Limits;
use gateway_core::page::Payload;
use gateway_core::tool::{Arguments, Registered};
use gateway_core::tools;
use gateway_server::access::Access;
use gateway_server::activity::Activity;
use gateway_server::answers;
use gateway_server::catalog::Catalog;
use gateway_server::http::Endpoint;
use gateway_server::http::Guarded;
use gateway_server::lifecycle::Calls;
use gateway_server::session::Sessions;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

pub(crate) const TOKEN: &str = "dG9rZW4tb2YtdGhlLWZ1enplcnMtdGhhdC1pcy1sb25n";
pub(crate) const KEY: [u8; 32] = *b"a key of thirty-two bytes, fixed";

thread_local! {
    /// Time passes in it as soon as nobody has anything to do, so that limits of seconds cost nothing. Targets that run side
    /// by side have a clock each.
    static RUNTIME: Runtime =
        Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(work))
}

/// What came back for one request.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// A client that has the token.
pub(crate) struct Client<G> {
    endpoint: Endpoint<G>,
    pub(crate) token: String,
    pub(crate) session: Option<String>,
}

impl<G> Clone for Client<G> {
    fn clone(&self) -> Self {
        Self { endpoint: self.endpoint.clone(), token: self.token.clone(), session: self.session.clone() }
    }
}

impl<G: Guarded> Client<G> {
    pub(crate) fn of(gateway: Arc<G>) -> Self {
        Self { endpoint: Endpoint::new(gateway), token: TOKEN.to_owned(), session: None }
    }

    pub(crate) async fn send(&mut self, method: &str, body: Vec<u8>) -> Answered {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "127.0.0.1")
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let request = request.body(Full::<Bytes>::from(body)).expect("a request");
        let response = self.endpoint.answer(request).await;
        let status = response.status().as_u16();
        let session = response.headers().get("mcp-session-id").map(|id| id.to_str().expect("plain").to_owned());
        let body = response.into_body().collect().await.expect("a body").to_bytes().to_vec();
        Answered { status, session, body }
    }

    pub(crate) async fn post(&mut self, message: &Value) -> Answered {
        self.send("POST", message.to_string().into_bytes()).await
    }

    /// Begins a session and finishes its handshake.
    pub(crate) async fn initialize(&mut self) {
        let answered = self
            .post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}))
            .await;
        assert_eq!(answered.status, 200);
        self.session = answered.session;
        let answered = self.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(answered.status, 202);
    }
}

/// A stand-in for the gateway that answers every call alike.
pub(crate) struct Double {
    access: Arc<Access>,
    sessions: Sessions,
    activity: Activity,
}

impl Double {
    pub(crate) fn new() -> Arc<Self> {
        let access = Arc::new(Access {
            tokens: vec![TOKEN.to_owned()],
            allowed_origins: vec!["https://a.example".to_owned()],
            fallback: true,
        });
        let sessions = Sessions::new(&KEY, "workspace", &[], Box::new(|_| ()));
        Arc::new(Self { access, sessions, activity: Activity::default() })
    }
}

impl Calls for Double {
    fn version(&self) -> &'static str {
        "1.2.3"
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::new(Catalog::of(tools::v1()))
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn activity(&self) -> &Activity {
        &self.activity
    }

    fn limits(&self) -> Limits {
        Limits::default()
    }

    async fn call(
        self: &Arc<Self>,
        tool: Registered,
        arguments: Arguments,
        _: usize,
    ) -> Result<answers::Answered, ToolError> {
        let before = json!({ "tool": tool.name(), "arguments": format!("{arguments:?}") }).to_string().into_bytes();
        Ok(answers::Answered { payload: Payload { before, ..Payload::default() }, retained: None })
    }
}

impl Guarded for Double {
    fn access(&self) -> Arc<Access> {
        Arc::clone(&self.access)
    }
}
