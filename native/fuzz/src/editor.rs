//! An editor that answers anything: what a seed says, late, never, or while something else changes.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use arbitrary::Unstructured;
use gateway_core::ask::{Ask, Raw, Shape, Subject};
use gateway_core::diagnostic::{RawDiagnostic, RawDiagnostics, RawReport, Severity};
use gateway_core::epochs::Epoch;
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::position::{MAX_COORDINATE, Position, Range};
use gateway_core::symbol::{
    RawDocumentSymbol, RawDocumentSymbols, RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind,
};
use gateway_server::editor::{Editor, EditorError, Language, MainDocument, OpenDocument, Readiness};
use gateway_server::gateway::{Gateway, Settings};

/// What a language server may name, by its index. The texts come from the one who knows the folders.
pub(crate) type Uris = Arc<Vec<String>>;

/// An answer whose URIs are indices into [`Uris`], other texts too.
#[derive(Clone, Default)]
pub(crate) struct Found {
    /// URI, range.
    pub(crate) places: Vec<(u32, Range)>,
    pub(crate) kind: u32,
    pub(crate) container: Option<u32>,
    pub(crate) severity: Option<u32>,
    /// How often the list is returned in one answer.
    pub(crate) times: u32,
}

/// How a question is answered.
#[derive(Clone, Copy, Default)]
pub(crate) enum Manner {
    #[default]
    Found,
    Unavailable,
    NotFound,
    Failed,
    Late(Duration),
    Never,
    /// An index that names nothing.
    Junk,
}

/// What happens while a question is on its way.
#[derive(Clone)]
pub(crate) enum Meanwhile {
    Bump(Epoch),
    Configure(Arc<dyn Fn() -> Settings + Send + Sync>),
}

#[derive(Default)]
pub(crate) struct Script {
    pub(crate) found: Found,
    pub(crate) declared: Option<(u32, Range)>,
    pub(crate) manner: Manner,
    pub(crate) meanwhile: Option<Meanwhile>,
    pub(crate) silent: bool,
    pub(crate) assumed: bool,
    pub(crate) in_tab: bool,
    pub(crate) gateway: Weak<Gateway<Scripted>>,
    /// Every URI that was to be opened or asked about.
    pub(crate) asked_about: BTreeSet<String>,
}

#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) uris: Uris,
    pub(crate) script: Arc<Mutex<Script>>,
}

impl Found {
    pub(crate) fn arbitrary(input: &mut Unstructured<'_>, uris: usize) -> arbitrary::Result<Self> {
        let mut places = Vec::new();
        for _ in 0..input.int_in_range(0..=12)? {
            places.push((input.int_in_range(0..=uris as u32 - 1)?, range(input)?));
        }
        Ok(Self {
            places,
            kind: input.int_in_range(1..=26)?,
            container: input.arbitrary::<bool>()?.then_some(0),
            severity: input.arbitrary::<bool>()?.then_some(2),
            times: if input.ratio(1, 100)? { input.int_in_range(1..=3_000)? } else { input.int_in_range(1..=4)? },
        })
    }

    /// Every place, once for each time, each time on lines further down.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, Range)> {
        (0..self.times).flat_map(|time| {
            self.places.iter().map(move |&(uri, range)| {
                let down =
                    |place: Position| Position { line: place.line.saturating_add(time).min(MAX_COORDINATE), ..place };
                (uri, Range { start: down(range.start), end: down(range.end) })
            })
        })
    }
}

pub(crate) fn range(input: &mut Unstructured<'_>) -> arbitrary::Result<Range> {
    let mut number = || -> arbitrary::Result<u32> {
        Ok(if input.ratio(1, 30)? { input.int_in_range(0..=MAX_COORDINATE)? } else { input.int_in_range(0..=5)? })
    };
    let start = Position { line: number()?, character: number()? };
    Ok(Range { start, end: Position { line: number()?, character: number()? } })
}

impl Scripted {
    pub(crate) fn script<T>(&self, change: impl FnOnce(&mut Script) -> T) -> T {
        change(&mut self.script.lock().expect("nobody panics while holding it"))
    }

    fn language(&self) -> Language {
        Language { id: "a".to_owned(), has_readiness_probe: !self.script(|script| script.silent) }
    }

    /// Notes what is asked about, lets happen what is to happen, and gives what was found.
    async fn answer(&self, uri: Option<&str>) -> Result<(Found, bool), EditorError> {
        let (found, manner, meanwhile, gateway) = self.script(|script| {
            script.asked_about.extend(uri.map(str::to_owned));
            (script.found.clone(), script.manner, script.meanwhile.take(), script.gateway.upgrade())
        });
        if let (Some(meanwhile), Some(gateway)) = (meanwhile, gateway) {
            match meanwhile {
                Meanwhile::Bump(epoch) => gateway.bump(epoch),
                Meanwhile::Configure(settings) => gateway.configure(settings()),
            }
        }
        match manner {
            Manner::Found => Ok((found, false)),
            Manner::Junk => Ok((found, true)),
            Manner::Unavailable => Err(EditorError::Unavailable(None)),
            Manner::NotFound => Err(EditorError::NotFound),
            Manner::Failed => Err(EditorError::Failed(None)),
            Manner::Late(after) => {
                tokio::time::sleep(after).await;
                Ok((found, false))
            }
            Manner::Never => pending().await,
        }
    }

    /// As many texts as there are URIs, for what is passed on as it is: where no path outside is put in, none comes out.
    fn texts(&self) -> (Vec<String>, u32) {
        let mut texts: Vec<String> = (0..self.uris.len()).map(|number| format!("text {}", number % 5)).collect();
        let name = texts.len() as u32;
        texts.extend(["\u{1f600}name".to_owned(), String::new()]);
        (texts, name)
    }

    /// The texts of an answer: the URIs, then a name and an empty one.
    fn strings(&self) -> (Vec<String>, u32) {
        let mut strings = self.uris.to_vec();
        let name = strings.len() as u32;
        strings.extend(["\u{1f600}name".to_owned(), String::new()]);
        (strings, name)
    }
}

fn off(index: u32, junk: bool) -> u32 {
    if junk { u32::MAX - 1 } else { index }
}

impl Editor for Scripted {
    async fn open(&self, uri: &str, position: Option<Position>) -> Result<OpenDocument, EditorError> {
        self.script(|script| script.asked_about.insert(uri.to_owned()));
        let line_length = position.and_then(|position| [10, 20].get(position.line as usize).copied());
        let language = self.language();
        let (ready, in_tab) = self.script(|script| (language.has_readiness_probe && !script.assumed, script.in_tab));
        Ok(OpenDocument { line_count: 2, line_length, language, ready, in_tab })
    }

    async fn ready(&self, _: &str, _: bool) -> Result<Readiness, EditorError> {
        let assumed = self.script(|script| script.assumed);
        if assumed {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(if assumed { Readiness::Assumed } else { Readiness::Shown })
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        Ok(vec![MainDocument { uri: self.uris[0].clone(), language: self.language() }])
    }

    async fn ask(&self, ask: Ask, subject: &Subject, _: Option<Duration>) -> Result<Raw, EditorError> {
        if ask.method == "textDocument/declaration" {
            let (uri, range) = self.script(|script| script.declared).ok_or(EditorError::Unavailable(None))?;
            let items = vec![RawTarget { uri, range, selection: None }];
            return Ok(Raw::Targets(RawTargets { uris: self.uris.to_vec(), items, without_range: 0 }));
        }
        let (found, junk) = self.answer(subject.uri()).await?;
        let kind = SymbolKind::of_lsp(found.kind).ok_or(EditorError::Failed(None))?;
        let off = |index| off(index, junk);
        Ok(match ask.shape {
            Shape::Targets => {
                let target = |(uri, range)| RawTarget { uri: off(uri), range, selection: None };
                let items = found.all().map(target).collect();
                Raw::Targets(RawTargets { uris: self.uris.to_vec(), items, without_range: 0 })
            }
            Shape::Locations => {
                let items = found.all().map(|(uri, range)| RawLocation { uri: off(uri), range }).collect();
                Raw::Locations(RawLocations { uris: self.uris.to_vec(), items, without_range: 0 })
            }
            Shape::Hovers => {
                let (mut strings, name) = self.texts();
                strings[name as usize] = "\u{1f600}\"\\".repeat(1 + found.times as usize * 20);
                let fragment = |(uri, range)| RawHoverFragment {
                    range: Some(range),
                    language: found.container,
                    value: if found.severity.is_some() { name } else { off(uri) },
                };
                Raw::Hovers(RawHovers { items: found.all().map(fragment).collect(), strings })
            }
            Shape::DocumentSymbols => {
                let (strings, _) = self.texts();
                let symbol = |(row, (text, range)): (u32, (u32, Range))| RawDocumentSymbol {
                    name: Some(off(text)),
                    kind,
                    range,
                    selection: None,
                    container_name: found.container,
                    parent: row.checked_sub(text + 1),
                };
                let items = (0..).zip(found.all()).map(symbol).collect();
                Raw::DocumentSymbols(RawDocumentSymbols { strings, items })
            }
            Shape::WorkspaceSymbols => {
                let (strings, name) = self.strings();
                let symbol = |(uri, range)| RawWorkspaceSymbol {
                    name: Some(name),
                    kind,
                    container_name: found.container,
                    uri: off(uri),
                    range: Some(range),
                };
                Raw::WorkspaceSymbols(RawWorkspaceSymbols { items: found.all().map(symbol).collect(), strings })
            }
            Shape::Diagnostics => {
                let (strings, name) = self.strings();
                let severity = found.severity.and_then(Severity::of_lsp);
                let report = |(uri, range): (u32, Range)| {
                    let diagnostic =
                        RawDiagnostic { range, severity, code: found.container, source: Some(name + 1), message: name };
                    // On the last line of what is made up, a document that was looked at and has nothing.
                    let diagnostic = (range.start.line != 5).then_some(diagnostic);
                    RawReport { uri: off(uri), diagnostic }
                };
                let items = found.all().map(report).collect();
                Raw::Diagnostics(RawDiagnostics { strings, items, incomplete: Vec::new() })
            }
            _ => ask.shape.nothing(),
        })
    }
}
