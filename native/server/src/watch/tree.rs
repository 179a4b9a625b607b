//! What is known to be under the roots, and the looks that keep it true. Events only say where to look: what has changed is
//! what a look finds to be different.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::changes::{Cause, Options, Status, Swept};
use super::ignore::{Ignore, Scope};
use super::log::{Found, Log};
use super::queue::{Event, Queue, Watched};
use super::stamp::{FileId, FileState, Likeness, has_other_names};

/// How many ignored files are followed.
const MAX_FOLLOWED: usize = 4_096;

/// Errors by which a folder says that nobody can look into it.
const DENIALS: [ErrorKind; 3] = [ErrorKind::PermissionDenied, ErrorKind::NotFound, ErrorKind::NotADirectory];

/// The folders and files under the roots as last seen.
#[derive(Debug)]
pub(super) struct Tree {
    scope: Scope,
    has_roots: bool,
    queue: Queue,
    folders: HashMap<Arc<Path>, Folder>,
    watched: Watched,
    /// The folders without a watch of their own, which have to be looked at for every answer.
    swept: BTreeSet<Arc<Path>>,
    /// The looks that are due. Folders come before what they hold.
    due: BTreeMap<PathBuf, How>,
    /// Files that were written by one of their names: events do not tell the others.
    written: BTreeSet<FileId>,
    files: usize,
    most_files: usize,
    /// How many looks there were, for others to see.
    looks: Arc<AtomicU64>,
    pub(super) log: Log,
}

#[derive(Debug)]
struct Folder {
    id: FileId,
    /// The number of its watch, or why it has none.
    watch: Result<i32, Cause>,
    entries: BTreeMap<Box<OsStr>, Entry>,
    /// Whether all its files are among the entries: not where there are more files than may be remembered.
    is_complete: bool,
}

#[derive(Debug)]
enum Entry {
    Folder,
    File(FileState),
}

/// How to look at a path. Any of it can go with any other.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
struct How {
    /// Something was done to it: what is there has changed, whatever its stamp.
    was_touched: bool,
    /// The folders in it are looked at as well, also those that are known.
    is_deep: bool,
    /// What was not known is no news.
    adopts: bool,
    /// It is another name of a file that was written.
    is_other_name: bool,
}

impl Tree {
    pub(super) fn new(options: &Options, looks: Arc<AtomicU64>) -> Self {
        Self {
            scope: Scope::default(),
            has_roots: false,
            queue: Queue::new(options.most_watches),
            folders: HashMap::new(),
            watched: HashMap::new(),
            swept: BTreeSet::new(),
            due: BTreeMap::new(),
            written: BTreeSet::new(),
            files: 0,
            most_files: options.most_files,
            looks,
            log: Log::new(options.most_changes),
        }
    }

    /// Whether roots were ever set, be it none.
    pub(super) fn has_roots(&self) -> bool {
        self.has_roots
    }

    /// Replaces the roots. What has to be looked at for that is due.
    pub(super) fn set_scope(&mut self, roots: Vec<PathBuf>, ignore: Ignore) {
        self.has_roots = true;
        let before = mem::replace(&mut self.scope, Scope::new(roots, ignore));
        self.leave_folders();
        for root in &self.scope.roots {
            if self.scope.ignore != before.ignore || !before.roots.contains(root) {
                require(&mut self.due, root.clone(), How { is_deep: true, adopts: true, ..How::default() });
            }
        }
    }

    /// Tells from now on what happens to a file although it is ignored. It counts as changed if that was so short a time ago
    /// that whoever knows of it may know what it was before. Of very many such files, the first are told no more.
    pub(super) fn follow(&mut self, path: &Path) {
        if self.scope.followed() == MAX_FOLLOWED {
            self.scope.follow_no_more();
            self.leave_folders();
        }
        if self.scope.follow(path) {
            // The folder that holds it, or the first on the way there that is not known.
            let unknown = path.ancestors().skip(1).take_while(|folder| !self.folders.contains_key(*folder));
            if let Some(folder) = unknown.last().or(path.parent()) {
                require(&mut self.due, folder.to_owned(), How { adopts: true, ..How::default() });
            }
        }
    }

    /// Forgets the folders that are outside the scope.
    fn leave_folders(&mut self) {
        let left: Vec<_> = self.folders.keys().filter(|folder| !self.scope.enters(folder)).cloned().collect();
        for folder in left {
            self.forget_one(&folder);
        }
    }

    /// Reads the queue until it is empty, and sees whether the roots are the folders that they were. What has to be looked
    /// at for that is due.
    pub(super) fn read_queue(&mut self) {
        let Self { scope, queue, watched, due, .. } = self;
        let everything = How { is_deep: true, ..How::default() };
        queue.read(|event| match event {
            Event::In { watch, name, is_folder, only_closed } => {
                let Some(folder) = watched.get(&watch) else { return };
                let path = folder.join(name);
                if scope.counts(&path) || is_folder && scope.enters(&path) {
                    // Each write was told when it was made. To close a file is no change, unless its stamp has changed.
                    require(due, path, How { was_touched: !only_closed, ..How::default() });
                }
            }
            Event::To { watch } => {
                if let Some(folder) = watched.get(&watch) {
                    require(due, folder.to_path_buf(), How::default());
                }
            }
            // The event before it has told that something was done to the folder.
            Event::Ended { watch } => drop(watched.remove(&watch)),
            Event::Lost => {
                for root in &scope.roots {
                    require(due, root.clone(), everything);
                }
            }
        });
        // No event tells that a folder above a root was moved, or that something was mounted there.
        for root in &scope.roots {
            let found = fs::symlink_metadata(root).ok().filter(Metadata::is_dir).map(|found| FileId::of(&found));
            if found != self.folders.get(root.as_path()).map(|known| known.id) && !due.contains_key(root) {
                require(due, root.clone(), everything);
            }
        }
    }

    /// Whether folders have to be swept.
    pub(super) fn has_swept(&self) -> bool {
        !self.swept.is_empty()
    }

    /// Makes a look at each folder without a watch due.
    pub(super) fn sweep(&mut self) {
        for folder in &self.swept {
            self.due.entry(folder.to_path_buf()).or_default();
        }
    }

    /// Looks at what is due, until about so many files and folders were looked at. Returns whether nothing is due any more.
    pub(super) fn look(&mut self, mut budget: usize) -> bool {
        while budget > 0 {
            if self.due.is_empty() {
                self.require_other_names();
            }
            let Some((path, how)) = self.due.pop_first() else { return true };
            budget = budget.saturating_sub(self.look_at(&path, how));
        }
        self.due.is_empty() && self.written.is_empty()
    }

    pub(super) fn status(&self) -> Status {
        let mut swept: BTreeMap<Cause, Swept> = BTreeMap::new();
        for folder in &self.swept {
            let cause = self.folders.get(folder).and_then(|known| known.watch.err()).unwrap_or(Cause::Refused);
            let same = swept.entry(cause).or_insert_with(|| Swept { cause, folders: 0, example: folder.to_path_buf() });
            same.folders += 1;
        }
        let is_unreadable =
            |(path, folder): &(&Arc<Path>, &Folder)| folder.watch.is_err() && !self.swept.contains(*path);
        Status {
            watched: self.watched.len(),
            files: self.files,
            swept: swept.into_values().collect(),
            unreadable: self.folders.iter().filter(is_unreadable).count(),
            overfull: self.folders.values().filter(|folder| !folder.is_complete).count(),
        }
    }

    /// Returns how much was looked at.
    fn look_at(&mut self, path: &Path, how: How) -> usize {
        self.looks.fetch_add(1, Ordering::Relaxed);
        // What used to be a folder may be a link by now, and lead to something else under the same name.
        let is_in_folder = path.parent().is_some_and(|parent| self.folders.contains_key(parent));
        if !is_in_folder && !self.scope.roots.iter().any(|root| root == path) {
            return 1;
        }
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => self.look_into(path, &found, how),
            found => {
                self.look_at_file(path, found.ok().as_ref(), how);
                1
            }
        }
    }

    /// Looks at what is no folder, or is not there.
    fn look_at_file(&mut self, path: &Path, found: Option<&Metadata>, how: How) {
        let was_folder = self.forget(path);
        let counts = self.scope.counts(path);
        let (parent, name) = (path.parent().and_then(|parent| self.folders.get_mut(parent)), path.file_name());
        let (Some(parent), Some(name)) = (parent, name) else {
            // A root.
            if was_folder && counts {
                self.log.note(path.to_owned(), true, if found.is_some() { Found::File } else { Found::Nothing });
            }
            return;
        };
        let before = parent.entries.remove(name);
        let existed = before.is_some() || was_folder || !parent.is_complete;
        let before = match before {
            Some(Entry::File(state)) => {
                self.files -= 1;
                Some(state)
            }
            _ => None,
        };
        if !counts {
            return;
        }
        let Some(found) = found else {
            if existed {
                self.log.note(path.to_owned(), true, Found::Nothing);
            } else {
                self.log.stir();
            }
            return;
        };
        let (state, likeness) = FileState::compared(before.as_ref(), path, found, parent.watch.is_err());
        if self.files < self.most_files {
            parent.entries.insert(name.into(), Entry::File(state));
            self.files += 1;
        } else {
            parent.is_complete = false;
        }
        // An event tells each write, so a stamp is believed here however young it is.
        if how.was_touched || likeness == Likeness::Different {
            if has_other_names(found) && !how.is_other_name {
                self.written.insert(state.id());
            }
            self.log.note(path.to_owned(), existed, Found::File);
        }
    }

    /// Looks at a folder and all that it holds; into the folders in it as far as they are not known.
    fn look_into(&mut self, path: &Path, found: &Metadata, how: How) -> usize {
        if !self.scope.enters(path) {
            return 1;
        }
        let id = FileId::of(found);
        let is_other = self.folders.get(path).is_some_and(|known| known.id != id) && self.forget(path);
        // The watch comes first: what turns up after the folder was listed is in the queue.
        let watch = self.watch(path, id);
        let listed = fs::read_dir(path);
        let (key, mut folder, is_new) = match self.folders.remove_entry(path) {
            Some((key, folder)) => (key, folder, false),
            None => (path.into(), Folder { id, watch, entries: BTreeMap::new(), is_complete: true }, true),
        };
        folder.watch = watch;
        // What may not be listed holds nothing that could be asked about. Any other failure may be over the next time.
        let is_denied = listed.as_ref().is_err_and(|error| DENIALS.contains(&error.kind()));
        let has_failed = listed.is_err() && !is_denied;
        if watch.is_err() && !is_denied || has_failed {
            self.swept.insert(Arc::clone(&key));
        } else {
            self.swept.remove(path);
        }
        if !folder.is_complete || has_failed {
            self.log.note_anything();
        }
        let existed = self.enter_in_parent(path) || is_other || !is_new;
        if self.scope.counts(path) && (is_new && !how.adopts || how.was_touched) {
            self.log.note(path.to_owned(), existed, Found::Folder);
        }
        let looked = if has_failed { 1 } else { self.compare(&key, &mut folder, listed.ok(), how) };
        self.folders.insert(key, folder);
        looked
    }

    /// Makes the entries of a folder those that were listed. Returns how much was looked at.
    fn compare(&mut self, path: &Path, folder: &mut Folder, listed: Option<fs::ReadDir>, how: How) -> usize {
        let mut before = mem::take(&mut folder.entries);
        let was_complete = mem::replace(&mut folder.is_complete, true);
        let mut looked = 1;
        for item in listed.into_iter().flatten().flatten() {
            let name = item.file_name();
            let child = path.join(&name);
            // It fails if the file is gone by now.
            let Ok(found) = item.metadata() else { continue };
            looked += 1;
            self.looks.fetch_add(1, Ordering::Relaxed);
            if found.is_dir() {
                if !self.scope.enters(&child) {
                    continue;
                }
                let known = self.folders.get(child.as_path()).is_some_and(|known| known.id == FileId::of(&found));
                // What is adopted is no news, by whichever way it is come upon.
                let is_adopted = self.due.get(&child).is_some_and(|due| due.adopts);
                if (!known || how.is_deep) && !is_adopted {
                    require(&mut self.due, child, How { was_touched: false, ..how });
                }
                if let Some((name, entry)) = before.remove_entry(name.as_os_str()) {
                    folder.entries.insert(name, entry);
                } else if known {
                    folder.entries.insert(name.into(), Entry::Folder);
                }
                continue;
            }
            if !self.scope.counts(&child) {
                continue;
            }
            let (name, entry) = match before.remove_entry(name.as_os_str()) {
                Some((name, entry)) => (name, Some(entry)),
                None => (name.into_boxed_os_str(), None),
            };
            let existed = entry.is_some();
            let state = match entry {
                // What is known already is looked at whenever there is a reason to.
                Some(known @ Entry::File(_)) if how.adopts => {
                    folder.entries.insert(name, known);
                    continue;
                }
                Some(Entry::File(state)) => {
                    self.files -= 1;
                    Some(state)
                }
                Some(Entry::Folder) => {
                    self.forget(&child);
                    None
                }
                None => None,
            };
            let (state, likeness) = FileState::compared(state.as_ref(), &child, &found, folder.watch.is_err());
            let is_news = existed || !how.adopts || self.scope.is_followed(&child) && state.is_young();
            if likeness != Likeness::Same && is_news {
                if has_other_names(&found) {
                    self.written.insert(state.id());
                }
                self.log.note(child, existed || !was_complete || how.adopts, Found::File);
            }
            if self.files < self.most_files {
                folder.entries.insert(name, Entry::File(state));
                self.files += 1;
            } else {
                folder.is_complete = false;
            }
        }
        for (name, entry) in before {
            let child = path.join(&*name);
            match entry {
                Entry::File(_) => self.files -= 1,
                Entry::Folder => drop(self.forget(&child)),
            }
            if self.scope.counts(&child) {
                self.log.note(child, true, Found::Nothing);
            }
        }
        looked
    }

    /// Makes looks at all names of the files due that were written by one of them.
    fn require_other_names(&mut self) {
        let written = mem::take(&mut self.written);
        if written.is_empty() {
            return;
        }
        let how = How { was_touched: true, is_other_name: true, ..How::default() };
        let names =
            self.folders.iter().flat_map(|(folder, known)| known.entries.iter().map(move |entry| (folder, entry)));
        self.due.extend(names.filter_map(|(folder, (name, entry))| match entry {
            Entry::File(state) if written.contains(&state.id()) => Some((folder.join(&**name), how)),
            _ => None,
        }));
    }

    /// Makes the folder an entry of the one that holds it. Returns whether something was there under its name.
    fn enter_in_parent(&mut self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let Some(parent) = self.folders.get_mut(parent) else { return false };
        let before = parent.entries.insert(name.into(), Entry::Folder);
        if matches!(before, Some(Entry::File(_))) {
            self.files -= 1;
        }
        before.is_some()
    }

    fn watch(&mut self, path: &Path, id: FileId) -> Result<i32, Cause> {
        let watch = self.queue.watch(path, &self.watched)?;
        if let Some(other) = self.watched.get(&watch).filter(|other| ***other != *path)
            && fs::symlink_metadata(other).is_ok_and(|found| FileId::of(&found) == id)
        {
            return Err(Cause::TwoNames);
        }
        // If it has another name still, it was moved here, and a look at its old place is due.
        self.watched.insert(watch, path.into());
        Ok(watch)
    }

    /// Forgets a folder that is gone, and notes all that was in it as deleted. Returns whether it was known.
    fn forget(&mut self, path: &Path) -> bool {
        let mut gone = vec![path.to_owned()];
        let mut is_known = false;
        while let Some(path) = gone.pop() {
            let Some(folder) = self.forget_one(&path) else { continue };
            is_known = true;
            if !folder.is_complete {
                self.log.note_anything();
            }
            for (name, entry) in folder.entries {
                let child = path.join(&*name);
                if self.scope.counts(&child) {
                    self.log.note(child.clone(), true, Found::Nothing);
                }
                if matches!(entry, Entry::Folder) {
                    gone.push(child);
                }
            }
        }
        is_known
    }

    fn forget_one(&mut self, path: &Path) -> Option<Folder> {
        let folder = self.folders.remove(path)?;
        self.swept.remove(path);
        self.files -= folder.entries.values().filter(|entry| matches!(entry, Entry::File(_))).count();
        if let Ok(watch) = folder.watch
            // By now it may be the watch of the folder's next name.
            && self.watched.get(&watch).is_some_and(|watched| **watched == *path)
        {
            self.watched.remove(&watch);
            self.queue.unwatch(watch);
        }
        Some(folder)
    }
}

/// Makes a look due. What is required twice is looked at in both ways.
fn require(due: &mut BTreeMap<PathBuf, How>, path: PathBuf, how: How) {
    due.entry(path)
        .and_modify(|other| {
            other.was_touched |= how.was_touched;
            other.is_deep |= how.is_deep;
            other.adopts &= how.adopts;
            other.is_other_name &= how.is_other_name;
        })
        .or_insert(how);
}
