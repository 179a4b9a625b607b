//! The gateway: everything that one window serves, behind one handle.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use gateway_core::epochs::Epoch;
use gateway_core::error::ToolError;
use gateway_core::limits::Limits;
use gateway_core::page::EncodedPayload;
use gateway_core::position::Position;
use gateway_core::tools::Tool;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::activity::{Activity, Unopenable};
use crate::asks::Asks;
use crate::call::{Answer, AskKey};
use crate::editor::Editor;
use crate::freshness::Freshness;
use crate::http::Access;
use crate::lifecycle::{Calls, HeldPage};
use crate::readiness::Silent;
use crate::session::Sessions;
use crate::watch::{Ignore, Status};
use crate::workspace::Workspace;

/// What can change while the gateway runs. A change takes effect with the next request.
#[derive(Debug)]
pub struct Settings {
    /// Folders that answers may speak of, as the editor knows them; workspace folders first.
    pub roots: Vec<PathBuf>,
    /// Who may ask.
    pub access: Access,
    /// The caps in force.
    pub limits: Limits,
    /// What is not watched under the roots.
    pub ignore: Ignore,
}

/// One window's gateway.
pub struct Gateway<E> {
    editor: E,
    version: String,
    in_force: RwLock<InForce>,
    sessions: Sessions,
    activity: Activity,
    workspace: Arc<Workspace>,
    asks: Asks<AskKey, Answer>,
    silent: Silent,
    freshness: Arc<Freshness>,
}

#[derive(Debug, Clone)]
struct InForce {
    access: Arc<Access>,
    limits: Limits,
}

impl<E: Editor> Gateway<E> {
    /// A gateway in front of `editor`. `version` is the product's; `roots_epoch` is the clock's time at activation in
    /// milliseconds (D25). Blocks while the roots are resolved.
    pub fn new(editor: E, settings: Settings, sessions: Sessions, version: String, roots_epoch: u64) -> Self {
        let workspace = Arc::new(Workspace::new(&settings.roots, roots_epoch));
        let freshness = Arc::new(Freshness::new(workspace.real_roots(), &settings.ignore));
        let in_force = RwLock::new(InForce { access: Arc::new(settings.access), limits: settings.limits });
        Self {
            editor,
            version,
            in_force,
            sessions,
            activity: Activity::default(),
            workspace,
            asks: Asks::default(),
            silent: Silent::default(),
            freshness,
        }
    }

    /// Puts other settings in force. Blocks while the roots are resolved.
    pub fn configure(&self, settings: Settings) {
        let in_force = InForce { access: Arc::new(settings.access), limits: settings.limits };
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = in_force;
        self.workspace.configure(&settings.roots);
        self.freshness.configure(self.workspace.real_roots(), &settings.ignore);
    }

    /// Counts one change of the workspace (contract section 3.6.2).
    pub fn bump(&self, epoch: Epoch) {
        self.workspace.bump(epoch);
    }

    /// How well each root is watched now. Roots on disks that do not answer are left out.
    pub async fn watch_status(&self) -> Vec<Status> {
        self.freshness.status().await
    }

    /// Where the call of this number asked, as the editor knows it. The file is admitted anew, by the roots as they are now
    /// and the disk as it is: what a client could not ask about, nobody is led to by it.
    pub async fn place_of_call(&self, number: u64) -> Result<(String, Option<Position>), Unopenable> {
        let (uri, position) = self.activity.document_of(number)?;
        match self.admit(&uri).await {
            Ok((_, document)) => Ok((document.editor_uri, position)),
            Err(ToolError::UriUnresolvable | ToolError::DocumentNotFound) => Err(Unopenable::Gone),
            Err(_) => Err(Unopenable::Refused),
        }
    }

    pub(crate) fn editor(&self) -> &E {
        &self.editor
    }

    pub(crate) fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    pub(crate) fn asks(&self) -> &Asks<AskKey, Answer> {
        &self.asks
    }

    pub(crate) fn silent(&self) -> &Silent {
        &self.silent
    }

    pub(crate) fn freshness(&self) -> &Arc<Freshness> {
        &self.freshness
    }

    fn in_force(&self) -> InForce {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<E: Editor> Calls for Gateway<E> {
    fn version(&self) -> &str {
        &self.version
    }

    fn access(&self) -> Arc<Access> {
        self.in_force().access
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn activity(&self) -> &Activity {
        &self.activity
    }

    fn limits(&self) -> Limits {
        self.in_force().limits
    }

    async fn call(
        self: &Arc<Self>,
        tool: Tool,
        arguments: Value,
        envelope_bytes: usize,
    ) -> Result<EncodedPayload, ToolError> {
        self.answer(tool, arguments, envelope_bytes).await
    }

    fn call_at_once(&self, tool: Tool, arguments: &RawValue, envelope_bytes: usize) -> Option<HeldPage> {
        self.answer_at_once(tool, arguments, envelope_bytes)
    }
}
