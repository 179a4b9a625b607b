//! The counters of workspace state (contract section 3.6.2).

use std::fmt;
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

    /// Whether none of the counters that can change this tool's result is another.
    pub fn are_those_of(&self, earlier: &Self, tool: Tool) -> bool {
        relevant_to(tool).iter().all(|&epoch| self.get(epoch) == earlier.get(epoch))
    }

    /// The contract's epoch tuple of a tool: the counters that can change its result, joined by commas.
    pub(crate) fn tuple_of(&self, tool: Tool) -> EpochTuple<'_> {
        EpochTuple { epochs: self, tool }
    }

    /// These epochs with those at 0 that no ask of this tool can be outdated by. What is typed outdates diagnostics before
    /// anybody publishes others.
    #[must_use]
    pub fn that_concern_an_ask(self, tool: Tool) -> Self {
        if relevant_to(tool).contains(&Epoch::Diagnostics) { self } else { Self { diagnostics: 0, ..self } }
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

/// The epoch tuple of a tool, as its text.
pub(crate) struct EpochTuple<'a> {
    epochs: &'a Epochs,
    tool: Tool,
}

impl fmt::Display for EpochTuple<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &epoch) in relevant_to(self.tool).iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{}", self.epochs.get(epoch))?;
        }
        Ok(())
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

/// The epoch that stands for what language servers hold true, where no event told of a change (D24).
fn opinion_of(tool: Tool) -> Epoch {
    match tool {
        Tool::DiagnosticsDocument | Tool::DiagnosticsWorkspace => Epoch::Diagnostics,
        Tool::Definition | Tool::References | Tool::Hover | Tool::DocumentSymbols | Tool::WorkspaceSymbols => {
            Epoch::Text
        }
    }
}

/// How many snapshot keys are remembered (D35).
const MOST_REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

/// What the last snapshot keys stood for: so that a stale cursor can be told what moved (D35), and so that no key ever
/// stands for two sets, also when the first is no longer held (D24).
#[derive(Debug)]
pub struct EpochHistory {
    remembered: CLruCache<SnapshotKey, Remembered>,
}

/// The state and the set that a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    /// Whose set it is.
    pub tool: Tool,
    /// The state of the workspace.
    pub epochs: Epochs,
    /// The fingerprint of the set.
    pub fingerprint: u64,
}

impl Default for EpochHistory {
    fn default() -> Self {
        Self { remembered: CLruCache::new(MOST_REMEMBERED) }
    }
}

impl EpochHistory {
    /// Remembers what a key stands for, and forgets the oldest if there are too many.
    pub fn remember(&mut self, key: SnapshotKey, remembered: Remembered) {
        self.remembered.put(key, remembered);
    }

    /// Which epoch has to move on before the key may stand for a set with this fingerprint: if it stands for another
    /// already, or if remembering it would forget a key that is still in force and could then come to stand for two.
    pub fn contradicted(&self, key: &SnapshotKey, fingerprint: u64, now: &Epochs) -> Option<Epoch> {
        if let Some(known) = self.remembered.peek(key) {
            return (known.fingerprint != fingerprint).then(|| opinion_of(known.tool));
        }
        let (_, oldest) = self.remembered.back().filter(|_| self.remembered.len() == MOST_REMEMBERED.get())?;
        now.changed_since(&oldest.epochs, oldest.tool).is_empty().then(|| opinion_of(oldest.tool))
    }

    /// What moved since the key was derived; empty if that is no longer known.
    pub fn changed_since(&self, key: &SnapshotKey, now: &Epochs, tool: Tool) -> Vec<Epoch> {
        self.remembered.peek(key).map(|earlier| now.changed_since(&earlier.epochs, tool)).unwrap_or_default()
    }
}
