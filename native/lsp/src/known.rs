//! Which servers answer for a file, and for which folder each is started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::belonging::{Belonging, Folders};
use crate::setup::Surroundings;
use crate::table::{Choice, Row};
use gateway_server::files::read_text;
use gateway_server::walk;

/// How long it is taken for true that a program is where it was found, or nowhere.
const FOUND_FOR: Duration = Duration::from_secs(5);

/// The servers that are known, and the folders.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) rows: Vec<Arc<Row>>,
    /// By their real paths.
    roots: Vec<PathBuf>,
    /// Which rows answer in each root, in their order.
    orders: Vec<Vec<usize>>,
    pub(crate) surroundings: Arc<Surroundings>,
    /// Where programs were found, and when they were looked for.
    found: Mutex<BTreeMap<usize, (Instant, Option<PathBuf>)>>,
}

/// A server that a document belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Home {
    pub(crate) row: usize,
    /// What it is started for.
    pub(crate) folder: Arc<Path>,
    /// The checkout that this folder is in.
    pub(crate) checkout: Arc<Path>,
}

impl Known {
    pub(crate) fn new(rows: Vec<Row>, roots: Vec<(PathBuf, Choice)>, surroundings: Surroundings) -> Self {
        let (roots, choices): (Vec<_>, Vec<_>) = roots.into_iter().unzip();
        Self {
            orders: choices.iter().map(|choice| choice.order(&rows)).collect(),
            rows: rows.into_iter().map(Arc::new).collect(),
            roots,
            surroundings: Arc::new(surroundings),
            found: Mutex::default(),
        }
    }

    /// Where a document belongs, its main server first. Blocks on the disk.
    pub(crate) fn homes(&self, path: &Path) -> Vec<Home> {
        self.homes_of(path, &mut Folders::below(&self.roots))
    }

    /// Of the servers that read the file, the first that can be started, or the first if none can, and those beside it.
    fn homes_of(&self, path: &Path, folders: &mut Folders<'_>) -> Vec<Home> {
        let Some(belonging) = path.parent().and_then(|folder| folders.belonging(folder)) else { return Vec::new() };
        let readers = self.orders[belonging.root].iter().copied();
        let readers = readers.filter(|row| self.rows[*row].language_of(path).is_some());
        let (beside, main): (Vec<_>, Vec<_>) = readers.partition(|row| self.rows[*row].beside);
        let chosen = main.iter().copied().find(|row| self.can_start(*row)).or(main.first().copied());
        let beside = beside.into_iter().filter(|row| self.can_start(*row));
        let rows: Vec<_> = chosen.into_iter().chain(beside).collect();
        rows.into_iter().map(|row| self.home(row, path, &belonging, folders)).collect()
    }

    /// Whether several of a server may run in one checkout, each for a part of it.
    pub(crate) fn has_parts(&self, row: usize) -> bool {
        self.has_environments(row) || !self.rows[row].markers.is_empty()
    }

    /// Whether a folder with an environment of Python of its own has a server of its own.
    fn has_environments(&self, row: usize) -> bool {
        self.rows[row].python && self.surroundings.is_trusted
    }

    fn home(&self, row: usize, path: &Path, belonging: &Belonging, folders: &mut Folders<'_>) -> Home {
        let Belonging { checkout, environment, .. } = belonging;
        let markers = &self.rows[row].markers;
        let folder = match (environment, path.parent()) {
            (Some(own), _) if self.has_environments(row) => Arc::clone(own),
            (_, Some(around)) if !markers.is_empty() => folders.marked(around, markers, checkout),
            _ => Arc::clone(checkout),
        };
        Home { row, folder, checkout: Arc::clone(checkout) }
    }

    /// For each server that the folders need, the first of its files that it can read, in the order of names, but for what
    /// [`walk`] passes over. Blocks on the disk.
    pub(crate) fn first_files(&self) -> Vec<(Home, PathBuf)> {
        let mut folders = Folders::below(&self.roots);
        let (mut seen, mut first) = (BTreeSet::new(), Vec::new());
        for entry in self.roots.iter().flat_map(|root| walk::below(root)).filter(|entry| !entry.is_folder) {
            let mut homes = self.homes_of(&entry.path, &mut folders);
            homes.retain(|home| !seen.contains(home));
            if !homes.is_empty() && read_text(&entry.path).is_some() {
                seen.extend(homes.iter().cloned());
                first.extend(homes.into_iter().map(|home| (home, entry.path.clone())));
            }
        }
        first.sort();
        first
    }

    /// Whether a server has something to say of a whole folder, or is missed there.
    pub(crate) fn is_of_workspace(&self, row: usize) -> bool {
        let known = &self.rows[row];
        known.is_missed() || !known.documents_only && self.can_start(row)
    }

    /// Whether a server can be started: its program is there, and it may be run. Blocks on the disk.
    pub(crate) fn can_start(&self, row: usize) -> bool {
        self.surroundings.allow(&self.rows[row]) && self.program(row).is_some()
    }

    /// Where the program of a server is. Blocks on the disk.
    pub(crate) fn program(&self, row: usize) -> Option<PathBuf> {
        let now = Instant::now();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = found.get(&row).filter(|(at, _)| now - *at < FOUND_FOR) {
            return program.clone();
        }
        let program = self.surroundings.programs.find(&self.rows[row]);
        found.insert(row, (now, program.clone()));
        program
    }
}
