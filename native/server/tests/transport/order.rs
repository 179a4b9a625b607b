//! D45: the order of the checks. A request that fails two of them is answered by the earlier one, for every pair.

use crate::double::WORDING;
use crate::wire::{Request, Server};

/// One way to fail a check: its name, what it does to a request, the status and what the answer says.
type Flaw = (&'static str, fn(Request) -> Request, u16, &'static str);

/// In the order of the checks.
const FLAWS: [Flaw; 12] = [
    ("Host", |it| it.set("Host", "evil.example"), 403, "The Host header must"),
    ("Origin", |it| it.set("Origin", "https://evil.example"), 403, WORDING.origin_refused),
    ("bearer", |it| it.set("Authorization", "Bearer wrong"), 401, WORDING.token_refused),
    ("path", |it| on_target(it, |target| target.replace("/mcp", "/other")), 404, "The one path of this server"),
    ("method", |it| on_target(it, |target| target.replace("POST", "PUT")), 405, "Send messages by POST"),
    ("Content-Type", |it| it.set("Content-Type", "text/plain"), 415, "must be application/json"),
    ("Content-Encoding", |it| it.set("Content-Encoding", "gzip"), 415, "must not be compressed"),
    ("Accept", |it| it.set("Accept", "text/html"), 406, "Accept must cover"),
    ("size", |it| on_body(it, |body| body.resize(1_048_577, b' ')), 413, "at most 1048576 bytes"),
    ("JSON", |it| on_body(it, |body| body[0] = b'!'), 400, r#""code":-32700"#),
    ("session", |it| it.set("MCP-Session-Id", "unknown"), 404, "This session is unknown"),
    ("version", |it| it.set("MCP-Protocol-Version", "2024-11-05"), 400, "MCP-Protocol-Version must be 2025-11-25"),
];

fn on_target(mut request: Request, change: fn(&str) -> String) -> Request {
    request.start = change(&request.start);
    request
}

fn on_body(mut request: Request, change: fn(&mut Vec<u8>)) -> Request {
    change(&mut request.body);
    request
}

#[tokio::test]
async fn of_two_flaws_the_one_that_is_checked_earlier_is_answered() {
    let server = Server::start();
    let session = server.session().await;
    let sound = Request::ping().in_session(&session);
    assert_eq!(server.send(&sound).await.status, 200);
    for (at, (earlier_name, earlier, status, told)) in FLAWS.iter().enumerate() {
        for (later_name, later, ..) in &FLAWS[at..] {
            let response = server.send(&later(earlier(sound.clone()))).await;
            assert!(
                response.status == *status && response.text().contains(told),
                "{earlier_name} before {later_name}: {response:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_missing_session_is_noticed_after_json_and_before_the_version() {
    let server = Server::start();
    let missing = Request::ping();
    let response = server.send(&on_body(missing.clone(), |body| body[0] = b'!')).await;
    assert!(response.text().contains("-32700"), "{response:?}");
    let response = server.send(&missing.set("MCP-Protocol-Version", "2024-11-05")).await;
    assert_eq!((response.status, response.text()), (400, ""));
}
