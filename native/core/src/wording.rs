//! What clients and their people are told in words that only the back end has: who answers, and what a person can do.

/// The words of a back end. All but the first are told as they are, so they hold no path and no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wording {
    /// Who is asked, as it follows "Ask" in the instructions for the model.
    pub who_is_asked: &'static str,
    /// Sentence of [`ToolError::OutsideRoots`](crate::error::ToolError::OutsideRoots).
    pub outside_roots: &'static str,
    /// Sentence of [`ToolError::NoRoots`](crate::error::ToolError::NoRoots).
    pub no_roots: &'static str,
    /// Sentence of [`ToolError::RootsGone`](crate::error::ToolError::RootsGone).
    pub roots_gone: &'static str,
    /// Sentence of [`ToolError::DocumentNotFound`](crate::error::ToolError::DocumentNotFound).
    pub document_not_found: &'static str,
    /// What to do about [`ToolError::ResponseTooLarge`](crate::error::ToolError::ResponseTooLarge) where no page size
    /// helps: the end of its sentence, without the full stop.
    pub response_too_large: &'static str,
    /// Sentence of a [`ToolError::ProviderUnavailable`](crate::error::ToolError::ProviderUnavailable) that is not
    /// explained.
    pub provider_unavailable: &'static str,
    /// Sentence of [`ToolError::NotAnalysed`](crate::error::ToolError::NotAnalysed).
    pub not_analysed: &'static str,
    /// Sentence of a [`ToolError::ProviderFailed`](crate::error::ToolError::ProviderFailed) that is not explained.
    pub provider_failed: &'static str,
    /// Sentence of [`ToolError::Internal`](crate::error::ToolError::Internal).
    pub internal: &'static str,
    /// What a request is told that names an origin which is not allowed.
    pub origin_refused: &'static str,
    /// What a request is told that carries no valid bearer token.
    pub token_refused: &'static str,
}

impl Wording {
    /// What is true of every back end, for those that have no better words.
    pub const NEUTRAL: Self = Self {
        who_is_asked: "the language servers of this workspace",
        outside_roots: "The file lies outside the allowed roots; ask about a file inside them.",
        no_roots: "There are no allowed roots; allow a folder.",
        roots_gone: "None of the allowed folders is at its place any more; put one back, or allow another.",
        document_not_found: "This file cannot be opened as text; check that the URI names an existing text file.",
        response_too_large: "ask about something more specific",
        provider_unavailable: "No language server answers this for this file; install one for its language.",
        not_analysed: "No language server has reported on this file, so nothing is known about it; call again later.",
        provider_failed: "A language server failed to answer; call again.",
        internal: "The gateway failed on this call; call again, and report it if it goes on.",
        origin_refused: "This Origin is not allowed.",
        token_refused: "A valid bearer token is needed.",
    };
}
