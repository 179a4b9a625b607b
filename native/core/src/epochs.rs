//! The counters of workspace state (contract section 3.6.2).

use std::fmt;

use serde::Serialize;

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

/// The kinds of state that an answer depends on, in the contract's order.
pub type Relevant = &'static [Epoch];

/// What answers about symbols depend on.
pub const OF_SYMBOLS: Relevant = &[Epoch::Roots, Epoch::Text, Epoch::Fs];
/// What answers about diagnostics depend on.
pub const OF_DIAGNOSTICS: Relevant = &[Epoch::Roots, Epoch::Fs, Epoch::Diagnostics];

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

    /// Which of the relevant counters are not what they were, in the contract's order.
    pub fn changed_since(&self, earlier: &Self, relevant: Relevant) -> Vec<Epoch> {
        relevant.iter().copied().filter(|&epoch| self.get(epoch) != earlier.get(epoch)).collect()
    }

    /// The contract's epoch tuple: the relevant counters, joined by commas.
    pub(crate) fn tuple_of(&self, relevant: Relevant) -> EpochTuple<'_> {
        EpochTuple { epochs: self, relevant }
    }

    /// These epochs with those at 0 that no question can be outdated by whose answer depends on `relevant`. What is typed
    /// outdates diagnostics before anybody publishes others.
    #[must_use]
    pub fn that_outdate_a_question(self, relevant: Relevant) -> Self {
        if relevant.contains(&Epoch::Diagnostics) { self } else { Self { diagnostics: 0, ..self } }
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

/// An epoch tuple, as its text.
pub(crate) struct EpochTuple<'a> {
    epochs: &'a Epochs,
    relevant: Relevant,
}

impl fmt::Display for EpochTuple<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, &epoch) in self.relevant.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{}", self.epochs.get(epoch))?;
        }
        Ok(())
    }
}
