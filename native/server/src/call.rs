//! The way of one tool call, from its arguments to the payload (docs/ARCHITECTURE.md).

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gateway_core::cursor::{Cursor, OF_OTHER_REQUEST};
use gateway_core::epochs::{Epoch, OF_SYMBOLS};
use gateway_core::error::ToolError;
use gateway_core::keys::RequestKey;
use gateway_core::limits::Limits;
use gateway_core::page::{ResponseBudget, WantedPage};
use gateway_core::tool::{Aim, Arguments, Canonical, Question, Registered};
use gateway_core::wording::Wording;
use tokio::time::timeout;

use crate::access::Access;
use crate::activity::Activity;
use crate::answers::{Answer, Answered, FlightKey};
use crate::catalog::Catalog;
use crate::editor::Editor;
use crate::gateway::Gateway;
use crate::http::Guarded;
use crate::lifecycle::Calls;
use crate::session::Sessions;
use crate::single_flight::{Latest, Progress};
use crate::workspace::WorkspaceVersion;

impl<E: Editor> Calls for Gateway<E> {
    fn version(&self) -> &str {
        self.version()
    }

    fn catalog(&self) -> Arc<Catalog> {
        self.catalog()
    }

    fn sessions(&self) -> &Sessions {
        self.sessions()
    }

    fn activity(&self) -> &Activity {
        self.activity()
    }

    fn wording(&self) -> &'static Wording {
        E::WORDING
    }

    fn limits(&self) -> Limits {
        self.limits()
    }

    /// Answers within the time limit.
    async fn call(
        self: &Arc<Self>,
        tool: Registered,
        arguments: Arguments,
        envelope_bytes: usize,
    ) -> Result<Answered, ToolError> {
        let limit = self.limits().request_timeout();
        let (catching_up, progress) = (AtomicBool::new(true), Latest::default());
        match timeout(limit, self.answer(tool, arguments, envelope_bytes, &catching_up, &progress)).await {
            Ok(answer) => answer,
            Err(_) if progress.get().is_some_and(|progress| progress.is_warming_up()) => Err(ToolError::WarmingUp),
            Err(_) if catching_up.into_inner() || progress.get().is_some_and(|progress| progress.is_catching_up()) => {
                Err(ToolError::CatchingUp)
            }
            Err(_) => Err(ToolError::Timeout { limit }),
        }
    }
}

impl<E: Editor> Guarded for Gateway<E> {
    fn access(&self) -> Arc<Access> {
        self.access()
    }
}

impl<E: Editor> Gateway<E> {
    /// `catching_up` stays set until it is known what was written; `progress` becomes that of the ask that is waited for.
    async fn answer(
        self: &Arc<Self>,
        tool: Registered,
        arguments: Arguments,
        envelope_bytes: usize,
        catching_up: &AtomicBool,
        progress: &Latest,
    ) -> Result<Answered, ToolError> {
        let budget = ResponseBudget::new(self.limits().max_response_bytes(), envelope_bytes);
        let Arguments { mut question, page, by_path, aim, expect } = arguments;
        if by_path && let Some(file) = question.subject.uri() {
            let uri = self.uri_of(file).await?;
            question.subject = question.subject.with_uri(uri);
        }
        self.freshness().catch_up(self.workspace(), question.subject.uri()).await?;
        catching_up.store(false, Ordering::Relaxed);
        if aim.is_none() && expect.is_none() {
            return self.answer_once(tool, question, page, budget, progress).await;
        }
        let is_looked_for = matches!(aim, Some(Aim::Symbol(_) | Aim::Piece(_)));
        loop {
            let before = self.workspace().now().epochs;
            // Boxed, because most calls need no room for it.
            let aimed = Box::pin(self.aimed(tool, question.clone(), aim.as_ref(), expect.as_deref(), progress)).await;
            let answered = match aimed {
                Ok((tool, about)) => self.answer_once(tool, about, page.clone(), budget, progress).await,
                Err(error) => Err(error),
            };
            if answered.is_err() {
                self.freshness().catch_up(self.workspace(), question.subject.uri()).await?;
            }
            // What is looked for may be elsewhere by now.
            if !self.workspace().now().epochs.changed_since(&before, OF_SYMBOLS).is_empty() {
                continue;
            }
            return match answered {
                // What is told of the target has changed.
                Err(ToolError::CursorInvalid(OF_OTHER_REQUEST)) => Err(ToolError::CursorStale { changed: Vec::new() }),
                // It was found where the text has nothing: one of the two is of before a write.
                Err(ToolError::LineNotFound { .. } | ToolError::CharacterNotFound { .. }) if is_looked_for => {
                    Err(ToolError::CatchingUp)
                }
                answered => answered,
            };
        }
    }

    async fn answer_once(
        self: &Arc<Self>,
        tool: Registered,
        question: Question,
        page: Option<WantedPage>,
        budget: ResponseBudget,
        progress: &Latest,
    ) -> Result<Answered, ToolError> {
        let Some(wanted) = page else {
            return match self.share(tool, question, progress).await? {
                Answer::Whole(answer) => Ok(Answered { payload: answer.payload(budget)?, retained: None }),
                Answer::Set(..) => Err(ToolError::Internal),
            };
        };
        let (cursor, retained) = if let Some(cursor) = &wanted.cursor {
            let request = self.request_key(tool, &question).await?;
            self.workspace().resume(tool.epochs(), &request, cursor)?
        } else {
            match self.share(tool, question, progress).await? {
                Answer::Set(cursor, retained) => (cursor, retained),
                Answer::Whole(_) => return Err(ToolError::Internal),
            }
        };
        let payload = tool.page_of(&retained, &cursor, &wanted, &self.limits(), budget)?;
        Ok(Answered { payload, retained: Some(retained) })
    }

    /// The request key of a question, without asking it.
    async fn request_key(&self, tool: Registered, question: &Question) -> Result<RequestKey, ToolError> {
        let Some(uri) = question.subject.uri() else {
            self.admit_workspace().await?;
            return Ok(question.request_key(tool, None));
        };
        let (_, document) = self.admit(uri).await?;
        Ok(question.request_key(tool, Some(&document.uri)))
    }

    /// Asks, together with whoever asks the same at the same time (D24), unless an answer has come in the meantime to
    /// a call whose time was over (D27).
    pub(crate) async fn share(
        self: &Arc<Self>,
        tool: Registered,
        question: Question,
        progress: &Latest,
    ) -> Result<Answer, ToolError> {
        let mut key = FlightKey::of(tool, &question, &self.workspace().now());
        if let Some(late) = self.single_flight().take_late(&key) {
            // It was gated to the roots as they were then.
            let now = FlightKey::of(tool, &question, &self.workspace().look_at_roots().await);
            if now == key {
                return late;
            }
            key = now;
        }
        let waiter =
            self.single_flight().join(key, |progress| Arc::clone(self).ask_until_settled(tool, question, progress));
        progress.set(waiter.progress());
        waiter.answer().await
    }

    async fn ask_until_settled(
        self: Arc<Self>,
        tool: Registered,
        question: Question,
        progress: Arc<Progress>,
    ) -> Result<Answer, ToolError> {
        let attempt = || self.ask(tool, &question, &progress);
        let (moment, (document, canonical)) = self.settled(tool, &question, &progress, attempt).await?;
        let found = match canonical {
            Ok(Canonical::Whole(answer)) => return Ok(Answer::Whole(answer.into())),
            Ok(Canonical::Set(retained)) => Ok(Arc::new(retained)),
            Err(error) if tool.is_paged() => Err(error),
            Err(error) => return Err(error),
        };
        let request = question.request_key(tool, document.as_ref());
        let (snapshot, retained) = self.workspace().retain(tool.epochs(), &request, &moment, found)?;
        Ok(Answer::Set(Cursor { offset: 0, request, snapshot }, retained))
    }

    /// Attempts until the workspace held still meanwhile: once more if it moved, and always if the roots moved, since an
    /// answer gated to roots that are gone is never given (D23), or if something was written that the language servers
    /// have to know of.
    async fn settled<T, F>(
        self: &Arc<Self>,
        tool: Registered,
        question: &Question,
        progress: &Progress,
        attempt: impl Fn() -> F,
    ) -> Result<(WorkspaceVersion, T), ToolError>
    where
        F: Future<Output = Result<(WorkspaceVersion, T), ToolError>>,
    {
        let uri = question.subject.uri();
        let mut attempted_again = false;
        loop {
            let known = self.make_known(uri, progress).await?;
            let (moment, answer) = attempt().await?;
            let written = self.freshness().catch_up(self.workspace(), uri).await? != known;
            let moved = self.workspace().now().epochs.changed_since(&moment.epochs, tool.epochs());
            let again = written || moved.contains(&Epoch::Roots) || (!moved.is_empty() && !attempted_again);
            if !again {
                return Ok((moment, answer));
            }
            attempted_again = true;
        }
    }
}
