//! The language servers that are known: a table, which the user's file adds to and changes, and of which a project's file
//! chooses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

const TRIED: &str = include_str!("servers.toml");
const UNTRIED: &str = include_str!("untried.toml");

/// One language server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of the table")]
pub struct Row {
    /// What the files of the user and of a project name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The ending of a file's name, and LSP's id of the language it is written in.
    pub languages: BTreeMap<String, String>,
    /// What it may be called on PATH, the best first; or where it is.
    pub programs: Vec<PathBuf>,
    /// What lies beside another program of that name, from the folder of its file.
    #[serde(default)]
    pub not_with: Vec<PathBuf>,
    /// With what it is started.
    #[serde(default)]
    pub args: Vec<String>,
    /// Whether it may read a project that nobody trusts: it runs no code that lies there.
    #[serde(default)]
    pub safe: bool,
    /// Whether it answers beside another server of the same language, and not in place of one.
    #[serde(default)]
    pub beside: bool,
    /// Whether it knows single documents only: a folder can do without it.
    #[serde(default)]
    pub documents_only: bool,
    /// Whether nobody has tried it, and its row is by its documents.
    #[serde(skip)]
    pub is_untried: bool,
    /// Whether it takes the libraries of Python from the environment that a folder has of its own.
    #[serde(default)]
    pub python: bool,
    /// What begins a folder that it is started for, where it is not started for the whole checkout.
    #[serde(default)]
    pub markers: Vec<String>,
    /// Whether it knows all files of the folder once it is ready, and not only those that it was given.
    #[serde(default = "yes")]
    pub has_index: bool,
    /// Whether it finds uses and symbols only in the projects that it has loaded: those of files that it was asked about.
    #[serde(default)]
    pub loads_projects: bool,
    /// Methods that it is not asked, since it does not answer them, or with a part.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// How it behaves.
    #[serde(default)]
    pub rule: Rule,
    /// What it is given at the start. In a text, `${cache}` stands for a folder of ours.
    #[serde(default)]
    pub options: Value,
    /// What it is answered when it asks for its settings.
    #[serde(default)]
    pub settings: Value,
    /// What a person can type to get it.
    pub install: String,
}

fn yes() -> bool {
    true
}

/// What shows that a server is ready, and what it has to be told so that it knows what was written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// It takes everything in its order, and lets requests wait until it can answer them.
    InOrder,
    /// So it does, but it takes a file for unchanged whose time of change is the same, as where it was written twice within
    /// a tick of the clock.
    ByTime,
    /// It logs how many source files it has found, each time that it has looked for them.
    Pyright,
    /// As Pyright, but it does not bear that a document is closed, and does not show that it knows of a file that is gone.
    Basedpyright,
    /// It tells of its index as work in progress, and publishes diagnostics with the version that they belong to. It takes no
    /// notice of files that it was not opened.
    Clangd,
    /// It tells whether it is quiescent, and shows on request which text it has of a file.
    RustAnalyzer,
    /// It lets requests wait until it can answer them, takes notice of files at a time of its own, and hands on requests to
    /// `tsserver`.
    TsServer,
    /// Nothing is known of it: whatever it answers may be a part.
    #[default]
    Unknown,
}

/// One of which nothing is known.
impl Default for Row {
    fn default() -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            languages: BTreeMap::new(),
            programs: Vec::new(),
            not_with: Vec::new(),
            args: Vec::new(),
            safe: false,
            beside: false,
            documents_only: false,
            is_untried: false,
            python: false,
            markers: Vec::new(),
            has_index: true,
            loads_projects: false,
            lacks: Vec::new(),
            rule: Rule::default(),
            options: Value::Null,
            settings: Value::Null,
            install: String::new(),
        }
    }
}

impl Row {
    /// LSP's id of the language of this file, if this server reads it.
    pub fn language_of(&self, path: &Path) -> Option<&str> {
        let ending = path.extension()?.to_str()?;
        self.languages.get(ending).map(String::as_str)
    }

    /// Whether it is never asked this.
    pub(crate) fn lacks(&self, method: &str) -> bool {
        self.lacks.iter().any(|lacking| lacking == method)
    }

    /// Whether its language is not served in a folder where it is missing, whoever asks.
    pub fn is_missed(&self) -> bool {
        !self.documents_only && !self.is_untried
    }

    /// Whether it logs how many source files it has found.
    pub(crate) fn counts_files(&self) -> bool {
        matches!(self.rule, Rule::Pyright | Rule::Basedpyright)
    }
}

/// Which of the servers answer in a folder, as a project's file says, or the user's for all folders.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// These before all others of the same language, the best first.
    #[serde(default)]
    prefer: Vec<Spanned<String>>,
    /// Not these.
    #[serde(default)]
    off: Vec<Spanned<String>>,
}

impl Choice {
    /// Reads a project's file, which may name servers of these rows: `prefer = ["ty"]`, `off = ["ruff"]`.
    pub fn of_project(text: &str, rows: &[Row]) -> Result<Self, BadFile> {
        let choice: Self = toml::from_str(text).map_err(|error| {
            let BadFile { line, reason } = BadFile::of(text, &error);
            BadFile { line, reason: format!("{reason}; the file of a project only has `prefer` and `off`") }
        })?;
        choice.check(text, rows)?;
        Ok(choice)
    }

    /// Both choices; what this one prefers comes first.
    #[must_use]
    pub fn before(mut self, general: Self) -> Self {
        self.prefer.extend(general.prefer);
        self.off.extend(general.off);
        self
    }

    fn check(&self, text: &str, rows: &[Row]) -> Result<(), BadFile> {
        let mut named = self.prefer.iter().chain(&self.off);
        match named.find(|name| !rows.iter().any(|row| row.name == *name.get_ref())) {
            Some(unknown) => Err(BadFile::at(text, unknown.span(), unknown_server(unknown.get_ref(), rows))),
            None => Ok(()),
        }
    }

    /// Which rows are left, in the order in which they answer.
    pub(crate) fn order(&self, rows: &[Row]) -> Vec<usize> {
        let is = |name: &Spanned<String>, row: usize| *name.get_ref() == rows[row].name;
        let place = |row: usize| self.prefer.iter().position(|name| is(name, row)).unwrap_or(usize::MAX);
        let mut order: Vec<_> = (0..rows.len()).filter(|row| !self.off.iter().any(|name| is(name, *row))).collect();
        order.sort_by_key(|row| place(*row));
        order
    }
}

/// What the user's file says of one server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    program: Option<Spanned<PathBuf>>,
    args: Option<Vec<String>>,
    languages: Option<BTreeMap<String, String>>,
    safe: Option<bool>,
    beside: Option<bool>,
    options: Option<Value>,
    settings: Option<Value>,
}

/// Why a file of the user or of a project is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadFile {
    line: usize,
    reason: String,
}

impl BadFile {
    fn at(text: &str, span: Range<usize>, reason: String) -> Self {
        let before = text.get(..span.start).unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, reason }
    }

    /// Without the piece of the file that the error itself shows.
    fn of(text: &str, error: &toml::de::Error) -> Self {
        Self::at(text, error.span().unwrap_or_default(), error.message().replace('\n', " "))
    }
}

/// The rows of the table, with what the user's file says.
///
/// ```toml
/// prefer = ["ty"]
/// off = ["ruff"]
///
/// [server.pyright]
/// program = "/where/it/is"
///
/// [server.of-mine]
/// program = "/opt/of-mine"
/// languages = { mine = "mine" }
/// ```
pub fn rows(users: &str) -> Result<(Vec<Row>, Choice), BadFile> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Users {
        #[serde(default)]
        prefer: Vec<Spanned<String>>,
        #[serde(default)]
        off: Vec<Spanned<String>>,
        #[serde(default)]
        server: BTreeMap<Spanned<String>, Entry>,
    }
    let mut rows = table(TRIED)?;
    let untried = table(UNTRIED)?;
    rows.extend(untried.into_iter().map(|row| Row { is_untried: true, has_index: false, ..row }));
    let Users { prefer, off, server } = toml::from_str(users).map_err(|error| BadFile::of(users, &error))?;
    for (name, entry) in server {
        let bad = |span: Range<usize>, reason| BadFile::at(users, span, reason);
        if let Some(program) = entry.program.as_ref().filter(|program| !program.get_ref().is_absolute()) {
            return Err(bad(program.span(), format!("`program` of `{}` must be an absolute path", name.get_ref())));
        }
        if let Some(row) = rows.iter_mut().find(|row| row.name == *name.get_ref()) {
            entry.change(row);
        } else {
            let row = entry.add(name.get_ref());
            let lacking = || format!("{}, or give it `program` and `languages`", unknown_server(name.get_ref(), &rows));
            rows.push(row.ok_or_else(|| bad(name.span(), lacking()))?);
        }
    }
    let choice = Choice { prefer, off };
    choice.check(users, &rows)?;
    Ok((rows, choice))
}

fn table(text: &str) -> Result<Vec<Row>, BadFile> {
    #[derive(Deserialize)]
    struct Table {
        server: Vec<Row>,
    }
    toml::from_str(text).map(|Table { server }| server).map_err(|error| BadFile::of(text, &error))
}

impl Entry {
    /// Changes a server that is known.
    fn change(self, row: &mut Row) {
        let Self { program, args, languages, safe, beside, options, settings } = self;
        if let Some(program) = program {
            row.programs = vec![program.into_inner()];
            row.not_with.clear();
        }
        row.args = args.unwrap_or(std::mem::take(&mut row.args));
        row.languages = languages.unwrap_or(std::mem::take(&mut row.languages));
        row.safe = safe.unwrap_or(row.safe);
        row.beside = beside.unwrap_or(row.beside);
        row.options = options.unwrap_or(std::mem::take(&mut row.options));
        row.settings = settings.unwrap_or(std::mem::take(&mut row.settings));
    }

    /// A server that is not known, if it is told where it is and what it reads.
    fn add(self, name: &str) -> Option<Row> {
        let mut row = Row {
            name: name.to_owned(),
            title: name.to_owned(),
            languages: self.languages.clone()?,
            programs: vec![self.program.as_ref()?.get_ref().clone()],
            has_index: false,
            install: "put it where your file says that it is".to_owned(),
            ..Row::default()
        };
        self.change(&mut row);
        Some(row)
    }
}

fn unknown_server(name: &str, rows: &[Row]) -> String {
    let known: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    format!("there is no server `{name}`; use one of {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Row> {
        rows("").unwrap().0
    }

    fn names(choice: &Choice, rows: &[Row]) -> Vec<String> {
        choice.order(rows).into_iter().map(|row| rows[row].name.clone()).collect()
    }

    #[test]
    fn the_table_can_be_read_and_no_two_rows_have_one_name() {
        let mut names: Vec<_> = known().into_iter().map(|row| row.name).collect();
        names.sort_unstable();
        let mut distinct = names.clone();
        distinct.dedup();
        assert!(names.len() >= 4);
        assert_eq!(names, distinct);
    }

    #[test]
    fn each_file_has_the_id_of_its_own_language() {
        let rows = known();
        let language = |file: &str| rows.iter().find_map(|row| row.language_of(Path::new(file)));
        assert_eq!(language("/p/a.tsx"), Some("typescriptreact"));
        assert_eq!(language("/p/a.d.ts"), Some("typescript"));
        assert_eq!(language("/p/a.c"), Some("c"));
        assert_eq!(language("/p/a.txt"), None);
        assert_eq!(language("/p/ts"), None);
    }

    #[test]
    fn the_users_file_changes_servers_adds_some_and_switches_some_off() {
        let text = "prefer = [\"own\", \"clangd\"]\noff = [\"pyright\"]\n[server.clangd]\nprogram = \"/opt/clangd\"\nargs = []\n\
                    [server.own]\nprogram = \"/opt/own\"\nlanguages = { own = \"mine\" }\nsettings = { own = { a = 1 } }";
        let (chosen, choice) = rows(text).unwrap();
        let find = |name: &str| chosen.iter().find(|row| row.name == name).unwrap();
        let clangd = find("clangd");
        assert_eq!((clangd.programs.as_slice(), clangd.args.len()), ([PathBuf::from("/opt/clangd")].as_slice(), 0));
        let own = find("own");
        assert_eq!((own.safe, own.rule, own.has_index), (false, Rule::Unknown, false));
        assert_eq!(own.settings, serde_json::json!({ "own": { "a": 1 } }));
        let order = names(&choice, &chosen);
        assert_eq!(order[..2], ["own", "clangd"]);
        assert!(!order.contains(&"pyright".to_owned()));
        assert_eq!(order.len(), chosen.len() - 1);
    }

    #[test]
    fn what_is_wrong_in_the_users_file_is_named_with_its_line() {
        let refused = |text| rows(text).unwrap_err().to_string();
        let unknown = refused("\n[server.klangd]\nprogram = \"/opt/clangd\"");
        assert!(unknown.starts_with("line 2: there is no server `klangd`; use one of "), "{unknown}");
        assert!(unknown.ends_with(", or give it `program` and `languages`"), "{unknown}");
        assert_eq!(
            refused("[server.clangd]\nprogram = \"clangd\""),
            "line 2: `program` of `clangd` must be an absolute path"
        );
        assert!(refused("[server.clangd]\nprogramm = \"/opt/clangd\"").starts_with("line 2: unknown field `programm`"));
        assert!(refused("off = [\n\"klangd\"]").starts_with("line 2: there is no server `klangd`"));
    }

    #[test]
    fn the_file_of_a_project_chooses_among_what_is_known_and_names_no_program() {
        let rows = known();
        let choice = Choice::of_project("prefer = [\"rust-analyzer\"]\noff = [\"clangd\"]", &rows).unwrap();
        let order = names(&choice, &rows);
        assert_eq!(order[0], "rust-analyzer");
        assert!(!order.contains(&"clangd".to_owned()));
        let refused = |text| Choice::of_project(text, &rows).unwrap_err().to_string();
        let (_, users) = super::rows("prefer = [\"pyright\", \"clangd\"]").unwrap();
        let both = Choice::of_project("prefer = [\"rust-analyzer\"]", &rows).unwrap().before(users);
        assert_eq!(names(&both, &rows)[..3], ["rust-analyzer", "pyright", "clangd"]);
        let program = refused("off = []\n[server.clangd]\nprogram = \"/p/trap\"");
        assert!(program.starts_with("line 2: unknown field `server`"), "{program}");
        assert!(program.ends_with("the file of a project only has `prefer` and `off`"), "{program}");
        assert!(refused("prefer = [\"klangd\"]").starts_with("line 1: there is no server `klangd`"));
    }
}
