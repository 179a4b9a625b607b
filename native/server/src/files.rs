//! Files of projects, opened and read so that no link, no pipe and no size is a surprise.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use gateway_core::roots::RealPaths;

use crate::disk::Disk;

/// The largest file of which the text is read, in bytes.
pub const LARGEST_TEXT: u64 = 16 * 1024 * 1024;

/// The text of a file, if it is one of UTF-8 and not too large. Follows links, and blocks on the disk.
pub fn read_text(path: &Path) -> Option<Arc<str>> {
    // To open a pipe may never end.
    if fs::metadata(path).is_ok_and(|found| found.is_file()) { text_of(File::open(path).ok()?) } else { None }
}

/// The same of an open file. A byte order mark is no part of the text, for language servers as for VS Code.
pub(crate) fn text_of(file: File) -> Option<Arc<str>> {
    if !file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST_TEXT) {
        return None;
    }
    let mut text = String::new();
    file.take(LARGEST_TEXT).read_to_string(&mut text).ok()?;
    Some(Arc::from(text.strip_prefix('\u{feff}').unwrap_or(&text)))
}

/// Opens a real path, unless a link has come into its way since it was resolved.
#[cfg(target_os = "linux")]
pub(crate) fn open_in_place(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    // A pipe without a writer would be waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => Ok(opened.into()),
        // The system, or what it runs in, has no such call.
        Err(Errno::NOSYS | Errno::PERM) => open_and_look(path),
        Err(error) => Err(error.into()),
    }
}

/// Opens a real path, unless a link has come into its way since it was resolved.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_in_place(path: &Path) -> io::Result<File> {
    open_and_look(path)
}

fn open_and_look(path: &Path) -> io::Result<File> {
    if !path.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = File::open(path)?;
    let is_in_place = Disk.real_path(path).is_ok_and(|real| real == path);
    if is_in_place { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}
