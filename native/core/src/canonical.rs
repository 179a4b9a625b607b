//! From raw answers to canonical sets: filtered to the roots, sorted, deduplicated, capped and encoded (contract
//! section 4).

use std::collections::HashMap;
use std::ops::Range as Run;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::ToolError;
use crate::location::{RawLocations, RawTargets};
use crate::omissions::Omissions;
use crate::position::Range;
use crate::roots::{AllowedRoots, NotAllowed, RealPaths};
use crate::uri::CanonicalUri;

/// A result set in canonical order without duplicates, already encoded. Two sets are equal when their bytes are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CanonicalSet {
    /// The items as JSON, joined by commas: every run of items is a slice of it.
    json: Box<[u8]>,
    /// Where each item ends.
    ends: Box<[usize]>,
}

impl CanonicalSet {
    /// Encodes items that are in canonical order and without duplicates.
    pub(crate) fn encode<T: Serialize>(items: impl IntoIterator<Item = T>) -> Result<Self, ToolError> {
        let mut set = Encoding::default();
        for item in items {
            serde_json::to_writer(set.next(), &item).map_err(|_| ToolError::Internal)?;
        }
        Ok(set.finish())
    }

    /// A set of items that are JSON already.
    pub(crate) fn of_json(items: impl IntoIterator<Item = String>) -> Self {
        let mut set = Encoding::default();
        for item in items {
            set.next().extend_from_slice(item.as_bytes());
        }
        set.finish()
    }

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
        &self.json[self.run(offset, size)]
    }

    /// Where in [`CanonicalSet::json`] the JSON of up to `size` items from `offset` on stands, joined by commas.
    pub(crate) fn run(&self, offset: usize, size: usize) -> Run<usize> {
        let after = offset.saturating_add(size).min(self.len());
        if offset >= after {
            return 0..0;
        }
        // Every end but the last is followed by a comma.
        let begin = if offset == 0 { 0 } else { self.ends[offset - 1] + 1 };
        begin..self.ends[after - 1]
    }

    /// All items as JSON, joined by commas.
    pub fn json(&self) -> &[u8] {
        &self.json
    }
}

/// A [`CanonicalSet`] that is being written.
#[derive(Default)]
struct Encoding {
    json: Vec<u8>,
    /// Where each item but the last ends.
    ends: Vec<usize>,
    has_items: bool,
}

impl Encoding {
    /// Room for so many items that take so many bytes.
    fn with_capacity(items: usize, bytes: usize) -> Self {
        Self { json: Vec::with_capacity(bytes), ends: Vec::with_capacity(items), has_items: false }
    }

    /// Where the next item is to be written, behind all others.
    fn next(&mut self) -> &mut Vec<u8> {
        if self.has_items {
            self.ends.push(self.json.len());
            self.json.push(b',');
        }
        self.has_items = true;
        &mut self.json
    }

    fn finish(mut self) -> CanonicalSet {
        if self.has_items {
            self.ends.push(self.json.len());
        }
        CanonicalSet { json: self.json.into(), ends: self.ends.into() }
    }
}

/// Items that are allowed, sorted by their URIs and then by their own order, without duplicates. Each distinct URI is
/// admitted once and from then on stands for its place in the order, so that sorting compares numbers.
pub(crate) struct Allowed<T> {
    /// The distinct canonical URIs, in order.
    uris: Vec<CanonicalUri>,
    /// The items with the index of their URI.
    items: Vec<(usize, T)>,
    /// The items that were left out because they lie outside the roots, sorted and without duplicates.
    pub(crate) outside: Vec<(Name, T)>,
    /// The items that were left out because their file does not exist, sorted and without duplicates.
    pub(crate) missing: Vec<(Name, T)>,
}

/// The order of a range is the rest of the contract's order of locations (section 4.2).
pub(crate) type Locations = Allowed<Range>;

/// What stands in a location (section 3.4) around its four numbers, less its beginning.
const BETWEEN_NUMBERS: [&str; 4] = [r#","character":"#, r#"},"end":{"line":"#, r#","character":"#, "}}}"];

impl<T> Allowed<T> {
    /// How many items were left out because of their URIs.
    pub(crate) fn omissions(&self) -> Omissions {
        Omissions { outside: self.outside.len(), missing: self.missing.len(), ..Omissions::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items with their URIs, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CanonicalUri, &T)> {
        self.items.iter().map(|(uri, item)| (&self.uris[*uri], item))
    }

    /// The URIs that have items, in order, each with its items in order.
    pub(crate) fn by_uri(&self) -> impl Iterator<Item = (&CanonicalUri, &[(usize, T)])> {
        self.items.chunk_by(|(uri, _), (next, _)| uri == next).map(|items| (&self.uris[items[0].0], items))
    }
}

impl Locations {
    /// The references that are allowed, in canonical order, less those that are the place of one of `declarations`
    /// (D9).
    pub(crate) fn of_references(
        references: &RawLocations,
        declarations: &[&RawTargets],
        roots: &AllowedRoots,
        real: &dyn RealPaths,
    ) -> Result<Self, ToolError> {
        let mut names = Names::new(roots, real);
        let admitted = names.admit(&references.uris, references.items.iter().map(|item| item.uri))?;
        let mut items: Vec<_> = admitted.into_iter().zip(references.items.iter().map(|item| item.range)).collect();
        let mut removed = Vec::new();
        for targets in declarations {
            let admitted = names.admit(&targets.uris, targets.items.iter().map(|target| target.uri))?;
            for (name, target) in admitted.into_iter().zip(&targets.items) {
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
        let admitted = names.admit(&targets.uris, targets.items.iter().map(|target| target.uri))?;
        let ranges = targets.items.iter().map(|target| target.selection.unwrap_or(target.range));
        Ok(names.order(admitted.into_iter().zip(ranges).collect()))
    }

    /// Encodes the first items, at most `count`.
    pub(crate) fn encode(&self, count: usize) -> Result<CanonicalSet, ToolError> {
        // The members stand in the contract's order. All before the first number is written once for each URI, and then
        // copied for each of its items.
        let opening = |uri: &CanonicalUri| {
            let uri = serde_json::to_string(uri.as_str()).map_err(|_| ToolError::Internal)?;
            Ok(format!(r#"{{"uri":{uri},"range":{{"start":{{"line":"#))
        };
        let openings = self.uris.iter().map(opening).collect::<Result<Vec<_>, ToolError>>()?;
        let items = &self.items[..count.min(self.items.len())];
        // Room for just what is written: what an allocator gets back in another size than it gave, it may not give again, and
        // new memory costs more than all that is written into it.
        let without_numbers = BETWEEN_NUMBERS.iter().map(|text| text.len()).sum::<usize>() + ",".len();
        let length = |&(uri, Range { start, end }): &(usize, Range)| {
            let digits = [start.line, start.character, end.line, end.character].map(digits_of);
            openings[uri].len() + digits.iter().sum::<usize>() + without_numbers
        };
        let bytes = items.iter().map(length).sum::<usize>().saturating_sub(",".len());
        let mut set = Encoding::with_capacity(items.len(), bytes);
        let mut digits = itoa::Buffer::new();
        for &(uri, Range { start, end }) in items {
            let json = set.next();
            json.extend_from_slice(openings[uri].as_bytes());
            for (number, text) in
                [start.line, start.character, end.line, end.character].into_iter().zip(BETWEEN_NUMBERS)
            {
                json.extend_from_slice(digits.format(number).as_bytes());
                json.extend_from_slice(text.as_bytes());
            }
        }
        debug_assert_eq!(set.json.len(), bytes, "no more room than is needed");
        Ok(set.finish())
    }
}

fn digits_of(number: u32) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

/// What stands for a URI until all are known: an index into [`Names::uris`].
pub(crate) type Name = usize;

/// The distinct URIs of one call. Each distinct path is resolved once (D32), and two that lead to the same place share a
/// name.
pub(crate) struct Names<'a> {
    roots: &'a AllowedRoots,
    real: &'a dyn RealPaths,
    by_source: HashMap<Source, Name>,
    by_place: HashMap<Place, Name>,
    /// What each name stands for.
    places: Vec<Place>,
}

/// What a name is known by before anything is resolved.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Source {
    Path(String),
    /// A URI that names no local path.
    Foreign(String),
}

/// What a URI turned out to name.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    Inside(CanonicalUri),
    /// The real path, or the URI if it names no local file.
    Outside(PathBuf),
    Missing(Source),
}

impl<'a> Names<'a> {
    pub(crate) fn new(roots: &'a AllowedRoots, real: &'a dyn RealPaths) -> Self {
        Self { roots, real, by_source: HashMap::new(), by_place: HashMap::new(), places: Vec::new() }
    }

    /// The name of the URI of each item, given the index of that URI among the strings.
    pub(crate) fn admit(
        &mut self,
        strings: &[String],
        items: impl Iterator<Item = u32>,
    ) -> Result<Vec<Name>, ToolError> {
        let mut known = vec![None; strings.len()];
        items
            .map(|index| {
                let uri = string_at(strings, index)?;
                Ok(*known[index as usize].get_or_insert_with(|| self.name_of(uri)))
            })
            .collect()
    }

    fn name_of(&mut self, uri: &str) -> Name {
        let source = self.roots.output_path(uri).map_or_else(|| Source::Foreign(uri.to_owned()), Source::Path);
        if let Some(&name) = self.by_source.get(&source) {
            return name;
        }
        let place = self.place_of(&source);
        let name = *self.by_place.entry(place).or_insert_with_key(|place| {
            self.places.push(place.clone());
            self.places.len() - 1
        });
        self.by_source.insert(source, name);
        name
    }

    fn place_of(&self, source: &Source) -> Place {
        let path = match source {
            Source::Path(path) => path,
            Source::Foreign(uri) => return Place::Outside(uri.into()),
        };
        match self.roots.admit_output_path(path, self.real) {
            Ok(uri) => Place::Inside(uri),
            Err(NotAllowed::Outside(path)) => Place::Outside(path),
            Err(NotAllowed::Missing) => Place::Missing(source.clone()),
        }
    }

    /// The items that are allowed, in canonical order; that of `T` is the order of the items of one URI.
    pub(crate) fn order<T: Ord>(self, items: Vec<(Name, T)>) -> Allowed<T> {
        let inside = |(name, place): (Name, &Place)| match place {
            Place::Inside(uri) => Some((uri.clone(), name)),
            Place::Outside(_) | Place::Missing(_) => None,
        };
        let mut uris: Vec<(CanonicalUri, Name)> = self.places.iter().enumerate().filter_map(inside).collect();
        uris.sort_unstable();
        let mut ranks = vec![None; self.places.len()];
        for (rank, &(_, name)) in uris.iter().enumerate() {
            ranks[name] = Some(rank);
        }
        let uris = uris.into_iter().map(|(uri, _)| uri).collect();
        let mut allowed = Vec::with_capacity(items.len());
        let (mut outside, mut missing) = (Vec::new(), Vec::new());
        for (name, item) in items {
            match (ranks[name], &self.places[name]) {
                (Some(uri), _) => allowed.push((uri, item)),
                (None, Place::Outside(_)) => outside.push((name, item)),
                (None, _) => missing.push((name, item)),
            }
        }
        Allowed { uris, items: ordered(allowed), outside: ordered(outside), missing: ordered(missing) }
    }
}

/// The items sorted and without duplicates.
pub(crate) fn ordered<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items.dedup();
    items
}

/// The string with this index. An index that names none is junk from a provider.
pub(crate) fn string_at(strings: &[String], index: u32) -> Result<&str, ToolError> {
    strings.get(index as usize).map(String::as_str).ok_or(ToolError::ProviderFailed(None))
}

/// A set of one item that weighs so much.
#[cfg(test)]
pub(crate) fn test_set(weight: usize) -> CanonicalSet {
    CanonicalSet { json: vec![b'1'; weight - size_of::<usize>()].into(), ends: [weight - size_of::<usize>()].into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_the_items_it_names_joined_by_commas() {
        let set = CanonicalSet::encode([1, 22, 333]).unwrap();
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
