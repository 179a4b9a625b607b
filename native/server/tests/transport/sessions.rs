//! D42 and D43: before, inside and after a session.

use std::sync::{Arc, Mutex};

use gateway_core::tools;
use gateway_server::catalog::Profile;
use gateway_server::session::{Revision, Sessions};
use serde_json::json;

use crate::double::{Double, KEY, WORKSPACE};
use crate::wire::{Request, Server};

/// Minted outside this program: the bytes 0 to 15, and HMAC-SHA256 under `KEY` over
/// `mcp-lsp-gateway|session|v1|`, `WORKSPACE` and those bytes.
const FOREIGN_MADE: &str = "AAECAwQFBgcICQoLDA0OD3x68Tl4bAAMfm0yDSlNtiqI9PePBgvVYTYU8VskJ1ib";

#[tokio::test]
async fn before_a_session_anything_but_initialize_is_400_with_an_empty_body() {
    let server = Server::start();
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "Initialize"}),
        json!({"jsonrpc": "2.0", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ];
    for message in messages {
        let response = server.send(&Request::post(&message)).await;
        assert_eq!(
            (response.status, response.body.len(), response.header("content-type")),
            (400, 0, None),
            "{message}"
        );
    }
    let delete = server.send(&Request::delete()).await;
    assert_eq!((delete.status, delete.body.len()), (400, 0));
}

#[tokio::test]
async fn each_initialize_mints_another_id_of_plain_characters() {
    let server = Server::start();
    let (one, other) = (server.new_session().await, server.new_session().await);
    assert_ne!(one, other);
    for id in [one, other] {
        assert_eq!(id.len(), 64);
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'), "{id}");
    }
}

#[tokio::test]
async fn an_address_chooses_among_the_tools_that_are_offered_and_no_others() {
    let all = tools::chosen(&["all".to_owned()]);
    let core = tools::chosen(&["core".to_owned()]);
    let cases = [
        (&all, "/mcp", &all),
        (&all, "/mcp?catalog=all", &all),
        (&all, "/mcp?catalog=core", &core),
        (&all, "/mcp?other=1&catalog=v1", &tools::v1()),
        (&tools::v1(), "/mcp?catalog=core", &tools::v1()),
    ];
    for (offered, address, expected) in cases {
        let server = Server::start();
        server.gateway.offered.lock().unwrap().clone_from(offered);
        let begun = server.send(&Request::initialize().start(&format!("POST {address} HTTP/1.1"))).await;
        let session = begun.header("mcp-session-id").expect("a session");
        server.make_ready(session).await;

        let post = |message: serde_json::Value| Request::post(&message).in_session(session);
        let list = server.send(&post(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))).await.json();
        let names: Vec<_> = list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(
            names.iter().eq(expected.iter().map(|tool| tool.name()).collect::<Vec<_>>().iter()),
            "{address}: {names:?}"
        );

        let call = json!({"name": "vscode.lsp.documentHighlights", "arguments": {
            "uri": "file:///w/a.ts", "position": {"line": 0, "character": 0},
        }});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call});
        let answer = server.send(&post(call)).await.json();
        let is_there = expected.iter().any(|tool| tool.name() == "vscode.lsp.documentHighlights");
        assert_eq!(answer.get("error").is_none(), is_there, "{address}: {answer}");
    }

    let unknown = Server::start().send(&Request::initialize().start("POST /mcp?catalog=most HTTP/1.1")).await;
    assert_eq!((unknown.header("mcp-session-id"), &unknown.json()["error"]["code"]), (None, &json!(-32602)));
}

#[tokio::test]
async fn an_unknown_session_is_404() {
    let server = Server::start();
    let session = server.session().await;
    let first = if session.starts_with('A') { "B" } else { "A" };
    let last = if session.ends_with('A') { "B" } else { "A" };
    let ids = [
        "unknown".to_owned(),
        String::new(),
        "A".repeat(64),
        format!("{first}{}", &session[1..]),
        format!("{}{last}", &session[..63]),
        format!("{session}A"),
        format!("{session}="),
        session[..63].to_owned(),
        session.to_ascii_lowercase(),
    ];
    for id in ids {
        let response = server.send(&Request::ping().in_session(&id)).await;
        assert_eq!((response.status, response.text().is_empty()), (404, false), "{id}");
        assert_eq!(server.send(&Request::delete().in_session(&id)).await.status, 404, "{id}");
    }
}

#[tokio::test]
async fn a_session_id_that_is_sent_twice_is_404() {
    let server = Server::start();
    let session = server.session().await;
    let twice = Request::ping().in_session(&session).with("MCP-Session-Id", &session);
    assert_eq!(server.send(&twice).await.status, 404);
}

#[tokio::test]
async fn delete_ends_the_session_and_only_that_one() {
    let server = Server::start();
    let (one, other) = (server.session().await, server.session().await);
    let response = server.send(&Request::delete().in_session(&one)).await;
    assert_eq!((response.status, response.body.len()), (204, 0));
    assert_eq!(server.send(&Request::ping().in_session(&one)).await.status, 404);
    assert_eq!(server.send(&Request::delete().in_session(&one)).await.status, 404);
    assert_eq!(server.send(&Request::ping().in_session(&other)).await.status, 200);
    assert_eq!(*server.gateway.ended.lock().unwrap(), [[one]]);
}

#[tokio::test]
async fn a_session_that_a_connection_has_named_before_is_404_once_it_has_ended_elsewhere() {
    let server = Server::start();
    let (ended, other) = (server.session().await, server.session().await);
    let mut connection = server.connect().await;
    let (ping, ping_other) = (Request::ping().in_session(&ended), Request::ping().in_session(&other));
    for (request, status) in [(&ping, 200), (&ping, 200), (&ping_other, 200), (&ping, 200)] {
        assert_eq!(connection.send(request).await.status, status);
    }
    assert_eq!(server.send(&Request::delete().in_session(&ended)).await.status, 204);
    assert_eq!(connection.send(&ping).await.status, 404);
    assert_eq!(connection.send(&ping).await.status, 404, "and it stays so");
    assert_eq!(connection.send(&ping_other).await.status, 200);
}

#[tokio::test]
async fn a_session_of_a_connection_is_taken_by_its_whole_id() {
    let server = Server::start();
    let session = server.session().await;
    let mut connection = server.connect().await;
    assert_eq!(connection.send(&Request::ping().in_session(&session)).await.status, 200);
    let (start, end) = session.split_at(session.len() - 1);
    let forged = format!("{start}{}", if end == "A" { "B" } else { "A" });
    assert_eq!(connection.send(&Request::ping().in_session(&forged)).await.status, 404);
    assert_eq!(connection.send(&Request::ping().in_session(&session)).await.status, 200);
}

#[tokio::test]
async fn a_delete_in_the_wrong_version_ends_nothing() {
    let server = Server::start();
    let session = server.session().await;
    let request = Request::delete().in_session(&session).set("MCP-Protocol-Version", "2024-11-05");
    assert_eq!(server.send(&request).await.status, 400);
    assert_eq!(server.send(&Request::ping().in_session(&session)).await.status, 200);
}

#[tokio::test]
async fn a_session_goes_on_across_a_reload_and_counts_as_initialized() {
    let before = Server::start();
    let session = before.new_session().await;
    let after = Server::start();
    let list = Request::post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).in_session(&session);
    assert!(after.send(&list).await.json().get("result").is_some());
    assert!(before.send(&list).await.json().get("error").is_some(), "not initialized where it is remembered");
}

#[tokio::test]
async fn an_id_is_random_bytes_and_their_mac_under_the_key() {
    let server = Server::start();
    assert_eq!(server.send(&Request::ping().in_session(FOREIGN_MADE)).await.status, 200);
}

#[tokio::test]
async fn a_session_of_another_workspace_or_key_is_404() {
    let elsewhere = Server::of(Double::of(&KEY, "file:///home/me/other", &[]));
    let session = elsewhere.session().await;
    let server = Server::start();
    assert_eq!(server.send(&Request::ping().in_session(&session)).await.status, 404);
    let other_key = Server::of(Double::of(b"another key of thirty-two bytes.", WORKSPACE, &[]));
    let session = other_key.session().await;
    assert_eq!(server.send(&Request::ping().in_session(&session)).await.status, 404);
}

#[tokio::test]
async fn an_ended_session_stays_ended_across_a_reload() {
    let before = Server::start();
    let session = before.session().await;
    before.send(&Request::delete().in_session(&session)).await;
    let stored = before.gateway.ended.lock().unwrap().last().unwrap().clone();
    let after = Server::of(Double::of(&KEY, WORKSPACE, &stored));
    assert_eq!(after.send(&Request::ping().in_session(&session)).await.status, 404);
}

#[test]
fn the_last_1024_ended_sessions_are_remembered_oldest_first() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let stored = vec!["not one of ours".to_owned(), FOREIGN_MADE.to_owned()];
    let sessions = Sessions::new(&KEY, WORKSPACE, &stored, Box::new(move |ids| *listener.lock().unwrap() = ids));
    assert!(sessions.admit(FOREIGN_MADE).is_none());
    let ids: Vec<_> = (0..1_024).map(|_| sessions.mint(Revision::Current, Profile::Offered).unwrap()).collect();
    for id in &ids[..1_023] {
        sessions.end(*id);
    }
    assert_eq!(told.lock().unwrap()[0], FOREIGN_MADE);
    sessions.end(ids[1_023]);
    sessions.end(ids[1_023]);
    let expected: Vec<String> = ids.iter().map(ToString::to_string).collect();
    assert_eq!(*told.lock().unwrap(), expected);
    assert!(expected.iter().all(|id| sessions.admit(id).is_none()));
    assert!(sessions.admit(FOREIGN_MADE).is_some(), "what is forgotten is admitted again");
}

#[test]
fn of_more_than_1024_stored_ended_sessions_the_newest_are_kept() {
    let ids: Vec<String> = {
        let minting = Sessions::new(&KEY, WORKSPACE, &[], Box::new(|_| {}));
        (0..1_025).map(|_| minting.mint(Revision::Current, Profile::Offered).unwrap().to_string()).collect()
    };
    let sessions = Sessions::new(&KEY, WORKSPACE, &ids, Box::new(|_| {}));
    assert!(sessions.admit(&ids[0]).is_some());
    assert!(ids[1..].iter().all(|id| sessions.admit(id).is_none()));
}

#[test]
fn of_more_than_1024_unfinished_handshakes_the_oldest_counts_as_finished() {
    let sessions = Sessions::new(&KEY, WORKSPACE, &[], Box::new(|_| {}));
    let ids: Vec<_> = (0..1_025).map(|_| sessions.mint(Revision::Current, Profile::Offered).unwrap()).collect();
    assert!(sessions.is_initialized(ids[0]));
    assert!(ids[1..].iter().all(|id| !sessions.is_initialized(*id)));
}
