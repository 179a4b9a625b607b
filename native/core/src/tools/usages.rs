//! `vscode.lsp.usages`: as `vscode.lsp.references`, by file and in few tokens.

use serde_json::{Value, json};

use super::listed::{
    ByFile, Detail, Input, PAGE, TARGET, files_schema, lines_field, listed, of_target, page_fields, paths_field,
    target_fields, target_member, wants_lines,
};
use super::references::{self, ASK, WITHOUT_DECLARATIONS};
use crate::ask::{Ask, Raw};
use crate::canonical::CanonicalSet;
use crate::error::ToolError;
use crate::limits::{MAX_OUTLINED, MAX_REFERENCES_ITEMS_TOTAL};
use crate::schema::{Field, Schema, optional};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};
use crate::uri::CanonicalUri;

pub(super) struct Usages;

/// Of a place where there is no definition, either.
const NO_NAME: &str = "uses, and no definition: check that the place is on a name";
const COUNTS: &str = "counts";
const SYMBOLS: &str = "symbols";
const WITH_DECLARATIONS: &str = "declarations";

impl Tool for Usages {
    fn name(&self) -> &'static str {
        "vscode.lsp.usages"
    }

    fn title(&self) -> &'static str {
        "Usages"
    }

    fn description(&self) -> &'static str {
        "All uses of the symbol at a place, by file. For a symbol with many, take counts first, then paths."
    }

    fn input(&self) -> Vec<Field> {
        let mut fields = target_fields();
        fields.extend([
            optional(
                "detail",
                Schema::of("symbols: what each is in", r#""string","enum":["places","counts","symbols"]"#),
            ),
            lines_field(),
            paths_field(),
            optional("declarations", Schema::of("List them too", r#""boolean""#)),
        ]);
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        of_target("files", files_schema(), &["uses", "inFiles"])
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let input = Input::read(arguments, &[&TARGET, &["detail", "lines", "paths", "declarations"], &PAGE])?;
        let detail = match input.detail {
            Detail::Places => "",
            Detail::Counts => COUNTS,
            Detail::Symbols => SYMBOLS,
        };
        let lines = input.lines_parameter();
        let declarations = if input.declarations { WITH_DECLARATIONS } else { "" };
        let paths = json!(input.paths).to_string();
        input.about_target(vec![declarations.to_owned(), detail.to_owned(), lines, paths])
    }

    fn asks(&self, question: &Question) -> &'static [Ask] {
        let with_declarations = question.parameters.get(1).is_some_and(|parameter| parameter == WITH_DECLARATIONS);
        if with_declarations { &[ASK] } else { WITHOUT_DECLARATIONS }
    }

    fn reads_texts(&self, question: &Question) -> bool {
        wants_lines(question)
    }

    fn takes_outlines(&self, question: &Question) -> bool {
        question.parameters.get(2).is_some_and(|detail| detail == SYMBOLS)
    }

    fn documents(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Vec<CanonicalUri>, ToolError> {
        Ok(found(answers, asked)?.files.into_iter().map(|file| file.uri).collect())
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let detail = asked.question.parameters.get(2).ok_or(ToolError::Internal)?;
        let mut found = found(answers, asked)?;
        let (uses, in_files) = (found.places(), found.files.len());
        if uses > MAX_REFERENCES_ITEMS_TOTAL {
            return Err(ToolError::TooManyItems { items: uses, max_items: MAX_REFERENCES_ITEMS_TOTAL });
        }
        let is_no_name = answers.len() > 1 && answers.iter().all(Raw::is_empty);
        let many = |many| if is_no_name { NO_NAME } else { many };
        let counts = format!(r#""uses":{uses},"inFiles":{in_files},"#);
        if detail == SYMBOLS {
            found.omissions.without_symbol = found.files.iter().skip(MAX_OUTLINED).map(|file| file.places.len()).sum();
        }
        if detail != COUNTS {
            return found.grouped(&counts, ("use", many("uses")), wants_lines(asked.question), asked);
        }
        // The members stand in the order in which places have them.
        let file = |path: &str, uses: usize| format!(r#"{{"path":{},"uses":{uses}}}"#, Value::from(path));
        let set = CanonicalSet::of_json(found.files.iter().map(|of| file(&of.path, of.places.len())));
        Ok(listed(
            set,
            found.roots,
            format!(r#"{}{counts}"files":["#, target_member(asked)),
            Vec::new(),
            ("file", many("files")),
            found.omissions,
            asked,
        ))
    }

    fn is_paged(&self) -> bool {
        true
    }
}

fn found(answers: &[Raw], asked: &Asked<'_>) -> Result<ByFile, ToolError> {
    let paths = asked.question.parameters.last().ok_or(ToolError::Internal)?;
    let paths: Vec<String> = serde_json::from_str(paths).map_err(|_| ToolError::Internal)?;
    let (locations, without_range) = references::found(answers, asked)?;
    Ok(ByFile::of(&locations, without_range, &paths, asked)?.beginnings())
}
