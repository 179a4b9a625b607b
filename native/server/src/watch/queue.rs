//! The system's own watches of folders, and the queue of what they saw.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::changes::Cause;

/// The folder that each watch is of.
pub(super) type Watched = HashMap<i32, Arc<Path>>;

/// Something that happened in a watched folder, or to it.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// To what has this name in the folder.
    In { watch: i32, name: &'a OsStr, is_folder: bool, only_closed: bool },
    /// To the folder itself.
    To { watch: i32 },
    /// The folder is no longer watched.
    Ended { watch: i32 },
    /// Events were lost.
    Lost,
}

#[cfg(target_os = "linux")]
pub(super) use linux::Queue;
#[cfg(not(target_os = "linux"))]
pub(super) use none::Queue;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::{Cause, Event, OsStr, Path, Watched};

    /// Where the system says how many watches a user may have.
    const SYSTEMS_BOUND: &str = "/proc/sys/fs/inotify/max_user_watches";
    /// Room for hundreds of events; one takes at most 272 bytes.
    const BUFFER: usize = 16 << 10;
    const ALL: WatchFlags = WatchFlags::MODIFY
        .union(WatchFlags::CLOSE_WRITE)
        .union(WatchFlags::ATTRIB)
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW);
    /// The magic numbers of file systems that other machines or processes write to: the kernel queues no event for that.
    const WRITTEN_ELSEWHERE: [u32; 17] = [
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x0102_1997, // 9P
        0x6573_5546, // FUSE, virtiofs
        0x00c3_6400, // Ceph
        0x6b41_4653, // AFS
        0x5346_414f, // OpenAFS
        0x7375_7245, // Coda
        0x564c,      // NCP
        0x0bd0_0bd0, // Lustre
        0x4750_4653, // GPFS
        0x0116_1970, // GFS2
        0x7461_636f, // OCFS2
        0x786f_4256, // VirtualBox
        0x7c7c_6673, // Parallels
    ];

    #[derive(Debug)]
    pub(in crate::watch) struct Queue {
        inotify: Option<OwnedFd>,
        bound: usize,
    }

    impl Queue {
        /// A queue for up to `bound` watches, and at most half of what the system lets a user have: others need some.
        pub(in crate::watch) fn new(bound: usize) -> Self {
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
            let systems = fs::read_to_string(SYSTEMS_BOUND).ok().and_then(|text| text.trim().parse::<usize>().ok());
            Self { inotify, bound: systems.map_or(bound, |systems| bound.min(systems / 2)) }
        }

        /// Watches the folder, and returns the number of its watch: one of those in `watched`, if the folder is watched
        /// already under whatever name.
        pub(in crate::watch) fn watch(&self, folder: &Path, watched: &Watched) -> Result<i32, Cause> {
            let inotify = self.inotify.as_ref().ok_or(Cause::NoQueue)?;
            let file_system = rustix::fs::statfs(folder).map_err(|_| Cause::Refused)?;
            if is_written_elsewhere(file_system.f_type) {
                return Err(Cause::FileSystem);
            }
            let watch = inotify::add_watch(inotify, folder, ALL).map_err(|error| match error {
                Errno::NOSPC | Errno::NOMEM => Cause::OutOfWatches,
                _ => Cause::Refused,
            })?;
            if watched.len() >= self.bound && !watched.contains_key(&watch) {
                self.unwatch(watch);
                return Err(Cause::OutOfWatches);
            }
            Ok(watch)
        }

        /// Ends a watch. One that has ended by itself does no harm: numbers are not used again.
        pub(in crate::watch) fn unwatch(&self, watch: i32) {
            if let Some(inotify) = &self.inotify {
                let _ = inotify::remove_watch(inotify, watch);
            }
        }

        /// Hands over all events, in their order, until there are no more.
        pub(in crate::watch) fn read(&self, mut each: impl FnMut(Event<'_>)) {
            let Some(inotify) = &self.inotify else { return };
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut events = Reader::new(inotify, &mut buffer);
            loop {
                let event = match events.next() {
                    Ok(event) => event,
                    Err(Errno::INTR) => continue,
                    Err(Errno::AGAIN) => return,
                    Err(_) => return each(Event::Lost),
                };
                let (watch, happened) = (event.wd(), event.events());
                if happened.contains(ReadFlags::QUEUE_OVERFLOW) {
                    each(Event::Lost);
                } else if happened.contains(ReadFlags::IGNORED) {
                    each(Event::Ended { watch });
                } else if let Some(name) = event.file_name() {
                    let only_closed = happened == ReadFlags::CLOSE_WRITE;
                    let is_folder = happened.contains(ReadFlags::ISDIR);
                    each(Event::In { watch, name: OsStr::from_bytes(name.to_bytes()), is_folder, only_closed });
                } else {
                    each(Event::To { watch });
                }
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "magic numbers have 32 bits")]
    fn is_written_elsewhere(magic: rustix::fs::FsWord) -> bool {
        WRITTEN_ELSEWHERE.contains(&(magic as u32))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_other_machines_write_to_is_known_by_its_number() {
            assert!(is_written_elsewhere(0x6969));
            assert!(is_written_elsewhere(0xff53_4d42));
            assert!(!is_written_elsewhere(0xef53), "ext4");
        }
    }
}

/// On other systems nothing is watched yet, and every folder is swept.
#[cfg(not(target_os = "linux"))]
mod none {
    use super::{Cause, Event, Path, Watched};

    #[derive(Debug)]
    pub(in crate::watch) struct Queue;

    #[expect(clippy::unused_self, reason = "the signatures are Linux's")]
    impl Queue {
        pub(in crate::watch) fn new(_: usize) -> Self {
            Self
        }

        pub(in crate::watch) fn watch(&self, _: &Path, _: &Watched) -> Result<i32, Cause> {
            Err(Cause::NoQueue)
        }

        pub(in crate::watch) fn unwatch(&self, _: i32) {}

        pub(in crate::watch) fn read(&self, _: impl FnMut(Event<'_>)) {}
    }
}
