//! How a project says that its files are compiled. clangd keeps its index beside the commands that it reads, so it is given
//! a copy of them in a folder of ours, and never looks for them itself (H9).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use gateway_server::walk;

/// What clangd reads.
const COMMANDS: &str = "compile_commands.json";
/// The flags of all files of a folder, one on each line.
const FLAGS: &str = "compile_flags.txt";
/// Where clangd looks for commands in each folder on the way up from a file.
const PLACES: [&str; 2] = [COMMANDS, "build/compile_commands.json"];
/// A larger file of commands is copied as it is, in bytes; where there are several, that is an error.
const LARGEST_COMMANDS: u64 = 64 * 1_024 * 1_024;

/// Whether how files are compiled depends on a file of this name.
pub(crate) fn is_of_project(name: &str) -> bool {
    name == COMMANDS || name == FLAGS
}

/// How the files of a folder are compiled.
#[derive(Debug)]
pub(crate) struct Compilation {
    /// Whether that is said for each file. Then it was copied.
    pub(crate) has_commands: bool,
    /// The flags of all files, where there are no commands.
    pub(crate) flags: Vec<String>,
}

/// Copies the commands of a project into a folder of ours. Blocks on the disk.
pub(crate) fn copy(root: &Path, to: &Path) -> io::Result<Compilation> {
    let copy = to.join(COMMANDS);
    let files = commands_of(root);
    let has_commands = if let [only] = &*files
        && is_large(only)?
    {
        fs::copy(only, copy)?;
        true
    } else {
        let commands = joined(&files)?;
        fs::write(copy, serde_json::to_vec(&commands)?)?;
        !commands.is_empty()
    };
    Ok(Compilation { has_commands, flags: if has_commands { Vec::new() } else { flags_of(root) } })
}

/// The files of commands in the folder, or else in the nearest above that has one, by their real paths.
fn commands_of(root: &Path) -> Vec<PathBuf> {
    let of_folder = |folder: &Path| {
        let found = PLACES.iter().map(|name| folder.join(name)).find(|path| path.is_file());
        found.and_then(|path| path.canonicalize().ok())
    };
    let mut known = BTreeSet::new();
    let mut found: Vec<_> = walk::folders(root).filter_map(|folder| of_folder(&folder)).collect();
    found.retain(|path| known.insert(path.clone()));
    if found.is_empty() {
        found.extend(root.ancestors().skip(1).find_map(of_folder));
    }
    found
}

/// The commands of all files that are there. Of several for a file clangd takes the first; of one that is gone it would
/// take what it has indexed before for what is there.
fn joined(files: &[PathBuf]) -> io::Result<Vec<Box<RawValue>>> {
    let mut all: Vec<Box<RawValue>> = Vec::new();
    for file in files {
        if is_large(file)? {
            let most = LARGEST_COMMANDS >> 20;
            return Err(io::Error::other(format!(
                "{} is larger than {most} MiB; remove it, or all others",
                file.display()
            )));
        }
        match serde_json::from_slice::<Vec<Box<RawValue>>>(&fs::read(file)?) {
            Ok(commands) => all.extend(commands.into_iter().filter(|command| !is_gone(command))),
            // clangd passes over such a file as well.
            Err(error) => tracing::warn!(file = %file.display(), %error, "compile commands that cannot be read"),
        }
    }
    Ok(all)
}

fn is_large(file: &Path) -> io::Result<bool> {
    Ok(fs::metadata(file)?.len() > LARGEST_COMMANDS)
}

fn is_gone(command: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Command {
        directory: PathBuf,
        file: PathBuf,
    }
    serde_json::from_str::<Command>(command.get())
        .is_ok_and(|Command { directory, file }| directory.is_absolute() && !directory.join(file).exists())
}

/// The flags in the folder, or in the nearest above that has some, so that what they name lies where it did.
fn flags_of(root: &Path) -> Vec<String> {
    // To read what is no file, such as a pipe, may never end.
    let found = root.ancestors().find(|folder| folder.join(FLAGS).is_file());
    let Some(folder) = found else { return Vec::new() };
    let text = fs::read_to_string(folder.join(FLAGS)).unwrap_or_default();
    let flags = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned);
    flags.chain([format!("-working-directory={}", folder.display())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Project {
        _folder: tempfile::TempDir,
        root: PathBuf,
        ours: PathBuf,
    }

    impl Project {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let base = folder.path().canonicalize().unwrap();
            let (root, ours) = (base.join("project/root"), base.join("ours"));
            fs::create_dir_all(&root).unwrap();
            fs::create_dir_all(&ours).unwrap();
            for (name, text) in files {
                let path = root.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self { _folder: folder, root, ours }
        }

        fn copied(&self) -> Option<String> {
            let has_commands = copy(&self.root, &self.ours).unwrap().has_commands;
            has_commands.then(|| fs::read_to_string(self.ours.join(COMMANDS)).unwrap())
        }
    }

    #[test]
    fn the_commands_of_all_folders_count_also_where_git_ignores_the_build() {
        let files = [
            (".gitignore", "build\n"),
            ("a/build/compile_commands.json", r#"[{"file":"1"}]"#),
            ("b/compile_commands.json", r#"[{"file":"2"},{"file":"3"}]"#),
            ("b/build/compile_commands.json", "clangd takes the one above"),
            ("c/compile_commands.json", "is none"),
        ];
        let project = Project::new(&files);
        assert_eq!(project.copied().unwrap(), r#"[{"file":"1"},{"file":"2"},{"file":"3"}]"#);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_has_two_names_counts_once() {
        let project = Project::new(&[("build/compile_commands.json", r#"[{"file":"1"}]"#)]);
        std::os::unix::fs::symlink("build/compile_commands.json", project.root.join(COMMANDS)).unwrap();
        assert_eq!(project.copied().unwrap(), r#"[{"file":"1"}]"#);
    }

    #[test]
    fn commands_above_count_where_the_folder_has_none() {
        let project = Project::new(&[("../compile_commands.json", r#"["above"]"#), ("sub/a.c", "")]);
        assert_eq!(project.copied().unwrap(), r#"["above"]"#);
        fs::write(project.root.join(COMMANDS), r#"["own"]"#).unwrap();
        assert_eq!(project.copied().unwrap(), r#"["own"]"#);
    }

    #[test]
    fn commands_of_what_is_gone_do_not_count() {
        let project = Project::new(&[("here.c", "")]);
        let command = |file| serde_json::json!({ "directory": project.root, "file": file });
        let commands = [command("here.c"), command("gone.c")];
        fs::write(project.root.join(COMMANDS), serde_json::to_vec(&commands).unwrap()).unwrap();
        assert_eq!(project.copied().unwrap(), serde_json::to_string(&commands[..1]).unwrap());
        fs::remove_file(project.root.join("here.c")).unwrap();
        assert_eq!(project.copied(), None);
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_neither_commands_nor_flags() {
        let project = Project::new(&[]);
        for name in [COMMANDS, FLAGS] {
            let made = std::process::Command::new("mkfifo").arg(project.root.join(name)).status().unwrap();
            assert!(made.success());
        }
        let (told, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || told.send(project.copied()).unwrap());
        assert_eq!(heard.recv_timeout(std::time::Duration::from_secs(10)), Ok(None));
    }

    #[test]
    fn several_files_of_commands_are_bounded() {
        let project = Project::new(&[("a/compile_commands.json", "[]"), ("b/compile_commands.json", "[]")]);
        let large = fs::File::options().write(true).open(project.root.join("b/compile_commands.json")).unwrap();
        large.set_len(LARGEST_COMMANDS + 1).unwrap();
        let error = copy(&project.root, &project.ours).unwrap_err().to_string();
        assert!(error.ends_with("b/compile_commands.json is larger than 64 MiB; remove it, or all others"), "{error}");
    }
}
