//! The two places where state lives: the current epochs with the allowed roots, and the retained snapshots.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epoch, EpochHistory, Epochs};
use gateway_core::error::ToolError;
use gateway_core::keys::{RequestKey, SnapshotKey};
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::{Retained, Snapshots};
use gateway_core::tools::Tool;

use crate::disk::Disk;

/// The workspace at one moment: what is allowed, and which state an answer given now belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    /// The roots in force.
    pub(crate) roots: Arc<AllowedRoots>,
    /// The epochs read together with them.
    pub(crate) epochs: Epochs,
}

/// Current epochs, allowed roots and retained snapshots.
#[derive(Debug)]
pub(crate) struct Workspace {
    state: Mutex<State>,
    started: Instant,
}

#[derive(Debug)]
struct State {
    configured: Vec<PathBuf>,
    now: Moment,
    history: EpochHistory,
    snapshots: Snapshots,
}

impl Workspace {
    /// A workspace with these roots. Blocks while they are resolved.
    pub(crate) fn new(configured: Vec<PathBuf>, roots_epoch: u64) -> Self {
        let roots = Arc::new(AllowedRoots::resolve(&configured, &Disk));
        let epochs = Epochs { roots: roots_epoch, ..Epochs::default() };
        let state = State {
            configured,
            now: Moment { roots, epochs },
            history: EpochHistory::default(),
            snapshots: Snapshots::default(),
        };
        Self { state: Mutex::new(state), started: Instant::now() }
    }

    /// Replaces the configured roots. Blocks while they are resolved.
    pub(crate) fn configure(&self, configured: Vec<PathBuf>) {
        self.state().configured = configured;
        self.look_at_roots();
    }

    /// Counts one change of the workspace.
    pub(crate) fn bump(&self, epoch: Epoch) {
        self.state().now.epochs.bump(epoch);
    }

    /// The workspace as last known, without looking at the disk.
    pub(crate) fn now(&self) -> Moment {
        self.state().now.clone()
    }

    /// Resolves the configured roots again, since a root may have been moved or replaced by another folder, and returns
    /// the workspace as it is now. Blocks.
    pub(crate) fn look_at_roots(&self) -> Moment {
        let configured = self.state().configured.clone();
        let roots = AllowedRoots::resolve(&configured, &Disk);
        let mut state = self.state();
        // Another configuration may have come while these were resolved; whoever brought it resolves it.
        if state.configured == configured && *state.now.roots != roots {
            state.now.roots = Arc::new(roots);
            state.now.epochs.bump(Epoch::Roots);
        }
        state.now.clone()
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

    /// Retains a set that was computed at `moment`, and returns the key that its cursors carry.
    ///
    /// If the same state already has another set, the language server has changed its mind: textEpoch moves on, so that
    /// cursors of the old set are stale (D24). If the workspace has moved on since, nothing is retained, and the first
    /// cursor will be stale (D23).
    pub(crate) fn retain(
        &self,
        tool: Tool,
        request: &RequestKey,
        moment: &Moment,
        retained: &Arc<Retained>,
    ) -> Result<SnapshotKey, ToolError> {
        let now = self.started.elapsed();
        let mut state = self.state();
        let mut key = moment.snapshot_key(tool, request);
        state.history.remember(key.clone(), moment.epochs);
        if key != state.now.snapshot_key(tool, request) {
            retained.check_weight()?;
            return Ok(key);
        }
        if state.snapshots.get(&key, now).is_some_and(|held| held != *retained) {
            state.now.epochs.bump(Epoch::Text);
            key = state.now.snapshot_key(tool, request);
            let epochs = state.now.epochs;
            state.history.remember(key.clone(), epochs);
        }
        state.snapshots.retain(key.clone(), Arc::clone(retained), now)?;
        Ok(key)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic leaves the state half changed, so a poisoned lock still guards a whole value.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Moment {
    fn snapshot_key(&self, tool: Tool, request: &RequestKey) -> SnapshotKey {
        SnapshotKey::derive(tool, request, self.roots.key(), &self.epochs)
    }
}
