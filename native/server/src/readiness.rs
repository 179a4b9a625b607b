//! How far an answer can be believed (D28). A language server that is still loading answers "nothing", or, worse, a part
//! that does not change for a while, so an answer is whole only once its language has shown that it is ready.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway_core::belief::Belief;
use gateway_core::epochs::Epochs;
use gateway_core::error::ToolError;
use gateway_core::hover::RawHovers;
use gateway_core::location::{RawLocations, RawTargets};
use gateway_core::symbol::RawDocumentSymbols;
use tokio::time::{Instant, sleep};

use crate::asks::Stage;
use crate::call::Opened;
use crate::editor::{Editor, EditorError, Language, Readiness};
use crate::gateway::Gateway;
use crate::question::Question;
use crate::workspace::Moment;

/// How long a language without a sign may take to start: until then, that it finds nothing at all is not believed.
const TIME_TO_START: Duration = Duration::from_secs(60);

/// The pauses between answers that are not believed yet.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How many answers are remembered of each language.
const MOST_SEEN: usize = 64;

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
    fn is_ready(&self, language: &str) -> bool {
        self.languages().get(language).is_some_and(|known| known.state == State::Ready)
    }

    /// The languages that have shown by their answers that they are ready.
    pub(crate) fn ready(&self) -> Vec<String> {
        let languages = self.languages();
        languages.iter().filter(|(_, known)| known.state == State::Ready).map(|(id, _)| id.clone()).collect()
    }

    /// Forgets what was concluded about a language: it has begun to give signs.
    fn forget(&self, language: &str) {
        self.languages().remove(language);
    }

    /// Whether the language has not answered anything yet, and has had no time to.
    fn may_be_starting(&self, language: &str) -> bool {
        self.with(language, |known| known.seen.is_empty() && known.may_be_loading(Instant::now()))
    }

    /// How far an answer that was asked for at this moment can be believed; `None` if it has to be asked for again.
    fn weigh<T: Findings>(&self, language: &str, question: &Question, moment: &Moment, answer: &T) -> Option<Belief> {
        let epochs = moment.epochs.that_concern_an_ask(question.tool());
        self.with(language, |known| {
            if answer.is_empty() {
                known.saw_nothing(hash_of(question), epochs)
            } else {
                known.saw(hash_of(question), hash_of(answer), epochs, longest_pause(language));
                Some(known.belief())
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
    fn belief(&self) -> Belief {
        if self.state == State::Ready { Belief::Confirmed } else { Belief::Unconfirmed }
    }

    fn may_be_loading(&self, now: Instant) -> bool {
        matches!(self.state, State::Loading(since) if now - since < TIME_TO_START)
    }

    fn saw(&mut self, question: u64, answer: u64, epochs: Epochs, pause: Option<Duration>) {
        let now = Instant::now();
        let before = self.seen.iter().position(|seen| seen.question == question).map(|index| self.seen.remove(index));
        let since = before.filter(|before| before.answer == answer).map_or(now, |before| before.since);
        if self.seen.len() == MOST_SEEN {
            self.seen.remove(0);
        }
        self.seen.push(Seen { question, answer, epochs, since });
        if pause.is_some_and(|pause| now - since >= pause) {
            self.state = State::Ready;
        }
    }

    fn saw_nothing(&mut self, question: u64, epochs: Epochs) -> Option<Belief> {
        let now = Instant::now();
        // What was there in the very same files has not gone: the server has begun anew.
        let is_lost = self.seen.iter().any(|seen| seen.question == question && seen.epochs == epochs);
        if is_lost && self.state == State::Ready {
            self.state = State::Loading(now);
        }
        let is_believed = !self.may_be_loading(now) || !(is_lost || self.seen.is_empty());
        is_believed.then(|| self.belief())
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// An answer that can be believed, and of when it is.
pub(crate) struct Believed<T> {
    pub(crate) moment: Moment,
    pub(crate) answer: T,
    pub(crate) belief: Belief,
}

/// An answer of which it can be told whether anything was found.
pub(crate) trait Findings: Hash {
    /// Whether nothing was found.
    fn is_empty(&self) -> bool;
}

impl Findings for RawTargets {
    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Findings for RawHovers {
    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Findings for RawDocumentSymbols {
    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// References with the definitions and declarations that are not wanted among them.
impl Findings for (RawLocations, Vec<RawTargets>) {
    fn is_empty(&self) -> bool {
        self.0.items.is_empty()
    }
}

impl<E: Editor> Gateway<E> {
    /// Asks about a document until the answer can be believed, with or without a remark. `found` is one that may be, if
    /// there is one already.
    ///
    /// Where something tells when the language is ready, that is waited for, each time, since it may have started anew;
    /// nearly always it was told when the document was opened. Any other language is asked at once, and its answers count
    /// for no more than they have shown it to be worth.
    pub(crate) async fn believed<T, F>(
        &self,
        opened: &Opened,
        question: &Question,
        found: Option<T>,
        stage: &Stage,
        ask: impl Fn() -> F,
    ) -> Result<Believed<T>, ToolError>
    where
        T: Findings,
        F: Future<Output = Result<T, EditorError>>,
    {
        let Opened { document, language, .. } = opened;
        if language.tells {
            self.silent().forget(&language.id);
            if let Some(answer) = found {
                return Ok(Believed { moment: opened.moment.clone(), answer, belief: Belief::Confirmed });
            }
            let belief =
                if opened.ready { Belief::Confirmed } else { self.await_ready(&document.editor_uri, stage).await? };
            let moment = self.moment_for(opened);
            return Ok(Believed { moment, answer: ask().await?, belief });
        }
        let mut next = found.map(|answer| (opened.moment.clone(), Ok(answer)));
        let mut pause = FIRST_PAUSE;
        loop {
            let (moment, answer) = match next.take() {
                Some(next) => next,
                None => (self.moment_for(opened), ask().await),
            };
            match answer {
                Ok(answer) => {
                    if let Some(belief) = self.silent().weigh(&language.id, question, &moment, &answer) {
                        return Ok(Believed { moment, answer, belief });
                    }
                }
                Err(EditorError::Failed) if self.silent().may_be_starting(&language.id) => {}
                Err(error) => return Err(error.into()),
            }
            stage.set_warming_up(true);
            sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Waits until the languages of the whole workspace are ready.
    pub(crate) async fn await_workspace_ready(&self, stage: &Stage) -> Result<Belief, ToolError> {
        let documents = self.editor().main_documents().await?;
        // Where no language is in use, nobody is there to find anything.
        let mut belief = if documents.is_empty() { Belief::Unconfirmed } else { Belief::Confirmed };
        for document in &documents {
            // One after the other takes no longer than all at once: each runs whether or not it is waited for.
            if !self.is_known_ready(&document.language) {
                let shown = self.await_ready(&document.uri, stage).await?;
                belief = belief.and(if document.language.tells { shown } else { Belief::Unconfirmed });
            }
        }
        Ok(belief)
    }

    /// Waits until the language of the document is ready, or has had its time.
    pub(crate) async fn await_ready(&self, uri: &str, stage: &Stage) -> Result<Belief, ToolError> {
        stage.set_warming_up(true);
        let readiness = self.editor().ready(uri).await?;
        stage.set_warming_up(false);
        Ok(match readiness {
            Readiness::Shown => Belief::Confirmed,
            Readiness::Assumed => Belief::Unconfirmed,
        })
    }

    /// The workspace as it is now, for an ask about an open document; if the roots have moved since that was admitted, as
    /// it was then, so that the answer is not taken for one of now.
    pub(crate) fn moment_for(&self, opened: &Opened) -> Moment {
        let now = self.workspace().now();
        if now.epochs.roots == opened.moment.epochs.roots { now } else { opened.moment.clone() }
    }

    /// Whether it is known already, without waiting, that the language is ready.
    pub(crate) fn is_known_ready(&self, language: &Language) -> bool {
        !language.tells && self.silent().is_ready(&language.id)
    }
}
