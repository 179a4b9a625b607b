//! `mcp-lsp-gateway`: the tools of the gateway without an editor.

#![forbid(unsafe_code)]

mod doctor;
mod folders;
mod private;
mod trust;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::{Args, Parser, Subcommand};
use gateway_core::limits::Limits;
use gateway_core::tools;
use gateway_lsp::headless::Headless;
use gateway_lsp::process::Supervisor;
use gateway_lsp::programs::Programs;
use gateway_lsp::setup::Surroundings;
use gateway_lsp::supervisor;
use gateway_lsp::table::{self, Choice};
use gateway_server::access::Access;
use gateway_server::gateway::{Gateway, Settings};
use gateway_server::redact::Redaction;
use gateway_server::serve::{Loopback, serve};
use gateway_server::session::Sessions;
use gateway_server::stdio;
use gateway_server::watch::Ignore;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::trust::Trusted;

/// What makes the program a supervisor of a language server. Nobody types it.
const SUPERVISE: &str = "__supervise";

/// What a project says of servers, at its root.
const PROJECT_FILE: &str = ".mcp-lsp-gateway.toml";
/// How large it may be, in bytes, and the user's own as well.
const MAX_FILE: u64 = 64 << 10;
/// How long a language server runs that nobody asks.
const IDLE_END: Duration = Duration::from_secs(15 * 60);

/// What no answer depends on, and what servers make themselves.
const IGNORED: &[&str] = &[
    "**/.git/**",
    "**/*.log",
    "**/node_modules/.cache/**",
    "**/.cache/clangd/**",
    "**/target/**",
    "**/__pycache__/**",
];

/// Serves the tools of MCP LSP Gateway to an MCP client, on stdin and stdout or by HTTP on 127.0.0.1, by language servers
/// that it starts itself. It only reads.
#[derive(Debug, Parser)]
#[command(name = "mcp-lsp-gateway", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts the language servers of the folders, and says what works and what is missing.
    Doctor(Options),
    /// Lets language servers run code that lies in a folder, from now on.
    Trust {
        /// The folder.
        folder: PathBuf,
    },
    /// Takes that back.
    Untrust {
        /// The folder.
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct Options {
    /// A folder that answers may speak of; the current one if none is given.
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<PathBuf>,
    /// Lets language servers run code that lies in the folders, for this run.
    #[arg(long)]
    trust: bool,
    /// The tools that are offered: v1, core, all, or the name of one; may be given several times.
    #[arg(long, value_name = "TOOLS", value_parser = catalog)]
    catalog: Vec<String>,
    /// Serves HTTP on 127.0.0.1 in place of stdin and stdout.
    #[arg(long)]
    http: bool,
    /// The port of HTTP; any that is free if it is not given.
    #[arg(long, value_name = "N", requires = "http", default_value_t = 0)]
    port: u16,
    /// A file that holds the token of HTTP; one of the program's own if it is not given.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Speaks the revision 2025-06-18 of MCP with clients that ask for it.
    #[arg(long)]
    fallback: bool,
    /// Logs each call to stderr.
    #[arg(long, short)]
    verbose: bool,
}

fn catalog(choice: &str) -> Result<String, String> {
    if tools::is_choice(choice) {
        return Ok(choice.to_owned());
    }
    let names: Vec<_> = tools::ALL.iter().map(|tool| tool.name()).collect();
    Err(format!("use v1, core, all, or one of {}", names.join(", ")))
}

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == SUPERVISE) {
        return supervisor::run(arguments.split_off(2));
    }
    let Arguments { command, options } = Arguments::parse_from(arguments);
    match run(command, options) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Option<Command>, options: Options) -> Result<ExitCode, String> {
    match command {
        Some(Command::Trust { folder }) => {
            let folder = real_folder(&folder)?;
            Trusted::read()?.add(&folder)?;
            println!("Language servers may run code that lies in {}.", folder.display());
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Untrust { folder }) => {
            let folder = real_folder(&folder)?;
            let is_still_trusted = Trusted::read()?.remove(&folder)?;
            if is_still_trusted {
                return Err(format!("{} lies in another folder that is trusted: untrust that.", folder.display()));
            }
            println!("{} is not trusted.", folder.display());
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Doctor(options)) => in_runtime(async {
            let headless = headless(&options)?;
            let (report, is_served) = doctor::examine(&headless).await;
            headless.end().await;
            print!("{report}");
            Ok(if is_served { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }),
        None => in_runtime(serve_tools(options)),
    }
}

/// Runs to the end of the work, whatever still waits for stdin then.
fn in_runtime(work: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("The system gives no threads ({error})."))?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

async fn serve_tools(options: Options) -> Result<ExitCode, String> {
    let roots = real_roots(&options)?;
    let tokens = if options.http { vec![token(options.token_file.as_deref())?] } else { Vec::new() };
    log_to_stderr(&options, &tokens, &roots);
    let editor = headless(&options)?;
    let settings = Settings {
        roots,
        access: Access { tokens, allowed_origins: Vec::new(), fallback: options.fallback },
        catalog: tools::chosen(&options.catalog),
        limits: Limits::default(),
        ignore: Ignore::new(&IGNORED.iter().copied().map(str::to_owned).collect::<Vec<_>>()),
    };
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| format!("The system has no randomness ({error})."))?;
    let sessions = Sessions::new(&key, "headless", &[], Box::new(|_| {}));
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let gateway = Arc::new(Gateway::new(editor, settings, sessions, version, roots_epoch(&key)));
    let served = async {
        if options.http {
            let loopback = Loopback::bind(&[options.port]).map_err(|_| {
                format!("Port {} of 127.0.0.1 cannot be opened: free it, or give another with --port.", options.port)
            })?;
            eprintln!("Serving http://127.0.0.1:{}/mcp", loopback.port());
            serve(loopback, Arc::clone(&gateway), CancellationToken::new()).await;
            return Ok(());
        }
        stdio::serve(Arc::clone(&gateway), options.fallback, tokio::io::stdin(), tokio::io::stdout()).await;
        Ok(())
    };
    let outcome = tokio::select! {
        outcome = served => outcome,
        () = told_to_end() => Ok(()),
    };
    gateway.editor().end().await;
    outcome.map(|()| ExitCode::SUCCESS)
}

async fn told_to_end() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

fn headless(options: &Options) -> Result<Headless, String> {
    let roots = real_roots(options)?;
    let users = folders::config()?.join("servers.toml");
    let (rows, choice) = table::rows(&text_of(&users)?).map_err(|error| format!("{}, {error}.", users.display()))?;
    let chosen = |root: &PathBuf| {
        let file = root.join(PROJECT_FILE);
        let of_project = Choice::of_project(&text_of(&file)?, &rows);
        let of_project = of_project.map_err(|error| format!("{}, {error}.", file.display()))?;
        Ok((root.clone(), of_project.before(choice.clone())))
    };
    let chosen = roots.iter().map(chosen).collect::<Result<_, String>>()?;
    let path = env::var_os("PATH").unwrap_or_default();
    let program = env::current_exe().map_err(|error| format!("The program does not find itself ({error})."))?;
    let surroundings = Surroundings {
        programs: Programs::outside(&roots, &path),
        environment: env::vars_os().collect(),
        is_trusted: options.trust || Trusted::read()?.has_all(&roots),
        cache: folders::cache()?,
        supervisor: Supervisor { program, args: vec![SUPERVISE.into()] },
        idle_end: IDLE_END,
    };
    Ok(Headless::new(rows, chosen, surroundings))
}

/// The text of a file that says which servers there are; nothing if there is no such file.
fn text_of(file: &Path) -> Result<String, String> {
    let unreadable = |why: &str| format!("{} cannot be read ({why}): mend or remove it.", file.display());
    match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(unreadable(&error.to_string())),
        Ok(found) if !found.is_file() => return Err(unreadable("it is no file")),
        Ok(found) if found.len() > MAX_FILE => return Err(unreadable("it is larger than 64 KiB")),
        Ok(_) => {}
    }
    fs::read_to_string(file).map_err(|error| unreadable(&error.to_string()))
}

fn real_roots(options: &Options) -> Result<Vec<PathBuf>, String> {
    if options.roots.is_empty() {
        let current = env::current_dir().map_err(|error| format!("There is no current folder ({error})."))?;
        return Ok(vec![real_folder(&current)?]);
    }
    options.roots.iter().map(|root| real_folder(root)).collect()
}

fn real_folder(folder: &Path) -> Result<PathBuf, String> {
    let real = fs::canonicalize(folder).ok().filter(|real| real.is_dir());
    real.ok_or_else(|| format!("{} is not a folder: name one that exists.", folder.display()))
}

/// The token of HTTP. One of our own is made where there is none.
fn token(file: Option<&Path>) -> Result<String, String> {
    let own = folders::state()?.join("token");
    if file.is_none() && !own.exists() {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| format!("The system has no randomness ({error})."))?;
        private::write_private(&own, |file| file.write_all(URL_SAFE_NO_PAD.encode(bytes).as_bytes()))?;
    }
    let file = file.unwrap_or(&own);
    let token = fs::read_to_string(file).map_err(|error| format!("{} cannot be read ({error}).", file.display()))?;
    let token = token.trim();
    if token.len() < 32 {
        return Err(format!("The token in {} is too short: write at least 32 characters.", file.display()));
    }
    eprintln!("The token is in {}.", file.display());
    Ok(token.to_owned())
}

/// No two runs may begin with the same number (D25).
fn roots_epoch(random: &[u8; 32]) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or_default();
    now << 12 | u64::from(random[0]) << 4 | u64::from(random[1] >> 4)
}

/// Writes the log to stderr, line by line, without secrets and without paths outside the roots.
struct Stderr(Redaction);

impl<S: Subscriber> Layer<S> for Stderr {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        eprintln!("{}", self.0.line(event));
    }
}

fn log_to_stderr(options: &Options, tokens: &[String], roots: &[PathBuf]) {
    let roots: Vec<_> = roots.iter().map(|root| root.display().to_string()).collect();
    let level = if options.verbose { LevelFilter::INFO } else { LevelFilter::WARN };
    tracing_subscriber::registry().with(Stderr(Redaction::new(tokens, &roots)).with_filter(level)).init();
}
