//! The real file system behind core's [`RealPaths`].

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use gateway_core::roots::{RealPaths, Unresolved};

/// How many links are followed on one path before it counts as unresolvable; Linux gives up at the same number.
const MAX_LINKS: usize = 40;

/// Resolves paths on the disk of this machine. Calls block, and may block for long on a slow or vanished disk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Disk;

impl RealPaths for Disk {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        match fs::canonicalize(path) {
            Ok(real) => Ok(without_verbatim_prefix(real)),
            Err(_) => Err(Unresolved { would_be: would_be(path) }),
        }
    }
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
