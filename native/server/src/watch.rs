//! Knows at any moment which files under the roots have changed, so that an answer can be about the files after every write
//! that has ended. Steps 1 to 4 and 10 of the way to read one's own writes.
//!
//! On Linux the kernel queues an event before the call that writes returns. So whoever reads the queue until it is empty
//! has learned of every write that had ended before: no event is waited for. Folders that cannot be watched are swept
//! instead: each of their files is looked at. On other systems that is the only way so far.
//!
//! Not noticed are writes through a memory map before the file is closed, writes to a watched file by a name outside the
//! roots (a hard link, a second mount), what becomes visible or hidden because something is mounted below a root, and, in
//! folders that are swept, what another machine has written and this one does not see yet.

mod changes;
mod ignore;
mod log;
mod queue;
mod stamp;
mod tree;

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

pub use changes::{Behind, Cause, Change, Changed, Changes, Kind, Options, Status, Swept};
pub use ignore::{Ignore, is_glob};
use tree::Tree;

/// How many files [`Watch::catch_up`] looks at by itself; some milliseconds at most.
const QUICK: usize = 256;
/// How many files are looked at before somebody else gets a turn.
const STEP: usize = 2048;

/// A watch of all files under some roots. It may be shared between threads.
#[derive(Debug)]
pub struct Watch {
    tree: Mutex<Tree>,
    /// Files that are to be followed, which needs the tree.
    followed: Mutex<Vec<PathBuf>>,
    is_ready: AtomicBool,
    looks: Arc<AtomicU64>,
    /// How many threads are in calls that may take long.
    at_work: AtomicUsize,
}

impl Watch {
    /// A watch of nothing yet.
    pub fn new(options: &Options) -> Self {
        let looks = Arc::default();
        let tree = Mutex::new(Tree::new(options, Arc::clone(&looks)));
        Self { tree, followed: Mutex::default(), looks, is_ready: AtomicBool::new(false), at_work: AtomicUsize::new(0) }
    }

    /// Watches these folders, given by their real paths, and no others any more; a root that stays is not walked again.
    /// Blocks until they were walked, which takes about a second for 100,000 files; until then [`Watch::catch_up`] is
    /// [`Behind::NotReady`]. What is found in new roots is no change. A root that does not exist is watched once it does.
    pub fn set_roots(&self, roots: Vec<PathBuf>, ignore: Ignore) {
        self.set_scope(roots, ignore);
        drop(self.work_off(false));
    }

    /// As [`Watch::set_roots`], and leaves the walk to whoever calls [`Watch::catch_up_blocking`] next.
    pub fn set_scope(&self, roots: Vec<PathBuf>, ignore: Ignore) {
        let _at_work = AtWork::begin(&self.at_work);
        let mut tree = self.tree();
        tree.set_scope(roots, ignore);
        self.is_ready.store(false, Ordering::Release);
    }

    /// Tells from now on what happens to these files, as far as they are ignored.
    pub fn follow(&self, paths: impl IntoIterator<Item = PathBuf>) {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
    }

    /// What has changed since the sequence number, by all writes that had ended when this was called; 0 is the number
    /// before everything. It never waits for a long call of another thread. While nothing was written it costs about a
    /// microsecond and one for each root; else some for each path that was written, and all that is in it for each new
    /// folder.
    pub fn catch_up(&self, since: u64) -> Result<Changes, Behind> {
        let behind = || if self.is_ready.load(Ordering::Acquire) { Behind::Slow } else { Behind::NotReady };
        let mut tree = match self.tree.try_lock() {
            Ok(tree) => tree,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if self.at_work.load(Ordering::Acquire) > 0 => return Err(behind()),
            Err(TryLockError::WouldBlock) => self.tree(),
        };
        if tree.has_swept() || !self.is_ready.load(Ordering::Acquire) {
            return Err(behind());
        }
        self.bring_up_to_date(&mut tree);
        // A look may show that more folders have to be swept; these were swept by it.
        if tree.look(QUICK) { Ok(tree.log.since(since)) } else { Err(Behind::Slow) }
    }

    /// As [`Watch::catch_up`], and does all that it takes: sweeps folders that are not watched, and whatever was left to
    /// do. Blocks for as long as the disks like. Fails only if no roots were ever set.
    pub fn catch_up_blocking(&self, since: u64) -> Result<Changes, Behind> {
        let tree = self.work_off(true);
        if tree.has_roots() { Ok(tree.log.since(since)) } else { Err(Behind::NotReady) }
    }

    /// How many looks at files and folders there were. If it does not grow during a long call, the disk does not answer.
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// How well the roots are watched now. Waits for other threads, and takes some milliseconds if there are many folders.
    pub fn status(&self) -> Status {
        self.tree().status()
    }

    fn work_off(&self, sweeps: bool) -> MutexGuard<'_, Tree> {
        let _at_work = AtWork::begin(&self.at_work);
        if sweeps {
            self.tree().sweep();
        }
        loop {
            let mut tree = self.tree();
            // The queue is read again and again, so that it does not overflow meanwhile.
            self.bring_up_to_date(&mut tree);
            if tree.look(STEP) {
                self.is_ready.store(tree.has_roots(), Ordering::Release);
                return tree;
            }
            drop(tree);
            thread::yield_now();
        }
    }

    fn bring_up_to_date(&self, tree: &mut Tree) {
        for path in mem::take(&mut *self.followed.lock().unwrap_or_else(PoisonError::into_inner)) {
            tree.follow(&path);
        }
        tree.read_queue();
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        // A panic would leave at worst a folder unknown, which the next look at it finds to be new.
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a thread for as long as it lives.
struct AtWork<'a>(&'a AtomicUsize);

impl<'a> AtWork<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
