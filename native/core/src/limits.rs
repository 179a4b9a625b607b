//! The hard caps of the contract (section 5), which configuration can only tighten.

use std::time::Duration;

/// Most bytes of one message from a client: an HTTP request body (contract section 5.1), or a line on stdio.
pub const MAX_REQUEST_BYTES: usize = 1_048_576;
/// Most bytes of one HTTP response body (contract section 5.1).
pub const MAX_RESPONSE_BYTES: usize = 524_288;
/// Longest time for one call (contract section 5.1).
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// Most items of a list that is not paged (contract section 5.1).
pub const MAX_ITEMS_NONPAGED: usize = 200;
/// Most items on one page (contract section 5.1).
pub const MAX_PAGE_SIZE: usize = 200;
/// Page size when the caller names none (D11).
pub const DEFAULT_PAGE_SIZE: usize = 100;
/// How many tokens a page of a compact list takes when the caller names no number.
pub const DEFAULT_PAGE_TOKENS: u64 = 2_000;
/// Most tokens that a page of a compact list may be asked to take.
pub const MAX_PAGE_TOKENS: u64 = 20_000;
/// Most files in the canonical set of workspace diagnostics (contract section 5.1).
pub const MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL: usize = 5_000;
/// Most items in the canonical set of workspace symbols (contract section 5.1).
pub const MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL: usize = 20_000;
/// Most items in the canonical set of references (contract section 5.1).
pub const MAX_REFERENCES_ITEMS_TOTAL: usize = 20_000;
/// Most symbols that the outline of one document may have before duplicates are removed (D15).
pub const MAX_DOCUMENT_SYMBOLS_TRAVERSED: usize = 20_000;
/// Most documents that are outlined for one question.
pub const MAX_OUTLINED: usize = 32;
/// Most fragments of one hover (contract section 7.3).
pub const MAX_HOVER_FRAGMENTS: usize = 8;
/// Most code points of one fragment of a hover (contract section 7.3).
pub const MAX_HOVER_FRAGMENT_CODE_POINTS: usize = 8_192;
/// Most bytes that one retained set may weigh (D26).
pub const MAX_SNAPSHOT_BYTES: usize = 16 * 1_048_576;
/// Most bytes that all retained sets may weigh together (D26).
pub const MAX_SNAPSHOTS_BYTES: usize = 64 * 1_048_576;
/// How long a retained set outlives its last use (D26).
pub const SNAPSHOT_LIFETIME: Duration = Duration::from_secs(600);

const MIN_RESPONSE_BYTES: usize = 16_384;
const MIN_REQUEST_TIMEOUT: Duration = Duration::from_millis(100);

/// The caps in force. They start at the contract's maxima and can only be tightened, never below the lower bounds of
/// D48, under which nothing useful could be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    max_page_size: usize,
    max_response_bytes: usize,
    request_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_page_size: MAX_PAGE_SIZE, max_response_bytes: MAX_RESPONSE_BYTES, request_timeout: REQUEST_TIMEOUT }
    }
}

impl Limits {
    /// The caps that configuration asks for, each clamped between the lower bound of D48 and the contract's maximum.
    pub fn tightened(max_page_size: usize, max_response_bytes: usize, request_timeout: Duration) -> Self {
        Self {
            max_page_size: max_page_size.clamp(1, MAX_PAGE_SIZE),
            max_response_bytes: max_response_bytes.clamp(MIN_RESPONSE_BYTES, MAX_RESPONSE_BYTES),
            request_timeout: request_timeout.clamp(MIN_REQUEST_TIMEOUT, REQUEST_TIMEOUT),
        }
    }

    /// Most items on one page.
    pub const fn max_page_size(&self) -> usize {
        self.max_page_size
    }

    /// Most bytes of one HTTP response body.
    pub const fn max_response_bytes(&self) -> usize {
        self.max_response_bytes
    }

    /// Longest time for one call.
    pub const fn request_timeout(&self) -> Duration {
        self.request_timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_force(max_page_size: usize, max_response_bytes: usize, millis: u64) -> (usize, usize, u128) {
        let limits = Limits::tightened(max_page_size, max_response_bytes, Duration::from_millis(millis));
        (limits.max_page_size(), limits.max_response_bytes(), limits.request_timeout().as_millis())
    }

    #[test]
    fn configuration_tightens_the_limits_and_goes_beyond_no_bound() {
        assert_eq!(in_force(201, 524_289, 2_001), (200, 524_288, 2_000));
        assert_eq!(in_force(199, 524_287, 1_999), (199, 524_287, 1_999));
        assert_eq!(in_force(1, 16_384, 100), (1, 16_384, 100));
        assert_eq!(in_force(0, 16_383, 99), (1, 16_384, 100));
    }
}
