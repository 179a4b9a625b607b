//! D44 and D50: who is turned away, and with which status code.

use serde_json::{Value, json};

use crate::double::{ORIGIN, TOKEN, WORDING};
use crate::wire::{Request, Response, Server};

async fn statuses(server: &Server, requests: impl IntoIterator<Item = (String, Request)>) -> Vec<(String, u16)> {
    let mut statuses = Vec::new();
    for (name, request) in requests {
        statuses.push((name, server.send(&request).await.status));
    }
    statuses
}

fn all<const N: usize>(status: u16, names: [&str; N]) -> Vec<(String, u16)> {
    names.map(|name| (name.to_owned(), status)).into()
}

fn with_header<const N: usize>(header: &str, values: [&str; N]) -> [(String, Request); N] {
    values.map(|value| (value.to_owned(), Request::initialize().set(header, value)))
}

#[tokio::test]
async fn a_host_that_names_the_loopback_interface_is_let_in() {
    let server = Server::start();
    let hosts = [
        "localhost",
        "localhost:39400",
        "LocalHost:1",
        "127.0.0.1",
        "127.0.0.1:65535",
        "127.255.3.4:80",
        "[::1]",
        "[::1]:39400",
    ];
    assert_eq!(statuses(&server, with_header("Host", hosts)).await, all(200, hosts));
}

#[tokio::test]
async fn any_other_host_is_forbidden() {
    let server = Server::start();
    let hosts = [
        "evil.example",
        "evil.example:39400",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost.",
        "128.0.0.1",
        "0.0.0.0",
        "192.168.0.2:39400",
        "127.1",
        "2130706433",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::1",
        "::1",
        "[::1]39400",
        "localhost:",
        "localhost:65536",
        "localhost:+80",
        "localhost:80:80",
        "evil.example@localhost",
        "localhost, evil.example",
        "",
    ];
    assert_eq!(statuses(&server, with_header("Host", hosts)).await, all(403, hosts));
}

#[tokio::test]
async fn who_may_not_come_in_does_not_keep_a_connection() {
    let server = Server::start();
    for (header, value) in
        [("Host", "evil.example"), ("Origin", "https://evil.example"), ("Authorization", "Bearer no")]
    {
        let mut connection = server.connect().await;
        let refused = connection.send(&Request::initialize().set(header, value)).await;
        assert_eq!(refused.header("connection"), Some("close"), "{header}");
        assert!(connection.closed().await.is_empty(), "{header}");
    }
}

#[tokio::test]
async fn a_missing_or_repeated_host_is_forbidden() {
    let server = Server::start();
    assert_eq!(server.send(&Request::initialize().without("Host")).await.status, 403);
    let old = Request::initialize().start("POST /mcp HTTP/1.0").without("Host");
    assert_eq!(server.send(&old).await.status, 403);
    assert_eq!(server.send(&Request::initialize().with("Host", "127.0.0.1:39400")).await.status, 403);
}

#[tokio::test]
async fn a_foreign_host_in_the_request_target_is_forbidden() {
    let server = Server::start();
    let foreign = Request::initialize().start("POST http://evil.example/mcp HTTP/1.1");
    assert_eq!(server.send(&foreign).await.status, 403);
    let own = Request::initialize().start("POST http://127.0.0.1:39400/mcp HTTP/1.1");
    assert_eq!(server.send(&own).await.status, 200);
}

#[tokio::test]
async fn a_request_without_origin_is_let_in_and_an_allowed_origin_lifts_the_403() {
    let server = Server::start();
    assert_eq!(server.send(&Request::initialize()).await.status, 200);
    assert_eq!(server.send(&Request::initialize().set("Origin", ORIGIN)).await.status, 200);
}

#[tokio::test]
async fn any_origin_that_is_not_exactly_an_allowed_one_is_forbidden() {
    let server = Server::start();
    let origins = [
        "https://evil.example",
        "http://allowed.example",
        "https://allowed.example:443",
        "https://allowed.example/",
        "HTTPS://ALLOWED.EXAMPLE",
        "https://allowed.example.evil",
        "http://127.0.0.1:39400",
        "null",
        "",
    ];
    assert_eq!(statuses(&server, with_header("Origin", origins)).await, all(403, origins));
    let two = Request::initialize().with("Origin", ORIGIN).with("Origin", "https://evil.example");
    assert_eq!(server.send(&two).await.status, 403);
}

#[tokio::test]
async fn a_request_without_exactly_one_valid_bearer_token_is_unauthorized() {
    let server = Server::start();
    let wrong = format!("{}X", &TOKEN[..TOKEN.len() - 1]);
    let values = [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
        format!("Bearer {wrong}"),
        format!("Bearer {TOKEN}X"),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Bearer {TOKEN}, Bearer {TOKEN}"),
        format!("Bearer {}", TOKEN.to_ascii_lowercase()),
    ];
    for value in values {
        let response = server.send(&Request::initialize().set("Authorization", &value)).await;
        assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer")), "{value}");
        assert!(!response.text().contains(TOKEN));
    }
    assert_eq!(server.send(&Request::initialize().without("Authorization")).await.status, 401);
    let twice = Request::initialize().with("Authorization", format!("Bearer {TOKEN}"));
    assert_eq!(server.send(&twice).await.status, 401);
}

#[tokio::test]
async fn the_bearer_scheme_is_written_in_any_case() {
    let server = Server::start();
    let request = Request::initialize().set("Authorization", format!("bEARER  {TOKEN}"));
    assert_eq!(server.send(&request).await.status, 200);
}

#[tokio::test]
async fn every_valid_token_is_accepted_and_a_change_takes_effect_at_once() {
    let server = Server::start();
    let other = Request::initialize().set("Authorization", "Bearer other-token");
    assert_eq!(server.send(&other).await.status, 401);
    server.gateway.allow(&["other-token", TOKEN]);
    let mut connection = server.connect().await;
    assert_eq!(connection.send(&other).await.status, 200);
    assert_eq!(connection.send(&Request::initialize()).await.status, 200);
    server.gateway.allow(&["other-token"]);
    assert_eq!(connection.send(&Request::initialize()).await.status, 401);
}

#[tokio::test]
async fn without_any_token_nobody_is_authorized() {
    let server = Server::start();
    for tokens in [&[][..], &[""][..]] {
        server.gateway.allow(tokens);
        assert_eq!(server.send(&Request::initialize().set("Authorization", "Bearer ")).await.status, 401);
        assert_eq!(server.send(&Request::initialize()).await.status, 401);
    }
}

#[tokio::test]
async fn any_path_but_mcp_is_not_found() {
    let server = Server::start();
    let paths =
        ["/", "/mcp/", "/MCP", "/mcp2", "/mcp/x", "//mcp", "/%6dcp", "/.well-known/oauth-protected-resource", "*"];
    for path in paths {
        let method = if path == "*" { "OPTIONS" } else { "POST" };
        let request = Request::initialize().start(&format!("{method} {path} HTTP/1.1"));
        assert_eq!(server.send(&request).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_query_after_the_path_is_ignored() {
    let server = Server::start();
    assert_eq!(server.send(&Request::initialize().start("POST /mcp?x=/y HTTP/1.1")).await.status, 200);
}

#[tokio::test]
async fn any_method_but_post_and_delete_is_answered_405_with_allow() {
    let server = Server::start();
    for method in ["GET", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "POSTS"] {
        let request = Request::of_body(b"").start(&format!("{method} /mcp HTTP/1.1"));
        let mut connection = server.connect().await;
        connection.write(&request.set("Connection", "close").bytes()).await;
        let answer = String::from_utf8(connection.closed().await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
        assert!(answer.contains("\r\nallow: POST, DELETE\r\n"), "{method}: {answer}");
    }
}

#[tokio::test]
async fn a_content_type_other_than_json_is_415() {
    let server = Server::start();
    let types = [
        "text/plain",
        "application/jsonp",
        "application/json5",
        "text/json",
        "application/x-www-form-urlencoded",
        "",
        "json",
    ];
    assert_eq!(statuses(&server, with_header("Content-Type", types)).await, all(415, types));
    assert_eq!(server.send(&Request::initialize().without("Content-Type")).await.status, 415);
    assert_eq!(server.send(&Request::initialize().with("Content-Type", "application/json")).await.status, 415);
}

#[tokio::test]
async fn parameters_and_case_of_the_content_type_do_not_matter() {
    let server = Server::start();
    let types = ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"];
    assert_eq!(statuses(&server, with_header("Content-Type", types)).await, all(200, types));
}

#[tokio::test]
async fn a_content_encoding_other_than_identity_is_415() {
    let server = Server::start();
    let encodings = ["gzip", "identity, gzip", "br", ""];
    assert_eq!(statuses(&server, with_header("Content-Encoding", encodings)).await, all(415, encodings));
    assert_eq!(server.send(&Request::initialize().with("Content-Encoding", "identity")).await.status, 200);
}

#[tokio::test]
async fn an_accept_that_does_not_cover_both_types_is_406() {
    let server = Server::start();
    let values = [
        "application/json",
        "text/event-stream",
        "application/*",
        "text/*",
        "",
        "text/html",
        "application/json, text/event-stream;q=0",
        "application/json;q=0.0, text/event-stream",
        "application/json;q=0, */*",
        "application/json; Q=0, text/event-stream",
        "*/*;q=0",
        "application/json;q=x, text/event-stream",
        "*",
    ];
    assert_eq!(statuses(&server, with_header("Accept", values)).await, all(406, values));
    assert_eq!(server.send(&Request::initialize().without("Accept")).await.status, 406);
}

#[tokio::test]
async fn an_accept_that_covers_both_types_is_let_in_in_any_order_and_by_wildcards() {
    let server = Server::start();
    let values = [
        "application/json, text/event-stream",
        "text/event-stream,application/json",
        "*/*",
        "application/*, text/event-stream",
        "application/json, text/*;q=0.1",
        "application/json;charset=utf-8, text/event-stream;q=1",
        "APPLICATION/JSON, TEXT/EVENT-STREAM",
        "text/html, */*;q=0.8",
        "text/*;q=0, text/event-stream, application/json",
    ];
    assert_eq!(statuses(&server, with_header("Accept", values)).await, all(200, values));
}

#[tokio::test]
async fn several_accept_lines_count_as_one() {
    let server = Server::start();
    let request = Request::initialize().set("Accept", "application/json").with("Accept", "text/event-stream");
    assert_eq!(server.send(&request).await.status, 200);
}

fn padded_to(length: usize) -> Request {
    let mut request = Request::initialize();
    request.body.resize(length, b' ');
    request
}

#[tokio::test]
async fn a_body_of_one_mebibyte_is_read_and_one_byte_more_is_413() {
    let server = Server::start();
    assert_eq!(server.send(&padded_to(1_048_576)).await.status, 200);
    assert_eq!(server.send(&padded_to(1_048_577)).await.status, 413);
}

#[tokio::test]
async fn a_chunked_body_is_held_to_the_same_limit() {
    let server = Server::start();
    assert_eq!(server.send(&Request { chunked: true, ..padded_to(1_048_576) }).await.status, 200);
    assert_eq!(server.send(&Request { chunked: true, ..padded_to(1_048_577) }).await.status, 413);
}

#[tokio::test]
async fn a_body_that_is_announced_too_large_is_refused_before_it_is_sent() {
    let server = Server::start();
    let mut connection = server.connect().await;
    let head = String::from_utf8(Request::initialize().bytes()).unwrap();
    let head = head[..head.find("Content-Length").unwrap()].to_owned() + "Content-Length: 999999999\r\n\r\n";
    connection.write(head.as_bytes()).await;
    assert_eq!(connection.response().await.status, 413);
}

#[tokio::test]
async fn a_client_that_is_refused_while_it_sends_a_large_body_sees_why() {
    let server = Server::start();
    let mut request = Request::initialize().set("Authorization", "Bearer wrong");
    request.body.resize(3_000_000, b' ');
    let mut connection = server.connect().await;
    let response = connection.send(&request).await;
    assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer")));
}

#[tokio::test]
async fn no_answer_has_a_cors_header() {
    let server = Server::start();
    let session = server.session().await;
    let preflight = Request::of_body(b"")
        .start("OPTIONS /mcp HTTP/1.1")
        .set("Access-Control-Request-Method", "POST")
        .set("Access-Control-Request-Headers", "authorization");
    let requests = [
        preflight.clone().set("Origin", ORIGIN),
        preflight.set("Origin", ORIGIN).without("Authorization"),
        Request::initialize().set("Origin", ORIGIN),
        Request::initialize().set("Origin", "https://evil.example"),
        Request::ping().set("Origin", ORIGIN).in_session(&session),
        Request::ping().set("Origin", ORIGIN),
        Request::of_body(b"{").set("Origin", ORIGIN),
        Request::delete().set("Origin", ORIGIN).in_session(&session),
    ];
    for request in requests {
        let response = server.send(&request).await;
        let cors = response.headers.iter().find(|(name, _)| name.starts_with("access-control-") || name == "vary");
        assert_eq!(cors, None, "{response:?}");
    }
}

#[tokio::test]
async fn a_refusal_explains_itself_in_plain_text_and_repeats_nothing() {
    let server = Server::start();
    let session = server.session().await;
    let requests: [(Request, &str); 6] = [
        (
            Request::initialize().set("Host", "odd.example"),
            "The Host header must name this machine's loopback interface",
        ),
        (Request::initialize().set("Origin", "https://odd.example"), WORDING.origin_refused),
        (Request::initialize().set("Authorization", "Bearer odd.example"), WORDING.token_refused),
        (Request::initialize().start("POST /odd.example HTTP/1.1"), "/mcp"),
        (Request::ping().in_session("odd.example"), "begin a new one by initialize"),
        (Request::ping().in_session(&session).set("MCP-Protocol-Version", "odd.example"), "must be 2025-11-25"),
    ];
    for (request, told) in requests {
        let response: Response = server.send(&request).await;
        assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
        assert!(response.text().contains(told), "{response:?}");
        assert!(!response.text().contains("odd.example"), "{response:?}");
    }
}

#[tokio::test]
async fn an_error_inside_a_session_is_status_200_and_an_unknown_tool_is_invalid_params() {
    let server = Server::start();
    let answer: Value = server
        .ask(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "vscode.lsp.rename", "arguments": {}}}))
        .await;
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"]["code"], "MCP_LSP_GATEWAY/INVALID_PARAMS");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.ends_with(" [MCP_LSP_GATEWAY/INVALID_PARAMS]"), "{message}");
    assert!(message.contains("vscode.lsp.workspaceSymbols") && !message.contains("rename"), "{message}");
}

#[tokio::test]
async fn accepted_notifications_and_responses_are_202_without_a_body() {
    let server = Server::start();
    let session = server.session().await;
    let messages = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": {}}),
        json!({"jsonrpc": "2.0", "method": "notifications/never-heard-of"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "error": {"code": -1, "message": "no"}}),
    ];
    for message in messages {
        let response = server.send(&Request::post(&message).in_session(&session)).await;
        assert_eq!(
            (response.status, response.body.len(), response.header("content-type")),
            (202, 0, None),
            "{message}"
        );
    }
}
