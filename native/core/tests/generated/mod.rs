//! What the properties are tried on: a file system, and places, URIs and texts that collide.

use std::path::PathBuf;
use std::sync::Arc;

use gateway_core::ask::Raw;
use gateway_core::canonical::CanonicalSet;
use gateway_core::completeness::Completeness;
use gateway_core::error::ToolError;
use gateway_core::limits::{Limits, REQUEST_TIMEOUT};
use gateway_core::page::{PageSize, ResponseBudget};
use gateway_core::position::{MAX_COORDINATE, Position, Range};
use gateway_core::roots::{AllowedRoots, RealPaths};
use gateway_core::snapshots::Retained;
use gateway_core::texts::Texts;
use gateway_core::tool::{Arguments, Asked, Canonical, Registered};
use gateway_core::tools;
use gateway_core::uri::{CanonicalUri, PathStyle};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::in_memory::InMemory;

pub(crate) const BUDGET: ResponseBudget = ResponseBudget::new(usize::MAX, 0);

/// What the editor may name: files inside, among them some beyond ASCII and some behind links, the same ones spelled
/// otherwise, and much that has to be left out.
pub(crate) const URIS: [&str; 16] = [
    "file:///ws/a.ts",
    "file:///ws/b.ts",
    "file:///ws/B.ts",
    "file:///ws/%C3%A9.ts",
    "file:///ws/é.ts",
    "file:///ws/😀.ts",
    "file:///ws/\u{ffee}.ts",
    "file:///ws/a%20b.ts",
    "file:///ws/deep/er/a.ts",
    "file:///ws/link/a.ts",
    "file:///ws/a.ts#L1",
    "file:///ws/../ws/./b.ts?x",
    "file:///ws/gone.ts",
    "file:///outside/a.ts",
    "file:///ws/out/a.ts",
    "untitled:Untitled-1",
];

pub(crate) fn disk() -> InMemory {
    let names = ["a.ts", "b.ts", "B.ts", "é.ts", "😀.ts", "\u{ffee}.ts", "a b.ts", "deep/er/a.ts"];
    let files = names.iter().fold(InMemory::new(PathStyle::Posix), |disk, name| disk.with_file(&format!("/ws/{name}")));
    files
        .with_file("/outside/a.ts")
        .with_folder("/empty")
        .with_link("/ws/link", "deep/er")
        .with_link("/ws/out", "/outside")
}

pub(crate) fn roots(disk: &InMemory) -> AllowedRoots {
    AllowedRoots::resolve_in_style(&[PathBuf::from("/ws")], disk, PathStyle::Posix)
}

/// Small numbers, so that places collide, and now and then the largest.
pub(crate) fn position() -> impl Strategy<Value = Position> {
    let coordinate = || prop_oneof![8 => 0..3_u32, 2 => 9..11_u32, 1 => Just(MAX_COORDINATE)];
    (coordinate(), coordinate()).prop_map(|(line, character)| Position { line, character })
}

pub(crate) fn range() -> impl Strategy<Value = Range> {
    (position(), position()).prop_map(|(start, end)| Range { start, end })
}

pub(crate) fn uri() -> impl Strategy<Value = String> {
    select(&URIS[..]).prop_map(str::to_owned)
}

pub(crate) fn intern(uris: &mut Vec<String>, uri: &str) -> u32 {
    let index = uris.iter().position(|known| known == uri).unwrap_or_else(|| {
        uris.push(uri.to_owned());
        uris.len() - 1
    });
    u32::try_from(index).unwrap()
}

pub(crate) fn page_size(size: usize) -> PageSize {
    let limits = Limits::tightened(usize::MAX, usize::MAX, REQUEST_TIMEOUT);
    PageSize::clamped(Some(size as u64), &limits)
}

pub(crate) fn items(set: &CanonicalSet) -> Vec<Value> {
    let json = String::from_utf8(set.slice(0, set.len()).to_vec()).unwrap();
    serde_json::from_str(&format!("[{json}]")).unwrap()
}

/// A question to a tool, about `file:///ws/a.ts` or all of the workspace, and the answers to it.
pub(crate) struct Call {
    pub(crate) tool: Registered,
    pub(crate) uri: &'static str,
    pub(crate) answers: Vec<Raw>,
    pub(crate) texts: Written,
    pub(crate) outlines: Vec<(CanonicalUri, Option<Raw>)>,
}

/// The same text in every file.
pub(crate) struct Written(pub(crate) &'static str);

impl Texts for Written {
    fn text(&self, _: &CanonicalUri) -> Option<Arc<str>> {
        Some(self.0.into())
    }
}

impl Call {
    pub(crate) fn new(tool: &str, answers: impl Into<Vec<Raw>>) -> Self {
        Self {
            tool: tools::named(tool).unwrap(),
            uri: "file:///ws/a.ts",
            answers: answers.into(),
            texts: Written(""),
            outlines: Vec::new(),
        }
    }

    pub(crate) fn arguments(&self) -> Arguments {
        let place = json!({ "uri": self.uri, "position": { "line": 1, "character": 2 } });
        let at = json!({ "file": self.uri, "at": "1:2" });
        let tried = [
            place,
            json!({ "uri": self.uri }),
            at,
            json!({ "file": self.uri }),
            json!({ "symbol": "a" }),
            json!({ "query": "a" }),
            json!({}),
        ];
        tried.iter().find_map(|arguments| self.tool.read(arguments).ok()).unwrap()
    }

    pub(crate) fn canonical(&self, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<Canonical, ToolError> {
        self.with(roots, real, |asked| self.tool.canonicalize(&self.answers, asked))
    }

    /// Does something with the question as it is asked of the tool.
    pub(crate) fn with<T>(&self, roots: &AllowedRoots, real: &dyn RealPaths, work: impl FnOnce(&Asked<'_>) -> T) -> T {
        let question = &self.arguments().question;
        let uri = question.subject.uri();
        let document = uri.and_then(|uri| roots.admit(uri, &disk()).ok()).map(|document| document.uri);
        let (document, outlines) = (document.as_ref(), &*self.outlines);
        let completeness = Completeness::Confirmed;
        work(&Asked {
            question,
            document,
            in_tab: false,
            outlines,
            with_word: None,
            completeness,
            roots,
            real,
            texts: &self.texts,
        })
    }

    /// The full set of a paged tool.
    pub(crate) fn set(&self) -> Retained {
        let disk = disk();
        let Canonical::Set(retained) = self.canonical(&roots(&disk), &disk).unwrap() else { unreachable!() };
        retained
    }

    /// The payload of a tool that is not paged.
    pub(crate) fn payload(&self, budget: ResponseBudget) -> Result<Vec<u8>, ToolError> {
        let disk = disk();
        let Canonical::Whole(whole) = self.canonical(&roots(&disk), &disk)? else { unreachable!() };
        Ok(whole.payload(budget)?.before)
    }
}
