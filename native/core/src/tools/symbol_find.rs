//! `vscode.lsp.symbol.find`: where what has a name is.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobSet;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document_symbols::{self, containers, name};
use super::listed::{Input, PAGE, file_schema, globs, listed, output, page_fields, paths_field, symbols_schema};
use crate::ask::{Ask, Raw, Shape, Subject};
use crate::canonical::{Allowed, CanonicalSet, Names, ordered, string_at};
use crate::completeness::Completeness;
use crate::error::ToolError;
use crate::limits::{MAX_DOCUMENT_SYMBOLS_TRAVERSED, MAX_OUTLINED};
use crate::name_path::{Fit, NamePath};
use crate::omissions::Omissions;
use crate::order::Text;
use crate::place;
use crate::position::{Position, Range};
use crate::schema::{Field, Schema, optional, required};
use crate::snapshots::Retained;
use crate::symbol::{RawDocumentSymbols, RawWorkspaceSymbols, SymbolKind};
use crate::texts::ShownLines;
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};
use crate::uri::CanonicalUri;

/// Where a server stops to search: the smallest number that one of them is known to have.
const SEARCH_LIMIT: usize = 100;

const SEARCH: Ask = Ask::new("workspace/symbol", Shape::WorkspaceSymbols);

pub(super) struct SymbolFind;

impl Tool for SymbolFind {
    fn name(&self) -> &'static str {
        "vscode.lsp.symbol.find"
    }

    fn title(&self) -> &'static str {
        "Find symbol"
    }

    fn description(&self) -> &'static str {
        "Where a symbol is, by name: of all that fit best. lift[1] is the second lift of its container."
    }

    fn input(&self) -> Vec<Field> {
        let mut fields = vec![
            required("symbol", Schema::of("Such as Class.method", r#""string""#)),
            optional("file", file_schema()),
            optional("kinds", Schema::of("Such as method", r#""array","items":{"type":"string"}"#)),
            paths_field(),
        ];
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        output("symbols", symbols_schema("The symbols, by file and place."), &[])
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let mut input = Input::read(arguments, &[&["symbol", "file", "kinds", "paths"], &PAGE])?;
        let page = Some(input.page());
        let Input { symbol: Some(symbol), file, kinds, paths, .. } = input else { return Err(Misfit::Schema) };
        let unknown = |kind: &String| !SymbolKind::words().any(|word| word == kind);
        if kinds.iter().any(unknown) {
            let known: Vec<_> = SymbolKind::words().collect();
            let advice = format!("`kinds` names a kind that there is not; pass some of: {}.", known.join(", "));
            return Err(Misfit::Refused(ToolError::InvalidParams(advice)));
        }
        let question = question(file, &symbol, &kinds, &paths).map_err(Misfit::Refused)?;
        Ok(Arguments { page, by_path: true, ..Arguments::of(question) })
    }

    fn asks(&self, question: &Question) -> &'static [Ask] {
        if question.subject.uri().is_some() { &[document_symbols::ASK] } else { &[SEARCH] }
    }

    fn reads_texts(&self, _: &Question) -> bool {
        true
    }

    fn word(&self, question: &Question) -> Option<String> {
        Some(NamePath::read(question.parameters.last()?).ok()?.query().to_owned())
    }

    /// Some servers do not find all that their outlines have, such as constructors, but what contains it.
    fn instead(&self, question: &Question) -> Option<Question> {
        let Subject::Workspace { query: Some(query) } = &question.subject else { return None };
        let path = NamePath::read(question.parameters.last()?).ok()?;
        let subject = Subject::Workspace { query: Some(path.around(query)?.to_owned()) };
        Some(Question { subject, parameters: question.parameters.clone() })
    }

    fn takes_outlines(&self, question: &Question) -> bool {
        question.subject.uri().is_none()
    }

    fn documents(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Vec<CanonicalUri>, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        let wanted = Wanted::of(asked.question)?;
        let Wanted { patterns, .. } = &wanted;
        if let Some(found) = asked.with_word {
            let mut files = Vec::new();
            for uri in &found.files {
                if is_below(uri, patterns.as_ref(), asked)? {
                    files.push(uri.clone());
                }
            }
            return Ok(files);
        }
        let found = Hit::all(raw.workspace_symbols()?, &wanted, asked)?;
        let Some(best) = found.iter().map(|(_, hit)| hit.fit).min() else { return Ok(Vec::new()) };
        let mut files = BTreeSet::new();
        for (uri, hit) in found.iter().filter(|(_, hit)| hit.fit == best) {
            if is_below(uri, patterns.as_ref(), asked)? {
                files.insert((!hit.is_in_container, uri));
            }
        }
        let mut files: Vec<_> = files.into_iter().map(|(_, uri)| uri.clone()).collect();
        let mut met = BTreeSet::new();
        files.retain(|uri| met.insert(uri.clone()));
        files.truncate(MAX_OUTLINED);
        Ok(files)
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let [raw] = answers else { return Err(ToolError::Internal) };
        let wanted = Wanted::of(asked.question)?;
        let Wanted { path, kinds, patterns, .. } = &wanted;
        let is_wanted = |uri: &CanonicalUri| is_below(uri, patterns.as_ref(), asked);
        let mut completeness = asked.completeness;
        let mut omissions = Omissions {
            unsearched: asked.with_word.map(|found| found.unsearched).unwrap_or_default(),
            ..Omissions::default()
        };
        let mut outlines: Vec<(&CanonicalUri, &RawDocumentSymbols)> = Vec::new();
        if let Some(document) = asked.document {
            outlines.push((document, raw.document_symbols()?));
        } else {
            for (uri, answer) in asked.outlines {
                if let Some(answer) = answer {
                    outlines.push((uri, answer.document_symbols()?));
                }
            }
            let found = Hit::all(raw.workspace_symbols()?, &wanted, asked)?;
            omissions = Omissions { unsearched: omissions.unsearched, ..found.omissions() };
            let best = found.iter().map(|(_, hit)| hit.fit).min();
            // What fits less comes last, so that all that fits best was found where something else was.
            if raw.len() >= SEARCH_LIMIT && found.iter().all(|(_, hit)| Some(hit.fit) == best) {
                completeness = Completeness::Unconfirmed;
            }
            for &(uri, outline) in &outlines {
                let of_file = found.iter().filter(|(of, hit)| *of == uri && hit.is_in_container);
                let best_of_file: Vec<_> = of_file.map(|(_, hit)| hit).filter(|hit| Some(hit.fit) == best).collect();
                omissions.not_outlined += not_outlined(outline, path, &best_of_file)?;
            }
            // Nobody found anything there: each is at least one.
            let is_found = |uri: &CanonicalUri| found.iter().any(|(of, _)| of == uri);
            let not_outlined = asked.outlines.iter().filter(|(uri, outline)| outline.is_none() && !is_found(uri));
            omissions.not_looked_at += not_outlined.count();
            for (uri, hit) in found.iter().filter(|(uri, _)| outlines.iter().all(|(outlined, _)| outlined != uri)) {
                let left_out = match Some(hit.fit) == best {
                    true if !is_wanted(uri)? => &mut omissions.other_paths,
                    true => &mut omissions.not_looked_at,
                    false => &mut omissions.other_names,
                };
                *left_out += 1;
            }
        }
        let mut files = Vec::new();
        for (uri, raw) in outlines {
            if is_wanted(uri)? {
                let (root, path) = asked.roots.shown(uri).ok_or(ToolError::Internal)?;
                files.push((root, path, raw, asked.texts.text(uri)));
            }
        }
        let mut symbols = Vec::new();
        for (file, (root, path_of_file, raw, _)) in files.iter().enumerate() {
            symbols.extend(Symbol::all(raw, path, *root, path_of_file, file)?);
        }
        if let Some(number) = path.number {
            leave_out(&mut symbols, &mut omissions.other_numbers, |symbol| symbol.number == number);
        }
        let is_of_kind = |symbol: &Symbol<'_>| kinds.is_empty() || kinds.iter().any(|kind| kind == symbol.kind.word());
        leave_out(&mut symbols, &mut omissions.other_kinds, is_of_kind);
        let best = symbols.iter().map(|symbol| symbol.fit).min();
        leave_out(&mut symbols, &mut omissions.other_names, |symbol| Some(symbol.fit) == best);
        let symbols = ordered(symbols);
        let mut lines: Vec<_> = files.iter().map(|(.., text)| text.as_deref().map(ShownLines::of)).collect();
        let mut rows = Vec::with_capacity(symbols.len());
        for symbol in &symbols {
            let head = lines[symbol.file].as_mut().and_then(|lines| lines.around(symbol.place.start));
            rows.push(symbol.row(head));
        }
        let set = CanonicalSet::encode(rows)?;
        let roots = asked.roots.told(&symbols.iter().map(|symbol| symbol.root).collect());
        let asked = &Asked { completeness, ..*asked };
        Ok(listed(set, roots, r#""symbols":["#.to_owned(), Vec::new(), ("symbol", "symbols"), omissions, asked))
    }

    fn is_paged(&self) -> bool {
        true
    }
}

/// The question where what has this name is, in a file or anywhere.
fn question(file: Option<String>, symbol: &str, kinds: &[String], paths: &[String]) -> Result<Question, ToolError> {
    let path = NamePath::read(symbol)?;
    let subject = match file {
        Some(uri) => Subject::Document { uri },
        None => Subject::Workspace { query: Some(path.query().to_owned()) },
    };
    // The name stands last, so that no text in it can be taken for something else.
    let parameters = vec![json!(kinds).to_string(), json!(paths).to_string(), symbol.to_owned()];
    Ok(Question { subject, parameters })
}

/// The question which symbol a target is that is named and not placed.
pub fn question_of_target(subject: &Subject, symbol: &str) -> Result<Question, ToolError> {
    question(subject.uri().map(str::to_owned), symbol, &[], &[])
}

/// The symbol that was found, if it is the only one and has this name: as its row, the path of its file and its place.
pub fn only(found: &Retained, symbol: &str) -> Option<(String, String, Position)> {
    #[derive(Deserialize)]
    struct Place {
        name: String,
        path: String,
        at: String,
    }
    if found.set.len() != 1 || found.omissions.not_looked_at > 0 {
        return None;
    }
    let mut row = std::str::from_utf8(found.set.json()).ok()?.to_owned();
    let Place { name, path, at } = serde_json::from_str(&row).ok()?;
    if NamePath::read(symbol).ok()?.fit_of_name(&name) != Some(Fit::Exact) {
        return None;
    }
    // The answer is about this one, and nobody has shown that no other has the name.
    let why = match found.completeness {
        Completeness::Unconfirmed => Some("no language server has shown that it is ready"),
        Completeness::Confirmed if found.omissions.unsearched > 0 => Some("not all files were searched"),
        Completeness::Confirmed if found.omissions.not_outlined > 0 => Some("some are in no outline"),
        Completeness::Confirmed => None,
    };
    if let Some(why) = why {
        row.truncate(row.len() - "}".len());
        row = format!(r#"{row},"note":"others may have this name: {why}"}}"#);
    }
    let Range { start, .. } = place::read(&at)?.ok()?;
    Some((row, path, start))
}

/// What is looked for.
struct Wanted {
    path: NamePath,
    /// The name that servers are asked to look for, if it is that of what contains the symbol.
    container: Option<String>,
    kinds: Vec<String>,
    patterns: Option<GlobSet>,
}

impl Wanted {
    fn of(question: &Question) -> Result<Self, ToolError> {
        let [kinds, patterns, symbol] = &*question.parameters else { return Err(ToolError::Internal) };
        let list = |text| serde_json::from_str::<Vec<String>>(text).map_err(|_| ToolError::Internal);
        let path = NamePath::read(symbol)?;
        let container = match &question.subject {
            Subject::Workspace { query: Some(query) } if query != path.query() => Some(query.clone()),
            _ => None,
        };
        Ok(Self { path, container, kinds: list(kinds)?, patterns: globs(&list(patterns)?)? })
    }
}

/// Whether a file matches one of the patterns, if there are any.
fn is_below(uri: &CanonicalUri, patterns: Option<&GlobSet>, asked: &Asked<'_>) -> Result<bool, ToolError> {
    let (_, path) = asked.roots.shown(uri).ok_or(ToolError::Internal)?;
    Ok(patterns.is_none_or(|patterns| patterns.is_match(asked.roots.below_root(&path))))
}

/// What language servers say has the name, whatever they say contains it: an outline tells that better.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hit<'a> {
    fit: Fit,
    is_in_container: bool,
    range: Option<Range>,
    name: Text<'a>,
}

impl<'a> Hit<'a> {
    fn all(
        raw: &'a RawWorkspaceSymbols,
        Wanted { path, container: of, .. }: &Wanted,
        asked: &Asked<'_>,
    ) -> Result<Allowed<Self>, ToolError> {
        let mut names = Names::new(asked.roots, asked.real);
        let admitted = names.admit(&raw.strings, raw.items.iter().map(|item| item.uri))?;
        let mut hits = Vec::new();
        for (file, item) in admitted.into_iter().zip(&raw.items) {
            let text = |index: Option<u32>| index.map(|index| string_at(&raw.strings, index)).transpose();
            let Some(name) = text(item.name)? else { continue };
            let container = text(item.container_name)?.unwrap_or_default();
            let fit = match of {
                Some(of) => (name == of).then_some(Fit::Exact),
                None => path.fit_of_name(name),
            };
            if let Some(fit) = fit {
                let is_in_container = path.fit(&[container], name).is_some();
                hits.push((file, Self { fit, is_in_container, range: item.range, name: Text(name) }));
            }
        }
        Ok(names.order(hits))
    }
}

/// How many of the hits in a file its outline does not have.
fn not_outlined(outline: &RawDocumentSymbols, path: &NamePath, hits: &[&Hit<'_>]) -> Result<usize, ToolError> {
    let mut named = Vec::new();
    for item in &outline.items {
        if name(outline, item)?.is_some_and(|name| path.fit_of_name(name).is_some()) {
            named.push(item.range.start.line..=item.range.end.line);
        }
    }
    let is_there =
        |hit: &Hit<'_>| hit.range.is_none_or(|range| named.iter().any(|all| all.contains(&range.start.line)));
    Ok(hits.iter().filter(|hit| !is_there(hit)).count())
}

/// A symbol that fits. The order of the fields is that of the answer, and leaves no field out.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol<'a> {
    fit: Fit,
    root: usize,
    path: Text<'a>,
    place: Range,
    range: Range,
    name: Text<'a>,
    kind: SymbolKind,
    containers: Vec<Text<'a>>,
    /// Which of those of this name in the same container it is, and which of the files has it: both follow from the others.
    number: usize,
    file: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    containers: Option<String>,
    kind: &'static str,
    path: &'a str,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<&'a str>,
}

impl<'a> Symbol<'a> {
    /// The symbols of an outline that fit, in order.
    fn all(
        raw: &'a RawDocumentSymbols,
        path: &NamePath,
        root: usize,
        path_of_file: &'a str,
        file: usize,
    ) -> Result<Vec<Self>, ToolError> {
        let (items, max_items) = (raw.items.len(), MAX_DOCUMENT_SYMBOLS_TRAVERSED);
        if items > max_items {
            return Err(ToolError::TooManyItems { items, max_items });
        }
        let mut found = Vec::new();
        for item in &raw.items {
            let Some(name) = name(raw, item)? else { continue };
            let containers = containers(raw, item)?;
            if let Some(fit) = path.fit(&containers, name) {
                found.push(Self {
                    fit,
                    root,
                    path: Text(path_of_file),
                    place: item.selection.unwrap_or(item.range),
                    range: item.range,
                    name: Text(name),
                    kind: item.kind,
                    containers: containers.into_iter().map(Text).collect(),
                    number: 0,
                    file,
                });
            }
        }
        let mut found = ordered(found);
        let mut met: BTreeMap<_, usize> = BTreeMap::new();
        for symbol in &mut found {
            let before = met.entry((symbol.name, symbol.containers.clone())).or_default();
            symbol.number = *before;
            *before += 1;
        }
        Ok(found)
    }

    fn row<'b>(&'b self, head: Option<&'b str>) -> Row<'b> {
        let Self { name: Text(name), kind, containers, path: Text(path), place, .. } = self;
        let containers: Vec<_> = containers.iter().map(|Text(name)| *name).collect();
        let containers = (!containers.is_empty()).then(|| containers.join("."));
        Row { name, containers, kind: kind.word(), path, at: place::written(*place), head }
    }
}

/// Leaves out all symbols but those that are wanted, and counts them.
fn leave_out<'a>(symbols: &mut Vec<Symbol<'a>>, omitted: &mut usize, is_wanted: impl Fn(&Symbol<'a>) -> bool) {
    let all = symbols.len();
    symbols.retain(is_wanted);
    *omitted += all - symbols.len();
}
