//! How each server is started for a folder, so that it writes nothing there and runs nothing of it (H9).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::compile_commands::{self, Compilation};
use crate::process::{Spec, Supervisor};
use crate::programs::Programs;
use crate::server::Start;
use crate::table::{Row, Rule};

/// What is the same for all servers.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Where programs are found.
    pub programs: Programs,
    /// Whether the person trusts the folders: then what lies in them may be run.
    pub is_trusted: bool,
    /// A folder of our own, in which servers may keep what they have worked out; by its absolute path.
    pub cache: PathBuf,
    /// How our own program is started as a supervisor.
    pub supervisor: Supervisor,
}

impl Surroundings {
    /// Whether a server may be started here at all: it runs no code of the project, or the person trusts that.
    pub(crate) fn allow(&self, row: &Row) -> bool {
        row.safe || self.is_trusted
    }

    /// How a server is started whose program was found. Blocks on the disk.
    pub(crate) fn start(&self, row: &Row, program: PathBuf, root: &Path) -> io::Result<Start> {
        let cache = self.cache.join(&row.name).join(hash(root));
        fs::create_dir_all(&cache)?;
        let mut args: Vec<OsString> = row.args.iter().map(OsString::from).collect();
        let (mut options, mut settings, mut has_index) = (Value::Null, json!({}), true);
        // Where the folder is trusted, its own environment of Python may be on PATH.
        let mut env =
            if self.is_trusted { Vec::new() } else { vec![("PATH".into(), Some(self.programs.path().to_owned()))] };
        match row.rule {
            Rule::InOrder => {
                let preferences = json!({ "disableAutomaticTypeAcquisition": true });
                options = json!({ "disableAutomaticTypingAcquisition": true });
                settings = json!({ "typescript": preferences, "javascript": preferences, "js/ts": preferences });
            }
            Rule::Pyright => {
                let python = root.join(".venv/bin/python");
                if self.is_trusted && python.is_file() {
                    settings = json!({ "python": { "pythonPath": python } });
                }
            }
            Rule::Clangd => {
                let mut argument = OsString::from("--compile-commands-dir=");
                argument.push(&cache);
                args.push(argument);
                let Compilation { has_commands, flags } = compile_commands::copy(root, &cache)?;
                options = json!({ "clangdFileStatus": true, "fallbackFlags": flags });
                has_index = has_commands;
            }
            Rule::RustAnalyzer => {
                options = json!({
                    "cargo": { "buildScripts": { "enable": false }, "targetDir": cache.join("target") },
                    "procMacro": { "enable": false },
                    "checkOnSave": false,
                    "files": { "watcher": "client" },
                });
                settings = json!({ "rust-analyzer": options });
                env.push(("CARGO_TARGET_DIR".into(), Some(cache.join("target").into())));
            }
        }
        let spec = Spec { program, args, env, cwd: cache, supervisor: self.supervisor.clone() };
        Ok(Start { spec, root: root.to_owned(), options, settings, has_index })
    }
}

/// A name for a folder that no other has.
fn hash(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    digest.iter().take(8).fold(String::new(), |name, byte| format!("{name}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn started(name: &str, root: &Path, is_trusted: bool) -> Spec {
        let row = table::rows(None).unwrap().into_iter().find(|row| row.name == name).unwrap();
        let surroundings = Surroundings {
            programs: Programs::outside(&[root.to_owned()], root.as_os_str()),
            is_trusted,
            cache: root.join("cache"),
            supervisor: Supervisor { program: "/program".into(), args: Vec::new() },
        };
        surroundings.start(&row, "/server".into(), root).unwrap().spec
    }

    #[test]
    fn only_where_the_folders_are_trusted_does_a_server_get_a_path_that_leads_into_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(started("typescript", &root, false).env, [("PATH".into(), Some("".into()))]);
        assert_eq!(started("typescript", &root, true).env, []);
    }

    /// Without the argument it looks for commands itself, and writes its index beside them.
    #[test]
    fn clangd_looks_for_commands_in_our_folder_only_also_where_the_project_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let Spec { args, cwd, .. } = started("clangd", &root, true);
        assert!(cwd.starts_with(root.join("cache")));
        let mut argument = OsString::from("--compile-commands-dir=");
        argument.push(&cwd);
        assert!(args.contains(&argument), "{args:?}");
    }
}
