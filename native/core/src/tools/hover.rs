//! `vscode.lsp.hover` (contract section 7.3).

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use super::shared::{place_fields, read_place, summary_field, trimmed};
use crate::ask::{Ask, Raw, Shape};
use crate::canonical::string_at;
use crate::completeness::Completeness;
use crate::error::ToolError;
use crate::hover::RawHovers;
use crate::limits::{MAX_HOVER_FRAGMENT_CODE_POINTS, MAX_HOVER_FRAGMENTS};
use crate::order::Text;
use crate::page::{Payload, ResponseBudget, Whole};
use crate::position::Range;
use crate::schema::{Field, Schema, optional, required};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

const ASK: Ask = Ask::new("textDocument/hover", Shape::Hovers);

pub(super) struct Hover;

impl Tool for Hover {
    fn name(&self) -> &'static str {
        "vscode.lsp.hover"
    }

    fn title(&self) -> &'static str {
        "Hover"
    }

    fn description(&self) -> &'static str {
        "Tells the type, signature and documentation of the symbol at a position. Use it to learn what something is without opening the file that defines it."
    }

    fn input(&self) -> Vec<Field> {
        place_fields()
    }

    fn output(&self) -> Vec<Field> {
        let contents = "What the editor would show at this position, in pieces: signature, type, documentation. Empty if there is nothing to tell.";
        let fragment = Schema::object(
            "One piece.",
            &[
                required("kind", Schema::of("How to read value.", r#""string","enum":["markdown","plaintext"]"#)),
                required("value", Schema::of("The text of the piece.", r#""string","minLength":1"#)),
            ],
        );
        let range = "The code that the hover is about. Absent if the language server did not say.";
        vec![
            required("contents", Schema::array(contents, MAX_HOVER_FRAGMENTS, &fragment)),
            optional("range", Schema::range(range)),
            summary_field(),
        ]
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        read_place(arguments)
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        Ok(Canonical::Whole(Box::new(Answer::new(raw.hovers()?, asked.completeness)?)))
    }
}

/// What the editor would show, normalized and sorted (D12). It is truncated only when it is known how much fits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    fragments: Vec<String>,
    range: Option<Range>,
    completeness: Completeness,
}

/// A fragment as far as it is returned. All are Markdown, so their values alone decide about the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fragment<'a> {
    value: &'a str,
    shortened: bool,
}

#[derive(Serialize)]
struct Encoded<'a> {
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
    summary: String,
}

#[derive(Serialize)]
struct Content<'a> {
    kind: &'static str,
    value: &'a str,
}

impl Answer {
    /// Normalizes what the editor returned.
    fn new(raw: &RawHovers, completeness: Completeness) -> Result<Self, ToolError> {
        let mut fragments = Vec::new();
        let mut ranges = Vec::new();
        let mut taken = HashSet::new();
        for item in &raw.items {
            let value = string_at(&raw.strings, item.value)?;
            if is_blank(value) {
                continue;
            }
            ranges.extend(item.range);
            // One text crosses once, however many hovers hold it, and is to be copied no more often.
            if !taken.insert((item.language, item.value)) {
                continue;
            }
            let language = item.language.map(|language| string_at(&raw.strings, language)).transpose()?;
            fragments.push(match language {
                Some(language) => format!("```{language}\n{value}\n```"),
                None => value.to_owned(),
            });
        }
        fragments.sort_unstable_by(|one, other| Text(one).cmp(&Text(other)));
        fragments.dedup();
        Ok(Self { fragments, range: ranges.into_iter().min(), completeness })
    }

    fn encode(&self, fragments: &[Fragment<'_>]) -> Result<Vec<u8>, ToolError> {
        let contents = fragments.iter().map(|fragment| Content { kind: "markdown", value: fragment.value }).collect();
        let payload = Encoded { contents, range: self.range, summary: self.summary(fragments) };
        serde_json::to_vec(&payload).map_err(|_| ToolError::Internal)
    }

    fn summary(&self, fragments: &[Fragment<'_>]) -> String {
        let (found, returned) = (self.fragments.len(), fragments.len());
        let shortened = fragments.iter().filter(|fragment| fragment.shortened).count();
        let noun = if found == 1 { "fragment" } else { "fragments" };
        let available = match (found - returned, shortened) {
            _ if found == 0 => "No hover available".to_owned(),
            (0, 0) => "Hover available".to_owned(),
            (0, _) => format!("Hover available; shortened {shortened} of {found} {noun}"),
            (_, 0) => format!("Hover available; returned {returned} of {found} {noun}"),
            _ => format!("Hover available; returned {returned} of {found} {noun} and shortened {shortened}"),
        };
        format!("{available}{}.", self.completeness)
    }
}

impl Whole for Answer {
    /// `{"contents":[…],"range":…,"summary":…}`, truncated in the contract's three steps. The steps can make fragments
    /// equal and the last one the smallest, so they are put in order again.
    fn payload(&self, budget: ResponseBudget) -> Result<Payload, ToolError> {
        let clamped = self.fragments.iter().take(MAX_HOVER_FRAGMENTS).map(|value| Fragment::clamped(value));
        let mut fragments = in_order(clamped.collect());
        loop {
            let payload = self.encode(&fragments)?;
            let Err(too_large) = budget.check(payload.len(), || None) else {
                return Ok(Payload::whole(payload, fragments.len()));
            };
            let Some(last) = fragments.pop() else {
                return Err(too_large);
            };
            let ends: Vec<usize> = last.value.char_indices().map(|(at, _)| at).collect();
            let fitting = ends.partition_point(|&end| {
                let shortened = Fragment { value: &last.value[..end], shortened: true };
                let payload = self.encode(&[&fragments[..], &[shortened]].concat());
                payload.is_ok_and(|payload| budget.fits(payload.len()))
            });
            if let Some(&end) = fitting.checked_sub(1).and_then(|fitting| ends.get(fitting)) {
                fragments.push(Fragment { value: &last.value[..end], shortened: true });
                fragments = in_order(fragments);
            }
        }
    }
}

impl<'a> Fragment<'a> {
    fn clamped(value: &'a str) -> Self {
        match value.char_indices().nth(MAX_HOVER_FRAGMENT_CODE_POINTS) {
            Some((end, _)) => Self { value: &value[..end], shortened: true },
            None => Self { value, shortened: false },
        }
    }
}

/// The fragments sorted, without those of which nothing to read is left and without duplicates: where a shortened one
/// equals a whole one, the whole one stays.
fn in_order(mut fragments: Vec<Fragment<'_>>) -> Vec<Fragment<'_>> {
    fragments.retain(|fragment| !is_blank(fragment.value));
    fragments.sort_unstable_by_key(|fragment| (Text(fragment.value), fragment.shortened));
    fragments.dedup_by_key(|fragment| fragment.value);
    fragments
}

fn is_blank(text: &str) -> bool {
    trimmed(text).is_empty()
}
