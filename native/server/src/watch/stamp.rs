//! What can be told of a file without reading it, and when that is not enough.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hasher as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two writes that are closer together than this may leave the same times on a file: FAT counts in steps of two seconds.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);
/// Files larger than this are not read. While their times are young they count as changed.
const MAX_READ: u64 = 4 << 20;

/// The state of one file at one moment, to be compared with a later one. Links are looked at themselves and not followed.
///
/// It is the device, the inode, the size and the times of modification and change; and, while these times are younger than
/// two seconds, the content as well, because a second write may leave the same times.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileState {
    stamp: Stamp,
    content: Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i64,
    /// Of the file or of what is known about it. Nobody can set it back.
    changed: i64,
}

#[derive(Debug, Clone, Copy)]
enum Content {
    /// The times were old: whatever is written later gets others.
    Settled,
    /// The times were young, and the content was not read.
    Unread,
    /// The times were young, and this is the hash of the content.
    Read(u64),
}

/// How a file is, beside what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    Same,
    /// The stamp is the same, and it was too young to be believed.
    Unsure,
    Different,
}

impl FileState {
    pub(super) fn id(&self) -> FileId {
        self.stamp.id()
    }

    /// Whether it was written so short a time ago that another write may have left the same stamp.
    pub(super) fn is_young(&self) -> bool {
        self.stamp.is_young()
    }

    /// The state that was found just now, and how it is beside the one before. Young files are read if that is wanted, or
    /// if they were read before.
    pub(super) fn compared(before: Option<&Self>, path: &Path, found: &Metadata, reads: bool) -> (Self, Likeness) {
        let stamp = Stamp::of(found);
        let is_young = stamp.is_young();
        let before = before.filter(|before| before.stamp == stamp).map(|before| before.content);
        let reads = reads && is_young || matches!(before, Some(Content::Read(_)));
        let hash = if reads { hash_of(path, found) } else { None };
        let likeness = match before {
            Some(Content::Settled) => Likeness::Same,
            Some(Content::Read(before)) if hash == Some(before) => Likeness::Same,
            Some(Content::Unread) => Likeness::Unsure,
            Some(Content::Read(_)) | None => Likeness::Different,
        };
        let content = match hash {
            _ if !is_young => Content::Settled,
            Some(hash) => Content::Read(hash),
            None => Content::Unread,
        };
        (Self { stamp, content }, likeness)
    }
}

impl Stamp {
    fn id(self) -> FileId {
        FileId { device: self.device, inode: self.inode }
    }

    fn is_young(&self) -> bool {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| nanoseconds(now.as_secs(), now.subsec_nanos()));
        let coarsest = nanoseconds(COARSEST_CLOCK.as_secs(), 0);
        // Times in the future are young for as long as they are.
        now.saturating_sub(self.modified.max(self.changed)) < coarsest
    }

    #[cfg(unix)]
    fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        let time = |seconds: i64, part: i64| seconds.saturating_mul(1_000_000_000).saturating_add(part);
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: time(found.mtime(), found.mtime_nsec()),
            changed: time(found.ctime(), found.ctime_nsec()),
        }
    }

    /// Without inodes, the time of creation tells one file from another in its place.
    #[cfg(not(unix))]
    fn of(found: &Metadata) -> Self {
        let time = |time: io::Result<SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            nanoseconds(since.as_secs(), since.subsec_nanos())
        };
        Self {
            device: 0,
            inode: time(found.created()).unsigned_abs(),
            size: found.len(),
            modified: time(found.modified()),
            changed: 0,
        }
    }
}

/// What tells a file or folder from another that has taken its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(super) fn of(found: &Metadata) -> Self {
        Stamp::of(found).id()
    }
}

/// Whether hard links give the file other names, by which it can be written to.
#[cfg(unix)]
pub(super) fn has_other_names(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

/// Where every folder is swept, each name is looked at anyhow.
#[cfg(not(unix))]
pub(super) fn has_other_names(_: &Metadata) -> bool {
    false
}

fn nanoseconds(seconds: u64, part: u32) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000_000).saturating_add(part.into())
}

/// A hash of what the file holds, or of where the link leads. Nothing else holds anything.
fn hash_of(path: &Path, found: &Metadata) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    if found.is_symlink() {
        hasher.write(fs::read_link(path).ok()?.as_os_str().as_encoded_bytes());
    } else if found.is_file() {
        hasher.write(&(found.len() <= MAX_READ).then(|| fs::read(path).ok())??);
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl FileState {
        fn of(path: &Path) -> Option<Self> {
            Some(Self::compared(None, path, &fs::symlink_metadata(path).ok()?, true).0)
        }

        fn is_current(&self, path: &Path) -> bool {
            fs::symlink_metadata(path)
                .is_ok_and(|found| Self::compared(Some(self), path, &found, true).1 == Likeness::Same)
        }
    }

    #[test]
    fn a_second_write_that_leaves_the_same_times_is_told_by_the_content() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a");
        fs::write(&file, "one").expect("a file");
        let one = FileState::of(&file).expect("it is there");
        assert!(one.is_current(&file));
        fs::write(&file, "two").expect("a file");
        let two = FileState::of(&file).expect("it is there");
        let same_times = FileState { stamp: two.stamp, ..one };
        assert!(matches!(one.content, Content::Read(_)), "it was just written");
        assert!(!one.is_current(&file) && !same_times.is_current(&file) && two.is_current(&file));
        let with = |content| FileState { stamp: two.stamp, content };
        assert!(with(Content::Settled).is_current(&file) && !with(Content::Unread).is_current(&file));
    }
}
