//! The places for connections. There are so many and no more; when all are taken, whoever has waited longest without
//! having a request answered gives up theirs: first whoever has had the time to show a token and has not, then whoever
//! has, and last those that have just come. So nobody keeps the places by doing nothing: a new connection is let in as soon
//! as it comes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a new connection has to show a token before it counts as one that does nothing.
const GRACE: Duration = Duration::from_millis(100);

/// All places, taken and free.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    taken: Mutex<Taken>,
    /// Told whenever a place may have become free, or its holder may have begun to wait.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    holders: Vec<Holder>,
    /// How many were ever taken.
    count: u64,
}

#[derive(Debug)]
struct Holder {
    id: u64,
    /// Whether a request has come on this connection that may come in.
    admitted: bool,
    /// When it began to wait for its client; nothing while a request is being answered.
    waiting_since: Option<Instant>,
    evicted: CancellationToken,
}

/// The place of one connection. It is free again once this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    id: u64,
    evicted: CancellationToken,
}

/// While this lives, the connection has a request that is being answered, and keeps its place.
#[derive(Debug)]
pub(crate) struct Answering(Arc<Place>);

impl Places {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Mutex::default(), changed: Notify::new() }
    }

    /// Takes a place, if need be from whoever has waited longest. Resolves as soon as not everybody is being answered.
    pub(crate) async fn take(self: &Arc<Self>) -> Place {
        loop {
            let changed = self.changed.notified();
            if let Some(place) = self.try_take() {
                return place;
            }
            changed.await;
        }
    }

    /// Frees the place of whoever has waited longest, for want of something else that its connection takes up. Tells
    /// whether there was one.
    pub(crate) fn evict(&self) -> bool {
        self.taken().evict()
    }

    fn try_take(self: &Arc<Self>) -> Option<Place> {
        let mut taken = self.taken();
        if taken.holders.len() >= self.most && !taken.evict() {
            return None;
        }
        taken.count += 1;
        let id = taken.count;
        let evicted = CancellationToken::new();
        let holder = Holder { id, admitted: false, waiting_since: Some(Instant::now()), evicted: evicted.clone() };
        taken.holders.push(holder);
        Some(Place { places: Arc::clone(self), id, evicted })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // No code that can panic leaves this half changed.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn longest_waiting(&self) -> Option<usize> {
        let rank = |(at, holder): (usize, &Holder)| {
            let since = holder.waiting_since?;
            let turn = match (holder.admitted, since.elapsed() >= GRACE) {
                (false, true) => 0,
                (true, _) => 1,
                (false, false) => 2,
            };
            Some((turn, since, holder.id, at))
        };
        self.holders.iter().enumerate().filter_map(rank).min().map(|(.., at)| at)
    }

    /// The connection ends by itself a moment later. It does nothing until then, so it takes up no place.
    fn evict(&mut self) -> bool {
        let longest_waiting = self.longest_waiting();
        if let Some(at) = longest_waiting {
            self.holders.swap_remove(at).evicted.cancel();
        }
        longest_waiting.is_some()
    }

    fn holder(&mut self, id: u64) -> Option<&mut Holder> {
        self.holders.iter_mut().find(|holder| holder.id == id)
    }
}

impl Place {
    /// Resolves once somebody else needs the place.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Notes that the client may come in: it goes after all those that have not shown that.
    pub(crate) fn admit(&self) {
        if let Some(holder) = self.places.taken().holder(self.id) {
            holder.admitted = true;
        }
    }

    /// Notes that a request has arrived whole and is being answered.
    pub(crate) fn answering(self: &Arc<Self>) -> Answering {
        if let Some(holder) = self.places.taken().holder(self.id) {
            holder.waiting_since = None;
        }
        Answering(Arc::clone(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().holders.retain(|holder| holder.id != self.id);
        self.places.changed.notify_one();
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut taken = self.0.places.taken();
        if let Some(holder) = taken.holder(self.0.id) {
            holder.waiting_since = Some(Instant::now());
        }
        drop(taken);
        self.0.places.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn places(most: usize) -> Arc<Places> {
        Arc::new(Places::new(most))
    }

    fn take(places: &Arc<Places>) -> Arc<Place> {
        Arc::new(places.try_take().expect("somebody only waits"))
    }

    fn evicted<const N: usize>(holders: [&Place; N]) -> [bool; N] {
        holders.map(|holder| holder.evicted.is_cancelled())
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_waited_longest_goes_first() {
        let places = places(2);
        let (first, second) = (take(&places), take(&places));
        advance(GRACE).await;
        drop(first.answering());
        let third = take(&places);
        assert_eq!(evicted([&first, &second, &third]), [false, true, false]);
        advance(GRACE).await;
        let fourth = take(&places);
        assert_eq!(evicted([&first, &second, &third, &fourth]), [true, true, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_had_the_time_to_show_a_token_goes_first_and_who_has_just_come_last() {
        let places = places(3);
        let (known, silent) = (take(&places), take(&places));
        known.admit();
        advance(GRACE).await;
        let fresh = take(&places);
        let another = take(&places);
        assert_eq!(evicted([&known, &silent, &fresh]), [false, true, false], "who has said nothing");
        let last = take(&places);
        assert_eq!(evicted([&known, &fresh, &another, &last]), [true, false, false, false], "then who is known");
        take(&places);
        assert_eq!(evicted([&fresh, &another, &last]), [true, false, false], "and then who has waited longest");
    }

    #[test]
    fn who_is_being_answered_keeps_the_place() {
        let places = places(1);
        let holder = take(&places);
        let answering = holder.answering();
        assert!(places.try_take().is_none());
        drop(answering);
        assert!(places.try_take().is_some());
        assert_eq!(evicted([&holder]), [true]);
    }

    #[test]
    fn a_place_that_is_given_back_is_free() {
        let places = places(1);
        drop(take(&places));
        let next = take(&places);
        assert_eq!(evicted([&next]), [false]);
    }

    #[tokio::test]
    async fn there_is_a_place_as_soon_as_an_answer_is_done_or_a_connection_ends() {
        for ends in [false, true] {
            let places = places(1);
            let holder = take(&places);
            let answering = holder.answering();
            let waiting = tokio::spawn({
                let places = Arc::clone(&places);
                async move { places.take().await }
            });
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            drop(answering);
            if ends {
                drop(holder);
            }
            waiting.await.expect("it is told");
        }
    }
}
