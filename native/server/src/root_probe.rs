//! Looks at disks in a way that waits for none that does not answer: so many looks at a time, and none at a folder that has
//! kept one waiting for too long. Each of them takes a thread for as long as the disk likes, and there are only so many.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gateway_core::error::ToolError;
use gateway_core::roots::{AllowedRoots, Folder, RealPaths, Unresolved};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::disk::{AtOnce, Disk};

/// How long a look at a root may take before its disk counts as one that does not answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many looks at one root may be under way.
const MAX_LOOKS: usize = 2;
/// How many documents of one root may be looked up at a time.
const MAX_DOCUMENTS: usize = 4;
/// How many answers may have their paths looked up at a time.
const MAX_ANSWERS: usize = 8;

/// Every look that is under way.
#[derive(Debug)]
pub(crate) struct RootProbe {
    roots: Mutex<HashMap<PathBuf, Arc<Root>>>,
    answers: Arc<Semaphore>,
}

#[derive(Debug)]
struct Root {
    looks: Arc<Semaphore>,
    documents: Arc<Semaphore>,
    /// When each look began that is under way.
    begun: Mutex<Vec<Instant>>,
}

/// What a look at all roots has shown: where each leads that is there.
#[derive(Debug)]
pub(crate) struct Looked {
    real: HashMap<PathBuf, PathBuf>,
    /// The roots on disks that do not answer, by all their names.
    pub(crate) silent: Arc<[PathBuf]>,
}

/// The right to look something up, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Permit(#[expect(dead_code, reason = "it counts while it lives")] OwnedSemaphorePermit);

/// A look at a root that is under way.
struct Look {
    root: Arc<Root>,
    begun: Instant,
}

impl Default for RootProbe {
    fn default() -> Self {
        Self { roots: Mutex::default(), answers: Arc::new(Semaphore::new(MAX_ANSWERS)) }
    }
}

impl RootProbe {
    /// Looks at all roots, and waits for none longer than it has patience.
    pub(crate) async fn at(&self, roots: &AllowedRoots) -> Looked {
        let (mut real, mut silent) = (HashMap::new(), Vec::new());
        for Folder { known_as, real: was } in roots.folders() {
            if let Ok(path) = AtOnce::default().real_path(known_as) {
                real.insert(known_as.to_owned(), path);
                continue;
            }
            match self.root(known_as).look(known_as).await {
                Ok(Some(path)) => drop(real.insert(known_as.to_owned(), path)),
                Err(ToolError::DiskSilent) => silent.extend([known_as.to_owned(), was.to_owned()]),
                Ok(None) | Err(_) => {}
            }
        }
        Looked { real, silent: silent.into() }
    }

    /// Whether a look at this root has gone unanswered for too long, and still is.
    pub(crate) fn is_silent(&self, root: &Path) -> bool {
        self.roots().get(root).is_some_and(|root| root.is_silent())
    }

    /// Waits for the turn to look up a document of this root, or of none.
    pub(crate) async fn permit_for_document(&self, root: Option<&Path>) -> Result<Permit, ToolError> {
        let root = self.root(root.unwrap_or(Path::new("")));
        if root.is_silent() {
            return Err(ToolError::DiskSilent);
        }
        turn(&root.documents).await
    }

    /// Waits for the turn to look up the paths of an answer.
    pub(crate) async fn permit_for_answer(&self) -> Result<Permit, ToolError> {
        turn(&self.answers).await
    }

    fn root(&self, path: &Path) -> Arc<Root> {
        let mut roots = self.roots();
        if let Some(root) = roots.get(path) {
            return Arc::clone(root);
        }
        // Roots come and go as long as the window is there. One that is looked at is somebody else's as well.
        roots.retain(|_, root| Arc::strong_count(root) > 1);
        let root = Arc::new(Root {
            looks: Arc::new(Semaphore::new(MAX_LOOKS)),
            documents: Arc::new(Semaphore::new(MAX_DOCUMENTS)),
            begun: Mutex::default(),
        });
        roots.insert(path.to_owned(), Arc::clone(&root));
        root
    }

    fn roots(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Root>>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Root {
    /// Where the root leads, if it is there.
    async fn look(self: Arc<Self>, path: &Path) -> Result<Option<PathBuf>, ToolError> {
        let (root, path) = (Arc::clone(&self), path.to_owned());
        let mut look = pin!(async move {
            let turn = turn(&root.looks).await?;
            let look = move || {
                let _turn = turn;
                let _look = Look::begin(root);
                Disk.real_path(&path).ok()
            };
            tokio::task::spawn_blocking(look).await.map_err(|_| ToolError::Internal)
        });
        loop {
            if self.is_silent() {
                return Err(ToolError::DiskSilent);
            }
            if let Ok(looked) = timeout(PATIENCE, look.as_mut()).await {
                return looked;
            }
        }
    }

    fn is_silent(&self) -> bool {
        self.begun().iter().any(|begun| begun.elapsed() >= PATIENCE)
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look {
    fn begin(root: Arc<Root>) -> Self {
        let begun = Instant::now();
        root.begun().push(begun);
        Self { root, begun }
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        let mut begun = self.root.begun();
        if let Some(at) = begun.iter().position(|begun| *begun == self.begun) {
            begun.swap_remove(at);
        }
    }
}

impl RealPaths for Looked {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        self.real.get(path).cloned().ok_or_else(|| Unresolved { would_be: path.to_owned() })
    }
}

async fn turn(turns: &Arc<Semaphore>) -> Result<Permit, ToolError> {
    Arc::clone(turns).acquire_owned().await.map(Permit).map_err(|_| ToolError::Internal)
}
