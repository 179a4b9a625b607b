//! `vscode.lsp.outline`: all symbols of a file, one line each, in pages.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::Value;

use super::document_symbols::{ASK, name};
use super::listed::{Input, MAX_PATTERN_CHARACTERS, PAGE, file_schema, listed, output, page_fields};
use crate::ask::{Ask, Raw, Subject};
use crate::canonical::{CanonicalSet, ordered};
use crate::error::ToolError;
use crate::limits::MAX_DOCUMENT_SYMBOLS_TRAVERSED;
use crate::omissions::Omissions;
use crate::order::Text;
use crate::place;
use crate::position::Range;
use crate::schema::{Field, Schema, optional, required};
use crate::symbol::{RawDocumentSymbols, SymbolKind};
use crate::tool::{Arguments, Asked, Canonical, Misfit, Question, Tool};

pub(super) struct Outline;

impl Tool for Outline {
    fn name(&self) -> &'static str {
        "vscode.lsp.outline"
    }

    fn title(&self) -> &'static str {
        "Outline"
    }

    fn description(&self) -> &'static str {
        "Symbols of a file, nested: kind, range, name. For a large file, begin with depth 1 or match."
    }

    fn input(&self) -> Vec<Field> {
        let mut fields = vec![
            required("file", file_schema()),
            optional("depth", Schema::plain(r#""integer","minimum":1"#)),
            optional("match", Schema::of("Part of names, or glob", r#""string""#)),
        ];
        fields.extend(page_fields());
        fields
    }

    fn output(&self) -> Vec<Field> {
        let line =
            Schema::of("A symbol: a space for each symbol around it, its kind, its range, its name.", r#""string""#);
        let lines = Schema::array("The symbols, each before what it contains.", MAX_DOCUMENT_SYMBOLS_TRAVERSED, &line);
        output("symbols", lines, &[])
    }

    fn is_in_v1(&self) -> bool {
        false
    }

    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit> {
        let mut input = Input::read(arguments, &[&["file", "depth", "match"], &PAGE])?;
        let page = Some(input.page());
        let Input { file: Some(uri), depth, pattern, .. } = input else { return Err(Misfit::Schema) };
        if let Some(pattern) = &pattern {
            glob(pattern).map_err(Misfit::Refused)?;
        }
        let subject = Subject::Document { uri };
        // A pattern stands last, so that no text in it can be taken for something else.
        let parameters = vec![depth.unwrap_or(u64::MAX).to_string(), pattern.unwrap_or_default()];
        Ok(Arguments { page, by_path: true, ..Arguments::of(Question { subject, parameters }) })
    }

    fn asks(&self, _: &Question) -> &'static [Ask] {
        &[ASK]
    }

    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError> {
        let ([raw], Some(document), [depth, pattern]) = (answers, asked.document, &*asked.question.parameters) else {
            return Err(ToolError::Internal);
        };
        let depth: u64 = depth.parse().map_err(|_| ToolError::Internal)?;
        let pattern = if pattern.is_empty() { None } else { Some(glob(pattern)?) };
        let raw = raw.document_symbols()?;
        if raw.items.len() > MAX_DOCUMENT_SYMBOLS_TRAVERSED {
            let (items, max_items) = (raw.items.len(), MAX_DOCUMENT_SYMBOLS_TRAVERSED);
            return Err(ToolError::TooManyItems { items, max_items });
        }
        let (tree, without_name) = Tree::of(raw)?;
        let mut lines = Vec::with_capacity(tree.0.len());
        for (level, symbol) in tree.in_order() {
            let is_wanted = pattern.as_ref().is_none_or(|pattern| pattern.is_match(symbol.name.0));
            if level < depth && is_wanted {
                let indent = " ".repeat(usize::try_from(level).unwrap_or_default());
                let (kind, range) = (symbol.kind.word(), place::written(symbol.range));
                lines.push(format!("{indent}{kind} {range} {}", symbol.name.0));
            }
        }
        let (root, path) = asked.roots.shown(document).ok_or(ToolError::Internal)?;
        let roots = asked.roots.told(&[root].into());
        let opening = format!(r#""path":{},"symbols":["#, Value::from(path));
        let omissions = Omissions { without_name, ..Omissions::default() };
        Ok(listed(CanonicalSet::encode(lines)?, roots, opening, Vec::new(), ("symbol", "symbols"), omissions, asked))
    }

    fn is_paged(&self) -> bool {
        true
    }
}

/// What an outline tells of a symbol. The order of the fields is that of the symbols in the same one, and leaves no field out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol<'a> {
    range: Range,
    name: Text<'a>,
    kind: SymbolKind,
}

/// For each symbol what it contains, in order and without duplicates: by itself and its place in this list. The first entry is
/// the file.
struct Tree<'a>(Vec<BTreeMap<Symbol<'a>, usize>>);

impl<'a> Tree<'a> {
    /// The tree of the symbols that have a name, and how many have none. What these contain belongs to what they are in.
    fn of(raw: &'a RawDocumentSymbols) -> Result<(Self, usize), ToolError> {
        let mut tree = vec![BTreeMap::new()];
        let mut places: Vec<usize> = Vec::with_capacity(raw.items.len());
        let mut nameless = Vec::new();
        for item in &raw.items {
            let parent = match item.parent {
                Some(parent) => *places.get(parent as usize).ok_or(ToolError::ProviderFailed(None))?,
                None => 0,
            };
            let Some(name) = name(raw, item)? else {
                nameless.push((parent, item.range, item.kind));
                places.push(parent);
                continue;
            };
            let next = tree.len();
            let symbol = Symbol { range: item.range, name: Text(name), kind: item.kind };
            let place = *tree[parent].entry(symbol).or_insert(next);
            if place == next {
                tree.push(BTreeMap::new());
            }
            places.push(place);
        }
        Ok((Self(tree), ordered(nameless).len()))
    }

    /// The symbols, each before what it contains, and how many are around each.
    fn in_order(&self) -> impl Iterator<Item = (u64, Symbol<'a>)> {
        let mut ahead: Vec<_> = self.0.first().map(BTreeMap::iter).into_iter().collect();
        std::iter::from_fn(move || {
            loop {
                let level = ahead.len() as u64;
                match ahead.last_mut()?.next() {
                    Some((symbol, place)) => {
                        ahead.extend(self.0.get(*place).map(BTreeMap::iter));
                        return Some((level - 1, *symbol));
                    }
                    None => _ = ahead.pop(),
                }
            }
        })
    }
}

/// What a name has to match: a text without a sign of globs is a part of it.
fn glob(pattern: &str) -> Result<GlobSet, ToolError> {
    let refused = |advice: String| Err(ToolError::InvalidParams(advice));
    if pattern.chars().count() > MAX_PATTERN_CHARACTERS {
        return refused(format!("`match` may have at most {MAX_PATTERN_CHARACTERS} characters; pass a shorter one."));
    }
    let is_part = !pattern.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let part = format!("*{pattern}*");
    let glob = GlobBuilder::new(if is_part { &part } else { pattern }).case_insensitive(is_part).build();
    // A set, because a single one panics where it cannot be compiled.
    let set = glob.and_then(|glob| GlobSetBuilder::new().add(glob).build());
    set.or_else(|_| refused("`match` is no glob such as get*; correct it.".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pattern_ends_the_process() {
        let nested = |depth| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        for pattern in [nested(200_000), nested(500), "a".repeat(1_025), "?".repeat(1_000_000), "[".to_owned()] {
            assert!(matches!(glob(&pattern), Err(ToolError::InvalidParams(_))));
        }
        for pattern in [nested(20), "a".repeat(1_024), "?".repeat(1_024), "[!a-z]*".repeat(146)] {
            assert!(glob(&pattern).is_ok(), "{pattern}");
        }
    }
}
