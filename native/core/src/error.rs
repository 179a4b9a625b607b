//! The error taxonomy of the contract (section 6), with the one text of each error.

use std::time::Duration;

use serde_json::{Value, json};

use crate::epochs::Epoch;
use crate::wording::Wording;

/// Why a tool call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// The arguments do not fit the tool's input schema. The text names the field, the limit and the way out.
    InvalidParams(String),
    /// The URI lies outside the allowed roots (contract section 1.2), or may: the error is the same whether or not
    /// anything exists there (D36).
    OutsideRoots,
    /// There is no folder open and no additional root configured.
    NoRoots,
    /// There are allowed folders, and none of them exists at its place.
    RootsGone,
    /// The URI cannot be read as a local `file:` URI (D34). The text says why, without repeating it.
    UriMalformed(&'static str),
    /// The URI lies inside the allowed roots and does not resolve to a real path.
    UriUnresolvable,
    /// The cursor cannot be decoded, has the wrong version, or belongs to another request.
    CursorInvalid(&'static str),
    /// The workspace is not what it was when the cursor was made. `changed` is empty once that state is forgotten
    /// (D35).
    CursorStale {
        /// Which epochs moved, in the contract's order.
        changed: Vec<Epoch>,
    },
    /// The cursor is right and its retained set is gone.
    CursorExpired,
    /// The full set cannot be retained within the caps of D26.
    SnapshotTooLarge {
        /// What the encoded set weighs.
        bytes: usize,
        /// What one retained set may weigh.
        max_bytes: usize,
    },
    /// The document cannot be opened as text.
    DocumentNotFound,
    /// The line lies past the end of the document (D10).
    LineNotFound {
        /// The line asked about.
        line: u32,
        /// How many lines the document has.
        line_count: u32,
    },
    /// The character lies past the end of its line (D10).
    CharacterNotFound {
        /// The line asked about.
        line: u32,
        /// The character asked about.
        character: u32,
        /// How many UTF-16 units the line has, its end excluded.
        line_length: u32,
    },
    /// The text of the document cannot be given.
    TextUntold,
    /// The document has not the piece of a line that names the place.
    TextNotFound,
    /// The text of the document is not the one that the caller knew.
    FileChanged,
    /// The canonical set exceeds its total cap; nothing is truncated.
    TooManyItems {
        /// How many items the canonical set has.
        items: usize,
        /// How many it may have.
        max_items: usize,
    },
    /// The response would exceed `maxResponseBytes` (D16).
    ResponseTooLarge {
        /// Size of the whole HTTP body.
        response_bytes: usize,
        /// The cap in force.
        max_response_bytes: usize,
        /// For a page, the largest `pageSize` that fits at this offset.
        suggested_page_size: Option<usize>,
    },
    /// The time limit passed first. Asking again may succeed.
    Timeout {
        /// The limit in force.
        limit: Duration,
    },
    /// A folder lies on a disk that does not answer. Asking again will succeed once it does.
    DiskSilent,
    /// The time limit passed while a language server was still loading (D28). Asking again will succeed.
    WarmingUp,
    /// The time limit passed before it was sure that the language servers know what was just written. Asking again will
    /// succeed.
    CatchingUp,
    /// As many calls are under way as may be. Asking again will succeed.
    Busy,
    /// The client cancelled the call (D46).
    Cancelled,
    /// Nothing in the editor answers this question for this document.
    ProviderUnavailable(Option<Explanation>),
    /// Nothing in the editor has published diagnostics of this document, not even that there are none.
    NotAnalysed,
    /// What answers in the editor failed, or returned something that is not an answer.
    ProviderFailed(Option<Explanation>),
    /// A fault of the gateway.
    Internal,
}

/// Why the back end has no answer, where it knows more than [`Wording`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// A fixed word for programs, as in `error.data.details.reason`.
    pub reason: Option<&'static str>,
    /// The whole text of the error: what happened, then what to do. The back end keeps it short, and free of secrets and of
    /// paths outside the allowed roots.
    pub message: String,
}

impl ToolError {
    /// The sentence that tells the caller what to do; it never holds a secret or a path outside the allowed roots.
    pub fn message(&self, wording: &Wording) -> String {
        match self {
            Self::InvalidParams(text) => text.clone(),
            Self::OutsideRoots => wording.outside_roots.to_owned(),
            Self::NoRoots => wording.no_roots.to_owned(),
            Self::RootsGone => wording.roots_gone.to_owned(),
            Self::UriMalformed(reason) => format!(
                "The URI is not usable: {reason}; pass an absolute URI such as file:///home/me/project/src/main.ts."
            ),
            Self::UriUnresolvable => "Nothing exists at this URI; check the path, or list the folder first.".to_owned(),
            Self::CursorInvalid(reason) => format!(
                "The cursor is not usable: {reason}; pass `nextCursor` of the previous page unchanged, with the same arguments, or call again with cursor null."
            ),
            Self::CursorStale { .. } => {
                "The workspace changed since this cursor was made; call again with cursor null.".to_owned()
            }
            Self::CursorExpired => {
                "The result that this cursor pages through is no longer held; call again with cursor null.".to_owned()
            }
            Self::SnapshotTooLarge { bytes, max_bytes } => format!(
                "The full result takes {bytes} bytes and at most {max_bytes} can be held for paging; ask about something more specific."
            ),
            Self::DocumentNotFound => wording.document_not_found.to_owned(),
            Self::LineNotFound { line, line_count } => format!(
                "Line {line} is past the end: the document has {line_count} lines, numbered from 0; correct the line."
            ),
            Self::CharacterNotFound { line, character, line_length } => format!(
                "Character {character} is past the end: line {line} has {line_length} UTF-16 units, counted from 0; correct the character."
            ),
            Self::TextUntold => {
                "The text of this file cannot be given: it is larger than 16 MiB or not in UTF-8; read it in another way."
                    .to_owned()
            }
            Self::TextNotFound => {
                "`text` does not stand in this file, or not in the lines `near`; pass a piece of one line as it is written there now."
                    .to_owned()
            }
            Self::FileChanged => {
                "The file is no longer the one of this digest; read it again, and pass `expect` as `digest` of the new answer."
                    .to_owned()
            }
            Self::TooManyItems { items, max_items } => format!(
                "The full result has {items} items and at most {max_items} are allowed; ask about something more specific."
            ),
            Self::ResponseTooLarge { response_bytes, max_response_bytes, suggested_page_size } => {
                let advice = suggested_page_size.map(|size| format!("call again with pageSize {size}"));
                let advice = advice.as_deref().unwrap_or(wording.response_too_large);
                format!(
                    "The response would take {response_bytes} bytes and at most {max_response_bytes} are allowed; {advice}."
                )
            }
            Self::Timeout { limit } => format!("No complete answer within {} ms; call again.", limit.as_millis()),
            Self::DiskSilent => {
                "The disk that holds this folder does not answer; call again once it does.".to_owned()
            }
            Self::WarmingUp => {
                "The language server is still starting, so its answers would not be complete; call again in a moment."
                    .to_owned()
            }
            Self::CatchingUp => {
                "Files were just written, and the language servers may not know all of that yet; call again in a moment."
                    .to_owned()
            }
            Self::Busy => "Too many calls are under way; call again in a moment.".to_owned(),
            Self::Cancelled => "The call was cancelled; call again if the answer is still wanted.".to_owned(),
            Self::ProviderUnavailable(Some(explanation)) | Self::ProviderFailed(Some(explanation)) => {
                explanation.message.clone()
            }
            Self::ProviderUnavailable(None) => wording.provider_unavailable.to_owned(),
            Self::NotAnalysed => wording.not_analysed.to_owned(),
            Self::ProviderFailed(None) => wording.provider_failed.to_owned(),
            Self::Internal => wording.internal.to_owned(),
        }
    }

    /// The taxonomy's name of this error, as in `error.data.code` (contract section 6.3).
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidParams(_) | Self::TextUntold => ErrorCode::InvalidParams,
            Self::OutsideRoots | Self::NoRoots | Self::RootsGone => ErrorCode::WorkspaceDenied,
            Self::UriMalformed(_) | Self::UriUnresolvable => ErrorCode::UriInvalid,
            Self::CursorInvalid(_) => ErrorCode::CursorInvalid,
            Self::CursorStale { .. } => ErrorCode::CursorStale,
            Self::CursorExpired => ErrorCode::CursorExpired,
            Self::SnapshotTooLarge { .. } => ErrorCode::SnapshotTooLarge,
            Self::DocumentNotFound
            | Self::LineNotFound { .. }
            | Self::CharacterNotFound { .. }
            | Self::TextNotFound => ErrorCode::NotFound,
            Self::FileChanged => ErrorCode::FileChanged,
            Self::TooManyItems { .. }
            | Self::ResponseTooLarge { .. }
            | Self::Timeout { .. }
            | Self::DiskSilent
            | Self::WarmingUp
            | Self::CatchingUp
            | Self::Busy
            | Self::Cancelled => ErrorCode::CapExceeded,
            Self::ProviderUnavailable(_) | Self::NotAnalysed => ErrorCode::ProviderUnavailable,
            Self::ProviderFailed(_) | Self::Internal => ErrorCode::Internal,
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
            Self::ProviderUnavailable(Some(explanation)) | Self::ProviderFailed(Some(explanation)) => {
                explanation.reason.map(|reason| json!({ "reason": reason }))
            }
            _ => None,
        }
    }
}

/// The names of the taxonomy (contract section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the contract's own, and FILE_CHANGED of the tools beyond version 1")]
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
    FileChanged,
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
            Self::FileChanged => "MCP_LSP_GATEWAY/FILE_CHANGED",
        }
    }
}
