//! What is noted of the calls that come in.

use serde_json::{Value, json};

use gateway_core::error::ToolError;

use crate::double::Behaviour;
use crate::wire::{Request, Server};

fn hover() -> Value {
    let arguments = json!({ "uri": "file:///w/a.ts", "position": { "line": 3, "character": 4 } });
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "vscode.lsp.hover", "arguments": arguments },
    })
}

fn noted(server: &Server) -> Value {
    serde_json::from_str(&server.gateway.activity.since(0, 0).to_json()).unwrap()
}

async fn session_of(server: &Server, client: &Value) -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let session = server.send(&Request::post(&begin)).await.header("mcp-session-id").unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    server.send(&Request::post(&ready).in_session(&session)).await;
    session
}

#[tokio::test]
async fn a_call_is_noted_under_its_client_with_its_items_and_a_failed_one_with_its_code() {
    let server = Server::start();
    let session = session_of(&server, &json!({ "name": "a client", "version": "1.2" })).await;
    server.send(&Request::post(&hover()).in_session(&session)).await;
    server.gateway.behave(Behaviour::Fail(ToolError::OutsideRoots));
    server.send(&Request::post(&hover()).in_session(&session)).await;

    let noted = noted(&server);
    let text = |cell: &Value| noted["texts"][usize::try_from(cell.as_u64().unwrap()).unwrap()].clone();
    let outline: Vec<_> = noted["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!([text(&call[4]), text(&call[5]), call[7], call[8], text(&call[9]), call[10], call[11]]))
        .collect();
    let expected = [
        json!(["vscode.lsp.hover", "file:///w/a.ts", 3, 4, "answered", 1, 3]),
        json!(["vscode.lsp.hover", "file:///w/a.ts", 3, 4, "WORKSPACE_DENIED", 0, 0]),
    ];
    assert_eq!(outline, expected);
    let client = json!({ "name": "a client", "version": "1.2", "calls": 2, "failed": 1, "open": true });
    assert_eq!(noted["clients"], json!([client]));

    server.send(&Request::delete().in_session(&session)).await;
    assert_eq!(self::noted(&server)["clients"][0]["open"], false);
}

#[tokio::test]
async fn nothing_that_a_tool_answered_and_no_token_is_noted() {
    let server = Server::start();
    server.gateway.behave(Behaviour::Answer(r#"{"contents":[{"kind":"markdown","value":"a secret"}]}"#));
    let session = session_of(&server, &json!({ "name": "a client" })).await;
    let answer = server.send(&Request::post(&hover()).in_session(&session)).await;
    assert!(answer.text().contains("a secret"));
    let noted = noted(&server).to_string();
    for secret in ["a secret", crate::double::TOKEN, session.as_str()] {
        assert!(!noted.contains(secret), "{noted}");
    }
}
