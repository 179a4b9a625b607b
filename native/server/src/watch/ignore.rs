//! Which paths under the roots count as changed, and which folders are not looked into (D22).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Globs, relative to each root, of what does not count: `*` and `?` stay within one name, `**` crosses folders, `{a,b}` and
/// `[a-z]` are choices, and `x/**` matches the folder `x` as well as all that it holds. Dot files match like all others.
#[derive(Debug, Clone, Default)]
pub struct Ignore {
    patterns: Vec<String>,
    paths: GlobSet,
    /// What matches these is ignored with all that it could hold.
    folders: GlobSet,
}

impl Ignore {
    /// The patterns as they stand in the settings. One that is no glob ignores nothing.
    pub fn new(patterns: &[String]) -> Self {
        let (mut paths, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let whole = pattern.strip_suffix("/**").map(glob).transpose();
            let (Ok(each), Ok(whole)) = (glob(pattern), whole) else { continue };
            if whole.is_some() || pattern == "**" {
                folders.add(each.clone());
            }
            if let Some(whole) = whole {
                folders.add(whole.clone());
                paths.add(whole);
            }
            paths.add(each);
        }
        // A set can only be too large to build. Then nothing is ignored: too much counts, which is safe.
        match (paths.build(), folders.build()) {
            (Ok(paths), Ok(folders)) => Self { patterns: patterns.to_vec(), paths, folders },
            _ => Self::default(),
        }
    }

    /// Whether nothing at all is to be watched.
    pub fn is_everything(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern == "**")
    }
}

/// Whether the pattern is a glob that [`Ignore`] can read.
pub fn is_glob(pattern: impl AsRef<str>) -> bool {
    glob(pattern.as_ref()).is_ok()
}

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern).literal_separator(true).build()
}

impl PartialEq for Ignore {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

/// The roots, and what is ignored under each.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) roots: Vec<PathBuf>,
    pub(super) ignore: Ignore,
    /// Files that count although they are ignored, and the folders that lead to them.
    followed: BTreeSet<PathBuf>,
    leading: BTreeSet<PathBuf>,
}

impl Scope {
    pub(super) fn new(roots: Vec<PathBuf>, ignore: Ignore) -> Self {
        Self { roots, ignore, ..Self::default() }
    }

    /// Whether a change of this path is told: it is a root, or lies under one relative to which no pattern ignores it.
    pub(super) fn counts(&self, path: &Path) -> bool {
        self.is_in_a_root(path, &self.ignore.paths) || self.followed.contains(path)
    }

    /// Whether something in this folder may count.
    pub(super) fn enters(&self, folder: &Path) -> bool {
        self.is_in_a_root(folder, &self.ignore.folders) || self.leading.contains(folder)
    }

    /// Has an ignored file count. Returns whether it did not yet.
    pub(super) fn follow(&mut self, path: &Path) -> bool {
        let Some(root) = self.roots.iter().find(|root| path.starts_with(root)) else { return false };
        if self.counts(path) {
            return false;
        }
        self.leading.extend(path.ancestors().skip(1).take_while(|folder| folder != root).map(ToOwned::to_owned));
        self.followed.insert(path.to_owned())
    }

    pub(super) fn followed(&self) -> usize {
        self.followed.len()
    }

    pub(super) fn is_followed(&self, path: &Path) -> bool {
        self.followed.contains(path)
    }

    pub(super) fn follow_no_more(&mut self) {
        self.followed.clear();
        self.leading.clear();
    }

    fn is_in_a_root(&self, path: &Path, unless: &GlobSet) -> bool {
        let mut inside = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        inside.any(|relative| relative.as_os_str().is_empty() || !unless.is_match(relative))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const DEFAULTS: [&str; 9] = [
        "**/.git/**",
        "**/*.log",
        "**/node_modules/.cache/**",
        "**/.cache/clangd/**",
        "**/dist/**",
        "**/out/**",
        "**/build/**",
        "**/target/**",
        "**/__pycache__/**",
    ];

    fn scope(roots: &[&str], patterns: &[&str]) -> Scope {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        Scope::new(roots.iter().map(PathBuf::from).collect(), Ignore::new(&patterns))
    }

    #[test]
    fn by_default_gits_own_files_logs_caches_and_build_outputs_do_not_count() {
        let scope = scope(&["/w"], &DEFAULTS);
        for path in [
            "/w/.git/HEAD",
            "/w/.git",
            "/w/packages/a/.git/index",
            "/w/npm.log",
            "/w/deep/.hidden.log",
            "/w/node_modules/.cache/x/.y",
            "/w/dist/main.js",
            "/w/dist",
            "/w/a/out/.tsbuildinfo",
            "/w/native/target/debug/x",
            "/w/src/__pycache__/m.pyc",
            "/",
            "/other",
            "/ww/a",
        ] {
            assert!(!scope.counts(Path::new(path)), "{path}");
        }
        for path in [
            "/w",
            "/w/src/main.ts",
            "/w/.gitignore",
            "/w/.github/workflows/ci.yml",
            "/w/node_modules/a/index.d.ts",
            "/w/distribution/a.ts",
            "/w/logs",
        ] {
            assert!(scope.counts(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_folder_is_entered_unless_all_in_it_is_ignored() {
        let scope = scope(&["/w", "/w/build/generated"], &DEFAULTS);
        for folder in ["/w/.git", "/w/.git/objects", "/w/a/build", "/w/build", "/w/node_modules/.cache"] {
            assert!(!scope.enters(Path::new(folder)), "{folder}");
        }
        for folder in ["/w", "/w/node_modules", "/w/old.log", "/w/build/generated", "/w/build/generated/a"] {
            assert!(scope.enters(Path::new(folder)), "{folder}");
        }
        assert!(scope.counts(Path::new("/w/build/generated/api.ts")));
        assert!(!scope.counts(Path::new("/w/build/other.ts")));
    }

    #[test]
    fn a_star_stays_within_a_name_and_an_unreadable_pattern_ignores_nothing() {
        let scope = scope(&["/w"], &["*.txt", "{a,b}/?.c", "[", "["]);
        assert!(!scope.counts(Path::new("/w/x.txt")));
        assert!(scope.counts(Path::new("/w/x/x.txt")));
        assert!(!scope.counts(Path::new("/w/b/x.c")));
        assert!(scope.counts(Path::new("/w/b/xy.c")));
        assert!(scope.counts(Path::new("/w/[")));
        assert!(is_glob("{a,b}/?.c") && !is_glob("["));
        assert!(!super::tests::scope(&["/w"], &["**"]).enters(Path::new("/w/a")));
    }
}
