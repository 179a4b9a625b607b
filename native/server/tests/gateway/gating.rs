//! The gate under attack: a real folder with a file outside the roots that must never be asked about, opened or named.
//!
//! What is tried is made up from the seed of the property tests, so a failure comes again, and as often as they try. Real
//! folders and links are used, because what is attacked is how paths are resolved.
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use gateway_core::ask::{Ask, Raw, Shape, Subject};
use gateway_core::error::{ErrorCode, ToolError};
use gateway_core::hover::{RawHoverFragment, RawHovers};
use gateway_core::limits::Limits;
use gateway_core::location::{RawLocation, RawLocations, RawTarget, RawTargets};
use gateway_core::position::{Position, Range};
use gateway_core::symbol::{RawWorkspaceSymbol, RawWorkspaceSymbols, SymbolKind};
use gateway_core::tools;
use gateway_server::access::Access;
use gateway_server::catalog;
use gateway_server::editor::{Editor, EditorError, Language, MainDocument, OpenDocument, Readiness};
use gateway_server::gateway::{Gateway, Settings};
use gateway_server::lifecycle::Calls as _;
use gateway_server::session::Sessions;
use gateway_server::watch::Ignore;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::{Value, json};
use tempfile::TempDir;

/// In the name and in the text of everything that lies outside, and of nothing else.
const CANARY: &str = "canary";

/// For each case of a property, how many URIs are tried while nothing moves, and how many calls are made while links are
/// swapped. The usual 256 cases have each way to begin a URI meet each way to leave a root fifteen times on average.
const SPELLINGS_PER_CASE: usize = 40;
const CALLS_PER_CASE: usize = 20;

/// How often a call is made whose disk takes too long.
const MAX_TRIES: usize = 10;

const DEFINITION: &str = "vscode.lsp.definition";
const REFERENCES: &str = "vscode.lsp.references";
const HOVER: &str = "vscode.lsp.hover";
const DOCUMENT_SYMBOLS: &str = "vscode.lsp.documentSymbols";
const WORKSPACE_SYMBOLS: &str = "vscode.lsp.workspaceSymbols";
const DOCUMENT_DIAGNOSTICS: &str = "vscode.lsp.diagnostics.document";

const NOWHERE: Range = Range { start: Position { line: 0, character: 0 }, end: Position { line: 0, character: 1 } };

/// A generator of numbers that are the same in every run (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    /// The numbers of this test, or of this part of one.
    fn of(part: u64) -> Self {
        match ProptestConfig::default().rng_seed {
            RngSeed::Fixed(seed) => Self(seed.wrapping_add(part)),
            RngSeed::Random => Self(part),
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

fn cases() -> usize {
    usize::try_from(ProptestConfig::default().cases).expect("a count in memory")
}

/// The folder: `project`, `linked` (a link to `really`), `project/nested` and `decomposé` are roots.
struct Tree {
    folder: TempDir,
    base: String,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = fs::canonicalize(folder.path()).expect("its real path");
        let text = base.to_str().expect("a plain path").to_owned();
        let tree = Self { folder, base: text };
        for file in ["project/a.ts", "project/deep/b.ts", "project/nested/c.ts", "really/d.ts", "decompos\u{e9}/e.ts"] {
            tree.write(file, "inside");
        }
        // Beside the roots: what differs from one in case, in Unicode normalisation, or by what follows.
        for file in [
            "canary/canary.ts",
            "canary/deep/canary.ts",
            "PROJECT/canary.ts",
            "project-canary/canary.ts",
            "decompose\u{301}/canary.ts",
            "really-canary/canary.ts",
            "canary.ts",
        ] {
            tree.write(file, CANARY);
        }
        tree.link("linked", "really");
        tree.link("project/out", "../canary");
        tree.link("project/deep/out.ts", "../../canary/canary.ts");
        tree.link("project/far", &format!("{}/canary/deep", tree.base));
        tree.link("project/ring", "ring");
        tree.link("project/up", "..");
        tree.link("canary/back", "../project");
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        Path::new(&self.base).join(path)
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.base)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.at(name)).expect("a link");
    }

    fn roots(&self) -> Vec<PathBuf> {
        ["project", "linked", "project/nested", "decompos\u{e9}"].map(|root| self.at(root)).into()
    }

    /// Every canonical URI that an answer may hold.
    fn inside(&self) -> BTreeSet<String> {
        let files = ["project/a.ts", "project/deep/b.ts", "project/nested/c.ts", "really/d.ts", "decompos%C3%A9/e.ts"];
        files.map(|file| self.uri(file)).into()
    }
}

/// An editor that notes what it is asked to open, opens it, and finds everything everywhere.
#[derive(Clone)]
struct Spy {
    found: Arc<Vec<String>>,
    asked: Arc<Mutex<BTreeSet<String>>>,
    read_the_canary: Arc<AtomicBool>,
    /// What happens when the next document is to be opened.
    while_opening: WhileOpening,
}

type WhileOpening = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

impl Spy {
    fn note(&self, uri: &str) {
        let path = uri.strip_prefix("file://").expect("a file").replace("%C3%A9", "\u{e9}");
        // By way of a root that is a link, a link that is changed at this very moment leads the editor away. All that can
        // be done is not to pass on what it says then.
        if !path.contains("/linked/") && fs::read_to_string(path).is_ok_and(|text| text.contains(CANARY)) {
            self.read_the_canary.store(true, Ordering::Relaxed);
        }
        self.asked.lock().expect("nobody panics while holding it").insert(uri.to_owned());
    }
}

impl Editor for Spy {
    async fn open(&self, uri: &str, position: Option<Position>) -> Result<OpenDocument, EditorError> {
        if let Some(happens) = self.while_opening.lock().expect("as above").take() {
            happens();
        }
        self.note(uri);
        let language = Language { id: "a".to_owned(), has_readiness_probe: true };
        Ok(OpenDocument { line_count: 1, line_length: position.map(|_| 6), language, ready: true, in_tab: true })
    }

    async fn ready(&self, _: &str, _: bool) -> Result<Readiness, EditorError> {
        Ok(Readiness::Shown)
    }

    async fn main_documents(&self) -> Result<Vec<MainDocument>, EditorError> {
        Ok(Vec::new())
    }

    async fn ask(&self, ask: Ask, subject: &Subject, _: Option<Duration>) -> Result<Raw, EditorError> {
        if let Some(uri) = subject.uri() {
            self.note(uri);
        }
        let each_found = || (0..).zip(self.found.iter()).map(|(uri, _)| uri);
        Ok(match ask.shape {
            Shape::Targets if ask.is_optional => return Err(EditorError::Unavailable(None)),
            Shape::Targets => {
                let items = each_found().map(|uri| RawTarget { uri, range: NOWHERE, selection: None });
                Raw::Targets(RawTargets { uris: self.found.to_vec(), items: items.collect(), without_range: 0 })
            }
            Shape::Locations => {
                let items = each_found().map(|uri| RawLocation { uri, range: NOWHERE }).collect();
                Raw::Locations(RawLocations { uris: self.found.to_vec(), items, without_range: 0 })
            }
            Shape::Hovers => {
                let fragment = RawHoverFragment { range: None, language: None, value: 0 };
                Raw::Hovers(RawHovers { strings: vec!["text".to_owned()], items: vec![fragment] })
            }
            Shape::WorkspaceSymbols => {
                let mut strings = self.found.to_vec();
                strings.push("name".to_owned());
                let (name, kind) =
                    (u32::try_from(strings.len()).ok().map(|count| count - 1), SymbolKind::of_lsp(12).expect("a kind"));
                let symbol = |uri| RawWorkspaceSymbol { name, kind, container_name: None, uri, range: Some(NOWHERE) };
                Raw::WorkspaceSymbols(RawWorkspaceSymbols { items: each_found().map(symbol).collect(), strings })
            }
            // Those of other shapes name no file, or need none here.
            _ => ask.shape.nothing(),
        })
    }
}

struct Attacked {
    tree: Arc<Tree>,
    spy: Spy,
    gateway: Arc<Gateway<Spy>>,
}

impl Attacked {
    fn new(found: impl FnOnce(&Tree) -> Vec<String>) -> Self {
        let tree = Arc::new(Tree::new());
        let spy = Spy {
            found: Arc::new(found(&tree)),
            asked: Arc::default(),
            read_the_canary: Arc::default(),
            while_opening: Arc::default(),
        };
        let limits = Limits::tightened(200, 524_288, Duration::from_secs(2));
        // What is swapped all the time would be waited for.
        let ignore = Ignore::new(&["**".to_owned()]);
        let settings =
            Settings { roots: tree.roots(), access: Access::default(), catalog: tools::v1(), limits, ignore };
        let sessions = Sessions::new(&[0; 32], "workspace", &[], Box::new(|_| ()));
        let gateway = Gateway::new(spy.clone(), settings, sessions, "1.2.3".to_owned(), 1);
        Self { tree, spy, gateway: Arc::new(gateway) }
    }

    /// Asks one of the tools about a file, and looks through what it says.
    async fn try_one(&self, tool: &str, uri: &str, inside: &BTreeSet<String>) -> Result<(), ToolError> {
        let tool = tools::named(tool).expect("there is such a tool");
        let arguments = match tool.name() {
            WORKSPACE_SYMBOLS => json!({ "query": "a" }),
            DOCUMENT_SYMBOLS | DOCUMENT_DIAGNOSTICS => json!({ "uri": uri }),
            _ => json!({ "uri": uri, "position": { "line": 0, "character": 0 } }),
        };
        let mut tries = 0;
        let payload = loop {
            tries += 1;
            let arguments = catalog::read(tool, &arguments).expect("they fit");
            match self.gateway.call(tool, arguments, 100).await {
                Ok(answered) => break answered.json(),
                Err(error) => {
                    let told = format!("{} {:?}", error.message(Spy::WORDING), error.details());
                    assert!(!told.contains(CANARY) && !told.contains(&self.tree.base), "{uri:?}: {told}");
                    // That the disk took too long once says nothing of the file.
                    if error.code() != ErrorCode::CapExceeded || tries == MAX_TRIES {
                        return Err(error);
                    }
                }
            }
        };
        let payload: Value = serde_json::from_slice(&payload).expect("a payload is JSON");
        let mut named = BTreeSet::new();
        uris_of(&payload, &mut named);
        assert!(named.is_subset(inside), "{uri:?} gives {payload}");
        Ok(())
    }

    fn check_what_was_opened(&self) {
        let known_as =
            ["linked/d.ts", "project/a.ts", "project/deep/b.ts", "project/nested/c.ts", "decompos%C3%A9/e.ts"];
        let known_as: BTreeSet<String> = known_as.iter().map(|file| self.tree.uri(file)).collect();
        let asked = self.spy.asked.lock().expect("as above").clone();
        assert!(asked.is_subset(&known_as), "the editor was asked about {asked:?}");
        assert!(!asked.is_empty(), "what lies inside is asked about");
        assert!(!self.spy.read_the_canary.load(Ordering::Relaxed), "the canary was read");
    }
}

fn uris_of(value: &Value, uris: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| uris_of(item, uris)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(uri) if name == "uri" => _ = uris.insert(uri.clone()),
                    member => uris_of(member, uris),
                }
            }
        }
        _ => {}
    }
}

/// One way to write a character of a path: as it is, escaped in several ways, or as something that only looks like it.
fn spell(character: char, numbers: &mut Numbers) -> String {
    let mut utf8 = [0; 4];
    let bytes = character.encode_utf8(&mut utf8).as_bytes();
    let escaped = |form: fn(u8) -> String| bytes.iter().map(|byte| form(*byte)).collect::<String>();
    match (numbers.below(40), character) {
        (0, _) => escaped(|byte| format!("%{byte:02x}")),
        (1, _) => escaped(|byte| format!("%{byte:02X}")),
        (2, _) => escaped(|byte| format!("%25{byte:02x}")),
        (3, '.') => "%c0%ae".to_owned(),
        (4, '.') => "%e0%80%ae".to_owned(),
        (5, '.') => "\u{ff0e}".to_owned(),
        (3, '/') => "%c0%af".to_owned(),
        (4, '/') => "%5c".to_owned(),
        (5, '/') => "\\".to_owned(),
        (6, '/') => "//".to_owned(),
        (7, '/') => "/./".to_owned(),
        (8, '/') => "\u{2215}".to_owned(),
        (9, '/') => "%2F..%2F".to_owned(),
        (6, _) if character.is_ascii_alphabetic() => character.to_ascii_uppercase().to_string(),
        (7, '\u{e9}') => "e\u{301}".to_owned(),
        (8, '\u{e9}') => "e%CC%81".to_owned(),
        (9, _) if numbers.below(8) == 0 => "%00".to_owned(),
        (10, _) if numbers.below(8) == 0 => format!("{character}%ff"),
        (11, _) if numbers.below(8) == 0 => format!("{character}%"),
        _ => character.to_string(),
    }
}

/// A URI of something outside, in some spelling: straight, by climbing out of a root, or through a link.
fn attack(tree: &Tree, numbers: &mut Numbers) -> String {
    let scheme = *numbers.pick(&[
        "file://",
        "file://",
        "file://",
        "file://",
        "file://",
        "FILE://",
        "file:",
        "file:///",
        "file://localhost",
        "file://LOCALHOST",
        "file://host",
        "file://127.0.0.1",
        "file://user@localhost",
        "file:\\\\",
        "file://./",
        "file://?/",
        "//",
        "http://localhost",
        "vscode-file://",
        "file://server/share",
        "file:///c:",
        "file:///C%3A",
        "file:///c%7C",
        "file:////server/share",
        "file:///%5C%5Cserver%5Cshare",
        "",
    ]);
    let from =
        *numbers.pick(&["", "project/", "project/deep/", "linked/", "decompos\u{e9}/", "project/nested/", "really/"]);
    let through = *numbers.pick(&[
        "../canary/canary.ts",
        "../../canary/canary.ts",
        "canary/canary.ts",
        "out/canary.ts",
        "deep/out.ts",
        "out.ts",
        "far/canary.ts",
        "up/canary/canary.ts",
        "up/up/canary.ts",
        "../canary.ts",
        "../PROJECT/canary.ts",
        "../project-canary/canary.ts",
        "-canary/canary.ts",
        "../decompose\u{301}/canary.ts",
        "ring/../../canary.ts",
        "a.ts/../../canary.ts",
        "none/../../canary/canary.ts",
        "out/../canary/canary.ts",
        "out/back/a.ts",
        "nested/../../canary.ts",
        "out/deep/../canary.ts",
        "../really-canary/canary.ts",
        "out",
        "..",
        "out/..",
        "up",
    ]);
    let after =
        *numbers.pick(&["", "", "", "", "?", "?a=b", "#", "#a.ts", "/", "/.", "/..", " ", "%20", ".", "::$DATA", ";a"]);
    let path = format!("{}/{from}{through}", tree.base);
    // Sparse enough that most segments survive and the whole still names something.
    let rate = numbers.below(4);
    let spelled: String = path
        .chars()
        .map(|character| if numbers.below(4) < rate { spell(character, numbers) } else { character.to_string() })
        .collect();
    format!("{scheme}{spelled}{after}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_file_outside_reaches_it_or_tells_whether_it_is_there() {
    let found =
        |tree: &Tree| vec![tree.uri("project/a.ts"), tree.uri("canary/canary.ts"), tree.uri("project/out/canary.ts")];
    let attacked = Arc::new(Attacked::new(found));
    let spellings = SPELLINGS_PER_CASE * cases();
    let tools = [DEFINITION, REFERENCES, HOVER, DOCUMENT_SYMBOLS];
    let (denied, invalid, inside_after_all) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let counts = Arc::new((denied, invalid, inside_after_all));
    let halves = [1, 2].map(|seed| {
        let (attacked, counts) = (Arc::clone(&attacked), Arc::clone(&counts));
        tokio::spawn(async move {
            let mut numbers = Numbers::of(seed);
            let inside = attacked.tree.inside();
            for _ in 0..spellings / 2 {
                let uri = attack(&attacked.tree, &mut numbers);
                let tool = *numbers.pick(&tools);
                let answered = attacked.try_one(tool, &uri, &inside).await;
                // The same question about something that is not there: nothing may tell the two apart, unless the real
                // file turned out to lie inside.
                if let Err(refusal) = &answered {
                    let absent = attacked.try_one(tool, &uri.replace("canary.ts", "absent.ts"), &inside).await;
                    assert_eq!(absent.as_ref(), Err(refusal), "{uri:?}");
                }
                match answered.map_err(|error| error.code()) {
                    Err(ErrorCode::WorkspaceDenied) => counts.0.fetch_add(1, Ordering::Relaxed),
                    // `NOT_FOUND` is a folder inside, to which some spellings lead.
                    Err(ErrorCode::UriInvalid | ErrorCode::NotFound) => counts.1.fetch_add(1, Ordering::Relaxed),
                    Ok(()) => counts.2.fetch_add(1, Ordering::Relaxed),
                    Err(code) => panic!("{uri:?}: {code:?}"),
                };
            }
        })
    });
    for half in halves {
        half.await.expect("no attempt got through");
    }
    attacked.try_one(HOVER, &attacked.tree.uri("project/a.ts"), &attacked.tree.inside()).await.expect("inside");
    attacked.check_what_was_opened();
    // That the attempts are worth something: a good part of them is well formed and name what is outside.
    let (denied, invalid, inside_after_all) = &*counts;
    println!("denied {denied:?}, invalid {invalid:?}, inside after all {inside_after_all:?}");
    assert!(denied.load(Ordering::Relaxed) > spellings / 10, "{denied:?} were denied");
}

/// Puts a link in the place of another, in one step.
fn swap(link: &Path, target: &Path) {
    let fresh = link.with_extension("fresh");
    symlink(target, &fresh).expect("a link");
    fs::rename(fresh, link).expect("in its place");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outside_is_answered_or_opened_while_links_and_roots_are_swapped() {
    let found = |tree: &Tree| {
        ["project/flip/b.ts", "linked/d.ts", "canary/canary.ts", "project/a.ts", "really/d.ts", "project/flip.ts"]
            .map(|file| tree.uri(file))
            .into()
    };
    let attacked = Attacked::new(found);
    let tree = Arc::clone(&attacked.tree);
    // Behind each of these names lies, in turn, something inside and something outside.
    tree.write("canary/b.ts", CANARY);
    tree.write("canary/d.ts", CANARY);
    tree.link("project/flip", "deep");
    tree.link("project/flip.ts", "a.ts");
    let done = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (tree, done) = (Arc::clone(&tree), Arc::clone(&done));
        thread::spawn(move || {
            let mut swaps = 0;
            while !done.load(Ordering::Relaxed) {
                for (flip, file, linked) in [("../canary", "../canary/canary.ts", "canary"), ("deep", "a.ts", "really")]
                {
                    swap(&tree.at("project/flip"), Path::new(flip));
                    swap(&tree.at("project/flip.ts"), Path::new(file));
                    swap(&tree.at("linked"), Path::new(linked));
                    swaps += 1;
                }
                // A root that is gone, and another folder under its name.
                fs::rename(tree.at("decompos\u{e9}"), tree.at("away")).expect("moved");
                symlink("canary", tree.at("decompos\u{e9}")).expect("a link");
                fs::remove_file(tree.at("decompos\u{e9}")).expect("removed");
                fs::rename(tree.at("away"), tree.at("decompos\u{e9}")).expect("moved back");
            }
            swaps
        })
    };
    let calls = CALLS_PER_CASE * cases();
    let mut numbers = Numbers::of(3);
    let inside = tree.inside();
    let mut answered = 0;
    for _ in 0..calls {
        let file = *numbers.pick(&[
            "project/flip/b.ts",
            "project/flip.ts",
            "linked/d.ts",
            "project/flip/../flip/b.ts",
            "project/flip/d.ts",
            "linked/canary.ts",
            "project/flip/canary.ts",
            "project/a.ts",
            "linked/../canary/canary.ts",
        ]);
        let tool = *numbers.pick(&[DEFINITION, REFERENCES, HOVER, DOCUMENT_SYMBOLS, WORKSPACE_SYMBOLS]);
        match attacked.try_one(tool, &tree.uri(file), &inside).await {
            Ok(()) => answered += 1,
            Err(error) => assert!(
                matches!(error.code(), ErrorCode::WorkspaceDenied | ErrorCode::UriInvalid | ErrorCode::NotFound),
                "{file}: {error:?}"
            ),
        }
    }
    done.store(true, Ordering::Relaxed);
    let swaps = swapping.join().expect("the swapping goes on to the end");
    println!("{answered} of {calls} calls were answered during {swaps} swaps");
    attacked.check_what_was_opened();
    assert!(swaps > 100 && answered > 100 && answered < calls, "{answered} answered, {swaps} swaps");
    drop(attacked);
    assert!(tree.folder.path().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_about_a_file_whose_name_leads_elsewhere_by_the_time_it_comes_is_not_given() {
    let tools = [DEFINITION, REFERENCES, HOVER, DOCUMENT_SYMBOLS, DOCUMENT_DIAGNOSTICS];
    for tool in tools {
        for (file, name, target) in
            [("linked/d.ts", "linked", "canary"), ("project/deep/b.ts", "project/deep", "../canary")]
        {
            let attacked = Attacked::new(|tree| vec![tree.uri("project/a.ts")]);
            let (uri, inside) = (attacked.tree.uri(file), attacked.tree.inside());
            if tool != DOCUMENT_DIAGNOSTICS {
                attacked.try_one(tool, &uri, &inside).await.expect("nothing has moved");
            }
            attacked.tree.write(&format!("canary/{}", file.rsplit('/').next().expect("a name")), CANARY);
            let tree = Arc::clone(&attacked.tree);
            *attacked.spy.while_opening.lock().expect("as above") = Some(Box::new(move || {
                fs::rename(tree.at(name), tree.at("away")).expect("moved away");
                symlink(target, tree.at(name)).expect("a link in its place");
            }));
            let refused = attacked.try_one(tool, &uri, &inside).await.expect_err("it is about another file");
            assert_eq!(refused.code(), ErrorCode::WorkspaceDenied, "{tool:?} of {file}: {refused:?}");
        }
    }
}
