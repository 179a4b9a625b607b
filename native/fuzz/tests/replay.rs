//! Every fuzz target on its corpus, and on changed entries of it that are the same on every run. `npm run fuzz` looks for
//! new ones by coverage.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestError, TestRunner};

/// One change of an input.
#[derive(Clone, Debug)]
enum Edit {
    Write(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// Some bytes once more, at another place.
    Repeat(Index, usize, Index),
    /// What another entry has from there on.
    Splice(Index, Index),
}

impl Edit {
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Self::Write(at, byte)),
            2 => (any::<Index>(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Self::Insert(at, bytes)),
            2 => (any::<Index>(), 1..16_usize).prop_map(|(at, length)| Self::Remove(at, length)),
            1 => (any::<Index>(), 1..64_usize, any::<Index>()).prop_map(|(at, length, to)| Self::Repeat(at, length, to)),
            1 => (any::<Index>(), any::<Index>()).prop_map(|(at, entry)| Self::Splice(at, entry)),
        ]
    }

    fn apply(&self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let place = |at: &Index| at.index(input.len() + 1);
        let upto = |from: usize, length: usize| (from + length).min(input.len());
        match self {
            Self::Write(at, byte) => {
                let at = place(at);
                input.splice(at..upto(at, 1), [*byte]);
            }
            Self::Insert(at, bytes) => {
                let at = place(at);
                input.splice(at..at, bytes.iter().copied());
            }
            Self::Remove(at, length) => {
                let at = place(at);
                input.drain(at..upto(at, *length));
            }
            Self::Repeat(at, length, to) => {
                let (at, to) = (place(at), place(to));
                let repeated = input[at..upto(at, *length)].to_vec();
                input.splice(to..to, repeated);
            }
            Self::Splice(at, entry) => {
                let (at, entry) = (place(at), entry.get(corpus));
                input.truncate(at);
                input.extend_from_slice(&entry[at.min(entry.len())..]);
            }
        }
    }
}

/// Gives the target every entry of its corpus, and then changed ones: so many for each case that a property is tried on.
fn replay(target: &str, inputs_for_a_case: u32, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 100, "{} entries of {target}", files.len());
    let corpus: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    for (file, input) in files.iter().zip(&corpus) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) {
            eprintln!("{} broke it", file.display());
            resume_unwind(panic);
        }
    }
    let edits = vec(Edit::any(), 1..6);
    let changed = |entry: &Index, edits: &[Edit]| {
        let mut input = entry.get(&corpus).clone();
        edits.iter().for_each(|edit| edit.apply(&mut input, &corpus));
        input
    };
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    config.cases *= inputs_for_a_case;
    let outcome = TestRunner::new(config).run(&(any::<Index>(), edits), |(entry, edits)| {
        run(&changed(&entry, &edits));
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, (entry, edits))) => {
            let found = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}.found"));
            fs::write(&found, changed(&entry, &edits)).unwrap();
            panic!("{reason}\nThe input is in {}: mend what it shows, and add it to the corpus.", found.display());
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn bodies_that_a_client_posts() {
    replay("json_rpc", 20, gateway_fuzz::json_rpc::run);
}

#[test]
fn bytes_that_arrive_on_a_connection() {
    replay("http_heads", 20, gateway_fuzz::http_heads::run);
}

#[test]
fn cursors_that_come_back_changed() {
    replay("cursors", 20, gateway_fuzz::cursors::run);
}

#[test]
fn uris_of_files() {
    replay("file_uris", 20, gateway_fuzz::file_uris::run);
}

#[test]
fn rows_as_they_cross_from_javascript() {
    replay("packed_rows", 20, gateway_fuzz::packed_rows::run);
}

#[test]
fn whole_conversations() {
    replay("call_sequences", 2, gateway_fuzz::call_sequences::run);
}

#[test]
fn bytes_that_a_language_server_writes() {
    replay("server_messages", 20, gateway_fuzz::server_messages::run);
}
