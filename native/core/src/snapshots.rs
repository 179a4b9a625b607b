//! The retained canonical sets that cursors page through (contract section 3.6, D26).

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use clru::{CLruCache, CLruCacheConfig, WeightScale};

use crate::canonical::CanonicalSet;
use crate::compact::Frame;
use crate::completeness::Completeness;
use crate::error::ToolError;
use crate::keys::SnapshotKey;
use crate::limits::{MAX_SNAPSHOT_BYTES, MAX_SNAPSHOTS_BYTES, SNAPSHOT_LIFETIME};
use crate::omissions::Omissions;

/// A canonical set with what its pages say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// The full set.
    pub set: CanonicalSet,
    /// What was left out of it.
    pub omissions: Omissions,
    /// Whether more may have to be expected.
    pub completeness: Completeness,
    /// What surrounds its items, if it is a compact list.
    pub frame: Option<Box<Frame>>,
}

impl Retained {
    /// A number that differs for sets that differ, but for an accident that no workspace will see. How far they can be
    /// believed is no part of them: a set that turns out to be whole is no other one.
    pub fn fingerprint(&self) -> u64 {
        let Self { set, omissions, completeness: _, frame } = self;
        let mut hasher = DefaultHasher::new();
        (set, omissions, frame).hash(&mut hasher);
        hasher.finish()
    }

    /// How many bytes it takes to hold it.
    pub fn weight(&self) -> usize {
        self.set.weight().saturating_add(self.frame.as_ref().map_or(0, |frame| frame.weight()))
    }

    /// Whether the set is small enough to be held for paging.
    pub fn check_weight(&self) -> Result<(), ToolError> {
        let bytes = self.weight();
        if bytes > MAX_SNAPSHOT_BYTES {
            return Err(ToolError::SnapshotTooLarge { bytes, max_bytes: MAX_SNAPSHOT_BYTES });
        }
        Ok(())
    }
}

/// The sets held, at most [`MAX_SNAPSHOTS_BYTES`] together: the one used longest ago goes first.
#[derive(Debug)]
pub struct Snapshots {
    held: CLruCache<SnapshotKey, Held, std::hash::RandomState, ByWeight>,
}

#[derive(Debug)]
struct Held {
    retained: Arc<Retained>,
    last_used: Cell<Duration>,
}

/// What it takes to hold a set besides the set itself: its key, twice, and the places in the cache. Without it, sets of
/// nothing would weigh nothing, and there could be any number of them.
const HELD_BYTES: usize = 512;

#[derive(Debug)]
struct ByWeight;

impl WeightScale<SnapshotKey, Held> for ByWeight {
    fn weight(&self, _: &SnapshotKey, held: &Held) -> usize {
        held.retained.weight().saturating_add(HELD_BYTES)
    }
}

/// The LRU counts one for each entry besides its weight and keeps the sum below its capacity.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(MAX_SNAPSHOTS_BYTES - 1);

impl Default for Snapshots {
    fn default() -> Self {
        Self { held: CLruCache::with_config(CLruCacheConfig::new(CAPACITY).with_scale(ByWeight)) }
    }
}

impl Snapshots {
    /// Holds a set under its key, in place of any other. `now` is the time of a monotonic clock.
    pub fn retain(&mut self, key: SnapshotKey, retained: Arc<Retained>, now: Duration) -> Result<(), ToolError> {
        retained.check_weight()?;
        self.drop_expired(now);
        self.held
            .put_with_weight(key, Held { retained, last_used: Cell::new(now) })
            .map_err(|(_, held)| ToolError::SnapshotTooLarge {
                bytes: held.retained.set.weight(),
                max_bytes: MAX_SNAPSHOT_BYTES,
            })
            .map(|_| ())
    }

    /// The set under this key, if it is still held. Asking for it counts as a use.
    pub fn get(&mut self, key: &SnapshotKey, now: Duration) -> Option<Arc<Retained>> {
        self.drop_expired(now);
        let Held { retained, last_used, .. } = self.held.get(key)?;
        last_used.set(now);
        Some(Arc::clone(retained))
    }

    /// Lets go of every set that was last used too long ago.
    pub fn drop_expired(&mut self, now: Duration) {
        while self.held.back().is_some_and(|(_, held)| now.saturating_sub(held.last_used.get()) >= SNAPSHOT_LIFETIME) {
            self.held.pop_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::test_set;

    const NOW: Duration = Duration::from_secs(1_000);

    fn key(name: &str) -> SnapshotKey {
        SnapshotKey::claimed(name.to_owned())
    }

    fn of_weight(weight: usize) -> Arc<Retained> {
        let retained = Retained {
            set: test_set(weight),
            omissions: Omissions::default(),
            completeness: Completeness::default(),
            frame: None,
        };
        assert_eq!(retained.set.weight(), weight);
        Arc::new(retained)
    }

    #[test]
    fn a_set_of_exactly_the_cap_is_retained_and_one_byte_more_is_not() {
        let mut snapshots = Snapshots::default();
        assert_eq!(snapshots.retain(key("a"), of_weight(MAX_SNAPSHOT_BYTES), NOW), Ok(()));
        assert!(snapshots.get(&key("a"), NOW).is_some());

        let bytes = MAX_SNAPSHOT_BYTES + 1;
        let refusal = ToolError::SnapshotTooLarge { bytes, max_bytes: MAX_SNAPSHOT_BYTES };
        assert_eq!(snapshots.retain(key("b"), of_weight(bytes), NOW), Err(refusal));
        assert!(snapshots.get(&key("b"), NOW).is_none());
        assert!(snapshots.get(&key("a"), NOW).is_some(), "what was held is still held");
    }

    #[test]
    fn the_set_used_longest_ago_makes_room() {
        let mut snapshots = Snapshots::default();
        let quarter = MAX_SNAPSHOTS_BYTES / 4 - HELD_BYTES - 2;
        for name in ["a", "b", "c", "d"] {
            snapshots.retain(key(name), of_weight(quarter), NOW).unwrap();
        }
        assert!(snapshots.get(&key("a"), NOW).is_some());

        snapshots.retain(key("e"), of_weight(quarter), NOW).unwrap();

        let held = ["a", "b", "c", "d", "e"].map(|name| snapshots.get(&key(name), NOW).is_some());
        assert_eq!(held, [true, false, true, true, true]);
    }

    #[test]
    fn many_small_sets_are_held_together() {
        let mut snapshots = Snapshots::default();
        for name in 0..10_000 {
            snapshots.retain(key(&name.to_string()), of_weight(100), NOW).unwrap();
        }
        assert!(snapshots.get(&key("0"), NOW).is_some());
    }

    #[test]
    fn sets_of_nothing_do_not_pile_up() {
        let mut snapshots = Snapshots::default();
        let nothing = Retained {
            set: CanonicalSet::encode::<u32>([]).unwrap(),
            omissions: Omissions::default(),
            frame: None,
            completeness: Completeness::default(),
        };
        let nothing = Arc::new(nothing);
        for name in 0..200_000 {
            snapshots.retain(key(&name.to_string()), Arc::clone(&nothing), NOW).unwrap();
        }
        assert!(snapshots.held.len() <= 131_072, "{} are held", snapshots.held.len());
        assert!(snapshots.get(&key("199999"), NOW).is_some());
        assert!(snapshots.get(&key("0"), NOW).is_none());
    }

    #[test]
    fn a_set_expires_when_it_was_not_used_for_its_lifetime() {
        let mut snapshots = Snapshots::default();
        snapshots.retain(key("used"), of_weight(100), NOW).unwrap();
        snapshots.retain(key("unused"), of_weight(100), NOW).unwrap();
        let after = NOW + SNAPSHOT_LIFETIME;
        let just_before = after.saturating_sub(Duration::from_millis(1));
        assert!(snapshots.get(&key("used"), just_before).is_some());

        assert!(snapshots.get(&key("used"), after).is_some());
        assert!(snapshots.get(&key("unused"), after).is_none());
        assert!(snapshots.get(&key("used"), after + SNAPSHOT_LIFETIME).is_none());
        assert!(snapshots.held.is_empty(), "an expired set takes no memory");
    }

    #[test]
    fn a_set_replaces_the_one_under_the_same_key() {
        let mut snapshots = Snapshots::default();
        snapshots.retain(key("a"), of_weight(100), NOW).unwrap();
        snapshots.retain(key("a"), of_weight(200), NOW).unwrap();
        assert_eq!(snapshots.get(&key("a"), NOW), Some(of_weight(200)));
    }
}
