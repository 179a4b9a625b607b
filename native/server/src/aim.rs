//! Targets that no place says: what has the name, or where a piece of a line stands, is looked for first.

use std::sync::Arc;

use gateway_core::ask::Subject;
use gateway_core::error::ToolError;
use gateway_core::snapshots::Retained;
use gateway_core::texts::{Texts as _, digest};
use gateway_core::tool::{Aim, Question, Registered};
use gateway_core::tools;

use crate::answers::Answer;
use crate::asking::blocking;
use crate::disk::Resolver;
use crate::editor::Editor;
use crate::gateway::Gateway;
use crate::single_flight::{Latest, Progress};
use crate::texts::FileTexts;

impl<E: Editor> Gateway<E> {
    /// The question about what is aimed at; if a name is not that of one symbol, the question what has it. If a text is
    /// expected, its document is checked to have that.
    pub(crate) async fn aimed(
        self: &Arc<Self>,
        mut tool: Registered,
        mut question: Question,
        aim: Option<&Aim>,
        expect: Option<&str>,
        progress: &Latest,
    ) -> Result<(Registered, Question), ToolError> {
        match (aim, question.subject.uri()) {
            (None, _) => {}
            (Some(Aim::Symbol(symbol)), file) => {
                let mut find = tools::question_of_target(&question.subject, symbol)?;
                let mut found = self.found(&find, progress).await?;
                if file.is_some() && found.set.is_empty() {
                    // The file uses it, and another has it.
                    find = tools::question_of_target(&Subject::Workspace { query: None }, symbol)?;
                    found = self.found(&find, progress).await?;
                }
                if let Some((target, path, position)) = tools::only(&found, symbol) {
                    question.subject = Subject::Place { uri: self.uri_of(&path).await?, position };
                    if let Some(told) = question.parameters.first_mut() {
                        *told = target;
                    }
                } else {
                    (tool, question) = (tools::FIND, find);
                }
            }
            (Some(Aim::Piece(piece)), Some(uri)) => {
                let piece = piece.clone();
                let position = self.with_text(uri, move |text| piece.position_in(text)).await??;
                question.subject = Subject::Place { uri: uri.to_owned(), position };
            }
            (Some(Aim::Range(range)), Some(uri)) => {
                let asking = Arc::new(Progress::default());
                progress.set(Arc::clone(&asking));
                let name = match self.believed_outline(uri, &asking).await {
                    Ok(outline) => tools::name_in(&outline, *range)?,
                    Err(ToolError::ProviderUnavailable(_)) => None,
                    Err(error) => return Err(error),
                };
                if let Some(position) = name {
                    question.subject = Subject::Place { uri: uri.to_owned(), position };
                }
            }
            (Some(Aim::Piece(_) | Aim::Range(_)), None) => return Err(ToolError::Internal),
        }
        match (expect, question.subject.uri()) {
            (Some(expected), Some(uri)) if self.with_text(uri, digest).await? != expected => {
                Err(ToolError::FileChanged)
            }
            _ => Ok((tool, question)),
        }
    }

    /// What the search for a name has found.
    async fn found(self: &Arc<Self>, find: &Question, progress: &Latest) -> Result<Arc<Retained>, ToolError> {
        match self.share(tools::FIND, find.clone(), progress).await? {
            Answer::Set(_, found) => Ok(found),
            Answer::Whole(_) => Err(ToolError::Internal),
        }
    }

    /// What comes of a document's text, as language servers know it. It may be long, so that is off the threads that serve
    /// connections.
    async fn with_text<T: Send + 'static>(
        &self,
        uri: &str,
        work: impl FnOnce(&str) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let (moment, document) = self.admit(uri).await?;
        let unsaved = self.unsaved_texts().await?;
        let resolver = Resolver::sparing(Arc::clone(&moment.silent));
        blocking(self.workspace().permit_for_answer().await?, move || {
            let text = FileTexts::new(&unsaved, &moment.roots, &resolver)?.text(&document.uri);
            text.map(|text| work(&text)).ok_or(ToolError::TextUntold)
        })
        .await?
    }
}
