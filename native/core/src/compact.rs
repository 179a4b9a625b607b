//! Lists in few tokens: files by their paths below a root, places as short texts, and pages that are filled up to a budget of
//! tokens.

use std::ops::Range as Run;

use serde_json::Value;

use crate::canonical::CanonicalSet;
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::keys::state_of;
use crate::limits::{DEFAULT_PAGE_TOKENS, MAX_PAGE_TOKENS};
use crate::page::{Payload, ResponseBudget, WantedPage};
use crate::tokens::estimate;

/// How many tokens a cursor takes.
const CURSOR_TOKENS: usize = 150;
/// What closes a group.
const AFTER_GROUP: &str = "]}";

/// What surrounds the items of a set on each of its pages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Where paths begin, as a member of JSON or nothing, with its comma.
    roots: String,
    /// The members before the items, up to the bracket that opens their list.
    opening: String,
    /// The groups, in order: none if the items stand in the list themselves.
    groups: Box<[Group]>,
    /// What tells the full result from others.
    state: String,
    /// What the items are called: one, and many.
    nouns: (&'static str, &'static str),
}

/// Items that stand together under a heading.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    /// The index of its first item.
    pub(crate) first: usize,
    /// What stands before its items.
    pub(crate) opening: String,
}

impl Frame {
    /// The frame of a full set. `opening` has the members before the list and its name, such as `"uses":3,"files":[`.
    pub(crate) fn of(
        set: &CanonicalSet,
        roots: String,
        opening: String,
        groups: Vec<Group>,
        nouns: (&'static str, &'static str),
    ) -> Self {
        let mut frame = Self { roots, opening, groups: groups.into(), state: String::new(), nouns };
        let mut whole = format!("{{{}", frame.opening).into_bytes();
        frame.write(set, 0..set.len(), &mut whole);
        whole.extend_from_slice(AFTER_GROUP.as_bytes());
        frame.state = state_of(&whole);
        frame
    }

    /// How many bytes it takes to hold it.
    pub(crate) fn weight(&self) -> usize {
        let groups: usize = self.groups.iter().map(|group| size_of_val(group) + group.opening.len()).sum();
        self.roots.len() + self.opening.len() + groups
    }

    /// The page at the cursor: as many items as fit the budget, and always one. `caveats` ends its summary: what is left
    /// out, and how far the rest can be believed.
    pub(crate) fn page(
        &self,
        set: &CanonicalSet,
        caveats: &str,
        cursor: &Cursor,
        wanted: &WantedPage,
        budget: ResponseBudget,
    ) -> Result<Payload, ToolError> {
        let begin = cursor.offset;
        if begin > 0 && begin >= set.len() {
            return Err(ToolError::CursorInvalid("its offset is past the end"));
        }
        let state = Value::from(&*self.state);
        if begin == 0 && wanted.if_state.as_ref() == Some(&self.state) {
            let summary = Value::from(format!("Unchanged{caveats}."));
            let json = format!(r#"{{"unchanged":true,"state":{state},"summary":{summary}}}"#);
            return Ok(Payload::whole(json.into_bytes(), 0));
        }
        let tokens = wanted.size.unwrap_or(DEFAULT_PAGE_TOKENS).clamp(1, MAX_PAGE_TOKENS);
        let allowed = usize::try_from(tokens).unwrap_or(usize::MAX);
        let fits = |bytes: usize, tokens: usize| tokens <= allowed && budget.fits(bytes);
        let before = format!("{{{}{}", self.roots, self.opening);
        let after = |end: usize, next: Value| {
            let summary = Value::from(format!("{}{caveats}.", self.summary(set.len(), begin..end)));
            format!(r#"],"nextCursor":{next},"state":{state},"summary":{summary}}}"#)
        };
        let next = |end: usize| if end < set.len() { Value::from(cursor.mint_at(end)) } else { Value::Null };
        // A cursor counts for what one takes: its text differs between equal answers, and where their pages end may not.
        let tokens_after =
            |end: usize| estimate(after(end, Value::Null).as_bytes()) + if end < set.len() { CURSOR_TOKENS } else { 0 };
        let mut end = begin;
        let first = (begin + 1).min(set.len());
        let mut bytes = before.len() + after(first, next(first)).len();
        let mut tokens = estimate(before.as_bytes()) + tokens_after(first);
        let mut item = Vec::new();
        while end < set.len() {
            item.clear();
            if end == begin || self.groups.get(self.group_of(end)).is_some_and(|group| group.first == end) {
                self.write(set, end..end + 1, &mut item);
            } else {
                item.extend_from_slice(set.slice(end, 1));
            }
            item.push(b',');
            bytes += item.len();
            tokens += estimate(&item);
            if end > begin && !fits(bytes, tokens) {
                break;
            }
            end += 1;
        }
        // The end of a page is a few bytes longer or shorter for another number of items.
        loop {
            let mut json = before.clone().into_bytes();
            self.write(set, begin..end, &mut json);
            let tokens = estimate(&json) + tokens_after(end);
            json.extend_from_slice(after(end, next(end)).as_bytes());
            if fits(json.len(), tokens) || end <= begin + 1 {
                budget.check(json.len(), || None)?;
                return Ok(Payload::whole(json, end - begin));
            }
            end -= 1;
        }
    }

    fn summary(&self, all: usize, page: Run<usize>) -> String {
        let (one, many) = self.nouns;
        match (all, page.len()) {
            (0, _) => format!("No {many}"),
            (1, _) => format!("1 {one}"),
            (_, on_page) if on_page == all => format!("{all} {many}"),
            (_, on_page) => {
                let more = if page.end < all { " (next page available)" } else { "" };
                format!("{on_page} of {all} {many}{more}")
            }
        }
    }

    /// The index of the group of an item.
    fn group_of(&self, item: usize) -> usize {
        self.groups.partition_point(|group| group.first <= item).saturating_sub(1)
    }

    /// Writes some items, each group with what surrounds it.
    fn write(&self, set: &CanonicalSet, items: Run<usize>, json: &mut Vec<u8>) {
        if self.groups.is_empty() {
            json.extend_from_slice(set.slice(items.start, items.len()));
            return;
        }
        let mut begin = items.start;
        while begin < items.end {
            let index = self.group_of(begin);
            let end = self.groups.get(index + 1).map_or(items.end, |next| next.first.min(items.end));
            if begin > items.start {
                json.push(b',');
            }
            json.extend_from_slice(self.groups[index].opening.as_bytes());
            json.extend_from_slice(set.slice(begin, end - begin));
            json.extend_from_slice(AFTER_GROUP.as_bytes());
            begin = end;
        }
    }
}
