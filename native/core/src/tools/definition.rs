//! `vscode.lsp.definition` (contract section 7.1).

use serde::Deserialize;

use super::Whole;
use crate::belief::Belief;
use crate::canonical::{CanonicalSet, Locations};
use crate::error::ToolError;
use crate::left_out::LeftOut;
use crate::limits::MAX_ITEMS_NONPAGED;
use crate::location::RawTargets;
use crate::page::{EncodedPayload, ResponseBudget, list_payload};
use crate::position::Position;
use crate::roots::{AllowedRoots, RealPaths};

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The document, as the caller names it.
    pub uri: String,
    /// Where in the document.
    pub position: Position,
}

/// The definitions, canonical and cut to what may be returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    locations: CanonicalSet,
    found: usize,
    left_out: LeftOut,
    belief: Belief,
}

impl Answer {
    /// Canonicalizes what the editor returned.
    pub fn new(
        raw: &RawTargets,
        belief: Belief,
        roots: &AllowedRoots,
        real: &dyn RealPaths,
    ) -> Result<Self, ToolError> {
        let locations = Locations::of_targets(raw, roots, real)?;
        Ok(Self {
            locations: locations.encode(MAX_ITEMS_NONPAGED)?,
            found: locations.len(),
            left_out: LeftOut { without_range: raw.without_range, ..locations.left_out() },
            belief,
        })
    }

    fn summary(&self) -> String {
        let returned = self.locations.len();
        let found = match self.found {
            0 => "Found no definition".to_owned(),
            1 => "Found 1 definition".to_owned(),
            found if found > returned => format!("Returned {returned} of {found} definitions"),
            found => format!("Found {found} definitions"),
        };
        format!("{found}{}{}.", self.left_out, self.belief)
    }
}

impl Whole for Answer {
    /// `{"locations":[…],"summary":…}`.
    fn payload(&self, budget: ResponseBudget) -> Result<EncodedPayload, ToolError> {
        list_payload(r#"{"locations":["#, &self.locations, &self.summary(), budget)
    }
}
