//! The two places where state lives: the current epochs with the allowed roots, and the retained snapshots.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epoch, Epochs, Relevant};
use gateway_core::error::ToolError;
use gateway_core::history::{EpochHistory, Remembered};
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::roots::{AllowedRoots, Document};
use gateway_core::snapshots::{Retained, Snapshots};

use crate::disk::{AtOnce, Disk};
use crate::root_probe::{Permit, RootProbe};

/// Stands in for the fingerprint of a set that could not be made, such as one with too many items.
const NO_SET: u64 = 0;

/// The workspace at one moment: what is allowed, and which state an answer given now belongs to.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceVersion {
    /// The roots in force.
    pub(crate) roots: Arc<AllowedRoots>,
    /// The epochs read together with them.
    pub(crate) epochs: Epochs,
    /// The roots on disks that do not answer, by all their names. They are not in force.
    pub(crate) silent: Arc<[PathBuf]>,
}

/// Current epochs, allowed roots and retained snapshots.
#[derive(Debug)]
pub(crate) struct Workspace {
    state: Mutex<State>,
    looks: RootProbe,
    /// The files that answers have named lately, by their real paths.
    named: Mutex<Vec<PathBuf>>,
    started: Instant,
}

#[derive(Debug)]
struct State {
    /// The roots as they were resolved when they were configured.
    configured: Arc<AllowedRoots>,
    now: WorkspaceVersion,
    history: EpochHistory,
    snapshots: Snapshots,
}

impl Workspace {
    /// A workspace with these roots. Blocks while they are resolved.
    pub(crate) fn new(folders: &[PathBuf], roots_epoch: u64) -> Self {
        let configured = Arc::new(resolve(folders));
        let epochs = Epochs { roots: roots_epoch, ..Epochs::default() };
        let state = State {
            now: WorkspaceVersion { roots: Arc::clone(&configured), epochs, silent: Arc::default() },
            configured,
            history: EpochHistory::default(),
            snapshots: Snapshots::default(),
        };
        Self { state: Mutex::new(state), looks: RootProbe::default(), named: Mutex::default(), started: Instant::now() }
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
    pub(crate) fn now(&self) -> WorkspaceVersion {
        self.state().now.clone()
    }

    /// The document at `uri` and the workspace as it is now, if the system can tell without waiting for a disk that it is
    /// a regular file inside the roots in force, that these are all where they were when they were configured, and that the
    /// others still do not answer.
    pub(crate) fn admit_at_once(&self, uri: &str) -> Option<(WorkspaceVersion, Document)> {
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

    /// Looks whether the roots are still where they were when they were configured, and returns the workspace as it is
    /// now. A root on a disk that does not answer is not in force until it does.
    pub(crate) async fn look_at_roots(&self) -> WorkspaceVersion {
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
    pub(crate) async fn permit_for_document(&self, uri: &str) -> Result<Permit, ToolError> {
        let configured = Arc::clone(&self.state().configured);
        self.looks.permit_for_document(configured.folder_of(uri).map(|folder| folder.known_as)).await
    }

    /// Waits for the turn to look up the paths of an answer.
    pub(crate) async fn permit_for_answer(&self) -> Result<Permit, ToolError> {
        self.looks.permit_for_answer().await
    }

    /// The retained set that a cursor pages through, with the cursor (contract section 3.6).
    pub(crate) fn resume(
        &self,
        relevant: Relevant,
        request: &RequestKey,
        cursor: &str,
    ) -> Result<(Cursor, Arc<Retained>), ToolError> {
        let cursor = Cursor::decode(cursor, request)?;
        let now = self.started.elapsed();
        let mut state = self.state();
        let current = state.now.snapshot_key(relevant, request);
        if cursor.snapshot != current {
            let changed = state.history.changed_since(&cursor.snapshot, &state.now.epochs);
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
    /// since, nothing is retained, and the first cursor will be stale (D23).
    pub(crate) fn retain(
        &self,
        relevant: Relevant,
        request: &RequestKey,
        moment: &WorkspaceVersion,
        found: Result<Arc<Retained>, ToolError>,
    ) -> Result<(SnapshotKey, Arc<Retained>), ToolError> {
        let fingerprint = found.as_ref().map_or(NO_SET, |retained| retained.fingerprint());
        let now = self.started.elapsed();
        let mut state = self.state();
        let mut epochs = moment.epochs;
        let mut key = moment.snapshot_key(relevant, request);
        let is_current = key == state.now.snapshot_key(relevant, request);
        if let Some(epoch) = state.history.contradicted(&key, fingerprint, &state.now.epochs) {
            state.now.epochs.bump(epoch);
            if is_current {
                epochs = state.now.epochs;
                key = state.now.snapshot_key(relevant, request);
            }
        }
        state.history.remember(key.clone(), Remembered { relevant, epochs, fingerprint });
        let retained = found?;
        if is_current {
            state.snapshots.retain(key.clone(), Arc::clone(&retained), now)?;
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

impl WorkspaceVersion {
    fn snapshot_key(&self, relevant: Relevant, request: &RequestKey) -> SnapshotKey {
        SnapshotKey::derive(relevant, request, self.roots.key(), &self.epochs)
    }
}
