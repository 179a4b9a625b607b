//! Locations: as an editor returned them, and as the contract returns them (sections 3.4 and 4.2).

use crate::position::Range;

/// Locations as an editor returned them. URIs repeat, so they are interned: an item names its URI by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawLocations {
    /// The distinct URIs.
    pub uris: Vec<String>,
    /// The locations, in the provider's order.
    pub items: Vec<RawLocation>,
    /// How many more there are that have no range.
    pub without_range: usize,
}

/// One location of [`RawLocations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawLocation {
    /// Index into [`RawLocations::uris`].
    pub uri: u32,
    /// The range in that document.
    pub range: Range,
}

/// Definitions or declarations as an editor returned them: `Location` and `LocationLink`, mixed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawTargets {
    /// The distinct URIs.
    pub uris: Vec<String>,
    /// The targets, in the provider's order.
    pub items: Vec<RawTarget>,
    /// How many more there are that have no range.
    pub without_range: usize,
}

/// One target of [`RawTargets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawTarget {
    /// Index into [`RawTargets::uris`].
    pub uri: u32,
    /// A location's `range`, or a link's `targetRange`.
    pub range: Range,
    /// A link's `targetSelectionRange`.
    pub selection: Option<Range>,
}
