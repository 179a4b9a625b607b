//! `vscode.lsp.usages`: as `vscode.lsp.references`, by file and in few tokens.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::listed::{
    ByFile, about_place, check_globs, files_schema, listed, output, page_fields, place_fields, place_text, text,
};
use super::references::{self, ASK, WITHOUT_DECLARATIONS};
use super::shared::page_size;
use crate::ask::{Ask, Raw};
use crate::canonical::CanonicalSet;
use crate::error::ToolError;
use crate::limits::MAX_REFERENCES_ITEMS_TOTAL;
use crate::page::WantedPage;
use crate::position::Range;
use crate::schema::{Field, Schema, optional};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool, read_flat};

pub(super) struct Usages;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    file: String,
    #[serde(deserialize_with = "place_text")]
    at: Result<Range, ToolError>,
    #[serde(default)]
    detail: Detail,
    #[serde(default)]
    declarations: bool,
    #[serde(default, deserialize_with = "patterns")]
    paths: Vec<String>,
    #[serde(default, deserialize_with = "page_size")]
    max_tokens: Option<u64>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default, deserialize_with = "text")]
    if_state: Option<String>,
}

/// How much is told of each file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Detail {
    #[default]
    Places,
    Counts,
}

const COUNTS: &str = "counts";
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
        let mut fields = place_fields();
        fields.extend([
            optional("detail", Schema::plain(r#""string","enum":["places","counts"]"#)),
            optional("paths", Schema::of("Globs", r#""array","items":{"type":"string"}"#)),
            optional("declarations", Schema::of("List them too", r#""boolean""#)),
        ]);
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        output("files", files_schema(), &["uses", "inFiles"])
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let Input { file, at, detail, declarations, paths, max_tokens, cursor, if_state } = read_flat(arguments)?;
        check_globs(&paths)?;
        let detail = if detail == Detail::Counts { COUNTS } else { "" };
        let declarations = if declarations { WITH_DECLARATIONS } else { "" };
        let parameters = vec![declarations.to_owned(), detail.to_owned(), json!(paths).to_string()];
        about_place(file, at, parameters, WantedPage { size: max_tokens, cursor, if_state })
    }

    fn asks(&self, question: &Question) -> &'static [Ask] {
        let with_declarations = question.parameters.first().is_some_and(|parameter| parameter == WITH_DECLARATIONS);
        if with_declarations { &[ASK] } else { WITHOUT_DECLARATIONS }
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [_, detail, paths] = &*asked.question.parameters else { return Err(ToolError::Internal) };
        let paths: Vec<String> = serde_json::from_str(paths).map_err(|_| ToolError::Internal)?;
        let (locations, without_range) = references::found(answers, asked)?;
        let found = ByFile::of(&locations, without_range, &paths, asked)?;
        let (uses, in_files) = (found.places(), found.files.len());
        if uses > MAX_REFERENCES_ITEMS_TOTAL {
            return Err(ToolError::TooManyItems { items: uses, max_items: MAX_REFERENCES_ITEMS_TOTAL });
        }
        let counts = format!(r#""uses":{uses},"inFiles":{in_files},"#);
        if detail != COUNTS {
            return found.grouped(&counts, ("use", "uses"), asked);
        }
        // The members stand in the order in which places have them.
        let file = |path: &str, uses: usize| format!(r#"{{"path":{},"uses":{uses}}}"#, Value::from(path));
        let set = CanonicalSet::of_json(found.files.iter().map(|of| file(&of.path, of.places.len())));
        Ok(listed(
            set,
            found.roots,
            format!(r#"{counts}"files":["#),
            Vec::new(),
            ("file", "files"),
            found.omissions,
            asked,
        ))
    }

    fn is_paged(&self) -> bool {
        true
    }
}

/// Reads a list of patterns.
fn patterns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Vec::deserialize(deserializer)
}
