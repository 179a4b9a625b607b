//! The retained canonical sets that cursors page through (contract section 3.6, D26).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use clru::{CLruCache, CLruCacheConfig, WeightScale};

use crate::canonical::CanonicalSet;
use crate::error::ToolError;
use crate::keys::SnapshotKey;
use crate::limits::{MAX_SNAPSHOT_BYTES, MAX_SNAPSHOTS_BYTES, SNAPSHOT_LIFETIME};

/// A canonical set with what its pages say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// The full set.
    pub set: CanonicalSet,
    /// How many items were left out of it because their URI is not allowed (D15).
    pub omitted: usize,
}

impl Retained {
    /// Whether the set is small enough to be held for paging.
    pub fn check_weight(&self) -> Result<(), ToolError> {
        let bytes = self.set.weight();
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
    last_used: Duration,
}

#[derive(Debug)]
struct ByWeight;

impl WeightScale<SnapshotKey, Held> for ByWeight {
    fn weight(&self, _: &SnapshotKey, held: &Held) -> usize {
        held.retained.set.weight()
    }
}

/// The LRU counts one for each entry besides its weight and keeps the sum below its capacity.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(MAX_SNAPSHOTS_BYTES).unwrap();

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
            .put_with_weight(key, Held { retained, last_used: now })
            .map_err(|(_, held)| ToolError::SnapshotTooLarge {
                bytes: held.retained.set.weight(),
                max_bytes: MAX_SNAPSHOT_BYTES,
            })
            .map(|_| ())
    }

    /// The set under this key, if it is still held. Asking for it counts as a use.
    pub fn get(&mut self, key: &SnapshotKey, now: Duration) -> Option<Arc<Retained>> {
        self.drop_expired(now);
        let retained = Arc::clone(&self.held.get(key)?.retained);
        // Its weight is the same, so putting it back moves nothing else out.
        self.held.put_with_weight(key.clone(), Held { retained: Arc::clone(&retained), last_used: now }).ok()?;
        Some(retained)
    }

    /// Lets go of every set that was last used too long ago.
    pub fn drop_expired(&mut self, now: Duration) {
        while self.held.back().is_some_and(|(_, held)| now.saturating_sub(held.last_used) >= SNAPSHOT_LIFETIME) {
            self.held.pop_back();
        }
    }
}
