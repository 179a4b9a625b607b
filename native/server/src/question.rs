//! The questions behind the seven tools: which arguments ask what, and how the editor is asked.

use std::sync::Arc;

use gateway_core::error::ToolError;
use gateway_core::keys::RequestKey;
use gateway_core::location::{RawLocations, RawTargets};
use gateway_core::page::WritePage;
use gateway_core::position::Position;
use gateway_core::roots::{AllowedRoots, Document, RealPaths};
use gateway_core::snapshots::Retained;
use gateway_core::tools::workspace_symbols::Query;
use gateway_core::tools::{
    Tool, Whole, definition, diagnostics_document, diagnostics_workspace, document_symbols, hover, references,
    workspace_symbols,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::asks::Stage;
use crate::call::{Opened, blocking};
use crate::disk::{AtOnce, Noting, Resolver};
use crate::editor::{Along, Editor, EditorError, Found, Place};
use crate::gateway::Gateway;
use crate::readiness::Believed;
use crate::workspace::{Asked, Moment, Workspace};

/// The longest `uri` that the schemas accept.
const MAX_URI_CHARACTERS: usize = 16_384;

/// How many targets are looked up on the thread that serves connections, if the system knows them all.
const MAX_TARGETS_AT_ONCE: usize = 16;
/// How many bytes of hovers are put in order there.
const MAX_TEXT_AT_ONCE: usize = 65_536;

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
    /// Of a paged tool: the request that cursors are bound to, what was asked if that was for references, and the full set,
    /// or why there is none.
    Set(RequestKey, Option<Asked>, Result<Arc<Retained>, ToolError>),
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

    /// The document that it is about.
    pub(crate) fn uri(&self) -> Option<&str> {
        match self {
            Self::Definition(definition::Input { uri, .. })
            | Self::References { uri, .. }
            | Self::Hover(hover::Input { uri, .. })
            | Self::DocumentSymbols(document_symbols::Input { uri })
            | Self::DiagnosticsDocument(diagnostics_document::Input { uri }) => Some(uri),
            Self::WorkspaceSymbols(_) | Self::DiagnosticsWorkspace => None,
        }
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

/// The arguments of a question for references that the tool's schema has not seen yet: nothing unless they are sure to
/// fit it. They hold no array, which would pass for an object here.
pub(crate) fn plain_references(tool: Tool, arguments: &RawValue) -> Option<references::Input> {
    let input: references::Input = (tool == Tool::References).then(|| serde_json::from_str(arguments.get()).ok())??;
    // The schema counts characters, which are no more than bytes.
    (input.uri.len() <= MAX_URI_CHARACTERS).then_some(input)
}

impl<E: Editor> Gateway<E> {
    /// Asks the editor until its answer can be believed (D28), and canonicalizes that, for the workspace as it was just
    /// before.
    pub(crate) async fn ask(&self, question: &Question, stage: &Stage) -> Result<(Moment, Canonical), ToolError> {
        let (editor, workspace) = (self.editor(), self.workspace());
        match question {
            Question::Definition(definition::Input { uri, position }) => {
                let (opened, place, found) = self.open_at(uri, *position, Some(Along::Definition)).await?;
                let found = found.and_then(|found| if let Found::Targets(raw) = found { Some(raw) } else { None });
                let Believed { moment, answer: raw, belief } =
                    self.believed(&opened, question, found, stage, || editor.definition(&place)).await?;
                let few = raw.items.len() <= MAX_TARGETS_AT_ONCE;
                let canonicalize = move |roots: &AllowedRoots, real: &dyn RealPaths| {
                    check_unmoved(&opened.document, roots, real)?;
                    definition::Answer::new(&raw, belief, roots, real)
                };
                whole_at_once_if(few, workspace, moment, canonicalize).await
            }
            &Question::References { ref uri, position, include_declaration } => {
                let (opened, place, _) = self.open_at(uri, position, None).await?;
                let ask = || references(editor, &place, include_declaration);
                let Believed { moment, answer, belief } = self.believed(&opened, question, None, stage, ask).await?;
                let request = RequestKey::references(&opened.document.uri, position, include_declaration);
                let asked = Asked { document: opened.document.clone(), position, include_declaration };
                set(workspace, moment, request, Some(asked), move |roots, real| {
                    check_unmoved(&opened.document, roots, real)?;
                    let (references, declarations) = answer;
                    references::canonicalize(&references, &declarations, belief, roots, real)
                })
                .await
            }
            Question::Hover(hover::Input { uri, position }) => {
                let (opened, place, found) = self.open_at(uri, *position, Some(Along::Hover)).await?;
                let found = found.and_then(|found| if let Found::Hovers(raw) = found { Some(raw) } else { None });
                let Believed { moment, answer: raw, belief } =
                    self.believed(&opened, question, found, stage, || editor.hover(&place)).await?;
                let little = raw.strings.iter().map(String::len).sum::<usize>() <= MAX_TEXT_AT_ONCE;
                let canonicalize = move |roots: &AllowedRoots, real: &dyn RealPaths| {
                    check_unmoved(&opened.document, roots, real)?;
                    hover::Answer::new(&raw, belief)
                };
                whole_at_once_if(little, workspace, moment, canonicalize).await
            }
            Question::DocumentSymbols(document_symbols::Input { uri }) => {
                let (opened, found) = self.open(uri, None, Some(Along::DocumentSymbols)).await?;
                let found =
                    found.and_then(|found| if let Found::DocumentSymbols(raw) = found { Some(raw) } else { None });
                let ask = || editor.document_symbols(&opened.document.editor_uri);
                let Believed { moment, answer: raw, belief } =
                    self.believed(&opened, question, found, stage, ask).await?;
                whole(workspace, moment, move |roots, real| {
                    check_unmoved(&opened.document, roots, real)?;
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
                set(workspace, moment, request, None, move |roots, real| {
                    workspace_symbols::canonicalize(&raw, belief, roots, real)
                })
                .await
            }
            Question::DiagnosticsDocument(diagnostics_document::Input { uri }) => {
                let (opened, _) = self.open(uri, None, None).await?;
                self.document_diagnostics(&opened, stage).await
            }
            Question::DiagnosticsWorkspace => {
                self.admit_workspace().await?;
                self.await_workspace_ready(stage).await?;
                let moment = self.admit_workspace().await?;
                let raw = editor.diagnostics(self.freshness().known_for()).await?;
                let request = RequestKey::workspace_diagnostics();
                set(workspace, moment, request, None, move |roots, real| {
                    diagnostics_workspace::canonicalize(&raw, roots, real)
                })
                .await
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

    async fn open_at(
        &self,
        uri: &str,
        position: Position,
        along: Option<Along>,
    ) -> Result<(Opened, Place, Option<Found>), ToolError> {
        let (opened, found) = self.open(uri, Some(position), along).await?;
        let place = Place { uri: opened.document.editor_uri.clone(), position };
        Ok((opened, place, found))
    }

    /// The diagnostics of a document, once they are settled (D29). That nobody has published any is believed only of a
    /// language that is ready.
    async fn document_diagnostics(&self, opened: &Opened, stage: &Stage) -> Result<(Moment, Canonical), ToolError> {
        let Opened { document, language, .. } = opened;
        let mut ready = opened.ready || self.is_known_ready(language);
        loop {
            if language.tells && !ready {
                self.await_ready(&document.editor_uri, stage).await?;
                ready = true;
            }
            let moment = self.moment_for(opened);
            let raw = self.editor().document_diagnostics(&document.editor_uri, self.freshness().known_for()).await?;
            let (asked, shown) = (document.clone(), opened.shown && ready);
            let answer = whole(self.workspace(), moment, move |roots, real| {
                check_unmoved(&asked, roots, real)?;
                diagnostics_document::Answer::new(&raw, &asked.uri, shown, roots, real)
            })
            .await;
            match answer {
                Err(ToolError::NotAnalysed) if !ready => {
                    self.await_ready(&document.editor_uri, stage).await?;
                    ready = true;
                }
                answer => return answer,
            }
        }
    }
}

/// Checks that the name under which the editor was asked still leads where it led when the document was admitted.
/// Somebody may have put a link in its way before the editor opened it, and then the answer is one about another file.
fn check_unmoved(document: &Document, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<(), ToolError> {
    if roots.admit(&document.editor_uri, real)? == *document { Ok(()) } else { Err(ToolError::OutsideRoots) }
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

/// Canonicalizes where it may wait for the disk.
async fn whole<A: Whole + 'static>(
    workspace: &Workspace,
    moment: Moment,
    canonicalize: impl FnOnce(&AllowedRoots, &dyn RealPaths) -> Result<A, ToolError> + Send + 'static,
) -> Result<(Moment, Canonical), ToolError> {
    let roots = Arc::clone(&moment.roots);
    let answer = resolving(workspace, &moment, move |resolver| canonicalize(&roots, resolver)).await??;
    Ok((moment, Canonical::Whole(Arc::new(answer))))
}

/// As [`whole`], but at once if that takes little, and the system knows every path that it takes. Most paths lead through
/// no link, and to where somebody has just been. On a disk that does not answer, what it remembers is not to be told from
/// what lies outside.
async fn whole_at_once_if<A: Whole + 'static>(
    takes_little: bool,
    workspace: &Workspace,
    moment: Moment,
    canonicalize: impl Fn(&AllowedRoots, &dyn RealPaths) -> Result<A, ToolError> + Send + 'static,
) -> Result<(Moment, Canonical), ToolError> {
    if takes_little && moment.silent.is_empty() {
        let disk = AtOnce::default();
        let noting = Noting::new(&disk);
        let answer = canonicalize(&moment.roots, &noting);
        let named = noting.noted();
        if disk.is_decided() {
            workspace.name(named);
            return Ok((moment, Canonical::Whole(Arc::new(answer?))));
        }
    }
    whole(workspace, moment, canonicalize).await
}

async fn set(
    workspace: &Workspace,
    moment: Moment,
    request: RequestKey,
    asked: Option<Asked>,
    canonicalize: impl FnOnce(&AllowedRoots, &dyn RealPaths) -> Result<Retained, ToolError> + Send + 'static,
) -> Result<(Moment, Canonical), ToolError> {
    let roots = Arc::clone(&moment.roots);
    let found = resolving(workspace, &moment, move |resolver| canonicalize(&roots, resolver)).await?;
    Ok((moment, Canonical::Set(request, asked, found.map(Arc::new))))
}

/// Does what takes the real paths of an answer, where it may wait for the disk. Fails if one of them lies on a disk that
/// does not answer: without it the answer would be a part that reads as the whole.
async fn resolving<T: Send + 'static>(
    workspace: &Workspace,
    moment: &Moment,
    work: impl FnOnce(&dyn RealPaths) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let resolver = Resolver::sparing(Arc::clone(&moment.silent));
    let (done, named) = blocking(workspace.turn_for_answer().await?, move || {
        let noting = Noting::new(&resolver);
        let done = work(&noting);
        let named = noting.noted();
        (resolver.check_complete().map(|()| done), named)
    })
    .await?;
    workspace.name(named);
    done
}

/// A language without definitions or declarations has none to leave out (D9).
fn none_if_unavailable(answer: Result<RawTargets, EditorError>) -> Result<RawTargets, EditorError> {
    match answer {
        Err(EditorError::Unavailable) => Ok(RawTargets::default()),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::catalog::catalog;
    use crate::rpc::{Message, PlainCall};

    /// JSON texts of which the first ones are what a field may hold.
    fn mostly(good: &'static [&'static str], bad: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop_oneof![9 => select(good), 1 => select(bad)].prop_map(str::to_owned)
    }

    fn coordinate() -> impl Strategy<Value = String> {
        mostly(
            &["0", "7", "4.0", "-0.0", "1e1", "2147483647"],
            &["2147483648", "-1", "1.5", "1e30", "1e400", "null", "\"1\"", "true", "[1]", "{}", "01", ""],
        )
    }

    fn object(fields: Vec<(&'static str, String)>) -> String {
        let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", fields.join(","))
    }

    /// An object of these fields in any order, now and then with one of them missing or a further one.
    fn fields(
        known: Vec<(&'static str, BoxedStrategy<String>)>,
        further: &'static [&'static str],
    ) -> impl Strategy<Value = String> {
        let known: Vec<_> = known.into_iter().map(|(name, value)| value.prop_map(move |value| (name, value))).collect();
        let further = prop_oneof![
            9 => Just(Vec::new()),
            1 => vec((select(further), mostly(&["null", "{}"], &["[]", "1e400", "\"\\ud800\""])), 1..3),
        ];
        (known, further, 0..20_usize)
            .prop_flat_map(|(mut fields, further, missing)| {
                if missing < fields.len() {
                    fields.remove(missing);
                }
                fields.extend(further);
                Just(fields).prop_shuffle()
            })
            .prop_map(object)
    }

    fn position() -> impl Strategy<Value = String> {
        let fields = fields(
            vec![("line", coordinate().boxed()), ("character", coordinate().boxed())],
            &["line", "character", "column"],
        );
        prop_oneof![20 => fields, 1 => Just("[1,2]".to_owned()), 1 => Just("null".to_owned())]
    }

    fn arguments() -> impl Strategy<Value = String> {
        let uri = prop_oneof![
            8 => mostly(&["\"file:///a.ts\"", "\"\"", "\"file:///é\""], &["\"\\u00e9\"", "null", "3", "\"\\ud800\""]),
            1 => select(vec!["e", "é"]).prop_flat_map(|character| {
                (16_380..16_390_usize).prop_map(move |count| format!("\"{}\"", character.repeat(count)))
            }),
        ];
        let include = mostly(&["true", "false"], &["null", "\"true\"", "1"]);
        let size = mostly(&["1", "100", "50.0", "1e30", "18446744073709551616"], &["0", "-1", "null", "0.5", "\"1\""]);
        let cursor = mostly(&["null", "\"abc\"", "\"\""], &["1", "\"a\\nb\"", "[]"]);
        fields(
            vec![
                ("uri", uri.boxed()),
                ("position", position().boxed()),
                ("includeDeclaration", include.boxed()),
                ("pageSize", size.boxed()),
                ("cursor", cursor.boxed()),
            ],
            &["uri", "cursor", "limit"],
        )
    }

    fn body() -> impl Strategy<Value = String> {
        let name = mostly(&["\"vscode.lsp.references\""], &["\"vscode.lsp.hover\"", "1", "\"vscode\\u002elsp\""]);
        let params = fields(
            vec![("name", name.boxed()), ("arguments", arguments().boxed())],
            &["name", "arguments", "_meta", "task"],
        );
        fields(
            vec![
                ("jsonrpc", mostly(&["\"2.0\""], &["\"1.0\"", "2.0", "null"]).boxed()),
                ("id", mostly(&["1", "-7", "\"x\""], &["null", "1.5", "{}", "\"\\n\"", "1e400"]).boxed()),
                ("method", mostly(&["\"tools/call\""], &["\"tools/list\"", "\"ping\"", "null"]).boxed()),
                ("params", params.boxed()),
            ],
            &["id", "method", "result", "extra"],
        )
    }

    /// What a body asks, by the short way.
    fn short(body: &str) -> Option<(Value, references::Input)> {
        let call = PlainCall::read(body.as_bytes())?;
        let input = plain_references(Tool::from_name(call.name)?, call.arguments)?;
        Some((serde_json::to_value(&call.id).ok()?, input))
    }

    /// What a body asks, by the way of every message, with the tool's schema.
    fn long(body: &str) -> Option<(Value, references::Input)> {
        let Message::Request { id, method, mut params } = Message::read(body.as_bytes()).ok()? else { return None };
        let tool = Tool::from_name(params.get("name")?.as_str()?).filter(|_| method == "tools/call")?;
        let arguments = catalog().ok()?.admit(tool, params.remove("arguments")?).ok()?;
        Some((serde_json::to_value(&id).ok()?, input(arguments).ok()?))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_is_read_the_short_way_is_read_the_same_the_long_way(body in body()) {
            if let Some(read) = short(&body) {
                prop_assert_eq!(Some(read), long(&body));
            }
        }
    }

    #[test]
    fn what_clients_send_is_read_the_short_way() {
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"vscode.lsp.references","arguments":
            {"uri":"file:///a.ts","position":{"line":1,"character":4},"pageSize":100,"cursor":"eyJ2IjoyfQ"}}}"#;
        assert!(short(body).is_some());
        assert_eq!(short(body), long(body));
    }
}
