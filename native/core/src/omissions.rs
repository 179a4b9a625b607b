//! What was left out of an answer: its summary always tells how much, and never what (D15).

use std::fmt;

use crate::limits::{MAX_ITEMS_NONPAGED, MAX_OUTLINED};

/// How many items were left out, and why. An item counts once, by the first reason that it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Omissions {
    /// Items that lie outside the allowed roots, or would if they existed.
    pub outside: usize,
    /// Items in a file that would lie inside the allowed roots and does not exist (D14).
    pub missing: usize,
    /// Items in files that the caller did not ask for.
    pub other_paths: usize,
    /// Symbols that fit a name less well than others.
    pub other_names: usize,
    /// Symbols of other kinds than those that the caller asked for.
    pub other_kinds: usize,
    /// Symbols that have the name, and another number among those.
    pub other_numbers: usize,
    /// Symbols in files that were not looked at.
    pub not_looked_at: usize,
    /// Symbols that a search has found, and the outlines of their files do not have.
    pub not_outlined: usize,
    /// Files that were not looked through for the name: at least so many.
    pub unsearched: usize,
    /// Symbols without a name (D17).
    pub without_name: usize,
    /// Symbols without a range (D14).
    pub without_range: usize,
    /// Diagnostics without a range or a message.
    pub incomplete: usize,
    /// Items that are listed, and nothing tells in which symbol: their files were not outlined.
    pub without_symbol: usize,
    /// Items that are listed without the line that was asked for, which nobody could read.
    pub without_line: usize,
    /// Diagnostics beyond those that the group of one file may have (contract section 7.7).
    pub beyond_file: usize,
    /// Diagnostics of a page of one file that do not fit the response (D16).
    pub beyond_response: usize,
}

impl Omissions {
    /// For each reason the greater number: what several looks at the same have left out.
    #[must_use]
    pub fn or_more(self, other: &Self) -> Self {
        Self {
            outside: self.outside.max(other.outside),
            missing: self.missing.max(other.missing),
            other_paths: self.other_paths.max(other.other_paths),
            other_names: self.other_names.max(other.other_names),
            other_kinds: self.other_kinds.max(other.other_kinds),
            other_numbers: self.other_numbers.max(other.other_numbers),
            not_looked_at: self.not_looked_at.max(other.not_looked_at),
            not_outlined: self.not_outlined.max(other.not_outlined),
            unsearched: self.unsearched.max(other.unsearched),
            without_name: self.without_name.max(other.without_name),
            without_range: self.without_range.max(other.without_range),
            incomplete: self.incomplete.max(other.incomplete),
            without_symbol: self.without_symbol.max(other.without_symbol),
            without_line: self.without_line.max(other.without_line),
            beyond_file: self.beyond_file.max(other.beyond_file),
            beyond_response: self.beyond_response.max(other.beyond_response),
        }
    }
}

/// The end of a summary, before its full stop.
impl fmt::Display for Omissions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        let Self {
            outside,
            missing,
            other_paths,
            other_names,
            other_kinds,
            other_numbers,
            not_looked_at,
            not_outlined,
            unsearched,
            without_name,
            without_range,
            incomplete,
            without_symbol,
            without_line,
            beyond_file,
            beyond_response,
        } = *self;
        let diagnostics = |count| if count == 1 { "diagnostic" } else { "diagnostics" };
        let reasons = [
            (outside, format!("{outside} outside the allowed roots")),
            (
                missing,
                format!(
                    "{missing} in {}",
                    if missing == 1 { "a file that does not exist" } else { "files that do not exist" }
                ),
            ),
            (other_paths, format!("{other_paths} in other paths")),
            (
                other_names,
                format!(
                    "{other_names} with {}",
                    if other_names == 1 { "a name that fits less" } else { "names that fit less" }
                ),
            ),
            (
                other_kinds,
                format!("{other_kinds} of {}", if other_kinds == 1 { "another kind" } else { "other kinds" }),
            ),
            (
                other_numbers,
                format!("{other_numbers} with {}", if other_numbers == 1 { "another number" } else { "other numbers" }),
            ),
            (not_looked_at, format!("{not_looked_at} in files that were not looked at")),
            (not_outlined, format!("{not_outlined} that no outline has")),
            (without_name, format!("{without_name} without a name")),
            (without_range, format!("{without_range} without a range")),
            (incomplete, format!("{incomplete} {} without a range or a message", diagnostics(incomplete))),
            (
                beyond_file,
                format!("{beyond_file} {} beyond the first {MAX_ITEMS_NONPAGED} of a file", diagnostics(beyond_file)),
            ),
            (beyond_response, format!("{beyond_response} {} too many for one response", diagnostics(beyond_response))),
        ];
        if unsearched > 0 {
            let files = if unsearched == 1 { "file was" } else { "files were" };
            write!(formatter, "; at least {unsearched} {files} not searched for it")?;
        }
        if without_symbol > 0 {
            write!(formatter, "; {without_symbol} in files beyond the first {MAX_OUTLINED}, without their symbol")?;
        }
        if without_line > 0 {
            let lines = if without_line == 1 { "its line" } else { "their lines" };
            write!(formatter, "; {without_line} without {lines}, which could not be read")?;
        }
        let told: Vec<_> = reasons.iter().filter(|(count, _)| *count > 0).map(|(_, text)| text.as_str()).collect();
        let Some((last, before)) = told.split_last() else {
            return Ok(());
        };
        let all = if before.is_empty() { (*last).to_owned() } else { format!("{} and {last}", before.join(", ")) };
        let were = if reasons.iter().map(|(count, _)| count).sum::<usize>() == 1 { "was" } else { "were" };
        write!(formatter, "; {all} {were} left out")
    }
}
