//! The listener: loopback only, bounded in connections and time, drained when it is told to stop.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection_limit::{ConnectionLimit, End, Slot};
use crate::http::{Connection, Endpoint, Guarded};

/// How many connections may be open. The next one takes the place of the one that has waited longest for its client.
const MAX_CONNECTIONS: usize = 256;
/// How many connections may wait to be accepted: a burst of four times as many as have a place. What comes beyond, the
/// system drops, and its client tries again a second later or never learns of it.
const BACKLOG: u32 = 1_024;
/// How long a connection may take over a request's head, or stay idle. Longer than the clients that were measured keep
/// an idle connection for reuse, so that they don't send into one that is just being closed.
const HEAD_TIMEOUT: Duration = Duration::from_secs(100);
/// Most bytes of a request's head.
const MAX_HEAD_BYTES: usize = 32 * 1_024;
/// How long the calls under way have left when the server is told to stop.
const DRAIN: Duration = Duration::from_millis(500);
/// How long to wait before accepting again after the system had no resources for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long nothing more is said of connections that cannot be accepted.
const TELL_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How long an evicted connection has to be gone, where another is to be accepted in its stead.
const EVICTION_PAUSE: Duration = Duration::from_millis(1);

/// Why no listener could be had. `Display` says what happened; what to do about it, the back end knows.
#[derive(Debug, thiserror::Error)]
#[error("None of the wished ports could be opened on 127.0.0.1 ({0})")]
pub struct BindError(#[source] io::Error);

/// A listener on 127.0.0.1: there is no other way to get one than [`Loopback::bind`].
#[derive(Debug)]
pub struct Loopback {
    listener: TcpListener,
    port: u16,
}

impl Loopback {
    /// Listens on the first of `ports` that can be had; 0 stands for any. For the runtime that it is called in.
    pub fn bind(ports: &[u16]) -> Result<Self, BindError> {
        let mut failure = io::Error::from(io::ErrorKind::InvalidInput);
        for port in ports {
            match listen(*port).and_then(Self::of) {
                Ok(loopback) => return Ok(loopback),
                Err(error) => {
                    tracing::info!(port, %error, "a port could not be opened");
                    failure = error;
                }
            }
        }
        Err(BindError(failure))
    }

    fn of(listener: TcpListener) -> io::Result<Self> {
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The port that was had.
    pub const fn port(&self) -> u16 {
        self.port
    }
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // Elsewhere, a port is free as soon as nobody listens on it only with this; on Windows, it would be shared.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(BACKLOG)
}

/// Serves until `shutdown`. Then no new connection is taken, the calls under way get a moment to end, and what is left
/// is dropped.
pub async fn serve<G: Guarded>(listener: Loopback, gateway: Arc<G>, shutdown: CancellationToken) {
    let endpoint = Endpoint::new(gateway);
    let places = Arc::new(ConnectionLimit::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut told: Option<Instant> = None;
    tracing::info!(port = listener.port, "listening on 127.0.0.1");
    loop {
        let accepted = async {
            let (stream, _) = listener.listener.accept().await?;
            Ok::<_, io::Error>((stream, places.take().await))
        };
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, (place, told))) => {
                // An answer is one write; waiting for more to send with it would only delay it.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "TCP_NODELAY could not be set");
                }
                // A place whose holder nobody can tell to end any more is gone.
                let end = async { told.await.unwrap_or(End::Evicted) };
                connections.spawn(converse_in(stream, endpoint.clone(), Some(place), end));
                while connections.try_join_next().is_some() {}
            }
            Err(error) => {
                // Whoever brings this about can do so without end, and the log is for others as well.
                if told.is_none_or(|told| told.elapsed() >= TELL_AGAIN_AFTER) {
                    tracing::warn!(%error, "a connection could not be accepted");
                    told = Some(Instant::now());
                }
                // What the system is short of, a connection that only waits has more than it needs.
                let pause = if places.evict() { EVICTION_PAUSE } else { ACCEPT_PAUSE };
                sleep(pause).await;
            }
        }
    }
    drop(listener);
    places.shut_down();
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(DRAIN, ended).await.is_err() {
        tracing::info!(connections = connections.len(), "dropping what is still under way");
        connections.shutdown().await;
    }
    tracing::info!("stopped");
}

/// Answers the requests of one connection until it ends, or until `shutdown` and the end of the request under way.
pub async fn converse<G: Guarded, S>(stream: S, endpoint: Endpoint<G>, shutdown: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let end = async {
        shutdown.cancelled().await;
        End::Shutdown
    };
    converse_in(stream, endpoint, None, end).await;
}

/// As [`converse`], in a place that is told what the connection does, until there is a reason to end.
async fn converse_in<G: Guarded, S>(
    stream: S,
    endpoint: Endpoint<G>,
    place: Option<Slot>,
    end: impl Future<Output = End>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let told = &Connection::in_place(place);
    let endpoint = &endpoint;
    let service = service_fn(move |request: Request<Incoming>| async move {
        Ok::<_, Infallible>(endpoint.answer_on(told, request).await)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        end = end => match end {
            End::Evicted => return tracing::debug!("closing a connection that waits, for a new one"),
            End::Shutdown => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        },
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
