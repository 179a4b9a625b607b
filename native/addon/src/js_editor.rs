//! The editor behind the one JavaScript callback.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use gateway_core::diagnostic::RawDiagnostics;
use gateway_core::hover::RawHovers;
use gateway_core::location::{RawLocations, RawTargets};
use gateway_core::position::Position;
use gateway_core::symbol::{RawDocumentSymbols, RawWorkspaceSymbols};
use gateway_server::editor::{
    Along, Editor, EditorError, Found, MainDocument, OpenDocument, Opening, Place, Readiness,
};
use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use serde_json::{Value, json};

use crate::answers::{Answer, Rows, UNANSWERED};
use crate::rows::{self, Malformed};

/// How many questions may wait for JavaScript's thread to take them.
const WAITING_QUESTIONS: usize = 64;

/// How long to wait before a question is offered again to a thread that takes none.
const OFFER_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Takes one question: an id, the number of the question and the request, for which JavaScript calls `answer_question` or
/// `fail_question` with that id. It holds neither the process nor the editor's window alive, and it takes a bounded number
/// of questions at once.
pub(crate) type Ask = ThreadsafeFunction<
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
    Definition = 1,
    Declaration = 2,
    References = 3,
    Hover = 4,
    DocumentSymbols = 5,
    WorkspaceSymbols = 6,
    Ready = 7,
    Diagnostics = 8,
    SessionsEnded = 9,
    MainDocuments = 10,
    DocumentDiagnostics = 11,
}

/// The editor that JavaScript speaks for.
pub(crate) struct JsEditor {
    ask: Arc<Ask>,
}

impl JsEditor {
    pub(crate) fn new(ask: Arc<Ask>) -> Self {
        Self { ask }
    }

    async fn ask<T>(
        &self,
        question: Question,
        request: String,
        unpack: impl FnOnce(&str, &[u32]) -> Result<T, Malformed>,
    ) -> Result<T, EditorError> {
        self.ask_more(question, request, |Answer { text, cells, .. }| unpack(&text, cells.as_slice())).await
    }

    async fn ask_more<T>(
        &self,
        question: Question,
        request: String,
        unpack: impl FnOnce(Answer) -> Result<T, Malformed>,
    ) -> Result<T, EditorError> {
        let answer = self.offer(question, request).await.map_err(|reason| failed(question, reason))?;
        match answer.outcome {
            0 => unpack(answer).map_err(|Malformed(what)| failed(question, what)),
            1 => Err(EditorError::Unavailable),
            2 => Err(EditorError::NotFound),
            _ => Err(failed(question, "an outcome that is not known")),
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
    async fn open(&self, opening: Opening<'_>) -> Result<(OpenDocument, Option<Found>), EditorError> {
        let Opening { uri, position, along, ready } = opening;
        let mut request = json!({ "uri": uri, "ready": ready });
        if let Some(Position { line, character }) = position {
            request["line"] = line.into();
            request["character"] = character.into();
        }
        if let Some(along) = along {
            request["along"] = (question_of(along) as u32).into();
        }
        let unpack = |answer: Answer| {
            let opened = rows::unpack_open(&answer.text, answer.cells.as_slice())?;
            let found =
                along.zip(answer.along).map(|(along, Rows { text, cells })| found(along, &text, cells.as_slice()));
            Ok((opened, found.transpose()?))
        };
        self.ask_more(Question::Open, request.to_string(), unpack).await
    }

    async fn ready(&self, uri: &str) -> Result<Readiness, EditorError> {
        self.ask(Question::Ready, about(uri), rows::unpack_ready).await
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        self.ask(Question::MainDocuments, json!({}).to_string(), rows::unpack_main_documents).await
    }

    async fn definition(&self, place: &Place) -> Result<RawTargets, EditorError> {
        self.ask(Question::Definition, at(place), rows::unpack_targets).await
    }

    async fn declaration(&self, place: &Place) -> Result<RawTargets, EditorError> {
        self.ask(Question::Declaration, at(place), rows::unpack_targets).await
    }

    async fn references(&self, place: &Place) -> Result<RawLocations, EditorError> {
        self.ask(Question::References, at(place), rows::unpack_locations).await
    }

    async fn hover(&self, place: &Place) -> Result<RawHovers, EditorError> {
        self.ask(Question::Hover, at(place), rows::unpack_hovers).await
    }

    async fn document_symbols(&self, uri: &str) -> Result<RawDocumentSymbols, EditorError> {
        self.ask(Question::DocumentSymbols, about(uri), rows::unpack_document_symbols).await
    }

    async fn workspace_symbols(&self, query: &str) -> Result<RawWorkspaceSymbols, EditorError> {
        let request = json!({ "query": query }).to_string();
        self.ask(Question::WorkspaceSymbols, request, rows::unpack_workspace_symbols).await
    }

    async fn diagnostics(&self, known_for: Option<Duration>) -> Result<RawDiagnostics, EditorError> {
        self.ask(Question::Diagnostics, after_writes(json!({}), known_for), rows::unpack_diagnostics).await
    }

    async fn document_diagnostics(
        &self,
        uri: &str,
        known_for: Option<Duration>,
    ) -> Result<RawDiagnostics, EditorError> {
        let request = after_writes(json!({ "uri": uri }), known_for);
        self.ask(Question::DocumentDiagnostics, request, rows::unpack_diagnostics).await
    }
}

/// A request for diagnostics, which says for how long language servers have known of what was written last.
fn after_writes(mut request: Value, known_for: Option<Duration>) -> String {
    if let Some(known_for) = known_for {
        request["knownForMs"] = u64::try_from(known_for.as_millis()).unwrap_or(u64::MAX).into();
    }
    request.to_string()
}

/// Tells JavaScript which sessions have ended, all that are remembered, and waits for nothing (D43).
pub(crate) fn tell_sessions_ended(ask: &Ask, ended: &[String]) {
    let request = json!(ended).to_string();
    let told = hand_over(ask, UNANSWERED.next_id(), Question::SessionsEnded, request);
    if told != Status::Ok {
        tracing::warn!(status = told.as_ref(), "the ended sessions could not be handed over to be kept");
    }
}

/// Puts the question in the queue of JavaScript's thread, if there is room. If the callback throws, the question has failed.
fn hand_over(ask: &Ask, id: i64, question: Question, request: String) -> Status {
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

fn question_of(along: Along) -> Question {
    match along {
        Along::Definition => Question::Definition,
        Along::Hover => Question::Hover,
        Along::DocumentSymbols => Question::DocumentSymbols,
    }
}

fn found(along: Along, text: &str, cells: &[u32]) -> Result<Found, Malformed> {
    match along {
        Along::Definition => rows::unpack_targets(text, cells).map(Found::Targets),
        Along::Hover => rows::unpack_hovers(text, cells).map(Found::Hovers),
        Along::DocumentSymbols => rows::unpack_document_symbols(text, cells).map(Found::DocumentSymbols),
    }
}

fn about(uri: &str) -> String {
    json!({ "uri": uri }).to_string()
}

fn at(place: &Place) -> String {
    json!({ "uri": place.uri, "line": place.position.line, "character": place.position.character }).to_string()
}

/// Logs why there is no answer; the caller is told no more than that there is none, since it may hold paths.
fn failed(question: Question, reason: impl Display) -> EditorError {
    tracing::warn!(?question, %reason, "no usable answer");
    EditorError::Failed
}
