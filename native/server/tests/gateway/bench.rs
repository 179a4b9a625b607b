//! A gateway over a real folder, with a stand-in for the editor.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use gateway_core::ask::{Ask, Raw, Shape, Subject};
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::error::ToolError;
use gateway_core::hover::RawHovers;
use gateway_core::limits::Limits;
use gateway_core::location::{RawLocation, RawLocations, RawTargets};
use gateway_core::position::{Position, Range};
use gateway_core::symbol::{RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind};
use gateway_core::texts::RawTexts;
use gateway_core::tools;
use gateway_server::access::Access;
use gateway_server::catalog;
use gateway_server::editor::{Editor, EditorError, Language, MainDocument, OpenDocument, Readiness};
use gateway_server::gateway::{Gateway, Settings};

use gateway_server::lifecycle::Calls as _;
use gateway_server::session::Sessions;
use gateway_server::watch::Ignore;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};

pub(crate) const DEFINITION: &str = "vscode.lsp.definition";
pub(crate) const REFERENCES: &str = "vscode.lsp.references";
pub(crate) const HOVER: &str = "vscode.lsp.hover";
pub(crate) const DOCUMENT_SYMBOLS: &str = "vscode.lsp.documentSymbols";
pub(crate) const WORKSPACE_SYMBOLS: &str = "vscode.lsp.workspaceSymbols";
pub(crate) const DOCUMENT_DIAGNOSTICS: &str = "vscode.lsp.diagnostics.document";
pub(crate) const WORKSPACE_DIAGNOSTICS: &str = "vscode.lsp.diagnostics.workspace";

/// What happens to the gateway while the editor has something to do for it.
pub(crate) type Meanwhile = Box<dyn FnOnce(&Gateway<StandIn>) + Send>;

/// An editor that answers what the test sets. Every document has two lines, of 10 and of 20 characters.
#[derive(Clone, Default)]
pub(crate) struct StandIn(Arc<Mutex<Answers>>);

#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) references: Option<RawLocations>,
    pub(crate) definition: Option<Result<RawTargets, EditorError>>,
    pub(crate) hover: Option<RawHovers>,
    pub(crate) document_symbols: Option<RawDocumentSymbols>,
    pub(crate) workspace_symbols: Option<RawWorkspaceSymbols>,
    pub(crate) diagnostics: Option<RawDiagnostics>,
    pub(crate) unsaved: RawTexts,
    /// The document that has no symbols.
    pub(crate) nothing_in: Option<String>,
    /// While a question of a paged tool is on its way.
    pub(crate) meanwhile: VecDeque<Meanwhile>,
    /// While a document is opened.
    pub(crate) while_opening: Option<Meanwhile>,
    /// After the language's extension has told of itself, and before the gateway has heard it.
    pub(crate) while_telling: Option<Meanwhile>,
    pub(crate) gateway: Weak<Gateway<StandIn>>,
    /// If set, each question for references takes one permit before it is answered.
    pub(crate) permits: Option<Arc<Semaphore>>,
    pub(crate) asked: usize,
    /// What the language's extension tells of itself: from the start, that it is ready.
    pub(crate) readiness: watch::Sender<Option<Readiness>>,
    /// Whether the language's extension tells nothing of itself.
    pub(crate) silent: bool,
    /// The language of every document; TypeScript if it is not set.
    pub(crate) language: Option<&'static str>,
    /// Whether the language's extension shows that it is ready as soon as a document is opened.
    pub(crate) ready_at_once: bool,
    /// Whether the documents are in tabs.
    pub(crate) in_tab: bool,
    /// The documents that were opened, with the line asked about.
    pub(crate) opened: Vec<(String, Option<u32>)>,
    /// Where hovers and outlines were asked for, and what was searched.
    pub(crate) asked_about: Vec<String>,
    /// For how long language servers had known of what was written, when diagnostics were last asked for.
    pub(crate) known_for: Option<Duration>,
}

impl Answers {
    fn language(&self) -> Language {
        Language { id: self.language.unwrap_or("typescript").to_owned(), has_readiness_probe: !self.silent }
    }
}

impl StandIn {
    pub(crate) fn set<T>(&self, change: impl FnOnce(&mut Answers) -> T) -> T {
        change(&mut self.0.lock().expect("no test panics while it holds this"))
    }
}

impl StandIn {
    /// Counts the question, and lets happen what is to happen while it is on its way.
    async fn on_the_way(&self) {
        let (permits, meanwhile) = self.set(|answers| {
            answers.asked += 1;
            (answers.permits.clone(), answers.meanwhile.pop_front())
        });
        if let Some(permits) = permits {
            permits.acquire().await.expect("never closed").forget();
        }
        self.let_happen(meanwhile).await;
    }

    async fn let_happen(&self, meanwhile: Option<Meanwhile>) {
        let gateway = self.set(|answers| answers.gateway.upgrade());
        if let (Some(meanwhile), Some(gateway)) = (meanwhile, gateway) {
            tokio::task::spawn_blocking(move || meanwhile(&gateway)).await.expect("the change is made");
        }
    }
}

impl Editor for StandIn {
    async fn open(&self, uri: &str, position: Option<Position>) -> Result<OpenDocument, EditorError> {
        let line = position.map(|position| position.line);
        let meanwhile = self.set(|answers| {
            answers.opened.push((uri.to_owned(), line));
            answers.while_opening.take()
        });
        self.let_happen(meanwhile).await;
        let line_length = line.and_then(|line| [10, 20].get(line as usize).copied());
        let (language, ready, in_tab) = self.set(|answers| (answers.language(), answers.ready_at_once, answers.in_tab));
        Ok(OpenDocument { line_count: 2, line_length, language, ready, in_tab })
    }

    async fn ready(&self, _: &str, or_resting: bool) -> Result<Readiness, EditorError> {
        let mut readiness = self.set(|answers| answers.readiness.subscribe());
        let is_enough = |readiness: &_| or_resting || *readiness != Readiness::Resting;
        let readiness = *readiness.wait_for(|known| known.as_ref().is_some_and(is_enough)).await.expect("never closed");
        let meanwhile = self.set(|answers| answers.while_telling.take());
        self.let_happen(meanwhile).await;
        readiness.ok_or(EditorError::Failed(None))
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        Ok(self.set(|answers| vec![MainDocument { uri: "file:///main".to_owned(), language: answers.language() }]))
    }

    async fn ask(&self, ask: Ask, subject: &Subject, known_for: Option<Duration>) -> Result<Raw, EditorError> {
        // Those of a tool that is not paged are answered at once.
        if matches!(ask.shape, Shape::Locations | Shape::WorkspaceSymbols | Shape::Diagnostics) {
            self.on_the_way().await;
        }
        self.set(|answers| {
            let unavailable = EditorError::Unavailable(None);
            if ask.shape == Shape::DocumentSymbols && answers.nothing_in.as_deref() == subject.uri() {
                return Ok(ask.shape.nothing());
            }
            match (ask.shape, subject) {
                (Shape::Hovers, Subject::Place { uri, position }) => {
                    answers.asked_about.push(format!("{uri} {position}"));
                }
                (Shape::DocumentSymbols, Subject::Document { uri }) => answers.asked_about.push(uri.clone()),
                (Shape::WorkspaceSymbols, Subject::Workspace { query }) => answers.asked_about.extend(query.clone()),
                (Shape::Diagnostics, Subject::Document { .. }) => answers.known_for = known_for,
                _ => {}
            }
            match ask.shape {
                Shape::Targets if ask.method == "textDocument/definition" => {
                    answers.definition.clone().unwrap_or(Err(unavailable)).map(Raw::Targets)
                }
                Shape::Locations => answers.references.clone().map(Raw::Locations).ok_or(unavailable),
                Shape::Hovers => answers.hover.clone().map(Raw::Hovers).ok_or(unavailable),
                Shape::DocumentSymbols => answers.document_symbols.clone().map(Raw::DocumentSymbols).ok_or(unavailable),
                Shape::WorkspaceSymbols => {
                    answers.workspace_symbols.clone().map(Raw::WorkspaceSymbols).ok_or(unavailable)
                }
                Shape::Diagnostics => {
                    answers.diagnostics.clone().map(Raw::Diagnostics).ok_or(EditorError::Failed(None))
                }
                Shape::Texts => Ok(Raw::Texts(answers.unsaved.clone())),
                _ => Err(unavailable),
            }
        })
    }
}

/// A gateway over a folder of its own, with `a.ts` in it.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) editor: StandIn,
    pub(crate) gateway: Arc<Gateway<StandIn>>,
}

impl Bench {
    pub(crate) fn of(sessions: Sessions) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = fs::canonicalize(folder.path()).expect("its real path").join("project");
        fs::create_dir(&root).expect("a folder");
        fs::write(root.join("a.ts"), "").expect("a file");
        let editor = StandIn::default();
        editor.set(|answers| answers.readiness.send_replace(Some(Readiness::Shown)));
        let settings = settings(vec![root.clone()], Duration::from_secs(2));
        let gateway = Arc::new(Gateway::new(editor.clone(), settings, sessions, "1.2.3".to_owned(), 1_000));
        editor.set(|answers| answers.gateway = Arc::downgrade(&gateway));
        Self { folder, root, editor, gateway }
    }

    /// What a tool answers to these arguments.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        call(&self.gateway, tool, &arguments).await
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri_of(&self.root.join(name))
    }

    /// Lets the editor return references in `a.ts`, one on each of these lines.
    pub(crate) fn refer_to(&self, lines: impl IntoIterator<Item = u32>) {
        let items = lines.into_iter().map(|line| RawLocation { uri: 0, range: on_line(line) }).collect();
        let references = RawLocations { uris: vec![self.uri("a.ts")], items, without_range: 0 };
        self.editor.set(|answers| answers.references = Some(references));
    }

    /// Lets the editor find symbols in `a.ts`, one on each of these lines.
    pub(crate) fn name(&self, lines: impl IntoIterator<Item = u32>) {
        let item = |line| RawWorkspaceSymbol {
            name: Some(1),
            kind: function(),
            container_name: None,
            uri: 0,
            range: Some(on_line(line)),
        };
        let strings = vec![self.uri("a.ts"), "f".to_owned()];
        let symbols = RawWorkspaceSymbols { strings, items: lines.into_iter().map(item).collect() };
        self.editor.set(|answers| answers.workspace_symbols = Some(symbols));
    }

    /// Lets an extension publish a diagnostic on each of these lines of each of these files; on none, an empty list.
    pub(crate) fn publish<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a [u32])>) {
        let mut strings = vec!["odd".to_owned()];
        let mut items = Vec::new();
        for (name, lines) in files {
            let uri = u32::try_from(strings.len()).expect("few files");
            strings.push(self.uri(name));
            if lines.is_empty() {
                items.push(RawReport { uri, diagnostic: None });
            }
            for &line in lines {
                let severity = Severity::of_lsp(2);
                let diagnostic = RawDiagnostic { range: on_line(line), severity, code: None, source: None, message: 0 };
                items.push(RawReport { uri, diagnostic: Some(diagnostic) });
            }
        }
        self.editor
            .set(|answers| answers.diagnostics = Some(RawDiagnostics { strings, items, incomplete: Vec::new() }));
    }
}

/// What a tool of this gateway answers to these arguments.
pub(crate) async fn call(gateway: &Arc<Gateway<StandIn>>, tool: &str, arguments: &Value) -> Result<Value, ToolError> {
    let tool = tools::named(tool).expect("there is such a tool");
    let answered = gateway.call(tool, catalog::read(tool, arguments)?, 100).await?;
    Ok(serde_json::from_slice(&answered.json()).expect("the payload is JSON"))
}

/// Nothing is watched: what tests write, no editor tells of, and questions would wait for it.
pub(crate) fn settings(roots: Vec<PathBuf>, request_timeout: Duration) -> Settings {
    let limits = Limits::tightened(200, 524_288, request_timeout);
    Settings { roots, access: Access::default(), catalog: tools::v1(), limits, ignore: Ignore::new(&["**".to_owned()]) }
}

pub(crate) fn uri_of(path: &Path) -> String {
    format!("file://{}", path.to_str().expect("a plain path"))
}

pub(crate) fn on_line(line: u32) -> Range {
    Range { start: Position { line, character: 0 }, end: Position { line, character: 1 } }
}

pub(crate) fn function() -> SymbolKind {
    SymbolKind::of_lsp(12).expect("a kind")
}
