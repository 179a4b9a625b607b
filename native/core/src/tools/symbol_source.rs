//! `vscode.lsp.symbol.source`: what is written in a symbol.

use serde_json::Value;

use super::document_symbols::{ASK, innermost};
use super::listed::{Input, PAGE, TARGET, listed, of_target, page_fields, target_fields, target_member};
use crate::ask::{Ask, Raw};
use crate::canonical::CanonicalSet;
use crate::error::ToolError;
use crate::limits::MAX_DOCUMENT_SYMBOLS_TRAVERSED;
use crate::omissions::Omissions;
use crate::place;
use crate::position::{Position, Range};
use crate::schema::{Field, Schema, optional};
use crate::texts;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

/// The longest line that is given whole, in characters.
const MAX_LINE: usize = 2_000;

pub(super) struct SymbolSource;

impl Tool for SymbolSource {
    fn name(&self) -> &'static str {
        "vscode.lsp.symbol.source"
    }

    fn title(&self) -> &'static str {
        "Symbol source"
    }

    fn description(&self) -> &'static str {
        "Source lines of the symbol of a name, or at or around a place, with its comment."
    }

    fn input(&self) -> Vec<Field> {
        let mut fields = target_fields();
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        let line = Schema::of("A line.", r#""string""#);
        let lines = Schema::array("The lines of the range, in order.", MAX_DOCUMENT_SYMBOLS_TRAVERSED, &line);
        let mut fields = of_target("source", lines, &[]);
        fields.extend([
            optional("path", Schema::of("The file.", r#""string""#)),
            optional("range", Schema::of("The symbol with its comment.", r#""string""#)),
            optional("digest", Schema::of("What tells the text of the file from others.", r#""string""#)),
        ]);
        fields
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        Input::read(arguments, &[&TARGET, &PAGE])?.about_target(Vec::new())
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn reads_texts(&self, _: &Question) -> bool {
        true
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let ([raw], Some(document), Some(position)) = (answers, asked.document, asked.question.subject.position())
        else {
            return Err(ToolError::Internal);
        };
        let Some(symbol) = innermost(raw.document_symbols()?, position)? else {
            let advice = "No symbol is at this place; pass a place that `outline` gives.";
            return Err(ToolError::InvalidParams(advice.to_owned()));
        };
        let symbol = symbol.range;
        let text = asked.texts.text(document).ok_or(ToolError::TextUntold)?;
        let lines = texts::lines(&text);
        let last = lines.len() - 1;
        let end = (symbol.end.line as usize).min(last);
        let first = first_of_comment(&lines, (symbol.start.line as usize).min(last));
        let range = match u32::try_from(first) {
            Ok(line) if line < symbol.start.line => Range { start: Position { line, character: 0 }, ..symbol },
            _ => symbol,
        };
        let (root, path) = asked.roots.shown(document).ok_or(ToolError::Internal)?;
        let roots = asked.roots.told(&[root].into());
        let opening = format!(
            r#"{}"path":{},"range":"{}","digest":"{}","source":["#,
            target_member(asked),
            Value::from(path),
            place::written(range),
            texts::digest(&text)
        );
        let set = CanonicalSet::encode(lines[first..=end].iter().map(|line| cut(line)))?;
        Ok(listed(set, roots, opening, Vec::new(), ("line", "lines"), Omissions::default(), asked))
    }

    fn is_paged(&self) -> bool {
        true
    }
}

/// The first line of the comment and of what else stands right above a line and belongs to it, such as attributes; the line
/// itself if there is none.
fn first_of_comment(lines: &[&str], line: usize) -> usize {
    let mut first = line;
    while first > 0 {
        let above = lines[first - 1].trim();
        if ["//", "# ", "#[", "@", "-- "].iter().any(|opening| above.starts_with(opening)) || above == "#" {
            first -= 1;
        } else if above.ends_with("*/")
            && let Some(begin) = lines[..first].iter().rposition(|line| line.contains("/*"))
            && is_comment(&lines[begin..first])
        {
            first = begin;
        } else {
            break;
        }
    }
    first
}

/// Whether lines are one comment and nothing else.
fn is_comment(lines: &[&str]) -> bool {
    let Some(after) = lines.first().and_then(|first| first.trim_start().strip_prefix("/*")) else { return false };
    let rest = lines.get(1..).unwrap_or_default();
    let ends = [after].into_iter().chain(rest.iter().copied()).enumerate().find(|(_, line)| line.contains("*/"));
    ends.is_some_and(|(number, line)| {
        number == rest.len() && line.find("*/").is_some_and(|at| line[at + 2..].trim().is_empty())
    })
}

/// The line, or of a very long one its beginning.
fn cut(line: &str) -> String {
    let mut shown: String = line.chars().take(MAX_LINE).collect();
    if shown.len() < line.len() {
        shown.push('\u{2026}');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_right_above_a_symbol_and_belongs_to_it_is_its_comment() {
        let cases = [
            (&["/** Lifts. */", "lift() {"][..], 0),
            (&["a();", "/**", " * Lifts.", " */", "@deprecated", "lift() {"], 1),
            (&["/// Lifts.", "#[must_use]", "fn lift() {"], 0),
            (&["# Lifts.", "def lift():"], 0),
            (&["#include <a.h>", "int lift() {"], 1),
            (&["// Of all.", "", "int lift() {"], 2),
            (&["a(); /* of a */", "int lift() {"], 1),
            (&["/* of a */ a();", "b(); // or */", "int lift() {"], 2),
            (&["/* of a */ a(); /* of a */", "int lift() {"], 1),
            (&["/* of a */", "a(); // or */", "int lift() {"], 2),
            (&["// Lifts */", "int lift() {"], 0),
            (&["/**/", "int lift() {"], 0),
            (&["--i;", "int lift() {"], 1),
            (&["-- Lifts.", "lift = 1"], 0),
            (&["a", "#", "# Lifts.", "#", "def lift():"], 1),
        ];
        for (lines, first) in cases {
            assert_eq!(first_of_comment(lines, lines.len() - 1), first, "{lines:?}");
        }
    }
}
