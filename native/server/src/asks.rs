//! Identical calls in flight share one ask (D24).

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gateway_core::error::ToolError;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// The asks in flight, by what they ask. An ask lives as long as somebody waits for it.
#[derive(Debug)]
pub(crate) struct Asks<K, T> {
    in_flight: Mutex<HashMap<K, Weak<Ask<T>>>>,
}

#[derive(Debug)]
struct Ask<T> {
    answer: watch::Receiver<Option<Result<T, ToolError>>>,
    task: AbortHandle,
}

impl<T> Drop for Ask<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<K, T> Default for Asks<K, T> {
    fn default() -> Self {
        Self { in_flight: Mutex::default() }
    }
}

impl<K: Eq + Hash, T: Clone + Send + Sync + 'static> Asks<K, T> {
    /// Waits for the answer of the ask in flight with this key, or of a new one that `begin` makes. A panic in the ask
    /// is INTERNAL for everyone who waits for it.
    pub(crate) async fn share<F>(&self, key: K, begin: impl FnOnce() -> F) -> Result<T, ToolError>
    where
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let ask = self.join(key, begin);
        let mut answer = ask.answer.clone();
        match answer.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(ToolError::Internal)),
            Err(_) => Err(ToolError::Internal),
        }
    }

    fn join<F>(&self, key: K, begin: impl FnOnce() -> F) -> Arc<Ask<T>>
    where
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        // An answered ask is not in flight: who comes after it asks afresh.
        in_flight
            .retain(|_, ask| ask.upgrade().is_some_and(|ask| ask.answer.borrow().is_none() && !ask.task.is_finished()));
        if let Some(ask) = in_flight.get(&key).and_then(Weak::upgrade) {
            return ask;
        }
        let (sender, answer) = watch::channel(None);
        let asking = begin();
        let task = tokio::spawn(async move {
            let answer = asking.await;
            sender.send_replace(Some(answer));
        });
        let ask = Arc::new(Ask { answer, task: task.abort_handle() });
        in_flight.insert(key, Arc::downgrade(&ask));
        ask
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::{Notify, oneshot};

    use super::*;

    #[tokio::test]
    async fn identical_asks_in_flight_are_asked_once() {
        let asks = Asks::<&str, u32>::default();
        let count = AtomicUsize::new(0);
        let gate = Arc::new(Notify::new());
        let begin = || {
            count.fetch_add(1, Ordering::Relaxed);
            let gate = Arc::clone(&gate);
            async move {
                gate.notified().await;
                Ok(7)
            }
        };

        let (first, second, ()) =
            tokio::join!(asks.share("a", begin), asks.share("a", begin), async { gate.notify_one() });

        assert_eq!((first, second), (Ok(7), Ok(7)));
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn an_answered_ask_is_not_shared() {
        let asks = Asks::<&str, u32>::default();

        assert_eq!(asks.share("a", || async { Ok(1) }).await, Ok(1));
        assert_eq!(asks.share("a", || async { Ok(2) }).await, Ok(2));
    }

    #[tokio::test]
    async fn a_panic_in_an_ask_is_internal_and_ends_with_it() {
        let asks = Asks::<&str, u32>::default();

        assert_eq!(asks.share("a", || async { panic!("a provider's fault") }).await, Err(ToolError::Internal));
        assert_eq!(asks.share("a", || async { Ok(2) }).await, Ok(2));
    }

    #[tokio::test]
    async fn an_ask_that_nobody_waits_for_is_dropped() {
        struct Dropped(Option<oneshot::Sender<()>>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                let _ = self.0.take().expect("dropped once").send(());
            }
        }
        let asks = Asks::<&str, u32>::default();
        let (sender, dropped) = oneshot::channel();
        let held = Dropped(Some(sender));

        let waiting = asks.share("a", || async move {
            let _held = held;
            std::future::pending().await
        });
        assert!(tokio::time::timeout(std::time::Duration::ZERO, waiting).await.is_err());

        dropped.await.expect("the ask's future is dropped with its last waiter");
    }
}
