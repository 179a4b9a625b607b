//! What clients did lately, for the view that shows it: the last calls, who made them, how they ended and how long they
//! took. All of it is bounded, and nothing that a tool answered is in it.

mod clients;
mod latency;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gateway_core::error::{ErrorCode, ToolError};
use gateway_core::place;
use gateway_core::position::Position;
use gateway_core::tool::Registered;
use gateway_core::tools;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::session::SessionId;
use clients::{Client, ClientName, Clients};
use latency::{Latency, Slice};

/// How many calls are kept.
const MAX_CALLS_KEPT: usize = 200;
/// The longest text of a client's question that is kept, in bytes of UTF-8: a URI or a query.
const MAX_ABOUT_BYTES: usize = 4_096;

/// What clients did lately.
pub struct Activity {
    begun: Instant,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// How many calls have ended, which is the number of the last one.
    ended: u64,
    calls: VecDeque<Arc<Call>>,
    clients: Clients,
    counts: BTreeMap<(Registered, Option<ErrorCode>), u64>,
    latency: Latency,
}

/// A call that has ended.
#[derive(Debug)]
pub struct Ended<'a> {
    /// Which tool was called.
    pub tool: Registered,
    /// What it was asked about.
    pub about: About,
    /// How many items were answered, or why none.
    pub outcome: Result<usize, &'a ToolError>,
    /// Size of the response's body; 0 for an error.
    pub bytes: usize,
    /// How long it took.
    pub duration: Duration,
}

/// What a call asks about, as its client wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum About {
    /// The workspace as a whole, or nothing that could be read.
    #[default]
    Nothing,
    /// A document, and a place in it if the tool takes one.
    Document(Kept, Option<Position>),
    /// A name to look for.
    Query(Kept),
}

/// A text of a client, at most [`MAX_ABOUT_BYTES`] long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    text: String,
    is_whole: bool,
}

/// Why a call leads nowhere. `Display` is one sentence for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unopenable {
    /// It is too long ago.
    #[error("This call is not among the last {MAX_CALLS_KEPT} any more.")]
    Forgotten,
    /// It asked about no document, or about one that it was refused.
    #[error("This call asked about no file that clients may ask about.")]
    Nowhere,
    /// The file may not be asked about now.
    #[error("The file of this call is not in an allowed folder any more.")]
    Refused,
    /// There is no such file now.
    #[error("The file of this call does not exist any more.")]
    Gone,
}

#[derive(Debug)]
struct Call {
    number: u64,
    /// When it began, in milliseconds since 1970.
    at: u64,
    client: Arc<ClientName>,
    tool: Registered,
    about: About,
    outcome: Option<ErrorCode>,
    /// Whether it asked about a document that it was not refused.
    is_openable: bool,
    items: usize,
    bytes: usize,
    micros: u64,
}

/// What is new since somebody looked last.
#[derive(Debug)]
pub struct News {
    /// The number of the last call in it: from here on there is more to come.
    pub seen: u64,
    /// The slice of time that is not over, which will change.
    pub slice: u64,
    calls: Vec<Arc<Call>>,
    clients: Vec<(Client, bool)>,
    counts: Vec<(Registered, Option<ErrorCode>, u64)>,
    slices: Vec<Slice>,
}

impl Default for Activity {
    fn default() -> Self {
        Self { begun: Instant::now(), memory: Mutex::default() }
    }
}

impl Activity {
    /// Notes that a client began a session, and what it says of itself.
    pub fn session_begun(&self, session: SessionId, info: Option<&Value>) {
        let name = ClientName::read(info);
        self.memory().clients.begin(session, name);
    }

    /// Notes that a client ended its session.
    pub fn session_ended(&self, session: SessionId) {
        self.memory().clients.end(session);
    }

    /// Notes a call that has ended.
    pub fn call_ended(&self, session: SessionId, Ended { tool, about, outcome, bytes, duration }: Ended<'_>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let slice = latency::slice_at(self.begun.elapsed());
        let is_openable = about.is_document() && outcome.err().is_none_or(leaves_document_admitted);
        let code = outcome.err().map(ToolError::code);

        let mut memory = self.memory();
        memory.ended += 1;
        let number = memory.ended;
        let client = memory.clients.called(session, number, code.is_some());
        *memory.counts.entry((tool, code)).or_default() += 1;
        memory.latency.add(slice, micros, code.is_some());
        let forgotten = (memory.calls.len() == MAX_CALLS_KEPT).then(|| memory.calls.pop_front());
        memory.calls.push_back(Arc::new(Call {
            number,
            at: millis(now.saturating_sub(duration)),
            client,
            tool,
            about,
            outcome: code,
            is_openable,
            items: outcome.unwrap_or_default(),
            bytes,
            micros,
        }));
        drop(memory);
        // Freed where nobody waits for it.
        drop(forgotten);
    }

    /// The calls after that of number `seen`, and the slices of time from `slice` on; all that is kept for 0 and 0.
    pub fn since(&self, seen: u64, slice: u64) -> News {
        let now = latency::slice_at(self.begun.elapsed());
        let memory = self.memory();
        let mut counts: Vec<_> = memory.counts.iter().map(|(&(tool, code), &count)| (tool, code, count)).collect();
        counts.sort_by_key(|&(tool, ..)| tools::ALL.iter().position(|other| *other == tool));
        News {
            seen: memory.ended,
            slice: now,
            calls: memory.calls.iter().filter(|call| call.number > seen).map(Arc::clone).collect(),
            clients: memory.clients.all(),
            counts,
            slices: memory.latency.since(slice, now),
        }
    }

    /// The URI and the position that the call of this number asked about.
    pub(crate) fn document_of(&self, number: u64) -> Result<(String, Option<Position>), Unopenable> {
        let memory = self.memory();
        let call = memory.calls.iter().find(|call| call.number == number).ok_or(Unopenable::Forgotten)?;
        match &call.about {
            About::Document(uri, position) if call.is_openable => Ok((uri.text.clone(), *position)),
            _ => Err(Unopenable::Nowhere),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a call that failed like this may have been about a document that the roots allow and that exists.
fn leaves_document_admitted(error: &ToolError) -> bool {
    let is_refused = matches!(
        error.code(),
        ErrorCode::InvalidParams | ErrorCode::WorkspaceDenied | ErrorCode::UriInvalid | ErrorCode::CursorInvalid
    );
    !is_refused && *error != ToolError::DocumentNotFound
}

fn millis(since_1970: Duration) -> u64 {
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

impl About {
    /// What the arguments of a tool ask about. They need not fit its schema.
    pub fn of(arguments: &Value) -> Self {
        let position = arguments.get("position");
        let coordinate = |name| position?.get(name)?.as_u64().and_then(|number| u32::try_from(number).ok());
        let text = |name| arguments.get(name).and_then(Value::as_str);
        if let Some(uri) = text("uri").or_else(|| text("file")) {
            let position = coordinate("line").zip(coordinate("character"));
            let position = position.map(|(line, character)| Position { line, character });
            let at = || Some(place::read(text("at")?)?.ok()?.start);
            Self::document(uri.to_owned(), position.or_else(at))
        } else if let Some(query) = text("query").or_else(|| text("symbol")) {
            Self::Query(Kept::of(query.to_owned()))
        } else {
            Self::Nothing
        }
    }

    /// A document, and a place in it.
    pub fn document(uri: String, position: Option<Position>) -> Self {
        Self::Document(Kept::of(uri), position)
    }

    fn is_document(&self) -> bool {
        matches!(self, Self::Document(uri, _) if uri.is_whole)
    }
}

impl Kept {
    fn of(mut text: String) -> Self {
        let is_whole = text.len() <= MAX_ABOUT_BYTES;
        if !is_whole {
            let is_end = |end: &usize| text.is_char_boundary(*end);
            text.truncate((0..=MAX_ABOUT_BYTES).rev().find(is_end).unwrap_or_default());
            text.shrink_to_fit();
        }
        Self { text, is_whole }
    }
}

impl News {
    /// As JSON for the view, whose `activity.ts` reads it. It crosses several processes, so each text is in it once.
    pub fn to_json(&self) -> String {
        let mut texts = Texts::default();
        let calls = self.calls.iter().map(|call| texts.cells_of(call)).collect();
        let told = ToldNews {
            slice: self.slice,
            calls,
            texts: texts.all,
            clients: self.clients.iter().map(|(client, is_open)| ToldClient::of(client, *is_open)).collect(),
            counts: self.counts.iter().map(|&(tool, code, count)| (tool.name(), outcome(code), count)).collect(),
            slices: self.slices.iter().map(Slice::summary).collect(),
        };
        // Strings and numbers only, which always encode.
        serde_json::to_string(&told).unwrap_or_default()
    }
}

fn outcome(code: Option<ErrorCode>) -> &'static str {
    code.map_or("answered", ErrorCode::name)
}

#[derive(Serialize)]
struct ToldNews<'a> {
    slice: u64,
    texts: Vec<&'a str>,
    calls: Vec<[Option<u64>; 14]>,
    clients: Vec<ToldClient<'a>>,
    counts: Vec<(&'static str, &'static str, u64)>,
    slices: Vec<latency::Summary>,
}

/// Every text of some calls once.
#[derive(Default)]
struct Texts<'a> {
    all: Vec<&'a str>,
    known: HashMap<&'a str, u64>,
}

impl<'a> Texts<'a> {
    /// The number under which the text is told.
    fn number(&mut self, text: &'a str) -> u64 {
        *self.known.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() as u64 - 1
        })
    }

    /// A call as numbers, with those of its texts.
    fn cells_of(&mut self, call: &'a Call) -> [Option<u64>; 14] {
        let (uri, query, position) = match &call.about {
            About::Nothing => (None, None, None),
            About::Document(uri, position) => (Some(self.number(&uri.text)), None, *position),
            About::Query(query) => (None, Some(self.number(&query.text)), None),
        };
        let (name, version) = call.client.parts();
        [
            Some(call.number),
            Some(call.at),
            Some(self.number(name)),
            Some(self.number(version)),
            Some(self.number(call.tool.name())),
            uri,
            query,
            position.map(|position| position.line.into()),
            position.map(|position| position.character.into()),
            Some(self.number(outcome(call.outcome))),
            Some(call.is_openable.into()),
            Some(call.items as u64),
            Some(call.bytes as u64),
            Some(call.micros),
        ]
    }
}

#[derive(Serialize)]
struct ToldClient<'a> {
    name: &'a str,
    version: &'a str,
    calls: u64,
    failed: u64,
    open: bool,
}

impl<'a> ToldClient<'a> {
    fn of(client: &'a Client, open: bool) -> Self {
        let (name, version) = client.name.parts();
        Self { name, version, calls: client.calls, failed: client.failed, open }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Profile;
    use crate::session::{Revision, Sessions};

    const PLACE: Position = Position { line: 13, character: 61 };

    fn sessions() -> Sessions {
        Sessions::new(&[7; 32], "workspace", &[], Box::new(|_| {}))
    }

    fn session(sessions: &Sessions) -> SessionId {
        sessions.mint(Revision::Current, Profile::Offered).expect("a session")
    }

    fn ended(about: About, outcome: Result<usize, &ToolError>) -> Ended<'_> {
        Ended {
            tool: tools::named("vscode.lsp.hover").unwrap(),
            about,
            outcome,
            bytes: 300,
            duration: Duration::from_micros(2_500),
        }
    }

    fn in_ship() -> About {
        About::document("file:///w/src/ship.ts".to_owned(), Some(PLACE))
    }

    fn told(news: &News) -> Value {
        serde_json::from_str(&news.to_json()).expect("JSON")
    }

    #[test]
    fn a_call_is_told_with_its_client_place_outcome_items_and_duration() {
        let (activity, sessions) = (Activity::default(), sessions());
        let client = session(&sessions);
        activity.session_begun(client, Some(&json!({ "name": "codex", "version": "1.2" })));
        activity.call_ended(client, ended(in_ship(), Ok(4)));
        activity.call_ended(client, ended(About::of(&json!({ "query": "convoy" })), Err(&ToolError::WarmingUp)));

        let mut news = told(&activity.since(0, 0));
        for call in news["calls"].as_array_mut().expect("calls") {
            assert!(call[1].take().as_u64().is_some_and(|at| at > 1_600_000_000_000), "when it began");
        }
        let expected = json!({
            "slice": 0,
            "texts": ["file:///w/src/ship.ts", "codex", "1.2", "vscode.lsp.hover", "answered", "convoy", "CAP_EXCEEDED"],
            "calls": [
                [1, null, 1, 2, 3, 0, null, 13, 61, 4, 1, 4, 300, 2500],
                [2, null, 1, 2, 3, null, 5, null, null, 6, 0, 0, 300, 2500],
            ],
            "clients": [{ "name": "codex", "version": "1.2", "calls": 2, "failed": 1, "open": true }],
            "counts": [["vscode.lsp.hover", "answered", 1], ["vscode.lsp.hover", "CAP_EXCEEDED", 1]],
            "slices": [{ "index": 0, "calls": 2, "failed": 1, "p50": 2304, "p95": 2304 }],
        });
        assert_eq!(news, expected);
    }

    #[test]
    fn the_last_200_calls_are_kept_and_only_new_ones_told() {
        let (activity, sessions) = (Activity::default(), sessions());
        let client = session(&sessions);
        for _ in 0..250 {
            activity.call_ended(client, ended(in_ship(), Ok(1)));
        }
        let news = activity.since(0, 0);
        let numbers: Vec<u64> = news.calls.iter().map(|call| call.number).collect();
        assert_eq!(numbers, (51..=250).collect::<Vec<_>>());
        assert_eq!(news.seen, 250);
        assert_eq!(activity.since(248, 0).calls.len(), 2);
        assert!(activity.since(250, 0).calls.is_empty());
        assert_eq!(activity.document_of(50), Err(Unopenable::Forgotten));
        assert!(activity.document_of(51).is_ok());
    }

    #[test]
    fn the_texts_of_a_question_are_cut_and_one_that_was_leads_nowhere() {
        let (activity, sessions) = (Activity::default(), sessions());
        let client = session(&sessions);
        // Of two bytes each, so that the cut would fall into one of them if it were made anywhere.
        let long = format!("f{}", "é".repeat(4_000));
        activity.call_ended(client, ended(About::of(&json!({ "uri": long })), Ok(1)));
        activity.call_ended(client, ended(About::of(&json!({ "query": long })), Ok(1)));
        let news = told(&activity.since(0, 0));
        // The same text for both, so it is told once.
        assert_eq!(news["texts"][0], format!("f{}", "é".repeat(2_047)));
        assert_eq!((&news["calls"][0][5], &news["calls"][1][6]), (&json!(0), &json!(0)));
        assert_eq!(news["calls"][0][10], 0, "it may not be opened");
        assert_eq!(activity.document_of(1), Err(Unopenable::Nowhere));
    }

    #[test]
    fn what_was_refused_leads_nowhere() {
        let (activity, sessions) = (Activity::default(), sessions());
        let client = session(&sessions);
        let refused = [
            ToolError::OutsideRoots,
            ToolError::NoRoots,
            ToolError::UriMalformed("it has a query"),
            ToolError::UriUnresolvable,
            ToolError::InvalidParams("`position` is required.".to_owned()),
            ToolError::DocumentNotFound,
            ToolError::CursorInvalid("it cannot be decoded"),
        ];
        for error in &refused {
            activity.call_ended(client, ended(in_ship(), Err(error)));
        }
        activity.call_ended(client, ended(in_ship(), Err(&ToolError::LineNotFound { line: 13, line_count: 2 })));
        for number in 1..=7 {
            assert_eq!(activity.document_of(number), Err(Unopenable::Nowhere), "{number}");
        }
        assert_eq!(activity.document_of(8), Ok(("file:///w/src/ship.ts".to_owned(), Some(PLACE))));
    }

    #[test]
    fn arguments_that_fit_no_schema_are_about_what_can_be_read_of_them() {
        let at = |uri: &str, position| About::document(uri.to_owned(), position);
        let cases = [
            (json!({}), About::Nothing),
            (json!([1]), About::Nothing),
            (json!({ "uri": 3, "position": {} }), About::Nothing),
            (json!({ "uri": "a", "position": { "line": 1 } }), at("a", None)),
            (json!({ "uri": "a", "position": { "line": -1, "character": 2 } }), at("a", None)),
            (json!({ "uri": "a", "position": { "line": 13, "character": 61 } }), at("a", Some(PLACE))),
            (json!({ "file": "a", "at": "13:61-70" }), at("a", Some(PLACE))),
            (json!({ "file": "a", "at": "here" }), at("a", None)),
            (json!({ "file": "a", "symbol": "b" }), at("a", None)),
            (json!({ "symbol": "b" }), About::Query(Kept::of("b".to_owned()))),
        ];
        for (arguments, about) in cases {
            assert_eq!(About::of(&arguments), about, "{arguments}");
        }
    }
}
