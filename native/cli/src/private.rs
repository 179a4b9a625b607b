//! Files that only the person may read.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Writes a file as a whole: who reads it meanwhile has what was there before. It and its folder are the person's alone.
pub(crate) fn write_private(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), String> {
    let written = || {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(folder)?;
        let fresh = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
            options.mode(0o600);
        }
        write(&mut options.open(&fresh)?)?;
        fs::rename(fresh, path)
    };
    written().map_err(|error: io::Error| format!("{} cannot be written ({error}).", path.display()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_written_is_for_nobody_else_and_replaces_what_was_there() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("state");
        let file = folder.join("token");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for text in ["one that is longer", "two"] {
            write_private(&file, |fresh| {
                fresh.write_all(text.as_bytes())?;
                assert_eq!(fresh.metadata()?.permissions().mode() & 0o777, 0o600);
                Ok(())
            })
            .unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        }
        let read = fs::File::open(&file).unwrap();
        write_private(&file, |_| Err(io::ErrorKind::StorageFull.into())).unwrap_err();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), read.metadata().unwrap().len()), ("two", 3));
    }
}
