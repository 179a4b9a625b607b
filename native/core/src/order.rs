//! The orders that the contract asks for where Rust's own differ.

use std::cmp::Ordering;

/// A text that is ordered by its UTF-16 code units, as JavaScript's `<` orders it (D4). Rust compares bytes, which puts
/// U+E000 to U+FFFF before what lies beyond them; UTF-16 puts them after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.encode_utf16().cmp(other.0.encode_utf16())
    }
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Something optional that comes last where it is missing (contract section 4.2); an `Option` would come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MissingLast<T> {
    Present(T),
    Missing,
}

impl<T> MissingLast<T> {
    pub(crate) fn present(self) -> Option<T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Missing => None,
        }
    }
}

impl<T> From<Option<T>> for MissingLast<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Self::Present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_ordered_by_utf16_code_units() {
        // As [...].sort() of JavaScript orders them.
        let ordered = ["", "A", "Z", "a", "aa", "é", "\u{d7ff}", "😀", "😁", "\u{e000}", "\u{ffee}"];
        assert!(ordered.is_sorted_by(|before, after| Text(before) < Text(after)));
    }

    #[test]
    fn what_is_missing_comes_last() {
        assert!(MissingLast::Present(u32::MAX) < MissingLast::Missing);
        assert!(MissingLast::Present(1) < MissingLast::Present(2));
    }
}
