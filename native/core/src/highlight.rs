//! Highlights as language servers returned them.

use serde::Serialize;

use crate::position::Range;

/// LSP's number of a kind of highlight: 1 (text), 2 (read) or 3 (written) (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct HighlightKind(u32);

impl HighlightKind {
    /// The kind with this number of LSP, if there is one.
    pub fn of_lsp(number: u32) -> Option<Self> {
        (1..=3).contains(&number).then_some(Self(number))
    }
}

/// Places in one document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawHighlights {
    /// Texts, of which highlights have none.
    pub strings: Vec<String>,
    /// Each place, and of what kind it is if the server tells.
    pub items: Vec<(Range, Option<HighlightKind>)>,
    /// How many more there are that have no range.
    pub without_range: usize,
}
