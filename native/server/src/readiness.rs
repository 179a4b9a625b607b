//! How far an answer can be believed (D28). A language server that is still loading answers "nothing", or, worse, a part
//! that does not change for a while, so an answer is whole only once its language has shown that it is ready.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway_core::ask::Raw;
use gateway_core::completeness::Completeness;
use gateway_core::epochs::Epochs;
use gateway_core::tool::{Question, Registered};
use tokio::time::Instant;

use crate::workspace::WorkspaceVersion;

/// How long a language without a sign may take to start: until then, that it finds nothing at all is not believed.
const TIME_TO_START: Duration = Duration::from_secs(60);

/// How many answers are remembered of each language.
const MAX_SEEN: usize = 64;

/// How far apart two equal answers have to lie to show that the language is ready: longer than any of its servers was seen
/// to stay with a part. `None` where that grows with the project.
fn longest_pause(language: &str) -> Option<Duration> {
    match language {
        // They read the document that they are asked about, and no project.
        "css" | "html" | "json" | "jsonc" | "less" | "scss" => Some(Duration::ZERO),
        // Pyright stayed with a part for 0.2 s, pyrefly for 0.7 s, in small projects.
        "python" => Some(Duration::from_secs(10)),
        // Clangd and rust-analyzer index the project. Rust-analyzer stayed with a part of the smallest one for 10 s.
        "c" | "cpp" | "cuda-cpp" | "objective-c" | "objective-cpp" | "rust" => None,
        _ => Some(Duration::from_secs(60)),
    }
}

/// What is known of the languages that give no sign of whether they are ready, by the editor's identifiers.
#[derive(Debug, Default)]
pub(crate) struct Silent(Mutex<HashMap<String, Known>>);

#[derive(Debug)]
struct Known {
    state: State,
    /// The last different answers that found something, the oldest first.
    seen: Vec<Seen>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It may be loading, and has been asked since then.
    Loading(Instant),
    Ready,
}

#[derive(Debug)]
struct Seen {
    question: u64,
    answer: u64,
    epochs: Epochs,
    /// When this answer was given first.
    since: Instant,
}

impl Silent {
    /// Whether the language has shown by its answers that it is ready.
    pub(crate) fn is_ready(&self, language: &str) -> bool {
        self.languages().get(language).is_some_and(|known| known.state == State::Ready)
    }

    /// Forgets what was concluded about a language: it has begun to give signs.
    pub(crate) fn forget(&self, language: &str) {
        self.languages().remove(language);
    }

    /// Whether the language has not answered anything yet, and has had no time to.
    pub(crate) fn may_be_starting(&self, language: &str) -> bool {
        self.with(language, |known| known.seen.is_empty() && known.may_be_loading(Instant::now()))
    }

    /// How far answers that were asked for at this moment can be believed; `None` if they have to be asked for again.
    pub(crate) fn weigh(
        &self,
        language: &str,
        tool: Registered,
        question: &Question,
        moment: &WorkspaceVersion,
        answers: &[Raw],
    ) -> Option<Completeness> {
        let asked = hash_of(&(tool, question));
        let epochs = moment.epochs.that_outdate_a_question(tool.epochs());
        self.with(language, |known| {
            if answers.first().is_none_or(Raw::is_empty) {
                known.saw_nothing(asked, epochs)
            } else {
                known.saw(asked, hash_of(answers), epochs, longest_pause(language));
                Some(known.completeness())
            }
        })
    }

    fn with<R>(&self, language: &str, work: impl FnOnce(&mut Known) -> R) -> R {
        let mut languages = self.languages();
        let new = || Known { state: State::Loading(Instant::now()), seen: Vec::new() };
        work(languages.entry(language.to_owned()).or_insert_with(new))
    }

    fn languages(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn completeness(&self) -> Completeness {
        if self.state == State::Ready { Completeness::Confirmed } else { Completeness::Unconfirmed }
    }

    fn may_be_loading(&self, now: Instant) -> bool {
        matches!(self.state, State::Loading(since) if now - since < TIME_TO_START)
    }

    fn saw(&mut self, question: u64, answer: u64, epochs: Epochs, pause: Option<Duration>) {
        let now = Instant::now();
        let before = self.seen.iter().position(|seen| seen.question == question).map(|index| self.seen.remove(index));
        let since = before.filter(|before| before.answer == answer).map_or(now, |before| before.since);
        if self.seen.len() == MAX_SEEN {
            self.seen.remove(0);
        }
        self.seen.push(Seen { question, answer, epochs, since });
        if pause.is_some_and(|pause| now - since >= pause) {
            self.state = State::Ready;
        }
    }

    fn saw_nothing(&mut self, question: u64, epochs: Epochs) -> Option<Completeness> {
        let now = Instant::now();
        // What was there in the very same files has not gone: the server has begun anew.
        let is_lost = self.seen.iter().any(|seen| seen.question == question && seen.epochs == epochs);
        if is_lost && self.state == State::Ready {
            self.state = State::Loading(now);
        }
        let is_believed = !self.may_be_loading(now) || !(is_lost || self.seen.is_empty());
        is_believed.then(|| self.completeness())
    }
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
