//! What lies in a folder, without what is hidden, what is installed there, and what its `.gitignore` files name.

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::vec;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::open_in_place;

/// How many files and folders are looked at.
const MAX_LOOKED_AT: usize = 50_000;
/// How many bytes of `.gitignore` files are read, and of their lines those of at most so many bytes: a glob takes memory and
/// stack by its length.
const MAX_IGNORE_BYTES: u64 = 65_536;
const MAX_IGNORE_LINE: usize = 256;
/// Where packages are installed, whether or not Git ignores it.
const INSTALLED: &str = "node_modules";

/// A file or a folder.
#[derive(Debug)]
pub struct Entry {
    /// Where it is, below the folder that was given.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// The files and folders, each before what it holds, in the order of their names. No link is followed, and only `.gitignore`
/// files in the folder count, since nothing may be told of what lies outside. Blocks on the disk.
#[derive(Debug)]
pub struct Walk {
    /// The folders that are being looked at, each in the one before.
    ahead: Vec<Folder>,
    /// How many entries may be looked at yet, and how many bytes of `.gitignore` files read.
    left: usize,
    left_of_ignores: u64,
    is_whole: bool,
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    entries: vec::IntoIter<(OsString, FileType)>,
    ignored: Gitignore,
}

/// What lies in a folder. The folder itself comes first.
pub fn entries(root: &Path) -> impl Iterator<Item = Entry> {
    let own = Entry { path: root.to_owned(), is_folder: true };
    std::iter::once(own).chain(below(root))
}

/// The same without the folder.
pub fn below(root: &Path) -> Walk {
    let mut walk = Walk { ahead: Vec::new(), left: MAX_LOOKED_AT, left_of_ignores: MAX_IGNORE_BYTES, is_whole: true };
    walk.enter(root.to_owned());
    walk
}

/// The folders alone, the root first.
pub fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    entries(root).filter(|entry| entry.is_folder).map(|entry| entry.path)
}

impl Walk {
    /// Whether all that came was looked at.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn enter(&mut self, path: PathBuf) {
        let Ok(found) = fs::read_dir(&path) else { return };
        let mut entries: Vec<_> = found
            .take(self.left + 1)
            .filter_map(|entry| entry.ok().and_then(|entry| Some((entry.file_name(), entry.file_type().ok()?))))
            .collect();
        entries.sort_by(|(name, _), (other, _)| name.cmp(other));
        let ignored = self.ignored_in(&path);
        self.ahead.push(Folder { path, entries: entries.into_iter(), ignored });
    }

    fn ignored_in(&mut self, folder: &Path) -> Gitignore {
        let mut text = String::new();
        let file = open_in_place(&folder.join(".gitignore")).ok();
        let file = file
            .filter(|file| file.metadata().is_ok_and(|found| found.is_file() && found.len() <= self.left_of_ignores));
        if file.is_none_or(|file| file.take(self.left_of_ignores).read_to_string(&mut text).is_err()) {
            return Gitignore::empty();
        }
        self.left_of_ignores -= text.len() as u64;
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines().filter(|line| line.len() <= MAX_IGNORE_LINE) {
            // A line that is no glob names nothing, as for Git.
            _ = builder.add_line(None, line);
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    /// The innermost `.gitignore` that names it decides.
    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let said = self.ahead.iter().rev().map(|folder| folder.ignored.matched(path, is_folder));
        said.filter(|said| !said.is_none()).map(|said| matches!(said, Match::Ignore(_))).next().unwrap_or_default()
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            let folder = self.ahead.last_mut()?;
            let Some((name, kind)) = folder.entries.next() else {
                self.ahead.pop();
                continue;
            };
            if self.left == 0 {
                self.is_whole = false;
                return None;
            }
            self.left -= 1;
            let (path, is_folder) = (folder.path.join(&name), kind.is_dir());
            let is_passed_over = name.as_encoded_bytes().starts_with(b".") || is_folder && name == INSTALLED;
            if is_passed_over || !(is_folder || kind.is_file()) || self.is_ignored(&path, is_folder) {
                continue;
            }
            if is_folder {
                self.enter(path.clone());
            }
            return Some(Entry { path, is_folder });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_a_folder_says_is_ignored_and_nothing_outside_it_has_a_say() {
        let outside = tempfile::tempdir().unwrap();
        let base = outside.path().canonicalize().unwrap();
        let root = base.join("root");
        let write = |name: &str, text: &str| {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let deep = format!("{}a{}\n", "{".repeat(20_000), "}".repeat(20_000));
        write(".gitignore", "a.ts\n");
        write("secret", "linked/\n");
        write("root/.gitignore", &format!("/out\n*.log\n{deep}b/*.gen\n"));
        write("root/.ignore", "a.ts\n");
        write("root/b/.gitignore", "!kept.log\n");
        for name in [
            "a.ts",
            "b/c.ts",
            "b/kept.log",
            "b/c.log",
            "b/d.gen",
            "b/out/e.ts",
            "out/e.ts",
            "piped/f.ts",
            "linked/g.ts",
            "node_modules/h.ts",
            ".hidden/i.ts",
            ".git/config",
        ] {
            write(&format!("root/{name}"), "");
        }
        std::os::unix::fs::symlink(base.join("secret"), root.join("linked/.gitignore")).unwrap();
        std::os::unix::fs::symlink(root.join("b"), root.join("link")).unwrap();
        let piped = std::process::Command::new("mkfifo").arg(root.join("piped/.gitignore")).status();
        assert!(piped.unwrap().success());

        let found: Vec<_> =
            entries(&root).map(|entry| entry.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
        let expected = [
            "",
            "a.ts",
            "b",
            "b/c.ts",
            "b/kept.log",
            "b/out",
            "b/out/e.ts",
            "linked",
            "linked/g.ts",
            "piped",
            "piped/f.ts",
        ];
        assert_eq!(found, expected);
    }
}
