//! How far an answer can be believed to be complete (D28).

use std::fmt;

/// Whether anything has shown that who answered was ready to answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Completeness {
    /// The language server has shown that it is ready.
    #[default]
    Confirmed,
    /// Nothing has shown it, so what was found may be a part.
    Unconfirmed,
}

impl Completeness {
    /// The weaker of the two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == Self::Confirmed { other } else { self }
    }
}

/// The end of a summary, before its full stop.
impl fmt::Display for Completeness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confirmed => Ok(()),
            Self::Unconfirmed => {
                formatter.write_str("; no language server has shown that it is ready, so there may be more")
            }
        }
    }
}
