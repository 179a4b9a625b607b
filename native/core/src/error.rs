//! The error taxonomy of the contract (section 6), with the one text of each error.

use std::time::Duration;

use serde_json::{Value, json};
use thiserror::Error;

use crate::epochs::Epoch;

/// Why a tool call failed. `Display` is the sentence that tells the caller what to do; it never holds a secret or a
/// path outside the allowed roots.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolError {
    /// The arguments do not fit the tool's input schema. The text names the field, the limit and the way out.
    #[error("{0}")]
    InvalidParams(String),
    /// The URI lies outside the allowed roots (contract section 1.2), or may: the error is the same whether or not
    /// anything exists there (D36).
    #[error(
        "The file lies outside the allowed roots; ask about a file of the open workspace, or add its folder to `mcpLspGateway.additionalAllowedRoots`."
    )]
    OutsideRoots,
    /// There is no folder open and no additional root configured.
    #[error("No folder is open in this window; open one, or add a folder to `mcpLspGateway.additionalAllowedRoots`.")]
    NoRoots,
    /// There are allowed folders, and none of them exists at its place.
    #[error(
        "None of the allowed folders is at its place any more; open the project's folder again, or correct `mcpLspGateway.additionalAllowedRoots`."
    )]
    RootsGone,
    /// The URI cannot be read as a local `file:` URI (D34). The text says why, without repeating it.
    #[error("The URI is not usable: {0}; pass an absolute URI such as file:///home/me/project/src/main.ts.")]
    UriMalformed(&'static str),
    /// The URI lies inside the allowed roots and does not resolve to a real path.
    #[error("Nothing exists at this URI; check the path, or list the folder first.")]
    UriUnresolvable,
    /// The cursor cannot be decoded, has the wrong version, or belongs to another request.
    #[error(
        "The cursor is not usable: {0}; pass `nextCursor` of the previous page unchanged, with the same arguments, or call again with cursor null."
    )]
    CursorInvalid(&'static str),
    /// The workspace is not what it was when the cursor was made. `changed` is empty once that state is forgotten
    /// (D35).
    #[error("The workspace changed since this cursor was made; call again with cursor null.")]
    CursorStale {
        /// Which epochs moved, in the contract's order.
        changed: Vec<Epoch>,
    },
    /// The cursor is right and its retained set is gone.
    #[error("The result that this cursor pages through is no longer held; call again with cursor null.")]
    CursorExpired,
    /// The full set cannot be retained within the caps of D26.
    #[error(
        "The full result takes {bytes} bytes and at most {max_bytes} can be held for paging; ask about something more specific."
    )]
    SnapshotTooLarge {
        /// What the encoded set weighs.
        bytes: usize,
        /// What one retained set may weigh.
        max_bytes: usize,
    },
    /// The document cannot be opened as text.
    #[error("The editor cannot open this file as text; check that the URI names an existing text file.")]
    DocumentNotFound,
    /// The line lies past the end of the document (D10).
    #[error(
        "Line {line} is past the end: the document has {line_count} lines, numbered from 0; correct `position.line`."
    )]
    LineNotFound {
        /// The line asked about.
        line: u32,
        /// How many lines the document has.
        line_count: u32,
    },
    /// The character lies past the end of its line (D10).
    #[error(
        "Character {character} is past the end: line {line} has {line_length} UTF-16 units, counted from 0; correct `position.character`."
    )]
    CharacterNotFound {
        /// The line asked about.
        line: u32,
        /// The character asked about.
        character: u32,
        /// How many UTF-16 units the line has, its end excluded.
        line_length: u32,
    },
    /// The canonical set exceeds its total cap; nothing is truncated.
    #[error(
        "The full result has {items} items and at most {max_items} are allowed; ask about something more specific."
    )]
    TooManyItems {
        /// How many items the canonical set has.
        items: usize,
        /// How many it may have.
        max_items: usize,
    },
    /// The response would exceed `maxResponseBytes` (D16).
    #[error("The response would take {response_bytes} bytes and at most {max_response_bytes} are allowed; {}.", advise_page_size(*.suggested_page_size))]
    ResponseTooLarge {
        /// Size of the whole HTTP body.
        response_bytes: usize,
        /// The cap in force.
        max_response_bytes: usize,
        /// For a page, the largest `pageSize` that fits at this offset.
        suggested_page_size: Option<usize>,
    },
    /// The time limit passed first. Asking again may succeed.
    #[error("No complete answer within {} ms; call again.", .limit.as_millis())]
    Timeout {
        /// The limit in force.
        limit: Duration,
    },
    /// A folder lies on a disk that does not answer. Asking again will succeed once it does.
    #[error("The disk that holds this folder does not answer; call again once it does.")]
    DiskSilent,
    /// The time limit passed while a language server was still loading (D28). Asking again will succeed.
    #[error("The language server is still starting, so its answers would not be complete; call again in a moment.")]
    WarmingUp,
    /// The time limit passed before it was sure that the language servers know what was just written. Asking again will
    /// succeed.
    #[error("Files were just written, and the language servers may not know all of that yet; call again in a moment.")]
    CatchingUp,
    /// As many calls are under way as may be. Asking again will succeed.
    #[error("Too many calls are under way; call again in a moment.")]
    Busy,
    /// The client cancelled the call (D46).
    #[error("The call was cancelled; call again if the answer is still wanted.")]
    Cancelled,
    /// Nothing in the editor answers this question for this document.
    #[error("No language extension in the editor answers this for this file; install or enable one for its language.")]
    ProviderUnavailable,
    /// No language extension has published diagnostics of this document, not even that there are none.
    #[error(
        "No language extension has reported on this file, so nothing is known about it; open it in an editor tab, or set `mcpLspGateway.diagnostics.openTab`."
    )]
    NotAnalysed,
    /// A language extension threw, rejected, or returned something that is not an answer.
    #[error(
        "A language extension in the editor failed to answer; call again, and look at the editor's log if it goes on."
    )]
    ProviderFailed,
    /// A fault of the gateway.
    #[error(
        "The gateway failed on this call; call again, and report it with the log of the MCP LSP Gateway if it goes on."
    )]
    Internal,
}

fn advise_page_size(suggested: Option<usize>) -> String {
    match suggested {
        Some(size) => format!("call again with pageSize {size}"),
        None => "raise `mcpLspGateway.maxResponseBytes`, or ask about something more specific".to_owned(),
    }
}

impl ToolError {
    /// The taxonomy's name of this error, as in `error.data.code` (contract section 6.3).
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidParams(_) => ErrorCode::InvalidParams,
            Self::OutsideRoots | Self::NoRoots | Self::RootsGone => ErrorCode::WorkspaceDenied,
            Self::UriMalformed(_) | Self::UriUnresolvable => ErrorCode::UriInvalid,
            Self::CursorInvalid(_) => ErrorCode::CursorInvalid,
            Self::CursorStale { .. } => ErrorCode::CursorStale,
            Self::CursorExpired => ErrorCode::CursorExpired,
            Self::SnapshotTooLarge { .. } => ErrorCode::SnapshotTooLarge,
            Self::DocumentNotFound | Self::LineNotFound { .. } | Self::CharacterNotFound { .. } => ErrorCode::NotFound,
            Self::TooManyItems { .. }
            | Self::ResponseTooLarge { .. }
            | Self::Timeout { .. }
            | Self::DiskSilent
            | Self::WarmingUp
            | Self::CatchingUp
            | Self::Busy
            | Self::Cancelled => ErrorCode::CapExceeded,
            Self::ProviderUnavailable | Self::NotAnalysed => ErrorCode::ProviderUnavailable,
            Self::ProviderFailed | Self::Internal => ErrorCode::Internal,
        }
    }

    /// What a program can act on, as in `error.data.details`: numbers and fixed words only.
    pub fn details(&self) -> Option<Value> {
        match self {
            Self::CursorStale { changed } if !changed.is_empty() => Some(json!({ "changed": changed })),
            Self::SnapshotTooLarge { bytes, max_bytes } => Some(json!({ "bytes": bytes, "maxBytes": max_bytes })),
            Self::LineNotFound { line_count, .. } => Some(json!({ "lineCount": line_count })),
            Self::CharacterNotFound { line_length, .. } => Some(json!({ "lineLength": line_length })),
            Self::TooManyItems { items, max_items } => Some(json!({ "items": items, "maxItems": max_items })),
            Self::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size: None } => {
                Some(json!({ "responseBytes": response_bytes, "maxResponseBytes": max_response_bytes }))
            }
            Self::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size: Some(size) } => {
                Some(json!({
                    "responseBytes": response_bytes,
                    "maxResponseBytes": max_response_bytes,
                    "suggestedPageSize": size,
                }))
            }
            Self::Timeout { .. } | Self::DiskSilent => Some(json!({ "reason": "timeout", "retryable": true })),
            Self::WarmingUp => Some(json!({ "reason": "warming_up", "retryable": true })),
            Self::CatchingUp => Some(json!({ "reason": "catching_up", "retryable": true })),
            Self::Busy => Some(json!({ "reason": "busy", "retryable": true })),
            Self::NotAnalysed => Some(json!({ "reason": "not_analysed" })),
            Self::Cancelled => Some(json!({ "reason": "cancelled" })),
            _ => None,
        }
    }
}

/// The names of the taxonomy (contract section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the contract's own")]
pub enum ErrorCode {
    InvalidParams,
    WorkspaceDenied,
    UriInvalid,
    CursorInvalid,
    CursorStale,
    CursorExpired,
    SnapshotTooLarge,
    NotFound,
    CapExceeded,
    ProviderUnavailable,
    Internal,
}

impl ErrorCode {
    /// The code without what stands before it on the wire, such as `CURSOR_STALE`.
    pub fn name(self) -> &'static str {
        self.as_str().rsplit('/').next().unwrap_or_default()
    }

    /// The code as it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParams => "MCP_LSP_GATEWAY/INVALID_PARAMS",
            Self::WorkspaceDenied => "MCP_LSP_GATEWAY/WORKSPACE_DENIED",
            Self::UriInvalid => "MCP_LSP_GATEWAY/URI_INVALID",
            Self::CursorInvalid => "MCP_LSP_GATEWAY/CURSOR_INVALID",
            Self::CursorStale => "MCP_LSP_GATEWAY/CURSOR_STALE",
            Self::CursorExpired => "MCP_LSP_GATEWAY/CURSOR_EXPIRED",
            Self::SnapshotTooLarge => "MCP_LSP_GATEWAY/SNAPSHOT_TOO_LARGE",
            Self::NotFound => "MCP_LSP_GATEWAY/NOT_FOUND",
            Self::CapExceeded => "MCP_LSP_GATEWAY/CAP_EXCEEDED",
            Self::ProviderUnavailable => "MCP_LSP_GATEWAY/PROVIDER_UNAVAILABLE",
            Self::Internal => "MCP_LSP_GATEWAY/INTERNAL",
        }
    }
}
