//! Where a file belongs: its root, its checkout, and its environment of Python. Everything here blocks on the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gateway_server::files::read_text;

/// What a folder has its environment of Python in.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];
/// What every environment of Python has.
pub(crate) const ENVIRONMENT_MARK: &str = "pyvenv.cfg";

/// Where a file belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Belonging {
    /// Which of the roots.
    pub(crate) root: usize,
    /// The root, or the innermost worktree of Git below it: what lies in another one is another state of the same files.
    pub(crate) checkout: Arc<Path>,
    /// The innermost folder of the checkout that has an environment of Python, if one has.
    pub(crate) environment: Option<Arc<Path>>,
}

/// Looks at each folder once.
#[derive(Debug)]
pub(crate) struct Folders<'a> {
    roots: &'a [PathBuf],
    known: HashMap<PathBuf, Option<Belonging>>,
    /// The innermost folders with one of some names, by the first of these and the folder below.
    marked: HashMap<(String, PathBuf), Arc<Path>>,
}

impl<'a> Folders<'a> {
    pub(crate) fn below(roots: &'a [PathBuf]) -> Self {
        Self { roots, known: HashMap::new(), marked: HashMap::new() }
    }

    /// Where what lies in this folder belongs; the innermost root counts. `None` outside all of them.
    pub(crate) fn belonging(&mut self, folder: &Path) -> Option<Belonging> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let found = self.look(folder);
        self.known.insert(folder.to_owned(), found.clone());
        found
    }

    /// The innermost folder around this one that has something of one of these names, within the checkout, or else that.
    pub(crate) fn marked(&mut self, folder: &Path, markers: &[String], checkout: &Arc<Path>) -> Arc<Path> {
        let key = (markers.first().cloned().unwrap_or_default(), folder.to_owned());
        if let Some(known) = self.marked.get(&key) {
            return Arc::clone(known);
        }
        let found = match folder.parent() {
            _ if markers.iter().any(|name| folder.join(name).is_file()) => folder.into(),
            Some(parent) if folder != &**checkout => self.marked(parent, markers, checkout),
            _ => Arc::clone(checkout),
        };
        self.marked.insert(key, Arc::clone(&found));
        found
    }

    fn look(&mut self, folder: &Path) -> Option<Belonging> {
        let root = self.roots.iter().position(|root| root == folder);
        let own = |root| Belonging { root, checkout: folder.into(), environment: None };
        let mut found = match root {
            Some(root) => own(root),
            None => self.belonging(folder.parent()?)?,
        };
        if root.is_none() && is_worktree(folder) {
            found = own(found.root);
        }
        if environment_of(folder).is_some() {
            found.environment = Some(folder.into());
        }
        Some(found)
    }
}

/// The environment of Python that a folder has.
pub(crate) fn environment_of(folder: &Path) -> Option<PathBuf> {
    ENVIRONMENTS.iter().map(|name| folder.join(name)).find(|environment| environment.join(ENVIRONMENT_MARK).is_file())
}

/// Whether Git has made this folder as a further checkout of a repository.
fn is_worktree(folder: &Path) -> bool {
    let link = folder.join(".git");
    // A repository of its own has a folder there, which cannot be read as a file. A submodule has a file as well.
    let text = read_text(&link);
    text.as_deref().and_then(|text| text.strip_prefix("gitdir: ")).is_some_and(|to| {
        let mut names = Path::new(to.trim_end()).iter();
        names.next_back().is_some() && names.next_back().is_some_and(|name| name == "worktrees")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A root with a worktree, a submodule, and two packages with environments of their own.
    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in [
            ("tree/.git", "gitdir: /somewhere/.git/worktrees/tree\n"),
            ("part/.git", "gitdir: ../.git/modules/part\n"),
            ("one/.venv/pyvenv.cfg", ""),
            ("two/venv/pyvenv.cfg", ""),
            ("three/.venv/nothing", ""),
            ("one/inner/a.py", ""),
        ] {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::create_dir(root.join(".git")).unwrap();
        (folder, root)
    }

    #[test]
    fn a_worktree_is_a_checkout_of_its_own_and_a_submodule_is_not() {
        let (_folder, root) = project();
        let roots = [root.clone()];
        let mut folders = Folders::below(&roots);
        let mut checkout = |name: &str| folders.belonging(&root.join(name)).unwrap().checkout.to_path_buf();
        assert_eq!(checkout("tree/src"), root.join("tree"));
        assert_eq!(checkout("part"), root);
        assert_eq!(checkout(""), root);
    }

    #[test]
    fn the_innermost_environment_counts_and_only_one_that_is_whole() {
        let (_folder, root) = project();
        let roots = [root.clone()];
        let mut folders = Folders::below(&roots);
        let mut environment = |name: &str| folders.belonging(&root.join(name)).unwrap().environment;
        assert_eq!(environment("one/inner").as_deref(), Some(root.join("one").as_path()));
        assert_eq!(environment("two").as_deref(), Some(root.join("two").as_path()));
        assert_eq!(environment("three"), None);
        assert_eq!(environment("tree"), None);
    }

    #[test]
    fn the_innermost_folder_with_a_marker_counts() {
        let (_folder, root) = project();
        fs::write(root.join("one/go.mod"), "").unwrap();
        let roots = [root.clone()];
        let mut folders = Folders::below(&roots);
        let checkout = folders.belonging(&root).unwrap().checkout;
        let mut marked = |name: &str| folders.marked(&root.join(name), &["go.mod".to_owned()], &checkout).to_path_buf();
        assert_eq!(marked("one/inner"), root.join("one"));
        assert_eq!(marked("one"), root.join("one"));
        assert_eq!(marked("two"), root);
    }

    #[test]
    fn the_innermost_root_counts_and_outside_there_is_nothing() {
        let (_folder, root) = project();
        let roots = [root.join("one"), root.clone()];
        let mut folders = Folders::below(&roots);
        assert_eq!(folders.belonging(&root.join("one/inner")).unwrap().root, 0);
        assert_eq!(folders.belonging(&root.join("two")).unwrap().root, 1);
        assert_eq!(folders.belonging(root.parent().unwrap()), None);
    }
}
