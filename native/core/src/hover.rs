//! Hovers as an editor returned them.

use crate::position::Range;

/// The fragments of all hovers at one position. Texts are interned: an item names its texts by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawHovers {
    /// The distinct texts.
    pub strings: Vec<String>,
    /// The fragments, in the providers' order.
    pub items: Vec<RawHoverFragment>,
}

/// One fragment of the contents of one hover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawHoverFragment {
    /// What its hover says that it is about; the same for each fragment of that hover.
    pub range: Option<Range>,
    /// Index of the language that the value is code of; nothing if the value is Markdown.
    pub language: Option<u32>,
    /// Index of the value.
    pub value: u32,
}
