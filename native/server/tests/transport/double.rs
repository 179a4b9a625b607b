//! A stand-in for the gateway: it answers calls as the test tells it, and notes what it was asked.

use std::future::pending;
use std::sync::{Arc, Mutex};

use gateway_core::error::ToolError;
use gateway_core::limits::Limits;
use gateway_core::page::Payload;
use gateway_core::tool::{Arguments, Registered};
use gateway_core::tools;
use gateway_core::wording::Wording;
use gateway_server::access::Access;
use gateway_server::activity::Activity;
use gateway_server::answers::Answered;
use gateway_server::catalog::Catalog;
use gateway_server::http::Guarded;
use gateway_server::lifecycle::Calls;
use gateway_server::session::Sessions;
use tokio::sync::Notify;

pub(crate) const TOKEN: &str = "dG9rZW4tb2YtdGhlLXRlc3RzLXRoYXQtaXMtbG9uZw";
pub(crate) const ORIGIN: &str = "https://allowed.example";
pub(crate) const KEY: [u8; 32] = *b"a key of thirty-two bytes, fixed";
pub(crate) const WORKSPACE: &str = "file:///home/me/project";

/// What its clients are told in its own words.
pub(crate) const WORDING: Wording = Wording {
    who_is_asked: "the stand-in",
    outside_roots: "The stand-in knows no such file; name another.",
    response_too_large: "ask the stand-in for less",
    origin_refused: "The stand-in does not like this origin.",
    token_refused: "The stand-in wants a token.",
    ..Wording::NEUTRAL
};

/// What the stand-in does with a call.
#[derive(Clone)]
pub(crate) enum Behaviour {
    Answer(&'static str),
    AnswerOfLength(usize),
    Fail(ToolError),
    Panic,
    Hang,
}

/// One call as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) tool: Registered,
    pub(crate) arguments: Arguments,
    pub(crate) envelope_bytes: usize,
}

pub(crate) struct Double {
    pub(crate) access: Mutex<Arc<Access>>,
    pub(crate) sessions: Sessions,
    pub(crate) activity: Activity,
    pub(crate) limits: Mutex<Limits>,
    pub(crate) behaviour: Mutex<Behaviour>,
    pub(crate) asked: Mutex<Vec<Asked>>,
    pub(crate) offered: Mutex<Vec<Registered>>,
    pub(crate) started: Notify,
    pub(crate) dropped: Notify,
    /// Every list of ended sessions that was told, in order.
    pub(crate) ended: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Double {
    pub(crate) fn new() -> Self {
        Self::of(&KEY, WORKSPACE, &[])
    }

    pub(crate) fn of(key: &[u8; 32], workspace: &str, ended_before: &[String]) -> Self {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&ended);
        Self {
            access: Mutex::new(Arc::new(Access {
                tokens: vec![TOKEN.to_owned()],
                allowed_origins: vec![ORIGIN.to_owned()],
                fallback: false,
            })),
            sessions: Sessions::new(key, workspace, ended_before, Box::new(move |ids| told.lock().unwrap().push(ids))),
            activity: Activity::default(),
            limits: Mutex::new(Limits::default()),
            behaviour: Mutex::new(Behaviour::Answer(r#"{"locations":[]}"#)),
            asked: Mutex::new(Vec::new()),
            offered: Mutex::new(tools::v1()),
            started: Notify::new(),
            dropped: Notify::new(),
            ended,
        }
    }

    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub(crate) fn allow(&self, tokens: &[&str]) {
        let tokens = tokens.iter().map(ToString::to_string).collect();
        self.change_access(|access| access.tokens = tokens);
    }

    pub(crate) fn fall_back(&self, fallback: bool) {
        self.change_access(|access| access.fallback = fallback);
    }

    fn change_access(&self, change: impl FnOnce(&mut Access)) {
        let mut access = self.access.lock().unwrap();
        let mut changed = Access {
            tokens: access.tokens.clone(),
            allowed_origins: access.allowed_origins.clone(),
            fallback: access.fallback,
        };
        change(&mut changed);
        *access = Arc::new(changed);
    }
}

impl Calls for Double {
    fn version(&self) -> &'static str {
        "1.2.3"
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::new(Catalog::of(self.offered.lock().unwrap().clone()))
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn activity(&self) -> &Activity {
        &self.activity
    }

    fn wording(&self) -> &'static Wording {
        &WORDING
    }

    fn limits(&self) -> Limits {
        *self.limits.lock().unwrap()
    }

    async fn call(
        self: &Arc<Self>,
        tool: Registered,
        arguments: Arguments,
        envelope_bytes: usize,
    ) -> Result<Answered, ToolError> {
        self.asked.lock().unwrap().push(Asked { tool, arguments, envelope_bytes });
        let behaviour = self.behaviour.lock().unwrap().clone();
        match behaviour {
            Behaviour::Answer(payload) => Ok(answered(payload.as_bytes().to_vec(), 3)),
            Behaviour::AnswerOfLength(length) => Ok(answered(vec![b'1'; length], 1)),
            Behaviour::Fail(error) => Err(error),
            Behaviour::Panic => panic!("as the test wants it"),
            Behaviour::Hang => {
                let _tells = TellsDrop(self);
                self.started.notify_one();
                pending().await
            }
        }
    }
}

impl Guarded for Double {
    fn access(&self) -> Arc<Access> {
        Arc::clone(&self.access.lock().unwrap())
    }
}

fn answered(before: Vec<u8>, items: usize) -> Answered {
    Answered { payload: Payload { before, items, ..Payload::default() }, retained: None }
}

struct TellsDrop<'a>(&'a Double);

impl Drop for TellsDrop<'_> {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}
