//! JavaScript's answers, and the questions that wait for them.
//!
//! An answer comes by a call of JavaScript's own, which names its question. To hang on to a promise instead, native code has
//! to leave callbacks with it: objects that live until V8 collects them, and that cost the thread which all extensions
//! share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use napi::ValueType;
use napi::bindgen_prelude::{FromNapiValue, TypeName, Uint32ArraySlice};
use napi::sys::{napi_env, napi_value};
use napi_derive::napi;
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// Every question of the process. No gateway has its own, since one asks before JavaScript holds it, and there may be
/// several.
pub(crate) static UNANSWERED: Unanswered = Unanswered::new();

/// Answers a question. An answer to one that nobody waits for any more is dropped. Throws if the answer is malformed, and
/// the question goes on waiting.
#[napi(catch_unwind)]
pub fn answer_question(id: i64, answer: Answer) {
    UNANSWERED.settle(id, Ok(answer));
}

/// Ends a question that has no answer, unless nobody waits for one any more. The reason is logged, and told to no client.
#[napi(catch_unwind)]
pub fn fail_question(id: i64, reason: String) {
    UNANSWERED.settle(id, Err(reason));
}

/// What answers a question.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct Answer {
    /// 0: answered; 1: nothing in the editor answers this question for this document; 2: there is no such document.
    pub outcome: u32,
    /// The strings of the rows, joined; nearly all of them distinct.
    pub text: String,
    /// How many strings there are, the UTF-16 length of each, then the rows.
    #[napi(ts_type = "Uint32Array")]
    pub cells: Cells,
}

/// Cells copied out of JavaScript's memory, which no other thread may read.
#[derive(Debug)]
pub struct Cells(Vec<u32>);

impl Cells {
    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.0
    }
}

impl TypeName for Cells {
    fn type_name() -> &'static str {
        "Uint32Array"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl FromNapiValue for Cells {
    unsafe fn from_napi_value(env: napi_env, value: napi_value) -> napi::Result<Self> {
        // SAFETY: the caller vouches for `env` and `value`, and calls on JavaScript's thread, where nothing can write to
        // the array while it is copied.
        let cells = unsafe { Uint32ArraySlice::from_napi_value(env, value) }?;
        Ok(Self(cells.to_vec()))
    }
}

/// An answer, or why there is none.
type Outcome = Result<Answer, String>;

/// The questions that wait for an answer, by ids of which none is given out twice.
pub(crate) struct Unanswered {
    latest: AtomicI64,
    waiting: Mutex<BTreeMap<i64, Sender<Outcome>>>,
}

impl Unanswered {
    const fn new() -> Self {
        Self { latest: AtomicI64::new(0), waiting: Mutex::new(BTreeMap::new()) }
    }

    /// The id of another question. Nobody waits for its answer.
    pub(crate) fn next_id(&self) -> i64 {
        self.latest.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The id of another question, and the wait for its answer.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        let id = self.next_id();
        let (sender, outcome) = channel();
        self.waiting().insert(id, sender);
        Waiting { id, outcome, among: self }
    }

    /// Ends the wait for the answer to this question, if anybody waits. The first outcome of a question counts.
    pub(crate) fn settle(&self, id: i64, outcome: Outcome) {
        let sender = self.waiting().remove(&id);
        if let Some(sender) = sender {
            // Whoever waited may have stopped just now.
            let _ = sender.send(outcome);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<i64, Sender<Outcome>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait for an answer. Dropping it ends the wait.
pub(crate) struct Waiting<'a> {
    id: i64,
    outcome: Receiver<Outcome>,
    among: &'a Unanswered,
}

impl Waiting<'_> {
    pub(crate) fn id(&self) -> i64 {
        self.id
    }

    pub(crate) async fn outcome(mut self) -> Outcome {
        (&mut self.outcome).await.unwrap_or_else(|_| Err("the question was lost".to_owned()))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.among.waiting().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{Answer, Cells, Unanswered};

    fn answer(text: &str) -> Answer {
        Answer { outcome: 0, text: text.to_owned(), cells: Cells(vec![0]) }
    }

    #[tokio::test]
    async fn each_answer_goes_to_its_question() {
        let unanswered = Unanswered::new();
        let (first, second) = (unanswered.wait(), unanswered.wait());
        unanswered.settle(second.id(), Ok(answer("second")));
        unanswered.settle(first.id(), Err("first".to_owned()));
        assert_eq!(first.outcome().await.unwrap_err(), "first");
        assert_eq!(second.outcome().await.unwrap().text, "second");
        assert!(unanswered.waiting().is_empty());
    }

    #[tokio::test]
    async fn the_first_outcome_counts() {
        let unanswered = Unanswered::new();
        let waiting = unanswered.wait();
        unanswered.settle(waiting.id(), Ok(answer("first")));
        unanswered.settle(waiting.id(), Ok(answer("second")));
        unanswered.settle(waiting.id(), Err("third".to_owned()));
        assert_eq!(waiting.outcome().await.unwrap().text, "first");
    }

    #[tokio::test]
    async fn an_answer_to_a_question_that_does_not_wait_changes_nothing() {
        let unanswered = Unanswered::new();
        let waiting = unanswered.wait();
        for id in [i64::MIN, -1, 0, waiting.id() + 1, unanswered.next_id(), i64::MAX] {
            unanswered.settle(id, Ok(answer("nobody's")));
        }
        assert_eq!(unanswered.waiting().len(), 1);
        unanswered.settle(waiting.id(), Ok(answer("its own")));
        assert_eq!(waiting.outcome().await.unwrap().text, "its own");
    }

    #[tokio::test]
    async fn a_question_that_is_given_up_leaves_nothing_behind() {
        let unanswered = Unanswered::new();
        let before = unanswered.wait();
        let id = before.id();
        assert_eq!(unanswered.waiting().len(), 1);
        drop(before);
        assert!(unanswered.waiting().is_empty(), "before it was asked");

        let during = unanswered.wait();
        assert!(timeout(Duration::from_millis(1), during.outcome()).await.is_err());
        assert!(unanswered.waiting().is_empty(), "while its answer was waited for");

        unanswered.settle(id, Ok(answer("late")));
        assert!(unanswered.waiting().is_empty(), "and a late answer brings nothing back");
    }
}
