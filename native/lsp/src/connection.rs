//! JSON-RPC 2.0 with a language server, as its client.
//!
//! One task reads and one writes. What the server sends is taken in its order: a notification has reached the [`Peer`]
//! before any later answer is given out.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::frame::{Frame, Frames, framed};
pub use crate::message::Refusal;
use crate::message::{Answer, Head, Outcome, Received, Sent, Version, error_of, head_of};

/// How much may wait to be written, in bytes. A server that reads so little of what it is sent is taken for ended.
pub const MAX_UNWRITTEN: usize = 256 * 1024 * 1024;

const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const REQUEST_CANCELLED: i64 = -32800;
const CONTENT_MODIFIED: i64 = -32801;
const SERVER_CANCELLED: i64 = -32802;

/// The other side of what the server starts itself.
pub trait Peer: Send + Sync + 'static {
    /// A notification, in the order in which the server sent them, before any later answer is given out. Must not block.
    /// `params` is `null` where the server sent none.
    fn notified(&self, method: &str, params: &RawValue);

    /// A request of the server, and what it is answered. None refuses it as unknown. Must not block.
    fn asked(&self, method: &str, params: &RawValue) -> Option<Result<Value, Refusal>>;
}

/// Nothing can be sent any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the language server has ended")]
pub struct Ended;

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The server is gone, or cannot be reached.
    #[error("the language server has ended")]
    Ended,
    /// The deadline came first. The server was told to cancel.
    #[error("the language server has not answered in time")]
    TimedOut,
    /// The server gave up because of a change, or for a reason of its own: the same request may succeed now.
    #[error("the language server wants to be asked again")]
    Again,
    /// The server does not know the method.
    #[error("the language server does not offer this")]
    NoMethod,
    /// Any other error of the server.
    #[error("the language server failed: {message} ({code})")]
    Failed {
        /// The server's number, 0 if it gave none.
        code: i64,
        /// What it said: at most 1,000 characters, without control characters.
        message: String,
    },
    /// The answer is longer than [`crate::frame::MAX_BODY`].
    #[error("the language server's answer of {bytes} bytes is too large")]
    TooLarge {
        /// The length of the whole message.
        bytes: u64,
    },
}

impl From<Ended> for RequestError {
    fn from(_: Ended) -> Self {
        Self::Ended
    }
}

type Answered = Result<Box<RawValue>, RequestError>;

/// A language server that can be asked. Clones are the same connection; it ends with the last one, with what is unwritten.
#[derive(Clone, Debug)]
pub struct Connection {
    shared: Arc<Shared>,
    _ends: Arc<DropGuard>,
}

#[derive(Debug)]
struct Shared {
    /// Who waits for the answer to which id; none once the connection has ended.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Answered>>>>,
    last_id: AtomicU64,
    unwritten: mpsc::UnboundedSender<Vec<u8>>,
    unwritten_bytes: AtomicUsize,
    ended: CancellationToken,
}

impl Connection {
    /// Starts to read and to write, in the Tokio runtime that this is called in. Both streams are closed when it ends.
    pub fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        peer: Arc<dyn Peer>,
    ) -> Self {
        let (unwritten, to_write) = mpsc::unbounded_channel();
        let ended = CancellationToken::new();
        let shared = Arc::new(Shared {
            waiting: Mutex::new(Some(HashMap::new())),
            last_id: AtomicU64::new(0),
            unwritten,
            unwritten_bytes: AtomicUsize::new(0),
            ended: ended.clone(),
        });
        let reading = EndsWhenDropped(shared.clone());
        tokio::spawn(async move { reading.0.ended.run_until_cancelled(read(&reading.0, reader, &*peer)).await });
        let writing = EndsWhenDropped(shared.clone());
        tokio::spawn(async move { writing.0.ended.run_until_cancelled(write(&writing.0, writer, to_write)).await });
        Self { shared, _ends: Arc::new(ended.drop_guard()) }
    }

    /// Sends a request, at this call and not at the first poll of the future, and waits for the answer until the deadline,
    /// which starts with the first poll. `params: None` leaves the member out. Where the future is dropped or the deadline
    /// comes first, the server is told to cancel, and its answer is never used.
    pub fn request<P: Serialize>(
        &self,
        method: &str,
        params: Option<P>,
        deadline: Duration,
    ) -> impl Future<Output = Result<Box<RawValue>, RequestError>> + Send + use<P> {
        let sent = self.send_request(method, params);
        async move {
            let mut sent = sent?;
            match timeout(deadline, &mut sent.answer).await {
                Ok(Ok(answered)) => answered,
                Ok(Err(_)) => Err(RequestError::Ended),
                Err(_) => Err(RequestError::TimedOut),
            }
        }
    }

    fn send_request<P: Serialize>(&self, method: &str, params: Option<P>) -> Result<SentRequest, Ended> {
        let id = self.shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer_to, answer) = oneshot::channel();
        self.shared.waiting().as_mut().ok_or(Ended)?.insert(id, answer_to);
        let sent = SentRequest { connection: self.clone(), id, answer };
        self.shared.send(&Sent { jsonrpc: Version::Two, id: Some(id), method, params })?;
        Ok(sent)
    }

    /// Sends a notification. It arrives behind everything that was sent before it, and before everything after.
    pub fn notify(&self, method: &str, params: Option<impl Serialize>) -> Result<(), Ended> {
        self.shared.send(&Sent { jsonrpc: Version::Two, id: None, method, params })
    }

    /// Resolves when nothing can be sent or received any more, for whatever reason.
    pub async fn ended(&self) {
        self.shared.ended.cancelled().await;
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Answered>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: &impl Serialize) -> Result<(), Ended> {
        if self.ended.is_cancelled() {
            return Err(Ended);
        }
        // Nothing that is sent can fail to be written as JSON.
        let frame = framed(&serde_json::to_vec(message).map_err(|_| Ended)?);
        let bytes = frame.len();
        if self.unwritten_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_UNWRITTEN {
            self.end();
            return Err(Ended);
        }
        self.unwritten.send(frame).map_err(|_| Ended)
    }

    /// Gives out the answer to one of our ids. One to any other id, or a second one, is nobody's.
    fn settle(&self, id: &RawValue, answered: impl FnOnce() -> Answered) {
        let Ok(id) = id.get().parse() else { return };
        let waiting = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
        if let Some(waiting) = waiting {
            // It may have gone in this moment.
            let _ = waiting.send(answered());
        }
    }

    fn answer(&self, id: &RawValue, outcome: Outcome) {
        // Where it has ended, nobody waits for it.
        let _ = self.send(&Answer { jsonrpc: Version::Two, id, outcome });
    }

    fn end(&self) {
        let waiting = self.waiting().take();
        self.ended.cancel();
        drop(waiting);
    }
}

/// A task that is no more, by a panic or with its runtime as well, leaves nobody waiting.
struct EndsWhenDropped(Arc<Shared>);

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A request that may be unanswered.
struct SentRequest {
    connection: Connection,
    id: u64,
    answer: oneshot::Receiver<Answered>,
}

impl Drop for SentRequest {
    fn drop(&mut self) {
        let shared = &self.connection.shared;
        let unanswered = shared.waiting().as_mut().is_some_and(|waiting| waiting.remove(&self.id).is_some());
        if unanswered {
            // Where it has ended, there is nothing to cancel.
            let _ = self.connection.notify("$/cancelRequest", Some(serde_json::json!({ "id": self.id })));
        }
    }
}

async fn write(
    shared: &Shared,
    mut writer: impl AsyncWrite + Unpin,
    mut to_write: mpsc::UnboundedReceiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(frame) = to_write.recv().await {
        writer.write_all(&frame).await?;
        shared.unwritten_bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        if to_write.is_empty() {
            writer.flush().await?;
        }
    }
    Ok(())
}

async fn read(shared: &Shared, reader: impl AsyncRead + Unpin, peer: &dyn Peer) -> io::Result<()> {
    let mut frames = Frames::of(reader);
    while let Some(frame) = frames.next().await? {
        match frame {
            Frame::Body(body) => take(shared, peer, body),
            Frame::TooLarge { bytes, start } => {
                pass_over(shared, &head_of(&start), || RequestError::TooLarge { bytes });
            }
        }
    }
    Ok(())
}

fn take(shared: &Shared, peer: &dyn Peer, body: Vec<u8>) {
    // A character that is broken costs itself.
    let text = String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let Ok(message) = serde_json::from_str::<Received<'_>>(&text) else {
        let unreadable = || RequestError::Failed { code: 0, message: "its answer is not JSON-RPC".to_owned() };
        return pass_over(shared, &head_of(text.as_bytes()), unreadable);
    };
    let params = message.params.unwrap_or(RawValue::NULL);
    match (message.method, message.id) {
        (Some(method), Some(id)) => {
            let unknown = || Refusal { code: METHOD_NOT_FOUND, message: "This client does not know it.".to_owned() };
            match peer.asked(&method, params).unwrap_or_else(|| Err(unknown())) {
                Ok(result) => shared.answer(id, Outcome::Result(result)),
                Err(refusal) => shared.answer(id, Outcome::Error(refusal)),
            }
        }
        (Some(method), None) => peer.notified(&method, params),
        // Some servers leave a result out that is null.
        (None, Some(id)) => shared.settle(id, || match message.error {
            Some(error) => Err(failure(error)),
            None => Ok(message.result.unwrap_or(RawValue::NULL).to_owned()),
        }),
        (None, None) => {}
    }
}

/// A message that cannot be read: its request fails, or it is answered.
fn pass_over(shared: &Shared, head: &Head, why: impl FnOnce() -> RequestError) {
    match &head.id {
        Some(id) if head.has_method => {
            let refusal = Refusal { code: INVALID_REQUEST, message: "This client cannot read it.".to_owned() };
            shared.answer(id, Outcome::Error(refusal));
        }
        Some(id) => shared.settle(id, || Err(why())),
        None => {}
    }
}

fn failure(error: &RawValue) -> RequestError {
    let (code, message) = error_of(error);
    match code {
        // What was cancelled here is waited for no more, so nobody has asked for this cancellation.
        REQUEST_CANCELLED | CONTENT_MODIFIED | SERVER_CANCELLED => RequestError::Again,
        METHOD_NOT_FOUND => RequestError::NoMethod,
        _ => RequestError::Failed { code, message },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Peer for Nobody {
        fn notified(&self, _method: &str, _params: &RawValue) {}

        fn asked(&self, _method: &str, _params: &RawValue) -> Option<Result<Value, Refusal>> {
            None
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_request_that_is_never_answered_nothing_is_kept() {
        let (stdin, stdout) = (tokio::io::duplex(1024), tokio::io::duplex(1024));
        let connection = Connection::start(stdout.0, stdin.0, Arc::new(Nobody));
        for _ in 0..3 {
            let timed_out = connection.request("x", None::<()>, Duration::from_secs(1)).await;
            assert_eq!(timed_out.unwrap_err(), RequestError::TimedOut);
        }
        assert_eq!(connection.shared.waiting().as_ref().map(HashMap::len), Some(0));
    }
}
