//! The cursor of paged tools (contract section 3.6).

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::error::ToolError;
use crate::keys::{RequestKey, SnapshotKey};

const VERSION: u64 = 2;

/// Why a cursor is not one of this request.
pub const OF_OTHER_REQUEST: &str = "it belongs to a request with other arguments";

/// Where a page begins, in the result of which request and snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Index into the canonical set.
    pub offset: usize,
    /// `k`.
    pub request: RequestKey,
    /// `s`: in a decoded cursor a claim, which the caller compares with the key of the current state.
    pub snapshot: SnapshotKey,
}

/// The decoded JSON. Extra and repeated members are refused, since no cursor of ours has any.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    v: u64,
    o: u64,
    #[serde(borrow)]
    k: Cow<'a, str>,
    s: String,
}

impl<'a> Wire<'a> {
    fn parse(json: &'a [u8]) -> Option<Self> {
        // An array of the four values would pass for them, too.
        if !json.starts_with(b"{") {
            return None;
        }
        serde_json::from_slice(json).ok()
    }
}

impl Cursor {
    /// The opaque text for the caller.
    pub fn mint(&self) -> String {
        self.mint_at(self.offset)
    }

    /// The opaque text of a cursor to another place in the same result.
    pub(crate) fn mint_at(&self, offset: usize) -> String {
        let Self { request, snapshot, .. } = self;
        URL_SAFE_NO_PAD.encode(format!(r#"{{"v":{VERSION},"o":{offset},"k":"{request}","s":"{snapshot}"}}"#))
    }

    /// Reads a cursor that came back. Refuses what cannot be decoded, another version, and another request's cursor
    /// with `CURSOR_INVALID`; whether the snapshot is the current one is for the caller to compare.
    pub fn decode(text: &str, request: &RequestKey) -> Result<Self, ToolError> {
        let json = URL_SAFE_NO_PAD.decode(text).map_err(|_| ToolError::CursorInvalid("it is not base64url"))?;
        let wire = Wire::parse(&json).ok_or(ToolError::CursorInvalid("it was not made by this gateway"))?;
        if wire.v != VERSION {
            return Err(ToolError::CursorInvalid("its version is not supported"));
        }
        let offset = usize::try_from(wire.o).map_err(|_| ToolError::CursorInvalid("its offset is past the end"))?;
        let snapshot = SnapshotKey::claimed(wire.s);
        if wire.k != request.as_str() {
            return Err(ToolError::CursorInvalid(OF_OTHER_REQUEST));
        }
        Ok(Self { offset, request: request.clone(), snapshot })
    }
}
