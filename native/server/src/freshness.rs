//! Keeps the promise that an answer given after a write has ended is about the files after that write, or is an error.
//!
//! The watch tells at once what was written. That the language servers know it takes longer, so what was written is pending
//! until it is sure, or as sure as can be: a file that is there is opened in step with the disk, so that its text goes the
//! same way as the question and arrives before it. Of one that is gone there is nothing to open. There the editor is waited
//! for, which tells what it sees, and then for as long as the clients of language servers hold such notices back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway_core::epochs::Epoch;
use gateway_core::error::ToolError;
use gateway_core::roots::Folder;
use gateway_core::uri::{PathStyle, file_uri};
use tokio::sync::Notify;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use crate::asks::Stage;
use crate::editor::{Editor, EditorError, Opening};
use crate::gateway::Gateway;
use crate::question::Question;
use crate::watch::{Behind, Change, Changed, Changes, Ignore, Kind, Options, Status, Watch};
use crate::workspace::Workspace;

/// How many written files are opened before a question. Of more, the editor is waited for.
const MOST_OPENED: usize = 32;
/// How many paths are followed one by one.
const MOST_FOLLOWED: usize = 1_024;
/// How many files are remembered that are in no language.
const MOST_PLAIN: usize = 256;
/// Larger files are not opened.
const LARGEST_OPENED: u64 = 4 << 20;
/// What no language server reads is in this language.
const PLAIN: &str = "plaintext";

/// How long after the editor's last event the language servers have heard of it: their clients gather events for 250 ms.
const PASSED_ON: Duration = Duration::from_millis(300);
/// How long the editor is waited for. What it does not look at, it never tells of.
const PATIENCE: Duration = Duration::from_secs(3);

/// The watch, and what it has told that language servers may not know yet.
#[derive(Debug)]
pub(crate) struct Freshness {
    watch: Arc<Watch>,
    /// Held by whoever blocks on the watch, so that no more than one thread does.
    turn: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
    /// The editor has told of something.
    told: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Up to where the watch was read.
    sequence: u64,
    pending: Pending,
}

impl Freshness {
    /// Watches these folders, given by their real paths, once somebody looks through them.
    pub(crate) fn new(roots: Vec<PathBuf>, ignore: Ignore) -> Self {
        let watch = Arc::new(Watch::new(&Options::default()));
        let freshness = Self { watch, turn: Arc::default(), state: Mutex::default(), told: Notify::new() };
        freshness.configure(roots, ignore);
        freshness
    }

    /// Watches other folders. They are looked through on a thread of its own; questions wait for it.
    pub(crate) fn configure(&self, roots: Vec<PathBuf>, ignore: Ignore) {
        self.watch.set_scope(roots, ignore);
        self.state().pending.plain.clear();
        let watch = Arc::clone(&self.watch);
        std::thread::spawn(move || watch.catch_up_blocking(0).map(drop));
    }

    /// How well the roots are watched now. May block.
    pub(crate) fn status(&self) -> Status {
        self.watch.status()
    }

    /// Learns of every write that had ended when this was called, if that takes no blocking. Returns the number of the last
    /// change that language servers have to know of.
    pub(crate) fn catch_up_at_once(&self, workspace: &Workspace) -> Result<u64, Behind> {
        self.read(workspace, |since| self.watch.catch_up(since))
    }

    /// As [`Freshness::catch_up_at_once`], whatever it takes.
    pub(crate) async fn catch_up(self: &Arc<Self>, workspace: &Arc<Workspace>) -> Result<u64, ToolError> {
        if let Ok(number) = self.catch_up_at_once(workspace) {
            return Ok(number);
        }
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let (freshness, workspace) = (Arc::clone(self), Arc::clone(workspace));
        let read = move || {
            let _turn = turn;
            freshness.read(&workspace, |since| freshness.watch.catch_up_blocking(since))
        };
        let read = spawn_blocking(read).await.map_err(|_| ToolError::Internal)?;
        read.map_err(|_| ToolError::CatchingUp)
    }

    fn read(&self, workspace: &Workspace, changes: impl Fn(u64) -> Result<Changes, Behind>) -> Result<u64, Behind> {
        loop {
            let since = self.state().sequence;
            let Changes { sequence, changed } = changes(since)?;
            let mut state = self.state();
            if state.sequence >= sequence {
                return Ok(state.pending.number);
            }
            if state.sequence == since {
                state.sequence = sequence;
                // Before anybody else can take what was read for known.
                workspace.bump(Epoch::Fs);
                state.pending.note(changed, &workspace.real_roots(), Instant::now());
                return Ok(state.pending.number);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // At worst, a path stays pending until patience with it ends.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Editor> Gateway<E> {
    /// Waits until the language servers know, as far as can be told, of every write that had ended when this was called.
    /// Returns the number of the last change that they know of. Nothing is waited for if the question may not be asked.
    pub(crate) async fn make_known(self: &Arc<Self>, question: &Question, stage: &Stage) -> Result<u64, ToolError> {
        let freshness = self.freshness();
        let mut is_admitted = false;
        loop {
            let number = freshness.catch_up(self.workspace()).await?;
            // From before the look on, so that nothing that is told meanwhile is missed.
            let told = freshness.told.notified();
            let next = freshness.state().pending.next(Instant::now());
            if next == Next::Known {
                return Ok(number);
            }
            stage.set_catching_up();
            if let Some(uri) = question.uri().filter(|_| !is_admitted) {
                self.admit(uri).await?;
            }
            is_admitted = true;
            match next {
                Next::Known => {}
                Next::Open(files) => self.open_written(files).await,
                Next::Wait(until) => {
                    tokio::select! {
                        () = told => {}
                        () = sleep_until(until) => {}
                    }
                }
            }
        }
    }

    /// Takes note of files that the editor has seen come, change or go, by their paths as the editor knows them.
    pub async fn editor_saw(&self, files: Vec<(PathBuf, Kind)>) {
        let freshness = self.freshness();
        // What the editor tells of has happened before: it has to be pending by now.
        if freshness.catch_up(self.workspace()).await.is_err() {
            return;
        }
        let roots = self.workspace().now().roots;
        let real = |path: PathBuf| {
            let inside = |folder: Folder<'_>| Some(folder.real.join(path.strip_prefix(folder.known_as).ok()?));
            roots.folders().find_map(inside).unwrap_or(path)
        };
        let mut state = freshness.state();
        let now = Instant::now();
        for (path, kind) in files {
            state.pending.told(&real(path), kind, now);
        }
        drop(state);
        freshness.told.notify_waiters();
    }

    /// Opens files that were written in step with the disk.
    async fn open_written(self: &Arc<Self>, files: Vec<(PathBuf, u64)>) {
        let mut opening = JoinSet::new();
        for (path, number) in files {
            let gateway = Arc::clone(self);
            opening.spawn(async move {
                let opened = gateway.open_one(&path).await;
                gateway.freshness().state().pending.opened(&path, number, opened);
            });
        }
        opening.join_all().await;
    }

    async fn open_one(&self, path: &Path) -> Opened {
        let Some(text) = path.to_str() else { return Opened::NotAtAll };
        let uri = file_uri(text, PathStyle::NATIVE);
        // Folders, and what is gone again, which the watch tells by itself.
        let Ok((_, document)) = self.admit(&uri).await else { return Opened::NotAtAll };
        let path = document.real_path.clone();
        let size = spawn_blocking(move || fs::metadata(path).map_or(0, |found| found.len())).await;
        if size.is_ok_and(|size| size > LARGEST_OPENED) {
            return Opened::InVain;
        }
        let opening = Opening { uri: &document.editor_uri, position: None, along: None, ready: self.silent().ready() };
        match self.editor().open(opening).await {
            Ok((opened, _)) if opened.language.id == PLAIN => Opened::Plain,
            Ok(_) => Opened::InStep,
            Err(EditorError::NotFound) if document.real_path.is_file() => Opened::Plain,
            Err(EditorError::NotFound) => Opened::NotAtAll,
            Err(EditorError::Unavailable | EditorError::Failed) => Opened::InVain,
        }
    }
}

/// What came of opening a file that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// Its text is on the way to whom it concerns.
    InStep,
    /// It is no text, or one that no language server reads.
    Plain,
    /// There is no such file.
    NotAtAll,
    /// The editor does not take it.
    InVain,
}

/// What is to be done before a question.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Nothing.
    Known,
    /// Opening these files, each with the number of its change.
    Open(Vec<(PathBuf, u64)>),
    /// Waiting until then, or until the editor tells of something.
    Wait(Instant),
}

/// What was written and may not be known yet.
#[derive(Debug, Default)]
struct Pending {
    paths: BTreeMap<PathBuf, Unknown>,
    /// In place of the paths, if there are too many.
    many: Option<Unknown>,
    /// Of the last change.
    number: u64,
    told_at: Option<Instant>,
    /// Files that nobody reads. What is written there is not waited for, or a program that logs would put off each answer.
    plain: BTreeSet<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
struct Unknown {
    number: u64,
    since: Instant,
    kind: Kind,
    /// Whether its text can be handed over by opening it.
    opens: bool,
    is_told: bool,
}

impl Pending {
    fn note(&mut self, changed: Changed, roots: &[PathBuf], now: Instant) {
        match changed {
            Changed::Many => self.note_many(now),
            Changed::These(paths) => {
                // Whether the roots themselves are there is looked at for each question anyhow.
                for Change { path, kind } in paths.into_iter().filter(|change| !roots.contains(&change.path)) {
                    self.note_one(path, kind, now);
                }
            }
        }
    }

    fn note_one(&mut self, path: PathBuf, kind: Kind, now: Instant) {
        if kind == Kind::Deleted && self.plain.remove(&path) || self.plain.contains(&path) {
            return;
        }
        let before = self.paths.get(&path);
        // Nobody had been told of it, and it is gone.
        if kind == Kind::Deleted && before.is_some_and(|before| before.kind == Kind::Created && !before.is_told) {
            self.paths.remove(&path);
            return;
        }
        // The editor has yet to tell that it is there, or has done so.
        let created = before.filter(|before| before.kind == Kind::Created && kind == Kind::Changed);
        let (kind, is_told) = created.map_or((kind, false), |before| (before.kind, before.is_told));
        self.number += 1;
        let opens = kind != Kind::Deleted;
        self.paths.insert(path, Unknown { number: self.number, since: now, kind, opens, is_told });
        self.forget(now);
        if self.paths.len() > MOST_FOLLOWED || self.many.is_some() {
            self.note_many(now);
        }
    }

    fn note_many(&mut self, now: Instant) {
        self.paths.clear();
        self.number += 1;
        let (number, kind) = (self.number, Kind::Changed);
        self.many = Some(Unknown { number, since: now, kind, opens: false, is_told: false });
    }

    /// The editor has told of a path; of a folder that is gone, it tells for all that was in it.
    fn told(&mut self, path: &Path, kind: Kind, now: Instant) {
        self.told_at = Some(now);
        if let Some(many) = &mut self.many {
            many.is_told = true;
        }
        let gone = |kind| kind == Kind::Deleted;
        for (_, unknown) in self.paths.range_mut(path.to_owned()..).take_while(|(other, _)| other.starts_with(path)) {
            unknown.is_told |= gone(kind) == gone(unknown.kind);
        }
    }

    fn opened(&mut self, path: &Path, number: u64, opened: Opened) {
        let Some(unknown) = self.paths.get_mut(path).filter(|unknown| unknown.number == number) else { return };
        unknown.opens = false;
        // That there is a file now is more than its text: it can be imported.
        if opened == Opened::InVain || (opened == Opened::InStep && unknown.kind == Kind::Created) {
            return;
        }
        self.paths.remove(path);
        if opened == Opened::Plain {
            if self.plain.len() == MOST_PLAIN {
                self.plain.clear();
            }
            self.plain.insert(path.to_owned());
        }
    }

    fn next(&mut self, now: Instant) -> Next {
        self.forget(now);
        if self.paths.is_empty() && self.many.is_none() {
            return Next::Known;
        }
        let opens: Vec<_> = self.paths.iter().filter(|(_, unknown)| unknown.opens).collect();
        if !opens.is_empty() && opens.len() <= MOST_OPENED && self.many.is_none() {
            return Next::Open(opens.into_iter().map(|(path, unknown)| (path.clone(), unknown.number)).collect());
        }
        let unknown = self.paths.values().chain(&self.many);
        let until = unknown.map(|unknown| unknown.known_at(self.told_at)).max().unwrap_or(now);
        Next::Wait(until)
    }

    /// Forgets what is known by now.
    fn forget(&mut self, now: Instant) {
        let told_at = self.told_at;
        let opened = self.many.is_none() && self.paths.values().filter(|unknown| unknown.opens).count() <= MOST_OPENED;
        self.paths.retain(|_, unknown| {
            // Opening is the surer way. The event that was seen may have been that of an earlier write.
            let is_surely_told = unknown.is_told && now >= unknown.since + PATIENCE;
            if unknown.opens && opened { !is_surely_told } else { now < unknown.known_at(told_at) }
        });
        self.many = self.many.filter(|many| now < many.known_at(told_at));
    }
}

impl Unknown {
    /// When it is known, if nothing else happens, given when the editor last told of anything.
    fn known_at(&self, told_at: Option<Instant>) -> Instant {
        let at_last = self.since + PATIENCE;
        match told_at {
            Some(told_at) if self.is_told => at_last.min(told_at + PASSED_ON),
            _ => at_last,
        }
    }
}
