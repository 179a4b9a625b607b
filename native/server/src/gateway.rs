//! The gateway: everything that one window serves, behind one handle.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use gateway_core::epochs::Epoch;
use gateway_core::limits::Limits;
use gateway_core::tool::Registered;
use tokio::sync::{Mutex, MutexGuard};

use crate::access::Access;
use crate::activity::Activity;
use crate::answers::{Answer, FlightKey};
use crate::catalog::Catalog;
use crate::editor::Editor;
use crate::freshness::Freshness;
use crate::readiness::Silent;
use crate::session::Sessions;
use crate::single_flight::SingleFlight;
use crate::watch::{Ignore, Status};
use crate::workspace::Workspace;

/// What can change while the gateway runs. A change takes effect with the next request.
#[derive(Debug)]
pub struct Settings {
    /// Folders that answers may speak of, as the editor knows them; workspace folders first.
    pub roots: Vec<PathBuf>,
    /// Who may ask.
    pub access: Access,
    /// The tools that clients are offered.
    pub catalog: Vec<Registered>,
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
    single_flight: SingleFlight<FlightKey, Answer>,
    silent: Silent,
    freshness: Arc<Freshness>,
    /// Held while files are looked through, which is much work.
    looking_through: Mutex<()>,
}

#[derive(Debug, Clone)]
struct InForce {
    access: Arc<Access>,
    catalog: Arc<Catalog>,
    limits: Limits,
}

impl InForce {
    fn of(access: Access, tools: Vec<Registered>, limits: Limits) -> Self {
        Self { access: Arc::new(access), catalog: Arc::new(Catalog::of(tools)), limits }
    }
}

impl<E: Editor> Gateway<E> {
    /// A gateway in front of `editor`. `version` is the product's; `roots_epoch` is the clock's time at activation in
    /// milliseconds (D25). Blocks while the roots are resolved.
    pub fn new(editor: E, settings: Settings, sessions: Sessions, version: String, roots_epoch: u64) -> Self {
        let workspace = Arc::new(Workspace::new(&settings.roots, roots_epoch));
        let freshness = Arc::new(Freshness::new(workspace.real_roots(), &settings.ignore, E::IS_TOLD));
        let Settings { access, catalog, limits, .. } = settings;
        let in_force = InForce::of(access, catalog, limits);
        sessions.offer(in_force.catalog.digest());
        Self {
            editor,
            version,
            in_force: RwLock::new(in_force),
            sessions,
            activity: Activity::default(),
            workspace,
            single_flight: SingleFlight::default(),
            silent: Silent::default(),
            freshness,
            looking_through: Mutex::default(),
        }
    }

    /// Puts other settings in force. Blocks while the roots are resolved.
    pub fn configure(&self, settings: Settings) {
        let Settings { roots, access, catalog, limits, ignore } = settings;
        let in_force = InForce::of(access, catalog, limits);
        let digest = in_force.catalog.digest();
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = in_force;
        // Sessions that were begun with another catalog do not count while this one is offered. Only now, or one could begin
        // that counts with this one and was told the tools of the other.
        self.sessions.offer(digest);
        self.workspace.configure(&roots);
        self.freshness.configure(self.workspace.real_roots(), &ignore);
    }

    /// Counts one change of the workspace (contract section 3.6.2).
    pub fn bump(&self, epoch: Epoch) {
        self.workspace.bump(epoch);
    }

    /// How well each root is watched now. Roots on disks that do not answer are left out.
    pub async fn watch_status(&self) -> Vec<Status> {
        self.freshness.status().await
    }

    /// The version of the product.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn access(&self) -> Arc<Access> {
        self.in_force().access
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.in_force().catalog
    }

    pub(crate) fn limits(&self) -> Limits {
        self.in_force().limits
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// What clients did lately.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Who is asked.
    pub fn editor(&self) -> &E {
        &self.editor
    }

    pub(crate) fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    pub(crate) fn single_flight(&self) -> &SingleFlight<FlightKey, Answer> {
        &self.single_flight
    }

    pub(crate) fn silent(&self) -> &Silent {
        &self.silent
    }

    pub(crate) fn freshness(&self) -> &Arc<Freshness> {
        &self.freshness
    }

    /// The right to look through files.
    pub(crate) async fn looking_through(&self) -> MutexGuard<'_, ()> {
        self.looking_through.lock().await
    }

    fn in_force(&self) -> InForce {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
