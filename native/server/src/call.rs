//! The way of one tool call, from its arguments to the encoded payload (docs/ARCHITECTURE.md).

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use gateway_core::cursor::Cursor;
use gateway_core::epochs::{Epoch, Epochs};
use gateway_core::error::ToolError;
use gateway_core::keys::RootsKey;
use gateway_core::page::{EncodedPayload, PageSize, ResponseBudget};
use gateway_core::position::Position;
use gateway_core::roots::Document;
use gateway_core::snapshots::Retained;
use gateway_core::tools::{Tool, Whole, references};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::activity::About;
use crate::asks::Stage;
use crate::disk::Disk;
use crate::editor::{Along, Editor, Found, Language, OpenDocument, Opening};
use crate::gateway::Gateway;
use crate::lifecycle::{Calls, HeldPage};
use crate::looks::Turn;
use crate::question::{Canonical, Question, plain_references};
use crate::workspace::Moment;

/// What an ask in flight asks, and of which state: a call that comes after a change never joins an ask from before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskKey {
    question: Question,
    roots: RootsKey,
    epochs: Epochs,
}

impl AskKey {
    fn of(question: &Question, moment: &Moment) -> Self {
        let epochs = moment.epochs.that_concern_an_ask(question.tool());
        Self { question: question.clone(), roots: moment.roots.key().clone(), epochs }
    }
}

/// A document that has been opened, and when.
pub(crate) struct Opened {
    pub(crate) moment: Moment,
    pub(crate) document: Document,
    pub(crate) language: Language,
    /// Whether the language has shown that it is ready when the document was opened, and nothing was asked since.
    pub(crate) ready: bool,
    /// Whether it is in an editor tab.
    pub(crate) shown: bool,
}

/// What a shared ask answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Of a tool that is not paged.
    Whole(Arc<dyn Whole>),
    /// Of a paged tool: where its first page begins, and the full set.
    Set(Cursor, Arc<Retained>),
}

impl<E: Editor> Gateway<E> {
    /// Answers one call within the time limit. `envelope_bytes` counts the HTTP body around the payload (D16).
    pub(crate) async fn answer(
        self: &Arc<Self>,
        tool: Tool,
        arguments: Value,
        envelope_bytes: usize,
    ) -> Result<EncodedPayload, ToolError> {
        let limit = self.limits().request_timeout();
        let (catching_up, stage) = (AtomicBool::new(true), OnceLock::new());
        match timeout(limit, self.answer_untimed(tool, arguments, envelope_bytes, &catching_up, &stage)).await {
            Ok(answer) => answer,
            Err(_) if stage.get().is_some_and(|stage: &Arc<Stage>| stage.is_warming_up()) => Err(ToolError::WarmingUp),
            Err(_) if catching_up.into_inner() || stage.get().is_some_and(|stage| stage.is_catching_up()) => {
                Err(ToolError::CatchingUp)
            }
            Err(_) => Err(ToolError::Timeout { limit }),
        }
    }

    /// The page of a retained set that the arguments ask for, if nothing of that has to be waited for and nothing is wrong
    /// with it: with what is, [`Gateway::answer`] deals.
    pub(crate) fn answer_at_once(&self, tool: Tool, arguments: &RawValue, envelope_bytes: usize) -> Option<HeldPage> {
        let input = plain_references(tool, arguments)?;
        self.freshness().catch_up_at_once(self.workspace()).ok()?;
        let (cursor, retained) = self.workspace().resume_at_once(&input)?;
        let limits = self.limits();
        let size = PageSize::clamped(input.page_size, &limits);
        let budget = ResponseBudget::new(limits.max_response_bytes(), envelope_bytes);
        let parts = references::page_parts(&retained, &cursor, size, budget).ok()?;
        Some(HeldPage { parts, retained, about: About::document(input.uri, Some(input.position)) })
    }

    /// `catching_up` stays set until it is known what was written; `stage` becomes that of the ask that is waited for.
    async fn answer_untimed(
        self: &Arc<Self>,
        tool: Tool,
        arguments: Value,
        envelope_bytes: usize,
        catching_up: &AtomicBool,
        stage: &OnceLock<Arc<Stage>>,
    ) -> Result<EncodedPayload, ToolError> {
        let budget = ResponseBudget::new(self.limits().max_response_bytes(), envelope_bytes);
        let (question, paging) = Question::parse(tool, arguments)?;
        self.freshness().catch_up(self.workspace(), question.uri()).await?;
        catching_up.store(false, Ordering::Relaxed);
        let Some(paging) = paging else {
            return match self.share(question, stage).await? {
                Answer::Whole(answer) => answer.payload(budget),
                Answer::Set(..) => Err(ToolError::Internal),
            };
        };
        let size = PageSize::clamped(paging.size, &self.limits());
        let (cursor, retained) = if let Some(cursor) = &paging.cursor {
            let request = self.request_key(&question).await?;
            self.workspace().resume(tool, &request, cursor)?
        } else {
            match self.share(question, stage).await? {
                Answer::Set(cursor, retained) => (cursor, retained),
                Answer::Whole(_) => return Err(ToolError::Internal),
            }
        };
        (paging.page)(&retained, &cursor, size, budget)
    }

    /// Asks, together with whoever asks the same at the same time (D24), unless an answer has come in the meantime to
    /// a call whose time was over (D27).
    async fn share(self: &Arc<Self>, question: Question, stage: &OnceLock<Arc<Stage>>) -> Result<Answer, ToolError> {
        let mut key = AskKey::of(&question, &self.workspace().now());
        if let Some(late) = self.asks().take_late(&key) {
            // It was gated to the roots as they were then.
            let now = AskKey::of(&question, &self.workspace().look_at_roots().await);
            if now == key {
                return late;
            }
            key = now;
        }
        let waiter = self.asks().join(key, |stage| Arc::clone(self).ask_until_settled(question, stage));
        stage.get_or_init(|| waiter.stage());
        waiter.answer().await
    }

    async fn ask_until_settled(self: Arc<Self>, question: Question, stage: Arc<Stage>) -> Result<Answer, ToolError> {
        let tool = question.tool();
        let (moment, canonical) = self.settled(&question, &stage, || self.ask(&question, &stage)).await?;
        match canonical {
            Canonical::Whole(answer) => Ok(Answer::Whole(answer)),
            Canonical::Set(request, asked, found) => {
                let (snapshot, retained) = self.workspace().retain(tool, &request, asked, &moment, found)?;
                Ok(Answer::Set(Cursor { offset: 0, request, snapshot }, retained))
            }
        }
    }

    /// Attempts until the workspace held still meanwhile: once more if it moved, and always if the roots moved, since an
    /// answer gated to roots that are gone is never given (D23), or if something was written that the language servers
    /// have to know of.
    async fn settled<T, F>(
        self: &Arc<Self>,
        question: &Question,
        stage: &Stage,
        attempt: impl Fn() -> F,
    ) -> Result<(Moment, T), ToolError>
    where
        F: Future<Output = Result<(Moment, T), ToolError>>,
    {
        let mut attempted_again = false;
        loop {
            let known = self.make_known(question, stage).await?;
            let (moment, answer) = attempt().await?;
            let written = self.freshness().catch_up(self.workspace(), question.uri()).await? != known;
            let moved = self.workspace().now().epochs.changed_since(&moment.epochs, question.tool());
            let again = written || moved.contains(&Epoch::Roots) || (!moved.is_empty() && !attempted_again);
            if !again {
                return Ok((moment, answer));
            }
            attempted_again = true;
        }
    }

    /// Admits the document, has the editor open it, checks the position, and only then reads the epochs (D23).
    pub(crate) async fn open(
        &self,
        uri: &str,
        position: Option<Position>,
        along: Option<Along>,
    ) -> Result<(Opened, Option<Found>), ToolError> {
        loop {
            let (admitted, document) = self.admit(uri).await?;
            self.workspace().name([document.real_path.clone()]);
            let opening = Opening { uri: &document.editor_uri, position, along, ready: self.silent().ready() };
            let (opened, found) = self.editor().open(opening).await?;
            let moment = self.workspace().now();
            if moment.epochs.roots != admitted.epochs.roots {
                continue;
            }
            if let Some(position) = position {
                position.check(opened.line_count, opened.line_length)?;
            }
            let OpenDocument { language, ready, shown, .. } = opened;
            // What was asked while the workspace changed may be of neither state.
            let is_unchanged = along.is_some_and(|along| {
                let [before, after] =
                    [&admitted, &moment].map(|moment| moment.epochs.that_concern_an_ask(along.tool()));
                before == after
            });
            let found = found.filter(|_| is_unchanged && (ready || self.is_known_ready(&language)));
            // That may have taken long, and a language that has started anew meanwhile has to show it again before it is asked.
            let ready = ready && (along.is_none() || found.is_some());
            return Ok((Opened { moment, document, language, ready, shown }, found));
        }
    }

    /// The document at `uri`, if the roots of this moment allow it.
    pub(crate) async fn admit(&self, uri: &str) -> Result<(Moment, Document), ToolError> {
        if let Some(admitted) = self.workspace().admit_at_once(uri) {
            return Ok(admitted);
        }
        let moment = self.workspace().look_at_roots().await;
        let turn = self.workspace().turn_for_document(uri).await?;
        let uri = uri.to_owned();
        blocking(turn, move || {
            let document = moment.roots.admit(&uri, &Disk)?;
            // Opening a pipe or a device may never end, and reading one may take something away.
            if !document.real_path.is_file() {
                return Err(ToolError::DocumentNotFound);
            }
            Ok((moment, document))
        })
        .await?
    }

    /// The workspace as it is now, for a question about all of it. Without roots, nothing may be spoken of, and of a part
    /// of them it would not be about all.
    pub(crate) async fn admit_workspace(&self) -> Result<Moment, ToolError> {
        let moment = self.workspace().look_at_roots().await;
        if !moment.silent.is_empty() {
            return Err(ToolError::DiskSilent);
        }
        moment.roots.check_any()?;
        Ok(moment)
    }
}

/// Runs what may block on the disk off the threads that serve connections, once it is its turn.
pub(crate) async fn blocking<T: Send + 'static>(
    turn: Turn,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let work = move || {
        let _turn = turn;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| ToolError::Internal)
}
