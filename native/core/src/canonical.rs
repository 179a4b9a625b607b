//! From raw answers to canonical sets: filtered to the roots, sorted, deduplicated, capped and encoded (contract
//! section 4).

use std::collections::HashMap;

use serde_json::Value;

use crate::error::ToolError;
use crate::location::{RawLocations, RawTargets};
use crate::position::{Position, Range};
use crate::roots::{AllowedRoots, RealPaths};
use crate::uri::CanonicalUri;

/// A result set in canonical order without duplicates, already encoded. Two sets are equal when their bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CanonicalSet {
    /// The items as JSON, joined by commas: every run of items is a slice of it.
    json: Box<[u8]>,
    /// Where each item ends.
    ends: Box<[usize]>,
}

impl CanonicalSet {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many bytes it takes to hold this set.
    pub fn weight(&self) -> usize {
        self.json.len() + size_of_val(&*self.ends)
    }

    /// The JSON of up to `size` items from `offset` on, joined by commas.
    pub fn slice(&self, offset: usize, size: usize) -> &[u8] {
        let after = offset.saturating_add(size).min(self.len());
        if offset >= after {
            return &[];
        }
        // Every end but the last is followed by a comma.
        let begin = if offset == 0 { 0 } else { self.ends[offset - 1] + 1 };
        &self.json[begin..self.ends[after - 1]]
    }
}

/// Writes the items of a canonical set one after the other.
#[derive(Debug, Default)]
struct Encoder {
    json: Vec<u8>,
    ends: Vec<usize>,
}

impl Encoder {
    fn item(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.ends.is_empty() {
            self.json.push(b',');
        }
        write(&mut self.json);
        self.ends.push(self.json.len());
    }

    fn finish(self) -> CanonicalSet {
        CanonicalSet { json: self.json.into(), ends: self.ends.into() }
    }
}

/// Locations on their way to a canonical set: each distinct URI is admitted once and from then on stands for its place
/// in the order, so that sorting compares numbers.
pub(crate) struct Locations {
    /// The distinct canonical URIs, in order.
    uris: Vec<CanonicalUri>,
    /// The allowed items, sorted and distinct.
    items: Vec<Item>,
    /// How many distinct items were left out because their URI is not allowed.
    omitted: usize,
}

/// The order of the fields is the contract's order of locations (section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    uri: usize,
    range: Range,
}

impl Locations {
    /// The references that are allowed, in canonical order, less those that are the place of one of `declarations`
    /// (D9).
    pub(crate) fn of_references(
        references: &RawLocations,
        declarations: &[RawTargets],
        roots: &AllowedRoots,
        real: &dyn RealPaths,
    ) -> Result<Self, ToolError> {
        let mut names = Names::new(roots, real);
        let admitted = names.admit(&references.uris);
        let mut items = Vec::with_capacity(references.items.len());
        for item in &references.items {
            items.push((name_at(&admitted, item.uri)?, item.range));
        }
        let mut removed = Vec::new();
        for targets in declarations {
            let admitted = names.admit(&targets.uris);
            for target in &targets.items {
                let name = name_at(&admitted, target.uri)?;
                removed.push((name, target.range));
                removed.extend(target.selection.map(|selection| (name, selection)));
            }
        }
        removed.sort_unstable();
        items.retain(|item| removed.binary_search(item).is_err());
        Ok(names.order(items))
    }

    /// The targets that are allowed, in canonical order, each as a location (D8).
    pub(crate) fn of_targets(
        targets: &RawTargets,
        roots: &AllowedRoots,
        real: &dyn RealPaths,
    ) -> Result<Self, ToolError> {
        let mut names = Names::new(roots, real);
        let admitted = names.admit(&targets.uris);
        let mut items = Vec::with_capacity(targets.items.len());
        for target in &targets.items {
            items.push((name_at(&admitted, target.uri)?, target.selection.unwrap_or(target.range)));
        }
        Ok(names.order(items))
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn omitted(&self) -> usize {
        self.omitted
    }

    /// Encodes the first items, at most `count`.
    pub(crate) fn encode(&self, count: usize) -> CanonicalSet {
        let mut encoder = Encoder::default();
        // Each URI is made a JSON string once, not once for each of its items.
        let uris: Vec<String> = self.uris.iter().map(|uri| Value::from(uri.as_str()).to_string()).collect();
        for item in self.items.iter().take(count) {
            encoder.item(|json| push_location(json, &uris[item.uri], item.range));
        }
        encoder.finish()
    }
}

/// What stands for a URI until all are known: an index into [`Names::uris`].
type Name = usize;

/// The distinct URIs of one call. Each distinct path is resolved once (D32), and two that resolve to the same real path
/// share a name.
struct Names<'a> {
    roots: &'a AllowedRoots,
    real: &'a dyn RealPaths,
    by_source: HashMap<Source, Name>,
    by_uri: HashMap<CanonicalUri, Name>,
    /// The canonical URI of each name, if it is allowed.
    uris: Vec<Option<CanonicalUri>>,
}

/// What a name is known by before anything is resolved.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Path(String),
    /// A URI that names no local path.
    Foreign(String),
}

impl<'a> Names<'a> {
    fn new(roots: &'a AllowedRoots, real: &'a dyn RealPaths) -> Self {
        Self { roots, real, by_source: HashMap::new(), by_uri: HashMap::new(), uris: Vec::new() }
    }

    fn admit(&mut self, uris: &[String]) -> Vec<Name> {
        uris.iter().map(|uri| self.name_of(uri)).collect()
    }

    fn name_of(&mut self, uri: &str) -> Name {
        let path = self.roots.output_path(uri);
        let source = path.clone().map_or_else(|| Source::Foreign(uri.to_owned()), Source::Path);
        if let Some(&name) = self.by_source.get(&source) {
            return name;
        }
        let canonical = path.and_then(|path| self.roots.admit_output_path(&path, self.real));
        let known = canonical.as_ref().and_then(|uri| self.by_uri.get(uri)).copied();
        let name = known.unwrap_or_else(|| self.add(canonical));
        self.by_source.insert(source, name);
        name
    }

    fn add(&mut self, uri: Option<CanonicalUri>) -> Name {
        let name = self.uris.len();
        if let Some(uri) = &uri {
            self.by_uri.insert(uri.clone(), name);
        }
        self.uris.push(uri);
        name
    }

    fn order(self, items: Vec<(Name, Range)>) -> Locations {
        let mut uris: Vec<&CanonicalUri> = self.uris.iter().flatten().collect();
        uris.sort_unstable();
        let ranks: Vec<Option<usize>> =
            self.uris.iter().map(|uri| uri.as_ref().and_then(|uri| uris.binary_search(&uri).ok())).collect();
        let mut allowed = Vec::with_capacity(items.len());
        let mut omitted = Vec::new();
        for (name, range) in items {
            match ranks[name] {
                Some(uri) => allowed.push(Item { uri, range }),
                None => omitted.push((name, range)),
            }
        }
        allowed.sort_unstable();
        allowed.dedup();
        omitted.sort_unstable();
        omitted.dedup();
        Locations { uris: uris.into_iter().cloned().collect(), items: allowed, omitted: omitted.len() }
    }
}

/// The name of the URI with this index. An index that names no URI is junk from a provider.
fn name_at(admitted: &[Name], index: u32) -> Result<Name, ToolError> {
    admitted.get(index as usize).copied().ok_or(ToolError::ProviderFailed)
}

/// Writes a location with its members in the contract's order (section 3.4).
fn push_location(json: &mut Vec<u8>, uri: &str, range: Range) {
    json.extend_from_slice(br#"{"uri":"#);
    json.extend_from_slice(uri.as_bytes());
    json.extend_from_slice(br#","range":"#);
    push_range(json, range);
    json.push(b'}');
}

fn push_range(json: &mut Vec<u8>, Range { start, end }: Range) {
    json.extend_from_slice(br#"{"start":"#);
    push_position(json, start);
    json.extend_from_slice(br#","end":"#);
    push_position(json, end);
    json.push(b'}');
}

fn push_position(json: &mut Vec<u8>, Position { line, character }: Position) {
    let mut digits = itoa::Buffer::new();
    json.extend_from_slice(br#"{"line":"#);
    json.extend_from_slice(digits.format(line).as_bytes());
    json.extend_from_slice(br#","character":"#);
    json.extend_from_slice(digits.format(character).as_bytes());
    json.push(b'}');
}

/// A set of one item that weighs so much.
#[cfg(test)]
pub(crate) fn test_set(weight: usize) -> CanonicalSet {
    let mut encoder = Encoder::default();
    encoder.item(|json| json.resize(weight - size_of::<usize>(), b'1'));
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_the_items_it_names_joined_by_commas() {
        let mut encoder = Encoder::default();
        for item in ["1", "22", "333"] {
            encoder.item(|json| json.extend_from_slice(item.as_bytes()));
        }
        let set = encoder.finish();
        let slices = [
            ((0, 3), "1,22,333"),
            ((0, 1), "1"),
            ((1, 1), "22"),
            ((1, 2), "22,333"),
            ((2, 9), "333"),
            ((0, usize::MAX), "1,22,333"),
            ((3, 1), ""),
            ((usize::MAX, 1), ""),
            ((1, 0), ""),
        ];
        for ((offset, size), expected) in slices {
            assert_eq!(set.slice(offset, size), expected.as_bytes(), "{size} from {offset}");
        }
    }
}
