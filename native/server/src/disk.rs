//! The real file system behind core's [`RealPaths`].

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gateway_core::error::ToolError;
use gateway_core::roots::{RealPaths, Unresolved};

/// How many links are followed on one path before it counts as unresolvable; Linux gives up at the same number.
const MAX_LINKS: usize = 40;

/// Resolves paths on the disk of this machine. Calls block, and may block for long on a slow or vanished disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl RealPaths for Disk {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        match fs::canonicalize(path) {
            Ok(real) => Ok(without_verbatim_prefix(real)),
            Err(_) => Err(Unresolved { would_be: would_be(path) }),
        }
    }
}

/// Resolves the paths of one call, as [`Disk`] does, but each folder that holds several of them only once: what is no link
/// itself lies in the real path of its folder. It must not outlive the call (D32).
#[derive(Debug, Default)]
pub struct Resolver {
    folders: Mutex<Folders>,
    /// What lies in these is not looked up.
    silent: Arc<[PathBuf]>,
    met_silent: AtomicBool,
}

impl Resolver {
    /// One that spares what lies in the folders on disks that do not answer.
    pub(crate) fn sparing(silent: Arc<[PathBuf]>) -> Self {
        Self { silent, ..Self::default() }
    }

    /// Fails if what was resolved was not everything, for the sake of a disk that does not answer.
    pub(crate) fn check_complete(&self) -> Result<(), ToolError> {
        if self.met_silent.load(Ordering::Relaxed) { Err(ToolError::DiskSilent) } else { Ok(()) }
    }
}

/// Real paths that are remembered as they are resolved.
pub(crate) struct Noting<'a> {
    paths: &'a dyn RealPaths,
    noted: Mutex<Vec<PathBuf>>,
}

impl<'a> Noting<'a> {
    pub(crate) fn new(paths: &'a dyn RealPaths) -> Self {
        Self { paths, noted: Mutex::default() }
    }

    pub(crate) fn noted(self) -> Vec<PathBuf> {
        self.noted.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RealPaths for Noting<'_> {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        let real = self.paths.real_path(path)?;
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(real.clone());
        Ok(real)
    }
}

#[derive(Debug, Default)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "elsewhere nothing is kept"))]
struct Folders {
    /// The real path of each folder that was met, if it has one.
    real: HashMap<PathBuf, Option<PathBuf>>,
    last: Option<Folder>,
}

impl RealPaths for Resolver {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        if self.silent.iter().any(|folder| path.starts_with(folder)) {
            self.met_silent.store(true, Ordering::Relaxed);
            return Err(Unresolved { would_be: path.to_owned() });
        }
        let in_folder = self.folders.lock().unwrap_or_else(PoisonError::into_inner).real_path(path);
        in_folder.map_or_else(|| Disk.real_path(path), Ok)
    }
}

#[cfg(target_os = "linux")]
impl Folders {
    /// The real path of what is no link in a folder that exists.
    fn real_path(&mut self, path: &Path) -> Option<PathBuf> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        // A name that ends in a slash or a dot has to be a folder.
        if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) {
            return None;
        }
        if self.last.as_ref().is_none_or(|last| last.path != parent) {
            let resolve = || fs::canonicalize(parent).ok();
            let real = self.real.entry(parent.to_owned()).or_insert_with(resolve).as_ref()?;
            self.last = Some(Folder::open(parent, real)?);
        }
        self.last.as_ref()?.real_path_of(name)
    }
}

#[cfg(not(target_os = "linux"))]
impl Folders {
    /// Elsewhere a real path may also spell a name in another way than it is written.
    #[expect(clippy::unused_self, reason = "the signature is Linux's")]
    fn real_path(&mut self, _: &Path) -> Option<PathBuf> {
        None
    }
}

/// A folder whose names are looked up without walking to it each time.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "elsewhere nothing is kept"))]
struct Folder {
    path: PathBuf,
    real: PathBuf,
    #[cfg(target_os = "linux")]
    opened: std::os::fd::OwnedFd,
}

#[cfg(target_os = "linux")]
impl Folder {
    fn open(path: &Path, real: &Path) -> Option<Self> {
        use rustix::fs::{Mode, OFlags, open};

        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(real, flags, Mode::empty()).ok()?;
        Some(Self { path: path.to_owned(), real: real.to_owned(), opened })
    }

    fn real_path_of(&self, name: &std::ffi::OsStr) -> Option<PathBuf> {
        use rustix::fs::{AtFlags, FileType, StatxFlags, statx};

        let status = statx(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE).ok()?;
        let is_link = FileType::from_raw_mode(status.stx_mode.into()) == FileType::Symlink;
        (!is_link).then(|| self.real.join(name))
    }
}

/// What the system can tell of paths without waiting for a disk. Of any other path it is undecided: then nothing that was
/// asked of it counts, and [`Disk`] has to be asked everything anew.
///
/// It belongs to one call, and may take from one look what another of the same call needs.
#[derive(Debug, Default)]
pub(crate) struct AtOnce(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    undecided: bool,
    /// The regular file that was found last, by its real path.
    file: Option<PathBuf>,
}

impl AtOnce {
    /// Whether every path could be told of.
    pub(crate) fn is_decided(&self) -> bool {
        !self.seen().undecided
    }

    /// Whether the path was the last to be looked at, and is a regular file.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        self.seen().file.as_deref() == Some(path)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RealPaths for AtOnce {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        let mut seen = self.seen();
        // A folder on the way to a file that no link leads to is no link either.
        if seen.file.as_ref().is_some_and(|file| file != path && file.starts_with(path)) {
            return Ok(path.to_owned());
        }
        let Some(is_file) = kind_without_links(path) else {
            seen.undecided = true;
            return Err(Unresolved { would_be: path.to_owned() });
        };
        seen.file = is_file.then(|| path.to_owned());
        Ok(path.to_owned())
    }
}

/// Whether the path names a regular file, if there is something, no part of the path is a link, and the system knows all
/// that without looking at a disk. Such a path is its own real path.
#[cfg(target_os = "linux")]
fn kind_without_links(path: &Path) -> Option<bool> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};

    let is_plain =
        path.is_absolute() && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !is_plain {
        return None;
    }
    // Nothing is opened but the name: no pipe is waited for, and no device notices.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::CACHED).ok()?;
    // What kind of thing it is never changes, so what the system remembers of it is true.
    let status = statx(&opened, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    Some(FileType::from_raw_mode(status.stx_mode.into()) == FileType::RegularFile)
}

/// Other systems do not tell whether they would wait.
#[cfg(not(target_os = "linux"))]
fn kind_without_links(_: &Path) -> Option<bool> {
    None
}

/// Where a path that does not resolve would lie: every link on the way that exists is followed, what does not exist is
/// taken as it is written.
fn would_be(path: &Path) -> PathBuf {
    let mut ahead: VecDeque<OsString> = path.components().map(|part| part.as_os_str().to_owned()).collect();
    let mut reached = PathBuf::new();
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        match Path::new(&part).components().next() {
            None | Some(Component::CurDir) => {}
            Some(Component::ParentDir) => {
                reached.pop();
            }
            Some(Component::Prefix(_) | Component::RootDir) => reached.push(&part),
            Some(Component::Normal(_)) => {
                reached.push(&part);
                if links < MAX_LINKS
                    && let Ok(target) = fs::read_link(&reached)
                {
                    links += 1;
                    reached.pop();
                    for part in target.components().rev() {
                        ahead.push_front(part.as_os_str().to_owned());
                    }
                }
            }
        }
    }
    without_verbatim_prefix(reached)
}

/// Windows resolves to `\\?\C:\…`, a spelling that no editor uses.
#[cfg(windows)]
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|text| text.strip_prefix(r"\\?\")) {
        Some(rest) => match rest.strip_prefix(r"UNC\") {
            Some(share) => PathBuf::from(format!(r"\\{share}")),
            None => PathBuf::from(rest),
        },
        None => path,
    }
}

#[cfg(not(windows))]
fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    path
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn would_be_of(path: &Path) -> PathBuf {
        Disk.real_path(path).expect_err("the path does not resolve").would_be
    }

    #[test]
    fn an_existing_path_resolves_through_its_links() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        fs::create_dir(base.join("real")).expect("a folder");
        symlink(base.join("real"), base.join("link")).expect("a link");

        assert_eq!(Disk.real_path(&base.join("link")), Ok(base.join("real")));
    }

    #[test]
    fn the_paths_of_a_call_resolve_as_each_of_them_does_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        fs::create_dir_all(base.join("real/deep")).expect("folders");
        for file in ["real/a.ts", "real/b.ts", "real/deep/c.ts"] {
            fs::write(base.join(file), "").expect("a file");
        }
        symlink(base.join("real"), base.join("link")).expect("a link");
        symlink("a.ts", base.join("real/linked.ts")).expect("a link");
        symlink("nowhere", base.join("real/dangling.ts")).expect("a link");
        symlink("deep/..", base.join("real/round")).expect("a link");

        let resolver = Resolver::default();
        let paths = [
            "real/a.ts",
            "real/b.ts",
            "link/a.ts",
            "link/deep/c.ts",
            "real/linked.ts",
            "link/linked.ts",
            "link",
            "real/dangling.ts",
            "real/missing.ts",
            "missing/a.ts",
            "missing/b.ts",
            "real/a.ts/below",
            "real/a.ts/",
            "real/.",
            "real/deep/../a.ts",
            "real/..",
            "link/round/a.ts",
            "real/deep",
            "real/deep/",
            "link/deep/.",
            "",
        ];
        for path in
            paths.iter().chain(paths.iter().rev()).map(|path| base.join(path)).chain(["/".into(), "a.ts".into()])
        {
            assert_eq!(resolver.real_path(&path), Disk.real_path(&path), "{}", path.display());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_can_be_told_at_once_is_what_the_disk_tells() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        fs::create_dir_all(base.join("real/deep")).expect("folders");
        fs::write(base.join("real/deep/a.ts"), "").expect("a file");
        symlink(base.join("real"), base.join("link")).expect("a link");
        symlink(base.join("real/deep/a.ts"), base.join("real/b.ts")).expect("a link");

        for (path, is_file) in [("real/deep/a.ts", true), ("real/deep", false), ("real", false), ("", false)] {
            let (path, at_once) = (base.join(path), AtOnce::default());
            assert_eq!(at_once.real_path(&path), Disk.real_path(&path), "{}", path.display());
            assert!(at_once.is_decided(), "it was just made, so the system knows it: {}", path.display());
            assert_eq!(at_once.is_file(&path), is_file, "{}", path.display());
        }
        let undecided = ["link", "link/deep/a.ts", "real/b.ts", "missing", "real/deep/a.ts/below", "real/../real"];
        for path in undecided.map(|path| base.join(path)).iter().map(PathBuf::as_path).chain([Path::new("real")]) {
            let at_once = AtOnce::default();
            assert!(at_once.real_path(path).is_err(), "{}", path.display());
            assert!(!at_once.is_decided() && !at_once.is_file(path), "{}", path.display());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_without_links_vouches_for_the_folders_on_its_way_and_for_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        fs::create_dir(base.join("real")).expect("a folder");
        fs::write(base.join("real/a.ts"), "").expect("a file");
        symlink(base.join("real"), base.join("rea")).expect("a link");

        let at_once = AtOnce::default();
        assert!(at_once.real_path(&base.join("real/a.ts")).is_ok());
        assert_eq!(at_once.real_path(&base.join("real")), Ok(base.join("real")));
        assert!(at_once.real_path(&base.join("rea")).is_err(), "its name only begins like that of the folder");
        assert!(!at_once.is_decided());
    }

    #[test]
    fn a_missing_path_is_followed_through_the_links_that_exist() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        fs::create_dir(base.join("real")).expect("a folder");
        symlink(base.join("real"), base.join("absolute")).expect("a link");
        symlink("real/deep", base.join("dangling")).expect("a link");

        assert_eq!(would_be_of(&base.join("absolute/missing")), base.join("real/missing"));
        assert_eq!(would_be_of(&base.join("dangling/x")), base.join("real/deep/x"));
        assert_eq!(would_be_of(&base.join("absolute/../missing")), base.join("missing"));
    }

    #[test]
    fn a_ring_of_links_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        symlink(base.join("b"), base.join("a")).expect("a link");
        symlink(base.join("a"), base.join("b")).expect("a link");

        assert!(would_be_of(&base.join("a")).starts_with(&base));
    }
}
