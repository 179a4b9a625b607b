//! The editor behind the one JavaScript callback.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use gateway_core::ask::{Ask, Raw, Subject};
use gateway_core::position::Position;
use gateway_core::wording::Wording;
use gateway_server::editor::{Editor, EditorError, MainDocument, OpenDocument, Readiness};
use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use serde_json::{Value, json};

use crate::answers::{Answer, UNANSWERED};
use crate::rows::{self, Malformed};
use crate::wording::VS_CODE;

/// How many questions may wait for JavaScript's thread to take them.
const WAITING_QUESTIONS: usize = 64;

/// How long to wait before a question is offered again to a thread that takes none.
const OFFER_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Takes one question: an id, the number of the question and the request, for which JavaScript calls `answer_question` or
/// `fail_question` with that id. It holds neither the process nor the editor's window alive, and it takes a bounded number
/// of questions at once.
pub(crate) type Callback = ThreadsafeFunction<
    FnArgs<(i64, u32, String)>,
    UnknownReturnValue,
    FnArgs<(i64, u32, String)>,
    Status,
    false,
    true,
    WAITING_QUESTIONS,
>;

/// The questions, by the numbers under which they cross; `QUESTION` in `extension/boundary/rows.ts` is the same table.
#[derive(Debug, Clone, Copy)]
enum Question {
    Open = 0,
    Ready = 1,
    MainDocuments = 2,
    Ask = 3,
    SessionsEnded = 4,
}

/// The editor that JavaScript speaks for.
pub(crate) struct JsEditor {
    ask: Arc<Callback>,
}

impl JsEditor {
    pub(crate) fn new(ask: Arc<Callback>) -> Self {
        Self { ask }
    }

    async fn put<T>(
        &self,
        question: Question,
        request: &Value,
        unpack: impl FnOnce(&str, &[u32]) -> Result<T, Malformed>,
    ) -> Result<T, EditorError> {
        let failed = |reason: &dyn Display| failed(question, request, reason);
        let Answer { outcome, text, cells } =
            self.offer(question, request.to_string()).await.map_err(|reason| failed(&reason))?;
        match outcome {
            0 => unpack(&text, cells.as_slice()).map_err(|Malformed(what)| failed(&what)),
            1 => Err(EditorError::Unavailable(None)),
            2 => Err(EditorError::NotFound),
            _ => Err(failed(&"an outcome that is not known")),
        }
    }

    /// Offers the question until JavaScript's thread takes it, and waits for the answer. A thread that is blocked takes
    /// none, and that is no fault of a provider: the caller's time limit ends the wait.
    async fn offer(&self, question: Question, request: String) -> Result<Answer, String> {
        let waiting = UNANSWERED.wait();
        loop {
            match hand_over(&self.ask, waiting.id(), question, request.clone()) {
                Status::Ok => return waiting.outcome().await,
                Status::QueueFull => tokio::time::sleep(OFFER_AGAIN_AFTER).await,
                status => return Err(format!("the question could not be handed over: {}", status.as_ref())),
            }
        }
    }
}

impl Editor for JsEditor {
    const WORDING: &'static Wording = &VS_CODE;

    async fn open(&self, uri: &str, position: Option<Position>) -> Result<OpenDocument, EditorError> {
        let mut request = about(uri);
        add_position(&mut request, position);
        self.put(Question::Open, &request, rows::unpack_open).await
    }

    async fn ready(&self, uri: &str, or_resting: bool) -> Result<Readiness, EditorError> {
        self.put(Question::Ready, &json!({ "uri": uri, "orResting": or_resting }), rows::unpack_ready).await
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        self.put(Question::MainDocuments, &json!({}), rows::unpack_main_documents).await
    }

    async fn ask(&self, ask: Ask, subject: &Subject, known_for: Option<Duration>) -> Result<Raw, EditorError> {
        let mut request = json!({ "method": ask.method });
        match subject {
            Subject::Place { uri, .. } | Subject::Document { uri } => request["uri"] = (&**uri).into(),
            Subject::Workspace { query } => request["query"] = query.clone().into(),
        }
        add_position(&mut request, subject.position());
        if let Some(known_for) = known_for {
            request["knownForMs"] = u64::try_from(known_for.as_millis()).unwrap_or(u64::MAX).into();
        }
        self.put(Question::Ask, &request, |text, cells| rows::unpack(ask.shape, text, cells)).await
    }
}

/// Tells JavaScript which sessions have ended, all that are remembered, and waits for nothing (D43).
pub(crate) fn tell_sessions_ended(ask: &Callback, ended: &[String]) {
    let request = json!(ended).to_string();
    let told = hand_over(ask, UNANSWERED.next_id(), Question::SessionsEnded, request);
    if told != Status::Ok {
        tracing::warn!(status = told.as_ref(), "the ended sessions could not be handed over to be kept");
    }
}

/// Puts the question in the queue of JavaScript's thread, if there is room. If the callback throws, the question has failed.
fn hand_over(ask: &Callback, id: i64, question: Question, request: String) -> Status {
    ask.call_with_return_value(
        (id, question as u32, request).into(),
        ThreadsafeFunctionCallMode::NonBlocking,
        // Looking at what came back is also what keeps a throw from reaching the editor as an uncaught exception.
        move |returned, _| {
            if let Err(error) = returned {
                UNANSWERED.settle(id, Err(error.reason.clone()));
            }
            Ok(())
        },
    )
}

fn about(uri: &str) -> Value {
    json!({ "uri": uri })
}

fn add_position(request: &mut Value, position: Option<Position>) {
    if let Some(Position { line, character }) = position {
        request["line"] = line.into();
        request["character"] = character.into();
    }
}

/// Logs why there is no answer; the caller is told no more than that there is none, since it may hold paths.
fn failed(question: Question, request: &Value, reason: &dyn Display) -> EditorError {
    let method = request["method"].as_str();
    tracing::warn!(?question, method, %reason, "no usable answer");
    EditorError::Failed(None)
}
