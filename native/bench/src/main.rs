//! The Rust side of `npm run bench` (`scripts/bench.ts`): the floor server, the load generator, and the engine's own
//! time. Each prints JSON; the medians and the table are made by the script.

#![forbid(unsafe_code)]

mod floor;
mod load;
mod references;
mod watch;
// The addon is a library for Node alone, which no program can link. This is the very file that it is built from.
#[path = "../../addon/src/rows.rs"]
#[expect(dead_code, reason = "only locations are measured here")]
mod rows;

use std::error::Error;
use std::process::ExitCode;

/// As many threads as the addon gives its server.
const WORKERS: usize = 2;

/// Why a measurement could not be made.
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["floor", bytes, ref token @ ..] => floor::run(bytes, token.first().copied()),
        ["load"] => load::run(),
        ["references"] => references::run(),
        ["watch"] => watch::run(),
        _ => Err("usage: gateway-bench floor BYTES [TOKEN] | load | references | watch".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build()
}
