//! The engine's own time for references: from the rows that came from JavaScript to the first page.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway_core::ask::{Raw, Shape};
use gateway_core::completeness::Completeness;
use gateway_core::cursor::Cursor;
use gateway_core::epochs::Epochs;
use gateway_core::error::ToolError;
use gateway_core::keys::SnapshotKey;
use gateway_core::limits::Limits;
use gateway_core::location::RawLocations;
use gateway_core::page::{PageSize, ResponseBudget};
use gateway_core::roots::AllowedRoots;
use gateway_core::snapshots::Snapshots;
use gateway_core::tool::{Asked, Canonical};
use gateway_core::tools;
use gateway_core::wording::Wording;
use gateway_server::disk::{Disk, Resolver};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Failure, rows};

/// What stands around a payload in a response, about.
const ENVELOPE_BYTES: usize = 100;

/// What standard input holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    root: PathBuf,
    rounds: usize,
    sets: Vec<Rows>,
}

/// Rows of locations as they cross from JavaScript.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    text: String,
    cells: Vec<u32>,
    /// How often this set is taken in one round.
    times: u32,
}

/// What is printed for each set: a time in milliseconds for each round.
#[derive(Default, Serialize)]
struct Times {
    engine: Vec<f64>,
    floor: Vec<f64>,
}

/// A reference with nothing around it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Plain {
    uri: u32,
    start: (u32, u32),
    end: (u32, u32),
}

/// The least work for a set: each of its files resolved, and its references sorted.
struct Floor {
    paths: Vec<PathBuf>,
    items: Vec<Plain>,
}

/// Takes every set in turn, round after round.
pub(crate) fn run() -> Result<(), Failure> {
    let Order { root, rounds, sets } = serde_json::from_reader(io::stdin().lock())?;
    let roots = AllowedRoots::resolve(&[root], &Disk);
    let floors = sets.iter().map(|set| Floor::of(set, &roots)).collect::<Result<Vec<_>, _>>()?;
    let mut times: Vec<Times> = sets.iter().map(|_| Times::default()).collect();
    // The first round finds nothing in any cache.
    for round in 0..=rounds {
        for ((set, floor), times) in sets.iter().zip(&floors).zip(&mut times) {
            let engine = average(set.times, || engine(set, &roots))?;
            let floor = average(set.times, || floor.work())?;
            if round > 0 {
                times.engine.push(engine);
                times.floor.push(floor);
            }
        }
    }
    println!("{}", serde_json::to_string(&times)?);
    Ok(())
}

/// The milliseconds that the work takes; what it makes is let go of outside of that time.
fn average<T>(times: u32, work: impl Fn() -> Result<T, Failure>) -> Result<f64, Failure> {
    let mut sum = Duration::ZERO;
    for _ in 0..times {
        let begun = Instant::now();
        let made = black_box(work()?);
        sum += begun.elapsed();
        drop(made);
    }
    Ok(sum.as_secs_f64() * 1e3 / f64::from(times))
}

/// What the addon and the server do with an answer: unpack it, make it canonical, retain it, and write the first page.
fn engine(rows: &Rows, roots: &AllowedRoots) -> Result<(Snapshots, Vec<u8>), Failure> {
    let raw = unpack(rows)?;
    let document = told(roots.admit(raw.uris.first().ok_or("no references")?, &Disk))?;
    let tool = tools::named("vscode.lsp.references").ok_or("no such tool")?;
    let place = json!({ "line": 0, "character": 0 });
    let arguments = json!({ "uri": document.uri.as_str(), "position": place, "includeDeclaration": true });
    let question = tool.read(&arguments).map_err(|_| "the arguments do not fit")?.question;
    let request = question.request_key(tool, Some(&document.uri));
    let snapshot = SnapshotKey::derive(tool.epochs(), &request, roots.key(), &Epochs::default());
    let asked = Asked {
        question: &question,
        document: Some(&document.uri),
        in_tab: false,
        outlines: &[],
        with_word: None,
        completeness: Completeness::Confirmed,
        roots,
        real: &Resolver::default(),
        texts: &(),
    };
    let Canonical::Set(retained) = told(tool.canonicalize(&[Raw::Locations(raw)], &asked))? else {
        return Err("not a set".into());
    };
    let retained = Arc::new(retained);
    black_box(retained.fingerprint());
    let mut snapshots = Snapshots::default();
    told(snapshots.retain(snapshot.clone(), Arc::clone(&retained), Duration::ZERO))?;
    let limits = Limits::default();
    let budget = ResponseBudget::new(limits.max_response_bytes(), ENVELOPE_BYTES);
    let cursor = Cursor { offset: 0, request, snapshot };
    let page = told(tool.page(&retained, &cursor, PageSize::clamped(None, &limits), budget))?;
    Ok((snapshots, page.joined(&retained.set)))
}

fn unpack(Rows { text, cells, .. }: &Rows) -> Result<RawLocations, Failure> {
    match rows::unpack(Shape::Locations, text, cells) {
        Ok(Raw::Locations(raw)) => Ok(raw),
        Ok(_) => Err("not locations".into()),
        Err(malformed) => Err(malformed.0.into()),
    }
}

fn told<T>(result: Result<T, ToolError>) -> Result<T, Failure> {
    result.map_err(|error| error.message(&Wording::NEUTRAL).into())
}

impl Floor {
    fn of(rows: &Rows, roots: &AllowedRoots) -> Result<Self, Failure> {
        let raw = unpack(rows)?;
        let paths = raw.uris.iter().map(|uri| Ok(roots.admit(uri, &Disk)?.real_path)).collect::<Result<_, _>>();
        let plain = raw.items.iter().map(|item| Plain {
            uri: item.uri,
            start: (item.range.start.line, item.range.start.character),
            end: (item.range.end.line, item.range.end.character),
        });
        Ok(Self { paths: told(paths)?, items: plain.collect() })
    }

    fn work(&self) -> Result<(Vec<PathBuf>, Vec<Plain>), Failure> {
        let real = self.paths.iter().map(fs::canonicalize).collect::<Result<_, _>>()?;
        let mut items = self.items.clone();
        items.sort_unstable();
        Ok((real, items))
    }
}
