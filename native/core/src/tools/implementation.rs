//! `vscode.lsp.implementation`: as `vscode.lsp.definition`, for what implements the symbol.

use serde_json::Value;

use super::shared::{place_fields, read_place, targets, targets_output};
use crate::ask::{Ask, Raw, Shape};
use crate::error::ToolError;
use crate::schema::Field;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

const ASK: Ask = Ask::new("textDocument/implementation", Shape::Targets);

pub(super) struct Implementation;

impl Tool for Implementation {
    fn name(&self) -> &'static str {
        "vscode.lsp.implementation"
    }

    fn title(&self) -> &'static str {
        "Implementation"
    }

    fn description(&self) -> &'static str {
        "Finds the code that implements the interface, abstract class, trait or method at a position. Use it to get from a declaration to what runs, in place of a text search for the name."
    }

    fn input(&self) -> Vec<Field> {
        place_fields()
    }

    fn output(&self) -> Vec<Field> {
        let description = "Where the symbol is implemented, sorted by uri and then by range, without duplicates. Empty if the language server knows no implementation.";
        targets_output(description, "implementation")
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        read_place(arguments)
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        targets(answers, asked, "implementation", "implementations")
    }
}
