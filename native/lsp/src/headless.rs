//! The editor that is none: it asks language servers that it drives itself.

use std::collections::{BTreeSet, VecDeque};
use std::mem;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clru::CLruCache;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, join_all, try_join_all};
use gateway_core::ask::{Ask, Raw, Shape, Subject};
use gateway_core::diagnostic::RawDiagnostics;
use gateway_core::error::Explanation;
use gateway_core::position::Position;
use gateway_core::uri::{PathStyle, path_of_file_uri};
use gateway_core::wording::Wording;
use gateway_server::editor::{Editor, EditorError, Language, MainDocument, OpenDocument, Readiness};
use gateway_server::watch::{Change, Kind};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use crate::answers::{self, Report};
use crate::server::{Document, NoAnswer, NotStarted, PROVIDERS, Server, Told, read_text, uri_of};
use crate::setup::Surroundings;
use crate::table::Row;
use crate::walk;

/// How many documents are remembered as they were opened.
const MAX_DOCUMENTS: usize = 64;
/// How often a server may end within [`ENDS_COUNT_FOR`] until it is not started any more.
const MAX_ENDS: usize = 5;
/// How long the end of a server counts.
const ENDS_COUNT_FOR: Duration = Duration::from_secs(180);
/// The pause before a server that has ended is started again; it doubles with each end.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many changes are remembered for a server while it starts; after more it is started again.
const MAX_MISSED: usize = 1_024;

/// What clients are told where there is no editor.
const WORDING: Wording = Wording {
    outside_roots: "The file lies outside the allowed roots; ask about a file inside them, or have the person start mcp-lsp-gateway with --root for its folder.",
    no_roots: "There are no allowed roots; start mcp-lsp-gateway in a folder, or with --root.",
    provider_unavailable: "No language server that is known answers this for this file.",
    provider_failed: "The language server failed to answer; call again, and run mcp-lsp-gateway doctor in the folder if it goes on.",
    internal: "The gateway failed on this call; call again, and report it with what mcp-lsp-gateway wrote to stderr if it goes on.",
    token_refused: "A valid bearer token is needed; mcp-lsp-gateway says at its start which file holds it.",
    ..Wording::NEUTRAL
};

/// The language of what no server reads.
const PLAIN: &str = "plaintext";

/// Language servers, each started when it is asked first.
#[derive(Debug)]
pub struct Headless {
    surroundings: Arc<Surroundings>,
    /// The real paths of the folders.
    roots: Vec<PathBuf>,
    /// For each row, a slot for each root.
    slots: Vec<(Arc<Row>, Vec<Slot>)>,
    /// The documents that were opened since servers were last told of what was written, by URI.
    opened: Mutex<CLruCache<String, Opened>>,
    mains: Mutex<Option<Arc<[Main]>>>,
}

/// The place of one server. Nobody waits for anything while it is locked.
type Slot = Arc<Mutex<Place>>;

#[derive(Debug, Default)]
struct Place {
    state: State,
    /// When it has ended by itself lately.
    ends: VecDeque<Instant>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Out,
    Starting {
        outcome: Starting,
        /// What was written since its process was started, of which it has to be told.
        missed: Written,
    },
    Running(Arc<Server>),
}

/// What comes of a start that is under way.
type Starting = Shared<BoxFuture<'static, Result<Arc<Server>, NoServer>>>;

/// What was written in a while.
#[derive(Debug)]
enum Written {
    These(Vec<Change>),
    /// More than is remembered.
    More,
}

impl Written {
    fn add(&mut self, written: Option<&[Change]>) {
        match (&mut *self, written) {
            (Self::These(changes), Some(written)) if changes.len() + written.len() <= MAX_MISSED => {
                changes.extend_from_slice(written);
            }
            _ => *self = Self::More,
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Self::These(changes) if changes.is_empty())
    }
}

impl Default for Written {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

impl Place {
    fn running(&self) -> Option<Arc<Server>> {
        if let State::Running(server) = &self.state { Some(Arc::clone(server)) } else { None }
    }

    /// Whether it was the place of this server, which it is no more.
    fn gives_up(&mut self, server: &Arc<Server>) -> bool {
        let is_its = matches!(&self.state, State::Running(running) if Arc::ptr_eq(running, server));
        if is_its {
            self.state = State::Out;
        }
        is_its
    }
}

/// A document as it was opened last, and where it belongs if a server reads it.
#[derive(Debug, Clone)]
struct Opened {
    document: Document,
    home: Option<Home>,
}

/// A document that stands for its language in a root.
#[derive(Debug, Clone)]
struct Main {
    document: MainDocument,
    home: Home,
}

/// Which server a document belongs to.
#[derive(Debug, Clone, Copy)]
struct Home {
    row: usize,
    root: usize,
}

/// What `doctor` tells of a server.
#[derive(Debug)]
pub struct Examined {
    /// Which it is.
    pub row: Arc<Row>,
    /// The folder that it was started for.
    pub root: PathBuf,
    /// Where its program is, if it is anywhere.
    pub program: Option<PathBuf>,
    /// Whether it may not be started before the person trusts the folder.
    pub wants_trust: bool,
    /// What came of starting it.
    pub outcome: Option<Result<Able, String>>,
}

/// A server that works.
#[derive(Debug)]
pub struct Able {
    /// What it calls itself.
    pub info: Option<String>,
    /// How long it took until it was ready.
    pub ready_after: Duration,
    /// The methods of LSP that it answers.
    pub methods: Vec<&'static str>,
    /// Whether it knows all files of the folder, and not only those that it is asked about.
    pub has_index: bool,
}

impl Headless {
    /// Drives these servers for these folders, given by their real paths.
    pub fn new(rows: Vec<Row>, roots: Vec<PathBuf>, surroundings: Surroundings) -> Self {
        let slots = rows.into_iter().map(|row| (Arc::new(row), roots.iter().map(|_| Slot::default()).collect()));
        Self {
            surroundings: Arc::new(surroundings),
            slots: slots.collect(),
            roots,
            opened: Mutex::new(CLruCache::new(NonZeroUsize::MIN.saturating_add(MAX_DOCUMENTS - 1))),
            mains: Mutex::default(),
        }
    }

    /// Ends all servers. None is asked after that.
    pub async fn end(&self) {
        let servers = self.all_slots().filter_map(|slot| match mem::take(&mut lock(slot).state) {
            State::Running(server) => Some(server),
            // What starts it sees that it has lost its place.
            State::Starting { .. } | State::Out => None,
        });
        join_all(servers.map(|server| async move { server.end().await })).await;
    }

    /// Starts what there is for the languages of the folders, and says what came of it.
    pub async fn examine(&self) -> Vec<Examined> {
        let mains = self.mains().await;
        join_all(mains.iter().map(|main| async move {
            let row = Arc::clone(&self.slots[main.home.row].0);
            let root = self.roots[main.home.root].clone();
            let program = self.surroundings.programs.find(&row.programs);
            let wants_trust = !self.surroundings.allow(&row);
            let outcome = if program.is_some() && !wants_trust { Some(self.try_out(main).await) } else { None };
            Examined { row, root, program, wants_trust, outcome }
        }))
        .await
    }

    async fn try_out(&self, main: &Main) -> Result<Able, String> {
        let begun = Instant::now();
        let unreadable = |_| "the file that it was to be tried with cannot be read".to_owned();
        let Opened { document, .. } = self.read(&main.document.uri).await.map_err(unreadable)?;
        let server = self.try_server(main.home).await.map_err(|error| error.to_string())?;
        server.open(&document).map_err(|error| error.to_string())?;
        server.ready().await.map_err(|error| match error {
            NoAnswer::Unable(fault) => format!("it cannot load the project: {}", fault.trim()),
            _ => "it ended before it was ready".to_owned(),
        })?;
        let methods = PROVIDERS.iter().map(|(method, _)| *method).filter(|method| server.offers(method)).collect();
        Ok(Able { info: server.info.clone(), ready_after: begun.elapsed(), methods, has_index: server.has_index })
    }

    fn all_slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flat_map(|(_, slots)| slots)
    }

    /// Whose document this is, and in which language; the innermost root counts.
    fn home_of(&self, path: &Path) -> Option<(Home, String)> {
        let roots = self.roots.iter().enumerate().filter(|(_, root)| path.starts_with(root));
        let (root, _) = roots.max_by_key(|(_, root)| root.as_os_str().len())?;
        self.slots.iter().enumerate().find_map(|(row, (known, _))| {
            known.language_of(path).map(|language| (Home { row, root }, language.to_owned()))
        })
    }

    /// Reads a document as it is on disk now, and remembers it.
    async fn read(&self, uri: &str) -> Result<Opened, EditorError> {
        let path = PathBuf::from(path_of_file_uri(uri, PathStyle::NATIVE).ok_or(EditorError::NotFound)?);
        let (home, language) = self.home_of(&path).unzip();
        let text = spawn_blocking(move || read_text(&path));
        let text = text.await.ok().flatten().ok_or(EditorError::NotFound)?;
        let language = language.unwrap_or_else(|| PLAIN.to_owned());
        let opened = Opened { document: Document { uri: uri.to_owned(), language, text }, home };
        self.opened().put(uri.to_owned(), opened.clone());
        Ok(opened)
    }

    fn opened(&self) -> MutexGuard<'_, CLruCache<String, Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server of a document, which has it as it was opened last, and in which version.
    async fn server_of(&self, uri: &str) -> Result<(Arc<Server>, Document, i32), EditorError> {
        let known = self.opened().peek(uri).cloned();
        let Opened { document, home } = match known {
            Some(opened) => opened,
            None => self.read(uri).await?,
        };
        let server = self.server(home.ok_or(EditorError::Unavailable(None))?).await?;
        let version = server.open(&document).map_err(NoAnswer::from)?;
        Ok((server, document, version))
    }

    async fn server(&self, home: Home) -> Result<Arc<Server>, EditorError> {
        self.try_server(home).await.map_err(|error| {
            let row = &self.slots[home.row].0;
            tracing::warn!(%error, server = row.title, "no language server");
            let explained = |reason, message| Some(Explanation { reason, message });
            let Row { title, install, .. } = &**row;
            match error {
                NoServer::Missing => EditorError::Unavailable(explained(
                    Some("not_installed"),
                    format!("{title} answers this for this file, and is not on PATH; install it: {install}."),
                )),
                NoServer::Untrusted => EditorError::Unavailable(explained(
                    Some("untrusted"),
                    format!(
                        "{title} runs code of the project, and its folder is not trusted; the person can trust it: \
                         mcp-lsp-gateway trust <folder>."
                    ),
                )),
                NoServer::NotStarted(_) => EditorError::Failed(explained(
                    Some("not_started"),
                    format!("{title} did not start; run mcp-lsp-gateway doctor in the folder, which says why."),
                )),
                NoServer::EndedTooOften => EditorError::Failed(explained(
                    Some("ends_again_and_again"),
                    format!(
                        "{title} has ended five times within three minutes; run mcp-lsp-gateway doctor in the folder, \
                         and call again after that."
                    ),
                )),
            }
        })
    }

    /// The server that runs, or is started now. One that ends by itself is started again after a pause.
    async fn try_server(&self, Home { row, root }: Home) -> Result<Arc<Server>, NoServer> {
        let slot = &self.slots[row].1[root];
        let starting = {
            let mut place = lock(slot);
            match &place.state {
                State::Running(server) if !server.has_ended() => return Ok(Arc::clone(server)),
                State::Starting { outcome, .. } => outcome.clone(),
                State::Running(_) => {
                    place.ends.push_back(Instant::now());
                    self.launch(Home { row, root }, &mut place)?
                }
                State::Out => self.launch(Home { row, root }, &mut place)?,
            }
        };
        starting.await
    }

    fn launch(&self, Home { row, root }: Home, place: &mut Place) -> Result<Starting, NoServer> {
        place.state = State::Out;
        let now = Instant::now();
        place.ends.retain(|end| now - *end < ENDS_COUNT_FOR);
        if place.ends.len() >= MAX_ENDS {
            return Err(NoServer::EndedTooOften);
        }
        let start = Launch {
            slot: Arc::clone(&self.slots[row].1[root]),
            row: Arc::clone(&self.slots[row].0),
            root: self.roots[root].clone(),
            surroundings: Arc::clone(&self.surroundings),
            not_before: place.ends.back().map(|last| *last + pause_after(place.ends.len())),
        };
        // In a task of its own: who waits for it may go.
        let task = tokio::spawn(start.run());
        let failed = |failure: JoinError| Err(NoServer::NotStarted(NotStarted::Failed(failure.to_string())));
        let outcome = async move { task.await.unwrap_or_else(failed) }.boxed().shared();
        place.state = State::Starting { outcome: outcome.clone(), missed: Written::default() };
        Ok(outcome)
    }

    /// A document of each language that the folders have.
    async fn mains(&self) -> Arc<[Main]> {
        if let Some(known) = &*self.known_mains() {
            return Arc::clone(known);
        }
        let rows: Vec<_> = self.slots.iter().map(|(row, _)| Arc::clone(row)).collect();
        let roots = self.roots.clone();
        let found = spawn_blocking(move || look_for_languages(&rows, &roots)).await.unwrap_or_default();
        let mains: Arc<[Main]> = found
            .into_iter()
            .map(|(row, root, path)| {
                let known = &self.slots[row].0;
                let language = Language {
                    id: known.language_of(&path).unwrap_or(PLAIN).to_owned(),
                    has_readiness_probe: self.can_start(known),
                };
                Main { document: MainDocument { uri: uri_of(&path), language }, home: Home { row, root } }
            })
            .collect();
        *self.known_mains() = Some(Arc::clone(&mains));
        mains
    }

    fn known_mains(&self) -> MutexGuard<'_, Option<Arc<[Main]>>> {
        self.mains.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn can_start(&self, row: &Row) -> bool {
        self.surroundings.allow(row) && self.surroundings.programs.find(&row.programs).is_some()
    }

    /// Checks that a server answers for some language of the folders, where they have any.
    async fn check_any_language(&self) -> Result<(), EditorError> {
        let mains = self.mains().await;
        match mains.first() {
            Some(main) if !mains.iter().any(|main| main.document.language.has_readiness_probe) => {
                self.server(main.home).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    async fn workspace_symbols(&self, ask: Ask, subject: &Subject) -> Result<Raw, EditorError> {
        let mains = self.mains().await;
        let served = mains.iter().filter(|main| main.document.language.has_readiness_probe);
        let found = try_join_all(served.map(|main| async move {
            let (asked, ..) = self.server_of(&main.document.uri).await?;
            match asked.ask(ask, subject, None).await {
                Ok(Raw::WorkspaceSymbols(symbols)) => Ok(Some(symbols)),
                Ok(_) => Err(EditorError::Failed(None)),
                Err(NoAnswer::NotOffered) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }))
        .await?;
        Ok(Raw::WorkspaceSymbols(answers::joined(found.into_iter().flatten())))
    }

    fn published(&self) -> RawDiagnostics {
        let mut all: Vec<(String, Arc<[Report]>)> = Vec::new();
        for slot in self.all_slots() {
            let server = lock(slot).running();
            all.extend(server.iter().flat_map(|server| server.all_diagnostics()));
        }
        answers::diagnostics(all.iter().map(|(uri, reports)| (uri.as_str(), &**reports)))
    }
}

/// The start of a server.
struct Launch {
    slot: Slot,
    row: Arc<Row>,
    root: PathBuf,
    surroundings: Arc<Surroundings>,
    not_before: Option<Instant>,
}

impl Launch {
    /// Puts the server into its place, which hears when it ends.
    async fn run(self) -> Result<Arc<Server>, NoServer> {
        let started = self.start().await;
        match &started {
            Ok(server) => {
                tokio::spawn(watch_over(Arc::clone(server), self.slot, self.row));
            }
            Err(error) => {
                let mut place = lock(&self.slot);
                place.state = State::Out;
                if matches!(error, NoServer::NotStarted(_)) {
                    place.ends.push_back(Instant::now());
                }
            }
        }
        started
    }

    async fn start(&self) -> Result<Arc<Server>, NoServer> {
        let Self { row, root, surroundings, .. } = self;
        if !surroundings.allow(row) {
            return Err(NoServer::Untrusted);
        }
        if let Some(not_before) = self.not_before {
            sleep_until(not_before).await;
        }
        loop {
            // From here on it is read what is there.
            self.forget_missed();
            let setting_up = (Arc::clone(row), root.clone(), Arc::clone(surroundings));
            let start = spawn_blocking(move || {
                let (row, root, surroundings) = setting_up;
                let program = surroundings.programs.find(&row.programs)?;
                Some(surroundings.start(&row, program, &root))
            });
            let start = match start.await {
                Ok(Some(Ok(start))) => start,
                Ok(Some(Err(error))) => return Err(NotStarted::Refused(Arc::new(error)).into()),
                Ok(None) => return Err(NoServer::Missing),
                Err(error) => return Err(NotStarted::Failed(error.to_string()).into()),
            };
            let server = Arc::new(Server::start(Arc::clone(row), &start).await?);
            if self.takes_its_place(&server).await? {
                return Ok(server);
            }
            server.end().await;
        }
    }

    /// Whether the server knows all that was written since it was started, and has its place now; else it has to be
    /// started again.
    async fn takes_its_place(&self, server: &Arc<Server>) -> Result<bool, NotStarted> {
        loop {
            let missed = {
                let mut place = lock(&self.slot);
                let State::Starting { missed, .. } = &mut place.state else {
                    return Err(NotStarted::Failed("it is not needed any more".to_owned()));
                };
                let missed = mem::take(missed);
                if missed.is_nothing() {
                    place.state = State::Running(Arc::clone(server));
                    return Ok(true);
                }
                missed
            };
            let Written::These(missed) = missed else { return Ok(false) };
            match server.tell(&missed).await {
                Ok(Told::Knows) => {}
                Ok(Told::StartAgain) => return Ok(false),
                Err(_) => return Err(NotStarted::Failed(server.ended().await)),
            }
        }
    }

    fn forget_missed(&self) {
        if let State::Starting { missed, .. } = &mut lock(&self.slot).state {
            *missed = Written::default();
        }
    }
}

/// How long a server that has ended so often lately is not started.
fn pause_after(ends: usize) -> Duration {
    let doublings = u32::try_from(ends).unwrap_or(u32::MAX).saturating_sub(1);
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_PAUSE)
}

fn lock(slot: &Slot) -> MutexGuard<'_, Place> {
    // What is in it is put there whole.
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn watch_over(server: Arc<Server>, slot: Slot, row: Arc<Row>) {
    let said = server.ended().await;
    let mut place = lock(&slot);
    // One that was ended on purpose has left its place before.
    if place.gives_up(&server) {
        tracing::warn!(server = row.title, said, "a language server has ended by itself");
        place.ends.push_back(Instant::now());
    }
}

/// Why there is no server.
#[derive(Debug, Clone, thiserror::Error)]
enum NoServer {
    #[error("its program is not on PATH outside the folder")]
    Missing,
    #[error("the folder is not trusted")]
    Untrusted,
    #[error("{0}")]
    NotStarted(#[from] NotStarted),
    #[error("it has ended five times within three minutes")]
    EndedTooOften,
}

impl From<NoAnswer> for EditorError {
    fn from(error: NoAnswer) -> Self {
        match error {
            NoAnswer::NotOffered => Self::Unavailable(None),
            NoAnswer::Failed | NoAnswer::Ended => Self::Failed(None),
            NoAnswer::Unable(_) => Self::Failed(Some(Explanation {
                reason: Some("cannot_load"),
                // What the server says may name any path.
                message:
                    "The language server cannot load the project; run mcp-lsp-gateway doctor in the folder, which says \
                          why, and call again once that is mended."
                        .to_owned(),
            })),
        }
    }
}

impl Editor for Headless {
    const WORDING: &'static Wording = &WORDING;
    const IS_TOLD: bool = true;

    async fn open(&self, uri: &str, position: Option<Position>) -> Result<OpenDocument, EditorError> {
        let Opened { document, home } = self.read(uri).await?;
        let running = home.and_then(|Home { row, root }| lock(&self.slots[row].1[root]).running());
        let mut ready = false;
        if let Some(server) = &running {
            server.open(&document).map_err(NoAnswer::from)?;
            ready = server.is_ready() && server.has_index;
        }
        let can_start = running.is_some() || home.is_some_and(|home| self.can_start(&self.slots[home.row].0));
        let (line_count, line_length) = measure(&document.text, position.map(|position| position.line));
        let language = Language { id: document.language, has_readiness_probe: can_start };
        Ok(OpenDocument { line_count, line_length, language, ready, in_tab: false })
    }

    async fn ready(&self, uri: &str, _: bool) -> Result<Readiness, EditorError> {
        let (server, ..) = match self.server_of(uri).await {
            // What is missing is said when it is asked about.
            Err(EditorError::Unavailable(_)) => return Ok(Readiness::Assumed),
            found => found?,
        };
        server.ready().await?;
        Ok(if server.has_index { Readiness::Shown } else { Readiness::Assumed })
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        Ok(self.mains().await.iter().map(|main| main.document.clone()).collect())
    }

    async fn tell(&self, written: Option<&[Change]>) {
        // A server that is given a text from before takes it for what is written there now.
        self.opened().clear();
        let comes_or_goes = |change: &Change| change.kind != Kind::Changed;
        if written.is_none_or(|written| written.iter().any(comes_or_goes)) {
            *self.known_mains() = None;
        }
        join_all(self.all_slots().map(|slot| async move {
            let server = match &mut lock(slot).state {
                State::Running(server) => Arc::clone(server),
                State::Starting { missed, .. } => return missed.add(written),
                State::Out => return,
            };
            let told = match written {
                Some(written) => server.tell(written).await,
                None => Ok(Told::StartAgain),
            };
            if told == Ok(Told::StartAgain) && lock(slot).gives_up(&server) {
                server.end().await;
            }
        }))
        .await;
    }

    async fn ask(&self, ask: Ask, subject: &Subject, _: Option<Duration>) -> Result<Raw, EditorError> {
        if subject.uri().is_none() {
            self.check_any_language().await?;
        }
        match (ask.shape, subject.uri()) {
            (Shape::Diagnostics, None) => Ok(Raw::Diagnostics(self.published())),
            (_, None) => self.workspace_symbols(ask, subject).await,
            (Shape::Diagnostics, Some(uri)) => {
                let (server, document, version) = self.server_of(uri).await?;
                let reports = server.diagnostics(&document, version).await?;
                Ok(Raw::Diagnostics(answers::diagnostics([(uri, &*reports)].into_iter())))
            }
            (_, Some(uri)) => {
                let (server, _, version) = self.server_of(uri).await?;
                Ok(server.ask(ask, subject, Some(version)).await?)
            }
        }
    }
}

/// The number of lines, at least 1, and the UTF-16 length of one of them, its end excluded.
fn measure(text: &str, line: Option<u32>) -> (u32, Option<u32>) {
    let (mut count, mut length, mut rest) = (0_u32, None, Some(text));
    while let Some(from) = rest {
        let end = from.find(['\n', '\r']);
        if line == Some(count) {
            let units = from[..end.unwrap_or(from.len())].chars().map(char::len_utf16).sum::<usize>();
            length = u32::try_from(units).ok();
        }
        rest = end.map(|end| {
            let after = &from[end..];
            after.strip_prefix("\r\n").unwrap_or_else(|| &after[1..])
        });
        count += 1;
    }
    (count, length)
}

/// The first file of each row in each root, by its place in the order of names, what is ignored by `.gitignore` left out.
fn look_for_languages(rows: &[Arc<Row>], roots: &[PathBuf]) -> Vec<(usize, usize, PathBuf)> {
    let mut found = Vec::new();
    for (at, root) in roots.iter().enumerate() {
        let mut missing: BTreeSet<usize> = (0..rows.len()).collect();
        for entry in walk::entries(root) {
            let path = entry.path();
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if let Some(row) = missing.iter().copied().find(|row| is_file && rows[*row].language_of(path).is_some()) {
                missing.remove(&row);
                found.push((row, at, path.to_owned()));
            }
            if missing.is_empty() {
                break;
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn lines_end_as_lsp_has_it_and_are_as_long_as_in_utf_16() {
        assert_eq!(measure("", None), (1, None));
        assert_eq!(measure("", Some(0)), (1, Some(0)));
        assert_eq!(measure("a\r\nbc\rdef\n", Some(1)), (4, Some(2)));
        assert_eq!(measure("a\r\nbc\rdef\n", Some(2)), (4, Some(3)));
        assert_eq!(measure("a\r\nbc\rdef\n", Some(3)), (4, Some(0)));
        assert_eq!(measure("a", Some(1)), (1, None));
        assert_eq!(measure("𝒳é", Some(0)), (1, Some(3)));
    }
}
