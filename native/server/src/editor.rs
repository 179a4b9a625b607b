//! The questions that may be asked of an editor.
//!
//! The server owns this trait and knows nothing of the back end that implements it. Answers are raw: nothing is gated, sorted
//! or decided here.

use std::future::Future;
use std::time::Duration;

use gateway_core::ask::{Ask, Raw, Subject};
use gateway_core::error::{Explanation, ToolError};
use gateway_core::position::Position;
use gateway_core::wording::Wording;

use crate::watch::Change;

/// What the editor says of a document that it has opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDocument {
    /// How many lines the document has; at least 1.
    pub line_count: u32,
    /// The UTF-16 length of the line asked about, its end excluded; `None` if there is no such line, or none was asked
    /// about.
    pub line_length: Option<u32>,
    /// The language it is written in.
    pub language: Language,
    /// Whether the language's extension has shown, just now, that it is ready. If not, it may be about to.
    pub ready: bool,
    /// Whether it is in an editor tab, where extensions report on it that report only on what is shown.
    pub in_tab: bool,
}

/// A language, as the editor knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    /// The editor's identifier of it.
    pub id: String,
    /// Whether something shows when it is ready, so that nothing has to be concluded from its answers (D28).
    pub has_readiness_probe: bool,
}

/// A document that stands for its language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainDocument {
    /// The URI under which the editor knows the document.
    pub uri: String,
    /// The language it is written in.
    pub language: Language,
}

/// Why a language is not waited for any longer (D28).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Its extension has shown it.
    Shown,
    /// Nothing has shown it, but it has had its time.
    Assumed,
    /// It has shown that it soon will be ready, unless it begins to work again before that; then the text counts as changed.
    Resting,
}

/// Why the editor gave no answer. What a provider said is logged where it happened and goes no further, since it may hold
/// paths; a back end that explains itself does so in words that clients may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorError {
    /// Nothing in the editor answers this question for this document.
    Unavailable(Option<Explanation>),
    /// The document cannot be opened as text.
    NotFound,
    /// A provider threw, rejected or returned something that is not an answer.
    Failed(Option<Explanation>),
    /// It is not known yet what an answer would be worth.
    Starting,
}

impl From<EditorError> for ToolError {
    fn from(error: EditorError) -> Self {
        match error {
            EditorError::Unavailable(explanation) => Self::ProviderUnavailable(explanation),
            EditorError::NotFound => Self::DocumentNotFound,
            EditorError::Failed(explanation) => Self::ProviderFailed(explanation),
            EditorError::Starting => Self::WarmingUp,
        }
    }
}

/// An editor that can be asked. Every method may take arbitrarily long; the server limits the time, and may drop the
/// future.
pub trait Editor: Send + Sync + 'static {
    /// What clients are told in words that only this back end has.
    const WORDING: &'static Wording = &Wording::NEUTRAL;

    /// Opens the document at `uri` and keeps it open for a while (D33), so that the questions that follow are fast and
    /// cause no events of their own. It is opened in step with the disk: a text that somebody else has written is taken
    /// over first. `position` is the place that is asked about, if one is.
    fn open(
        &self,
        uri: &str,
        position: Option<Position>,
    ) -> impl Future<Output = Result<OpenDocument, EditorError>> + Send;

    /// Resolves once the language of the document at `uri` is ready, or, with `or_resting`, is about to be.
    fn ready(&self, uri: &str, or_resting: bool) -> impl Future<Output = Result<Readiness, EditorError>> + Send;

    /// A document of each language that questions about the whole workspace have to wait for, each opened as by `open`.
    fn main_documents(&self) -> impl Future<Output = Result<Vec<MainDocument>, EditorError>> + Send;

    /// Whether this editor is told of what was written, by `tell`. Any other hears of it by itself, and has
    /// [`Gateway::editor_saw`](crate::gateway::Gateway::editor_saw) know.
    const IS_TOLD: bool = false;

    /// Tells language servers of what was written, by real paths; `None` if that is more than is remembered. Once this
    /// resolves, what they are asked from then on is about that.
    fn tell(&self, _written: Option<&[Change]>) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Asks language servers, by a document's URI under which the editor knows it (D31). The answer has the shape of the
    /// ask.
    ///
    /// References are all references, declarations included (D9). Diagnostics are all that are published, once those are that
    /// come of what was written, and those of the document that is asked about are settled: they belong to its text as it is
    /// now, and no more are about to come (D29). Language servers have known for `known_for` of what was written. Nothing is
    /// analysed for a question about the whole workspace.
    fn ask(
        &self,
        ask: Ask,
        subject: &Subject,
        known_for: Option<Duration>,
    ) -> impl Future<Output = Result<Raw, EditorError>> + Send;
}
