//! One running language server: its documents, what it has shown and offered, and how it is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use gateway_core::ask::{Ask, Raw, Subject};
use gateway_core::position::Position;
use gateway_core::uri::{PathStyle, file_uri, path_of_file_uri};
use gateway_server::files::read_text;
use gateway_server::watch::{Change, Kind};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::answers::{self, Report};
use crate::belonging::ENVIRONMENT_MARK;
use crate::compile_commands;
use crate::connection::{Connection, Ended, Peer, Refusal, RequestError};
use crate::process::{Process, Spawned, Spec, spawn};
use crate::projects::{self, ProjectInfo, Projects};
use crate::registrations::Registrations;
use crate::signs::{Signs, State as Ready};
use crate::table::{Row, Rule};
use crate::tsserver;

const CLIENT_CAPABILITIES: &str = include_str!("client_capabilities.json");

/// How long a server may take for its first answer.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long a server may take for any other.
const DEADLINE: Duration = Duration::from_secs(60);
/// How long a server may take to show that it knows what was written.
const WITNESS_DEADLINE: Duration = Duration::from_secs(10);
/// How long after a server has published without a version it may do so again, better.
const SETTLE: Duration = Duration::from_secs(1);
/// How long a server may take to end after it was told to.
const END_PATIENCE: Duration = Duration::from_secs(2);
/// How often a request is sent again that the server has given up.
const MAX_ATTEMPTS: u32 = 20;
/// The pause before that.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(50);
/// The longest version of a server that is told, in bytes.
const MAX_VERSION: usize = 100;
/// How many documents are held open in a server.
const MAX_OPEN: usize = 64;
/// How many files that were written, and are not open, a server is given that does not need them all.
const MAX_WRITTEN: usize = 32;

/// The methods whose answers have places in all projects that a server has loaded.
const LOOKS_EVERYWHERE: [&str; 3] = ["textDocument/references", "textDocument/implementation", SEARCH];
pub(crate) const SEARCH: &str = "workspace/symbol";
/// What no symbol is called.
const NOBODYS_NAME: &str = "\u{1}";

/// The endings of what others include.
const HEADERS: [&str; 6] = ["h", "hh", "hpp", "hxx", "ipp", "inl"];

/// LSP's kinds of changes of files.
const CREATED: u32 = 1;
const CHANGED: u32 = 2;
const DELETED: u32 = 3;

/// The methods that are asked, and what a server calls each in its capabilities.
pub(crate) const PROVIDERS: [(&str, &str); 9] = [
    ("textDocument/definition", "definitionProvider"),
    ("textDocument/references", "referencesProvider"),
    ("textDocument/hover", "hoverProvider"),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    (SEARCH, "workspaceSymbolProvider"),
    ("textDocument/declaration", "declarationProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/documentHighlight", "documentHighlightProvider"),
];

/// A document that is asked about.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) language: String,
    pub(crate) text: Arc<str>,
}

/// Why a server gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It does not offer this.
    NotOffered,
    /// It failed, or answered what cannot be read.
    Failed,
    /// It has ended.
    Ended,
    /// It says itself that it cannot work, and why.
    Unable(String),
    /// It was found out that it knows less than all files, which its answers will be told with from now on.
    KnowsLess,
}

impl From<Ended> for NoAnswer {
    fn from(_: Ended) -> Self {
        Self::Ended
    }
}

impl From<RequestError> for NoAnswer {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::NoMethod => Self::NotOffered,
            RequestError::Ended => Self::Ended,
            error => {
                tracing::warn!(%error, "a language server failed to answer");
                Self::Failed
            }
        }
    }
}

/// Whether a server knows by now what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// It does, or will before it takes any later question.
    Knows,
    /// It cannot be told: it has to be started again.
    StartAgain,
}

/// A server that was started and has said what it can.
#[derive(Debug)]
pub(crate) struct Server {
    row: Arc<Row>,
    connection: Connection,
    process: Process,
    client: Arc<Client>,
    /// What it was started for, by its real path.
    folder: PathBuf,
    /// What it said that it can.
    pub(crate) offers: Value,
    /// What it calls itself, if it says that.
    pub(crate) info: Option<String>,
    /// Whether it knows all files of the folder once it is ready, and not only those that it was given.
    has_index: bool,
    projects: AsyncMutex<KnownProjects>,
}

/// The projects that are known, and which layout of the folder they are of.
#[derive(Debug, Default)]
struct KnownProjects {
    projects: Projects,
    seen: Layout,
}

/// Counts how often files have come or gone, and how often what says which projects there are was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Layout {
    files: u64,
    projects: u64,
}

/// Our side of it: what it starts itself comes here.
#[derive(Debug)]
struct Client {
    settings: Value,
    folder: Value,
    state: Mutex<State>,
    /// Counts what was shown or published.
    news: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    signs: Signs,
    registrations: Registrations,
    open: BTreeMap<String, Open>,
    /// Counts the uses of documents.
    uses: u64,
    /// By URI.
    published: BTreeMap<String, Published>,
    /// The headers that clangd was given and cannot read by themselves, by URI. It knows of no uses in them any more, not even
    /// once they are closed.
    misread: BTreeSet<String>,
    /// What is held open, whatever else is, by URI.
    held: BTreeSet<String>,
    /// Whether it does not know all files, although it might.
    knows_less: bool,
    /// From 1, so that none is known at first.
    layout: Layout,
    /// How many looks for source files its answers are known to be after.
    confirmed: u64,
    /// How often it was told of what was written.
    told: u64,
}

#[derive(Debug)]
struct Open {
    version: i32,
    text: Arc<str>,
    used: u64,
    /// How often the server had been told of what was written when it was last given this text.
    told: u64,
}

/// Whether there is something to be seen.
enum Seen<T> {
    This(T),
    /// It will be then if nothing else is shown.
    At(Instant),
    /// Not before something is shown.
    Not,
}

/// How diagnostics are asked for.
struct Pull {
    identifier: Option<String>,
}

/// The result of `textDocument/diagnostic`.
#[derive(Deserialize)]
struct Pulled {
    items: Box<RawValue>,
}

#[derive(Debug, Clone)]
struct Published {
    /// The version of the document that it belongs to, or that the server had when it published, where it says none.
    known_for: i32,
    /// When it can be taken to be all, where the server says no version.
    settles: Option<Instant>,
    reports: Arc<[Report]>,
}

/// With what a server is started for a folder.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) spec: Spec,
    /// The folder, by its real path.
    pub(crate) root: PathBuf,
    /// What it is given at the start and when it asks for its settings.
    pub(crate) options: Value,
    pub(crate) settings: Value,
    /// Whether the server will know all files of the folder, and not only those that it is given.
    pub(crate) has_index: bool,
}

/// The parameters of `initialize`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    process_id: u32,
    client_info: Value,
    root_uri: &'a str,
    root_path: &'a Path,
    workspace_folders: [&'a Value; 1],
    capabilities: &'a RawValue,
    initialization_options: &'a Value,
}

/// The result of `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    #[serde(default)]
    capabilities: Value,
    #[serde(default)]
    server_info: Value,
}

/// Why a server did not start.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum NotStarted {
    /// The system did not start it.
    #[error("the system could not start it: {0}")]
    Refused(Arc<io::Error>),
    /// It ended before it had answered, or answered with an error. What it wrote to its stderr last.
    #[error("it ended, or failed, before it was initialized: {0}")]
    Failed(String),
    /// It counts columns in another way than it was told to.
    #[error("it counts columns in {0}, although only utf-16 was offered")]
    Encoding(String),
}

impl Server {
    /// Starts a server and waits until it can be asked.
    pub(crate) async fn start(row: Arc<Row>, start: &Start) -> Result<Self, NotStarted> {
        let Spawned { process, stdin, stdout } =
            spawn(&start.spec).map_err(|error| NotStarted::Refused(Arc::new(error)))?;
        let uri = uri_of(&start.root);
        let name = start.root.file_name().map(|name| name.to_string_lossy().into_owned());
        let folder = json!({ "uri": uri, "name": name.unwrap_or_default() });
        let state = State {
            signs: Signs::new(row.rule, start.has_index),
            registrations: Registrations::default(),
            open: BTreeMap::new(),
            uses: 0,
            published: BTreeMap::new(),
            misread: BTreeSet::new(),
            held: BTreeSet::new(),
            knows_less: false,
            layout: Layout { files: 1, projects: 1 },
            confirmed: 0,
            told: 0,
        };
        let client = Arc::new(Client {
            settings: start.settings.clone(),
            folder: folder.clone(),
            state: Mutex::new(state),
            news: watch::Sender::new(0),
        });
        let peer: Arc<dyn Peer> = Arc::clone(&client) as Arc<dyn Peer>;
        let connection = Connection::start(stdout, stdin, peer);
        let capabilities: &RawValue =
            serde_json::from_str(CLIENT_CAPABILITIES).map_err(|error| NotStarted::Failed(error.to_string()))?;
        let params = Initialize {
            process_id: std::process::id(),
            client_info: json!({ "name": "mcp-lsp-gateway", "version": env!("CARGO_PKG_VERSION") }),
            root_uri: &uri,
            root_path: &start.root,
            workspace_folders: [&folder],
            capabilities,
            initialization_options: &start.options,
        };
        let answer = connection.request("initialize", Some(&params), START_DEADLINE).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                process.end(Duration::ZERO).await;
                let said = process.stderr_tail();
                return Err(NotStarted::Failed(if said.trim().is_empty() { error.to_string() } else { said }));
            }
        };
        let Initialized { capabilities: offers, server_info } =
            serde_json::from_str(answer.get()).map_err(|error| NotStarted::Failed(error.to_string()))?;
        if let Some(encoding) = offers["positionEncoding"].as_str().filter(|encoding| *encoding != "utf-16") {
            return Err(NotStarted::Encoding(encoding.chars().take(20).collect()));
        }
        let name = server_info["name"].as_str().unwrap_or_default();
        // gopls tells of all that it was made of.
        let version =
            server_info["version"].as_str().filter(|version| version.len() <= MAX_VERSION).unwrap_or_default();
        let info = Some(format!("{name} {version}").trim().to_owned()).filter(|info| !info.is_empty());
        let failed = |Ended| NotStarted::Failed(process.stderr_tail());
        connection.notify("initialized", Some(json!({}))).map_err(failed)?;
        let settings = json!({ "settings": start.settings });
        connection.notify("workspace/didChangeConfiguration", Some(settings)).map_err(failed)?;
        Ok(Self {
            row,
            connection,
            process,
            client,
            folder: start.root.clone(),
            offers,
            info,
            has_index: start.has_index,
            projects: AsyncMutex::default(),
        })
    }

    /// Whether the server has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.connection.ended().now_or_never().is_some()
    }

    /// Resolves when the server has ended, to what it wrote to its stderr last.
    pub(crate) async fn ended(&self) -> String {
        self.connection.ended().await;
        self.process.end(Duration::ZERO).await;
        self.process.stderr_tail()
    }

    /// Ends the server as LSP has it, or in any case.
    pub(crate) async fn end(&self) {
        // Where it does not answer, or is gone, it is ended all the same.
        drop(self.connection.request("shutdown", None::<()>, END_PATIENCE).await);
        let _ = self.connection.notify("exit", None::<()>);
        self.process.end(END_PATIENCE).await;
    }

    /// Whether it knows all files of the folder once it is ready.
    pub(crate) fn knows_all(&self) -> bool {
        let state = self.client.state();
        self.has_index && state.misread.is_empty() && !state.knows_less
    }

    /// Whether the server is ready now, for an answer about a document that it has.
    pub(crate) fn is_ready(&self) -> bool {
        let state = self.client.state();
        state.signs.state(Instant::now()) == Ready::Ready && (!self.row.counts_files() || state.is_confirmed())
    }

    /// Waits until the server is ready, and returns how often that had ended before. It fails if the server says that it
    /// cannot work.
    pub(crate) async fn ready(&self) -> Result<u64, NoAnswer> {
        loop {
            let (endings, unconfirmed) = self
                .seen(|state| {
                    if let Some(fault) = &state.signs.fault {
                        return Seen::This(Err(NoAnswer::Unable(fault.clone())));
                    }
                    match state.signs.state(Instant::now()) {
                        Ready::Ready => {
                            let is_confirmed = !self.row.counts_files() || state.is_confirmed();
                            let unconfirmed = (!is_confirmed).then_some(state.signs.searches);
                            Seen::This(Ok((state.signs.endings, unconfirmed)))
                        }
                        Ready::ReadyAt(at) => Seen::At(at),
                        Ready::NotReady => Seen::Not,
                    }
                })
                .await??;
            let Some(searches) = unconfirmed else { return Ok(endings) };
            // It has begun to read them when it says how many there are.
            let nothing = json!({ "query": "" });
            drop(self.connection.request(SEARCH, Some(nothing), DEADLINE).await?);
            self.client.state().confirmed = searches;
        }
    }

    /// Has the server know the text of the document. Returns the version that it has it in.
    pub(crate) fn open(&self, document: &Document) -> Result<i32, Ended> {
        let mut state = self.client.state();
        state.uses += 1;
        let (uses, told) = (state.uses, state.told);
        let Document { uri, text, .. } = document;
        // What is published for a version may be of the time before other files were written; and clangd looks at what a
        // file includes only when it is given the file.
        let is_published = self.pulls(&state).is_none() && self.row.rule != Rule::TsServer;
        let version = if let Some(open) = state.open.get_mut(uri) {
            open.used = uses;
            let is_stale = is_published && open.told < told;
            if *open.text == **text && !is_stale {
                return Ok(open.version);
            }
            open.version += 1;
            open.text = Arc::clone(text);
            open.told = told;
            let version = open.version;
            if self.row.rule == Rule::TsServer {
                // A text that takes the place of another as a whole is now and then added to it.
                self.did_close(uri)?;
                self.did_open(document, version)?;
                return Ok(version);
            }
            let mut params = json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "text": &**text }],
            });
            if self.row.rule == Rule::Clangd {
                params["forceRebuild"] = is_stale.into();
                // It would wait for more changes before it publishes anything.
                params["wantDiagnostics"] = true.into();
            }
            self.connection.notify("textDocument/didChange", Some(params))?;
            version
        } else {
            self.did_open(document, 1)?;
            state.open.insert(uri.clone(), Open { version: 1, text: Arc::clone(text), used: uses, told });
            1
        };
        // clangd forgets what it knows of a file that has changed since it was indexed.
        if state.open.len() > MAX_OPEN + state.held.len() && !matches!(self.row.rule, Rule::Clangd | Rule::Basedpyright)
        {
            let others = state.open.iter().filter(|(uri, _)| !state.held.contains(*uri));
            let oldest = others.min_by_key(|(_, open)| open.used).map(|(uri, _)| uri.clone());
            if let Some(oldest) = oldest {
                self.close(&mut state, &oldest)?;
            }
        }
        Ok(version)
    }

    fn close(&self, state: &mut State, uri: &str) -> Result<(), Ended> {
        if state.open.remove(uri).is_some() {
            state.published.remove(&own_spelling(uri));
            self.did_close(uri)?;
        }
        Ok(())
    }

    fn did_open(&self, Document { uri, language, text }: &Document, version: i32) -> Result<(), Ended> {
        let document = json!({ "uri": uri, "languageId": language, "version": version, "text": &**text });
        self.connection.notify("textDocument/didOpen", Some(json!({ "textDocument": document })))
    }

    fn did_close(&self, uri: &str) -> Result<(), Ended> {
        self.connection.notify("textDocument/didClose", Some(json!({ "textDocument": { "uri": uri } })))
    }

    /// Asks about a document, which it has in this version, or the workspace, once the server is ready; and again where it
    /// was not any more.
    pub(crate) async fn ask(&self, ask: Ask, subject: &Subject, version: Option<i32>) -> Result<Raw, NoAnswer> {
        if !self.offers(ask.method) {
            return Err(NoAnswer::NotOffered);
        }
        if let (Rule::Clangd, Some(uri), Some(version)) = (self.row.rule, subject.uri(), version)
            && !self.has_read(uri, version).await?
        {
            return Err(NoAnswer::Failed);
        }
        if self.row.loads_projects && LOOKS_EVERYWHERE.contains(&ask.method) {
            self.load_projects(ask.method).await?;
        }
        loop {
            let endings = self.ready().await?;
            let answer = self.request(ask.method, params(ask.method, subject)).await?;
            if self.client.state().signs.endings != endings {
                continue;
            }
            return answers::read(ask.shape, &answer).map_err(|answers::Malformed| {
                tracing::warn!(server = self.row.title, method = ask.method, "an answer cannot be read");
                NoAnswer::Failed
            });
        }
    }

    /// Has the server load all projects of the folder before this method: what it has loaded may be let go at any time.
    async fn load_projects(&self, method: &str) -> Result<(), NoAnswer> {
        let (is_one, are_all, firsts) = {
            let mut known = self.projects.lock().await;
            let now = self.client.state().layout;
            if known.seen.projects != now.projects {
                *known = KnownProjects::default();
            }
            if known.seen != now {
                self.find_projects(&mut known.projects).await?;
                known.seen = now;
            }
            let projects = &known.projects;
            (projects.is_one(), projects.are_all(), projects.firsts().map(Path::to_owned).collect::<Vec<_>>())
        };
        if !is_one {
            try_join_all(firsts.iter().map(|file| self.project_of(file))).await?;
            if method != SEARCH {
                // Whatever it finds, it loads the projects that others refer to.
                self.request(SEARCH, json!({ "query": NOBODYS_NAME })).await?;
            }
        }
        let knows_less = !are_all;
        let knew_less = std::mem::replace(&mut self.client.state().knows_less, knows_less);
        // The answer would be taken for more than it is.
        if knows_less && !knew_less { Err(NoAnswer::KnowsLess) } else { Ok(()) }
    }

    /// Learns to which projects the files belong that the folder has now, and holds open those that belong to none.
    async fn find_projects(&self, projects: &mut Projects) -> Result<(), NoAnswer> {
        let (mut looked, folder, row) = (std::mem::take(projects), self.folder.clone(), Arc::clone(&self.row));
        let looking = spawn_blocking(move || {
            looked.look(&folder, &row);
            looked
        });
        *projects = looking.await.map_err(|_| NoAnswer::Failed)?;
        loop {
            let files = projects.next();
            if files.is_empty() {
                break;
            }
            let answers = try_join_all(files.iter().map(|file| self.project_of(file))).await?;
            for (file, answer) in files.into_iter().zip(answers) {
                projects.note(file, answer);
            }
        }
        let files = projects.held();
        let held = spawn_blocking(move || projects::texts_of(files)).await.map_err(|_| NoAnswer::Failed)?;
        if held.is_none() {
            projects.hold_nothing();
        }
        let held = held.unwrap_or_default();
        self.client.state().held = held.iter().map(|(path, _)| uri_of(path)).collect();
        for (path, text) in held {
            if let Some(language) = self.row.language_of(&path) {
                self.open(&Document { uri: uri_of(&path), language: language.to_owned(), text })?;
            }
        }
        Ok(())
    }

    /// The project of a file; nothing if the server fails to say it.
    async fn project_of(&self, file: &Path) -> Result<Option<ProjectInfo>, NoAnswer> {
        match self.request(projects::REQUEST, json!({ "textDocument": { "uri": uri_of(file) } })).await {
            Ok(answer) => Ok(serde_json::from_str(answer.get()).ok()),
            Err(NoAnswer::Ended) => Err(NoAnswer::Ended),
            Err(_) => Ok(None),
        }
    }

    /// What the server reports on an open document, which it has in this version.
    pub(crate) async fn diagnostics(&self, document: &Document, version: i32) -> Result<Arc<[Report]>, NoAnswer> {
        if self.row.lacks("textDocument/diagnostic") {
            return Err(NoAnswer::NotOffered);
        }
        if self.row.rule == Rule::Unknown {
            self.ready().await?;
        }
        let reports = match self.row.rule {
            Rule::TsServer => self.reported_by_tsserver(document).await?,
            _ => match self.published_or_pull(&own_spelling(&document.uri), version).await? {
                Ok(published) => return Ok(published),
                Err(pull) => self.pulled(document, pull).await?,
            },
        };
        let reports: Arc<[Report]> = Report::read_all(&reports).map_err(|_| NoAnswer::Failed)?.into();
        let published = Published { known_for: version, settles: None, reports: Arc::clone(&reports) };
        self.client.state().published.insert(own_spelling(&document.uri), published);
        Ok(reports)
    }

    /// Waits until the server has published for this version of a document, or is to be asked: it may say that only after
    /// the start.
    async fn published_or_pull(&self, uri: &str, version: i32) -> Result<Result<Arc<[Report]>, Pull>, NoAnswer> {
        self.seen(|state| match self.pulls(state) {
            Some(pull) => Seen::This(Err(pull)),
            None => state.published_for(uri, version).map(Ok),
        })
        .await
    }

    async fn pulled(&self, document: &Document, Pull { identifier }: Pull) -> Result<Box<RawValue>, NoAnswer> {
        let mut params = json!({ "textDocument": { "uri": document.uri } });
        if let Some(identifier) = identifier {
            params["identifier"] = identifier.into();
        }
        let answer = self.request("textDocument/diagnostic", params).await?;
        serde_json::from_str(answer.get()).map(|Pulled { items }| items).map_err(|_| NoAnswer::Failed)
    }

    async fn reported_by_tsserver(&self, document: &Document) -> Result<Box<RawValue>, NoAnswer> {
        let file = path_of_file_uri(&document.uri, PathStyle::NATIVE).ok_or(NoAnswer::Failed)?;
        let mut found = Vec::new();
        for report in tsserver::REPORTS {
            let params = json!({ "command": tsserver::COMMAND, "arguments": [report, { "file": file }] });
            let answer = self.request("workspace/executeCommand", params).await?;
            found.extend(tsserver::diagnostics(&answer).ok_or(NoAnswer::Failed)?);
        }
        to_raw_value(&found).map_err(|_| NoAnswer::Failed)
    }

    /// Everything that the server has reported so far, by document.
    pub(crate) fn all_diagnostics(&self) -> Vec<(String, Arc<[Report]>)> {
        let state = self.client.state();
        state.published.iter().map(|(uri, published)| (uri.clone(), Arc::clone(&published.reports))).collect()
    }

    /// Waits until there is this to be seen.
    async fn seen<T>(&self, look: impl Fn(&State) -> Seen<T>) -> Result<T, NoAnswer> {
        let mut news = self.client.news.subscribe();
        loop {
            news.mark_unchanged();
            let seen = look(&self.client.state());
            match seen {
                Seen::This(seen) => return Ok(seen),
                Seen::At(at) => timeout_at(at, self.more(&mut news)).await.unwrap_or(Ok(()))?,
                Seen::Not => self.more(&mut news).await?,
            }
        }
    }

    /// Waits until more was shown or published.
    async fn more(&self, news: &mut watch::Receiver<u64>) -> Result<(), NoAnswer> {
        tokio::select! {
            () = self.connection.ended() => Err(NoAnswer::Ended),
            changed = news.changed() => changed.map_err(|_| NoAnswer::Ended),
        }
    }

    /// Tells the server of what was written, by real paths. Once this resolves, whatever it is asked is about that.
    pub(crate) async fn tell(&self, changes: &[Change]) -> Result<Told, NoAnswer> {
        let own = |change: &&Change| !change.is_folder && self.row.language_of(&change.path).is_some();
        let of_language: Vec<_> = changes.iter().filter(own).collect();
        let is_environment = |change: &Change| change.path.file_name().is_some_and(|name| name == ENVIRONMENT_MARK);
        if self.row.python && changes.iter().any(is_environment) {
            return Ok(Told::StartAgain);
        }
        if self.misses(changes, &of_language) {
            return Ok(Told::StartAgain);
        }
        let is_gone = |change: &&Change| change.kind == Kind::Deleted;
        let searches = {
            let mut state = self.client.state();
            state.told += 1;
            state.layout.files += u64::from(changes.iter().any(|change| change.kind != Kind::Changed));
            state.layout.projects += u64::from(changes.iter().any(|change| names_project(&change.path)));
            state.signs.stir(Instant::now());
            for change in changes.iter().filter(is_gone) {
                self.close(&mut state, &uri_of(&change.path))?;
            }
            let events: Vec<_> = changes
                .iter()
                .filter_map(|change| {
                    let number = match change.kind {
                        Kind::Created => CREATED,
                        Kind::Changed => CHANGED,
                        Kind::Deleted => DELETED,
                    };
                    let wanted = state.registrations.watches(&change.path, number);
                    wanted.then(|| json!({ "uri": uri_of(&change.path), "type": number }))
                })
                .collect();
            if !events.is_empty() {
                let events = json!({ "changes": events });
                self.connection.notify("workspace/didChangeWatchedFiles", Some(events))?;
            }
            state.signs.searches
        };
        let versions = self.give_texts(&of_language).await?;
        let mut is_shown = true;
        match self.row.rule {
            Rule::InOrder | Rule::ByTime | Rule::TsServer | Rule::Unknown => {}
            Rule::Clangd => {
                for (uri, version) in versions {
                    is_shown = is_shown && self.has_read(&uri, version).await?;
                }
            }
            Rule::Pyright | Rule::Basedpyright => {
                // It looks for its source files again, a moment after it has heard that one has come or gone.
                let comes_or_goes = |change: &&Change| change.kind != Kind::Changed && self.is_searched(&change.path);
                if of_language.iter().any(comes_or_goes) {
                    let has_searched =
                        self.seen(|state| if state.signs.searches > searches { Seen::This(()) } else { Seen::Not });
                    is_shown = self.witnessed(WITNESS_DEADLINE, has_searched).await?;
                }
            }
            Rule::RustAnalyzer => {
                for change in of_language {
                    is_shown = is_shown && self.witnessed(WITNESS_DEADLINE, self.has_text_of(&change.path)).await?;
                }
            }
        }
        Ok(if is_shown { Told::Knows } else { Told::StartAgain })
    }

    /// Whether the server takes no notice of some of this when it is told: it looks at the disk when it starts, or at a time
    /// of its own.
    fn misses(&self, changes: &[Change], of_language: &[&Change]) -> bool {
        let is_gone = of_language.iter().any(|change| change.kind == Kind::Deleted);
        let is_new = of_language.iter().any(|change| change.kind == Kind::Created);
        let are_many = of_language.len() > MAX_WRITTEN;
        let has = |is_of_project: fn(&str) -> bool| {
            let mut names = changes.iter().filter_map(|change| change.path.file_name().and_then(OsStr::to_str));
            names.any(is_of_project)
        };
        match self.row.rule {
            Rule::Clangd => is_gone || are_many || has(compile_commands::is_of_project),
            Rule::TsServer => is_gone || is_new || are_many || changes.iter().any(|change| names_project(&change.path)),
            Rule::Basedpyright => is_gone,
            Rule::ByTime => are_many,
            Rule::InOrder | Rule::Pyright | Rule::RustAnalyzer | Rule::Unknown => false,
        }
    }

    /// Whether pyright looks for source files where this one is.
    fn is_searched(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.folder) else { return false };
        let is_passed_over =
            |name: &OsStr| name.as_encoded_bytes().starts_with(b".") || name == "node_modules" || name == "__pycache__";
        let mut around = below.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        !below.iter().any(is_passed_over)
            && !around.any(|folder| self.folder.join(folder).join(ENVIRONMENT_MARK).is_file())
    }

    /// Gives the server the texts of those files that it has open, and of some of the others if it wants them. Returns the
    /// version of each.
    async fn give_texts(&self, changes: &[&Change]) -> Result<Vec<(String, i32)>, NoAnswer> {
        let (mut given, mut others) = (Vec::new(), Vec::new());
        {
            let state = self.client.state();
            for change in changes.iter().filter(|change| change.kind != Kind::Deleted) {
                let uri = uri_of(&change.path);
                // What is open counts for more than what is on disk.
                let list = if state.open.contains_key(&uri) { &mut given } else { &mut others };
                list.push((uri, change.path.clone()));
            }
        }
        others.truncate(match self.row.rule {
            Rule::InOrder => 0,
            // It reads others from the disk some time after it was told of them.
            Rule::RustAnalyzer => usize::MAX,
            _ => MAX_WRITTEN,
        });
        given.append(&mut others);
        let texts = read_texts(given.iter().map(|(_, path)| path.clone()).collect()).await;
        let mut versions = Vec::new();
        for ((uri, path), text) in given.into_iter().zip(texts) {
            if let (Some(text), Some(language)) = (text, self.row.language_of(&path)) {
                let version = self.open(&Document { uri: uri.clone(), language: language.to_owned(), text })?;
                versions.push((uri, version));
            }
        }
        Ok(versions)
    }

    /// Waits until clangd has read this version of a document, with what it includes: until then it answers from what that
    /// was before.
    async fn has_read(&self, uri: &str, version: i32) -> Result<bool, NoAnswer> {
        let uri = own_spelling(uri);
        // A large file takes as long as any question about it would.
        self.witnessed(DEADLINE, self.seen(|state| state.published_for(&uri, version).map(drop))).await
    }

    /// Whether a server has shown in time that it knows what was written.
    async fn witnessed(
        &self,
        patience: Duration,
        shown: impl Future<Output = Result<(), NoAnswer>>,
    ) -> Result<bool, NoAnswer> {
        if let Ok(shown) = timeout(patience, shown).await {
            return shown.map(|()| true);
        }
        tracing::warn!(server = self.row.title, "a server did not show that it knows what was written");
        Ok(false)
    }

    /// Waits until rust-analyzer has the text that is on disk now, or no text of what is not there.
    async fn has_text_of(&self, path: &Path) -> Result<(), NoAnswer> {
        let params = json!({ "uri": uri_of(path) });
        loop {
            let known = self.connection.request("rust-analyzer/viewFileText", Some(&params), DEADLINE).await;
            let known = match known {
                Ok(text) => serde_json::from_str::<String>(text.get()).ok(),
                Err(RequestError::Ended) => return Err(NoAnswer::Ended),
                Err(_) => None,
            };
            let text = read_texts(vec![path.to_owned()]).await.pop().flatten();
            if known.as_deref() == text.as_deref() {
                return Ok(());
            }
            sleep(ATTEMPT_PAUSE).await;
        }
    }

    async fn request(&self, method: &str, params: Value) -> Result<Box<RawValue>, NoAnswer> {
        for _ in 0..MAX_ATTEMPTS {
            match self.connection.request(method, Some(&params), DEADLINE).await {
                Err(RequestError::Again) => sleep(ATTEMPT_PAUSE).await,
                answer => return Ok(answer?),
            }
        }
        Err(NoAnswer::Failed)
    }

    /// Whether the server answers this request, as it said at the start or since.
    pub(crate) fn offers(&self, method: &str) -> bool {
        if self.row.lacks(method) {
            return false;
        }
        let Some((_, provider)) = PROVIDERS.iter().find(|(known, _)| *known == method) else { return false };
        let is_static = !matches!(self.offers[*provider], Value::Null | Value::Bool(false));
        is_static || self.client.state().registrations.options(method).is_some()
    }

    /// How diagnostics are asked for, if they are not published.
    fn pulls(&self, state: &State) -> Option<Pull> {
        let pull = |options: &Value| Pull { identifier: options["identifier"].as_str().map(ToOwned::to_owned) };
        if let Some(options) = state.registrations.options("textDocument/diagnostic") {
            return Some(pull(options));
        }
        let options = &self.offers["diagnosticProvider"];
        options.is_object().then(|| pull(options))
    }
}

impl<T> Seen<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Seen<U> {
        match self {
            Self::This(seen) => Seen::This(change(seen)),
            Self::At(at) => Seen::At(at),
            Self::Not => Seen::Not,
        }
    }
}

impl State {
    /// What was published for this version of a document, or a later one, by the URI as we write it.
    fn published_for(&self, uri: &str, version: i32) -> Seen<Arc<[Report]>> {
        match self.published.get(uri).filter(|published| published.known_for >= version) {
            Some(Published { settles: Some(at), .. }) if *at > Instant::now() => Seen::At(*at),
            Some(published) => Seen::This(Arc::clone(&published.reports)),
            None => Seen::Not,
        }
    }

    fn is_confirmed(&self) -> bool {
        self.confirmed == self.signs.searches
    }
}

impl Client {
    fn state(&self) -> MutexGuard<'_, State> {
        // What is in it is put there whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn setting(&self, section: &str) -> Value {
        section.split('.').fold(&self.settings, |settings, part| &settings[part]).clone()
    }
}

impl Peer for Client {
    fn notified(&self, method: &str, params: &RawValue) {
        let mut state = self.state();
        state.signs.note(method, params, Instant::now());
        if method == "textDocument/publishDiagnostics" {
            #[derive(Deserialize)]
            struct Publication {
                uri: String,
                #[serde(default)]
                version: Option<i32>,
                diagnostics: Box<RawValue>,
            }
            if let Ok(Publication { uri, version, diagnostics }) = serde_json::from_str(params.get())
                && let Ok(reports) = Report::read_all(&diagnostics)
            {
                let uri = own_spelling(&uri);
                // Where nothing is known of a server, it may report on what it knew before.
                let is_sure = version.is_some() && state.signs.rule != Rule::Unknown;
                let known_for = version.or(state.open.get(&uri).map(|open| open.version)).unwrap_or_default();
                let settles = (!is_sure).then(|| Instant::now() + SETTLE);
                let is_misread =
                    state.signs.rule == Rule::Clangd && is_header(&uri) && reports.iter().any(Report::is_error);
                if is_misread {
                    state.misread.insert(uri.clone());
                } else {
                    state.misread.remove(&uri);
                }
                state.published.insert(uri, Published { known_for, settles, reports: reports.into() });
            }
        }
        drop(state);
        self.news.send_modify(|news| *news += 1);
    }

    fn asked(&self, method: &str, params: &RawValue) -> Option<Result<Value, Refusal>> {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        self.state().signs.stir(Instant::now());
        Some(Ok(match method {
            "workspace/configuration" => {
                let items = params["items"].as_array().map(Vec::as_slice).unwrap_or_default();
                items.iter().map(|item| self.setting(item["section"].as_str().unwrap_or_default())).collect()
            }
            "client/registerCapability" => {
                self.state().registrations.register(&params);
                self.news.send_modify(|news| *news += 1);
                Value::Null
            }
            "client/unregisterCapability" => {
                self.state().registrations.unregister(&params);
                Value::Null
            }
            "workspace/workspaceFolders" => json!([self.folder]),
            // A read never writes.
            "workspace/applyEdit" => json!({ "applied": false, "failureReason": "This client only reads." }),
            "window/showDocument" => json!({ "success": false }),
            "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/diagnostic/refresh"
            | "workspace/semanticTokens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/codeLens/refresh"
            | "workspace/inlineValue/refresh"
            | "workspace/foldingRange/refresh" => Value::Null,
            _ => return None,
        }))
    }
}

fn params(method: &str, subject: &Subject) -> Value {
    let mut params = match subject {
        Subject::Place { uri, position: Position { line, character } } => json!({
            "textDocument": { "uri": uri },
            "position": { "line": line, "character": character },
        }),
        Subject::Document { uri } => json!({ "textDocument": { "uri": uri } }),
        Subject::Workspace { query } => json!({ "query": query.as_deref().unwrap_or_default() }),
    };
    if method == "textDocument/references" {
        // All, so that every server means the same by it (D9).
        params["context"] = json!({ "includeDeclaration": true });
    }
    params
}

/// Whether it depends on this file what projects of TypeScript there are.
fn names_project(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(tsserver::is_of_project)
}

/// Whether other files of C or C++ include this one.
fn is_header(uri: &str) -> bool {
    uri.rsplit_once('.').is_some_and(|(_, ending)| HEADERS.contains(&ending))
}

async fn read_texts(paths: Vec<PathBuf>) -> Vec<Option<Arc<str>>> {
    spawn_blocking(move || paths.iter().map(|path| read_text(path)).collect()).await.unwrap_or_default()
}

/// Servers escape more or less in a URI than we do.
fn own_spelling(uri: &str) -> String {
    path_of_file_uri(uri, PathStyle::NATIVE).map_or_else(|| uri.to_owned(), |path| file_uri(&path, PathStyle::NATIVE))
}

/// The URI of a path, which is absolute.
pub(crate) fn uri_of(path: &Path) -> String {
    file_uri(&path.to_string_lossy(), PathStyle::NATIVE)
}
