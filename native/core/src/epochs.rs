//! The counters of workspace state (contract section 3.6.2).

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
