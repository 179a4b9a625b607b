//! The places for connections. There are so many and no more; when all are taken, whoever has waited longest without
//! having a request answered gives up theirs: first whoever has had the time to show a token and has not, then whoever
//! has, and last those that have just come. So nobody keeps the places by doing nothing: a new connection is let in as soon
//! as it comes. And nobody without a token drives out those who have shown theirs, by coming again and again: while half of
//! the places are taken by such as have not, it is them who give up theirs, however lately they have come.
//!
//! What changes with every request stands in the holder's own atomics, so that connections do not wait for each other.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// How long a new connection has to show a token before it counts as one that does nothing.
const GRACE: Duration = Duration::from_millis(100);

/// In [`Holder::waiting_since`] while a request is being answered.
const ANSWERING: u64 = u64::MAX;

/// All places, taken and free.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    most: usize,
    /// What times are counted from.
    opened: Instant,
    taken: Mutex<Taken>,
    /// How many wait for a place: without any, nobody has to be told of one.
    wanted: AtomicUsize,
    /// Told whenever a place may have become free, or its holder may have begun to wait, while one is wanted.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    tickets: Vec<Ticket>,
    /// How many were ever taken.
    count: u64,
}

/// A place that is taken.
#[derive(Debug)]
struct Ticket {
    id: u64,
    holder: Arc<Holder>,
    end: oneshot::Sender<End>,
}

/// What is known of a connection.
#[derive(Debug)]
struct Holder {
    /// Whether a request has come on this connection that may come in.
    admitted: AtomicBool,
    /// When it began to wait for its client, in nanoseconds since the places were opened; or [`ANSWERING`].
    waiting_since: AtomicU64,
}

/// The place of one connection. It is free again once this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    places: Arc<ConnectionLimit>,
    id: u64,
    holder: Arc<Holder>,
}

/// Why a connection has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Somebody else needs its place.
    Evicted,
    /// The server stops: the request under way is still answered.
    Shutdown,
}

/// While this lives, the connection has a request that is being answered, and keeps its place.
#[derive(Debug)]
pub(crate) struct Answering<'a>(&'a Slot);

/// While this lives, a place is wanted.
struct Wanted<'a>(&'a AtomicUsize);

impl ConnectionLimit {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            opened: Instant::now(),
            taken: Mutex::default(),
            wanted: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    /// Takes a place, if need be from whoever has waited longest. Resolves as soon as not everybody is being answered, to
    /// the place and to what tells its holder to end.
    pub(crate) async fn take(self: &Arc<Self>) -> (Slot, oneshot::Receiver<End>) {
        let _wanted = Wanted::new(&self.wanted);
        loop {
            let changed = self.changed.notified();
            if let Some(taken) = self.try_take() {
                return taken;
            }
            changed.await;
        }
    }

    /// Frees the place of whoever has waited longest, for want of something else that its connection takes up. Tells
    /// whether there was one.
    pub(crate) fn evict(&self) -> bool {
        self.taken().evict(self.now())
    }

    /// Tells every holder that the server stops.
    pub(crate) fn shut_down(&self) {
        for Ticket { end, .. } in mem::take(&mut self.taken().tickets) {
            // Who is gone does not have to be told.
            let _ = end.send(End::Shutdown);
        }
    }

    fn try_take(self: &Arc<Self>) -> Option<(Slot, oneshot::Receiver<End>)> {
        let now = self.now();
        let mut taken = self.taken();
        if taken.tickets.len() >= self.most && !taken.evict(now) {
            return None;
        }
        taken.count += 1;
        let id = taken.count;
        let holder = Arc::new(Holder { admitted: AtomicBool::new(false), waiting_since: AtomicU64::new(now) });
        let (end, told) = oneshot::channel();
        taken.tickets.push(Ticket { id, holder: Arc::clone(&holder), end });
        Some((Slot { places: Arc::clone(self), id, holder }, told))
    }

    fn tell_of_a_change(&self) {
        // Whoever wants a place says so before looking at the holders, and a holder changes before looking here: in the one
        // order that all of these have, one of the two sees the other.
        if self.wanted.load(Ordering::SeqCst) > 0 {
            self.changed.notify_one();
        }
    }

    /// Nanoseconds since the places were opened; they last for centuries.
    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(ANSWERING - 1)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // No code that can panic leaves this half changed.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn longest_waiting(&self, now: u64) -> Option<usize> {
        let strangers = self.tickets.iter().filter(|Ticket { holder, .. }| !holder.is_admitted()).count();
        let crowded = 2 * strangers >= self.tickets.len();
        let rank = |(at, Ticket { id, holder, .. }): (usize, &Ticket)| {
            let since = Some(holder.waiting_since.load(Ordering::SeqCst)).filter(|&since| since != ANSWERING)?;
            let waited = Duration::from_nanos(now.saturating_sub(since));
            let turn = match (holder.is_admitted(), crowded || waited >= GRACE) {
                (false, true) => 0,
                (true, _) => 1,
                (false, false) => 2,
            };
            Some((turn, since, *id, at))
        };
        self.tickets.iter().enumerate().filter_map(rank).min().map(|(.., at)| at)
    }

    /// The connection ends by itself a moment later. It does nothing until then, so it takes up no place.
    fn evict(&mut self, now: u64) -> bool {
        let longest_waiting = self.longest_waiting(now);
        if let Some(at) = longest_waiting {
            // Who is gone does not have to be told.
            let _ = self.tickets.swap_remove(at).end.send(End::Evicted);
        }
        longest_waiting.is_some()
    }
}

impl Holder {
    fn is_admitted(&self) -> bool {
        self.admitted.load(Ordering::Relaxed)
    }
}

impl Slot {
    /// Notes that the client may come in: it goes after all those that have not shown that.
    pub(crate) fn admit(&self) {
        if !self.holder.is_admitted() {
            self.holder.admitted.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that a request has arrived whole and is being answered.
    pub(crate) fn answering(&self) -> Answering<'_> {
        self.holder.waiting_since.store(ANSWERING, Ordering::SeqCst);
        Answering(self)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.places.taken().tickets.retain(|ticket| ticket.id != self.id);
        self.places.tell_of_a_change();
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let Slot { places, holder, .. } = self.0;
        holder.waiting_since.store(places.now(), Ordering::SeqCst);
        places.tell_of_a_change();
    }
}

impl<'a> Wanted<'a> {
    fn new(wanted: &'a AtomicUsize) -> Self {
        wanted.fetch_add(1, Ordering::SeqCst);
        Self(wanted)
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use tokio::time::advance;

    use super::*;

    fn places(most: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit::new(most))
    }

    /// A connection, and whether it has been told to end.
    struct Connection {
        place: Slot,
        told: Mutex<oneshot::Receiver<End>>,
        end: OnceLock<End>,
    }

    fn connection((place, told): (Slot, oneshot::Receiver<End>)) -> Connection {
        Connection { place, told: Mutex::new(told), end: OnceLock::new() }
    }

    fn take(places: &Arc<ConnectionLimit>) -> Connection {
        connection(places.try_take().expect("somebody only waits"))
    }

    fn end(Connection { told, end, .. }: &Connection) -> Option<End> {
        if let Ok(told) = told.lock().expect("no test panics in between").try_recv() {
            end.set(told).expect("one is told once");
        }
        end.get().copied()
    }

    fn evicted<const N: usize>(connections: [&Connection; N]) -> [bool; N] {
        connections.map(|connection| end(connection) == Some(End::Evicted))
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_waited_longest_goes_first() {
        let places = places(2);
        let (first, second) = (take(&places), take(&places));
        advance(GRACE).await;
        drop(first.place.answering());
        let third = take(&places);
        assert_eq!(evicted([&first, &second, &third]), [false, true, false]);
        advance(GRACE).await;
        let fourth = take(&places);
        assert_eq!(evicted([&first, &second, &third, &fourth]), [true, true, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_had_the_time_to_show_a_token_goes_first_and_who_has_just_come_last() {
        let places = places(4);
        let (known, second, third, silent) = (take(&places), take(&places), take(&places), take(&places));
        for known in [&known, &second, &third] {
            known.place.admit();
        }
        advance(GRACE).await;
        let fresh = take(&places);
        assert_eq!(evicted([&known, &second, &third, &silent]), [false, false, false, true], "who has said nothing");
        let _another = take(&places);
        assert_eq!(evicted([&known, &second, &third, &fresh]), [true, false, false, false], "then who is known");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_shows_no_token_drives_out_nobody_who_has() {
        let places = places(4);
        let (known, second) = (take(&places), take(&places));
        known.place.admit();
        second.place.admit();
        advance(GRACE).await;
        let strangers: Vec<_> = (0..6).map(|_| take(&places)).collect();
        assert_eq!(evicted([&known, &second]), [false, false]);
        let gone: Vec<_> = strangers.iter().map(|stranger| end(stranger).is_some()).collect();
        assert_eq!(gone, [true, true, true, true, false, false], "whoever of them came first");
    }

    #[test]
    fn who_is_being_answered_keeps_the_place() {
        let places = places(1);
        let holder = take(&places);
        let answering = holder.place.answering();
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
            let answering = holder.place.answering();
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

    #[test]
    fn everybody_is_told_of_the_end() {
        let places = places(2);
        let (first, second) = (take(&places), take(&places));
        assert_eq!([end(&first), end(&second)], [None, None]);
        places.shut_down();
        assert_eq!([end(&first), end(&second)], [Some(End::Shutdown), Some(End::Shutdown)]);
    }
}
