//! What a watch costs: the time of a look when nothing was written, and the memory of what it remembers.

use std::fs;
use std::hint::black_box;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Instant;

use gateway_server::watch::{Ignore, Options, Watch};
use serde::{Deserialize, Serialize};

use crate::Failure;

const FILES_IN_A_FOLDER: usize = 10;

#[derive(Debug, Deserialize)]
struct Order {
    /// An empty folder.
    root: PathBuf,
    /// How many files to make in it, and how often to look.
    files: usize,
    rounds: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Costs {
    /// Until the watch knew all of them.
    first_walk_ms: f64,
    resident_bytes: u64,
    /// Each look, in microseconds.
    looks: Vec<f64>,
}

/// Reads an order, and prints the costs.
pub(crate) fn run() -> Result<(), Failure> {
    let mut order = String::new();
    io::stdin().read_to_string(&mut order)?;
    let Order { root, files, rounds } = serde_json::from_str(&order)?;
    for folder in 0..files / FILES_IN_A_FOLDER {
        let folder = root.join(format!("folder-{:03}/folder-{folder:06}", folder / 100));
        fs::create_dir_all(&folder)?;
        for file in 0..FILES_IN_A_FOLDER {
            fs::write(folder.join(format!("a-file-with-a-name-{file}.ts")), "")?;
        }
    }
    let before = resident_bytes()?;
    let begun = Instant::now();
    let watch = Watch::new(&Options::default());
    watch.set_roots(vec![root], Ignore::default());
    let first_walk_ms = begun.elapsed().as_secs_f64() * 1e3;
    let resident_bytes = resident_bytes()?.saturating_sub(before);
    let mut looks = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let begun = Instant::now();
        black_box(watch.catch_up(0)).map_err(|behind| format!("{behind:?}"))?;
        looks.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    println!("{}", serde_json::to_string(&Costs { first_walk_ms, resident_bytes, looks })?);
    Ok(())
}

fn resident_bytes() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS in /proc/self/status")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
