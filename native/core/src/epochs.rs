//! The counters of workspace state (contract section 3.6.2).

use std::num::NonZeroUsize;

use clru::CLruCache;
use serde::Serialize;

use crate::keys::SnapshotKey;
use crate::tools::Tool;

/// The kinds of workspace state, in the contract's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Epoch {
    /// The workspace folders and allowed roots.
    Roots,
    /// Open text documents.
    Text,
    /// Files on disk.
    Fs,
    /// Published diagnostics.
    Diagnostics,
}

/// All counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Epochs {
    /// Changes of the workspace folders and allowed roots. It starts from the clock (D25).
    pub roots: u64,
    /// Changes of open text documents (D20).
    pub text: u64,
    /// Changes of files on disk (D22).
    pub fs: u64,
    /// Changes of published diagnostics (D37).
    pub diagnostics: u64,
}

impl Epochs {
    /// Counts one change.
    pub fn bump(&mut self, epoch: Epoch) {
        let counter = match epoch {
            Epoch::Roots => &mut self.roots,
            Epoch::Text => &mut self.text,
            Epoch::Fs => &mut self.fs,
            Epoch::Diagnostics => &mut self.diagnostics,
        };
        *counter = counter.wrapping_add(1);
    }

    /// Which of the counters that can change this tool's result are not what they were, in the contract's order.
    pub fn changed_since(&self, earlier: &Self, tool: Tool) -> Vec<Epoch> {
        relevant_to(tool).iter().copied().filter(|&epoch| self.get(epoch) != earlier.get(epoch)).collect()
    }

    /// The contract's epoch tuple of a tool: the counters that can change its result, joined by commas.
    pub(crate) fn tuple_of(&self, tool: Tool) -> String {
        let counters: Vec<String> = relevant_to(tool).iter().map(|&epoch| self.get(epoch).to_string()).collect();
        counters.join(",")
    }

    fn get(&self, epoch: Epoch) -> u64 {
        match epoch {
            Epoch::Roots => self.roots,
            Epoch::Text => self.text,
            Epoch::Fs => self.fs,
            Epoch::Diagnostics => self.diagnostics,
        }
    }
}

fn relevant_to(tool: Tool) -> &'static [Epoch] {
    match tool {
        Tool::Definition | Tool::References | Tool::Hover | Tool::DocumentSymbols | Tool::WorkspaceSymbols => {
            &[Epoch::Roots, Epoch::Text, Epoch::Fs]
        }
        Tool::DiagnosticsDocument | Tool::DiagnosticsWorkspace => &[Epoch::Roots, Epoch::Fs, Epoch::Diagnostics],
    }
}

/// How many snapshot keys are remembered (D35).
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

/// The epochs of the last snapshot keys that were derived, so that a stale cursor can be told what moved (D35).
#[derive(Debug)]
pub struct EpochHistory {
    epochs: CLruCache<SnapshotKey, Epochs>,
}

impl Default for EpochHistory {
    fn default() -> Self {
        Self { epochs: CLruCache::new(REMEMBERED) }
    }
}

impl EpochHistory {
    /// Remembers the epochs that a key stands for, and forgets the oldest if there are too many.
    pub fn remember(&mut self, key: SnapshotKey, epochs: Epochs) {
        self.epochs.put(key, epochs);
    }

    /// What moved since the key was derived; empty if that is no longer known.
    pub fn changed_since(&self, key: &SnapshotKey, now: &Epochs, tool: Tool) -> Vec<Epoch> {
        self.epochs.peek(key).map(|earlier| now.changed_since(earlier, tool)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> SnapshotKey {
        SnapshotKey::claimed(number.to_string())
    }

    #[test]
    fn each_tool_depends_on_the_epochs_that_the_contract_names() {
        let mut epochs = Epochs { roots: 1, text: 2, fs: 3, diagnostics: 4 };
        assert_eq!(epochs.tuple_of(Tool::References), "1,2,3");
        assert_eq!(epochs.tuple_of(Tool::WorkspaceSymbols), "1,2,3");
        assert_eq!(epochs.tuple_of(Tool::DiagnosticsWorkspace), "1,3,4");

        let before = epochs;
        for epoch in [Epoch::Diagnostics, Epoch::Fs, Epoch::Text, Epoch::Roots] {
            epochs.bump(epoch);
        }
        assert_eq!(epochs, Epochs { roots: 2, text: 3, fs: 4, diagnostics: 5 });
        let changed = epochs.changed_since(&before, Tool::References);
        assert_eq!(changed, [Epoch::Roots, Epoch::Text, Epoch::Fs]);
        let changed = epochs.changed_since(&before, Tool::DiagnosticsWorkspace);
        assert_eq!(changed, [Epoch::Roots, Epoch::Fs, Epoch::Diagnostics]);
    }

    #[test]
    fn the_last_1024_keys_are_remembered() {
        let mut history = EpochHistory::default();
        let now = Epochs { text: 1, ..Epochs::default() };
        for number in 0..=1_024 {
            history.remember(key(number), Epochs::default());
        }
        let changed = |number| history.changed_since(&key(number), &now, Tool::References);
        assert_eq!(changed(0), []);
        assert_eq!(changed(1), [Epoch::Text]);
        assert_eq!(changed(1_024), [Epoch::Text]);
    }
}
