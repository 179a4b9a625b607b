//! What arrives on a connection, as bytes.

use std::cell::RefCell;

use gateway_server::http::Endpoint;
use gateway_server::serve::converse;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex, split};
use tokio_util::sync::CancellationToken;

use crate::gateway_over_http::{Double, TOKEN, block_on};

/// Everything that may be answered (D44), 100 Continue among it.
const STATUSES: [u16; 15] = [100, 200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 414, 415, 431];

thread_local! {
    static ENDPOINT: RefCell<Option<Endpoint<Double>>> = const { RefCell::new(None) };
}

/// Sends the bytes, ends the sending half, and reads to the end.
pub fn run(bytes: &[u8]) {
    let endpoint =
        ENDPOINT.with_borrow_mut(|endpoint| endpoint.get_or_insert_with(|| Endpoint::new(Double::new())).clone());
    let answered = block_on(exchange(endpoint, bytes.to_vec()));
    check(bytes, &answered);
}

async fn exchange(endpoint: Endpoint<Double>, bytes: Vec<u8>) -> Vec<u8> {
    let (client, server) = duplex(64 * 1_024);
    let (mut incoming, mut outgoing) = split(client);
    let conversation = converse(server, endpoint, CancellationToken::new());
    let sending = async {
        // The server may have closed the connection before it has read everything.
        _ = outgoing.write_all(&bytes).await;
        _ = outgoing.shutdown().await;
    };
    let reading = async {
        let mut answered = Vec::new();
        _ = incoming.read_to_end(&mut answered).await;
        answered
    };
    tokio::join!(conversation, sending, reading).2
}

fn check(sent: &[u8], answered: &[u8]) {
    let holds = |needle: &[u8]| sent.windows(needle.len()).any(|window| window == needle);
    let mut rest = answered;
    while !rest.is_empty() {
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n").expect("a whole head") + 4;
        let head = str::from_utf8(&rest[..end]).expect("a head of plain text").to_ascii_lowercase();
        let status: u16 = head.strip_prefix("http/1.").expect("HTTP")[2..5].parse().expect("a status");
        assert!(STATUSES.contains(&status), "{head}");
        assert!(!head.contains("access-control"), "{head}");
        assert!(!head.contains(&TOKEN.to_ascii_lowercase()), "{head}");
        if !matches!(status, 400 | 401 | 403 | 414 | 431) {
            assert!(holds(TOKEN.as_bytes()), "{status} without the token");
            assert!(holds(b"127.0.0.1") || holds(b"localhost") || holds(b"::1") || holds(b"127."), "{status}");
        }
        if status == 401 {
            assert!(head.contains("www-authenticate: bearer"), "{head}");
        }
        let length = head
            .split("content-length: ")
            .nth(1)
            .map_or(0, |value| value.split('\r').next().expect("a value").parse().expect("a length"));
        // What is answered to HEAD tells a length and has no body.
        let is_head = holds(b"HEAD ") && (rest.len() == end || rest[end..].starts_with(b"HTTP/1."));
        let length = if is_head { 0 } else { length };
        let body = rest[end..].get(..length).expect("a whole body");
        assert!(length <= 524_288);
        assert!(!String::from_utf8_lossy(body).contains(TOKEN));
        rest = &rest[end + length..];
    }
}
