//! D40, D41 and D46: the revision, the handshake, the methods, cancellation.

use std::pin::pin;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::double::Behaviour;
use crate::wire::{Request, Server, patiently};

fn initialize(params: &Value) -> Request {
    Request::post(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}))
}

fn definition(id: &Value) -> Request {
    Request::post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "vscode.lsp.definition",
        "arguments": {"uri": "file:///a.ts", "position": {"line": 0, "character": 0}},
    }}))
}

fn cancelled(id: &Value) -> Request {
    Request::post(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": id, "reason": "no longer wanted",
    }}))
}

#[tokio::test]
async fn initialize_is_answered_with_the_revision_the_tools_capability_and_who_we_are() {
    let server = Server::start();
    let response = server.send(&initialize(&json!({"protocolVersion": "2025-11-25"}))).await;
    assert_eq!(response.status, 200);
    let mut answer = response.json();
    let instructions = answer["result"].as_object_mut().unwrap().remove("instructions").unwrap();
    let instructions = instructions.as_str().unwrap();
    assert!(instructions.starts_with("Ask the stand-in: where a symbol is defined and used"), "{instructions}");
    assert!(instructions.len() < 600);
    // As much as Codex shows its models before they have asked for any tool.
    let beginning = &instructions[..240];
    for word in ["defined", "used", "type", "documentation", "symbols", "errors", "warnings", "text search"] {
        assert!(beginning.contains(word), "{word}");
    }
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": "init", "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "vscode-mcp-lsp-gateway", "title": "MCP LSP Gateway", "version": "1.2.3"},
        }})
    );
}

#[tokio::test]
async fn initialize_with_any_other_version_is_answered_with_2025_11_25() {
    let server = Server::start();
    for version in ["2025-06-18", "2024-11-05", "2026-07-28", "1.0", ""] {
        let response = server.send(&initialize(&json!({"protocolVersion": version}))).await;
        assert_eq!(response.json()["result"]["protocolVersion"], "2025-11-25", "{version}");
        assert!(response.header("mcp-session-id").is_some(), "{version}");
    }
}

/// The one exception to D40: what a client gets that knows 2025-06-18 only, where the person allows it.
#[tokio::test]
async fn with_the_fallback_a_client_that_asks_for_2025_06_18_gets_a_session_of_it_and_every_other_one_does_not() {
    let server = Server::start();
    server.gateway.fall_back(true);
    for (asked, answered) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2025-03-26", "2025-11-25"),
        ("2025-06-18 ", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let response = server.send(&initialize(&json!({"protocolVersion": asked}))).await;
        assert_eq!(response.json()["result"]["protocolVersion"], answered, "{asked:?}");
        let session = response.header("mcp-session-id").unwrap();
        for version in ["2025-06-18", "2025-11-25", "2025-03-26", "2025-06-18, 2025-11-25"] {
            let ping = Request::ping().in_session(session).set("MCP-Protocol-Version", version);
            let expected = if version == answered { 200 } else { 400 };
            assert_eq!(server.send(&ping).await.status, expected, "{version} in a session of {answered}");
        }
        let unnamed = Request::ping().in_session(session).without("MCP-Protocol-Version");
        assert_eq!(server.send(&unnamed).await.status, 200);
    }
}

#[tokio::test]
async fn a_session_of_the_fallback_ends_with_the_fallback_and_goes_on_across_a_reload_until_then() {
    let before = Server::start();
    before.gateway.fall_back(true);
    let response = before.send(&initialize(&json!({"protocolVersion": "2025-06-18"}))).await;
    let session = response.header("mcp-session-id").unwrap().to_owned();
    let ping = Request::ping().in_session(&session).set("MCP-Protocol-Version", "2025-06-18");

    let after = Server::start();
    assert_eq!(after.send(&ping).await.status, 404);
    after.gateway.fall_back(true);
    assert_eq!(after.send(&ping).await.status, 200);
    after.gateway.fall_back(false);
    assert_eq!(after.send(&ping).await.status, 404);
    assert_eq!(after.send(&Request::delete().in_session(&session)).await.status, 404);
}

#[tokio::test]
async fn initialize_without_a_protocol_version_is_invalid_params_and_makes_no_session() {
    let server = Server::start();
    let bare = Request::post(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize"}));
    let requests = [
        bare,
        initialize(&json!({})),
        initialize(&json!({"protocolVersion": null})),
        initialize(&json!({"protocolVersion": 20_251_125})),
    ];
    for request in requests {
        let response = server.send(&request).await;
        assert_eq!((response.status, response.header("mcp-session-id")), (200, None));
        let answer = response.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("init"), &json!(-32602)));
    }
}

#[tokio::test]
async fn initialize_ignores_session_and_version_headers_and_mints_a_new_session() {
    let server = Server::start();
    let session = server.session().await;
    for named in [session.as_str(), "unknown", ""] {
        let request = initialize(&json!({"protocolVersion": "2025-11-25"}))
            .in_session(named)
            .set("MCP-Protocol-Version", "2024-11-05");
        let response = server.send(&request).await;
        assert_eq!(response.status, 200);
        assert_ne!(response.header("mcp-session-id").unwrap(), named);
    }
}

#[tokio::test]
async fn the_version_header_may_be_absent_or_name_the_revision_as_often_as_it_likes() {
    let server = Server::start();
    let session = server.session().await;
    let ping = Request::ping().in_session(&session);
    let requests = [
        ping.clone(),
        ping.clone().set("MCP-Protocol-Version", "2025-11-25"),
        ping.clone().set("mcp-protocol-version", "2025-11-25, 2025-11-25"),
        ping.set("MCP-Protocol-Version", "2025-11-25").with("MCP-Protocol-Version", "2025-11-25"),
    ];
    for request in requests {
        assert_eq!(server.send(&request).await.status, 200, "{request:?}");
    }
}

#[tokio::test]
async fn any_other_value_of_the_version_header_is_400_wherever_it_stands() {
    let server = Server::start();
    let session = server.session().await;
    let ping = Request::ping().in_session(&session);
    for value in
        ["2025-06-18", "2026-07-28", "", "2025-11-25,", "2025-11-25, 2025-06-18", "2025-06-18,2025-11-25", "\u{fc}"]
    {
        let response = server.send(&ping.clone().set("MCP-Protocol-Version", value)).await;
        assert_eq!((response.status, response.text().is_empty()), (400, false), "{value}");
    }
    let lines = ping.set("MCP-Protocol-Version", "2025-11-25").with("MCP-Protocol-Version", "2025-06-18");
    assert_eq!(server.send(&lines).await.status, 400);
}

#[tokio::test]
async fn before_initialized_every_request_but_ping_is_an_invalid_request() {
    let server = Server::start();
    let session = server.new_session().await;
    assert_eq!(
        server.send(&Request::ping().in_session(&session)).await.json(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}})
    );
    for method in ["tools/list", "tools/call", "resources/list", "never/heard"] {
        let request = Request::post(&json!({"jsonrpc": "2.0", "id": 2, "method": method})).in_session(&session);
        let response = server.send(&request).await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (200, &json!(-32600)), "{method}");
    }
    let ready = Request::post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).in_session(&session);
    for _ in 0..2 {
        assert_eq!(server.send(&ready).await.status, 202);
        let list = Request::post(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).in_session(&session);
        assert!(server.send(&list).await.json().get("result").is_some());
    }
}

/// VS Code sends both at once, on two connections.
#[tokio::test]
async fn a_request_that_overtakes_the_initialized_notification_waits_for_it() {
    let server = Server::start();
    let session = server.new_session().await;
    let list = Request::post(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).in_session(&session);
    let mut overtaking = server.connect().await;
    overtaking.write(&list.bytes()).await;
    let answered = overtaking.response();
    let mut answered = pin!(answered);
    assert!(timeout(Duration::from_millis(200), answered.as_mut()).await.is_err(), "it waits");
    let ready = Request::post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).in_session(&session);
    assert_eq!(server.send(&ready).await.status, 202);
    assert!(answered.await.json().get("result").is_some());
}

#[tokio::test]
async fn one_session_that_is_initialized_does_not_initialize_another() {
    let server = Server::start();
    let waiting = server.new_session().await;
    server.session().await;
    let list = Request::post(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).in_session(&waiting);
    assert_eq!(server.send(&list).await.json()["error"]["code"], -32600);
}

#[tokio::test]
async fn meta_and_task_in_params_are_tolerated_by_every_method() {
    let server = Server::start();
    let session = server.session().await;
    let extra = json!({"_meta": {"progressToken": 1}, "task": {"ttl": 1}});
    let mut call = extra.clone();
    call["name"] = json!("vscode.lsp.diagnostics.workspace");
    for (method, params) in [("ping", &extra), ("tools/list", &extra), ("tools/call", &call)] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = server.send(&Request::post(&message).in_session(&session)).await.json();
        assert!(answer.get("result").is_some(), "{answer}");
    }
    let mut params = extra;
    params["protocolVersion"] = json!("2025-11-25");
    assert!(server.send(&initialize(&params)).await.json().get("result").is_some());
}

#[tokio::test]
async fn an_undeclared_method_is_not_found() {
    let server = Server::start();
    let session = server.session().await;
    for method in
        ["resources/list", "prompts/list", "logging/setLevel", "completion/complete", "tasks/list", "tools/List", ""]
    {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        let response = server.send(&Request::post(&message).in_session(&session)).await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (200, &json!(-32601)), "{method}");
    }
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_its_post_is_answered_cap_exceeded() {
    let server = Server::start();
    let session = server.session().await;
    server.gateway.behave(Behaviour::Hang);
    for id in [json!(5), json!("five")] {
        let mut connection = server.connect().await;
        connection.write(&definition(&id).in_session(&session).bytes()).await;
        patiently(server.gateway.started.notified()).await;
        assert_eq!(server.send(&cancelled(&id).in_session(&session)).await.status, 202);
        let response = connection.response().await;
        patiently(server.gateway.dropped.notified()).await;
        assert_eq!(response.status, 200);
        let answer = response.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32603)));
        assert_eq!(answer["error"]["data"]["code"], "MCP_LSP_GATEWAY/CAP_EXCEEDED");
        assert_eq!(answer["error"]["data"]["details"], json!({"reason": "cancelled"}));
    }
}

#[tokio::test]
async fn a_cancellation_reaches_only_the_call_of_that_id_in_that_session() {
    let server = Server::start();
    let (session, other) = (server.session().await, server.session().await);
    server.gateway.behave(Behaviour::Hang);
    let mut connection = server.connect().await;
    connection.write(&definition(&json!(1)).in_session(&session).bytes()).await;
    patiently(server.gateway.started.notified()).await;
    let misses = [
        cancelled(&json!(1)).in_session(&other),
        cancelled(&json!(2)).in_session(&session),
        cancelled(&json!("1")).in_session(&session),
        cancelled(&json!(null)).in_session(&session),
        Request::post(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"})).in_session(&session),
    ];
    for miss in &misses {
        assert_eq!(server.send(miss).await.status, 202);
    }
    // Once a second call has been cancelled and answered, the first, had it been hit, would have been answered too.
    let mut second = server.connect().await;
    second.write(&definition(&json!(3)).in_session(&session).bytes()).await;
    patiently(server.gateway.started.notified()).await;
    server.send(&cancelled(&json!(3)).in_session(&session)).await;
    assert_eq!(second.response().await.json()["id"], 3);
    assert!(!connection.has_answer());
    server.send(&cancelled(&json!(1)).in_session(&session)).await;
    assert_eq!(connection.response().await.json()["id"], 1);
}

#[tokio::test]
async fn a_dropped_connection_drops_its_call() {
    let server = Server::start();
    let session = server.session().await;
    server.gateway.behave(Behaviour::Hang);
    let mut connection = server.connect().await;
    connection.write(&definition(&json!(1)).in_session(&session).bytes()).await;
    patiently(server.gateway.started.notified()).await;
    drop(connection);
    patiently(server.gateway.dropped.notified()).await;
}
