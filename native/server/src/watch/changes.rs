//! What a watch is bounded by, and what it tells.

use std::path::PathBuf;

/// The bounds of a watch.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many folders are watched; and at most half as many as the system lets a user watch, for other programs need
    /// some. Folders beyond that are swept.
    pub most_watches: usize,
    /// How many files are remembered, at some 170 bytes each. Of folders with files beyond that, only events tell what
    /// changes; after events were lost, the answer is [`Changed::Many`].
    pub most_files: usize,
    /// How many changes are remembered. Whoever is further behind gets [`Changed::Many`].
    pub most_changes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_watches: 65_536, most_files: 500_000, most_changes: 8_192 }
    }
}

/// What has changed since a caller last knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The number to ask with the next time. It grows with all that happens, also with a file that has come and gone, which
    /// is not among the changes: an answer found meanwhile may still name it.
    pub sequence: u64,
    /// The paths.
    pub changed: Changed,
}

/// Which paths have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// These, by their order as bytes, each once.
    These(Vec<Change>),
    /// More than are remembered; any path may have changed.
    Many,
}

/// A path that is not as the caller last knew it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its real path: under a root, with no link on the way. A link is told by its own path; where it leads, by that of the
    /// target, if that is under a root.
    pub path: PathBuf,
    /// How it differs. A rename deletes one path and creates another.
    pub kind: Kind,
    /// Whether a folder is there now.
    pub is_folder: bool,
}

/// How a path differs. Folders are told as well: when they come and go, and when their attributes change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It was not there.
    Created,
    /// It was there, and was written, replaced, or given other attributes.
    Changed,
    /// It is not there any more. Of a folder, what was in it is told path by path as well.
    Deleted,
}

/// Why the changes cannot be told at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// The roots have not been walked yet.
    NotReady,
    /// Folders have to be swept, or too much has happened: [`Watch::catch_up_blocking`] tells.
    Slow,
}

/// Why a folder is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The system, or the bound of this watch, allows no more watches.
    OutOfWatches,
    /// Its file system is written to from elsewhere: a network's, or one in user space.
    FileSystem,
    /// The folder is watched under another name, where it is mounted as well.
    TwoNames,
    /// The system has refused to watch or to list it.
    Refused,
    /// The system watches nothing for this process.
    NoQueue,
}

/// How well the roots are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// How many folders are watched.
    pub watched: usize,
    /// How many files are remembered.
    pub files: usize,
    /// Folders that are swept for every answer, by cause. While there are any, [`Watch::catch_up`](super::Watch::catch_up) is [`Behind::Slow`].
    pub swept: Vec<Swept>,
    /// How many folders may not be listed. Nothing in them is known, and they are not swept.
    pub unreadable: usize,
    /// How many folders hold files beyond [`Options::most_files`].
    pub overfull: usize,
}

/// Folders that are swept for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The cause.
    pub cause: Cause,
    /// How many there are.
    pub folders: usize,
    /// The first of them.
    pub example: PathBuf,
}
