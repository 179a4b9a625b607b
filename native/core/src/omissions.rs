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
    /// Symbols in files that were not looked at.
    pub not_looked_at: usize,
    /// Symbols without a name (D17).
    pub without_name: usize,
    /// Symbols without a range (D14).
    pub without_range: usize,
    /// Diagnostics without a range or a message.
    pub incomplete: usize,
    /// Items that are listed, and nothing tells in which symbol: their files were not outlined.
    pub without_symbol: usize,
    /// Diagnostics beyond those that the group of one file may have (contract section 7.7).
    pub beyond_file: usize,
    /// Diagnostics of a page of one file that do not fit the response (D16).
    pub beyond_response: usize,
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
            not_looked_at,
            without_name,
            without_range,
            incomplete,
            without_symbol,
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
            (not_looked_at, format!("{not_looked_at} in files that were not looked at")),
            (without_name, format!("{without_name} without a name")),
            (without_range, format!("{without_range} without a range")),
            (incomplete, format!("{incomplete} {} without a range or a message", diagnostics(incomplete))),
            (
                beyond_file,
                format!("{beyond_file} {} beyond the first {MAX_ITEMS_NONPAGED} of a file", diagnostics(beyond_file)),
            ),
            (beyond_response, format!("{beyond_response} {} too many for one response", diagnostics(beyond_response))),
        ];
        if without_symbol > 0 {
            write!(formatter, "; {without_symbol} in files beyond the first {MAX_OUTLINED}, without their symbol")?;
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
