//! When an answer can be believed (D28). A language server that is still loading answers "nothing", or, worse, a part
//! that does not change for a while, so an answer counts only once its language has shown that it is ready.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway_core::belief::Belief;
use gateway_core::error::ToolError;
use gateway_core::hover::RawHovers;
use gateway_core::location::{RawLocations, RawTargets};
use gateway_core::symbol::RawDocumentSymbols;
use tokio::time::{Instant, sleep};

use crate::asks::Stage;
use crate::call::Opened;
use crate::editor::{Editor, EditorError, Language, Readiness};
use crate::gateway::Gateway;
use crate::workspace::Moment;

/// How far two equal answers lie apart that show a language to be ready.
const EQUAL_FOR: Duration = Duration::from_millis(500);

/// The pauses between answers that are not believed yet.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The languages that have shown that they are ready, and have no way to tell that they no longer are.
#[derive(Debug, Default)]
pub(crate) struct ReadyLanguages(Mutex<HashSet<String>>);

impl ReadyLanguages {
    fn contain(&self, language: &Language) -> bool {
        !language.tells && self.ids().contains(&language.id)
    }

    /// The editor's identifiers of all of them.
    pub(crate) fn known(&self) -> Vec<String> {
        self.ids().iter().cloned().collect()
    }

    fn insert(&self, language: &Language) {
        if !language.tells {
            self.ids().insert(language.id.clone());
        }
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that can be believed, and of when it is.
pub(crate) struct Believed<T> {
    pub(crate) moment: Moment,
    pub(crate) answer: T,
    pub(crate) belief: Belief,
}

/// An answer of which it can be told whether anything was found.
pub(crate) trait Findings: PartialEq {
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
    /// Asks about a document until the answer can be believed. `found` is one that can be, if there is one already.
    ///
    /// Where the language's extension tells when it is ready, it is asked then, each time, since it may have started
    /// anew; nearly always it has told that when the document was opened. Any other language is ready for good once two
    /// answers, some time apart, were equal and not empty, or the editor has seen a sign of it; without either, its
    /// answers are believed after a while, unconfirmed.
    pub(crate) async fn believed<T, F>(
        &self,
        opened: &Opened,
        found: Option<T>,
        stage: &Stage,
        ask: impl Fn() -> F,
    ) -> Result<Believed<T>, ToolError>
    where
        T: Findings,
        F: Future<Output = Result<T, EditorError>>,
    {
        if let Some(answer) = found {
            return Ok(Believed { moment: opened.moment.clone(), answer, belief: Belief::Confirmed });
        }
        let belief = if opened.ready || self.is_known_ready(&opened.language) {
            Belief::Confirmed
        } else if opened.language.tells {
            self.await_ready(&opened.document.editor_uri, &opened.language, stage).await?
        } else {
            return self.believed_in_time(opened, stage, ask).await;
        };
        let moment = self.moment_for(opened);
        Ok(Believed { moment, answer: ask().await?, belief })
    }

    async fn believed_in_time<T, F>(
        &self,
        opened: &Opened,
        stage: &Stage,
        ask: impl Fn() -> F,
    ) -> Result<Believed<T>, ToolError>
    where
        T: Findings,
        F: Future<Output = Result<T, EditorError>>,
    {
        let mut ready = pin!(self.await_ready(&opened.document.editor_uri, &opened.language, stage));
        let mut belief = None;
        let mut equal_since: Option<(T, Instant)> = None;
        let mut unconfirmed_since = None;
        let mut pause = FIRST_PAUSE;
        loop {
            let before = belief;
            let moment = self.moment_for(opened);
            let answer = {
                let mut asking = pin!(ask());
                loop {
                    tokio::select! {
                        answer = &mut asking => break answer,
                        ready = &mut ready, if belief.is_none() => belief = Some(ready?),
                    }
                }
            };
            let now = Instant::now();
            match (answer, belief) {
                // What was asked before the language was ready may still be a part.
                (answer, Some(belief @ Belief::Confirmed)) if before == Some(belief) => {
                    return Ok(Believed { moment, answer: answer?, belief });
                }
                (Err(EditorError::Failed), None) => equal_since = None,
                (Err(error), _) => return Err(error.into()),
                (Ok(answer), belief) => {
                    let since = equal_since.filter(|(earlier, _)| *earlier == answer).map_or(now, |(_, since)| since);
                    if !answer.is_empty() && now - since >= EQUAL_FOR {
                        self.ready_languages().insert(&opened.language);
                        stage.set_warming_up(false);
                        return Ok(Believed { moment, answer, belief: Belief::Confirmed });
                    }
                    if let Some(belief @ Belief::Unconfirmed) = belief {
                        // Something found is worth another look, which may show the language to be ready.
                        let unconfirmed_since = *unconfirmed_since.get_or_insert(now);
                        if answer.is_empty() || now - unconfirmed_since >= EQUAL_FOR {
                            return Ok(Believed { moment, answer, belief });
                        }
                    }
                    equal_since = Some((answer, since));
                }
            }
            tokio::select! {
                () = sleep(pause) => pause = LONGEST_PAUSE.min(pause * 2),
                ready = &mut ready, if belief.is_none() => belief = Some(ready?),
            }
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
                belief = belief.and(self.await_ready(&document.uri, &document.language, stage).await?);
            }
        }
        Ok(belief)
    }

    /// Waits until the language of the document is ready, or has had its time.
    pub(crate) async fn await_ready(&self, uri: &str, language: &Language, stage: &Stage) -> Result<Belief, ToolError> {
        stage.set_warming_up(true);
        let readiness = self.editor().ready(uri).await?;
        stage.set_warming_up(false);
        Ok(match readiness {
            Readiness::Shown => {
                self.ready_languages().insert(language);
                Belief::Confirmed
            }
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
        self.ready_languages().contain(language)
    }
}
