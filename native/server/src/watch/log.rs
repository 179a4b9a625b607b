//! What has changed, in the order in which it was noticed.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::changes::{Change, Changed, Changes, Kind};

/// The last changes, up to a bound.
#[derive(Debug)]
pub(super) struct Log {
    last: u64,
    noted: VecDeque<Noted>,
    /// The last sequence number of what is no longer held.
    forgotten: u64,
    bound: usize,
}

#[derive(Debug)]
struct Noted {
    sequence: u64,
    path: PathBuf,
    existed: bool,
    found: Found,
}

/// What is at a path now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    File,
    Folder,
}

impl Log {
    pub(super) fn new(bound: usize) -> Self {
        Self { last: 0, noted: VecDeque::new(), forgotten: 0, bound }
    }

    pub(super) fn note(&mut self, path: PathBuf, existed: bool, found: Found) {
        self.last += 1;
        self.noted.push_back(Noted { sequence: self.last, path, existed, found });
        while self.noted.len() > self.bound
            && let Some(oldest) = self.noted.pop_front()
        {
            self.forgotten = oldest.sequence;
        }
    }

    /// Something happened that has left everything as it was.
    pub(super) fn stir(&mut self) {
        self.last += 1;
    }

    /// Nobody can tell what has changed.
    pub(super) fn note_anything(&mut self) {
        self.last += 1;
        self.noted.clear();
        self.forgotten = self.last;
    }

    pub(super) fn since(&self, sequence: u64) -> Changes {
        if sequence == self.last {
            return Changes { sequence, changed: Changed::These(Vec::new()) };
        }
        // A number that was never given belongs to another watch.
        if sequence < self.forgotten || sequence > self.last {
            return Changes { sequence: self.last, changed: Changed::Many };
        }
        let from = self.noted.partition_point(|noted| noted.sequence <= sequence);
        let mut paths: BTreeMap<&Path, (bool, Found)> = BTreeMap::new();
        for Noted { path, existed, found, .. } in self.noted.range(from..) {
            paths.entry(path).and_modify(|(_, last)| *last = *found).or_insert((*existed, *found));
        }
        let changed = paths.into_iter().filter_map(|(path, (existed, found))| {
            let kind = match (existed, found) {
                (false, Found::Nothing) => return None,
                (false, _) => Kind::Created,
                (true, Found::Nothing) => Kind::Deleted,
                (true, _) => Kind::Changed,
            };
            Some(Change { path: path.to_owned(), kind, is_folder: found == Found::Folder })
        });
        Changes { sequence: self.last, changed: Changed::These(changed.collect()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_gets_what_is_new_to_it_and_many_beyond_the_bound() {
        let mut log = Log::new(3);
        log.note("a".into(), false, Found::File);
        log.note("a".into(), true, Found::File);
        log.note("a".into(), true, Found::Nothing);
        let of = |log: &Log, since| match log.since(since).changed {
            Changed::These(changes) => Some(changes.into_iter().map(|change| change.kind).collect::<Vec<_>>()),
            Changed::Many => None,
        };
        assert_eq!(of(&log, 0), Some(vec![]), "it came and went");
        assert_eq!(of(&log, 1), Some(vec![Kind::Deleted]));
        assert_eq!(of(&log, 3), Some(vec![]));
        assert_eq!(of(&log, 4), None, "such a number was never given");
        log.stir();
        assert_eq!(log.since(3), Changes { sequence: 4, changed: Changed::These(vec![]) });
        log.note("b".into(), true, Found::File);
        assert_eq!(of(&log, 0), None);
        assert_eq!(of(&log, 1), Some(vec![Kind::Deleted, Kind::Changed]));
        log.note_anything();
        assert_eq!((of(&log, 5), of(&log, 6)), (None, Some(vec![])));
    }
}
