//! `vscode.lsp.declaration`: where a symbol is declared, by file.

use serde_json::Value;

use super::listed::{files_schema, output, page_fields, place_fields, read_place, targets};
use crate::ask::{Ask, Raw, Shape};
use crate::error::ToolError;
use crate::schema::Field;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

const ASK: Ask = Ask::new("textDocument/declaration", Shape::Targets);

pub(super) struct Declaration;

impl Tool for Declaration {
    fn name(&self) -> &'static str {
        "vscode.lsp.declaration"
    }

    fn title(&self) -> &'static str {
        "Declaration"
    }

    fn description(&self) -> &'static str {
        "Where the symbol at a place is declared, if not where it is defined."
    }

    fn input(&self) -> Vec<Field> {
        let mut fields = place_fields();
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        output("files", files_schema(), &[])
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
        targets(answers, asked, "declaration", "declarations")
    }

    fn is_paged(&self) -> bool {
        true
    }
}
