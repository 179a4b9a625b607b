//! What answers for a language, and how far it has come.

/// How far a language has come. Whoever is asked says it of itself, or it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It has shown that it is ready.
    Ready,
    /// It is loading.
    Loading,
    /// It starts with the first question.
    Idle,
    /// It cannot be asked.
    Unavailable,
    /// Nothing shows it.
    Unknown,
}

impl Stage {
    const ALL: [Self; 5] = [Self::Ready, Self::Loading, Self::Idle, Self::Unavailable, Self::Unknown];

    /// The one of this number, by which it crosses from an editor: from 0, in the order in which they stand here.
    pub fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// As answers name it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Loading => "loading",
            Self::Idle => "idle",
            Self::Unavailable => "unavailable",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn words() -> [&'static str; 5] {
        Self::ALL.map(Self::word)
    }
}

/// What answers for languages. Texts are interned: an item names them by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawStatus {
    /// The distinct texts.
    pub strings: Vec<String>,
    /// Whoever answers for a language.
    pub items: Vec<RawServer>,
}

/// One item of [`RawStatus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawServer {
    /// Index of the language.
    pub language: u32,
    /// Index of the name of what answers for it, with its version, if that is known.
    pub by: Option<u32>,
    /// How far it has come.
    pub stage: Stage,
    /// Index of why it cannot be asked.
    pub why: Option<u32>,
    /// Index of what it cannot be asked, if that is known.
    pub cannot: Option<u32>,
}
