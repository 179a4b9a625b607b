//! Identical calls in flight share one ask (D24), and an ask outlives the calls that wait for it (D27): a call whose time
//! is over leaves it running, and the next identical one joins it, or finds its answer.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway_core::error::ToolError;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

/// How long the answer of an ask that nobody waited for any more is kept for one call.
const LATE_ANSWER_LIFETIME: Duration = Duration::from_secs(10);

/// How long an ask may take. Somebody who never answers would otherwise keep every later call waiting with it.
const LONGEST_ASK: Duration = Duration::from_secs(120);

/// How many asks may be there that nobody waits for, answered or not.
const MAX_LEFT: usize = 16;

/// The asks in flight, and the late answers, by what they ask; the oldest first.
#[derive(Debug)]
pub(crate) struct SingleFlight<K, T> {
    flights: Mutex<Vec<(K, Arc<Flight<T>>)>>,
}

#[derive(Debug)]
struct Flight<T> {
    answer: watch::Receiver<Option<Answered<T>>>,
    progress: Arc<Progress>,
    /// How many calls wait for it.
    waiting: Arc<AtomicUsize>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Answered<T> {
    result: Result<T, ToolError>,
    /// When it came, if nobody waited for it then.
    late: Option<Instant>,
}

impl<T> Drop for Flight<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What an ask is doing, for those whose time is over before it is answered.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    warming_up: AtomicBool,
    catching_up: AtomicBool,
}

impl Progress {
    /// Says whether the ask waits for a language to be ready (D28).
    pub(crate) fn set_warming_up(&self, warming_up: bool) {
        self.warming_up.store(warming_up, Ordering::Relaxed);
    }

    /// Whether the ask waits for a language to be ready.
    pub(crate) fn is_warming_up(&self) -> bool {
        self.warming_up.load(Ordering::Relaxed)
    }

    /// Says whether the ask waits for language servers to know what was written.
    pub(crate) fn set_catching_up(&self, catching_up: bool) {
        self.catching_up.store(catching_up, Ordering::Relaxed);
    }

    /// Whether the ask waits for language servers to know what was written.
    pub(crate) fn is_catching_up(&self) -> bool {
        self.catching_up.load(Ordering::Relaxed)
    }
}

/// What the ask is doing that a call waits for at the moment: one call may wait for several, one after the other.
#[derive(Default)]
pub(crate) struct Latest(Mutex<Option<Arc<Progress>>>);

impl Latest {
    /// The progress of the last one.
    pub(crate) fn get(&self) -> Option<Arc<Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another ask is waited for.
    pub(crate) fn set(&self, progress: Arc<Progress>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }
}

/// A call that waits for an ask, or has found its answer.
#[derive(Debug)]
pub(crate) struct Waiter<T> {
    ask: Arc<Flight<T>>,
}

impl<T> Drop for Waiter<T> {
    fn drop(&mut self) {
        self.ask.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T: Clone> Waiter<T> {
    fn new(ask: &Arc<Flight<T>>) -> Self {
        ask.waiting.fetch_add(1, Ordering::Relaxed);
        Self { ask: Arc::clone(ask) }
    }

    /// What the ask is doing.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.ask.progress)
    }

    /// The answer. A panic in the ask is INTERNAL for everyone who waits for it.
    pub(crate) async fn answer(&self) -> Result<T, ToolError> {
        let mut answer = self.ask.answer.clone();
        match answer.wait_for(Option::is_some).await {
            Ok(answered) => answered.as_ref().map_or(Err(ToolError::Internal), |answered| answered.result.clone()),
            Err(_) => Err(ToolError::Internal),
        }
    }
}

impl<K, T> Default for SingleFlight<K, T> {
    fn default() -> Self {
        Self { flights: Mutex::default() }
    }
}

impl<K: Eq, T: Clone + Send + Sync + 'static> SingleFlight<K, T> {
    /// Joins the ask in flight with this key, or begins one.
    pub(crate) fn join<F>(&self, key: K, begin: impl FnOnce(Arc<Progress>) -> F) -> Waiter<T>
    where
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let mut asks = self.tidied();
        if let Some((_, ask)) = asks.iter().find(|(known, ask)| *known == key && ask.is_in_flight()) {
            return Waiter::new(ask);
        }
        let ask = Arc::new(Flight::begin(begin));
        let waiter = Waiter { ask: Arc::clone(&ask) };
        asks.retain(|(known, _)| *known != key);
        asks.push((key, ask));
        waiter
    }

    /// Takes the answer with this key that came when nobody waited for it any more: once, and not long after.
    pub(crate) fn take_late(&self, key: &K) -> Option<Result<T, ToolError>> {
        let mut asks = self.tidied();
        let index = asks.iter().position(|(known, ask)| known == key && !ask.is_in_flight())?;
        let (_, ask) = asks.remove(index);
        let answered = ask.answer.borrow();
        answered.as_ref().map(|answered| answered.result.clone())
    }

    /// The asks without those that have had their use.
    fn tidied(&self) -> MutexGuard<'_, Vec<(K, Arc<Flight<T>>)>> {
        let mut asks = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        asks.retain(|(_, ask)| ask.is_of_use());
        let mut left = asks.iter().filter(|(_, ask)| !ask.is_waited_for()).count();
        asks.retain(|(_, ask)| {
            let goes = left > MAX_LEFT && !ask.is_waited_for();
            left -= usize::from(goes);
            !goes
        });
        asks
    }
}

impl<T: Send + Sync + 'static> Flight<T> {
    fn begin<F>(begin: impl FnOnce(Arc<Progress>) -> F) -> Self
    where
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let (sender, answer) = watch::channel(None);
        // Whoever begins it waits for it, also if it is answered before they get to that.
        let (progress, waiting) = (Arc::<Progress>::default(), Arc::new(AtomicUsize::new(1)));
        let asking = begin(Arc::clone(&progress));
        let (still_waiting, doing) = (Arc::clone(&waiting), Arc::clone(&progress));
        let task = tokio::spawn(async move {
            let result = timeout(LONGEST_ASK, asking).await.unwrap_or_else(|_| {
                Err(if doing.is_warming_up() {
                    ToolError::WarmingUp
                } else {
                    ToolError::Timeout { limit: LONGEST_ASK }
                })
            });
            let late = (still_waiting.load(Ordering::Relaxed) == 0).then(Instant::now);
            sender.send_replace(Some(Answered { result, late }));
        });
        Self { answer, progress, waiting, task: task.abort_handle() }
    }

    fn is_in_flight(&self) -> bool {
        self.answer.borrow().is_none() && !self.task.is_finished()
    }

    fn is_of_use(&self) -> bool {
        match &*self.answer.borrow() {
            Some(answered) => answered.late.is_some_and(|at| at.elapsed() < LATE_ANSWER_LIFETIME),
            None => !self.task.is_finished(),
        }
    }

    fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::advance;

    use super::*;

    type Answers = SingleFlight<&'static str, u32>;

    /// Joins the ask with this key, or begins one that is answered by what is sent.
    fn join<K: Eq>(asks: &SingleFlight<K, u32>, key: K, answer: oneshot::Receiver<u32>) -> Waiter<u32> {
        asks.join(key, |_| async { answer.await.map_err(|_| ToolError::Internal) })
    }

    fn never() -> oneshot::Receiver<u32> {
        oneshot::channel().1
    }

    /// Lets every task run that can.
    async fn let_run() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn identical_asks_in_flight_are_asked_once() {
        let asks = Answers::default();
        let (sender, answer) = oneshot::channel();
        let first = join(&asks, "a", answer);
        let second = join(&asks, "a", never());
        sender.send(7).expect("it is waited for");

        assert_eq!((first.answer().await, second.answer().await), (Ok(7), Ok(7)));
    }

    #[tokio::test]
    async fn an_answered_ask_is_not_shared() {
        let asks = Answers::default();

        assert_eq!(asks.join("a", |_| async { Ok(1) }).answer().await, Ok(1));
        assert_eq!(asks.take_late(&"a"), None);
        assert_eq!(asks.join("a", |_| async { Ok(2) }).answer().await, Ok(2));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_ask_that_is_answered_while_it_is_begun_is_not_late() {
        let asks = Answers::default();
        for _ in 0..10_000 {
            let waiter = asks.join("a", |_| async { Ok(1) });
            assert_eq!(waiter.answer().await, Ok(1));
            assert_eq!(asks.take_late(&"a"), None);
        }
    }

    #[tokio::test]
    async fn a_panic_in_an_ask_is_internal_and_ends_with_it() {
        let asks = Answers::default();

        let panicking = asks.join("a", |_| async { panic!("a provider's fault") });
        assert_eq!(panicking.answer().await, Err(ToolError::Internal));
        drop(panicking);
        assert_eq!(asks.take_late(&"a"), None);
        assert_eq!(asks.join("a", |_| async { Ok(2) }).answer().await, Ok(2));
    }

    #[tokio::test]
    async fn an_ask_that_nobody_waits_for_goes_on_and_is_joined_by_the_next_call() {
        let asks = Answers::default();
        let (sender, answer) = oneshot::channel();
        drop(join(&asks, "a", answer));
        let_run().await;

        assert_eq!(asks.take_late(&"a"), None, "there is no answer yet");
        let joined = join(&asks, "a", never());
        sender.send(7).expect("the ask goes on");

        assert_eq!(joined.answer().await, Ok(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_answer_is_kept_for_one_call_and_for_ten_seconds() {
        for (seconds, expected) in [(9, Some(Ok(7))), (11, None)] {
            let asks = Answers::default();
            let (sender, answer) = oneshot::channel();
            drop(join(&asks, "a", answer));
            sender.send(7).expect("the ask goes on");
            let_run().await;
            advance(Duration::from_secs(seconds)).await;

            assert_eq!(asks.take_late(&"b"), None, "another call has nothing of it");
            assert_eq!(asks.take_late(&"a"), expected, "after {seconds} s");
            assert_eq!(asks.take_late(&"a"), None, "once only");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_ask_that_is_never_answered_ends() {
        let asks = Answers::default();
        let waiter = asks.join("a", |_| std::future::pending());

        assert_eq!(waiter.answer().await, Err(ToolError::Timeout { limit: Duration::from_secs(120) }));
    }

    #[tokio::test]
    async fn of_the_asks_that_nobody_waits_for_the_oldest_are_ended() {
        let asks = SingleFlight::<usize, u32>::default();
        let watched = asks.join(100, |_| std::future::pending());
        let senders: Vec<_> = (0..17)
            .map(|key| {
                let (sender, answer) = oneshot::channel();
                drop(join(&asks, key, answer));
                sender
            })
            .collect();
        drop(join(&asks, 101, never()));
        let_run().await;

        let ended: Vec<bool> = senders.iter().map(oneshot::Sender::is_closed).collect();
        assert_eq!(ended[..3], [true, false, false], "the oldest has gone");
        assert!(watched.ask.is_in_flight(), "one that is waited for stays");
    }
}
