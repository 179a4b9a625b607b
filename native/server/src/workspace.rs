//! The two places where state lives: the current epochs with the allowed roots, and the retained snapshots.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epoch, EpochHistory, Epochs, Remembered};
use gateway_core::error::ToolError;
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::position::Position;
use gateway_core::roots::{AllowedRoots, Document, RealPaths as _};
use gateway_core::snapshots::{Origin, Retained, Snapshots};
use gateway_core::tools::{Tool, references};

use crate::disk::{AtOnce, Disk};
use crate::looks::{Looks, Turn};

/// Stands in for the fingerprint of a set that could not be made, such as one with too many items.
const NO_SET: u64 = 0;

/// The workspace at one moment: what is allowed, and which state an answer given now belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    /// The roots in force.
    pub(crate) roots: Arc<AllowedRoots>,
    /// The epochs read together with them.
    pub(crate) epochs: Epochs,
    /// The roots on disks that do not answer, by all their names. They are not in force.
    pub(crate) silent: Arc<[PathBuf]>,
}

/// What a question for references asks.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) document: Document,
    pub(crate) position: Position,
    pub(crate) include_declaration: bool,
}

/// Current epochs, allowed roots and retained snapshots.
#[derive(Debug)]
pub(crate) struct Workspace {
    state: Mutex<State>,
    looks: Looks,
    /// The files that answers have named lately, by their real paths.
    named: Mutex<Vec<PathBuf>>,
    started: Instant,
}

#[derive(Debug)]
struct State {
    /// The roots as they were resolved when they were configured.
    configured: Arc<AllowedRoots>,
    now: Moment,
    history: EpochHistory,
    snapshots: Snapshots,
}

impl Workspace {
    /// A workspace with these roots. Blocks while they are resolved.
    pub(crate) fn new(folders: &[PathBuf], roots_epoch: u64) -> Self {
        let configured = Arc::new(resolve(folders));
        let epochs = Epochs { roots: roots_epoch, ..Epochs::default() };
        let state = State {
            now: Moment { roots: Arc::clone(&configured), epochs, silent: Arc::default() },
            configured,
            history: EpochHistory::default(),
            snapshots: Snapshots::default(),
        };
        Self { state: Mutex::new(state), looks: Looks::default(), named: Mutex::default(), started: Instant::now() }
    }

    /// Replaces the roots. Blocks while they are resolved.
    pub(crate) fn configure(&self, folders: &[PathBuf]) {
        let configured = Arc::new(resolve(folders));
        let mut state = self.state();
        state.configured = Arc::clone(&configured);
        state.put_in_force(configured);
        state.now.silent = Arc::default();
    }

    /// Where the roots were when they were configured.
    pub(crate) fn real_roots(&self) -> Vec<PathBuf> {
        self.state().configured.folders().map(|folder| folder.real.to_owned()).collect()
    }

    /// Whether the document would lie in the root with this real path.
    pub(crate) fn is_in_root(&self, uri: &str, real: &Path) -> bool {
        self.state().configured.folder_of(uri).is_some_and(|folder| folder.real == real)
    }

    /// Takes note of files that an answer names, or that were asked about.
    pub(crate) fn name(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let configured = Arc::clone(&self.state().configured);
        let is_inside = |path: &PathBuf| configured.folders().any(|folder| path.starts_with(folder.real));
        self.named().extend(paths.into_iter().filter(is_inside));
    }

    /// The files under this root that were named since this was last called.
    pub(crate) fn take_named(&self, root: &Path) -> Vec<PathBuf> {
        let mut named = self.named();
        let (here, elsewhere) = mem::take(&mut *named).into_iter().partition(|path| path.starts_with(root));
        *named = elsewhere;
        here
    }

    fn named(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one change of the workspace.
    pub(crate) fn bump(&self, epoch: Epoch) {
        self.state().now.epochs.bump(epoch);
    }

    /// The workspace as last known, without looking at the disk.
    pub(crate) fn now(&self) -> Moment {
        self.state().now.clone()
    }

    /// The document at `uri` and the workspace as it is now, if the system can tell without waiting for a disk that it is
    /// a regular file inside the roots in force, that these are all where they were when they were configured, and that the
    /// others still do not answer.
    pub(crate) fn admit_at_once(&self, uri: &str) -> Option<(Moment, Document)> {
        let (configured, now) = {
            let state = self.state();
            (Arc::clone(&state.configured), state.now.clone())
        };
        if !Arc::ptr_eq(&configured, &now.roots) && configured != now.roots {
            let in_force = |folder| now.roots.folders().any(|other| other == folder);
            if !configured.folders().all(|folder| in_force(folder) || self.looks.is_silent(folder.known_as)) {
                return None;
            }
        }
        let disk = AtOnce::default();
        let document = now.roots.admit(uri, &disk).ok().filter(|document| disk.is_file(&document.real_path))?;
        (now.roots.are_all_in_place(&disk) && disk.is_decided()).then_some((now, document))
    }

    /// The retained set that a question for references pages through, with its cursor, if the question is spelled as the set
    /// is known, the system can tell as in [`Self::admit_at_once`], and all is as it was. It is told by comparing what the
    /// keys are made of, and not by making them again.
    pub(crate) fn resume_at_once(&self, input: &references::Input) -> Option<(Cursor, Arc<Retained>)> {
        let references::Input { uri, position, include_declaration, cursor, .. } = input;
        let mut found = None;
        let cursor = Cursor::decode_for(cursor.as_deref()?, |snapshot| {
            let state = self.state();
            let origin = state.snapshots.origin(snapshot).filter(|origin| {
                origin.document.uri.as_str() == uri
                    && origin.position == *position
                    && origin.include_declaration == *include_declaration
            })?;
            found = Some((Arc::clone(origin), Arc::clone(&state.configured)));
            Some(origin.request.clone())
        });
        let (cursor, (origin, configured)) = (cursor.ok()?, found?);
        let (path, disk) = (&origin.document.real_path, AtOnce::default());
        let is_there = disk.real_path(path).is_ok_and(|real| real == *path) && disk.is_file(path);
        if !(is_there && configured.are_all_in_place(&disk) && disk.is_decided()) {
            return None;
        }
        let now = self.started.elapsed();
        let mut state = self.state();
        let all_in_force = Arc::ptr_eq(&state.configured, &configured)
            && (Arc::ptr_eq(&configured, &state.now.roots) || configured == state.now.roots);
        if !(all_in_force && state.now.epochs.are_those_of(&origin.epochs, Tool::References)) {
            return None;
        }
        let retained = state.snapshots.get(&cursor.snapshot, now)?;
        Some((cursor, retained))
    }

    /// Looks whether the roots are still where they were when they were configured, and returns the workspace as it is
    /// now. A root on a disk that does not answer is not in force until it does.
    pub(crate) async fn look_at_roots(&self) -> Moment {
        let configured = Arc::clone(&self.state().configured);
        let looked = self.looks.at(&configured).await;
        let in_place = configured.still_in_place(&looked);
        let mut state = self.state();
        // Another configuration may have come meanwhile; its roots have just been resolved.
        if Arc::ptr_eq(&state.configured, &configured) {
            state.put_in_force(Arc::new(in_place));
            state.now.silent = looked.silent;
        }
        state.now.clone()
    }

    /// Waits for the turn to look up the document at `uri`, unless its disk does not answer.
    pub(crate) async fn turn_for_document(&self, uri: &str) -> Result<Turn, ToolError> {
        let configured = Arc::clone(&self.state().configured);
        self.looks.turn_for_document(configured.folder_of(uri).map(|folder| folder.known_as)).await
    }

    /// Waits for the turn to look up the paths of an answer.
    pub(crate) async fn turn_for_answer(&self) -> Result<Turn, ToolError> {
        self.looks.turn_for_answer().await
    }

    /// The retained set that a cursor pages through, with the cursor (contract section 3.6).
    pub(crate) fn resume(
        &self,
        tool: Tool,
        request: &RequestKey,
        cursor: &str,
    ) -> Result<(Cursor, Arc<Retained>), ToolError> {
        let cursor = Cursor::decode(cursor, request)?;
        let now = self.started.elapsed();
        let mut state = self.state();
        let current = state.now.snapshot_key(tool, request);
        if cursor.snapshot != current {
            let changed = state.history.changed_since(&cursor.snapshot, &state.now.epochs, tool);
            return Err(ToolError::CursorStale { changed });
        }
        let retained = state.snapshots.get(&current, now).ok_or(ToolError::CursorExpired)?;
        Ok((cursor, retained))
    }

    /// Retains the set that was found at `moment`, and returns the key that its cursors carry; or passes on why there is
    /// none.
    ///
    /// If the same state has already had another answer, the language server has changed its mind: textEpoch moves on, or
    /// diagnosticsEpoch for diagnostics, so that cursors of the old set are stale (D24). If the workspace has moved on
    /// since, nothing is retained, and the first cursor will be stale (D23). `asked` is what a question for references asked.
    pub(crate) fn retain(
        &self,
        tool: Tool,
        request: &RequestKey,
        asked: Option<Asked>,
        moment: &Moment,
        found: Result<Arc<Retained>, ToolError>,
    ) -> Result<(SnapshotKey, Arc<Retained>), ToolError> {
        let fingerprint = found.as_ref().map_or(NO_SET, |retained| retained.fingerprint());
        let now = self.started.elapsed();
        let mut state = self.state();
        let mut epochs = moment.epochs;
        let mut key = moment.snapshot_key(tool, request);
        let is_current = key == state.now.snapshot_key(tool, request);
        if let Some(epoch) = state.history.contradicted(&key, fingerprint, &state.now.epochs) {
            state.now.epochs.bump(epoch);
            if is_current {
                epochs = state.now.epochs;
                key = state.now.snapshot_key(tool, request);
            }
        }
        state.history.remember(key.clone(), Remembered { tool, epochs, fingerprint });
        let retained = found?;
        if is_current {
            let origin = asked.map(|Asked { document, position, include_declaration }| {
                Arc::new(Origin { request: request.clone(), document, position, include_declaration, epochs })
            });
            state.snapshots.retain_from(key.clone(), origin, Arc::clone(&retained), now)?;
        } else {
            retained.check_weight()?;
        }
        Ok((key, retained))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic leaves the state half changed, so a poisoned lock still guards a whole value.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put_in_force(&mut self, roots: Arc<AllowedRoots>) {
        if self.now.roots != roots {
            self.now.roots = roots;
            self.now.epochs.bump(Epoch::Roots);
        }
    }
}

fn resolve(folders: &[PathBuf]) -> AllowedRoots {
    let roots = AllowedRoots::resolve(folders, &Disk);
    if roots.unresolved() > 0 {
        tracing::warn!(folders = roots.unresolved(), "allowed folders that do not exist are left out");
    }
    roots
}

impl Moment {
    fn snapshot_key(&self, tool: Tool, request: &RequestKey) -> SnapshotKey {
        SnapshotKey::derive(tool, request, self.roots.key(), &self.epochs)
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use gateway_core::belief::Belief;
    use gateway_core::location::{RawLocation, RawLocations};
    use gateway_core::position::Range;

    use super::*;

    const PLACE: Position = Position { line: 3, character: 4 };

    /// A workspace that holds the references of one place in a file, and a question for their page.
    struct Held {
        _folder: tempfile::TempDir,
        base: PathBuf,
        workspace: Workspace,
        request: RequestKey,
        input: references::Input,
    }

    fn held() -> Held {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        fs::create_dir_all(base.join("root/src")).expect("folders");
        fs::write(base.join("root/src/a.ts"), "").expect("a file");
        let workspace = Workspace::new(&[base.join("root")], 1);
        let (moment, document) =
            workspace.admit_at_once(&format!("file://{}/root/src/a.ts", base.display())).expect("it was just made");
        let uri = document.uri.as_str().to_owned();
        let items = (0..9).map(|line| {
            let place = Position { line, character: 0 };
            RawLocation { uri: 0, range: Range { start: place, end: place } }
        });
        let raw = RawLocations { uris: vec![uri.clone()], items: items.collect(), without_range: 0 };
        let set = references::canonicalize(&raw, &[], Belief::Confirmed, &moment.roots, &Disk).map(Arc::new);
        let request = RequestKey::references(&document.uri, PLACE, true);
        let asked = Asked { document, position: PLACE, include_declaration: true };
        let (snapshot, _) =
            workspace.retain(Tool::References, &request, Some(asked), &moment, set).expect("it is small");
        let cursor = Cursor { offset: 2, request: request.clone(), snapshot }.mint();
        let input = references::Input {
            uri,
            position: PLACE,
            include_declaration: true,
            page_size: None,
            cursor: Some(cursor),
        };
        Held { _folder: folder, base, workspace, request, input }
    }

    impl Held {
        /// What the way of all other calls tells of the page.
        fn long(&self) -> Option<(Cursor, Arc<Retained>)> {
            let references::Input { uri, position, include_declaration, cursor, .. } = &self.input;
            let document = self.look_at_roots().roots.admit(uri, &Disk).ok()?;
            let document = Some(document).filter(|document| document.real_path.is_file())?;
            let request = RequestKey::references(&document.uri, *position, *include_declaration);
            self.workspace.resume(Tool::References, &request, cursor.as_deref()?).ok()
        }

        fn look_at_roots(&self) -> Moment {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(self.workspace.look_at_roots())
        }

        fn short(&self) -> Option<(Cursor, Arc<Retained>)> {
            self.workspace.resume_at_once(&self.input)
        }

        fn is_found(&self) -> bool {
            let (short, long) = (self.short(), self.long());
            assert_eq!(short, long);
            short.is_some()
        }
    }

    #[test]
    fn a_page_that_is_found_at_once_is_the_one_that_is_found_the_long_way() {
        let held = held();
        assert!(held.is_found());
        held.workspace.bump(Epoch::Diagnostics);
        assert!(held.is_found(), "diagnostics do not change references");
    }

    #[test]
    fn whatever_else_is_asked_is_not_taken_for_it() {
        let changes: [fn(&mut references::Input, &RequestKey); 7] = [
            |input, _| input.position.line += 1,
            |input, _| input.position.character += 1,
            |input, _| input.include_declaration = false,
            |input, _| input.uri.push('x'),
            |input, _| input.cursor = None,
            |input, _| input.cursor.as_mut().expect("there is one").insert(0, 'x'),
            |input, request| {
                let cursor = Cursor::decode(input.cursor.as_deref().expect("there is one"), request);
                let other = RequestKey::workspace_diagnostics();
                input.cursor = Some(Cursor { request: other, ..cursor.expect("it is of this request") }.mint());
            },
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let mut held = held();
            change(&mut held.input, &held.request);
            assert!(!held.is_found(), "change {at}");
        }
    }

    #[test]
    fn a_page_from_before_a_change_is_not_found() {
        for epoch in [Epoch::Roots, Epoch::Text, Epoch::Fs] {
            let held = held();
            held.workspace.bump(epoch);
            assert!(!held.is_found(), "{epoch:?}");
        }
        let held = held();
        held.workspace.configure(&[held.base.join("root/src")]);
        assert!(!held.is_found(), "other roots");
    }

    #[test]
    fn the_disk_is_looked_at_each_time() {
        let gone = held();
        fs::remove_file(gone.base.join("root/src/a.ts")).expect("it goes");
        assert!(!gone.is_found());

        let folder = held();
        fs::remove_file(folder.base.join("root/src/a.ts")).expect("it goes");
        fs::create_dir(folder.base.join("root/src/a.ts")).expect("a folder comes");
        assert!(!folder.is_found());

        let led_elsewhere = held();
        fs::rename(led_elsewhere.base.join("root/src"), led_elsewhere.base.join("elsewhere")).expect("it moves");
        symlink(led_elsewhere.base.join("elsewhere"), led_elsewhere.base.join("root/src")).expect("a link comes");
        assert!(!led_elsewhere.is_found(), "a file outside through a link");

        let root = held();
        fs::rename(root.base.join("root"), root.base.join("elsewhere")).expect("it moves");
        symlink(root.base.join("elsewhere"), root.base.join("root")).expect("a link comes");
        assert!(!root.is_found(), "the root itself has become a link");
    }
}
