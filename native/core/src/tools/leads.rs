//! `vscode.lsp.implementation`, `vscode.lsp.typeDefinition` and `vscode.lsp.declaration`: where a symbol leads to, by file. They
//! differ in what is asked.

use serde_json::Value;

use super::listed::{
    Input, PAGE, TARGET, files_schema, lines_field, of_target, page_fields, target_fields, targets, wants_lines,
};
use crate::ask::{Ask, Raw, Shape};
use crate::error::ToolError;
use crate::schema::Field;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

/// A tool that finds where a symbol leads to.
pub(super) struct Leads {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    asks: &'static [Ask],
    /// What is found is called: one, and many.
    nouns: (&'static str, &'static str),
}

pub(super) static IMPLEMENTATION: Leads = Leads {
    name: "vscode.lsp.implementation",
    title: "Implementation",
    description: "What implements the interface, class or method at a place.",
    asks: &[Ask::new("textDocument/implementation", Shape::Targets)],
    nouns: ("implementation", "implementations"),
};

pub(super) static TYPE_DEFINITION: Leads = Leads {
    name: "vscode.lsp.typeDefinition",
    title: "Type definition",
    description: "Where the type of the value at a place is defined.",
    asks: &[Ask::new("textDocument/typeDefinition", Shape::Targets)],
    nouns: ("type definition", "type definitions"),
};

pub(super) static DECLARATION: Leads = Leads {
    name: "vscode.lsp.declaration",
    title: "Declaration",
    description: "Where the symbol at a place is declared, if not where it is defined.",
    asks: &[Ask::new("textDocument/declaration", Shape::Targets)],
    nouns: ("declaration", "declarations"),
};

impl Tool for Leads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn input(&self) -> Vec<Field> {
        let mut fields = target_fields();
        fields.push(lines_field());
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        of_target("files", files_schema(), &[])
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let input = Input::read(arguments, &[&TARGET, &["lines"], &PAGE])?;
        let lines = input.lines_parameter();
        input.about_target(vec![lines])
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        self.asks
    }

    fn reads_texts(&self, question: &Question) -> bool {
        wants_lines(question)
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        targets(answers, asked, self.nouns)
    }

    fn is_paged(&self) -> bool {
        true
    }
}
