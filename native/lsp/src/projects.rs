//! The projects of TypeScript's own server. It looks for uses and symbols only in those that it has loaded, loads the one of
//! a file when it is asked about the file, and lets go of it again. A file that belongs to none it knows while it is open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gateway_server::files::read_text;
use gateway_server::walk;
use serde::Deserialize;

use crate::table::Row;

/// The request for the project of a file.
pub(crate) const REQUEST: &str = "custom/projectInfo";
/// How many projects are loaded. Each takes memory, most of it for the files that only it has.
const MAX_PROJECTS: usize = 100;
/// How many files that belong to no project are held open. Each takes some milliseconds and what it imports.
const MAX_LOOSE: usize = 500;
/// How many bytes these may have together.
const MAX_LOOSE_BYTES: u64 = 16 * 1024 * 1024;
/// How many files are asked about at a time.
const AT_ONCE: usize = 100;

/// The answer to [`REQUEST`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectInfo {
    /// The `tsconfig.json`; empty for a file that belongs to none.
    config_file_path: String,
}

/// Which files belong to which projects, as far as that was asked.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    of: BTreeMap<PathBuf, Option<String>>,
    /// What is to be asked about yet.
    unknown: BTreeSet<PathBuf>,
    /// Whether the folder may have more files.
    has_more: bool,
}

impl Projects {
    /// Takes the files for those that the folder has now. Blocks on the disk.
    pub(crate) fn look(&mut self, folder: &Path, row: &Row) {
        let mut walk = walk::below(folder);
        let files = walk.by_ref().filter(|entry| !entry.is_folder && row.language_of(&entry.path).is_some());
        let files: BTreeSet<_> = files.map(|entry| entry.path).collect();
        self.has_more = !walk.is_whole();
        self.of.retain(|file, _| files.contains(file));
        self.unknown = files.into_iter().filter(|file| !self.of.contains_key(file)).collect();
    }

    /// The next files to ask about; none once there are too many projects, or files that belong to none.
    pub(crate) fn next(&self) -> Vec<PathBuf> {
        let is_enough = self.loose().count() > MAX_LOOSE || self.firsts().count() >= MAX_PROJECTS;
        if is_enough { Vec::new() } else { self.unknown.iter().take(AT_ONCE).cloned().collect() }
    }

    /// Notes what was answered about a file; nothing where the server failed.
    pub(crate) fn note(&mut self, file: PathBuf, answer: Option<ProjectInfo>) {
        self.unknown.remove(&file);
        match answer {
            Some(ProjectInfo { config_file_path }) => {
                let config = Some(config_file_path).filter(|config| !config.is_empty());
                self.of.insert(file, config);
            }
            None => self.has_more = true,
        }
    }

    /// Notes that what belongs to no project is too much to be held open.
    pub(crate) fn hold_nothing(&mut self) {
        self.has_more = true;
    }

    /// A file of each project.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = &Path> {
        let mut known = BTreeSet::new();
        self.of.iter().filter_map(move |(file, config)| {
            let config = config.as_ref()?;
            known.insert(config).then_some(&**file)
        })
    }

    /// Whether all belong to one project: that of any file is all then.
    pub(crate) fn is_one(&self) -> bool {
        self.are_all() && self.loose().next().is_none() && self.firsts().nth(1).is_none()
    }

    /// The files that belong to no project, if they are to be held open.
    pub(crate) fn held(&self) -> Vec<PathBuf> {
        if self.loose().count() > MAX_LOOSE { Vec::new() } else { self.loose().map(Path::to_owned).collect() }
    }

    /// Whether all files of the folder are in what is loaded or held open.
    pub(crate) fn are_all(&self) -> bool {
        !self.has_more && self.unknown.is_empty() && self.loose().count() <= MAX_LOOSE
    }

    fn loose(&self) -> impl Iterator<Item = &Path> {
        self.of.iter().filter(|(_, config)| config.is_none()).map(|(file, _)| &**file)
    }
}

/// The texts of the files that are to be held open; nothing if they are too much. Blocks on the disk.
pub(crate) fn texts_of(files: Vec<PathBuf>) -> Option<Vec<(PathBuf, Arc<str>)>> {
    let bytes: u64 = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|found| found.len()).sum();
    let with_text = |file: PathBuf| read_text(&file).map(|text| (file, text));
    (bytes <= MAX_LOOSE_BYTES).then(|| files.into_iter().filter_map(with_text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks about so many files, each of which is answered so.
    fn asked(files: usize, config_of: impl Fn(usize) -> String) -> (usize, Projects) {
        let unknown = (0..files).map(|file| PathBuf::from(format!("{file:05}.ts"))).collect();
        let mut projects = Projects { unknown, ..Projects::default() };
        let mut number = 0;
        loop {
            let next = projects.next();
            if next.is_empty() {
                return (number, projects);
            }
            for file in next {
                projects.note(file, Some(ProjectInfo { config_file_path: config_of(number) }));
                number += 1;
            }
        }
    }

    #[test]
    fn no_folder_makes_a_server_load_more_than_it_may() {
        let (asked_about, one) = asked(10_000, |_| "tsconfig.json".to_owned());
        assert_eq!((asked_about, one.firsts().count(), one.are_all(), one.is_one()), (10_000, 1, true, true));
        let (asked_about, many) = asked(10_000, |file| format!("{file}/tsconfig.json"));
        assert_eq!((asked_about, many.are_all()), (MAX_PROJECTS, false));
        let (asked_about, loose) = asked(10_000, |_| String::new());
        assert_eq!((asked_about, loose.held().len(), loose.are_all()), (MAX_LOOSE + AT_ONCE, 0, false));
        let (_, loose) = asked(MAX_LOOSE, |_| String::new());
        assert_eq!((loose.held().len(), loose.are_all(), loose.is_one()), (MAX_LOOSE, true, false));
    }

    #[test]
    fn files_that_are_too_much_together_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes| {
            let path = folder.path().join(name);
            fs::File::create(&path).unwrap().set_len(bytes).unwrap();
            path
        };
        let (one, other) = (file("one.ts", MAX_LOOSE_BYTES - 1), file("other.ts", 1));
        assert_eq!(texts_of(vec![one.clone(), other.clone()]).map(|texts| texts.len()), Some(2));
        assert_eq!(texts_of(vec![one, other, file("more.ts", 1)]), None);
    }
}
