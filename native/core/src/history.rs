//! What snapshot keys stood for, whether or not their sets are still held (D24, D35).

use std::num::NonZeroUsize;

use clru::CLruCache;

use crate::epochs::{Epoch, Epochs, Relevant};
use crate::keys::SnapshotKey;

/// How many snapshot keys are remembered (D35).
const MAX_REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

/// What the last snapshot keys stood for: so that a stale cursor can be told what moved (D35), and so that no key ever
/// stands for two sets, also when the first is no longer held (D24).
#[derive(Debug)]
pub struct EpochHistory {
    remembered: CLruCache<SnapshotKey, Remembered>,
}

/// The state and the set that a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    /// What the set depends on.
    pub relevant: Relevant,
    /// The state of the workspace.
    pub epochs: Epochs,
    /// The fingerprint of the set.
    pub fingerprint: u64,
}

impl Default for EpochHistory {
    fn default() -> Self {
        Self { remembered: CLruCache::new(MAX_REMEMBERED) }
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
            return (known.fingerprint != fingerprint).then(|| opinion_of(known.relevant));
        }
        let (_, oldest) = self.remembered.back().filter(|_| self.remembered.len() == MAX_REMEMBERED.get())?;
        now.changed_since(&oldest.epochs, oldest.relevant).is_empty().then(|| opinion_of(oldest.relevant))
    }

    /// What moved since the key was derived; empty if that is no longer known.
    pub fn changed_since(&self, key: &SnapshotKey, now: &Epochs) -> Vec<Epoch> {
        let known = self.remembered.peek(key);
        known.map(|earlier| now.changed_since(&earlier.epochs, earlier.relevant)).unwrap_or_default()
    }
}

/// The epoch that stands for what language servers hold true, where no event told of a change (D24).
fn opinion_of(relevant: Relevant) -> Epoch {
    if relevant.contains(&Epoch::Diagnostics) { Epoch::Diagnostics } else { Epoch::Text }
}
