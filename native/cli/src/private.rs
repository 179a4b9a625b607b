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
