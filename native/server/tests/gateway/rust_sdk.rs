//! A session of the Rust SDK of MCP, from the handshake to the end, over a real socket and over a pair of streams.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::bench::{Bench, function, on_line, settings, uri_of};
use gateway_core::epochs::Epoch;
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::location::{RawTarget, RawTargets};
use gateway_core::symbol::{RawDocumentSymbol, RawDocumentSymbols};
use gateway_server::access::Access;
use gateway_server::gateway::Settings;
use gateway_server::serve::{Loopback, serve};
use gateway_server::session::Sessions;
use gateway_server::stdio;
use rmcp::model::{CallToolRequestParams, ErrorData, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, QuitReason, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

const TOKEN: &str = "dG9rZW4tb2YtdGhlLXRlc3RzLXRoYXQtaXMtbG9uZw";
/// After this, what a test waits for will not come. No test takes as long.
const PATIENCE: Duration = Duration::from_secs(20);

async fn patiently<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("the server keeps the client waiting")
}

/// A client of the SDK in a session with a server that is in front of a stand-in for the editor.
struct Session {
    bench: Bench,
    url: String,
    http: reqwest::Client,
    client: RunningService<RoleClient, ()>,
    /// The sessions that the server was told to end.
    ended: Arc<Mutex<Vec<String>>>,
    _stops_the_server: DropGuard,
}

impl Session {
    async fn start() -> Self {
        Self::start_by(ClientLifecycleMode::Initialize).await
    }

    async fn start_by(lifecycle: ClientLifecycleMode) -> Self {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&ended);
        let note = move |ids| *told.lock().expect("no test panics while it holds this") = ids;
        let bench = Bench::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(note)));
        let access = Access { tokens: vec![TOKEN.to_owned()], allowed_origins: Vec::new(), fallback: false };
        let settings = settings(vec![bench.root.clone()], Duration::from_secs(2));
        bench.gateway.configure(Settings { access, ..settings });

        let listener = Loopback::bind(&[0]).expect("a port");
        let url = format!("http://127.0.0.1:{}/mcp", listener.port());
        let shutdown = CancellationToken::new();
        tokio::spawn(serve(listener, Arc::clone(&bench.gateway), shutdown.clone()));

        // Whoever has to go through a proxy to fetch the crates does not reach this machine through it.
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let config = StreamableHttpClientTransportConfig::with_uri(url.clone()).auth_header(TOKEN);
        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
        let client = patiently(().serve_with_lifecycle(transport, lifecycle)).await.expect("a session");
        Self { bench, url, http, client, ended, _stops_the_server: shutdown.drop_guard() }
    }

    /// Calls a tool, and gives its payload once the envelope is as it has to be.
    async fn call(&self, tool: &'static str, arguments: Value) -> Value {
        let result = patiently(self.client.call_tool(params(tool, arguments))).await.expect("an answer");
        assert_eq!(result.is_error, Some(false));
        assert_eq!(result.content, []);
        result.structured_content.expect("a payload")
    }

    async fn refusal(&self, tool: &'static str, arguments: Value) -> ErrorData {
        match patiently(self.client.call_tool(params(tool, arguments))).await {
            Err(ServiceError::McpError(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    fn place(&self) -> Value {
        json!({ "uri": self.bench.uri("a.ts"), "position": { "line": 1, "character": 20 } })
    }

    /// The first place that is asked about, with more arguments.
    fn place_and(&self, more: Value) -> Value {
        let (Value::Object(mut arguments), Value::Object(more)) = (self.place(), more) else { panic!("two objects") };
        arguments.extend(more);
        Value::Object(arguments)
    }
}

fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// How a client begins that would rather speak a newer revision.
fn probe() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
}

/// The range of [`on_line`], as a client sees it.
fn range(line: u32) -> Value {
    json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 1 } })
}

/// The id of an item, made of the text that the contract gives for it.
fn id(text: &str) -> String {
    Sha256::digest(text).iter().fold("sha256:".to_owned(), |id, byte| id + &format!("{byte:02x}"))
}

#[tokio::test]
async fn the_rust_sdk_initializes_and_lists_exactly_the_seven_tools() {
    let session = Session::start().await;

    let server = session.client.peer_info().expect("who answered");
    assert_eq!(server.protocol_version, ProtocolVersion::V_2025_11_25);
    assert_eq!(server.server_info.as_ref().expect("a name").name, "vscode-mcp-lsp-gateway");
    assert_eq!(json!(server.capabilities), json!({ "tools": {} }));

    let tools = patiently(session.client.list_all_tools()).await.expect("the catalog");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "vscode.lsp.definition",
            "vscode.lsp.references",
            "vscode.lsp.hover",
            "vscode.lsp.documentSymbols",
            "vscode.lsp.workspaceSymbols",
            "vscode.lsp.diagnostics.document",
            "vscode.lsp.diagnostics.workspace",
        ]
    );
    for tool in tools {
        assert_eq!(tool.annotations.expect("annotations").read_only_hint, Some(true), "{}", tool.name);
        assert!(tool.output_schema.is_some(), "{}", tool.name);
    }
}

#[tokio::test]
async fn the_rust_sdk_gets_through_when_it_probes_for_a_newer_revision_first() {
    let session = Session::start_by(probe()).await;

    let server = session.client.peer_info().expect("who answered");
    assert_eq!(server.protocol_version, ProtocolVersion::V_2025_11_25);
    assert_eq!(patiently(session.client.list_all_tools()).await.expect("the catalog").len(), 7);
}

#[tokio::test]
async fn the_rust_sdk_is_answered_by_all_seven_tools() {
    let session = Session::start().await;
    let bench = &session.bench;
    let (uri, outside) = (bench.uri("a.ts"), uri_of(&bench.folder.path().join("outside.ts")));
    let target = |uri, line| RawTarget { uri, range: on_line(9), selection: Some(on_line(line)) };
    let definition =
        RawTargets { uris: vec![uri.clone(), outside], items: vec![target(1, 0), target(0, 4)], without_range: 0 };
    let fragment = RawHoverFragment { range: Some(on_line(1)), language: Some(0), value: 1 };
    let hover = RawHovers { strings: vec!["ts".to_owned(), "let x: string".to_owned()], items: vec![fragment] };
    let symbol = RawDocumentSymbol {
        name: Some(0),
        kind: function(),
        range: on_line(6),
        selection: None,
        container_name: Some(1),
        parent: None,
    };
    let outline = RawDocumentSymbols { strings: vec!["dock".to_owned(), "Harbour".to_owned()], items: vec![symbol] };
    bench.editor.set(|answers| {
        answers.definition = Some(Ok(definition));
        answers.hover = Some(hover);
        answers.document_symbols = Some(outline);
    });
    bench.refer_to([5, 4, 3, 5]);
    bench.name([2, 1]);
    bench.publish([("b.ts", &[][..]), ("a.ts", &[7, 3])]);

    assert_eq!(
        session.call("vscode.lsp.definition", session.place()).await,
        json!({
            "locations": [{ "uri": uri, "range": range(4) }],
            "summary": "Found 1 definition; 1 outside the allowed roots was left out.",
        })
    );
    assert_eq!(
        session.call("vscode.lsp.references", session.place()).await,
        json!({
            "items": [{ "uri": uri, "range": range(3) }, { "uri": uri, "range": range(5) }],
            "nextCursor": null,
            "summary": "Returned 2 references.",
        }),
        "without the declaration in line 4"
    );
    assert_eq!(
        session.call("vscode.lsp.hover", session.place()).await,
        json!({
            "contents": [{ "kind": "markdown", "value": "```ts\nlet x: string\n```" }],
            "range": range(1),
            "summary": "Hover available.",
        })
    );
    assert_eq!(
        session.call("vscode.lsp.documentSymbols", json!({ "uri": uri })).await,
        json!({
            "symbols": [{
                "id": id(&format!("{uri}|dock|12|6:0|6:1|6:0|6:1|Harbour")),
                "name": "dock",
                "kind": 12,
                "range": range(6),
                "selectionRange": range(6),
                "containerName": "Harbour",
            }],
            "summary": "Returned 1 document symbol.",
        })
    );
    let named = |line| {
        let id = id(&format!("{uri}|f|12|{line}:0|{line}:1|"));
        json!({ "id": id, "name": "f", "kind": 12, "location": { "uri": uri, "range": range(line) } })
    };
    assert_eq!(
        session.call("vscode.lsp.workspaceSymbols", json!({ "query": "f" })).await,
        json!({
            "items": [named(1), named(2)],
            "nextCursor": null,
            "summary": "Returned 2 workspace symbols.",
        })
    );
    let odd = |line| {
        let id = id(&format!("{uri}|{line}:0|{line}:1|2|||odd"));
        json!({ "id": id, "range": range(line), "severity": 2, "message": "odd" })
    };
    assert_eq!(
        session.call("vscode.lsp.diagnostics.document", json!({ "uri": uri })).await,
        json!({ "uri": uri, "diagnostics": [odd(3), odd(7)], "summary": "Returned 2 diagnostics." })
    );
    assert_eq!(
        session.call("vscode.lsp.diagnostics.workspace", json!({})).await,
        json!({
            "items": [{ "uri": uri, "diagnostics": [odd(3), odd(7)] }],
            "nextCursor": null,
            "summary": "Returned diagnostics for 1 file; files that no language server has analysed are not among them.",
        })
    );
}

#[tokio::test]
async fn the_rust_sdk_pages_references_to_the_end_and_the_pages_add_up() {
    let session = Session::start().await;
    session.bench.refer_to((0..25).rev());

    let (mut items, mut sizes, mut summaries) = (Vec::new(), Vec::new(), Vec::new());
    let mut cursor = Value::Null;
    loop {
        let more = json!({ "includeDeclaration": true, "pageSize": 10, "cursor": cursor });
        let page = session.call("vscode.lsp.references", session.place_and(more)).await;
        let of_page = page["items"].as_array().expect("items");
        sizes.push(of_page.len());
        items.extend(of_page.iter().cloned());
        summaries.push(page["summary"].clone());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }

    assert_eq!(sizes, [10, 10, 5]);
    let uri = session.bench.uri("a.ts");
    let expected: Vec<Value> = (0..25).map(|line| json!({ "uri": uri, "range": range(line) })).collect();
    assert_eq!(items, expected);
    let followed = "Returned 10 references (next page available).";
    assert_eq!(summaries, [followed, followed, "Returned 5 references."]);
    assert_eq!(session.bench.editor.set(|answers| answers.asked), 1, "the editor is asked for the first page alone");
}

#[tokio::test]
async fn the_rust_sdk_is_told_by_an_error_what_to_do() {
    let session = Session::start().await;
    session.bench.refer_to([1, 2]);
    let page =
        |cursor: &Value| session.place_and(json!({ "includeDeclaration": true, "pageSize": 1, "cursor": cursor }));
    let first = session.call("vscode.lsp.references", page(&Value::Null)).await;
    session.bench.gateway.bump(Epoch::Text);

    let error = session.refusal("vscode.lsp.references", page(&first["nextCursor"])).await;

    assert_eq!(error.code.0, -32602);
    assert_eq!(
        error.message,
        "The workspace changed since this cursor was made; call again with cursor null. [MCP_LSP_GATEWAY/CURSOR_STALE]"
    );
    assert_eq!(
        error.data,
        Some(json!({
            "code": "MCP_LSP_GATEWAY/CURSOR_STALE",
            "message": "The workspace changed since this cursor was made; call again with cursor null.",
            "details": { "changed": ["text"] },
        }))
    );
}

#[tokio::test]
async fn the_rust_sdk_ends_its_session_when_it_closes() {
    let session = Session::start().await;
    patiently(session.client.list_all_tools()).await.expect("the catalog");
    assert!(session.ended.lock().expect("not poisoned").is_empty());

    let quit = patiently(session.client.cancel()).await.expect("the end");

    assert!(matches!(quit, QuitReason::Cancelled), "{quit:?}");
    let ended = session.ended.lock().expect("not poisoned").clone();
    let [id] = ended.as_slice() else { panic!("one session is ended, not {}", ended.len()) };
    let again = session
        .http
        .post(&session.url)
        .bearer_auth(TOKEN)
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Session-Id", id)
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(patiently(again.send()).await.expect("a response").status(), 404);
}

#[tokio::test]
async fn the_rust_sdk_gets_through_over_a_pair_of_streams_whether_or_not_it_probes_first() {
    for lifecycle in [ClientLifecycleMode::Initialize, probe()] {
        let bench = Bench::of(Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| ())));
        bench.refer_to([4, 3]);
        let (near, far) = tokio::io::duplex(65_536);
        let (input, output) = tokio::io::split(far);
        let served = tokio::spawn(stdio::serve(Arc::clone(&bench.gateway), false, input, output));

        let client = patiently(().serve_with_lifecycle(near, lifecycle)).await.expect("a session");
        assert_eq!(client.peer_info().expect("who answered").protocol_version, ProtocolVersion::V_2025_11_25);
        assert_eq!(patiently(client.list_all_tools()).await.expect("the catalog").len(), 7);
        let position = json!({ "line": 1, "character": 20 });
        let arguments = json!({ "uri": bench.uri("a.ts"), "position": position, "includeDeclaration": true });
        let result = patiently(client.call_tool(params("vscode.lsp.references", arguments))).await.expect("an answer");
        assert_eq!(
            result.structured_content.expect("a payload")["items"],
            json!([3, 4].map(|line| json!({ "uri": bench.uri("a.ts"), "range": range(line) })))
        );

        patiently(client.cancel()).await.expect("the end");
        patiently(served).await.expect("it returns");
    }
}
