//! What a server has registered for since it was started, each with its options.

use std::path::{Path, PathBuf};

use gateway_core::uri::{PathStyle, path_of_file_uri};
use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

/// Create, change and delete.
const ALL_KINDS: u64 = 7;

/// The registrations that are in force.
#[derive(Debug, Default)]
pub(crate) struct Registrations(Vec<Registration>);

#[derive(Debug)]
struct Registration {
    id: String,
    method: String,
    options: Value,
    watchers: Vec<Watcher>,
}

/// Files of which the server wants to be told.
#[derive(Debug)]
struct Watcher {
    /// What the pattern is relative to; nothing if it is for whole paths.
    base: Option<PathBuf>,
    glob: GlobMatcher,
    kinds: u64,
}

impl Registrations {
    /// Takes the parameters of `client/registerCapability`.
    pub(crate) fn register(&mut self, params: &Value) {
        for registration in params["registrations"].as_array().into_iter().flatten() {
            let text = |name: &str| registration[name].as_str().unwrap_or_default().to_owned();
            let options = registration["registerOptions"].clone();
            let watchers = options["watchers"].as_array().into_iter().flatten().filter_map(Watcher::of).collect();
            self.0.push(Registration { id: text("id"), method: text("method"), options, watchers });
        }
    }

    /// Takes the parameters of `client/unregisterCapability`.
    pub(crate) fn unregister(&mut self, params: &Value) {
        // LSP has the name misspelled.
        for gone in params["unregisterations"].as_array().into_iter().flatten() {
            self.0.retain(|registration| gone["id"].as_str() != Some(&registration.id));
        }
    }

    /// The options with which a method was registered last, if it is.
    pub(crate) fn options(&self, method: &str) -> Option<&Value> {
        self.0.iter().rev().find(|registration| registration.method == method).map(|registration| &registration.options)
    }

    /// Whether the server wants to be told of a change of this kind, LSP's number, of this file.
    pub(crate) fn watches(&self, path: &Path, kind: u32) -> bool {
        self.0.iter().flat_map(|registration| &registration.watchers).any(|watcher| watcher.watches(path, kind))
    }
}

impl Watcher {
    fn of(watcher: &Value) -> Option<Self> {
        let kinds = watcher["kind"].as_u64().unwrap_or(ALL_KINDS);
        let (base, pattern) = match &watcher["globPattern"] {
            Value::String(pattern) => (None, pattern.as_str()),
            relative => {
                let base = relative["baseUri"].as_str().or_else(|| relative["baseUri"]["uri"].as_str())?;
                (Some(path_of_file_uri(base, PathStyle::NATIVE)?), relative["pattern"].as_str()?)
            }
        };
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher();
        Some(Self { base: base.map(PathBuf::from), glob, kinds })
    }

    fn watches(&self, path: &Path, kind: u32) -> bool {
        let path = match &self.base {
            Some(base) => path.strip_prefix(base).ok(),
            None => Some(path),
        };
        self.kinds >> (kind - 1) & 1 == 1 && path.is_some_and(|path| self.glob.is_match(path))
    }
}
