//! MCP over a pair of streams, such as standard input and output: one client, one message on each line.

use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use gateway_core::limits::MAX_REQUEST_BYTES;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::select;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use crate::body::Pieces;
use crate::catalog::Profile;
use crate::lifecycle::{Calls, Lifecycle, Unserved};
use crate::rpc::{self, Fault, Message};
use crate::session::SessionId;

/// How many requests may be under way before no more is read. It is more than calls of one session, so that a client that
/// calls without end is told so; what comes beyond are requests that wait for the end of the handshake.
const MAX_UNDER_WAY: usize = 192;
/// How many answers wait for a client that does not read. It is not read from either, then.
const MAX_UNREAD: usize = 16;
/// How long a client that has said all may take to read what it has been answered.
const LAST_WRITES: Duration = Duration::from_millis(500);

/// Serves one client until its input ends, or until it reads no more answers. Then its calls end, and its session. Where this
/// is dropped before, only the calls do. `fallback`: whether a client that asks for
/// [`Revision::Fallback`](crate::session::Revision::Fallback) is given it.
pub async fn serve<G: Calls>(
    gateway: Arc<G>,
    fallback: bool,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) {
    let lifecycle = Lifecycle::new(gateway);
    let mut client = Client { lifecycle: &lifecycle, fallback, session: None, under_way: FuturesUnordered::new() };
    let (answers, unread) = channel(MAX_UNREAD);
    let mut writing = pin!(write(unread, output));
    select! {
        written = writing.as_mut() => tracing::info!(?written, "the client takes no more answers"),
        () = client.listen(Lines::of(input), answers) => {
            if timeout(LAST_WRITES, writing).await.is_err() {
                tracing::info!("the client has not read its last answers");
            }
        }
    }
    if let Some(session) = client.session {
        lifecycle.end(session);
    }
}

/// The client at the other end.
struct Client<'a, G> {
    lifecycle: &'a Lifecycle<G>,
    fallback: bool,
    session: Option<SessionId>,
    /// Its requests that are not answered yet, each with its answer, if it gets one.
    under_way: FuturesUnordered<Pin<Box<dyn Future<Output = Option<Pieces>> + Send + 'a>>>,
}

impl<G: Calls> Client<'_, G> {
    /// Takes messages and passes answers on, until the input ends or nobody takes an answer.
    async fn listen(&mut self, mut lines: Lines<impl AsyncRead + Unpin>, answers: Sender<Pieces>) {
        loop {
            let answer = select! {
                Some(answer) = self.under_way.next() => answer,
                line = lines.next(), if self.under_way.len() < MAX_UNDER_WAY => match line {
                    Ok(Some(line)) => self.take(line).await,
                    Ok(None) => return,
                    Err(error) => return tracing::info!(%error, "the input cannot be read"),
                },
            };
            if let Some(answer) = answer
                && answers.send(answer).await.is_err()
            {
                return;
            }
        }
    }

    /// Takes one line, and gives the answer if there is one at once.
    async fn take(&mut self, line: Result<Vec<u8>, Fault>) -> Option<Pieces> {
        match line.and_then(|line| Message::read(&line, "line")) {
            Err(fault) => {
                tracing::debug!(?fault, "a line is not a message");
                Some(rpc::failure(None, &fault, self.lifecycle.gateway().wording()).into())
            }
            Ok(Message::Request { id, method, params }) if method == "initialize" => {
                let (begun, body) = self.lifecycle.initialize(&id, &params, self.fallback, Some(Profile::Offered));
                if begun.is_some()
                    && let Some(before) = mem::replace(&mut self.session, begun)
                {
                    // From now on its ids may stand for other requests.
                    self.under_way.clear();
                    self.lifecycle.end(before);
                }
                Some(body.into())
            }
            Ok(message) => {
                let Some(session) = self.session else {
                    return self.lifecycle.receive_before_session(&message).map(Pieces::from);
                };
                let mut answered = Box::pin(answer(self.lifecycle, session, message));
                // Polled before the next line is read: a call that it cancels is under way then.
                match poll_fn(|context| Poll::Ready(answered.as_mut().poll(context))).await {
                    Poll::Ready(answer) => answer,
                    Poll::Pending => {
                        self.under_way.push(answered);
                        None
                    }
                }
            }
        }
    }
}

/// The answer to a message inside a session, if it gets one: a request that was cancelled does not.
async fn answer<G: Calls>(lifecycle: &Lifecycle<G>, session: SessionId, message: Message) -> Option<Pieces> {
    match lifecycle.receive(session, message).await {
        Ok(answer) => answer,
        Err(Unserved::TooMany(_, body)) => Some(body.into()),
        Err(Unserved::Cancelled(_)) => None,
    }
}

/// Writes each answer on a line of its own: JSON as it is written here has no line breaks.
async fn write(mut unread: Receiver<Pieces>, output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut output = BufWriter::new(output);
    while let Some(mut answer) = unread.recv().await {
        while let Some(piece) = answer.take_piece() {
            output.write_all(&piece).await?;
        }
        output.write_all(b"\n").await?;
        if unread.is_empty() {
            output.flush().await?;
        }
    }
    Ok(())
}

/// What comes in, by lines.
struct Lines<R> {
    input: BufReader<R>,
    /// What has come of a line that has not ended.
    begun: Vec<u8>,
    /// Whether that was more than a message may have, and is not kept.
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn of(input: R) -> Self {
        Self { input: BufReader::new(input), begun: Vec::new(), is_too_long: false }
    }

    /// The next line that is not blank, without its end, or why it is no message; `None` at the end of the input, where what
    /// no line break ends is no line. May be dropped and called again.
    async fn next(&mut self) -> io::Result<Option<Result<Vec<u8>, Fault>>> {
        loop {
            let here = self.input.fill_buf().await?;
            if here.is_empty() {
                return Ok(None);
            }
            let end = here.iter().position(|byte| *byte == b'\n');
            let part = &here[..end.unwrap_or(here.len())];
            if self.is_too_long || self.begun.len() + part.len() > MAX_REQUEST_BYTES {
                self.is_too_long = true;
                self.begun = Vec::new();
            } else {
                self.begun.extend_from_slice(part);
            }
            let taken = part.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_none() {
                continue;
            }
            let line = mem::take(&mut self.begun);
            if mem::take(&mut self.is_too_long) {
                return Ok(Some(Err(Fault::InvalidRequest("a line may have at most 1048576 bytes"))));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Ok(line)));
            }
        }
    }
}
