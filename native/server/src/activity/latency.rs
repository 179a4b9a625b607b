//! How long calls took, in slices of time.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

/// How long a slice is.
const SLICE: Duration = Duration::from_secs(5);
/// How many of them are kept, the one that is not over included: ten minutes.
const MAX_SLICES: u64 = 120;
/// Four buckets for each doubling of the microseconds, the last for all beyond 8 s: what is read out of one is at most an
/// eighth off.
const BUCKETS: usize = 88;

/// The slices in which a call ended, oldest first.
#[derive(Debug, Default)]
pub(super) struct Latency(VecDeque<Slice>);

/// The calls that ended in one slice of time.
#[derive(Debug, Clone)]
pub(super) struct Slice {
    index: u64,
    failed: u32,
    slowest: u64,
    buckets: Box<[u32; BUCKETS]>,
}

/// What is told of a slice; times are in microseconds.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) index: u64,
    pub(super) calls: u32,
    pub(super) failed: u32,
    pub(super) p50: u64,
    pub(super) p95: u64,
}

/// The number of the slice that this time after the beginning is in.
pub(super) fn slice_at(elapsed: Duration) -> u64 {
    elapsed.as_secs() / SLICE.as_secs()
}

impl Latency {
    /// Counts a call that has ended in the slice of this number.
    pub(super) fn add(&mut self, index: u64, micros: u64, has_failed: bool) {
        self.forget(index);
        // Two calls may come here in another order than that in which they looked at the clock.
        let index = self.0.back().map_or(index, |last| last.index.max(index));
        if self.0.back().is_none_or(|last| last.index < index) {
            self.0.push_back(Slice { index, failed: 0, slowest: 0, buckets: Box::new([0; BUCKETS]) });
        }
        if let Some(slice) = self.0.back_mut() {
            let bucket = &mut slice.buckets[bucket_of(micros)];
            *bucket = bucket.saturating_add(1);
            slice.failed = slice.failed.saturating_add(u32::from(has_failed));
            slice.slowest = slice.slowest.max(micros);
        }
    }

    /// The slices from `index` on that are not too old at the slice `now`.
    pub(super) fn since(&self, index: u64, now: u64) -> Vec<Slice> {
        self.0.iter().filter(|slice| slice.index >= index && slice.index + MAX_SLICES > now).cloned().collect()
    }

    fn forget(&mut self, now: u64) {
        while self.0.front().is_some_and(|slice| slice.index + MAX_SLICES <= now) {
            self.0.pop_front();
        }
    }
}

impl Slice {
    pub(super) fn summary(&self) -> Summary {
        let calls = self.buckets.iter().fold(0_u32, |sum, count| sum.saturating_add(*count));
        let Self { index, failed, .. } = *self;
        Summary { index, calls, failed, p50: self.quantile(calls, 50), p95: self.quantile(calls, 95) }
    }

    /// The time within which so many of a hundred calls were over.
    fn quantile(&self, calls: u32, percent: u64) -> u64 {
        let rank = (u64::from(calls) * percent).div_ceil(100);
        let mut passed = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            passed += u64::from(*count);
            if passed >= rank {
                return middle_of(bucket).min(self.slowest);
            }
        }
        self.slowest
    }
}

fn bucket_of(micros: u64) -> usize {
    let bucket = match micros.checked_ilog2() {
        Some(octave @ 2..) => u64::from(octave - 1) * 4 + ((micros >> (octave - 2)) & 3),
        _ => micros,
    };
    usize::try_from(bucket).map_or(BUCKETS - 1, |bucket| bucket.min(BUCKETS - 1))
}

/// A time in the middle of those that a bucket is for.
fn middle_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 4 {
        return bucket;
    }
    let width = 1 << (bucket / 4 - 1);
    (4 + bucket % 4) * width + width / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ten_minutes_are_kept_in_slices_of_five_seconds() {
        assert_eq!([0, 4, 5, 599, 600].map(|seconds| slice_at(Duration::from_secs(seconds))), [0, 0, 1, 119, 120]);
        let mut latency = Latency::default();
        for index in 0..300 {
            latency.add(index, 100, false);
        }
        let indices = |slices: Vec<Slice>| slices.iter().map(|slice| slice.index).collect::<Vec<_>>();
        assert_eq!(latency.0.len(), 120);
        assert_eq!(indices(latency.since(0, 299)), (180..300).collect::<Vec<_>>());
        assert_eq!(indices(latency.since(298, 299)), [298, 299]);
        // Those that have grown too old since the last call are not told.
        assert_eq!(indices(latency.since(0, 417)), [298, 299]);
        assert!(latency.since(0, 500).is_empty());
    }

    #[test]
    fn a_slice_tells_how_many_calls_it_has_how_many_failed_and_how_long_they_took() {
        let mut latency = Latency::default();
        for micros in 1..=3 {
            latency.add(7, micros, micros == 3);
        }
        let summary = latency.since(0, 7)[0].summary();
        assert_eq!(summary, Summary { index: 7, calls: 3, failed: 1, p50: 2, p95: 3 });
    }

    #[test]
    fn a_call_that_looked_at_the_clock_before_another_is_counted_with_it() {
        let mut latency = Latency::default();
        latency.add(8, 100, false);
        latency.add(7, 100, false);
        assert_eq!(latency.since(0, 8).iter().map(|slice| slice.summary().calls).collect::<Vec<_>>(), [2]);
    }

    proptest! {
        #[test]
        fn what_is_told_is_an_eighth_off_at_most(mut micros in proptest::collection::vec(1..8_000_000_u64, 1..300)) {
            let mut latency = Latency::default();
            for &one in &micros {
                latency.add(0, one, false);
            }
            let Summary { p50, p95, .. } = latency.since(0, 0)[0].summary();
            micros.sort_unstable();
            for (told, percent) in [(p50, 50), (p95, 95)] {
                let exact = micros[(micros.len() * percent).div_ceil(100) - 1];
                prop_assert!(told.abs_diff(exact) * 8 <= exact, "{} for {}", told, exact);
            }
        }

        #[test]
        fn any_time_has_a_bucket(micros in any::<u64>()) {
            let mut latency = Latency::default();
            latency.add(0, micros, true);
            prop_assert!(latency.since(0, 0)[0].summary().p95 <= micros);
        }
    }
}
