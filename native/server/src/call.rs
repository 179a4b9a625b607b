//! The way of one tool call, from its arguments to the encoded payload (docs/ARCHITECTURE.md).

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epoch, Epochs};
use gateway_core::error::ToolError;
use gateway_core::keys::{RequestKey, RootsKey, SnapshotKey};
use gateway_core::location::RawTargets;
use gateway_core::page::{PageSize, ResponseBudget};
use gateway_core::position::Position;
use gateway_core::roots::Document;
use gateway_core::snapshots::Retained;
use gateway_core::tools::{Tool, definition, references};
use gateway_core::uri::CanonicalUri;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use crate::disk::Disk;
use crate::editor::{Editor, EditorError, Place};
use crate::gateway::Gateway;
use crate::lifecycle::Calls;
use crate::workspace::Moment;

/// What an ask in flight asks, and of which state: a call that comes after a change never joins an ask from before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AskKey {
    question: Question,
    roots: RootsKey,
    epochs: Epochs,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Question {
    Definition { uri: String, position: Position },
    References { uri: String, position: Position, include_declaration: bool },
}

/// What a shared ask answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Definition(Arc<definition::Answer>),
    Set(RetainedSet),
}

/// A full result set with the keys that its cursors carry.
#[derive(Debug, Clone)]
pub(crate) struct RetainedSet {
    request: RequestKey,
    snapshot: SnapshotKey,
    retained: Arc<Retained>,
}

impl<E: Editor> Gateway<E> {
    /// Answers one call within the time limit. `envelope_bytes` counts the HTTP body around the payload (D16).
    pub(crate) async fn answer(
        self: &Arc<Self>,
        tool: Tool,
        arguments: Value,
        envelope_bytes: usize,
    ) -> Result<Vec<u8>, ToolError> {
        let limit = self.limits().request_timeout();
        match timeout(limit, self.answer_untimed(tool, arguments, envelope_bytes)).await {
            Ok(answer) => answer,
            Err(_) => Err(ToolError::Timeout { limit }),
        }
    }

    async fn answer_untimed(
        self: &Arc<Self>,
        tool: Tool,
        arguments: Value,
        envelope_bytes: usize,
    ) -> Result<Vec<u8>, ToolError> {
        let budget = ResponseBudget::new(self.limits().max_response_bytes(), envelope_bytes);
        match tool {
            Tool::Definition => self.definition(parse(arguments)?, budget).await,
            Tool::References => self.references(parse(arguments)?, budget).await,
            Tool::Hover
            | Tool::DocumentSymbols
            | Tool::WorkspaceSymbols
            | Tool::DiagnosticsDocument
            | Tool::DiagnosticsWorkspace => Err(ToolError::NotBuiltYet),
        }
    }

    async fn definition(
        self: &Arc<Self>,
        input: definition::Input,
        budget: ResponseBudget,
    ) -> Result<Vec<u8>, ToolError> {
        let question = Question::Definition { uri: input.uri.clone(), position: input.position };
        let answer = self.share(question, |gateway| gateway.ask_definition(input)).await?;
        match answer {
            Answer::Definition(answer) => answer.payload(budget),
            Answer::Set(_) => Err(ToolError::Internal),
        }
    }

    async fn ask_definition(self: Arc<Self>, input: definition::Input) -> Result<Answer, ToolError> {
        let attempt = || async {
            let opened = self.open(&input.uri, input.position).await?;
            let raw = self.editor().definition(&opened.place).await.map_err(editor_error)?;
            let roots = Arc::clone(&opened.moment.roots);
            let answer = blocking(move || definition::Answer::new(&raw, &roots, &Disk)).await??;
            Ok((opened.moment, answer))
        };
        let (_, answer) = self.settled(Tool::Definition, attempt).await?;
        Ok(Answer::Definition(Arc::new(answer)))
    }

    async fn references(
        self: &Arc<Self>,
        input: references::Input,
        budget: ResponseBudget,
    ) -> Result<Vec<u8>, ToolError> {
        let size = PageSize::clamped(input.page_size, &self.limits());
        if let Some(cursor) = &input.cursor {
            let (_, document) = self.admit(input.uri.clone()).await?;
            let request = RequestKey::references(&document.uri, input.position, input.include_declaration);
            let (cursor, retained) = self.workspace().resume(Tool::References, &request, cursor)?;
            return references::page(&retained, &cursor, size, budget);
        }
        let question = Question::References {
            uri: input.uri.clone(),
            position: input.position,
            include_declaration: input.include_declaration,
        };
        match self.share(question, |gateway| gateway.ask_references(input)).await? {
            Answer::Set(set) => references::page(&set.retained, &set.first_page(), size, budget),
            Answer::Definition(_) => Err(ToolError::Internal),
        }
    }

    async fn ask_references(self: Arc<Self>, input: references::Input) -> Result<Answer, ToolError> {
        let attempt = || async {
            let opened = self.open(&input.uri, input.position).await?;
            let place = &opened.place;
            let (references, declarations) = if input.include_declaration {
                (self.editor().references(place).await, Vec::new())
            } else {
                let editor = self.editor();
                let (references, definition, declaration) =
                    tokio::join!(editor.references(place), editor.definition(place), editor.declaration(place));
                (references, vec![none_if_unavailable(definition)?, none_if_unavailable(declaration)?])
            };
            let references = references.map_err(editor_error)?;
            let roots = Arc::clone(&opened.moment.roots);
            let set = blocking(move || references::canonicalize(&references, &declarations, &roots, &Disk)).await?;
            let request = RequestKey::references(&opened.uri, input.position, input.include_declaration);
            Ok((opened.moment, (request, set.map(Arc::new))))
        };
        let (moment, (request, found)) = self.settled(Tool::References, attempt).await?;
        let (snapshot, retained) = self.workspace().retain(Tool::References, &request, &moment, found)?;
        Ok(Answer::Set(RetainedSet { request, snapshot, retained }))
    }

    async fn share<F>(
        self: &Arc<Self>,
        question: Question,
        begin: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<Answer, ToolError>
    where
        F: Future<Output = Result<Answer, ToolError>> + Send + 'static,
    {
        let Moment { roots, epochs } = self.workspace().now();
        let key = AskKey { question, roots: roots.key().clone(), epochs };
        self.asks().share(key, || begin(Arc::clone(self))).await
    }

    /// Attempts until the workspace held still meanwhile: once more if it moved and time allows, and always if the
    /// roots moved, since an answer gated to roots that are gone is never given (D23).
    async fn settled<T, F>(&self, tool: Tool, attempt: impl Fn() -> F) -> Result<(Moment, T), ToolError>
    where
        F: Future<Output = Result<(Moment, T), ToolError>>,
    {
        let begun = Instant::now();
        let mut attempted_again = false;
        loop {
            let (moment, answer) = attempt().await?;
            let moved = self.workspace().now().epochs.changed_since(&moment.epochs, tool);
            let time_allows = begun.elapsed() * 2 < self.limits().request_timeout();
            let again = moved.contains(&Epoch::Roots) || (!moved.is_empty() && !attempted_again && time_allows);
            if !again {
                return Ok((moment, answer));
            }
            attempted_again = true;
        }
    }

    /// Admits the document, has the editor open it, checks the position, and only then reads the epochs (D23).
    async fn open(&self, uri: &str, position: Position) -> Result<Opened, ToolError> {
        loop {
            let (admitted, document) = self.admit(uri.to_owned()).await?;
            let opened = self.editor().open(&document.editor_uri, position.line).await.map_err(editor_error)?;
            let moment = self.workspace().now();
            if moment.epochs.roots != admitted.epochs.roots {
                continue;
            }
            position.check(opened.line_count, opened.line_length)?;
            let place = Place { uri: document.editor_uri, position };
            return Ok(Opened { moment, uri: document.uri, place });
        }
    }

    /// The document at `uri`, if the roots of this moment allow it.
    async fn admit(&self, uri: String) -> Result<(Moment, Document), ToolError> {
        let workspace = Arc::clone(self.workspace());
        blocking(move || {
            let moment = workspace.look_at_roots();
            let document = moment.roots.admit(&uri, &Disk)?;
            // Opening a pipe or a device may never end, and reading one may take something away.
            if !document.real_path.is_file() {
                return Err(ToolError::DocumentNotFound);
            }
            Ok((moment, document))
        })
        .await?
    }
}

/// A document that the editor holds open, at the moment after it was opened.
struct Opened {
    moment: Moment,
    uri: CanonicalUri,
    place: Place,
}

impl RetainedSet {
    fn first_page(&self) -> Cursor {
        Cursor { offset: 0, request: self.request.clone(), snapshot: self.snapshot.clone() }
    }
}

/// Runs what may block on the disk off the threads that serve connections.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ToolError::Internal)
}

/// The arguments as the tool's input. They have passed the schema, so what still fails is a gap between the two.
fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|_| ToolError::Internal)
}

fn editor_error(error: EditorError) -> ToolError {
    match error {
        EditorError::Unavailable => ToolError::ProviderUnavailable,
        EditorError::NotFound => ToolError::DocumentNotFound,
        EditorError::Failed => ToolError::ProviderFailed,
    }
}

/// A language without definitions or declarations has none to leave out (D9).
fn none_if_unavailable(answer: Result<RawTargets, EditorError>) -> Result<RawTargets, ToolError> {
    match answer {
        Err(EditorError::Unavailable) => Ok(RawTargets::default()),
        answer => answer.map_err(editor_error),
    }
}
