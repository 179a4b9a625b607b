//! Finds programs, outside every root: what lies in a project is run only if the project is trusted, and a language server
//! never is what lies there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where programs are looked for.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The folders of PATH that lie in no root.
    path: OsString,
    roots: Vec<PathBuf>,
}

impl Programs {
    /// Looks in the folders of `path`, which is written as PATH is, but in none that lies inside one of `roots`, given by
    /// their real paths, by whichever name.
    pub fn outside(roots: &[PathBuf], path: &OsStr) -> Self {
        let is_outside = |folder: &PathBuf| {
            folder.is_absolute()
                && folder.canonicalize().is_ok_and(|real| !roots.iter().any(|root| real.starts_with(root)))
        };
        // What was in one list can be put in one again.
        let path = env::join_paths(env::split_paths(path).filter(is_outside)).unwrap_or_default();
        Self { path, roots: roots.to_vec() }
    }

    /// The same folders, written as PATH is.
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// Where the first of these programs is that there is, by its absolute path. A name is looked for in the folders; a path
    /// has to be that of a program. One whose file really lies in a root is none.
    pub fn find(&self, names: &[PathBuf]) -> Option<PathBuf> {
        let found = names.iter().filter_map(|name| which::which_in_global(name, Some(&self.path)).ok());
        found.flatten().find(|program| self.is_outside(program))
    }

    fn is_outside(&self, program: &Path) -> bool {
        program.canonicalize().is_ok_and(|real| !self.roots.iter().any(|root| real.starts_with(root)))
    }
}
