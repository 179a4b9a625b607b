//! Finds programs, outside every root: what lies in a project is run only if the project is trusted, and a language server
//! never is what lies there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::table::Row;

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

    /// Where the first program of this server is that there is, by its absolute path. A name is looked for in the folders; a
    /// path has to be that of a program. One whose file really lies in a root is none.
    pub fn find(&self, row: &Row) -> Option<PathBuf> {
        let found = row.programs.iter().filter_map(|name| which::which_in_global(name, Some(&self.path)).ok());
        found.flatten().find(|program| program.canonicalize().is_ok_and(|real| self.is_its(row, &real)))
    }

    /// Whether what is written as PATH is, or as one path, leads into a root.
    pub(crate) fn leads_into_a_root(&self, value: &OsStr) -> bool {
        let is_inside =
            |path: PathBuf| path.is_absolute() && path.canonicalize().is_ok_and(|real| self.is_inside(&real));
        env::split_paths(value).any(is_inside)
    }

    fn is_inside(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(root))
    }

    fn is_its(&self, row: &Row, real: &Path) -> bool {
        let folder = real.parent().unwrap_or(real);
        !self.is_inside(real) && !row.not_with.iter().any(|other| folder.join(other).exists())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::table;

    /// A project, a folder beside it, and a link to the project there.
    fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, beside) = (base.join("project"), base.join("beside"));
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::create_dir(&beside).unwrap();
        symlink(&root, beside.join("link")).unwrap();
        (folder, root, beside)
    }

    fn program(path: &Path) {
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn row() -> Row {
        table::rows("").unwrap().0.remove(0)
    }

    fn path_of(folders: &[&Path]) -> OsString {
        env::join_paths(folders).unwrap()
    }

    #[test]
    fn folders_of_path_inside_a_root_and_relative_ones_are_left_out() {
        let (_folder, root, beside) = places();
        let link = beside.join("link/bin");
        let path = path_of(&[Path::new("bin"), &root.join("bin"), &link, &beside, Path::new(".")]);
        assert_eq!(Programs::outside(&[root], &path).path(), beside);
    }

    #[test]
    fn a_program_that_lies_in_a_root_is_none_by_whatever_name() {
        let (_folder, root, beside) = places();
        let (inside, linked, outside) = (root.join("bin/tsc"), beside.join("tsc"), beside.join("tsgo"));
        program(&inside);
        program(&outside);
        symlink(&inside, &linked).unwrap();
        let programs = Programs::outside(std::slice::from_ref(&root), &path_of(&[&root.join("bin"), &beside]));
        let find = |names: &[&Path]| {
            let programs_of = names.iter().map(|name| name.to_path_buf()).collect();
            programs.find(&Row { programs: programs_of, ..row() })
        };
        assert_eq!(find(&[Path::new("tsc")]), None);
        assert_eq!(find(&[&inside]), None);
        assert_eq!(find(&[&beside.join("link/bin/tsc")]), None);
        assert_eq!(find(&[Path::new("tsc"), Path::new("tsgo")]), Some(outside));
    }

    /// An older TypeScript calls its compiler as the newer one calls its server.
    #[test]
    fn a_program_is_told_from_another_of_its_name_by_what_lies_beside_it() {
        let (_folder, root, beside) = places();
        let modules = beside.join("modules/typescript");
        for folder in ["bin", "lib"] {
            fs::create_dir_all(modules.join(folder)).unwrap();
        }
        program(&modules.join("bin/tsc"));
        symlink(modules.join("bin/tsc"), beside.join("tsc")).unwrap();
        let programs = Programs::outside(&[root], &path_of(&[&beside]));
        let row = Row { programs: vec!["tsc".into()], not_with: vec!["../lib/tsserver.js".into()], ..row() };
        assert_eq!(programs.find(&row), Some(beside.join("tsc")));
        fs::write(modules.join("lib/tsserver.js"), "").unwrap();
        assert_eq!(programs.find(&row), None);
    }
}
