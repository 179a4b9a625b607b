//! What a language server shows of itself, and what follows from it: whether it is ready. That is a live state and can end
//! (H2).

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::table::Rule;

/// What clangd calls the progress of its index.
const INDEX: &str = "backgroundIndexProgress";
/// How long after it has read its first file clangd may take before it begins an index.
const INDEX_MAY_BEGIN: Duration = Duration::from_secs(1);
/// How long a server of which nothing is known has to be quiet.
const QUIET: Duration = Duration::from_secs(1);

/// What was shown so far.
#[derive(Debug)]
pub(crate) struct Signs {
    pub(crate) rule: Rule,
    index: Index,
    /// How often ready has turned into not ready.
    pub(crate) endings: u64,
    /// How often the source files were looked for.
    pub(crate) searches: u64,
    quiescent: bool,
    /// What is wrong, as the server says.
    pub(crate) fault: Option<String>,
    /// When the first diagnostics were published.
    read_first: Option<Instant>,
    /// When the server was told or has told something last.
    stirred: Instant,
}

/// What is known of clangd's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Index {
    /// The project does not say how its files are compiled, so that none is to come.
    Unexpected,
    /// It does, and none has begun.
    Expected,
    UnderWay,
    Built,
}

/// Whether a server is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It is.
    Ready,
    /// It will be then if nothing else is shown.
    ReadyAt(Instant),
    /// Not before something is shown.
    NotReady,
}

impl Signs {
    /// `has_index`: whether the project says how each of its files is compiled.
    pub(crate) fn new(rule: Rule, has_index: bool) -> Self {
        Self {
            rule,
            index: if has_index { Index::Expected } else { Index::Unexpected },
            endings: 0,
            searches: 0,
            quiescent: false,
            fault: None,
            read_first: None,
            stirred: Instant::now(),
        }
    }

    /// Whether the server is ready now.
    pub(crate) fn state(&self, now: Instant) -> State {
        let is_shown = match (self.rule, self.index) {
            (Rule::InOrder | Rule::ByTime | Rule::TsServer, _) => true,
            (Rule::Unknown, _) => {
                let quiet = self.stirred + QUIET;
                return if quiet <= now { State::Ready } else { State::ReadyAt(quiet) };
            }
            (Rule::Pyright | Rule::Basedpyright, _) => self.searches > 0,
            (Rule::RustAnalyzer, _) => self.quiescent,
            (Rule::Clangd, Index::UnderWay) => false,
            (Rule::Clangd, Index::Built | Index::Unexpected) => self.read_first.is_some(),
            // What was indexed before is not indexed again, and then nothing is told.
            (Rule::Clangd, Index::Expected) => {
                return match self.read_first.map(|first| first + INDEX_MAY_BEGIN) {
                    Some(at) if at <= now => State::Ready,
                    Some(at) => State::ReadyAt(at),
                    None => State::NotReady,
                };
            }
        };
        if is_shown { State::Ready } else { State::NotReady }
    }

    /// Takes note of a notification.
    pub(crate) fn note(&mut self, method: &str, params: &RawValue, now: Instant) {
        let before = self.state(now);
        self.stirred = now;
        match method {
            "$/progress" => self.progress(params),
            "experimental/serverStatus" => self.status(params),
            "window/logMessage" => self.logged(params),
            "textDocument/publishDiagnostics" => {
                self.read_first.get_or_insert(now);
            }
            _ => {}
        }
        if before == State::Ready && self.state(now) != State::Ready {
            self.endings += 1;
        }
    }

    /// Takes note of that the server was told of what was written, or has asked for something.
    pub(crate) fn stir(&mut self, now: Instant) {
        self.stirred = now;
    }

    fn progress(&mut self, params: &RawValue) {
        #[derive(Deserialize)]
        struct Progress {
            token: serde_json::Value,
            value: Work,
        }
        #[derive(Deserialize)]
        struct Work {
            kind: String,
        }
        let Ok(Progress { token, value: Work { kind } }) = serde_json::from_str(params.get()) else { return };
        if token == INDEX {
            self.index = if kind == "end" { Index::Built } else { Index::UnderWay };
        }
    }

    fn status(&mut self, params: &RawValue) {
        #[derive(Deserialize)]
        struct Status {
            #[serde(default)]
            health: String,
            quiescent: bool,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(Status { health, quiescent, message }) = serde_json::from_str(params.get()) else { return };
        self.quiescent = quiescent;
        self.fault = (health == "error").then(|| message.unwrap_or_default());
    }

    fn logged(&mut self, params: &RawValue) {
        #[derive(Deserialize)]
        struct Log {
            message: String,
        }
        let Ok(Log { message }) = serde_json::from_str(params.get()) else { return };
        let has_searched = message == "No source files found."
            || message.strip_prefix("Found ").is_some_and(|rest| rest.contains(" source file"));
        if has_searched {
            self.searches += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_which_nothing_is_known_is_ready_once_it_is_quiet() {
        let mut signs = Signs::new(Rule::Unknown, false);
        let (begun, second) = (Instant::now(), Duration::from_secs(1));
        signs.stir(begun);
        assert_eq!(signs.state(begun + second / 2), State::ReadyAt(begun + second));
        assert_eq!(signs.state(begun + second), State::Ready);
        let params = RawValue::from_string("{}".to_owned()).unwrap();
        signs.note("$/progress", &params, begun + second);
        assert_eq!((signs.state(begun + second), signs.endings), (State::ReadyAt(begun + 2 * second), 1));
    }
}
