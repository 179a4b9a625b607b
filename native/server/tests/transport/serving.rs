//! The listener: where it listens, how long it waits, and how it stops.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use gateway_server::serve::Loopback;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::double::Behaviour;
use crate::wire::{Connection, Request, Server, patiently};

fn call() -> Request {
    Request::post(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "vscode.lsp.diagnostics.workspace"}}),
    )
}

#[tokio::test]
async fn it_listens_on_127_0_0_1_and_on_no_other_address() {
    let server = Server::start();
    assert!(TcpStream::connect(("127.0.0.1", server.port)).await.is_ok());
    for address in ["127.0.0.2", "::1"] {
        let refused = TcpStream::connect((address, server.port)).await.unwrap_err();
        assert_ne!(refused.kind(), ErrorKind::TimedOut, "{address}");
    }
    // The address by which this machine would reach another one; sending nothing, it needs no network.
    let probe = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    if probe.connect(("192.0.2.1", 9)).is_ok() {
        let own = probe.local_addr().unwrap().ip();
        assert!(own.is_loopback() || TcpStream::connect((own, server.port)).await.is_err(), "{own}");
    }
}

#[tokio::test]
async fn the_first_port_that_is_free_is_taken() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let taken_port = taken.local_addr().unwrap().port();
    let loopback = Loopback::bind(&[taken_port, 0]).unwrap();
    assert_ne!(loopback.port(), taken_port);
    assert_ne!(loopback.port(), 0);
    let reason = Loopback::bind(&[taken_port, loopback.port()]).unwrap_err().to_string();
    assert!(reason.starts_with("None of the wished ports could be opened on 127.0.0.1"), "{reason}");
}

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let server = Server::start();
    let mut connection = server.connect().await;
    for _ in 0..3 {
        assert_eq!(connection.send(&Request::initialize()).await.status, 200);
    }
    assert_eq!(connection.send(&Request::initialize().set("Content-Type", "text/plain")).await.status, 415);
    assert_eq!(connection.send(&Request::initialize()).await.status, 200, "a refusal does not end it");
}

#[tokio::test]
async fn a_connection_that_does_not_speak_http_is_closed() {
    let server = Server::start();
    let mut connection = server.connect().await;
    connection.write(b"\x16\x03\x01\x02\x00 hello\r\n\r\n").await;
    let answer = String::from_utf8(connection.closed().await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn a_head_of_more_than_32_kib_is_refused() {
    let server = Server::start();
    let response = server.send(&Request::initialize().with("X-Padding", "x".repeat(33_000))).await;
    assert_eq!(response.status, 431);
}

#[tokio::test]
async fn a_head_that_is_never_finished_closes_the_connection() {
    let server = Server::start();
    let mut connection = server.connect().await;
    connection.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n").await;
    // From here on time passes as soon as nobody has anything to do.
    tokio::time::pause();
    let began = Instant::now();
    connection.closed_whenever().await;
    assert_eq!(began.elapsed().as_secs(), 100);
}

#[tokio::test]
async fn a_body_that_never_arrives_is_answered_408() {
    let server = Server::start();
    let mut connection = server.connect().await;
    let mut bytes = Request::initialize().bytes();
    bytes.pop();
    connection.write(&bytes).await;
    tokio::time::pause();
    let began = Instant::now();
    let answer = String::from_utf8(connection.closed_whenever().await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!((10..100).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test]
async fn stopping_with_nothing_under_way_closes_idle_connections_and_the_port() {
    let server = Server::start();
    let mut idle = server.connect().await;
    idle.send(&Request::initialize()).await;
    let mut fresh = server.connect().await;
    server.shutdown.cancel();
    assert!(idle.closed().await.is_empty());
    assert!(fresh.closed().await.is_empty());
    let port = server.port;
    let mut server = server;
    patiently(&mut server.served).await.unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}

#[tokio::test]
async fn stopping_lets_a_call_that_ends_in_time_be_answered() {
    let server = Server::start();
    let session = server.session().await;
    server.gateway.behave(Behaviour::Hang);
    let mut connection = server.connect().await;
    connection.write(&call().in_session(&session).bytes()).await;
    patiently(server.gateway.started.notified()).await;
    let mut other = server.connect().await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let cancel = Request::post(&cancel).in_session(&session).bytes();
    // Half a request is under way when the server is told to stop, and its other half ends the call.
    let (half, rest) = cancel.split_at(cancel.len() / 2);
    other.write(half).await;
    server.connect().await.send(&Request::initialize()).await;
    server.shutdown.cancel();
    other.write(rest).await;
    assert_eq!(other.response().await.status, 202);
    assert_eq!(connection.response().await.json()["id"], 1);
}

#[tokio::test]
async fn stopping_drops_a_call_that_hangs_and_does_not_make_idle_connections_wait_for_it() {
    let mut server = Server::start();
    let session = server.session().await;
    server.gateway.behave(Behaviour::Hang);
    let mut idle = server.connect().await;
    idle.send(&Request::initialize()).await;
    let mut connection = server.connect().await;
    connection.write(&call().in_session(&session).bytes()).await;
    patiently(server.gateway.started.notified()).await;
    server.shutdown.cancel();
    assert!(idle.closed().await.is_empty());
    assert!(!server.served.is_finished());
    patiently(&mut server.served).await.unwrap();
    patiently(server.gateway.dropped.notified()).await;
    assert!(connection.closed().await.is_empty());
}

#[tokio::test]
async fn the_257th_connection_takes_the_place_of_the_one_that_has_waited_longest() {
    let server = Server::start();
    let mut open: Vec<Connection> = Vec::new();
    for _ in 0..256 {
        let mut connection = server.connect().await;
        assert_eq!(connection.send(&Request::initialize()).await.status, 200);
        open.push(connection);
    }
    assert_eq!(open[0].send(&Request::initialize()).await.status, 200);
    assert_eq!(server.send(&Request::initialize()).await.status, 200);
    assert!(open[1].closed().await.is_empty());
    assert_eq!(open[0].send(&Request::initialize()).await.status, 200);
    assert_eq!(open[2].send(&Request::initialize()).await.status, 200);
}

#[tokio::test]
async fn connections_that_have_shown_no_token_go_before_those_that_have() {
    let server = Server::start();
    let mut known = server.connect().await;
    assert_eq!(known.send(&Request::initialize()).await.status, 200);
    let mut strangers: Vec<Connection> = Vec::new();
    for _ in 0..255 {
        strangers.push(server.connect().await);
    }
    // Those that have been accepted by now have had their time.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
    strangers.push(server.connect().await);
    assert!(strangers[0].closed().await.is_empty());
    assert_eq!(known.send(&Request::initialize()).await.status, 200);
}

#[tokio::test]
async fn a_call_that_is_being_answered_keeps_its_connection() {
    let server = Server::start();
    let session = server.session().await;
    server.gateway.behave(Behaviour::Hang);
    let mut asking = server.connect().await;
    asking.write(&call().in_session(&session).bytes()).await;
    patiently(server.gateway.started.notified()).await;
    let mut others: Vec<Connection> = Vec::new();
    for _ in 0..600 {
        let mut other = server.connect().await;
        assert_eq!(other.send(&Request::initialize()).await.status, 200);
        others.push(other);
    }
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(server.send(&Request::post(&cancel).in_session(&session)).await.status, 202);
    assert_eq!(asking.response().await.json()["id"], 1);
}
