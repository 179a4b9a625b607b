//! Where the program keeps its own files, outside every project.

use std::env;
use std::path::PathBuf;

/// What the program's own folders are called.
const NAME: &str = "mcp-lsp-gateway";

/// What it remembers: which folders are trusted, and the token of HTTP.
pub(crate) fn state() -> Result<PathBuf, String> {
    below("XDG_STATE_HOME", ".local/state")
}

/// What the person has written for it.
pub(crate) fn config() -> Result<PathBuf, String> {
    below("XDG_CONFIG_HOME", ".config")
}

/// What can be worked out again.
pub(crate) fn cache() -> Result<PathBuf, String> {
    below("XDG_CACHE_HOME", ".cache")
}

fn below(variable: &str, otherwise: &str) -> Result<PathBuf, String> {
    let set = env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = set.or_else(|| Some(env::home_dir()?.join(otherwise)));
    folder.map(|folder| folder.join(NAME)).ok_or_else(|| format!("There is no home folder: set HOME or {variable}."))
}
