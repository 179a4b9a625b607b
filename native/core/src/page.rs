//! Pages of a canonical set (contract section 3.6), and the budget that every payload has to fit (D16).

use std::fmt;
use std::ops::Range as Run;

use serde_json::Value;

use crate::canonical::CanonicalSet;
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::limits::{DEFAULT_PAGE_SIZE, Limits};

/// Which page of an answer a call wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedPage {
    /// How many items, as the caller asked; of a compact list, how many tokens.
    pub size: Option<u64>,
    /// Where to go on; nothing for the first page.
    pub cursor: Option<String>,
    /// Of a compact list: the state that the caller knows already.
    pub if_state: Option<String>,
}

/// What a tool answers, as JSON in three pieces, so that nobody has to copy the items of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload {
    /// What comes first; all of it, unless it is a page.
    pub before: Vec<u8>,
    /// Which part of [`CanonicalSet::json`] comes next, if it is a page.
    pub held: Run<usize>,
    /// What comes last.
    pub after: Vec<u8>,
    /// How many items are in it.
    pub items: usize,
}

impl Payload {
    /// A payload in one piece.
    pub(crate) fn whole(json: Vec<u8>, items: usize) -> Self {
        Self { before: json, items, ..Self::default() }
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.before.len() + self.held.len() + self.after.len()
    }

    /// Whether it has no byte, which no tool's has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of it, with the items of `set`.
    pub fn joined(&self, set: &CanonicalSet) -> Vec<u8> {
        [&self.before, &set.json()[self.held.clone()], &self.after].concat()
    }
}

/// An answer that is not paged.
pub trait Whole: fmt::Debug + Send + Sync {
    /// The payload within the budget.
    fn payload(&self, budget: ResponseBudget) -> Result<Payload, ToolError>;
}

/// How many items a page may have: already clamped to what is allowed (D11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageSize(usize);

impl PageSize {
    /// The size that the caller asks for, or the default, but at most what is allowed.
    pub fn clamped(asked: Option<u64>, limits: &Limits) -> Self {
        let asked = asked.map_or(DEFAULT_PAGE_SIZE, |size| usize::try_from(size).unwrap_or(usize::MAX));
        Self(asked.clamp(1, limits.max_page_size()))
    }

    /// The size as a number.
    pub const fn get(self) -> usize {
        self.0
    }
}

/// How large a response may be, and how much of it is taken by what surrounds the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseBudget {
    max_response_bytes: usize,
    envelope_bytes: usize,
}

impl ResponseBudget {
    /// A budget of `max_response_bytes` for the whole HTTP body, of which `envelope_bytes` surround the payload.
    pub const fn new(max_response_bytes: usize, envelope_bytes: usize) -> Self {
        Self { max_response_bytes, envelope_bytes }
    }

    fn response_bytes(self, payload_bytes: usize) -> usize {
        payload_bytes.saturating_add(self.envelope_bytes)
    }

    /// Whether a payload of this size may be returned.
    pub(crate) fn fits(self, payload_bytes: usize) -> bool {
        self.response_bytes(payload_bytes) <= self.max_response_bytes
    }

    /// Refuses a payload that does not fit. `suggest` is asked only then.
    pub(crate) fn check(self, payload_bytes: usize, suggest: impl FnOnce() -> Option<usize>) -> Result<(), ToolError> {
        if self.fits(payload_bytes) {
            return Ok(());
        }
        Err(ToolError::ResponseTooLarge {
            response_bytes: self.response_bytes(payload_bytes),
            max_response_bytes: self.max_response_bytes,
            suggested_page_size: suggest(),
        })
    }
}

/// A page of a retained set, from a cursor on.
pub(crate) struct Page<'a, S> {
    set: &'a CanonicalSet,
    cursor: &'a Cursor,
    size: usize,
    summarize: S,
}

impl<'a, S: Fn(usize, bool) -> String> Page<'a, S> {
    /// The page at the cursor, which has to lie inside the set. `summarize` is told how many items the page has and
    /// whether there are more.
    pub(crate) fn new(
        set: &'a CanonicalSet,
        cursor: &'a Cursor,
        size: PageSize,
        summarize: S,
    ) -> Result<Self, ToolError> {
        if cursor.offset > 0 && cursor.offset >= set.len() {
            return Err(ToolError::CursorInvalid("its offset is past the end"));
        }
        let size = size.get().min(set.len() - cursor.offset);
        Ok(Self { set, cursor, size, summarize })
    }

    /// Whether there are items after those of the page.
    pub(crate) fn more(&self) -> bool {
        self.next(self.size).is_some()
    }

    /// How many items the page has.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The items of the page, as JSON joined by commas.
    pub(crate) fn items(&self) -> &'a [u8] {
        self.set.slice(self.cursor.offset, self.size)
    }

    /// The payload of a paged tool: `{"items":[…],"nextCursor":…,"summary":…}`. If it does not fit, the error names the
    /// largest page size that does.
    pub(crate) fn payload(&self, budget: ResponseBudget) -> Result<Payload, ToolError> {
        let held = self.set.run(self.cursor.offset, self.size);
        let after = self.after_items(self.size, &self.summary(self.size));
        budget.check(BEFORE_ITEMS.len() + held.len() + after.len(), || {
            (1..self.size).rev().find(|&size| budget.fits(self.payload_bytes(size)))
        })?;
        Ok(Payload { before: BEFORE_ITEMS.into(), held, after: after.into_bytes(), items: self.size })
    }

    /// The payload with other items in place of those of the page, and another summary.
    pub(crate) fn payload_with(&self, items: &[u8], summary: &str) -> Vec<u8> {
        [BEFORE_ITEMS.as_bytes(), items, self.after_items(self.size, summary).as_bytes()].concat()
    }

    fn payload_bytes(&self, size: usize) -> usize {
        let items = self.set.slice(self.cursor.offset, size);
        BEFORE_ITEMS.len() + items.len() + self.after_items(size, &self.summary(size)).len()
    }

    fn summary(&self, size: usize) -> String {
        (self.summarize)(size, self.next(size).is_some())
    }

    /// Where the page after one of this size begins, if there is one.
    fn next(&self, size: usize) -> Option<usize> {
        let offset = self.cursor.offset + size;
        (offset < self.set.len()).then_some(offset)
    }

    fn after_items(&self, size: usize, summary: &str) -> String {
        // A cursor is base64url, in which nothing has to be escaped.
        let next = match self.next(size) {
            Some(offset) => format!("\"{}\"", self.cursor.mint_at(offset)),
            None => "null".to_owned(),
        };
        format!(r#"],"nextCursor":{next},"summary":{}}}"#, Value::from(summary))
    }
}

const BEFORE_ITEMS: &str = r#"{"items":["#;

/// A list that is not paged, in order and cut to what may be returned.
#[derive(Debug)]
pub struct List {
    /// The payload up to the list's first item.
    pub(crate) opening: String,
    /// The items.
    pub(crate) items: CanonicalSet,
    /// The summary.
    pub(crate) summary: String,
}

impl Whole for List {
    fn payload(&self, budget: ResponseBudget) -> Result<Payload, ToolError> {
        let closing = format!(r#"],"summary":{}}}"#, Value::from(&*self.summary));
        let payload = [self.opening.as_bytes(), self.items.json(), closing.as_bytes()].concat();
        budget.check(payload.len(), || None)?;
        Ok(Payload::whole(payload, self.items.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::REQUEST_TIMEOUT;

    #[test]
    fn a_page_size_is_clamped_between_1_and_the_maximum_in_force() {
        let default = Limits::default();
        let tight = Limits::tightened(7, 100_000, REQUEST_TIMEOUT);
        let sizes = [(None, 100, 7), (Some(0), 1, 1), (Some(7), 7, 7), (Some(8), 8, 7), (Some(201), 200, 7)];
        for (asked, by_default, tightened) in sizes {
            assert_eq!(PageSize::clamped(asked, &default).get(), by_default, "{asked:?}");
            assert_eq!(PageSize::clamped(asked, &tight).get(), tightened, "{asked:?}");
        }
        assert_eq!(PageSize::clamped(Some(u64::MAX), &default).get(), 200);
    }
}
