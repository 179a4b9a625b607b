//! Which folders the person trusts: then language servers may be started that run what lies there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::folders;
use crate::private::write_private;

/// The folders that are trusted, by their real paths.
#[derive(Debug)]
pub(crate) struct Trusted {
    file: PathBuf,
    folders: Vec<PathBuf>,
}

impl Trusted {
    /// Reads what is remembered.
    pub(crate) fn read() -> Result<Self, String> {
        let file = folders::state()?.join("trusted.json");
        let folders = match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| format!("{} cannot be read ({error}): mend or remove it.", file.display()))?,
            Err(_) => Vec::new(),
        };
        Ok(Self { file, folders })
    }

    /// Whether each of these folders is trusted, or lies in one that is.
    pub(crate) fn has_all(&self, roots: &[PathBuf]) -> bool {
        roots.iter().all(|root| self.folders.iter().any(|folder| root.starts_with(folder)))
    }

    /// Remembers a folder.
    pub(crate) fn add(&mut self, folder: &Path) -> Result<(), String> {
        if !self.folders.iter().any(|known| known == folder) {
            self.folders.push(folder.to_owned());
            self.folders.sort();
        }
        self.write()
    }

    /// Forgets a folder. Returns whether another that is trusted still holds it.
    pub(crate) fn remove(&mut self, folder: &Path) -> Result<bool, String> {
        self.folders.retain(|known| known != folder);
        self.write()?;
        Ok(self.has_all(&[folder.to_owned()]))
    }

    fn write(&self) -> Result<(), String> {
        let text = serde_json::to_vec_pretty(&self.folders).map_err(|error| error.to_string())?;
        write_private(&self.file, |file| file.write_all(&text))
    }
}
