//! Who may come in.

use std::fmt;

/// Who may come in. `Debug` tells no token.
#[derive(Default)]
pub struct Access {
    /// The bearer tokens that are valid now (D47).
    pub tokens: Vec<String>,
    /// The origins that a request may name, each exactly as a browser sends it (D50).
    pub allowed_origins: Vec<String>,
    /// Whether a client that asks for [`crate::session::Revision::Fallback`] gets a session of it.
    pub fallback: bool,
}

impl fmt::Debug for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Access")
            .field("tokens", &self.tokens.len())
            .field("allowed_origins", &self.allowed_origins)
            .field("fallback", &self.fallback)
            .finish()
    }
}
