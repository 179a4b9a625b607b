//! The floor: the least that an axum server can do for the same request. It checks a bearer token and returns a stored
//! body.

use std::io::{self, Read as _};
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

use crate::{Failure, runtime};

struct Stored {
    /// What the Authorization header has to be; without it, everybody is let in.
    authorization: Option<String>,
    body: Bytes,
}

/// Serves a body of so many bytes, and prints its port first. It ends when its standard input does.
pub(crate) fn run(bytes: &str, token: Option<&str>) -> Result<(), Failure> {
    let authorization = token.map(|token| format!("Bearer {token}"));
    let stored = Arc::new(Stored { authorization, body: vec![b' '; bytes.parse()?].into() });
    let router = Router::new().route("/mcp", post(answer)).with_state(stored);
    runtime()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?.port());
        tokio::task::spawn_blocking(until_stdin_ends);
        // As the gateway does: an answer is one write, and waiting for more would only delay it.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        Ok(axum::serve(listener, router).await?)
    })
}

async fn answer(State(stored): State<Arc<Stored>>, headers: HeaderMap) -> Response {
    if let Some(wanted) = &stored.authorization
        && headers.get(AUTHORIZATION).is_none_or(|given| given.as_bytes() != wanted.as_bytes())
    {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    ([(CONTENT_TYPE, "application/json")], stored.body.clone()).into_response()
}

fn until_stdin_ends() {
    let mut rest = Vec::new();
    // Whether it ends or breaks, nobody is there any more.
    let _ = io::stdin().read_to_end(&mut rest);
    std::process::exit(0);
}
