//! How each server is started for a folder, so that it writes nothing there and runs nothing of it (H9).

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::belonging::environment_of;
use crate::compile_commands::{self, Compilation};
use crate::process::{Spec, Supervisor};
use crate::programs::Programs;
use crate::server::Start;
use crate::table::{Row, Rule};
use gateway_server::files::read_text;
use gateway_server::walk;

/// Of what an environment of Python tells those that are started in it.
const VIRTUAL_ENV: &str = "VIRTUAL_ENV";

/// What is the same for all servers.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Where programs are found.
    pub programs: Programs,
    /// The environment that we were started in.
    pub environment: BTreeMap<OsString, OsString>,
    /// Whether the person trusts the folders: then what lies in them may be run.
    pub is_trusted: bool,
    /// A folder of our own, in which servers may keep what they have worked out; by its absolute path.
    pub cache: PathBuf,
    /// How our own program is started as a supervisor.
    pub supervisor: Supervisor,
    /// How long a server runs that nobody asks.
    pub idle_end: Duration,
}

impl Surroundings {
    /// Whether a server may be started here at all: it runs no code of the project, or the person trusts that.
    pub(crate) fn allow(&self, row: &Row) -> bool {
        row.safe || self.is_trusted
    }

    /// How a server is started whose program was found. Blocks on the disk.
    pub(crate) fn start(&self, row: &Row, program: PathBuf, folder: &Path) -> io::Result<Start> {
        let cache = self.cache.join(&row.name).join(hash(folder));
        fs::create_dir_all(&cache)?;
        let mut args: Vec<OsString> = row.args.iter().map(OsString::from).collect();
        let (mut options, mut settings, mut has_index) = (row.options.clone(), row.settings.clone(), row.has_index);
        fill(&mut options, &cache.to_string_lossy());
        let mut env = self.env();
        let is_configured = !settings["python"]["pythonPath"].is_null();
        if let Some(environment) = self.python(folder).filter(|_| row.python && !is_configured) {
            let python = environment.join("bin").join("python");
            merge(&mut settings, json!({ "python": { "pythonPath": python } }));
            let path = self.environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
            let path = env::join_paths([environment.join("bin")].into_iter().chain(env::split_paths(&path)));
            env.push(("PATH".into(), path.ok()));
            env.push((VIRTUAL_ENV.into(), Some(environment.into())));
        }
        match row.rule {
            Rule::Clangd => {
                let mut argument = OsString::from("--compile-commands-dir=");
                argument.push(&cache);
                args.push(argument);
                let Compilation { has_commands, flags } = compile_commands::copy(folder, &cache)?;
                merge(&mut options, json!({ "fallbackFlags": flags }));
                has_index = has_commands;
            }
            Rule::RustAnalyzer => {
                merge(&mut options, json!({ "linkedProjects": cargo_workspaces(folder) }));
                settings = json!({ "rust-analyzer": options });
                env.push(("CARGO_TARGET_DIR".into(), Some(cache.join("target").into())));
            }
            _ => {}
        }
        let spec = Spec { program, args, env, cwd: cache, supervisor: self.supervisor.clone() };
        Ok(Start { spec, root: folder.to_owned(), options, settings, has_index })
    }

    /// What of the environment a server does not get, or gets in another way. In a folder that nobody trusts, nothing of it
    /// leads there.
    fn env(&self) -> Vec<(OsString, Option<OsString>)> {
        if self.is_trusted {
            return Vec::new();
        }
        let leads_inside = self.environment.iter().filter(|(_, value)| self.programs.leads_into_a_root(value));
        let left_out = leads_inside.filter(|(name, _)| *name != "PATH").map(|(name, _)| (name.clone(), None));
        left_out.chain([("PATH".into(), Some(self.programs.path().to_owned()))]).collect()
    }

    /// The environment of Python for a folder: its own, if that may be run, else the one that we were started in.
    fn python(&self, folder: &Path) -> Option<PathBuf> {
        let own = if self.is_trusted { environment_of(folder) } else { None };
        let active = || {
            let active = self.environment.get(&OsString::from(VIRTUAL_ENV))?;
            (self.is_trusted || !self.programs.leads_into_a_root(active)).then(|| PathBuf::from(active))
        };
        own.or_else(active).filter(|environment| environment.join("bin").join("python").is_file())
    }
}

/// The `Cargo.toml` of each workspace, and of each package above which there is none: rust-analyzer itself looks only in the
/// folder, above it, and one level below.
fn cargo_workspaces(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for below in walk::folders(folder) {
        let manifest = below.join("Cargo.toml");
        let Some(text) = read_text(&manifest) else { continue };
        let has_workspace = || toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("workspace"));
        let is_part = found.iter().any(|known| known.parent().is_some_and(|outer| below.starts_with(outer)));
        if !is_part || has_workspace() {
            found.push(manifest);
        }
    }
    found
}

/// Puts the path of a folder of ours where it is named.
fn fill(value: &mut Value, cache: &str) {
    match value {
        Value::String(text) => *text = text.replace("${cache}", cache),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, cache)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, cache)),
        _ => {}
    }
}

/// Puts the members of one object into another, deeply.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
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

    fn started(name: &str, root: &Path, is_trusted: bool) -> Start {
        let row = table::rows("").unwrap().0.into_iter().find(|row| row.name == name).unwrap();
        surroundings(root, is_trusted).start(&row, "/server".into(), root).unwrap()
    }

    fn surroundings(root: &Path, is_trusted: bool) -> Surroundings {
        let inside = env::join_paths([Path::new("/outside"), &root.join("lib")]).unwrap();
        fs::create_dir_all(root.join("lib")).unwrap();
        Surroundings {
            programs: Programs::outside(&[root.to_owned()], root.as_os_str()),
            environment: [("PATH", root.into()), ("NODE_PATH", inside), ("HOME", "/".into())]
                .map(|(name, value): (&str, OsString)| (name.into(), value))
                .into(),
            is_trusted,
            cache: root.join("cache"),
            supervisor: Supervisor { program: "/program".into(), args: Vec::new() },
            idle_end: Duration::MAX,
        }
    }

    #[test]
    fn only_where_the_folders_are_trusted_does_a_server_get_a_path_that_leads_into_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let env = started("typescript", &root, false).spec.env;
        assert_eq!(env, [("NODE_PATH".into(), None), ("PATH".into(), Some("".into()))]);
        assert_eq!(started("typescript", &root, true).spec.env, []);
    }

    /// Without the argument it looks for commands itself, and writes its index beside them.
    #[test]
    fn clangd_looks_for_commands_in_our_folder_only_also_where_the_project_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let Spec { args, cwd, .. } = started("clangd", &root, true).spec;
        assert!(cwd.starts_with(root.join("cache")));
        let mut argument = OsString::from("--compile-commands-dir=");
        argument.push(&cwd);
        assert!(args.contains(&argument), "{args:?}");
    }

    #[test]
    fn the_environment_of_python_is_that_of_the_folder_if_it_may_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let environment = |name: &str| {
            fs::create_dir_all(root.join(name).join("bin")).unwrap();
            fs::write(root.join(name).join("bin/python"), "").unwrap();
            fs::write(root.join(name).join("pyvenv.cfg"), "").unwrap();
            root.join(name)
        };
        let python = |root: &Path, is_trusted| started("pyright", root, is_trusted).settings["python"].take();
        assert_eq!(python(&root, true), Value::Null);
        let own = environment(".venv");
        assert_eq!(python(&root, true), json!({ "pythonPath": own.join("bin/python") }));
        assert_eq!(python(&root, false), Value::Null);

        // What the person has set counts before it.
        let (mut rows, _) = table::rows("[server.pyright]\nsettings.python.pythonPath = \"/mine\"").unwrap();
        rows.retain(|row| row.name == "pyright");
        let configured = surroundings(&root, true).start(&rows[0], "/server".into(), &root).unwrap();
        assert_eq!((&configured.settings["python"]["pythonPath"], configured.spec.env), (&json!("/mine"), Vec::new()));

        // One that is active counts where the folder has none, unless it lies in a folder that nobody trusts.
        let active = environment("lib/active");
        let of = |folder: &str, is_trusted| {
            let mut surroundings = surroundings(&root.join(folder), is_trusted);
            surroundings.environment.insert(VIRTUAL_ENV.into(), active.clone().into());
            surroundings.python(&root.join(folder))
        };
        assert_eq!(of("lib", false), None);
        assert_eq!(of("lib", true), Some(active.clone()));
        fs::create_dir(root.join("other")).unwrap();
        assert_eq!(of("other", false), Some(active));
    }

    #[test]
    fn rust_analyzer_is_told_of_every_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let package = "[package]\nname = \"a\"\n";
        for (name, text) in [
            ("one/Cargo.toml", "[workspace]\n"),
            ("one/member/Cargo.toml", package),
            ("one/fuzz/Cargo.toml", "[package]\nname = \"f\"\n[workspace]\n"),
            ("deep/below/Cargo.toml", package),
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        let found = ["deep/below", "one", "one/fuzz"].map(|name| root.join(name).join("Cargo.toml"));
        assert_eq!(cargo_workspaces(&root), found);
    }
}
