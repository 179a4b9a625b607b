//! MCP over stdin and stdout: one message in a line, one client, one session.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gateway_core::error::ToolError;
use gateway_core::limits::MAX_REQUEST_BYTES;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::body::Pieces;
use crate::lifecycle::{Calls, Lifecycle, TooMany};
use crate::rpc::{self, Fault, Id, Message};
use crate::session::SessionId;

/// How many answers may wait to be written.
const MAX_UNWRITTEN: usize = 64;
/// How many requests may be under way. Of calls, the session's own bound counts first.
const MAX_REQUESTS: usize = 256;

const TOO_LONG: Fault = Fault::InvalidRequest("a message may have at most 1048576 bytes");
const NOT_BEGUN: Fault = Fault::InvalidRequest("the session begins with the request initialize");

/// Serves the client at the other end until it sends nothing more. What is under way then is given up. `fallback`: whether a
/// client that asks for [`Revision::Fallback`](crate::session::Revision::Fallback) is given it. An error is one of reading.
pub async fn serve<G: Calls>(
    gateway: Arc<G>,
    input: impl AsyncRead + Send + Unpin,
    output: impl AsyncWrite + Send + Unpin + 'static,
    fallback: bool,
) -> io::Result<()> {
    let lifecycle = Arc::new(Lifecycle::new(gateway));
    let (answers, to_write) = mpsc::channel(MAX_UNWRITTEN);
    let mut writing = tokio::spawn(write(output, to_write));
    let client = Client { lifecycle, answers, session: None, under_way: Arc::default(), requests: JoinSet::new() };
    // A client that takes no answers any more asks in vain.
    tokio::select! {
        read = client.listen(input, fallback) => read,
        _ = &mut writing => Ok(()),
    }
}

struct Client<G> {
    lifecycle: Arc<Lifecycle<G>>,
    answers: mpsc::Sender<Pieces>,
    session: Option<SessionId>,
    under_way: Arc<UnderWay>,
    requests: JoinSet<()>,
}

impl<G: Calls> Client<G> {
    async fn listen(mut self, input: impl AsyncRead + Send + Unpin, fallback: bool) -> io::Result<()> {
        let mut input = BufReader::new(input);
        loop {
            let line = match read_line(&mut input).await? {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => line,
                Line::TooLong => {
                    self.answer(self.failure(None, &TOO_LONG)).await;
                    continue;
                }
                Line::End => break,
            };
            match Message::read(&line) {
                Ok(Message::Request { id, method, params }) if method == "initialize" => {
                    let (session, answer) = self.lifecycle.initialize(&id, &params, fallback);
                    // One that begins again has ended what it had.
                    if let Some(before) = session.and_then(|session| self.session.replace(session)) {
                        self.lifecycle.gateway().sessions().end(before);
                    }
                    self.answer(answer).await;
                }
                Ok(message) => self.take(message).await,
                Err(fault) => self.answer(self.failure(None, &fault)).await,
            }
        }
        if let Some(session) = self.session {
            self.lifecycle.gateway().sessions().end(session);
        }
        Ok(())
    }

    async fn take(&mut self, message: Message) {
        let Some(session) = self.session else {
            if let Message::Request { id, method, .. } = message {
                let is_ping = method == "ping";
                let answer = if is_ping { rpc::success(&id, b"{}") } else { self.failure(Some(&id), &NOT_BEGUN) };
                self.answer(answer).await;
            }
            return;
        };
        let Message::Request { id, .. } = &message else {
            if let Message::Notification { method, params } = &message
                && method == "notifications/cancelled"
                && let Some(Ok(id)) = params.get("requestId").cloned().map(Id::read)
            {
                self.under_way.cancel(&id);
            }
            // There is nobody to tell of what is wrong with a notification.
            drop(self.lifecycle.receive(session, message).await);
            return;
        };
        let id = id.clone();
        while self.requests.try_join_next().is_some() {}
        if self.requests.len() >= MAX_REQUESTS {
            self.answer(self.failure(Some(&id), &ToolError::Busy.into())).await;
            return;
        }
        let (lifecycle, answers) = (Arc::clone(&self.lifecycle), self.answers.clone());
        let under_way = Arc::clone(&self.under_way);
        under_way.begin(&id);
        self.requests.spawn(async move {
            let answer = match lifecycle.receive(session, message).await {
                Ok(answer) => answer,
                Err(TooMany { body, .. }) => Some(body.into()),
            };
            // A request that was cancelled is not answered.
            if let (false, Some(answer)) = (under_way.end(&id), answer) {
                drop(answers.send(answer).await);
            }
        });
    }

    fn failure(&self, id: Option<&Id>, fault: &Fault) -> Vec<u8> {
        rpc::failure(id, fault, self.lifecycle.gateway().wording())
    }

    async fn answer(&self, answer: Vec<u8>) {
        // Where nobody takes answers any more, the writer has ended, and with it all.
        drop(self.answers.send(answer.into()).await);
    }
}

/// The requests under way, and whether each was cancelled.
#[derive(Default)]
struct UnderWay(Mutex<Vec<(Id, bool)>>);

impl UnderWay {
    fn begin(&self, id: &Id) {
        self.requests().push((id.clone(), false));
    }

    fn cancel(&self, id: &Id) {
        for (known, cancelled) in self.requests().iter_mut() {
            *cancelled |= known == id;
        }
    }

    /// Returns whether the request was cancelled.
    fn end(&self, id: &Id) -> bool {
        let mut requests = self.requests();
        let at = requests.iter().position(|(known, _)| known == id);
        at.is_some_and(|at| requests.swap_remove(at).1)
    }

    fn requests(&self) -> MutexGuard<'_, Vec<(Id, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Line {
    Whole(Vec<u8>),
    /// Longer than a message may be, and passed over.
    TooLong,
    End,
}

async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Line> {
    let mut line = Vec::new();
    let most = u64::try_from(MAX_REQUEST_BYTES).unwrap_or(u64::MAX) + 1;
    if (&mut *input).take(most).read_until(b'\n', &mut line).await? == 0 {
        return Ok(Line::End);
    }
    if line.ends_with(b"\n") || line.len() <= MAX_REQUEST_BYTES {
        return Ok(Line::Whole(line));
    }
    loop {
        line.clear();
        let read = (&mut *input).take(most).read_until(b'\n', &mut line).await?;
        if read == 0 || line.ends_with(b"\n") {
            return Ok(Line::TooLong);
        }
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, mut to_write: mpsc::Receiver<Pieces>) -> io::Result<()> {
    while let Some(answer) = to_write.recv().await {
        for piece in answer.pieces() {
            output.write_all(piece).await?;
        }
        output.write_all(b"\n").await?;
        output.flush().await?;
    }
    Ok(())
}
