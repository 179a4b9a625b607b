//! Diagnostics of TypeScript up to 6. Its language servers publish them without a version, but hand on requests to `tsserver`,
//! which answers in its order.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The command by which a request is handed on.
pub(crate) const COMMAND: &str = "typescript.tsserverRequest";
/// What reports on a file.
pub(crate) const REPORTS: [&str; 3] =
    ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"];

/// Whether what a project is made up of depends on a file of this name.
pub(crate) fn is_of_project(name: &str) -> bool {
    let is_known = |stem: &str| stem == "package" || stem == "jsconfig" || stem.starts_with("tsconfig");
    name.strip_suffix(".json").is_some_and(is_known)
}

/// What was reported, as diagnostics of LSP; nothing if it is no answer of `tsserver`.
pub(crate) fn diagnostics(answer: &RawValue) -> Option<Vec<Value>> {
    #[derive(Deserialize)]
    struct Answer {
        body: Vec<Diagnostic>,
    }
    #[derive(Deserialize)]
    struct Diagnostic {
        start: Place,
        end: Place,
        text: String,
        #[serde(default)]
        code: Option<u32>,
        #[serde(default)]
        source: Option<String>,
        category: String,
    }
    /// Both from 1.
    #[derive(Deserialize)]
    struct Place {
        line: u32,
        offset: u32,
    }
    let place = |Place { line, offset }: Place| json!({ "line": line.saturating_sub(1), "character": offset.saturating_sub(1) });
    let Answer { body } = serde_json::from_str(answer.get()).ok()?;
    let diagnostics = body.into_iter().map(|Diagnostic { start, end, text, code, source, category }| {
        let severity = match category.as_str() {
            "error" => 1,
            "warning" => 2,
            "message" => 3,
            _ => 4,
        };
        json!({
            "range": { "start": place(start), "end": place(end) },
            "severity": severity,
            "code": code,
            "source": source.unwrap_or_else(|| "ts".to_owned()),
            "message": text,
        })
    });
    Some(diagnostics.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<Value>> {
        diagnostics(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn lines_and_columns_count_from_zero_and_categories_become_severities() {
        let text = r#"{"type":"response","body":[{"start":{"line":3,"offset":7},"end":{"line":3,"offset":9},
            "text":"'a' is declared but never used.","code":6133,"category":"suggestion","reportsUnnecessary":{}}]}"#;
        let range = json!({ "start": { "line": 2, "character": 6 }, "end": { "line": 2, "character": 8 } });
        let message = "'a' is declared but never used.";
        let expected = json!({ "range": range, "severity": 4, "code": 6133, "source": "ts", "message": message });
        assert_eq!(read(text), Some(vec![expected]));
    }

    #[test]
    fn what_is_no_answer_is_not_taken_for_no_diagnostics() {
        assert_eq!(read(r#"{"type":"cancelled"}"#), None);
        assert_eq!(read("null"), None);
        assert_eq!(read(r#"{"body":[]}"#), Some(Vec::new()));
    }

    #[test]
    fn a_project_is_made_up_by_its_configuration() {
        let of_project: Vec<_> = ["package.json", "tsconfig.build.json", "jsconfig.json", "data.json", "tsconfig.ts"]
            .map(is_of_project)
            .to_vec();
        assert_eq!(of_project, [true, true, true, false, false]);
    }
}
