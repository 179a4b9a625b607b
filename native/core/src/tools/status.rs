//! `vscode.lsp.status`: what answers for the languages of the workspace, and how far it has come.

use serde::Serialize;
use serde_json::Value;

use super::listed::{Input, PAGE, listed, output, page_fields};
use crate::ask::{Ask, Raw, Shape, Subject};
use crate::canonical::{CanonicalSet, ordered, string_at};
use crate::error::ToolError;
use crate::limits::MAX_ITEMS_NONPAGED;
use crate::omissions::Omissions;
use crate::order::{MissingLast, Text};
use crate::schema::{Field, Schema, optional, required};
use crate::status::{RawServer, RawStatus, Stage};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

const ASK: Ask = Ask::of_editor("editor/status", Shape::Status);

pub(super) struct Status;

impl Tool for Status {
    fn name(&self) -> &'static str {
        "vscode.lsp.status"
    }

    fn title(&self) -> &'static str {
        "Status"
    }

    fn description(&self) -> &'static str {
        "What answers for each language, whether it is ready, and what it cannot be asked."
    }

    fn input(&self) -> Vec<Field> {
        page_fields().into()
    }

    fn output(&self) -> Vec<Field> {
        let text = |description| Schema::of(description, r#""string""#);
        let stages = Value::from(Stage::words().as_slice());
        let stage = Schema::of(
            "`idle` starts with the first question; of `unknown` nothing shows how far it is.",
            &format!(r#""string","enum":{stages}"#),
        );
        let server = Schema::object(
            "What answers for a language.",
            &[
                required("language", text("The language.")),
                optional("by", text("Its name, with its version.")),
                required("stage", stage),
                optional("why", text("Why it cannot be asked.")),
                optional("cannot", text("What it cannot be asked, by the names of LSP.")),
            ],
        );
        output("languages", Schema::array("What answers, by language.", MAX_ITEMS_NONPAGED, &server), &[])
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn is_about_languages(&self) -> bool {
        true
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let page = Some(Input::read(arguments, &[&PAGE])?.page());
        let question = Question::about(Subject::Workspace { query: None });
        Ok(Arguments { page, ..Arguments::of(question) })
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        let raw = raw.status()?;
        let servers = raw.items.iter().map(|item| Server::of(raw, item)).collect::<Result<Vec<_>, _>>()?;
        let set = CanonicalSet::encode(ordered(servers).iter().map(Server::row))?;
        let opening = r#""languages":["#.to_owned();
        let nouns = ("language server", "language servers");
        Ok(listed(set, String::new(), opening, Vec::new(), nouns, Omissions::default(), asked))
    }

    fn is_paged(&self) -> bool {
        true
    }
}

/// The order of the fields is that of the answer, and leaves no field out.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Server<'a> {
    language: Text<'a>,
    by: MissingLast<Text<'a>>,
    stage: Stage,
    why: MissingLast<Text<'a>>,
    cannot: MissingLast<Text<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    language: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    stage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot: Option<&'a str>,
}

impl<'a> Server<'a> {
    fn of(raw: &'a RawStatus, item: &RawServer) -> Result<Self, ToolError> {
        let text = |index: Option<u32>| {
            let text = index.map(|index| string_at(&raw.strings, index)).transpose()?;
            Ok::<_, ToolError>(MissingLast::from(text.filter(|text| !text.is_empty()).map(Text)))
        };
        let language = Text(string_at(&raw.strings, item.language)?);
        Ok(Self { language, by: text(item.by)?, stage: item.stage, why: text(item.why)?, cannot: text(item.cannot)? })
    }

    fn row(&self) -> Row<'a> {
        let text = |text: MissingLast<Text<'a>>| text.present().map(|Text(text)| text);
        let &Self { language: Text(language), by, stage, why, cannot } = self;
        Row { language, by: text(by), stage: stage.word(), why: text(why), cannot: text(cannot) }
    }
}
