//! `vscode.lsp.documentHighlights`: the places in one document that belong to the symbol at a position.

use serde::Serialize;
use serde_json::Value;

use super::shared::{counted_of, place_fields, read_place, summary_field};
use crate::ask::{Ask, Raw, Shape};
use crate::canonical::{CanonicalSet, ordered};
use crate::error::ToolError;
use crate::highlight::HighlightKind;
use crate::limits::MAX_ITEMS_NONPAGED;
use crate::omissions::Omissions;
use crate::page::List;
use crate::position::Range;
use crate::schema::{Field, Schema, optional, required};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

const ASK: Ask = Ask::new("textDocument/documentHighlight", Shape::Highlights);

pub(super) struct DocumentHighlights;

/// The order of the fields is the order of highlights, which leaves no field out, so it is total (D5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Highlight {
    range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<HighlightKind>,
}

impl Tool for DocumentHighlights {
    fn name(&self) -> &'static str {
        "vscode.lsp.documentHighlights"
    }

    fn title(&self) -> &'static str {
        "Document highlights"
    }

    fn description(&self) -> &'static str {
        "Finds the places in the same file that belong to the symbol at a position, and tells where it is read and where it is written. Use it to follow a variable through a function, where references would list other files as well."
    }

    fn input(&self) -> Vec<Field> {
        place_fields()
    }

    fn output(&self) -> Vec<Field> {
        let list =
            "The places in the file, sorted by range, without duplicates. Empty if the language server knows none.";
        let kind = "LSP's DocumentHighlightKind: 1 text, 2 read, 3 write. Absent if the language server did not say.";
        let highlight = Schema::object(
            "One place.",
            &[
                required("range", Schema::range("Where in the file.")),
                optional("kind", Schema::of(kind, r#""integer","minimum":1,"maximum":3"#)),
            ],
        );
        vec![required("highlights", Schema::array(list, MAX_ITEMS_NONPAGED, &highlight)), summary_field()]
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn is_in_core(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        read_place(arguments)
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        let raw = raw.highlights()?;
        let highlights = ordered(raw.items.iter().map(|&(range, kind)| Highlight { range, kind }).collect());
        let items = CanonicalSet::encode(highlights.iter().take(MAX_ITEMS_NONPAGED))?;
        let omissions = Omissions { without_range: raw.without_range, ..Omissions::default() };
        let returned = counted_of(items.len(), highlights.len(), "highlight", "highlights");
        let summary = format!("Returned {returned}{omissions}{}.", asked.completeness);
        Ok(Canonical::Whole(Box::new(List { opening: r#"{"highlights":["#.to_owned(), items, summary })))
    }
}
