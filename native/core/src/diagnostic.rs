//! Diagnostics: as an editor holds them, and by file in canonical order, as both diagnostics tools return them (contract
//! sections 4.2 and 7.6, D18).

use serde::Serialize;

use crate::canonical::{Allowed, Name, Names, string_at};
use crate::error::ToolError;
use crate::keys::ItemId;
use crate::omissions::Omissions;
use crate::order::{MissingLast, Text};
use crate::position::{Position, Range};
use crate::roots::{AllowedRoots, RealPaths};
use crate::uri::CanonicalUri;

/// LSP's number of a severity: 1 (an error) to 4 (a hint) (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Severity(u32);

impl Severity {
    /// The severity with this number of LSP, if there is one.
    pub fn of_lsp(number: u32) -> Option<Self> {
        (1..=4).contains(&number).then_some(Self(number))
    }
}

/// Everything that is published. Texts and URIs are interned: an item names them by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawDiagnostics {
    /// The distinct texts and URIs.
    pub strings: Vec<String>,
    /// What is published, in the editor's order.
    pub items: Vec<RawReport>,
    /// For each diagnostic without a range or a message, the index of the URI that it was published for.
    pub incomplete: Vec<u32>,
}

/// One diagnostic of one document, or that the document was published without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawReport {
    /// Index of the URI.
    pub uri: u32,
    /// Nothing if somebody looked at the document and had nothing to report.
    pub diagnostic: Option<RawDiagnostic>,
}

/// One diagnostic of a [`RawReport`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawDiagnostic {
    /// What it is about.
    pub range: Range,
    /// How bad it is.
    pub severity: Option<Severity>,
    /// Index of the reporter's code for this kind of problem, as text.
    pub code: Option<u32>,
    /// Index of the name of the reporter.
    pub source: Option<u32>,
    /// Index of the message.
    pub message: u32,
}

/// What is published about the files inside the roots, several URIs of one real path taken together (D18).
pub(crate) struct Published<'a> {
    reports: Allowed<Report<'a>>,
}

/// One thing that is published about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Report<'a> {
    /// That there are no diagnostics.
    Nothing,
    /// A diagnostic without a range or a message. There is nothing to tell two of them apart by but their place in what
    /// the editor returned.
    Incomplete(usize),
    /// The end of the range takes no part in the contract's order; here it keeps diagnostics apart that differ in nothing
    /// else.
    Diagnostic(SortKey<'a>, Position),
}

/// What is published about one file.
pub(crate) struct File<'a> {
    /// In canonical order and without duplicates.
    pub(crate) diagnostics: Vec<Encoded<'a>>,
    /// How many more there are that have no range or no message.
    pub(crate) incomplete: usize,
}

/// The order of the fields is the contract's order of the diagnostics of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey<'a> {
    start: Position,
    severity: MissingLast<Severity>,
    code: MissingLast<Text<'a>>,
    source: MissingLast<Text<'a>>,
    message: Text<'a>,
}

/// A diagnostic of a known file. Where the sort keys are equal, `id` is the first member in which the canonical JSON of
/// two diagnostics differs, so it decides (D5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Diagnostic<'a> {
    key: SortKey<'a>,
    id: ItemId,
    end: Position,
}

/// A diagnostic with its members in the contract's order.
#[derive(Debug, Serialize)]
pub(crate) struct Encoded<'a> {
    id: ItemId,
    range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    message: &'a str,
}

impl<'a> Published<'a> {
    pub(crate) fn new(raw: &'a RawDiagnostics, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<Self, ToolError> {
        let mut names = Names::new(roots, real);
        let admitted = names.admit(&raw.strings, raw.items.iter().map(|report| report.uri))?;
        let reports = raw.items.iter().map(|report| match &report.diagnostic {
            Some(diagnostic) => SortKey::of(&raw.strings, diagnostic).map(|(key, end)| Report::Diagnostic(key, end)),
            None => Ok(Report::Nothing),
        });
        let reports = admitted.into_iter().zip(reports).map(|(name, report)| Ok((name, report?)));
        let mut reports = reports.collect::<Result<Vec<_>, ToolError>>()?;
        let incomplete = names.admit(&raw.strings, raw.incomplete.iter().copied())?;
        reports.extend(incomplete.into_iter().zip((0..).map(Report::Incomplete)));
        Ok(Self { reports: names.order(reports) })
    }

    /// Each file that something is published about, in the order of their URIs.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&CanonicalUri, File<'a>)> {
        self.reports.by_uri().map(|(uri, reports)| {
            let (mut diagnostics, mut incomplete) = (Vec::new(), 0);
            for (_, report) in reports {
                match *report {
                    Report::Nothing => {}
                    Report::Incomplete(_) => incomplete += 1,
                    Report::Diagnostic(key, end) => diagnostics.push(Diagnostic::of(uri, key, end)),
                }
            }
            diagnostics.sort_unstable();
            (uri, File { diagnostics: diagnostics.into_iter().map(Diagnostic::encoded).collect(), incomplete })
        })
    }

    /// How many documents with diagnostics are left out because of their URIs.
    pub(crate) fn omissions(&self) -> Omissions {
        let documents = |reports: &[(Name, Report<'_>)]| {
            let mut names: Vec<_> =
                reports.iter().filter(|(_, report)| *report != Report::Nothing).map(|(name, _)| name).collect();
            names.dedup();
            names.len()
        };
        Omissions {
            outside: documents(&self.reports.outside),
            missing: documents(&self.reports.missing),
            ..Omissions::default()
        }
    }
}

impl<'a> SortKey<'a> {
    fn of(strings: &'a [String], raw: &RawDiagnostic) -> Result<(Self, Position), ToolError> {
        let text = |index: Option<u32>| index.map(|index| string_at(strings, index)).transpose();
        let key = Self {
            start: raw.range.start,
            severity: raw.severity.into(),
            code: text(raw.code)?.map(Text).into(),
            source: text(raw.source)?.filter(|source| !source.is_empty()).map(Text).into(),
            message: Text(string_at(strings, raw.message)?),
        };
        Ok((key, raw.range.end))
    }
}

impl<'a> Diagnostic<'a> {
    fn of(uri: &CanonicalUri, key: SortKey<'a>, end: Position) -> Self {
        let SortKey { start, severity, code, source, message: Text(message) } = key;
        let severity = severity.present().map_or_else(String::new, |Severity(number)| number.to_string());
        let [code, source] = [code, source].map(|text| text.present().map_or("", |Text(text)| text));
        let id = ItemId::of(&format!("{uri}|{start}|{end}|{severity}|{code}|{source}|{message}"));
        Self { key, id, end }
    }

    fn encoded(self) -> Encoded<'a> {
        let SortKey { start, severity, code, source, message: Text(message) } = self.key;
        let [code, source] = [code, source].map(|text| text.present().map(|Text(text)| text));
        Encoded {
            id: self.id,
            range: Range { start, end: self.end },
            severity: severity.present(),
            code,
            source,
            message,
        }
    }
}
