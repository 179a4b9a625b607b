//! The methods of MCP and the life of a session (D40 to D42, D46).

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gateway_core::error::ToolError;
use gateway_core::limits::Limits;
use gateway_core::tool::{Arguments, Registered};
use gateway_core::wording::Wording;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::activity::{About, Activity, Ended};
use crate::answers::Answered;
use crate::body::Pieces;
use crate::catalog::{Catalog, Profile, read};
use crate::rpc::{self, Envelope, Fault, Id, Message};
use crate::session::{Revision, SessionId, Sessions};

/// How many calls may be under way. It is less than the number of connections, so that whoever calls then is told so.
const MAX_CALLS: usize = 192;
/// How many of them may be of one session, so that a client that calls without end leaves room for others.
const MAX_SESSION_CALLS: usize = 128;

/// What the model is told of all tools together, after who is asked. Codex shows its models the first 250 characters or
/// so, and the tools only when they look for them: so what can be asked here stands first.
const INSTRUCTIONS: &str = "where a symbol is defined and used, its type and documentation, the symbols of a file or \
    the workspace, errors and warnings. More exact than a text search. Read-only. Lines and characters are 0-based, \
    characters in UTF-16 units; ranges end before `end`. Paged tools return `nextCursor`: pass it back unchanged until it \
    is null. When a call fails, its message says what to do; with `retryable` in the error's details, or the word \"call \
    again\", repeat the call.";

/// What the transport needs of the gateway behind it.
pub trait Calls: Send + Sync + 'static {
    /// The version of the product, for `serverInfo`.
    fn version(&self) -> &str;

    /// The tools that are offered, now.
    fn catalog(&self) -> Arc<Catalog>;

    /// The sessions of this workspace.
    fn sessions(&self) -> &Sessions;

    /// What clients did lately.
    fn activity(&self) -> &Activity;

    /// What clients are told in words that only the back end has.
    fn wording(&self) -> &'static Wording {
        &Wording::NEUTRAL
    }

    /// The caps in force, now.
    fn limits(&self) -> Limits;

    /// Answers one call. `envelope_bytes` is what the response body holds besides the payload. The future runs in a task of
    /// its own: it may panic, and it is dropped when the client cancels the call or goes away.
    fn call(
        self: &Arc<Self>,
        tool: Registered,
        arguments: Arguments,
        envelope_bytes: usize,
    ) -> impl Future<Output = Result<Answered, ToolError>> + Send;
}

/// The messages of all sessions, on their way to one gateway.
pub(crate) struct Lifecycle<G> {
    gateway: Arc<G>,
    running: Running,
}

impl<G: Calls> Lifecycle<G> {
    pub(crate) fn new(gateway: Arc<G>) -> Self {
        Self { gateway, running: Running::default() }
    }

    pub(crate) fn gateway(&self) -> &G {
        &self.gateway
    }

    /// Answers `initialize`. There is a session only if the answer is a result. `fallback`: whether a client that asks
    /// for [`Revision::Fallback`] is given it; `profile`: which tools its address chooses, if there is such a choice.
    pub(crate) fn initialize(
        &self,
        id: &Id,
        params: &Map<String, Value>,
        fallback: bool,
        profile: Option<Profile>,
    ) -> (Option<SessionId>, Vec<u8>) {
        let Some(profile) = profile else {
            let advice = "`catalog` in the address is v1, core or all; correct the address.";
            return (None, self.failure(id, ToolError::InvalidParams(advice.to_owned())));
        };
        let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
            let fault = ToolError::InvalidParams(format!(
                "`protocolVersion` is required and must be a string; this server speaks {}.",
                Revision::Current.name()
            ));
            return (None, self.failure(id, fault));
        };
        let falls_back = fallback && wanted == Revision::Fallback.name();
        let revision = if falls_back { Revision::Fallback } else { Revision::Current };
        let session = match self.gateway.sessions().mint(revision, profile) {
            Ok(session) => session,
            Err(error) => {
                tracing::error!(%error, "the system has no randomness for a session id");
                return (None, self.failure(id, ToolError::Internal));
            }
        };
        let result = json!({
            "protocolVersion": revision.name(),
            "capabilities": { "tools": {} },
            "serverInfo": {
                "name": "vscode-mcp-lsp-gateway",
                "title": "MCP LSP Gateway",
                "version": self.gateway.version(),
            },
            "instructions": format!("Ask {}: {INSTRUCTIONS}", self.gateway.wording().who_is_asked),
        });
        self.gateway.activity().session_begun(session, params.get("clientInfo"));
        tracing::info!("a client began a session");
        (Some(session), rpc::success(id, result.to_string().as_bytes()))
    }

    /// The body that answers `id` by an error.
    fn failure(&self, id: &Id, fault: impl Into<Fault>) -> Vec<u8> {
        rpc::failure(Some(id), &fault.into(), self.gateway.wording())
    }

    /// Takes a message before there is a session, where the transport answers it at all. Clients of newer revisions probe
    /// with a method of theirs first, and some fall back to `initialize` only if there is no such method.
    pub(crate) fn receive_before_session(&self, message: &Message) -> Option<Vec<u8>> {
        let Message::Request { id, method, .. } = message else { return None };
        Some(match method.as_str() {
            "ping" => rpc::success(id, b"{}"),
            "tools/list" | "tools/call" => {
                self.failure(id, Fault::InvalidRequest("a session has to be begun by initialize first"))
            }
            _ => self.failure(id, Fault::MethodNotFound),
        })
    }

    /// Ends a session, as its client wants it.
    pub(crate) fn end(&self, session: SessionId) {
        self.gateway.sessions().end(session);
        self.gateway.activity().session_ended(session);
        tracing::info!("a client ended its session");
    }

    /// Takes a message inside a session; the answer, if it wants one. Once it is polled, a call can be cancelled.
    pub(crate) async fn receive(&self, session: SessionId, message: Message) -> Result<Option<Pieces>, Unserved> {
        match message {
            Message::Request { id, method, params } => {
                // Counted before anything is looked at, so that whoever sends more than is served costs little.
                let is_call = method == "tools/call";
                let run = is_call.then(|| self.running.enter(session, &id)).transpose().map_err(|of| {
                    tracing::debug!(?of, "too many calls are under way");
                    Unserved::TooMany(of, self.failure(&id, ToolError::Busy))
                })?;
                match self.answer(session, &id, &method, params, run.as_ref()).await {
                    Ok(body) => Ok(Some(body)),
                    Err(fault @ Fault::Tool(ToolError::Cancelled)) => {
                        Err(Unserved::Cancelled(self.failure(&id, fault)))
                    }
                    Err(fault) => Ok(Some(self.failure(&id, fault).into())),
                }
            }
            Message::Notification { method, params } => {
                self.notice(session, &method, params);
                Ok(None)
            }
            Message::Response => Ok(None),
        }
    }

    async fn answer(
        &self,
        session: SessionId,
        id: &Id,
        method: &str,
        params: Map<String, Value>,
        run: Option<&RunGuard<'_>>,
    ) -> Result<Pieces, Fault> {
        if method == "ping" {
            return Ok(rpc::success(id, b"{}").into());
        }
        if !self.gateway.sessions().is_initialized_soon(session).await {
            return Err(Fault::InvalidRequest(
                "only ping may be requested before the notification notifications/initialized",
            ));
        }
        match (method, run) {
            ("tools/list", _) => {
                list(id, &params, &self.gateway.catalog().of_profile(session.profile())).map(Pieces::from)
            }
            ("tools/call", Some(run)) => self.call(run, id, params).await,
            _ => Err(Fault::MethodNotFound),
        }
    }

    fn notice(&self, session: SessionId, method: &str, mut params: Map<String, Value>) {
        match method {
            "notifications/initialized" => self.gateway.sessions().initialize(session),
            "notifications/cancelled" => {
                // A client may cancel what has just been answered, or never ran: there is nothing to tell it then.
                if let Some(Ok(id)) = params.remove("requestId").map(Id::read) {
                    self.running.cancel(session, &id);
                }
            }
            _ => {}
        }
    }

    async fn call(&self, run: &RunGuard<'_>, id: &Id, mut params: Map<String, Value>) -> Result<Pieces, Fault> {
        let name = params.get("name").and_then(Value::as_str).ok_or_else(|| {
            ToolError::InvalidParams("`name` is required and must be a string: the name of a tool.".to_owned())
        })?;
        let profile = run.run.session.profile();
        let catalog = self.gateway.catalog();
        let tool = catalog.named(name).filter(|tool| profile.has(*tool)).ok_or_else(|| {
            let catalog = Arc::clone(&catalog).of_profile(profile);
            let names: Vec<_> = catalog.tools().iter().map(|tool| tool.name()).collect();
            let names = names.join(", ");
            ToolError::InvalidParams(format!("There is no tool of this name; the tools are {names}."))
        })?;
        let arguments = params.remove("arguments").unwrap_or_else(|| json!({}));
        let begun = Instant::now();
        let about = About::of(&arguments);
        let envelope = Envelope::of_tool(id);
        let envelope_bytes = envelope.bytes();

        let gateway = Arc::clone(&self.gateway);
        let call = AbortOnDropHandle::new(tokio::spawn(async move {
            let arguments = read(tool, &arguments)?;
            gateway.call(tool, arguments, envelope_bytes).await
        }));
        let answer = tokio::select! {
            biased;
            () = run.run.cancelled.cancelled() => Err(ToolError::Cancelled),
            joined = call => joined.unwrap_or_else(|failure| {
                tracing::error!(tool = tool.name(), %failure, "a call panicked");
                Err(ToolError::Internal)
            }),
        };
        let body = answer.and_then(|answered| {
            let items = answered.payload.items;
            let response_bytes = envelope_bytes + answered.payload.len();
            let max_response_bytes = self.gateway.limits().max_response_bytes();
            if response_bytes > max_response_bytes {
                return Err(ToolError::ResponseTooLarge {
                    response_bytes,
                    max_response_bytes,
                    suggested_page_size: None,
                });
            }
            let body = match run.run.session.revision() {
                Revision::Current => envelope.around_answer(answered),
                Revision::Fallback => envelope.around_twice(&answered).into(),
            };
            Ok((body, items))
        });
        let bytes = body.as_ref().map_or(0, |(body, _)| body.len());
        let outcome = body.as_ref().map(|(_, items)| *items);
        self.note(run.run.session, Ended { tool, about, outcome, bytes, duration: begun.elapsed() });
        Ok(body?.0)
    }

    /// Writes a call that has ended in the log and among what clients did.
    fn note(&self, session: SessionId, call: Ended<'_>) {
        let outcome = call.outcome.map_or_else(|error| error.code().as_str(), |_| "answered");
        let (tool, bytes, ms) = (call.tool.name(), call.bytes, call.duration.as_millis());
        tracing::info!(tool, outcome, bytes, ms, "call");
        self.gateway.activity().call_ended(session, call);
    }
}

fn list(id: &Id, params: &Map<String, Value>, catalog: &Catalog) -> Result<Vec<u8>, Fault> {
    if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
        let reason = "`cursor` must be left out: the catalog has one page; call tools/list without it.";
        return Err(ToolError::InvalidParams(reason.to_owned()).into());
    }
    Ok(rpc::success(id, catalog.list()))
}

/// A call whose end each transport tells in its own way, with the error that says why.
pub(crate) enum Unserved {
    TooMany(Crowd, Vec<u8>),
    Cancelled(Vec<u8>),
}

/// Whose calls are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crowd {
    Session,
    Everybody,
}

/// The calls that are running, so that they are not too many and can be cancelled. A client that uses an id twice at
/// once breaks a rule of MCP and harms only itself: both calls run, and both are cancelled together.
#[derive(Default)]
struct Running(Mutex<Vec<Arc<Run>>>);

struct Run {
    session: SessionId,
    id: Id,
    cancelled: CancellationToken,
}

/// Takes its call off the list when it goes, whether the call was answered, cancelled or dropped.
struct RunGuard<'a> {
    running: &'a Running,
    run: Arc<Run>,
}

impl Running {
    fn enter(&self, session: SessionId, id: &Id) -> Result<RunGuard<'_>, Crowd> {
        let mut runs = self.runs();
        if runs.len() >= MAX_CALLS {
            return Err(Crowd::Everybody);
        }
        if runs.iter().filter(|run| run.session == session).count() >= MAX_SESSION_CALLS {
            return Err(Crowd::Session);
        }
        let run = Arc::new(Run { session, id: id.clone(), cancelled: CancellationToken::new() });
        runs.push(Arc::clone(&run));
        Ok(RunGuard { running: self, run })
    }

    fn cancel(&self, session: SessionId, id: &Id) {
        for run in self.runs().iter().filter(|run| run.session == session && run.id == *id) {
            run.cancelled.cancel();
        }
    }

    fn runs(&self) -> MutexGuard<'_, Vec<Arc<Run>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.running.runs().retain(|run| !Arc::ptr_eq(run, &self.run));
    }
}
