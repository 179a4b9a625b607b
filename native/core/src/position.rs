//! Positions and ranges as LSP counts them: 0-based lines, 0-based UTF-16 characters (contract section 3.3).

use serde::{Deserialize, Serialize};

/// The largest line or character that the contract's numbers can hold (D10).
pub const MAX_COORDINATE: u32 = 0x7fff_ffff;

/// A place between two UTF-16 units of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// 0-based line.
    pub line: u32,
    /// 0-based offset in the line, in UTF-16 units.
    pub character: u32,
}

/// A half-open span of a document. Its order is the contract's range order: start, then end (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Range {
    /// The first place inside.
    pub start: Position,
    /// The first place after.
    pub end: Position,
}
