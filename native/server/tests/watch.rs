//! Another process writes, and as soon as it has ended the watch is asked.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, clippy::panic, reason = "what fails here fails a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gateway_server::watch::Kind::{Changed as Edited, Created, Deleted};
use gateway_server::watch::{Behind, Cause, Changed, Changes, Ignore, Kind, Options, Watch};

/// A root in a folder of its own, and a watch that is asked again and again.
struct Place {
    folder: tempfile::TempDir,
    watch: Watch,
    sequence: u64,
}

fn swept() -> Options {
    Options { most_watches: 0, ..Options::default() }
}

impl Place {
    /// The root as the script leaves it, watched.
    fn new(script: &str, options: &Options) -> Self {
        Self::ignoring(script, options, &[])
    }

    fn ignoring(script: &str, options: &Options, ignored: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("root")).expect("a root");
        let place = Self { folder, watch: Watch::new(options), sequence: 0 };
        place.run(script);
        place.watch.set_roots(vec![place.root()], ignore(ignored));
        place
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("its real path").join("root")
    }

    /// Lets another process write in the root, and waits until it has ended.
    fn run(&self, script: &str) {
        let status = Command::new("sh").args(["-e", "-c", script]).current_dir(self.root()).status();
        assert!(status.expect("a shell").success(), "{script}");
    }

    fn catch_up(&mut self) -> Changes {
        let changes = match self.watch.catch_up(self.sequence) {
            Err(Behind::Slow) => self.watch.catch_up_blocking(self.sequence),
            other => other,
        };
        let changes = changes.expect("it has roots");
        self.sequence = changes.sequence;
        changes
    }

    /// What has changed, by paths relative to the root. Changes of folders that stay are left out.
    fn changes(&mut self) -> Vec<(String, Kind)> {
        let Changed::These(changes) = self.catch_up().changed else { panic!("too many changes") };
        let changes = changes.into_iter().filter(|change| change.kind != Edited || !is_folder(&change.path));
        let root = self.root();
        let relative = |path: &Path| path.strip_prefix(&root).expect("in the root").to_str().map(str::to_owned);
        changes.map(|change| (relative(&change.path).expect("Unicode"), change.kind)).collect()
    }

    fn assert_changes(&mut self, script: &str, expected: &[(&str, Kind)]) {
        let found = self.changes();
        let found: Vec<_> = found.iter().map(|(path, kind)| (path.as_str(), *kind)).collect();
        assert_eq!(found, expected, "{script}");
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn ignore(patterns: &[&str]) -> Ignore {
    Ignore::new(&patterns.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// Runs the steps one after the other, in a root that is watched and in one that is swept, and expects after each to be
/// told of these changes.
fn check(before: &str, steps: &[(&str, &[(&str, Kind)])]) {
    for options in [Options::default(), swept()] {
        let mut place = Place::new(before, &options);
        place.assert_changes("nothing was written", &[]);
        for (script, expected) in steps {
            place.run(script);
            place.assert_changes(script, expected);
            place.assert_changes("nothing more was written", &[]);
        }
    }
}

#[test]
fn a_file_is_created_edited_and_deleted() {
    check(
        "",
        &[
            ("printf one > a", &[("a", Created)]),
            ("printf two > a", &[("a", Edited)]),
            ("printf 2 >> a", &[("a", Edited)]),
            ("truncate -s 1 a", &[("a", Edited)]),
            ("chmod 600 a", &[("a", Edited)]),
            ("printf 2 | dd of=a conv=notrunc status=none", &[("a", Edited)]),
            ("rm a", &[("a", Deleted)]),
            ("mkfifo a; ln -s nowhere b", &[("a", Created), ("b", Created)]),
        ],
    );
}

#[test]
fn to_close_a_file_is_no_change() {
    let mut place = Place::new("echo > a", &Options::default());
    let mut file = OpenOptions::new().append(true).open(place.root().join("a")).expect("a file");
    file.write_all(b"1").expect("a write");
    place.assert_changes("written", &[("a", Edited)]);
    let before = place.sequence;
    drop(file);
    place.assert_changes("closed", &[]);
    assert_eq!(place.sequence, before);
}

#[test]
fn a_file_is_replaced_and_renamed() {
    check(
        "printf one > a; printf one > b",
        &[
            ("printf two > .a; mv .a a", &[("a", Edited)]),
            ("mv a A", &[("A", Created), ("a", Deleted)]),
            ("mv A b", &[("A", Deleted), ("b", Edited)]),
        ],
    );
}

#[test]
fn what_comes_and_goes_is_not_told_but_counted() {
    let mut place = Place::new("", &Options::default());
    for script in ["echo > a; rm a", "mkdir d; echo > d/f; rm -r d", "echo > a; mv a b; rm b"] {
        let before = place.sequence;
        place.run(script);
        place.assert_changes(script, &[]);
        assert!(place.sequence > before, "an answer found meanwhile may name it");
    }
    check("", &[("echo > a; rm a", &[]), ("mkdir d; echo > d/f; rm -r d", &[])]);
}

#[test]
fn a_new_tree_is_told_with_all_that_is_in_it() {
    check(
        "",
        &[
            (
                "mkdir -p x/y/z; echo > x/y/z/f; echo > x/g",
                &[("x", Created), ("x/g", Created), ("x/y", Created), ("x/y/z", Created), ("x/y/z/f", Created)],
            ),
            ("echo >> x/y/z/f; echo > x/y/h", &[("x/y/h", Created), ("x/y/z/f", Edited)]),
            (
                "rm -r x",
                &[
                    ("x", Deleted),
                    ("x/g", Deleted),
                    ("x/y", Deleted),
                    ("x/y/h", Deleted),
                    ("x/y/z", Deleted),
                    ("x/y/z/f", Deleted),
                ],
            ),
        ],
    );
}

#[test]
fn a_folder_is_renamed_with_all_that_is_in_it() {
    let moved: &[_] = &[
        ("d", Deleted),
        ("d/f", Deleted),
        ("d/s", Deleted),
        ("d/s/g", Deleted),
        ("e", Created),
        ("e/f", Created),
        ("e/s", Created),
        ("e/s/g", Created),
    ];
    check(
        "mkdir -p d/s; echo > d/f; echo > d/s/g",
        &[
            ("mv d e", moved),
            ("echo >> e/s/g", &[("e/s/g", Edited)]),
            ("mkdir d; echo > d/n", &[("d", Created), ("d/n", Created)]),
            ("echo >> d/n; echo >> e/f", &[("d/n", Edited), ("e/f", Edited)]),
            ("mv e/s E", &[("E", Created), ("E/g", Created), ("e/s", Deleted), ("e/s/g", Deleted)]),
            ("mv E e/s; echo >> e/s/g", &[("E", Deleted), ("E/g", Deleted), ("e/s", Created), ("e/s/g", Created)]),
            ("echo > e/s/h", &[("e/s/h", Created)]),
        ],
    );
}

#[test]
fn a_folder_leaves_the_root_and_comes_back() {
    check(
        "mkdir -p d/s; echo > d/s/f",
        &[
            ("mv d ../out; echo >> ../out/s/f", &[("d", Deleted), ("d/s", Deleted), ("d/s/f", Deleted)]),
            ("echo >> ../out/s/f; echo > ../out/g", &[]),
            ("mv ../out d", &[("d", Created), ("d/g", Created), ("d/s", Created), ("d/s/f", Created)]),
            ("echo >> d/s/f", &[("d/s/f", Edited)]),
        ],
    );
}

/// How many watches of the folder this process has.
fn watches_of(folder: &Path) -> usize {
    use std::os::unix::fs::MetadataExt as _;

    let inode = format!(" ino:{:x} ", fs::metadata(folder).expect("a folder").ino());
    let files = fs::read_dir("/proc/self/fdinfo").expect("what is open").flatten();
    let told: Vec<_> = files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    told.iter().flat_map(|told| told.lines()).filter(|line| line.contains("inotify") && line.contains(&inode)).count()
}

#[test]
fn a_folder_that_is_left_is_no_longer_watched() {
    let mut place = Place::new("mkdir -p d/e f", &Options::default());
    let outside = place.folder.path().join("out");
    assert_eq!(watches_of(&place.root().join("d/e")), 1);
    place.run("mv d ../out");
    place.changes();
    assert_eq!((watches_of(&outside), watches_of(&outside.join("e"))), (0, 0));
    place.watch.set_roots(vec![place.root().join("f")], Ignore::default());
    assert_eq!((watches_of(&place.root()), watches_of(&place.root().join("f"))), (0, 1));
}

#[test]
fn a_folder_takes_the_place_of_another() {
    check(
        "mkdir d e; echo > d/f; echo > e/g",
        &[
            ("rm -r d; mkdir d; echo > d/n", &[("d/f", Deleted), ("d/n", Created)]),
            ("echo >> d/n", &[("d/n", Edited)]),
            ("mv d t; mv e d; mv t e", &[("d/g", Created), ("d/n", Deleted), ("e/g", Deleted), ("e/n", Created)]),
            ("echo >> d/g; echo >> e/n", &[("d/g", Edited), ("e/n", Edited)]),
            ("rm -r d; echo > d", &[("d", Edited), ("d/g", Deleted)]),
            ("rm d; mkdir d; echo > d/x", &[("d/x", Created)]),
            ("echo >> d/x; echo > d/y", &[("d/x", Edited), ("d/y", Created)]),
        ],
    );
}

#[test]
fn links_are_told_themselves_and_not_followed() {
    check(
        "mkdir ../out d; echo > ../out/f; echo > d/f",
        &[
            ("ln -s ../out l; ln -s d m", &[("l", Created), ("m", Created)]),
            ("echo >> l/f; echo >> ../out/f; echo > l/g", &[]),
            ("echo >> m/f", &[("d/f", Edited)]),
            ("ln -sfn d l", &[("l", Edited)]),
            ("rm -r d; ln -s ../out d", &[("d", Edited), ("d/f", Deleted)]),
            ("echo > d/h", &[]),
        ],
    );
}

#[test]
fn a_file_with_many_names_is_told_by_all_of_them() {
    check(
        "echo > a; ln a b; mkdir d",
        &[
            ("echo >> b", &[("a", Edited), ("b", Edited)]),
            (
                "ln a d/c; mkdir e; ln a e/d; echo >> e/d",
                &[("a", Edited), ("b", Edited), ("d/c", Created), ("e", Created), ("e/d", Created)],
            ),
        ],
    );
}

#[test]
fn what_is_ignored_is_not_told() {
    for options in [Options::default(), swept()] {
        let before = "mkdir -p .git/objects old.log; echo > .git/HEAD";
        let mut place = Place::ignoring(before, &options, &["**/.git/**", "**/*.log", "**/dist/**"]);
        place.run("echo > .git/HEAD; echo > .git/objects/a; echo > a.log; mkdir -p p/dist/q; echo > p/dist/q/f");
        place.assert_changes("ignored", &[("p", Created)]);
        place.run("echo > old.log/f; mv a.log a; mv p/dist p/src");
        let expected =
            [("a", Created), ("old.log/f", Created), ("p/src", Created), ("p/src/q", Created), ("p/src/q/f", Created)];
        place.assert_changes("no longer ignored", &expected);
        place.run("echo >> p/src/q/f; rm -r old.log; mkdir new.log; echo > new.log/f");
        place.assert_changes("more", &[("new.log/f", Created), ("old.log/f", Deleted), ("p/src/q/f", Edited)]);
        place.run("mv new.log dist");
        place.assert_changes("ignored again", &[("new.log/f", Deleted)]);
        assert_eq!(place.watch.status().watched == 0, options.most_watches == 0);
    }
}

#[test]
fn writes_in_quick_succession_are_found_by_sweeps() {
    let mut place = Place::new("printf one > a", &swept());
    // Without a process in between, they are within one tick of a coarse clock.
    for text in ["two", "six", "ten"].into_iter().cycle().take(50) {
        fs::write(place.root().join("a"), text).expect("a write");
        place.assert_changes(text, &[("a", Edited)]);
    }
}

#[test]
fn many_files_at_once_are_told_one_by_one() {
    for options in [Options::default(), swept()] {
        let mut place = Place::new("mkdir d", &options);
        place.run("i=0; while [ $i -lt 2000 ]; do echo > d/$i; i=$((i+1)); done");
        let found = place.changes();
        assert_eq!(found.len(), 2000);
        assert!(found.iter().all(|(_, kind)| *kind == Created));
        place.run("i=0; while [ $i -lt 500 ]; do echo 2 > d/$i; i=$((i+1)); done");
        assert_eq!(place.changes().len(), 500);
        place.run("rm -r d");
        assert_eq!(place.changes().len(), 2001);
    }
}

#[test]
fn whoever_is_too_far_behind_is_told_so() {
    let mut place = Place::new("", &Options { most_changes: 10, ..Options::default() });
    place.run("for i in 1 2 3 4 5 6 7 8 9 10; do echo > $i; done");
    assert_eq!(place.changes().len(), 10);
    place.run("for i in 1 2 3 4 5 6 7 8 9 10 11; do echo > $i; done");
    assert_eq!(place.catch_up().changed, Changed::Many);
    place.assert_changes("nothing more", &[]);
}

#[test]
fn after_a_queue_that_overflowed_everything_is_looked_at() {
    let mut place = Place::new("mkdir -p a/b c; echo > a/b/f; echo > c/g; echo > x; echo > y", &Options::default());
    let bound = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("the system's bound");
    let mut open =
        ["x", "y"].map(|name| OpenOptions::new().append(true).open(place.root().join(name)).expect("a file"));
    for _ in 0..bound.trim().parse::<usize>().expect("a number") {
        for file in &mut open {
            file.write_all(b"1").expect("a write");
        }
    }
    drop(open);
    // The events of all this are lost.
    place.run("mv a/b c/d; echo >> c/g; mkdir -p n/m; echo > n/m/h; rm y");
    place.assert_changes(
        "overflow",
        &[
            ("a/b", Deleted),
            ("a/b/f", Deleted),
            ("c/d", Created),
            ("c/d/f", Created),
            ("c/g", Edited),
            ("n", Created),
            ("n/m", Created),
            ("n/m/h", Created),
            ("x", Edited),
            ("y", Deleted),
        ],
    );
    place.run("echo >> c/d/f; echo >> n/m/h; echo > a/z");
    place.assert_changes("after it", &[("a/z", Created), ("c/d/f", Edited), ("n/m/h", Edited)]);
}

#[test]
fn folders_beyond_the_bound_of_watches_are_swept_until_there_is_room() {
    let mut place =
        Place::new("mkdir -p a/b c; echo > a/b/f; echo > c/g", &Options { most_watches: 3, ..Options::default() });
    let status = place.watch.status();
    assert_eq!((status.watched, status.files, status.swept.len()), (3, 2, 1));
    assert_eq!((status.swept[0].cause, status.swept[0].folders), (Cause::OutOfWatches, 1));
    assert_eq!(place.watch.catch_up(0), Err(Behind::Slow));
    place.run("echo >> a/b/f; echo >> c/g; mkdir c/d; echo > c/d/h");
    place.assert_changes("both", &[("a/b/f", Edited), ("c/d", Created), ("c/d/h", Created), ("c/g", Edited)]);
    place.run("rm -r a");
    place.assert_changes("fewer", &[("a", Deleted), ("a/b", Deleted), ("a/b/f", Deleted)]);
    place.assert_changes("a look finds room", &[]);
    assert_eq!((place.watch.status().watched, place.watch.status().swept.len()), (3, 0));
    assert!(place.watch.catch_up(0).is_ok());
    place.run("echo >> c/d/h");
    place.assert_changes("watched now", &[("c/d/h", Edited)]);
}

#[test]
fn files_beyond_the_bound_are_told_by_events_only() {
    let mut place =
        Place::new("mkdir d; echo > d/a; echo > d/b; echo > d/c", &Options { most_files: 2, ..Options::default() });
    assert_eq!((place.watch.status().files, place.watch.status().overfull), (2, 1));
    place.run("echo >> d/a; echo >> d/b; echo >> d/c");
    place.assert_changes("edited", &[("d/a", Edited), ("d/b", Edited), ("d/c", Edited)]);
    place.run("rm d/a d/b d/c");
    place.assert_changes("deleted", &[("d/a", Deleted), ("d/b", Deleted), ("d/c", Deleted)]);
    place.run("mv d e");
    assert_eq!(place.catch_up().changed, Changed::Many);
    let mut place = Place::new("echo > a; echo > b", &Options { most_files: 1, ..swept() });
    assert_eq!(place.catch_up().changed, Changed::Many, "nobody can tell");
}

#[test]
fn roots_are_walked_before_anything_is_told_and_come_and_go() {
    let mut place = Place::new("mkdir a b; echo > a/f; echo > b/g", &Options::default());
    let unset = Watch::new(&Options::default());
    assert_eq!((unset.catch_up(0), unset.catch_up_blocking(0)), (Err(Behind::NotReady), Err(Behind::NotReady)));
    let root = place.root();
    place.watch.set_roots(vec![root.join("a"), root.join("missing")], Ignore::default());
    place.run("echo >> a/f; echo >> b/g");
    place.assert_changes("another root", &[("a/f", Edited)]);
    place.run("mkdir missing; echo > missing/h");
    place.assert_changes("it exists now", &[("missing", Created), ("missing/h", Created)]);
    place.run("rm -r missing");
    place.assert_changes("it is gone", &[("missing", Deleted), ("missing/h", Deleted)]);
    place.watch.set_roots(vec![root.clone()], ignore(&["b/**"]));
    place.assert_changes("roots are no changes", &[]);
    place.run("echo >> a/f; echo >> b/g; echo > c");
    place.assert_changes("the first root", &[("a/f", Edited), ("c", Created)]);
    place.watch.set_roots(vec![root], Ignore::default());
    place.assert_changes("what was ignored is no change", &[]);
    place.run("echo >> b/g");
    place.assert_changes("no longer ignored", &[("b/g", Edited)]);
}

#[test]
fn a_root_whose_parent_is_moved_is_looked_at_anew() {
    let mut place = Place::new("echo > a", &Options::default());
    let outer = place.root().join("outer");
    fs::create_dir_all(outer.join("inner")).expect("folders");
    fs::write(outer.join("inner/f"), "").expect("a file");
    place.watch.set_roots(vec![outer.join("inner")], Ignore::default());
    place.changes();
    place.run("mv outer away; mkdir -p outer/inner; echo > outer/inner/g");
    place.assert_changes("another folder", &[("outer/inner/f", Deleted), ("outer/inner/g", Created)]);
    place.run("echo > away/inner/f; echo >> outer/inner/g");
    place.assert_changes("and only that", &[("outer/inner/g", Edited)]);
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    /// A path of up to three names out of few, so that what is done often meets what is there.
    fn path(&mut self) -> PathBuf {
        (0..=self.below(3)).map(|_| ["a", "b", "c", "A"][self.below(4)]).collect()
    }

    /// Does something to the tree, or fails to.
    fn write(&mut self, root: &Path) {
        let (path, other) = (root.join(self.path()), root.join(self.path()));
        let _ = match self.below(9) {
            0..=2 => fs::write(&path, ["x", "y", "zz"][self.below(3)]),
            3 => fs::create_dir_all(&path),
            4 => fs::remove_file(&path),
            5 if self.below(3) == 0 => fs::remove_dir_all(&path),
            6 => std::os::unix::fs::symlink(self.path(), &path),
            7 => OpenOptions::new().append(true).open(&path).and_then(|mut file| file.write_all(b"+")),
            _ => fs::rename(&path, &other),
        };
    }
}

/// What each path under the root holds: a text, or what kind of thing it is.
fn contents(folder: &Path, into: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let (path, found) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))).expect("an entry");
        let text = if found.is_dir() {
            contents(&path, into);
            "a folder".to_owned()
        } else if found.is_symlink() {
            format!("{} {}", fs::read_link(&path).expect("a link").display(), found.len())
        } else {
            fs::read_to_string(&path).expect("a file")
        };
        into.insert(path, text);
    }
}

fn contents_of(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut contents = BTreeMap::new();
    self::contents(root, &mut contents);
    contents
}

/// Whether the changes account for everything that differs, and only tell what can be so.
fn assert_told(before: &BTreeMap<PathBuf, String>, after: &BTreeMap<PathBuf, String>, changes: &Changes) {
    let Changed::These(changes) = &changes.changed else { panic!("too many changes") };
    let told: BTreeMap<_, _> = changes.iter().map(|change| (&change.path, change.kind)).collect();
    for (path, kind) in &told {
        let expected = match (before.contains_key(*path), after.contains_key(*path)) {
            (false, true) => Created,
            (true, true) => Edited,
            (true, false) => Deleted,
            (false, false) => panic!("{} came and went", path.display()),
        };
        assert_eq!(*kind, expected, "{}", path.display());
    }
    for path in before.keys().chain(after.keys()) {
        assert!(before.get(path) == after.get(path) || told.contains_key(path), "{} is not told", path.display());
    }
}

#[test]
fn whatever_is_done_every_difference_is_told() {
    let some = Options { most_watches: 6, ..Options::default() };
    for (seed, options) in (1..).zip([Options::default(), Options::default(), some.clone(), some, swept()]) {
        let mut place = Place::new("", &options);
        let (root, mut dice) = (place.root(), Dice(seed));
        let mut before = BTreeMap::new();
        for _ in 0..400 {
            for _ in 0..=dice.below(12) {
                dice.write(&root);
            }
            let changes = place.catch_up();
            let after = contents_of(&root);
            assert_told(&before, &after, &changes);
            before = after;
        }
        let status = place.watch.status();
        let folders = 1 + before.values().filter(|held| *held == "a folder").count();
        let swept: usize = status.swept.iter().map(|swept| swept.folders).sum();
        assert_eq!((status.watched + swept, status.files), (folders, 1 + before.len() - folders));
    }
}

#[test]
fn while_others_write_nothing_is_missed() {
    for most_watches in [65_536, 6, 0] {
        let mut place = Place::new("", &Options { most_watches, most_changes: 1_000_000, ..Options::default() });
        let root = place.root();
        let mut known = BTreeSet::new();
        let is_over = AtomicBool::new(false);
        let mut rounds = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut dice = Dice(7);
                for _ in 0..5_000 {
                    dice.write(&root);
                }
                is_over.store(true, Ordering::Release);
            });
            let mut goes_on = true;
            while goes_on {
                // Read first: the last round is after the last write.
                goes_on = !is_over.load(Ordering::Acquire);
                let Changed::These(changes) = place.catch_up().changed else { panic!("too many changes") };
                for change in changes {
                    match change.kind {
                        Deleted => known.remove(&change.path),
                        Created | Edited => known.insert(change.path),
                    };
                }
                rounds += 1;
            }
        });
        assert!(rounds > 1);
        assert!(known.iter().eq(contents_of(&root).keys()));
        let before = contents_of(&root);
        let mut dice = Dice(8);
        (0..50).for_each(|_| dice.write(&root));
        let changes = place.catch_up();
        assert_told(&before, &contents_of(&root), &changes);
    }
}

#[test]
fn new_folders_are_written_into_while_they_are_looked_at() {
    let mut place = Place::new("", &Options { most_changes: 1_000_000, ..Options::default() });
    let root = place.root();
    let names: Vec<String> = (0..2000).flat_map(|folder| (0..4).map(move |file| format!("{folder}/{file}"))).collect();
    let is_over = AtomicBool::new(false);
    let mut told = BTreeSet::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for name in &names {
                let _ = fs::create_dir(root.join(name).parent().expect("a folder"));
                fs::write(root.join(name), "").expect("a write");
            }
            is_over.store(true, Ordering::Release);
        });
        let mut goes_on = true;
        while goes_on {
            goes_on = !is_over.load(Ordering::Acquire);
            told.extend(place.changes().into_iter().map(|(path, _)| path));
        }
    });
    let missed: Vec<_> = names.iter().filter(|name| !told.contains(*name)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn an_ignored_file_that_is_followed_is_told_of_and_nothing_else_that_is_ignored() {
    let before = "mkdir -p dist/deep; touch dist/deep/a dist/deep/b dist/c; touch -d '1 hour ago' dist/deep/a dist/c";
    for options in [Options::default(), swept()] {
        let mut place = Place::ignoring(before, &options, &["**/dist/**"]);
        place.run("sleep 0.01; touch dist/deep/a");
        place.assert_changes("nobody follows it yet", &[]);
        let follow = |place: &Place, name: &str| place.watch.follow([place.root().join(name)]);
        // So short a time after it was written, nobody can tell what whoever named it has read.
        follow(&place, "dist/deep/a");
        place.assert_changes("it is young", &[("dist/deep/a", Edited)]);
        follow(&place, "dist/deep/a");
        place.assert_changes("it is followed already", &[]);

        place.run("echo 1 > dist/deep/a; echo 1 > dist/deep/b; echo 1 > dist/c");
        place.assert_changes("one of them is followed", &[("dist/deep/a", Edited)]);
        place.run("mv dist/deep dist/other");
        place.assert_changes("a folder on the way has moved", &[("dist/deep/a", Deleted)]);
        place.run("mv dist/other dist/deep");
        place.assert_changes("it is back", &[("dist/deep/a", Created)]);
    }
}
