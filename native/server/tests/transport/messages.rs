//! What counts as a message (D44, D46), and how answers are written (D2, D3).

use std::time::Duration;

use gateway_core::epochs::Epoch;
use gateway_core::error::{Explanation, ToolError};
use serde_json::{Value, json};

use crate::double::{Behaviour, WORDING};
use crate::wire::{Request, Server};

fn definition(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "vscode.lsp.definition",
        "arguments": {"uri": "file:///a.ts", "position": {"line": 0, "character": 0}},
    }})
}

async fn assert_refused(body: &[u8], code: i32, told: &str) {
    let server = Server::start();
    for response in [server.send(&Request::of_body(body)).await, server.ask_raw(body).await] {
        let name = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        assert_eq!(response.status, 400, "{name}");
        let answer = response.json();
        assert_eq!(answer["jsonrpc"], "2.0", "{name}");
        assert_eq!(answer.get("id"), Some(&Value::Null), "{name}");
        assert_eq!(answer["error"]["code"], code, "{name}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{name}: {message}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_400_with_a_parse_error_and_id_null() {
    let bodies: [&[u8]; 9] = [
        b"",
        b"{",
        b"nonsense",
        b"{'jsonrpc':'2.0'}",
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
        br#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#,
    ];
    for body in bodies {
        assert_refused(body, -32700, "cannot be read as JSON").await;
    }
}

#[tokio::test]
async fn json_that_nests_too_deep_is_refused_and_not_followed() {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}"#, r#"{"a":"#.repeat(100_000));
    assert_refused(body.as_bytes(), -32700, "cannot be read as JSON").await;
}

#[tokio::test]
async fn an_array_is_400_with_an_invalid_request_and_id_null() {
    assert_refused(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, "batches are not supported").await;
    assert_refused(b"[]", -32600, "batches are not supported").await;
}

#[tokio::test]
async fn json_that_is_not_an_object_is_400_with_an_invalid_request() {
    for body in [&b"null"[..], b"1", b"\"ping\"", b"true"] {
        assert_refused(body, -32600, "a message is a JSON object").await;
    }
}

#[tokio::test]
async fn a_message_without_jsonrpc_2_0_is_400_with_an_invalid_request() {
    for version in ["", r#""jsonrpc":"1.0","#, r#""jsonrpc":2.0,"#, r#""jsonrpc":null,"#] {
        let body = format!(r#"{{{version}"id":1,"method":"ping"}}"#);
        assert_refused(body.as_bytes(), -32600, r#"`jsonrpc` must be "2.0""#).await;
    }
}

#[tokio::test]
async fn an_id_that_is_null_or_neither_a_string_nor_an_integer_is_400() {
    for id in ["null", "1.5", "1.0", "1e3", "true", "[]", "{}", "100000000000000000000"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_refused(body.as_bytes(), -32600, "`id` must be a string or an integer").await;
    }
}

#[tokio::test]
async fn a_string_id_may_have_1024_bytes_and_not_more() {
    let server = Server::start();
    let longest = "é".repeat(512);
    let answer = server.ask(&json!({"jsonrpc": "2.0", "id": longest, "method": "ping"})).await;
    assert_eq!(answer["id"], longest.as_str());
    let body = json!({"jsonrpc": "2.0", "id": "é".repeat(512) + "x", "method": "ping"}).to_string();
    assert_refused(body.as_bytes(), -32600, "`id` may have at most 1024 bytes").await;
}

#[tokio::test]
async fn a_method_that_is_not_a_string_is_400() {
    for method in ["null", "1", "[]", "{}"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method}}}"#);
        assert_refused(body.as_bytes(), -32600, "`method` must be a string").await;
    }
}

#[tokio::test]
async fn params_that_are_not_an_object_are_400() {
    for params in ["null", "1", "[]", r#""x""#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
        assert_refused(body.as_bytes(), -32600, "`params` must be an object").await;
    }
}

#[tokio::test]
async fn a_message_that_neither_asks_nor_answers_or_does_both_is_400() {
    assert_refused(br#"{"jsonrpc":"2.0","id":1}"#, -32600, "a message has a `method`").await;
    assert_refused(br#"{"jsonrpc":"2.0"}"#, -32600, "a message has a `method`").await;
    assert_refused(br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32600, "no `result`").await;
    assert_refused(br#"{"jsonrpc":"2.0","id":null,"result":{}}"#, -32600, "`id` must be").await;
}

#[tokio::test]
async fn an_id_comes_back_as_it_was_sent() {
    let server = Server::start();
    for id in
        [json!(0), json!(-7), json!(18_446_744_073_709_551_615_u64), json!(""), json!("1"), json!("a\"\\\n\u{1f600}é")]
    {
        let answer = server.ask(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
}

#[tokio::test]
async fn what_a_tool_answers_stands_byte_for_byte_in_its_envelope() {
    let server = Server::start();
    server.gateway.behave(Behaviour::Answer(r#"{"locations":[ ],"summary":"é"}"#));
    let session = server.session().await;
    let response = server.send(&Request::post(&definition(&json!("a\"b"))).in_session(&session)).await;
    let expected = r#"{"jsonrpc":"2.0","id":"a\"b","result":{"isError":false,"structuredContent":{"locations":[ ],"summary":"é"},"content":[]}}"#;
    assert_eq!((response.status, response.text()), (200, expected));
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("content-length"), Some(expected.len().to_string().as_str()));
    let asked = server.gateway.asked.lock().unwrap().clone();
    assert_eq!(asked[0].envelope_bytes, expected.len() - r#"{"locations":[ ],"summary":"é"}"#.len());
}

/// Gemini CLI hands its model the texts in `content`, and of a result without any an empty object.
#[tokio::test]
async fn in_a_session_of_the_fallback_the_payload_is_a_text_as_well_which_the_cap_does_not_count() {
    let server = Server::start();
    server.gateway.fall_back(true);
    server.gateway.behave(Behaviour::Answer(r#"{"locations":[ ],"summary":"é\n"}"#));
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}});
    let session = server.send(&Request::post(&begin)).await.header("mcp-session-id").unwrap().to_owned();
    server.make_ready(&session).await;
    let request = Request::post(&definition(&json!(1))).in_session(&session).without("MCP-Protocol-Version");
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":false,"structuredContent":{"locations":[ ],"summary":"é\n"},"content":[{"text":"{\"locations\":[ ],\"summary\":\"é\\n\"}","type":"text"}]}}"#;
    assert_eq!(server.send(&request).await.text(), expected);

    let envelope = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":false,"structuredContent":,"content":[]}}"#.len();
    let copied = 524_288 - envelope;
    server.gateway.behave(Behaviour::AnswerOfLength(copied));
    assert_eq!(server.send(&request).await.body.len(), 524_288 + r#"{"text":"","type":"text"}"#.len() + copied);
    server.gateway.behave(Behaviour::AnswerOfLength(524_289 - envelope));
    assert_eq!(server.send(&request).await.json()["error"]["data"]["code"], "MCP_LSP_GATEWAY/CAP_EXCEEDED");
}

#[tokio::test]
async fn a_body_of_exactly_the_cap_is_sent_and_one_byte_more_is_cap_exceeded() {
    let server = Server::start();
    let session = server.session().await;
    let request = Request::post(&definition(&json!(1))).in_session(&session);
    let envelope = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":false,"structuredContent":,"content":[]}}"#.len();
    server.gateway.behave(Behaviour::AnswerOfLength(524_288 - envelope));
    assert_eq!(server.send(&request).await.body.len(), 524_288);
    server.gateway.behave(Behaviour::AnswerOfLength(524_289 - envelope));
    let error = server.send(&request).await.json()["error"].clone();
    assert_eq!(error["code"], -32603);
    assert_eq!(error["data"]["code"], "MCP_LSP_GATEWAY/CAP_EXCEEDED");
    assert_eq!(error["data"]["details"], json!({"responseBytes": 524_289, "maxResponseBytes": 524_288}));
}

#[tokio::test]
async fn every_tool_error_has_its_number_and_ends_with_its_code() {
    let server = Server::start();
    let session = server.session().await;
    let request = Request::post(&definition(&json!(1))).in_session(&session);
    let errors = [
        (ToolError::InvalidParams("Odd.".to_owned()), -32602, "INVALID_PARAMS"),
        (ToolError::OutsideRoots, -32602, "WORKSPACE_DENIED"),
        (ToolError::NoRoots, -32602, "WORKSPACE_DENIED"),
        (ToolError::UriMalformed("it is not a URI"), -32602, "URI_INVALID"),
        (ToolError::UriUnresolvable, -32602, "URI_INVALID"),
        (ToolError::CursorInvalid("it is not a cursor"), -32602, "CURSOR_INVALID"),
        (ToolError::CursorStale { changed: vec![] }, -32602, "CURSOR_STALE"),
        (ToolError::CursorExpired, -32602, "CURSOR_EXPIRED"),
        (ToolError::SnapshotTooLarge { bytes: 2, max_bytes: 1 }, -32602, "SNAPSHOT_TOO_LARGE"),
        (ToolError::FileChanged, -32602, "FILE_CHANGED"),
        (ToolError::TextUntold, -32602, "INVALID_PARAMS"),
        (ToolError::DocumentNotFound, -32603, "NOT_FOUND"),
        (ToolError::TextNotFound, -32603, "NOT_FOUND"),
        (ToolError::TooManyItems { items: 2, max_items: 1 }, -32603, "CAP_EXCEEDED"),
        (ToolError::Timeout { limit: Duration::from_secs(2) }, -32603, "CAP_EXCEEDED"),
        (ToolError::ProviderUnavailable(None), -32603, "PROVIDER_UNAVAILABLE"),
        (ToolError::NotAnalysed, -32603, "PROVIDER_UNAVAILABLE"),
        (ToolError::ProviderFailed(None), -32603, "INTERNAL"),
        (ToolError::Internal, -32603, "INTERNAL"),
    ];
    for (error, number, code) in errors {
        server.gateway.behave(Behaviour::Fail(error));
        let response = server.send(&request).await;
        assert_eq!(response.status, 200);
        let error = response.json()["error"].clone();
        let code = format!("MCP_LSP_GATEWAY/{code}");
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(number), &json!(code)));
        let sentence = error["data"]["message"].as_str().unwrap();
        assert_eq!(error["message"], format!("{sentence} [{code}]"));
        assert!(sentence.ends_with('.'), "{sentence}");
    }
}

#[tokio::test]
async fn an_error_with_details_carries_them_in_its_data() {
    let server = Server::start();
    server.gateway.behave(Behaviour::Fail(ToolError::CursorStale { changed: vec![Epoch::Text, Epoch::Fs] }));
    let answer = server.ask(&definition(&json!(1))).await;
    let sentence = "The workspace changed since this cursor was made; call again with cursor null.";
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": 1, "error": {
            "code": -32602,
            "message": format!("{sentence} [MCP_LSP_GATEWAY/CURSOR_STALE]"),
            "data": {"code": "MCP_LSP_GATEWAY/CURSOR_STALE", "message": sentence, "details": {"changed": ["text", "fs"]}},
        }})
    );
}

#[tokio::test]
async fn an_error_is_told_in_the_words_of_the_back_end() {
    let server = Server::start();
    let explained = |reason| {
        let message = "The stand-in has no server for this; install one.".to_owned();
        Some(Explanation { reason, message })
    };
    let too_large = ToolError::ResponseTooLarge { response_bytes: 2, max_response_bytes: 1, suggested_page_size: None };
    let errors = [
        (ToolError::OutsideRoots, WORDING.outside_roots, json!(null)),
        (
            too_large,
            "The response would take 2 bytes and at most 1 are allowed; ask the stand-in for less.",
            json!({"responseBytes": 2, "maxResponseBytes": 1}),
        ),
        (ToolError::ProviderUnavailable(None), WORDING.provider_unavailable, json!(null)),
        (
            ToolError::ProviderUnavailable(explained(Some("untrusted"))),
            "The stand-in has no server for this; install one.",
            json!({"reason": "untrusted"}),
        ),
        (ToolError::ProviderFailed(explained(None)), "The stand-in has no server for this; install one.", json!(null)),
    ];
    for (error, told, details) in errors {
        server.gateway.behave(Behaviour::Fail(error));
        let data = server.ask(&definition(&json!(1))).await["error"]["data"].clone();
        assert_eq!((&data["message"], &data["details"]), (&json!(told), &details));
    }
}

#[tokio::test]
async fn a_panic_costs_its_own_call_and_nothing_else() {
    let server = Server::start();
    let session = server.session().await;
    let request = Request::post(&definition(&json!(1))).in_session(&session);
    let mut connection = server.connect().await;
    server.gateway.behave(Behaviour::Panic);
    let error = connection.send(&request).await.json()["error"].clone();
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32603), &json!("MCP_LSP_GATEWAY/INTERNAL")));
    assert!(!error.to_string().contains("as the test wants it"));
    server.gateway.behave(Behaviour::Answer("{}"));
    assert_eq!(connection.send(&request).await.json()["result"]["structuredContent"], json!({}));
}
