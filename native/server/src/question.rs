//! The questions behind the seven tools: which arguments ask what, and how the editor is asked.

use std::sync::Arc;

use gateway_core::error::ToolError;
use gateway_core::keys::RequestKey;
use gateway_core::location::{RawLocations, RawTargets};
use gateway_core::page::WritePage;
use gateway_core::position::Position;
use gateway_core::roots::{AllowedRoots, Document};
use gateway_core::snapshots::Retained;
use gateway_core::tools::workspace_symbols::Query;
use gateway_core::tools::{
    Tool, Whole, definition, diagnostics_document, diagnostics_workspace, document_symbols, hover, references,
    workspace_symbols,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::asks::Stage;
use crate::call::{Opened, blocking};
use crate::disk::Disk;
use crate::editor::{Editor, EditorError, Place};
use crate::gateway::Gateway;
use crate::readiness::Believed;
use crate::workspace::Moment;

/// What a call asks, whichever page of the answer it wants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    Definition(definition::Input),
    References { uri: String, position: Position, include_declaration: bool },
    Hover(hover::Input),
    DocumentSymbols(document_symbols::Input),
    WorkspaceSymbols(Query),
    DiagnosticsDocument(diagnostics_document::Input),
    DiagnosticsWorkspace,
}

/// Which page of the answer a call wants.
pub(crate) struct Paging {
    /// How many items, as the caller asked.
    pub(crate) size: Option<u64>,
    /// Where to go on; nothing for the first page.
    pub(crate) cursor: Option<String>,
    /// How the tool writes a page.
    pub(crate) page: WritePage,
}

/// An answer of the editor, canonicalized.
pub(crate) enum Canonical {
    /// Of a tool that is not paged.
    Whole(Arc<dyn Whole>),
    /// Of a paged tool: the request that cursors are bound to, and the full set, or why there is none.
    Set(RequestKey, Result<Arc<Retained>, ToolError>),
}

impl Question {
    /// The question and, of a paged tool, the page. The arguments have passed the tool's schema, so what still does not
    /// fit is a gap between the two.
    pub(crate) fn parse(tool: Tool, arguments: Value) -> Result<(Self, Option<Paging>), ToolError> {
        Ok(match tool {
            Tool::Definition => (Self::Definition(input(arguments)?), None),
            Tool::References => {
                let references::Input { uri, position, include_declaration, page_size: size, cursor } =
                    input(arguments)?;
                let question = Self::References { uri, position, include_declaration };
                (question, Some(Paging { size, cursor, page: references::page }))
            }
            Tool::Hover => (Self::Hover(input(arguments)?), None),
            Tool::DocumentSymbols => (Self::DocumentSymbols(input(arguments)?), None),
            Tool::WorkspaceSymbols => {
                let workspace_symbols::Input { query, page_size: size, cursor } = input(arguments)?;
                let question = Self::WorkspaceSymbols(Query::normalized(&query)?);
                (question, Some(Paging { size, cursor, page: workspace_symbols::page }))
            }
            Tool::DiagnosticsDocument => (Self::DiagnosticsDocument(input(arguments)?), None),
            Tool::DiagnosticsWorkspace => {
                let diagnostics_workspace::Input { page_size: size, cursor } = input(arguments)?;
                (Self::DiagnosticsWorkspace, Some(Paging { size, cursor, page: diagnostics_workspace::page }))
            }
        })
    }

    pub(crate) fn tool(&self) -> Tool {
        match self {
            Self::Definition(_) => Tool::Definition,
            Self::References { .. } => Tool::References,
            Self::Hover(_) => Tool::Hover,
            Self::DocumentSymbols(_) => Tool::DocumentSymbols,
            Self::WorkspaceSymbols(_) => Tool::WorkspaceSymbols,
            Self::DiagnosticsDocument(_) => Tool::DiagnosticsDocument,
            Self::DiagnosticsWorkspace => Tool::DiagnosticsWorkspace,
        }
    }
}

impl<E: Editor> Gateway<E> {
    /// Asks the editor until its answer can be believed (D28), and canonicalizes that, for the workspace as it was just
    /// before.
    pub(crate) async fn ask(&self, question: &Question, stage: &Stage) -> Result<(Moment, Canonical), ToolError> {
        let editor = self.editor();
        match question {
            Question::Definition(definition::Input { uri, position }) => {
                let (opened, place) = self.open_at(uri, *position).await?;
                let Believed { moment, answer: raw, belief } =
                    self.believed(&opened, stage, || editor.definition(&place)).await?;
                whole(moment, move |roots| {
                    check_unmoved(&opened.document, roots)?;
                    definition::Answer::new(&raw, belief, roots, &Disk)
                })
                .await
            }
            &Question::References { ref uri, position, include_declaration } => {
                let (opened, place) = self.open_at(uri, position).await?;
                let ask = || references(editor, &place, include_declaration);
                let Believed { moment, answer, belief } = self.believed(&opened, stage, ask).await?;
                let request = RequestKey::references(&opened.document.uri, position, include_declaration);
                set(moment, request, move |roots| {
                    check_unmoved(&opened.document, roots)?;
                    let (references, declarations) = answer;
                    references::canonicalize(&references, &declarations, belief, roots, &Disk)
                })
                .await
            }
            Question::Hover(hover::Input { uri, position }) => {
                let (opened, place) = self.open_at(uri, *position).await?;
                let Believed { moment, answer: raw, belief } =
                    self.believed(&opened, stage, || editor.hover(&place)).await?;
                whole(moment, move |roots| {
                    check_unmoved(&opened.document, roots)?;
                    hover::Answer::new(&raw, belief)
                })
                .await
            }
            Question::DocumentSymbols(document_symbols::Input { uri }) => {
                let opened = self.open(uri, None).await?;
                let Believed { moment, answer: raw, belief } =
                    self.believed(&opened, stage, || editor.document_symbols(&opened.document.editor_uri)).await?;
                whole(moment, move |roots| {
                    check_unmoved(&opened.document, roots)?;
                    document_symbols::Answer::new(&raw, belief, &opened.document.uri)
                })
                .await
            }
            Question::WorkspaceSymbols(query) => {
                self.admit_workspace().await?;
                let belief = self.await_workspace_ready(stage).await?;
                let moment = self.admit_workspace().await?;
                let raw = editor.workspace_symbols(query.as_str()).await?;
                let request = RequestKey::workspace_symbols(query);
                set(moment, request, move |roots| workspace_symbols::canonicalize(&raw, belief, roots, &Disk)).await
            }
            Question::DiagnosticsDocument(diagnostics_document::Input { uri }) => {
                let opened = self.open(uri, None).await?;
                self.document_diagnostics(&opened, stage).await
            }
            Question::DiagnosticsWorkspace => {
                self.admit_workspace().await?;
                self.await_workspace_ready(stage).await?;
                let moment = self.admit_workspace().await?;
                let raw = editor.diagnostics().await?;
                let request = RequestKey::workspace_diagnostics();
                set(moment, request, move |roots| diagnostics_workspace::canonicalize(&raw, roots, &Disk)).await
            }
        }
    }

    /// The request key of a paged question, without asking it.
    pub(crate) async fn request_key(&self, question: &Question) -> Result<RequestKey, ToolError> {
        match question {
            &Question::References { ref uri, position, include_declaration } => {
                let (_, document) = self.admit(uri).await?;
                Ok(RequestKey::references(&document.uri, position, include_declaration))
            }
            Question::WorkspaceSymbols(query) => {
                self.admit_workspace().await?;
                Ok(RequestKey::workspace_symbols(query))
            }
            Question::DiagnosticsWorkspace => {
                self.admit_workspace().await?;
                Ok(RequestKey::workspace_diagnostics())
            }
            Question::Definition(_)
            | Question::Hover(_)
            | Question::DocumentSymbols(_)
            | Question::DiagnosticsDocument(_) => Err(ToolError::Internal),
        }
    }

    async fn open_at(&self, uri: &str, position: Position) -> Result<(Opened, Place), ToolError> {
        let opened = self.open(uri, Some(position)).await?;
        let place = Place { uri: opened.document.editor_uri.clone(), position };
        Ok((opened, place))
    }

    /// The diagnostics of a document, once they are settled (D29). That nobody has published any is believed only of a
    /// language that is ready.
    async fn document_diagnostics(&self, opened: &Opened, stage: &Stage) -> Result<(Moment, Canonical), ToolError> {
        let Opened { document, language, .. } = opened;
        let mut ready = self.is_known_ready(language);
        loop {
            if language.tells {
                self.await_ready(&document.editor_uri, language, stage).await?;
                ready = true;
            }
            let moment = self.moment_for(opened);
            let raw = self.editor().document_diagnostics(&document.editor_uri).await?;
            let (asked, shown) = (document.clone(), opened.shown && ready);
            let answer = whole(moment, move |roots| {
                check_unmoved(&asked, roots)?;
                diagnostics_document::Answer::new(&raw, &asked.uri, shown, roots, &Disk)
            })
            .await;
            match answer {
                Err(ToolError::NotAnalysed) if !ready => {
                    self.await_ready(&document.editor_uri, language, stage).await?;
                    ready = true;
                }
                answer => return answer,
            }
        }
    }
}

/// Checks that the name under which the editor was asked still leads where it led when the document was admitted.
/// Somebody may have put a link in its way before the editor opened it, and then the answer is one about another file.
fn check_unmoved(document: &Document, roots: &AllowedRoots) -> Result<(), ToolError> {
    if roots.admit(&document.editor_uri, &Disk)? == *document { Ok(()) } else { Err(ToolError::OutsideRoots) }
}

/// The references at a place, with the definitions and declarations there if those are not wanted among them (D9).
async fn references<E: Editor>(
    editor: &E,
    place: &Place,
    include_declaration: bool,
) -> Result<(RawLocations, Vec<RawTargets>), EditorError> {
    if include_declaration {
        return Ok((editor.references(place).await?, Vec::new()));
    }
    let (references, definition, declaration) =
        tokio::join!(editor.references(place), editor.definition(place), editor.declaration(place));
    Ok((references?, vec![none_if_unavailable(definition)?, none_if_unavailable(declaration)?]))
}

fn input<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|_| ToolError::Internal)
}

async fn whole<A: Whole + 'static>(
    moment: Moment,
    canonicalize: impl FnOnce(&AllowedRoots) -> Result<A, ToolError> + Send + 'static,
) -> Result<(Moment, Canonical), ToolError> {
    let roots = Arc::clone(&moment.roots);
    let answer = blocking(move || canonicalize(&roots)).await??;
    Ok((moment, Canonical::Whole(Arc::new(answer))))
}

async fn set(
    moment: Moment,
    request: RequestKey,
    canonicalize: impl FnOnce(&AllowedRoots) -> Result<Retained, ToolError> + Send + 'static,
) -> Result<(Moment, Canonical), ToolError> {
    let roots = Arc::clone(&moment.roots);
    let found = blocking(move || canonicalize(&roots)).await?;
    Ok((moment, Canonical::Set(request, found.map(Arc::new))))
}

/// A language without definitions or declarations has none to leave out (D9).
fn none_if_unavailable(answer: Result<RawTargets, EditorError>) -> Result<RawTargets, EditorError> {
    match answer {
        Err(EditorError::Unavailable) => Ok(RawTargets::default()),
        answer => answer,
    }
}
