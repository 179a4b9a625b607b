//! The editor that is none: it asks language servers that it drives itself.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clru::CLruCache;
use futures_util::future::{join_all, try_join_all};
use gateway_core::ask::{Ask, Raw, Shape, Subject};
use gateway_core::diagnostic::RawDiagnostics;
use gateway_core::error::Explanation;
use gateway_core::position::Position;
use gateway_core::status::{RawServer, RawStatus, Stage};
use gateway_core::uri::{PathStyle, path_of_file_uri};
use gateway_core::wording::Wording;
use gateway_server::editor::{Editor, EditorError, Language, MainDocument, OpenDocument, Readiness};
use gateway_server::files::read_text;
use gateway_server::watch::{Change, Kind};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::answers;
use crate::known::{Home, Known};
use crate::server::{Document, NoAnswer, PROVIDERS, SEARCH, Server, uri_of};
use crate::setup::Surroundings;
use crate::slot::{NoServer, Slot};
use crate::table::{Choice, Row};

/// How many documents are remembered as they were opened.
const MAX_DOCUMENTS: usize = 64;
/// How many servers run at once.
const MAX_SERVERS: usize = 16;
/// A server that was asked for within this time is not ended so that another can be started.
const IN_USE: Duration = Duration::from_secs(60);
/// What is asked of the servers of all parts of a checkout, such as packages with environments of Python of their own.
const USES: [&str; 2] = ["textDocument/references", "textDocument/implementation"];

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
    known: Arc<Known>,
    /// By row and folder.
    slots: Mutex<BTreeMap<(usize, Arc<Path>), Slot>>,
    /// The documents that were opened since servers were last told of what was written, by URI.
    opened: Mutex<CLruCache<String, Opened>>,
    mains: Mutex<Option<Arc<[Main]>>>,
}

/// A document as it was opened last.
#[derive(Debug, Clone)]
struct Opened {
    uri: String,
    path: PathBuf,
    text: Arc<str>,
    /// The servers that it belongs to, its main one first; none if no server reads it.
    homes: Vec<Home>,
    /// Whether the main one can be started.
    can_start: bool,
}

/// A document that stands for its language in a folder.
#[derive(Debug, Clone)]
struct Main {
    document: MainDocument,
    home: Home,
    /// Whether its server can be started.
    can_start: bool,
    /// Whether its server is asked about the workspace.
    is_of_workspace: bool,
}

/// A server, and a document that it has in this version.
struct Asked {
    server: Arc<Server>,
    document: Document,
    version: i32,
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
    /// Drives these servers for these folders, given by their real paths, with what is chosen for each.
    pub fn new(rows: Vec<Row>, roots: Vec<(PathBuf, Choice)>, surroundings: Surroundings) -> Self {
        Self {
            known: Arc::new(Known::new(rows, roots, surroundings)),
            slots: Mutex::default(),
            opened: Mutex::new(CLruCache::new(NonZeroUsize::MIN.saturating_add(MAX_DOCUMENTS - 1))),
            mains: Mutex::default(),
        }
    }

    /// Ends all servers. None is asked after that.
    pub async fn end(&self) {
        join_all(self.slots().iter().map(Slot::end)).await;
    }

    /// Starts what there is for the languages of the folders, and says what came of it.
    pub async fn examine(&self) -> Vec<Examined> {
        let mains = self.mains().await;
        let is_worth_telling = |main: &&Main| main.can_start || !self.row(&main.home).documents_only;
        join_all(mains.iter().filter(is_worth_telling).map(|Main { document, home, .. }| async move {
            let row = Arc::clone(self.row(home));
            let program = self.known.program(home.row);
            let wants_trust = !self.known.surroundings.allow(&row);
            let outcome =
                if program.is_some() && !wants_trust { Some(self.try_out(home, &document.uri).await) } else { None };
            Examined { row, root: home.folder.to_path_buf(), program, wants_trust, outcome }
        }))
        .await
    }

    /// What answers for the languages of the folders, as it is now. Nothing is started for it.
    async fn status(&self) -> RawStatus {
        let mut status = RawStatus::default();
        for Main { document, home, can_start, .. } in self.mains().await.iter() {
            let row = self.row(home);
            let server = self.slot(home).running();
            if server.is_none() && !can_start && row.documents_only {
                continue;
            }
            let mut text = |text: String| {
                status.strings.push(text);
                u32::try_from(status.strings.len() - 1).unwrap_or(u32::MAX)
            };
            let by = server.as_ref().and_then(|server| server.info.clone()).unwrap_or_else(|| row.title.clone());
            let (stage, why) = match &server {
                Some(server) if server.is_ready() => (Stage::Ready, None),
                Some(_) => (Stage::Loading, None),
                None if *can_start => (Stage::Idle, None),
                None if self.known.program(home.row).is_none() => (Stage::Unavailable, Some("not_installed")),
                None => (Stage::Unavailable, Some("untrusted")),
            };
            let cannot = server.map(|server| {
                let cannot = PROVIDERS.iter().map(|(method, _)| *method).filter(|method| !server.offers(method));
                text(cannot.collect::<Vec<_>>().join(", "))
            });
            let language = text(document.language.id.clone());
            let (by, why) = (Some(text(by)), why.map(|why| text(why.to_owned())));
            status.items.push(RawServer { language, by, stage, why, cannot });
        }
        status
    }

    async fn try_out(&self, home: &Home, uri: &str) -> Result<Able, String> {
        let begun = Instant::now();
        let unreadable = |_| "the file that it was to be tried with cannot be read".to_owned();
        let opened = self.read(uri).await.map_err(unreadable)?;
        let server = self.try_server(home).await.map_err(|error| error.to_string())?;
        server.open(&self.document(&opened, home)).map_err(|error| error.to_string())?;
        server.ready().await.map_err(|error| match error {
            NoAnswer::Unable(fault) => format!("it cannot load the project: {}", fault.trim()),
            _ => "it ended before it was ready".to_owned(),
        })?;
        let methods = PROVIDERS.iter().map(|(method, _)| *method).filter(|method| server.offers(method)).collect();
        Ok(Able { info: server.info.clone(), ready_after: begun.elapsed(), methods, has_index: server.knows_all() })
    }

    fn row(&self, home: &Home) -> &Arc<Row> {
        &self.known.rows[home.row]
    }

    fn slots(&self) -> Vec<Slot> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn slot(&self, home: &Home) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let surroundings = Arc::clone(&self.known.surroundings);
            Slot::new(Arc::clone(self.row(home)), Arc::clone(&home.folder), surroundings)
        };
        slots.entry((home.row, Arc::clone(&home.folder))).or_insert_with(new).clone()
    }

    /// Reads a document as it is on disk now, and remembers it.
    async fn read(&self, uri: &str) -> Result<Opened, EditorError> {
        let path = PathBuf::from(path_of_file_uri(uri, PathStyle::NATIVE).ok_or(EditorError::NotFound)?);
        let (known, own) = (Arc::clone(&self.known), uri.to_owned());
        let opened = spawn_blocking(move || {
            let homes = known.homes(&path);
            let can_start = homes.first().is_some_and(|home| known.can_start(home.row));
            read_text(&path).map(|text| Opened { uri: own, path, text, homes, can_start })
        });
        let opened = opened.await.ok().flatten().ok_or(EditorError::NotFound)?;
        self.opened().put(uri.to_owned(), opened.clone());
        Ok(opened)
    }

    fn opened(&self) -> MutexGuard<'_, CLruCache<String, Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn opened_last(&self, uri: &str) -> Result<Opened, EditorError> {
        let known = self.opened().peek(uri).cloned();
        match known {
            Some(opened) => Ok(opened),
            None => self.read(uri).await,
        }
    }

    /// The document as one of its servers reads it.
    fn document(&self, Opened { uri, path, text, .. }: &Opened, home: &Home) -> Document {
        let language = self.row(home).language_of(path).unwrap_or(PLAIN).to_owned();
        Document { uri: uri.clone(), language, text: Arc::clone(text) }
    }

    /// A server, which has the document as it was opened last.
    async fn asked(&self, opened: &Opened, home: &Home) -> Result<Asked, EditorError> {
        let server = self.server(home).await?;
        let document = self.document(opened, home);
        let version = server.open(&document).map_err(NoAnswer::from)?;
        Ok(Asked { server, document, version })
    }

    /// The servers of a document. One that answers beside the main one and cannot is left out, but for diagnostics, of which
    /// it has a part.
    async fn servers_of(&self, uri: &str, ask: Option<Ask>) -> Result<Vec<Asked>, EditorError> {
        let opened = self.opened_last(uri).await?;
        let Some(main) = opened.homes.first() else { return Err(EditorError::Unavailable(None)) };
        let mut homes = opened.homes.clone();
        if self.known.has_parts(main.row) && ask.is_some_and(|ask| USES.contains(&ask.method)) {
            homes.extend(self.siblings(main).await);
        }
        let found = join_all(homes.iter().map(|home| self.asked(&opened, home))).await;
        let needs_all = ask.is_some_and(|ask| ask.shape == Shape::Diagnostics);
        let is_needed = |home: &Home| needs_all || !self.row(home).beside || home == main;
        let found = homes.iter().zip(found).filter(|(home, asked)| asked.is_ok() || is_needed(home));
        found.map(|(_, asked)| asked).collect()
    }

    /// The servers of the same kind for other parts of the same checkout.
    async fn siblings(&self, home: &Home) -> Vec<Home> {
        let is_sibling = |other: &&Main| {
            other.home.row == home.row && other.home.checkout == home.checkout && other.home.folder != home.folder
        };
        self.mains().await.iter().filter(is_sibling).map(|main| main.home.clone()).collect()
    }

    async fn server(&self, home: &Home) -> Result<Arc<Server>, EditorError> {
        self.try_server(home).await.map_err(|error| {
            let row = self.row(home);
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
                NoServer::TooMany => EditorError::Failed(explained(
                    Some("too_many_servers"),
                    format!(
                        "{MAX_SERVERS} language servers are at work, which is the limit; call again in a minute, or have the \
                         person start mcp-lsp-gateway with --root for a part of the folder."
                    ),
                )),
            }
        })
    }

    async fn try_server(&self, home: &Home) -> Result<Arc<Server>, NoServer> {
        let slot = self.slot(home);
        if slot.used().is_none() {
            self.make_room()?;
        }
        slot.server().await
    }

    /// Ends the server that was not asked for longest, if as many run as may.
    fn make_room(&self) -> Result<(), NoServer> {
        let slots = self.slots();
        let running: Vec<_> = slots.iter().filter_map(|slot| slot.used().map(|used| (used, slot))).collect();
        if running.len() < MAX_SERVERS {
            return Ok(());
        }
        let oldest = running.into_iter().min_by_key(|(used, _)| *used);
        let (_, idle) = oldest.filter(|(used, _)| used.elapsed() > IN_USE).ok_or(NoServer::TooMany)?;
        let idle = idle.clone();
        tokio::spawn(async move { idle.end().await });
        Ok(())
    }

    /// A document of each language that the folders have, and of each server that answers for it.
    async fn mains(&self) -> Arc<[Main]> {
        if let Some(known) = &*self.known_mains() {
            return Arc::clone(known);
        }
        let known = Arc::clone(&self.known);
        let found = spawn_blocking(move || {
            known.first_files().into_iter().map(|(home, path)| main(&known, home, &path)).collect()
        });
        let mains: Arc<[Main]> = found.await.unwrap_or_default();
        *self.known_mains() = Some(Arc::clone(&mains));
        mains
    }

    /// Those of them that are asked about the workspace.
    async fn of_workspace(&self) -> Vec<Main> {
        self.mains().await.iter().filter(|main| main.is_of_workspace).cloned().collect()
    }

    fn known_mains(&self) -> MutexGuard<'_, Option<Arc<[Main]>>> {
        self.mains.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that a server answers for some language of the folders, where they have any.
    async fn check_any_language(&self) -> Result<(), EditorError> {
        let mains = self.of_workspace().await;
        match mains.first() {
            Some(main) if !mains.iter().any(|main| main.can_start) => self.server(&main.home).await.map(drop),
            _ => Ok(()),
        }
    }

    async fn workspace_symbols(&self, ask: Ask, subject: &Subject) -> Result<Raw, EditorError> {
        let mains = self.of_workspace().await;
        let served = mains.iter().filter(|main| main.can_start);
        let found = try_join_all(served.map(|main| async move {
            let opened = self.opened_last(&main.document.uri).await?;
            answer(&self.asked(&opened, &main.home).await?, ask, subject, false).await
        }))
        .await?;
        if !found.is_empty() && found.iter().all(Option::is_none) {
            return Err(EditorError::Unavailable(None));
        }
        Ok(answers::joined(ask.shape, found.into_iter().flatten()))
    }

    async fn document_answers(&self, ask: Ask, subject: &Subject, uri: &str) -> Result<Raw, EditorError> {
        let asked = self.servers_of(uri, Some(ask)).await?;
        let found = try_join_all(asked.iter().map(|asked| answer(asked, ask, subject, true))).await?;
        if found.iter().all(Option::is_none) {
            return Err(EditorError::Unavailable(None));
        }
        Ok(answers::joined(ask.shape, found.into_iter().flatten()))
    }

    async fn document_diagnostics(&self, ask: Ask, uri: &str) -> Result<Raw, EditorError> {
        let asked = self.servers_of(uri, Some(ask)).await?;
        let reported =
            join_all(asked.iter().map(|Asked { server, document, version }| server.diagnostics(document, *version)));
        let mut all = Vec::new();
        for reports in reported.await {
            match reports {
                Ok(reports) => all.push(reports),
                Err(NoAnswer::NotOffered) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if all.is_empty() {
            return Err(EditorError::Unavailable(None));
        }
        Ok(Raw::Diagnostics(answers::diagnostics(all.iter().map(|reports| (uri, &**reports)))))
    }

    /// What each server has reported on the documents that are its own.
    async fn published(&self) -> RawDiagnostics {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let reported = slots.into_iter().filter_map(|(home, slot)| Some((home, slot.running()?.all_diagnostics())));
        let (reported, known): (Vec<_>, _) = (reported.collect(), Arc::clone(&self.known));
        let own = spawn_blocking(move || {
            let is_own = |(row, folder): &(usize, Arc<Path>), uri: &str| {
                let path = path_of_file_uri(uri, PathStyle::NATIVE).map(PathBuf::from);
                let homes = path.map(|path| known.homes(&path)).unwrap_or_default();
                homes.iter().any(|own| own.row == *row && own.folder == *folder)
            };
            let reported = reported.iter().flat_map(|(home, reports)| reports.iter().map(move |report| (home, report)));
            let own = reported.filter(|(home, (uri, _))| is_own(home, uri));
            answers::diagnostics(own.map(|(_, (uri, reports))| (uri.as_str(), &**reports)))
        });
        own.await.unwrap_or_default()
    }
}

/// Blocks on the disk.
fn main(known: &Known, home: Home, path: &Path) -> Main {
    let (row, can_start) = (&known.rows[home.row], known.can_start(home.row));
    let language = Language {
        id: row.language_of(path).unwrap_or(PLAIN).to_owned(),
        // Nothing shows that what it finds is all where it does not look.
        has_readiness_probe: can_start && !row.lacks(SEARCH),
    };
    let is_of_workspace = known.is_of_workspace(home.row);
    Main { document: MainDocument { uri: uri_of(path), language }, home, can_start, is_of_workspace }
}

/// What a server answers, if it answers this at all.
async fn answer(
    Asked { server, version, .. }: &Asked,
    ask: Ask,
    subject: &Subject,
    is_about_it: bool,
) -> Result<Option<Raw>, EditorError> {
    match server.ask(ask, subject, is_about_it.then_some(*version)).await {
        Ok(raw) => Ok(Some(raw)),
        Err(NoAnswer::NotOffered) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl From<NoAnswer> for EditorError {
    fn from(error: NoAnswer) -> Self {
        match error {
            NoAnswer::NotOffered => Self::Unavailable(None),
            NoAnswer::Failed | NoAnswer::Ended => Self::Failed(None),
            NoAnswer::KnowsLess => Self::Starting,
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
        let opened = self.read(uri).await?;
        let mut ready = !opened.homes.is_empty();
        for home in &opened.homes {
            let Some(server) = self.slot(home).running() else {
                ready = false;
                continue;
            };
            server.open(&self.document(&opened, home)).map_err(NoAnswer::from)?;
            ready = ready && server.is_ready() && server.knows_all();
        }
        let Opened { text, homes, can_start, .. } = &opened;
        let (line_count, line_length) = measure(text, position.map(|position| position.line));
        let id = homes.first().map_or_else(|| PLAIN.to_owned(), |main| self.document(&opened, main).language);
        let language = Language { id, has_readiness_probe: *can_start };
        Ok(OpenDocument { line_count, line_length, language, ready, in_tab: false })
    }

    async fn ready(&self, uri: &str, _: bool) -> Result<Readiness, EditorError> {
        let asked = match self.servers_of(uri, None).await {
            // What is missing is said when it is asked about.
            Err(EditorError::Unavailable(_)) => return Ok(Readiness::Assumed),
            found => found?,
        };
        try_join_all(asked.iter().map(|asked| asked.server.ready())).await?;
        let know_all = asked.iter().all(|asked| asked.server.knows_all());
        Ok(if know_all { Readiness::Shown } else { Readiness::Assumed })
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        let mut documents: Vec<_> = self.of_workspace().await.into_iter().map(|main| main.document).collect();
        documents.sort_by(|one, other| one.uri.cmp(&other.uri));
        documents.dedup_by(|one, other| one.uri == other.uri);
        Ok(documents)
    }

    async fn tell(&self, written: Option<&[Change]>) {
        // A server that is given a text from before takes it for what is written there now.
        self.opened().clear();
        {
            let mut mains = self.known_mains();
            let known: Vec<_> = mains.iter().flat_map(|mains| mains.iter().map(|main| &*main.document.uri)).collect();
            // What was written may be no text any more.
            let counts = |change: &Change| change.kind != Kind::Changed || known.contains(&&*uri_of(&change.path));
            if written.is_none_or(|written| written.iter().any(counts)) {
                *mains = None;
            }
        }
        join_all(self.slots().iter().map(|slot| slot.tell(written))).await;
    }

    async fn ask(&self, ask: Ask, subject: &Subject, _: Option<Duration>) -> Result<Raw, EditorError> {
        if ask.shape == Shape::Status {
            return Ok(Raw::Status(self.status().await));
        }
        if ask.shape == Shape::Texts {
            // There is no editor in which somebody could change one.
            return Ok(ask.shape.nothing());
        }
        if subject.uri().is_none() {
            self.check_any_language().await?;
        }
        match (ask.shape, subject.uri()) {
            (Shape::Diagnostics, None) => Ok(Raw::Diagnostics(self.published().await)),
            (_, None) => self.workspace_symbols(ask, subject).await,
            (Shape::Diagnostics, Some(uri)) => self.document_diagnostics(ask, uri).await,
            (_, Some(uri)) => self.document_answers(ask, subject, uri).await,
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
