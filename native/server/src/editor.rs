//! The questions that may be asked of an editor.
//!
//! The server owns this trait and knows nothing of who implements it: VS Code today, language servers driven without
//! VS Code later. Answers are raw: nothing is gated, sorted or decided here.

use std::future::Future;
use std::time::Duration;

use gateway_core::diagnostic::RawDiagnostics;
use gateway_core::error::ToolError;
use gateway_core::hover::RawHovers;
use gateway_core::location::{RawLocations, RawTargets};
use gateway_core::position::Position;
use gateway_core::symbol::{RawDocumentSymbols, RawWorkspaceSymbols};
use gateway_core::tools::Tool;

/// A document as its editor names it, and a position in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The URI under which the editor knows the document (D31), not necessarily canonical.
    pub uri: String,
    /// Where in the document.
    pub position: Position,
}

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
    pub shown: bool,
}

/// How a document is to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening<'a> {
    /// The URI under which the editor knows the document.
    pub uri: &'a str,
    /// The place that is asked about, if one is.
    pub position: Option<Position>,
    /// What is asked about it.
    pub along: Option<Along>,
    /// The languages that are known to be ready.
    pub ready: Vec<String>,
}

/// A question that goes along where a document is opened, so that both cross at once. It is only answered if the document
/// has such a place, and its language is known to be ready or shows it just then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// As [`Editor::definition`].
    Definition,
    /// As [`Editor::hover`].
    Hover,
    /// As [`Editor::document_symbols`].
    DocumentSymbols,
}

impl Along {
    /// The tool whose question it is.
    pub const fn tool(self) -> Tool {
        match self {
            Self::Definition => Tool::Definition,
            Self::Hover => Tool::Hover,
            Self::DocumentSymbols => Tool::DocumentSymbols,
        }
    }
}

/// The answer to a question that went along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Of [`Along::Definition`].
    Targets(RawTargets),
    /// Of [`Along::Hover`].
    Hovers(RawHovers),
    /// Of [`Along::DocumentSymbols`].
    DocumentSymbols(RawDocumentSymbols),
}

/// A language, as the editor knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    /// The editor's identifier of it.
    pub id: String,
    /// Whether its extension tells when it is ready, so that nothing has to be concluded from its answers (D28).
    pub tells: bool,
}

/// A document that stands for its language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainDocument {
    /// The URI under which the editor knows the document.
    pub uri: String,
    /// The language it is written in.
    pub language: Language,
}

/// Why a language counts as ready (D28).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Its extension has shown it.
    Shown,
    /// Nothing has shown it, but it has had its time.
    Assumed,
}

/// Why the editor gave no answer. What it said is logged where it happened and goes no further: it may hold paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditorError {
    /// Nothing in the editor answers this question for this document.
    #[error("no provider")]
    Unavailable,
    /// The document cannot be opened as text.
    #[error("no such document")]
    NotFound,
    /// A provider threw, rejected or returned something that is not an answer.
    #[error("the provider failed")]
    Failed,
}

impl From<EditorError> for ToolError {
    fn from(error: EditorError) -> Self {
        match error {
            EditorError::Unavailable => Self::ProviderUnavailable,
            EditorError::NotFound => Self::DocumentNotFound,
            EditorError::Failed => Self::ProviderFailed,
        }
    }
}

/// An editor that can be asked. Every method may take arbitrarily long; the server limits the time, and may drop the
/// future.
pub trait Editor: Send + Sync + 'static {
    /// Opens the document at `uri` and keeps it open for a while (D33), so that the questions that follow are fast and
    /// cause no events of their own. It is opened in step with the disk: a text that somebody else has written is taken
    /// over first. With it may come the answer to the question that went along; without one, that has to be asked.
    fn open(
        &self,
        opening: Opening<'_>,
    ) -> impl Future<Output = Result<(OpenDocument, Option<Found>), EditorError>> + Send;

    /// Resolves once the language of the document at `uri` is ready.
    fn ready(&self, uri: &str) -> impl Future<Output = Result<Readiness, EditorError>> + Send;

    /// A document of each language that questions about the whole workspace have to wait for, each opened as by `open`.
    fn main_documents(&self) -> impl Future<Output = Result<Vec<MainDocument>, EditorError>> + Send;

    /// Where the symbol at `place` is defined.
    fn definition(&self, place: &Place) -> impl Future<Output = Result<RawTargets, EditorError>> + Send;

    /// Where the symbol at `place` is declared.
    fn declaration(&self, place: &Place) -> impl Future<Output = Result<RawTargets, EditorError>> + Send;

    /// Every reference to the symbol at `place`, declarations included (D9).
    fn references(&self, place: &Place) -> impl Future<Output = Result<RawLocations, EditorError>> + Send;

    /// What there is to tell about the symbol at `place`.
    fn hover(&self, place: &Place) -> impl Future<Output = Result<RawHovers, EditorError>> + Send;

    /// The outline of the document at `uri`.
    fn document_symbols(&self, uri: &str) -> impl Future<Output = Result<RawDocumentSymbols, EditorError>> + Send;

    /// The symbols of the workspace that match the query; what that means is up to each language.
    fn workspace_symbols(&self, query: &str) -> impl Future<Output = Result<RawWorkspaceSymbols, EditorError>> + Send;

    /// Every diagnostic that is published, once those are that come of what was written. Language servers have known for
    /// `known_for` of that. Nothing is analysed for the question.
    fn diagnostics(
        &self,
        known_for: Option<Duration>,
    ) -> impl Future<Output = Result<RawDiagnostics, EditorError>> + Send;

    /// Every diagnostic that is published once those of the document at `uri` are settled: they belong to its text as it
    /// is now, and no more are about to come (D29), nor any that come of what was written elsewhere. Language servers have
    /// known for `known_for` of that.
    fn document_diagnostics(
        &self,
        uri: &str,
        known_for: Option<Duration>,
    ) -> impl Future<Output = Result<RawDiagnostics, EditorError>> + Send;
}
