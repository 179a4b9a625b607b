//! `vscode.lsp.definition` (contract section 7.1).

use serde_json::Value;

use super::shared::{place_fields, read_place, targets, targets_output};
use crate::ask::{Ask, Raw, Shape};
use crate::error::ToolError;
use crate::schema::Field;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

pub(super) const ASK: Ask = Ask::new("textDocument/definition", Shape::Targets);

pub(super) struct Definition;

impl Tool for Definition {
    fn name(&self) -> &'static str {
        "vscode.lsp.definition"
    }

    fn title(&self) -> &'static str {
        "Definition"
    }

    fn description(&self) -> &'static str {
        "Finds where the symbol at a position is defined, as the editor's language server resolves it, through imports and re-exports. Use it in place of a text search to get from a use of a name to the code behind it."
    }

    fn input(&self) -> Vec<Field> {
        place_fields()
    }

    fn output(&self) -> Vec<Field> {
        let description = "Where the symbol is defined, sorted by uri and then by range, without duplicates. Empty if the language server knows no definition there.";
        targets_output(description, "definition")
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        read_place(arguments)
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        targets(answers, asked, "definition", "definitions")
    }
}
