//! Targets that no place says: what has the name, or where a piece of a line stands, is looked for first.

use std::sync::Arc;

use gateway_core::ask::Subject;
use gateway_core::error::ToolError;
use gateway_core::texts::{Texts as _, digest};
use gateway_core::tool::{Aim, Question, Registered};
use gateway_core::tools;

use crate::answers::Answer;
use crate::asking::blocking;
use crate::disk::Resolver;
use crate::editor::Editor;
use crate::gateway::Gateway;
use crate::single_flight::Latest;
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
            (Some(Aim::Symbol(symbol)), _) => {
                let find = tools::question_of_target(&question.subject, symbol)?;
                let Answer::Set(_, found) = self.share(tools::FIND, find.clone(), progress).await? else {
                    return Err(ToolError::Internal);
                };
                if let Some((target, path, position)) = tools::only(&found) {
                    question.subject = Subject::Place { uri: self.uri_of(&path).await?, position };
                    if let Some(told) = question.parameters.first_mut() {
                        *told = target;
                    }
                } else {
                    (tool, question) = (tools::FIND, find);
                }
            }
            (Some(Aim::Piece(piece)), Some(uri)) => {
                let position = piece.position_in(&self.text_of(uri).await?)?;
                question.subject = Subject::Place { uri: uri.to_owned(), position };
            }
            (Some(Aim::Piece(_)), None) => return Err(ToolError::Internal),
        }
        match (expect, question.subject.uri()) {
            (Some(expected), Some(uri)) if digest(&self.text_of(uri).await?) != expected => Err(ToolError::FileChanged),
            _ => Ok((tool, question)),
        }
    }

    /// The text of a document as language servers know it.
    async fn text_of(&self, uri: &str) -> Result<Arc<str>, ToolError> {
        let (moment, document) = self.admit(uri).await?;
        let unsaved = self.unsaved_texts().await?;
        let resolver = Resolver::sparing(Arc::clone(&moment.silent));
        blocking(self.workspace().permit_for_answer().await?, move || {
            FileTexts::new(&unsaved, &moment.roots, &resolver)?.text(&document.uri).ok_or(ToolError::TextUntold)
        })
        .await?
    }
}
