//! What a tool is.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ask::{Ask, Raw, Subject};
use crate::completeness::Completeness;
use crate::cursor::Cursor;
use crate::epochs::{OF_SYMBOLS, Relevant};
use crate::error::ToolError;
use crate::keys::RequestKey;
use crate::limits::Limits;
use crate::page::{PageSize, Payload, ResponseBudget, WantedPage, Whole};
use crate::piece::Piece;
use crate::position::Range;
use crate::roots::{AllowedRoots, RealPaths};
use crate::schema::{Field, Schema};
use crate::snapshots::Retained;
use crate::texts::{Texts, WithWord};
use crate::uri::CanonicalUri;

/// A tool: all that tells it from the others. Whatever is the same for all of them stands elsewhere, once.
pub trait Tool: Send + Sync {
    /// The stable name on the wire.
    fn name(&self) -> &'static str;

    /// What people call it.
    fn title(&self) -> &'static str;

    /// What it does and when to use it, for models.
    fn description(&self) -> &'static str;

    /// The arguments.
    fn input(&self) -> Vec<Field>;

    /// The members of the answer.
    fn output(&self) -> Vec<Field>;

    /// What its answers depend on.
    fn epochs(&self) -> Relevant {
        OF_SYMBOLS
    }

    /// Reads the arguments.
    fn read(&self, arguments: &Value) -> Result<Arguments, Misfit>;

    /// What language servers are asked for this question.
    fn asks(&self, question: &Question) -> &'static [Ask];

    /// Whether it takes outlines of documents as well, once the question was answered.
    fn takes_outlines(&self, _question: &Question) -> bool {
        false
    }

    /// The documents whose outlines it takes, of which it is given the first [`MAX_OUTLINED`](crate::limits::MAX_OUTLINED).
    fn documents(&self, _answers: &[Raw], _asked: &Asked<'_>) -> Result<Vec<CanonicalUri>, ToolError> {
        Ok(Vec::new())
    }

    /// The word that a file has in it, if it has what this question is about: for where no server finds that.
    fn word(&self, _question: &Question) -> Option<String> {
        None
    }

    /// Whether it tells of languages themselves, so that none has to be ready.
    fn is_about_languages(&self) -> bool {
        false
    }

    /// Whether answers repeat something of what is written in files.
    fn reads_texts(&self, _question: &Question) -> bool {
        false
    }

    /// The question to put instead, where this one has found nothing.
    fn instead(&self, _question: &Question) -> Option<Question> {
        None
    }

    /// Makes of the answers, one for each ask, what may be returned.
    fn canonicalize(&self, answers: &[Raw], asked: &Asked<'_>) -> Result<Canonical, ToolError>;

    /// Whether the contract's first version has it. Any other is offered only where somebody chooses it.
    fn is_in_v1(&self) -> bool {
        true
    }

    /// Whether the catalog `core` has it: what clients really use.
    fn is_in_core(&self) -> bool {
        true
    }

    /// Whether its answers come in pages.
    fn is_paged(&self) -> bool {
        false
    }

    /// Of a paged tool whose lists are not compact: the page of its set that begins at the cursor.
    fn page(
        &self,
        _retained: &Retained,
        _cursor: &Cursor,
        _size: PageSize,
        _budget: ResponseBudget,
    ) -> Result<Payload, ToolError> {
        Err(ToolError::Internal)
    }
}

/// A tool that is registered. Its name stands for it.
#[derive(Clone, Copy)]
pub struct Registered(pub(crate) &'static dyn Tool);

impl Registered {
    /// What its arguments have to be.
    pub fn input_schema(self) -> Schema {
        Schema::titled(&format!("{}: input", self.title()), &self.input())
    }

    /// The page of its set that begins at the cursor, as the caller wants it.
    pub fn page_of(
        self,
        retained: &Retained,
        cursor: &Cursor,
        wanted: &WantedPage,
        limits: &Limits,
        budget: ResponseBudget,
    ) -> Result<Payload, ToolError> {
        match &retained.frame {
            Some(frame) => {
                let caveats = format!("{}{}", retained.omissions, retained.completeness);
                frame.page(&retained.set, &caveats, cursor, wanted, budget)
            }
            None => self.page(retained, cursor, PageSize::clamped(wanted.size, limits), budget),
        }
    }

    /// What its answers are.
    pub fn output_schema(self) -> Schema {
        Schema::titled(&format!("{}: output", self.title()), &self.output())
    }
}

impl Deref for Registered {
    type Target = dyn Tool;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Registered {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Registered {}

impl Ord for Registered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Registered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Registered {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What a call asks, whichever page of the answer it wants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question {
    /// What it is about.
    pub subject: Subject,
    /// What else the answer depends on.
    pub parameters: Vec<String>,
}

impl Question {
    pub(crate) fn about(subject: Subject) -> Self {
        Self { subject, parameters: Vec::new() }
    }

    /// The key of the question to this tool, about the document of this name if it is about one: everything that affects the
    /// answer is in it, and nothing else (contract section 7).
    pub fn request_key(&self, tool: Registered, document: Option<&CanonicalUri>) -> RequestKey {
        let mut text = tool.name().to_owned();
        let mut add = |part: &dyn fmt::Display| text = format!("{text}|{part}");
        if let Some(uri) = document {
            add(uri);
        }
        match &self.subject {
            Subject::Place { position, .. } => {
                add(&position.line);
                add(&position.character);
            }
            Subject::Workspace { query: Some(query) } => add(query),
            Subject::Document { .. } | Subject::Workspace { query: None } => {}
        }
        for parameter in &self.parameters {
            add(parameter);
        }
        RequestKey::of(format_args!("{text}"))
    }
}

/// Arguments, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// What is asked.
    pub question: Question,
    /// Of a paged tool: which page.
    pub page: Option<WantedPage>,
    /// Whether the document may be named by a path, and not only by a URI.
    pub by_path: bool,
    /// What is asked about, where no place says it.
    pub aim: Option<Aim>,
    /// The digest of the text for which alone the answer is wanted.
    pub expect: Option<String>,
}

impl Arguments {
    /// Of a question, and nothing else.
    pub(crate) fn of(question: Question) -> Self {
        Self { question, page: None, by_path: false, aim: None, expect: None }
    }
}

/// What is asked about, where no place says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aim {
    /// The symbol of this name: one in the document, or anywhere.
    Symbol(String),
    /// Where this stands in the document.
    Piece(Piece),
    /// The symbol that takes this range, if there is one, by its name; else what begins there.
    Range(Range),
}

/// Why arguments are not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// They do not fit the tool's schema, which says what is wrong.
    Schema,
    /// They fit, and yet nothing can be asked by them.
    Refused(ToolError),
}

/// Reads arguments as this type does. It takes what the tool's schema takes.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, Misfit> {
    // A list of its fields would pass for an object. No tool takes a list.
    match arguments {
        Value::Object(fields) if !fields.values().any(Value::is_array) => {
            T::deserialize(arguments).map_err(|_| Misfit::Schema)
        }
        _ => Err(Misfit::Schema),
    }
}

/// What was asked, of whom, and what may be spoken of.
pub struct Asked<'a> {
    /// The question.
    pub question: &'a Question,
    /// The document that it is about.
    pub document: Option<&'a CanonicalUri>,
    /// Whether the document is in an editor tab, where extensions report on it that report only on what is shown.
    pub in_tab: bool,
    /// The outlines of the documents that the tool has asked for; nothing of one that nobody outlines.
    pub outlines: &'a [(CanonicalUri, Option<Raw>)],
    /// Of a question that no server could answer: the files that have its [`word`](Tool::word).
    pub with_word: Option<&'a WithWord>,
    /// How far the answers can be believed to be complete.
    pub completeness: Completeness,
    /// What may be spoken of.
    pub roots: &'a AllowedRoots,
    /// The disk.
    pub real: &'a dyn RealPaths,
    /// What is written in files.
    pub texts: &'a dyn Texts,
}

/// What is made of answers.
#[derive(Debug)]
pub enum Canonical {
    /// Of a tool that is not paged.
    Whole(Box<dyn Whole>),
    /// Of a paged tool: the full set.
    Set(Retained),
}
