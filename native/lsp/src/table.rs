//! The language servers that are known: a table, to which the user's file may add how they are started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

const TABLE: &str = include_str!("servers.toml");

/// One language server, as the table has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the user's file names.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The ending of a file's name, and LSP's id of the language it is written in.
    pub languages: BTreeMap<String, String>,
    /// What it may be called on PATH, the best first; or where it is.
    pub programs: Vec<PathBuf>,
    /// With what it is started.
    pub args: Vec<String>,
    /// Whether it may read a project that nobody trusts: it runs no code that lies there.
    pub safe: bool,
    /// How it behaves.
    pub rule: Rule,
    /// What a person can type to get it.
    pub install: String,
}

/// What shows that a server is ready, and what it has to be told so that it knows what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// It takes everything in its order, and lets requests wait until it can answer them.
    InOrder,
    /// It logs how many source files it has found, each time that it has looked for them.
    Pyright,
    /// It tells of its index as work in progress, and publishes diagnostics with the version that they belong to. It takes no
    /// notice of files that it was not opened.
    Clangd,
    /// It tells whether it is quiescent, and shows on request which text it has of a file.
    RustAnalyzer,
}

impl Row {
    /// LSP's id of the language of this file, if this server reads it.
    pub fn language_of(&self, path: &Path) -> Option<&str> {
        let ending = path.extension()?.to_str()?;
        self.languages.get(ending).map(String::as_str)
    }
}

/// What the user's file says of one server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Override {
    /// Where it is.
    program: PathBuf,
    /// With what it is started, if not as the table says.
    args: Option<Vec<String>>,
}

/// Why the user's file is not taken. The text names what is wrong and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFile(String);

/// The rows of the table, with what the user's file says of them: `[pyright]`, then `program = "/where/it/is"` and, if it
/// needs others, `args = ["--stdio"]`.
pub fn rows(users: Option<&str>) -> Result<Vec<Row>, BadFile> {
    #[derive(Deserialize)]
    struct Table {
        server: Vec<Row>,
    }
    let Table { server: mut rows } = toml::from_str(TABLE).map_err(|error| BadFile(error.to_string()))?;
    let overrides: BTreeMap<String, Override> =
        toml::from_str(users.unwrap_or_default()).map_err(|error| BadFile(error.to_string()))?;
    for (name, Override { program, args }) in overrides {
        let Some(row) = rows.iter_mut().find(|row| row.name == name) else {
            let known: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
            return Err(BadFile(format!("there is no server `{name}`; use one of {}", known.join(", "))));
        };
        if !program.is_absolute() {
            return Err(BadFile(format!("`program` of `{name}` must be an absolute path")));
        }
        row.programs = vec![program];
        if let Some(args) = args {
            row.args = args;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_no_two_rows_want_the_same_files() {
        let rows = rows(None).unwrap();
        let endings: Vec<_> = rows.iter().flat_map(|row| row.languages.keys()).collect();
        let mut distinct = endings.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!((rows.len(), endings.len()), (4, distinct.len()));
    }

    #[test]
    fn each_file_has_the_id_of_its_own_language() {
        let rows = rows(None).unwrap();
        let language = |file: &str| rows.iter().find_map(|row| row.language_of(Path::new(file)));
        assert_eq!(language("/p/a.tsx"), Some("typescriptreact"));
        assert_eq!(language("/p/a.d.ts"), Some("typescript"));
        assert_eq!(language("/p/a.c"), Some("c"));
        assert_eq!(language("/p/a.txt"), None);
        assert_eq!(language("/p/ts"), None);
    }

    #[test]
    fn the_users_file_says_where_a_server_is_and_what_is_wrong_in_it_is_named() {
        let chosen = rows(Some("[clangd]\nprogram = \"/opt/clangd\"\nargs = []")).unwrap();
        let clangd = chosen.iter().find(|row| row.name == "clangd").unwrap();
        assert_eq!((clangd.programs.as_slice(), clangd.args.len()), ([PathBuf::from("/opt/clangd")].as_slice(), 0));
        let refused = |text| rows(Some(text)).unwrap_err().to_string();
        assert_eq!(
            refused("[klangd]\nprogram = \"/opt/clangd\""),
            "there is no server `klangd`; use one of typescript, pyright, clangd, rust-analyzer"
        );
        assert_eq!(refused("[clangd]\nprogram = \"clangd\""), "`program` of `clangd` must be an absolute path");
        assert!(refused("[clangd]\nprogramm = \"/opt/clangd\"").contains("line 2"));
    }
}
