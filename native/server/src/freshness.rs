//! Keeps the promise that an answer given after a write has ended is about the files after that write, or is an error.
//!
//! The watch tells at once what was written. That the language servers know it takes longer, so what was written is pending
//! until it is sure, or as sure as can be: a file that was written is opened in step with the disk, so that its text goes the
//! same way as the question and arrives before it. Of one that has come or gone, the text is not all. There the editor is
//! waited for, which tells what language servers have been told.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway_core::epochs::Epoch;
use gateway_core::error::ToolError;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::watch::{Behind, Change, Changed, Changes, Ignore, Kind, Options, Status, Watch};
use crate::workspace::Workspace;

/// How many written files are opened before a question. Of more, the editor is waited for.
const MAX_OPENED: usize = 32;
/// How many paths are followed one by one.
const MAX_FOLLOWED: usize = 1_024;
/// How many files are remembered that are in no language.
const MAX_PLAIN: usize = 256;

/// How long the editor may pause while it tells of a change of many files.
const LONGEST_PAUSE: Duration = Duration::from_millis(300);
/// How long the editor is waited for. What it does not look at, it never tells of.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a disk may take for one file before it counts as one that does not answer.
const DISK_PATIENCE: Duration = Duration::from_millis(250);
/// A number of looks that no watch has had.
const NO_LOOKS: u64 = u64::MAX;

/// The watches of the roots, and what they have told that language servers may not know yet.
#[derive(Debug)]
pub(crate) struct Freshness {
    roots: Mutex<Arc<[Arc<Root>]>>,
    pending: Mutex<Pending>,
    /// The editor has told of something.
    told: Notify,
    /// Held while the editor is told.
    pub(crate) telling: tokio::sync::Mutex<()>,
}

/// One root. Each has a watch of its own, so that a disk that does not answer puts off nothing about the others.
#[derive(Debug)]
struct Root {
    /// Its real path.
    path: PathBuf,
    ignore: Ignore,
    watch: Watch,
    /// Up to where the watch was read. It changes only while what is pending is locked.
    sequence: AtomicU64,
    /// Held by the thread that blocks on the watch, so that there is no other.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// How many looks the watch had had when its disk was last seen not to answer.
    stuck_after: AtomicU64,
}

impl Freshness {
    /// Watches these folders, given by their real paths. `is_told`: whether the editor is told of what was written. Called
    /// within a runtime.
    pub(crate) fn new(roots: Vec<PathBuf>, ignore: &Ignore, is_told: bool) -> Self {
        let pending = Pending { untold: is_told.then(Untold::default), ..Pending::default() };
        let freshness = Self {
            roots: Mutex::new(Arc::new([])),
            pending: Mutex::new(pending),
            told: Notify::new(),
            telling: tokio::sync::Mutex::default(),
        };
        freshness.configure(roots, ignore);
        freshness
    }

    /// Watches other folders. New ones are looked through on a thread of their own; questions wait for it. Called within a
    /// runtime.
    pub(crate) fn configure(&self, roots: Vec<PathBuf>, ignore: &Ignore) {
        let before = self.roots();
        let roots = if ignore.is_everything() { Vec::new() } else { roots };
        let same = |path: &PathBuf| before.iter().find(|root| root.path == *path);
        let roots = roots.into_iter().map(|path| match same(&path) {
            Some(root) if root.ignore == *ignore => Arc::clone(root),
            known => {
                if known.is_some() {
                    // What was written since it was last read, the new watch takes for what was always there.
                    self.pending().note_many(Instant::now());
                }
                Root::watched(path, ignore.clone())
            }
        });
        let roots = roots.collect();
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = roots;
        self.pending().forget_plain();
    }

    /// How well each root is watched now. Roots on disks that do not answer are left out.
    pub(crate) async fn status(&self) -> Vec<Status> {
        let mut all = Vec::new();
        for root in self.roots().iter() {
            let Ok(turn) = timeout(DISK_PATIENCE, Arc::clone(&root.turn).lock_owned()).await else { continue };
            let root = Arc::clone(root);
            let status = spawn_blocking(move || {
                let _turn = turn;
                root.watch.status()
            });
            all.extend(timeout(DISK_PATIENCE, status).await.into_iter().flatten());
        }
        all
    }

    /// Learns of every write that had ended when this was called. Returns the number of the last change that language servers
    /// have to know of. What is written on a disk that does not answer, nobody can know, so that is left out, unless the
    /// question is about a document there, or about the whole workspace (`None`).
    pub(crate) async fn catch_up(
        self: &Arc<Self>,
        workspace: &Arc<Workspace>,
        document: Option<&str>,
    ) -> Result<u64, ToolError> {
        let mut is_whole = true;
        for root in self.roots().iter() {
            let is_read = self.read(workspace, root, |since| root.watch.catch_up(since)).is_ok()
                || self.read_patiently(workspace, root).await?;
            is_whole &= is_read || !document.is_none_or(|uri| workspace.is_in_root(uri, &root.path));
        }
        if is_whole { Ok(self.pending().number) } else { Err(ToolError::DiskSilent) }
    }

    /// Returns whether the watch was read; false if its disk does not answer.
    async fn read_patiently(self: &Arc<Self>, workspace: &Arc<Workspace>, root: &Arc<Root>) -> Result<bool, ToolError> {
        let (freshness, workspace, own) = (Arc::clone(self), Arc::clone(workspace), Arc::clone(root));
        let mut reading = pin!(async move {
            let turn = Arc::clone(&own.turn).lock_owned().await;
            let read = move || {
                let _turn = turn;
                freshness.read(&workspace, &own, |since| own.watch.catch_up_blocking(since))
            };
            spawn_blocking(read).await.is_ok_and(|read| read.is_ok())
        });
        loop {
            let looks = root.watch.looks();
            let is_being_read = root.turn.try_lock().is_err();
            if is_being_read && root.stuck_after.load(Ordering::Relaxed) == looks {
                return Ok(false);
            }
            match timeout(DISK_PATIENCE, reading.as_mut()).await {
                Ok(true) => return Ok(true),
                Ok(false) => return Err(ToolError::Internal),
                Err(_) if root.watch.looks() == looks => root.stuck_after.store(looks, Ordering::Relaxed),
                Err(_) => {}
            }
        }
    }

    fn read(
        &self,
        workspace: &Workspace,
        root: &Root,
        changes: impl Fn(u64) -> Result<Changes, Behind>,
    ) -> Result<(), Behind> {
        loop {
            root.watch.follow(workspace.take_named(&root.path));
            let since = root.sequence.load(Ordering::Relaxed);
            let Changes { sequence, changed } = changes(since)?;
            let mut pending = self.pending();
            let now = root.sequence.load(Ordering::Relaxed);
            if now < sequence && now == since {
                root.sequence.store(sequence, Ordering::Relaxed);
                // Before anybody else can take what was read for known.
                workspace.bump(Epoch::Fs);
                pending.note(changed, &root.path, Instant::now());
            }
            if root.sequence.load(Ordering::Relaxed) >= sequence {
                return Ok(());
            }
        }
    }

    /// For how long language servers have known of what was written last, if anything was.
    pub(crate) fn known_for(&self) -> Option<Duration> {
        self.pending().known_since.map(|since| since.elapsed())
    }

    /// What is to be done before a question, and the wait for what the editor tells from now on.
    pub(crate) fn next(&self) -> (Next, Notified<'_>) {
        // From before the look on, so that nothing that is told meanwhile is missed.
        let told = self.told.notified();
        (self.pending().next(Instant::now()), told)
    }

    /// The editor has told of these files, given by their real paths.
    pub(crate) fn told(&self, files: impl Iterator<Item = (PathBuf, Kind)>) {
        let (mut pending, now) = (self.pending(), Instant::now());
        for (path, kind) in files {
            pending.told(&path, kind, now);
        }
        drop(pending);
        self.told.notify_waiters();
    }

    /// What the editor is to be told.
    pub(crate) fn untold(&self) -> Option<Untold> {
        self.pending().untold.clone().filter(|untold| !untold.is_empty())
    }

    /// The editor was told of this.
    pub(crate) fn was_told(&self, told: &Untold) {
        if let Some(untold) = &mut self.pending().untold {
            untold.take_off(told);
        }
    }

    /// A file that was written, in the change of this number, was opened.
    pub(crate) fn opened(&self, path: &Path, number: u64, opened: Opened) {
        self.pending().opened(path, number, opened, Instant::now());
    }

    fn roots(&self) -> Arc<[Arc<Root>]> {
        Arc::clone(&self.roots.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        // At worst, a path stays pending until patience with it ends.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Root {
    fn watched(path: PathBuf, ignore: Ignore) -> Arc<Self> {
        let watch = Watch::new(&Options::default());
        watch.set_scope(vec![path.clone()], ignore.clone());
        let (sequence, stuck_after) = (AtomicU64::new(0), AtomicU64::new(NO_LOOKS));
        let root = Arc::new(Self { path, ignore, watch, sequence, turn: Arc::default(), stuck_after });
        let walked = Arc::clone(&root);
        spawn_blocking(move || {
            let _turn = walked.turn.blocking_lock();
            walked.watch.catch_up_blocking(0).map(drop)
        });
        root
    }
}

/// What came of opening a file that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
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
pub(crate) enum Next {
    /// Nothing.
    Known,
    /// Telling the editor.
    Tell,
    /// Opening these files, each with the number of its change.
    Open(Vec<(PathBuf, u64)>),
    /// Waiting until then, or until the editor tells of something.
    Wait(Instant),
}

/// What an editor that is told of what was written has not been told yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Untold {
    /// In the order in which it was learned.
    pub(crate) changes: Vec<Change>,
    /// How often more was written than is remembered.
    pub(crate) many: u64,
}

impl Untold {
    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.many == 0
    }

    fn take_off(&mut self, told: &Self) {
        self.changes.drain(..told.changes.len());
        self.many -= told.many;
    }
}

/// What was written and may not be known yet.
#[derive(Debug, Default)]
struct Pending {
    /// Of an editor that is told; then nothing of the rest is used.
    untold: Option<Untold>,
    paths: BTreeMap<PathBuf, Unknown>,
    /// In place of the paths, if there are too many.
    many: Option<Unknown>,
    /// Of the last change.
    number: u64,
    /// Since when language servers know of the last that they did not know of.
    known_since: Option<Instant>,
    /// Files that nobody reads. What is written there is not waited for, or a program that logs would put off each answer.
    plain: BTreeSet<PathBuf>,
    /// How the names of such files end.
    plain_ends: BTreeSet<OsString>,
}

#[derive(Debug, Clone, Copy)]
struct Unknown {
    number: u64,
    since: Instant,
    kind: Kind,
    /// Whether its text can be handed over by opening it.
    opens: bool,
    /// Since when language servers have been told of it; of many, if no more is told before.
    told_at: Option<Instant>,
}

impl Pending {
    fn note(&mut self, changed: Changed, root: &Path, now: Instant) {
        match (changed, &mut self.untold) {
            (Changed::Many, _) => self.note_many(now),
            (Changed::These(paths), Some(untold)) => {
                self.number += 1;
                untold.changes.extend(paths);
            }
            (Changed::These(paths), None) => {
                self.forget(now);
                // Of a folder, what is in it counts, and that is told by itself. Whether the root is there is looked at for
                // each question anyhow.
                let files = paths.into_iter().filter(|change| !change.is_folder && change.path != root);
                for Change { path, kind, .. } in files {
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
        if kind == Kind::Deleted
            && before.is_some_and(|before| before.kind == Kind::Created && before.told_at.is_none())
        {
            self.paths.remove(&path);
            return;
        }
        // The editor has yet to tell that it is there, or has done so.
        let created = before.filter(|before| before.kind == Kind::Created && kind == Kind::Changed);
        let (kind, told_at) = created.map_or((kind, None), |before| (before.kind, before.told_at));
        self.number += 1;
        let opens = kind != Kind::Deleted;
        self.paths.insert(path, Unknown { number: self.number, since: now, kind, opens, told_at });
        if self.paths.len() > MAX_FOLLOWED || self.many.is_some() {
            self.note_many(now);
        }
    }

    fn note_many(&mut self, now: Instant) {
        self.number += 1;
        if let Some(untold) = &mut self.untold {
            untold.many += 1;
            return;
        }
        self.paths.clear();
        let (number, kind) = (self.number, Kind::Changed);
        self.many = Some(Unknown { number, since: now, kind, opens: false, told_at: None });
    }

    /// The editor has told of a path; of a folder that is gone, it tells for all that was in it.
    fn told(&mut self, path: &Path, kind: Kind, now: Instant) {
        if let Some(many) = &mut self.many {
            many.told_at = Some(now + LONGEST_PAUSE);
        }
        let gone = |kind| kind == Kind::Deleted;
        for (_, unknown) in self.paths.range_mut(path.to_owned()..).take_while(|(other, _)| other.starts_with(path)) {
            if gone(kind) == gone(unknown.kind) {
                unknown.told_at.get_or_insert(now);
            }
        }
    }

    fn opened(&mut self, path: &Path, number: u64, opened: Opened, now: Instant) {
        let Some(unknown) = self.paths.get_mut(path).filter(|unknown| unknown.number == number) else { return };
        unknown.opens = false;
        if opened == Opened::InStep
            && let Some(end) = end_of(path)
        {
            // One that is no text says nothing of those that are.
            self.plain_ends.remove(&end);
        }
        // That there is a file is more than its text: it can be imported.
        let is_known = unknown.kind != Kind::Created || now >= unknown.known_at();
        if opened == Opened::InVain || opened == Opened::InStep && !is_known {
            return;
        }
        self.paths.remove(path);
        if opened == Opened::InStep {
            self.known_since = Some(now);
        }
        if opened == Opened::Plain {
            if self.plain.len() == MAX_PLAIN {
                self.forget_plain();
            }
            self.plain_ends.extend(end_of(path));
            self.plain.insert(path.to_owned());
        }
    }

    fn forget_plain(&mut self) {
        self.plain.clear();
        self.plain_ends.clear();
    }

    fn next(&mut self, now: Instant) -> Next {
        if let Some(untold) = &self.untold {
            return if untold.is_empty() { Next::Known } else { Next::Tell };
        }
        self.forget(now);
        let is_due = |(path, unknown): &(&PathBuf, &Unknown)| {
            // A server that has the text of a new file before it has heard of the file may take that for no news: TypeScript's
            // resolves an import that has failed a second later.
            unknown.opens
                && (unknown.kind == Kind::Changed
                    || now >= unknown.known_at()
                    || end_of(path).is_some_and(|end| self.plain_ends.contains(&end)))
        };
        let due: Vec<_> = if self.opens_each() { self.paths.iter().filter(is_due).collect() } else { Vec::new() };
        if !due.is_empty() {
            return Next::Open(due.into_iter().map(|(path, unknown)| (path.clone(), unknown.number)).collect());
        }
        let until = self.paths.values().chain(&self.many).map(Unknown::known_at).min();
        until.map_or(Next::Known, Next::Wait)
    }

    /// Whether there are few enough files for each to be opened.
    fn opens_each(&self) -> bool {
        self.many.is_none() && self.paths.values().filter(|unknown| unknown.opens).count() <= MAX_OPENED
    }

    /// Forgets what is known by now.
    fn forget(&mut self, now: Instant) {
        let opens_each = self.opens_each();
        let mut known_since = self.known_since;
        let mut is_pending = |unknown: &Unknown| {
            // Opening is the surer way. The event that was seen may have been that of an earlier write.
            let is_surely_told = unknown.told_at.is_some() && now >= unknown.since + PATIENCE;
            let known_at = unknown.known_at();
            let is_pending = if unknown.opens && opens_each { !is_surely_told } else { now < known_at };
            if !is_pending {
                known_since = known_since.max(Some(known_at.min(now)));
            }
            is_pending
        };
        self.paths.retain(|_, unknown| is_pending(unknown));
        self.many = self.many.filter(|many| is_pending(many));
        self.known_since = known_since;
    }
}

/// How the name of a file ends, by which its language can be guessed.
fn end_of(path: &Path) -> Option<OsString> {
    path.extension().or(path.file_name()).map(ToOwned::to_owned)
}

impl Unknown {
    /// When it is known, if nothing else happens.
    fn known_at(&self) -> Instant {
        let at_last = self.since + PATIENCE;
        self.told_at.map_or(at_last, |told_at| at_last.min(told_at))
    }
}
