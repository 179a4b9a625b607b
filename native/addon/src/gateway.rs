//! The gateway as JavaScript holds it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gateway_core::epochs::Epoch;
use gateway_core::limits::Limits;
use gateway_core::position::Position;
use gateway_core::tools;
use gateway_server::access::Access;
use gateway_server::gateway::{self, Settings};
use gateway_server::redact::Redaction;
use gateway_server::serve::{Loopback, serve};
use gateway_server::session::Sessions;
use gateway_server::watch::{self, Cause, Ignore, Kind, Swept};
use napi::bindgen_prelude::spawn_blocking;
use napi::{Error, Result, Status};
use napi_derive::napi;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::level_filters::LevelFilter;

use crate::js_editor::{Callback, JsEditor, tell_sessions_ended};
use crate::log::{Sink, WriteLog, level_named};

/// What a gateway needs to know. `Gateway.configure` changes what can change while it runs.
#[napi(object, object_to_js = false)]
pub struct GatewayOptions {
    /// The version that the server reports; read at the start only.
    pub version: String,
    /// Absolute paths that answers may speak of, as the editor knows them; workspace folders first.
    pub roots: Vec<String>,
    /// Globs, relative to each root, of what is not watched.
    pub ignore: Vec<String>,
    /// Which tools clients are offered: `v1`, `core` or `all`, or their names. What is none of these chooses nothing.
    pub catalog: Vec<String>,
    /// The bearer tokens that let a client in.
    pub tokens: Vec<String>,
    /// 32 secret bytes as base64url without padding, under which session ids are made. It outlives the window.
    pub session_key: String,
    /// What tells this workspace from others, for session ids.
    pub workspace: String,
    /// The ended sessions that were last told of; read at the start only.
    pub ended_sessions: Vec<String>,
    /// The origins that a request may name.
    pub allowed_origins: Vec<String>,
    /// Whether a client that asks for revision 2025-06-18 of MCP is answered in it.
    pub protocol_fallback: bool,
    /// Most items on one page.
    pub max_items_per_page: u32,
    /// Most bytes of one HTTP response body.
    pub max_response_bytes: u32,
    /// Longest time for one call, in milliseconds.
    pub request_timeout_ms: u32,
    /// Where the epoch of the roots begins: the clock's milliseconds; read at the start only.
    pub roots_epoch: i64,
    /// Ports of 127.0.0.1 to try in this order, 0 standing for any; read at the start only.
    pub ports: Vec<u32>,
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log_level: String,
}

/// A file that the editor has seen come, change or go.
#[napi(object, object_to_js = false)]
pub struct SeenFile {
    /// Its path, as the editor knows it.
    pub path: String,
    /// What happened to it.
    #[napi(ts_type = "'created' | 'changed' | 'deleted'")]
    pub kind: String,
}

/// Folders that are looked through for each answer, since they cannot be watched.
#[napi(object, object_from_js = false)]
pub struct SweptFolders {
    /// Why they cannot.
    #[napi(ts_type = "'outOfWatches' | 'fileSystem' | 'twoNames' | 'refused' | 'noQueue'")]
    pub cause: String,
    /// How many there are.
    pub folders: i64,
}

/// What clients did since somebody looked last.
#[napi(object, object_from_js = false)]
pub struct News {
    /// The number of the last call in it: from here on there is more to come.
    pub seen: i64,
    /// The slice of time that is not over, and will be told again.
    pub slice: i64,
    /// The news as JSON, for the view.
    pub json: String,
}

/// What a call asked about.
#[napi(object, object_from_js = false)]
pub struct PlaceOfCall {
    /// The document, as the editor knows it.
    pub uri: String,
    /// 0-based line, if the call was about a place.
    pub line: Option<u32>,
    /// 0-based character, in UTF-16 units.
    pub character: Option<u32>,
}

/// A running gateway. It runs until `stop`, or the end of the process, which it does not put off.
#[napi]
pub struct Gateway {
    server: Arc<gateway::Gateway<JsEditor>>,
    identity: Identity,
    port: u16,
    sink: Arc<Sink>,
    shutdown: CancellationToken,
    serving: TaskTracker,
}

/// What a gateway cannot change while it runs.
#[derive(PartialEq, Eq)]
struct Identity {
    session_key: [u8; 32],
    workspace: String,
}

/// What is read out of the options at every configuration.
struct Configuration {
    identity: Identity,
    settings: Settings,
    level: LevelFilter,
    redaction: Redaction,
}

#[napi]
impl Gateway {
    /// Starts a gateway and resolves once it listens. Rejects with one sentence for a person if it cannot.
    ///
    /// `ask` is called for each question, perhaps before this resolves, and owes it one call of `answerQuestion` or
    /// `failQuestion` with its id, at once or later. What it throws fails the question; what it returns is not looked at.
    #[napi(
        factory,
        ts_args_type = "options: GatewayOptions, ask: (id: number, question: number, request: string) => void, log: (levels: Array<number>, lines: Array<string>) => void"
    )]
    pub async fn start(options: GatewayOptions, ask: Callback, log: WriteLog) -> Result<Self> {
        let ports = ports(&options.ports)?;
        let (version, ended) = (options.version.clone(), options.ended_sessions.clone());
        let roots_epoch = u64::try_from(options.roots_epoch).map_err(|_| refused("rootsEpoch", "a time since 1970"))?;
        let Configuration { identity, settings, level, redaction } = blocking(move || configuration(options)).await??;
        let sink = Sink::open(log, level, redaction);
        let loopback = match Loopback::bind(&ports) {
            Ok(loopback) => loopback,
            Err(error) => {
                sink.close();
                return Err(sentence(&format!("{error}; free one, or set `mcpLspGateway.port` to another.")));
            }
        };
        let port = loopback.port();

        let ask = Arc::new(ask);
        let teller = Arc::clone(&ask);
        let on_ended = Box::new(move |ended: Vec<String>| tell_sessions_ended(&teller, &ended));
        let sessions = Sessions::new(&identity.session_key, &identity.workspace, &ended, on_ended);
        let editor = JsEditor::new(ask);
        let server = blocking(move || gateway::Gateway::new(editor, settings, sessions, version, roots_epoch)).await?;
        let server = Arc::new(server);

        let shutdown = CancellationToken::new();
        let serving = TaskTracker::new();
        serving.spawn(serve(loopback, Arc::clone(&server), shutdown.clone()));
        serving.close();
        Ok(Self { server, identity, port, sink, shutdown, serving })
    }

    /// The port of 127.0.0.1 that it listens on.
    #[napi(getter)]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Puts other options in force, and resolves once they are: the next request meets them. Rejects, with nothing
    /// changed, if they cannot be used; the session key and the workspace take a new gateway. Wait for one
    /// configuration before the next: two at once may take effect in either order.
    #[napi]
    pub async fn configure(&self, options: GatewayOptions) -> Result<()> {
        let Configuration { identity, settings, level, redaction } = blocking(move || configuration(options)).await??;
        if identity != self.identity {
            return Err(sentence(
                "The session key and the workspace of a running gateway cannot change; start a new one.",
            ));
        }
        self.sink.configure(level, redaction);
        let server = Arc::clone(&self.server);
        blocking(move || server.configure(settings)).await
    }

    /// Counts one change of the workspace.
    #[napi(catch_unwind, ts_args_type = "kind: 'roots' | 'text' | 'fs' | 'diagnostics'")]
    // The macro repeats what stands here on code of its own, where an expectation would not be met.
    #[allow(clippy::needless_pass_by_value, reason = "a string of JavaScript is copied, there is nothing to borrow")]
    pub fn bump(&self, kind: String) -> Result<()> {
        let epoch = match kind.as_str() {
            "roots" => Epoch::Roots,
            "text" => Epoch::Text,
            "fs" => Epoch::Fs,
            "diagnostics" => Epoch::Diagnostics,
            _ => return Err(refused("kind", "roots, text, fs or diagnostics")),
        };
        self.server.bump(epoch);
        Ok(())
    }

    /// Takes note of files that have come, changed or gone, as the editor has seen and language servers have been told.
    #[napi]
    pub async fn editor_saw(&self, files: Vec<SeenFile>) -> Result<()> {
        let files = files.into_iter().map(|SeenFile { path, kind }| {
            let kind = match kind.as_str() {
                "created" => Kind::Created,
                "changed" => Kind::Changed,
                "deleted" => Kind::Deleted,
                _ => return Err(refused("kind", "created, changed or deleted")),
            };
            Ok((PathBuf::from(path), kind))
        });
        self.server.editor_saw(files.collect::<Result<_>>()?).await;
        Ok(())
    }

    /// The folders that are not watched, by cause.
    #[napi]
    pub async fn swept(&self) -> Result<Vec<SweptFolders>> {
        let watched = self.server.watch_status().await;
        let told = |Swept { cause, folders, .. }| {
            let cause = match cause {
                Cause::OutOfWatches => "outOfWatches",
                Cause::FileSystem => "fileSystem",
                Cause::TwoNames => "twoNames",
                Cause::Refused => "refused",
                Cause::NoQueue => "noQueue",
            };
            SweptFolders { cause: cause.to_owned(), folders: i64::try_from(folders).unwrap_or(i64::MAX) }
        };
        Ok(watched.into_iter().flat_map(|status| status.swept).map(told).collect())
    }

    /// The calls after that of number `seen`, and the slices of time from `slice` on; all that is kept for 0 and 0.
    #[napi(catch_unwind)]
    pub fn news(&self, seen: i64, slice: i64) -> News {
        let news = self.server.activity().since(to_count(seen), to_count(slice));
        News { seen: to_number(news.seen), slice: to_number(news.slice), json: news.to_json() }
    }

    /// Where the call of this number asked, if clients may ask there now. Rejects with one sentence for a person if it
    /// leads nowhere.
    #[napi]
    pub async fn place_of_call(&self, call: i64) -> Result<PlaceOfCall> {
        let place = self.server.place_of_call(to_count(call)).await;
        let (uri, position) = place.map_err(|reason| sentence(&reason.to_string()))?;
        let (line, character) = position.map(|Position { line, character }| (line, character)).unzip();
        Ok(PlaceOfCall { uri, line, character })
    }

    /// Stops listening, gives the calls under way a moment to end, and resolves once everything is gone. Stopping again
    /// changes nothing.
    #[napi]
    pub async fn stop(&self) {
        self.shutdown.cancel();
        self.serving.wait().await;
        self.sink.close();
    }
}

/// Whether this chooses tools in `catalog`.
#[napi(catch_unwind)]
pub fn is_catalog(choice: String) -> bool {
    tools::is_choice(choice)
}

/// Whether the pattern is a glob that the gateway can read in `ignore`.
#[napi(catch_unwind)]
pub fn is_glob(pattern: String) -> bool {
    watch::is_glob(pattern)
}

/// Reads the options. Blocks while the roots are resolved.
fn configuration(options: GatewayOptions) -> Result<Configuration> {
    let session_key = URL_SAFE_NO_PAD.decode(&options.session_key).ok().and_then(|key| key.try_into().ok());
    let session_key = session_key.ok_or_else(|| refused("sessionKey", "32 bytes as base64url"))?;
    let level = level_named(&options.log_level).ok_or_else(|| refused("logLevel", "a known level"))?;
    let redaction = Redaction::new(&options.tokens, &spellings(&options.roots));
    let settings = Settings {
        roots: options.roots.into_iter().map(PathBuf::from).collect(),
        access: Access {
            tokens: options.tokens,
            allowed_origins: options.allowed_origins,
            fallback: options.protocol_fallback,
        },
        catalog: tools::chosen(&options.catalog),
        limits: Limits::tightened(
            to_size(options.max_items_per_page),
            to_size(options.max_response_bytes),
            Duration::from_millis(options.request_timeout_ms.into()),
        ),
        ignore: Ignore::new(&options.ignore),
    };
    Ok(Configuration { identity: Identity { session_key, workspace: options.workspace }, settings, level, redaction })
}

/// Every root as it is given, and as its real path: both may be named in the log.
fn spellings(roots: &[String]) -> Vec<String> {
    let real = roots.iter().filter_map(|root| fs::canonicalize(root).ok()?.into_os_string().into_string().ok());
    roots.iter().cloned().chain(real).collect()
}

fn ports(numbers: &[u32]) -> Result<Vec<u16>> {
    numbers.iter().map(|&port| u16::try_from(port).map_err(|_| refused("ports", "numbers from 0 to 65535"))).collect()
}

fn to_size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A number of JavaScript that counts something.
fn to_count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn to_number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Runs what may block on the disk off the threads that serve connections.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    spawn_blocking(work).await.map_err(|_| sentence("The gateway failed while it looked at the roots; start it again."))
}

fn refused(option: &str, wanted: &str) -> Error {
    Error::new(Status::InvalidArg, format!("The option {option} is not {wanted}."))
}

fn sentence(text: &str) -> Error {
    Error::new(Status::GenericFailure, text.to_owned())
}
