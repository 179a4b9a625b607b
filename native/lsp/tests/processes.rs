//! Real processes: the scripted server under our supervisor.
#![cfg(unix)]
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway_lsp::connection::{Connection, Peer, Refusal, RequestError};
use gateway_lsp::process::{Exit, STDERR_TAIL, Spawned, Spec, Supervisor, spawn};
use rustix::process::{Pid, Signal, getpgid, kill_process, test_kill_process};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

const SERVER: &str = env!("CARGO_BIN_EXE_scripted-server");
const HOST: &str = env!("CARGO_BIN_EXE_host");

/// For what takes no time unless it never comes.
const SOON: Duration = Duration::from_secs(20);

struct Nobody;

impl Peer for Nobody {
    fn notified(&self, _method: &str, _params: &RawValue) {}

    fn asked(&self, _method: &str, _params: &RawValue) -> Option<Result<Value, Refusal>> {
        None
    }
}

/// A server's script, and what it has logged.
struct Scripted {
    folder: tempfile::TempDir,
    script: Value,
}

impl Scripted {
    fn by(script: Value) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), script }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn args(&self) -> [String; 4] {
        ["--log".into(), self.log().to_str().unwrap().into(), "--script".into(), self.script.to_string()]
    }

    fn spawn(&self) -> Spawned {
        spawn(&spec(SERVER, self.args())).unwrap()
    }

    /// The numbers of its processes, once there are so many.
    async fn pids(&self, count: usize) -> Vec<Pid> {
        let pids = || {
            let lines = self.lines().into_iter();
            let numbers = lines.filter_map(|line| line["started"].as_i64().or(line["spawned"].as_i64()));
            numbers.map(|pid| Pid::from_raw(pid.try_into().unwrap()).unwrap()).collect::<Vec<_>>()
        };
        until(|| pids().len() == count).await;
        pids()
    }

    fn lines(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        // The last line may be under way.
        log.split_inclusive('\n').filter_map(|line| serde_json::from_str(line.strip_suffix('\n')?).ok()).collect()
    }
}

fn spec(program: &str, args: impl IntoIterator<Item = impl Into<String>>) -> Spec {
    Spec {
        program: program.into(),
        args: args.into_iter().map(|arg| arg.into().into()).collect(),
        env: Vec::new(),
        cwd: std::env::current_dir().unwrap(),
        supervisor: Supervisor { program: HOST.into(), args: vec!["supervise".into()] },
    }
}

fn shell(script: &str) -> Spec {
    spec("/bin/sh", ["-c", script])
}

async fn until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        assert!(Instant::now() < deadline, "it does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn gone(pids: &[Pid]) {
    until(|| pids.iter().all(|pid| test_kill_process(*pid).is_err())).await;
}

fn alive(pids: &[Pid]) -> bool {
    pids.iter().all(|pid| test_kill_process(*pid).is_ok())
}

async fn within<T>(wanted: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, wanted).await.expect("it comes")
}

/// What a process has printed until it closed its stdout.
async fn printed(spawned: &mut Spawned) -> String {
    let mut text = String::new();
    within(spawned.stdout.read_to_string(&mut text)).await.unwrap();
    text
}

/// How many processes those are.
const CLINGING: usize = if cfg!(target_os = "linux") { 4 } else { 3 };

/// What stays behind when nobody cares: a server that does not end with its stdin, a child in its group, and, where those can
/// be found, a daemon and its child.
fn clinging() -> Scripted {
    let daemon = json!({ "spawn": if cfg!(target_os = "linux") { "daemon" } else { "child" } });
    Scripted::by(json!({ "rules": [
        { "on": "start", "do": [{ "spawn": "child" }, daemon] },
        { "on": "eof", "do": [] },
        { "on": "exit", "do": [{ "exit": 3 }] },
        { "on": "abort", "do": [{ "abort": true }] },
    ] }))
}

#[tokio::test]
async fn a_conversation_with_a_server_whatever_its_way_of_writing() {
    let scripted = Scripted::by(json!({
        "style": { "header": "content-type: x\r\ncontent-length:", "before": "loading...\n", "cut": 3, "join": 2 },
        "rules": [{ "on": "initialize", "do": [
            { "ask": { "method": "workspace/configuration", "params": { "items": [{}] }, "then": [
                { "honest": true },
                { "notify": { "method": "y" } },
            ] } },
            { "notify": { "method": "window/logMessage", "params": { "type": 3, "message": "µ" } } },
        ] }, { "on": "shutdown", "do": [{ "honest": true }, { "bytes": "\n" }, { "notify": { "method": "x" } }] }],
    }));
    let Spawned { process, stdin, stdout } = scripted.spawn();
    let connection = Connection::start(stdout, stdin, Arc::new(Nobody));
    let initialize = connection.request("initialize", Some(json!({ "rootUri": null })), SOON);
    connection.notify("initialized", Some(json!({}))).unwrap();
    let shutdown = connection.request("shutdown", None::<()>, SOON);
    let result: Value = serde_json::from_str(initialize.await.unwrap().get()).unwrap();
    assert_eq!(result["serverInfo"]["name"], "scripted-server");
    assert_eq!(shutdown.await.unwrap().get(), "null");
    connection.notify("exit", None::<()>).unwrap();
    assert_eq!(within(process.end(SOON)).await, Exit { code: Some(0) });
    within(connection.ended()).await;
    let refused = json!({ "code": -32601, "message": "This client does not know it." });
    let received: Vec<_> = scripted.lines().iter().map(|line| line["received"].clone()).collect();
    assert!(received.contains(&json!({ "jsonrpc": "2.0", "id": "asked-1", "error": refused })), "{received:?}");
    assert!(received.contains(&json!({ "jsonrpc": "2.0", "method": "exit" })), "{received:?}");
}

#[tokio::test]
async fn a_server_that_does_not_end_is_killed_with_all_that_it_has_started() {
    let scripted = clinging();
    let spawned = scripted.spawn();
    let pids = scripted.pids(CLINGING).await;
    assert!(alive(&pids));
    let exit = within(spawned.process.end(Duration::ZERO)).await;
    assert_eq!(exit, Exit { code: Some(128 + 9) });
    assert!(scripted.lines().contains(&json!({ "eof": true })), "it could have ended by itself");
    gone(&pids).await;
}

#[tokio::test]
async fn what_a_server_leaves_behind_when_it_ends_is_killed() {
    for (method, code) in [("exit", 3), ("abort", 128 + 6)] {
        let scripted = clinging();
        let Spawned { process, stdin, stdout } = scripted.spawn();
        let connection = Connection::start(stdout, stdin, Arc::new(Nobody));
        let pids = scripted.pids(CLINGING).await;
        let asked = connection.request("x", None::<()>, SOON);
        connection.notify(method, None::<()>).unwrap();
        assert_eq!(within(process.ended()).await, Exit { code: Some(code) });
        gone(&pids).await;
        // The daemon had the server's stdout as well.
        within(connection.ended()).await;
        assert_eq!(asked.await.unwrap_err(), RequestError::NoMethod);
    }
}

#[tokio::test]
async fn a_wrapper_takes_the_real_server_with_it() {
    let scripted = clinging();
    let args = ["--wrapper".to_owned()].into_iter().chain(scripted.args());
    let spawned = spawn(&spec(SERVER, args)).unwrap();
    let pids = scripted.pids(CLINGING).await;
    within(spawned.process.end(Duration::ZERO)).await;
    gone(&pids).await;
}

#[tokio::test]
async fn nothing_is_left_when_we_are_killed() {
    let scripted = clinging();
    let mut us = Command::new(HOST).arg("parent").arg(SERVER).args(scripted.args()).spawn().unwrap();
    let pids = scripted.pids(CLINGING).await;
    assert!(alive(&pids));
    us.kill().unwrap();
    us.wait().unwrap();
    gone(&pids).await;
}

#[tokio::test]
async fn a_process_ends_with_its_handle_whoever_else_there_is() {
    let scripted = clinging();
    let Spawned { process, stdin, stdout } = scripted.spawn();
    let pids = scripted.pids(CLINGING).await;
    // Started later, it could have inherited the end of the pipe that was written to.
    let other = shell("read nothing");
    let other = spawn(&other).unwrap();
    drop(process);
    gone(&pids).await;
    drop((stdin, stdout));
    assert_eq!(within(other.process.end(Duration::ZERO)).await, Exit { code: Some(1) });
}

#[tokio::test]
async fn who_waits_for_room_in_the_pipe_is_told_that_it_was_closed() {
    let Spawned { process, mut stdin, stdout: _stdout } = spawn(&shell("while :; do sleep 1000; done")).unwrap();
    let writing = tokio::spawn(async move { tokio::io::copy(&mut tokio::io::repeat(b'x'), &mut stdin).await });
    within(process.end(Duration::ZERO)).await;
    let written = within(writing).await.unwrap();
    assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn when_the_supervisor_is_killed_the_server_has_ended() {
    let last_words = json!([{ "stderr": { "text": "last words" } }, { "exit": 0 }]);
    let scripted = Scripted::by(json!({ "rules": [{ "on": "eof", "do": last_words }] }));
    let Spawned { process, stdin, stdout } = scripted.spawn();
    let connection = Connection::start(stdout, stdin, Arc::new(Nobody));
    let pids = scripted.pids(1).await;
    kill_process(Pid::from_raw(process.id().try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    assert_eq!(within(process.ended()).await, Exit { code: None });
    gone(&pids).await;
    within(connection.ended()).await;
    until(|| process.stderr_tail() == "last words").await;
}

#[tokio::test]
async fn a_supervisor_that_hangs_is_killed() {
    let scripted = Scripted::by(json!({}));
    let spawned = scripted.spawn();
    let pids = scripted.pids(1).await;
    kill_process(Pid::from_raw(spawned.process.id().try_into().unwrap()).unwrap(), Signal::STOP).unwrap();
    assert_eq!(within(spawned.process.end(Duration::ZERO)).await, Exit { code: None });
    gone(&pids).await;
}

#[tokio::test]
async fn a_server_that_nobody_can_write_to_any_more_ends() {
    let scripted = Scripted::by(json!({}));
    let Spawned { process, stdin, stdout } = scripted.spawn();
    drop(Connection::start(stdout, stdin, Arc::new(Nobody)));
    assert_eq!(within(process.ended()).await, Exit { code: Some(0) });
}

#[tokio::test]
async fn signals_of_a_terminal_reach_neither_supervisor_nor_server() {
    let scripted = Scripted::by(json!({}));
    let spawned = scripted.spawn();
    let pids = scripted.pids(1).await;
    let supervisor = Pid::from_raw(spawned.process.id().try_into().unwrap()).unwrap();
    let groups = [getpgid(None), getpgid(Some(supervisor)), getpgid(Some(pids[0]))].map(Result::unwrap);
    assert_eq!(groups[1..], [supervisor, pids[0]]);
    assert_ne!(groups[0], supervisor);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn neither_supervisor_nor_server_holds_what_is_ours() {
    let file = fs::File::open("/").unwrap();
    let other = spawn(&shell("read nothing")).unwrap();
    let scripted = Scripted::by(json!({}));
    let spawned = scripted.spawn();
    let server = scripted.pids(1).await[0].as_raw_nonzero().get();
    let supervisor = spawned.process.id().to_string();
    let held = |pid: &str, fd: i32| fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok();
    // It has let go of the pipes for output.
    until(|| [1, 2].iter().all(|fd| held(&supervisor, *fd).is_some_and(|file| file.as_os_str() == "/dev/null"))).await;
    let in_common = |pid: &str| {
        // What the shell that runs the tests has left open is no matter of ours.
        let inherited =
            |fd: i32| fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).is_ok_and(|info| !closed_on_exec(&info));
        let ours: Vec<_> = (3..256).filter(|fd| !inherited(*fd)).filter_map(|fd| held("self", fd)).collect();
        assert!(ours.contains(&PathBuf::from("/")) && ours.len() > 6, "{ours:?}");
        let theirs = (3..256).filter_map(|fd| held(pid, fd));
        theirs
            .filter(|file| ours.contains(file) && !file.to_string_lossy().starts_with("anon_inode:"))
            .collect::<Vec<_>>()
    };
    let server = server.to_string();
    assert_eq!((in_common(&supervisor), in_common(&server)), (Vec::new(), Vec::new()));
    drop((file, other));
}

#[cfg(target_os = "linux")]
fn closed_on_exec(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 != 0
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn orphans_do_not_stay_zombies() {
    let mut spawned = spawn(&shell("(sleep 0.1 & echo $!; exec >&-) & wait; exec >&-; read nothing")).unwrap();
    let orphan = printed(&mut spawned).await.trim_end().to_owned();
    until(|| !PathBuf::from(format!("/proc/{orphan}")).exists()).await;
    assert_eq!(within(spawned.process.end(Duration::ZERO)).await, Exit { code: Some(1) });
}

#[tokio::test]
async fn the_end_of_stdout_is_seen_before_that_of_the_server() {
    let mut spawned = spawn(&shell("echo last; exec >&-; read nothing")).unwrap();
    assert_eq!(printed(&mut spawned).await, "last\n");
    assert_eq!(within(spawned.process.end(Duration::ZERO)).await, Exit { code: Some(1) });
}

#[tokio::test]
async fn the_end_of_what_is_written_to_stderr_is_kept() {
    let flood = "x".repeat(4096);
    let scripted = Scripted::by(json!({ "rules": [{ "on": "start", "do": [
        { "stderr": { "text": flood, "times": 4096 } },
        { "stderr": { "text": "\u{1b}[31mfatal: no \u{fc}\r\n" } },
        { "exit": 1 },
    ] }] }));
    let spawned = scripted.spawn();
    assert_eq!(within(spawned.process.ended()).await, Exit { code: Some(1) });
    let tail = spawned.process.stderr_tail();
    let last = "\u{fffd}[31mfatal: no \u{fc}\n";
    assert!(tail.ends_with(last), "{}", &tail[tail.len() - 100..]);
    let before = tail.strip_suffix(last).unwrap();
    // 19 bytes were written last.
    assert_eq!(before, "x".repeat(STDERR_TAIL - 19));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_ends_with_127_and_says_why() {
    let scripted = Scripted::by(json!({}));
    let nowhere = scripted.folder.path().join("nowhere");
    let spawned = spawn(&spec(nowhere.to_str().unwrap(), [""; 0])).unwrap();
    // Nothing runs here until it has ended, so that its end and its last words come at once.
    #[cfg(target_os = "linux")]
    while !fs::read_to_string(format!("/proc/{}/stat", spawned.process.id())).unwrap().contains(") Z") {
        std::thread::yield_now();
    }
    assert_eq!(within(spawned.process.ended()).await, Exit { code: Some(127) });
    let said = spawned.process.stderr_tail();
    assert!(said.starts_with("The language server cannot be started: No such file"), "{said}");
    assert!(!said.contains("nowhere"));
}

#[tokio::test]
async fn paths_have_to_be_absolute() {
    let good = shell("exit 0");
    for spec in [
        Spec { program: "sh".into(), ..good.clone() },
        Spec { cwd: ".".into(), ..good.clone() },
        Spec { supervisor: Supervisor { program: "host".into(), args: Vec::new() }, ..good.clone() },
    ] {
        assert_eq!(spawn(&spec).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
}

#[tokio::test]
async fn a_server_has_its_folder_and_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let env = vec![("ADDED".into(), Some("a b".into())), ("CARGO_PKG_NAME".into(), None)];
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "it is there to be removed");
    let show = shell("pwd; echo \"$ADDED,$CARGO_PKG_NAME,${CARGO_PKG_VERSION:+ours}\"");
    let mut spawned = spawn(&Spec { env, cwd: folder.path().into(), ..show }).unwrap();
    let real = fs::canonicalize(folder.path()).unwrap();
    assert_eq!(printed(&mut spawned).await, format!("{}\na b,,ours\n", real.display()));
}
