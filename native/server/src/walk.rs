//! What lies in a folder, what is ignored by `.gitignore` left out.

use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

/// How many files and folders are looked at.
pub const MAX_LOOKED_AT: usize = 50_000;

/// The files and folders, each folder by the order of names. Blocks on the disk.
pub fn entries(root: &Path) -> impl Iterator<Item = DirEntry> {
    let walk = WalkBuilder::new(root).require_git(false).follow_links(false).sort_by_file_name(Ord::cmp).build();
    walk.take(MAX_LOOKED_AT).flatten()
}

/// The folders alone, the root first.
pub fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    let is_folder = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
    entries(root).filter(is_folder).map(DirEntry::into_path)
}
