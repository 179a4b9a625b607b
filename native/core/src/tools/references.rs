//! `vscode.lsp.references` (contract section 7.2).

use serde::Deserialize;
use serde_json::Value;

use super::definition;
use super::shared::{items_page, location_schema, page_fields, page_output, paged, place_fields};
use crate::ask::{Ask, Raw, Shape, Subject};
use crate::canonical::Locations;
use crate::cursor::Cursor;
use crate::error::ToolError;
use crate::limits::MAX_REFERENCES_ITEMS_TOTAL;
use crate::omissions::Omissions;
use crate::page::{PageSize, Payload, ResponseBudget};
use crate::position::Position;
use crate::schema::{Field, Schema, optional};
use crate::snapshots::Retained;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool, read};

pub(super) const ASK: Ask = Ask::new("textDocument/references", Shape::Locations);
const DECLARATION: Ask = Ask::new("textDocument/declaration", Shape::Targets);
pub(super) const WITHOUT_DECLARATIONS: &[Ask] = &[ASK, definition::ASK.optional(), DECLARATION.optional()];

pub(super) struct References;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    #[serde(deserialize_with = "super::shared::uri")]
    uri: String,
    position: Position,
    #[serde(default)]
    include_declaration: bool,
    #[serde(default, deserialize_with = "super::shared::page_size")]
    page_size: Option<u64>,
    #[serde(default)]
    cursor: Option<String>,
}

impl Tool for References {
    fn name(&self) -> &'static str {
        "vscode.lsp.references"
    }

    fn title(&self) -> &'static str {
        "References"
    }

    fn description(&self) -> &'static str {
        "Lists every place in the workspace that refers to the symbol at a position, in pages. Use it before you change or remove something, in place of a text search: it follows renamed imports and leaves out other symbols of the same name. Go on until nextCursor is null."
    }

    fn input(&self) -> Vec<Field> {
        let include = "true: the places that define or declare the symbol are in the list too. false, the default: they are left out.";
        let mut fields = place_fields();
        fields.push(optional("includeDeclaration", Schema::of(include, r#""boolean","default":false"#)));
        fields.extend(page_fields("references", "the same uri, position and includeDeclaration"));
        fields
    }

    fn output(&self) -> Vec<Field> {
        let items =
            "The references on this page. Over all pages they are sorted by uri and then by range, without duplicates.";
        page_output(items, &location_schema("One reference."))
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let Input { uri, position, include_declaration, page_size, cursor } = read(arguments)?;
        let parameters = vec![include_declaration.to_string()];
        Ok(paged(Question { subject: Subject::Place { uri, position }, parameters }, page_size, cursor))
    }

    /// The definitions and declarations there are asked for as well, if they are not wanted in the list (D9).
    fn asks(&self, question: &Question) -> &'static [Ask] {
        let includes_declaration = question.parameters == ["true"];
        if includes_declaration { &[ASK] } else { WITHOUT_DECLARATIONS }
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let (locations, without_range) = found(answers, asked)?;
        let items = locations.len();
        if items > MAX_REFERENCES_ITEMS_TOTAL {
            return Err(ToolError::TooManyItems { items, max_items: MAX_REFERENCES_ITEMS_TOTAL });
        }
        let omissions = Omissions { without_range, ..locations.omissions() };
        Ok(Canonical::Set(Retained {
            set: locations.encode(items)?,
            omissions,
            completeness: asked.completeness,
            frame: None,
        }))
    }

    fn is_paged(&self) -> bool {
        true
    }

    fn page(
        &self,
        retained: &Retained,
        cursor: &Cursor,
        size: PageSize,
        budget: ResponseBudget,
    ) -> Result<Payload, ToolError> {
        items_page(retained, cursor, size, budget, "reference", "references")
    }
}

/// The references without the definitions and declarations that were asked for as well, and how many have no range.
pub(super) fn found(answers: &[Raw], asked: &Asked<'_>) -> Result<(Locations, usize), ToolError> {
    let (references, declarations) = answers.split_first().ok_or(ToolError::Internal)?;
    let references = references.locations()?;
    let declarations = declarations.iter().map(Raw::targets).collect::<Result<Vec<_>, _>>()?;
    let locations = Locations::of_references(references, &declarations, asked.roots, asked.real)?;
    Ok((locations, references.without_range))
}
