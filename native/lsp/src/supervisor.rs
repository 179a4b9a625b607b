//! The process between us and a language server: it starts the server in a process group of its own, with its own stdin,
//! stdout and stderr, and kills whatever is left when the server has ended, or we have.
//!
//! That we have ended shows at the pipe that the server reads: it hangs up when the last who could write to it is gone,
//! after kill -9 as well, and this can be seen without reading from it. So nothing here copies bytes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use crate::process::GRACE;

/// The code of a program that cannot be started, as shells have it.
const NOT_STARTED: u8 = 127;

/// How often to look for what has ended of what others have left to us. Nobody waits for these.
const REAP_EVERY: Duration = Duration::from_secs(5);

/// How often to look whether the server has ended where the kernel does not tell.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long processes that were killed may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(2);

/// Runs the program that `args` begin with, given those that follow, until it ends or stdin hangs up, and kills what is left
/// of it. The code is the program's, 128 and the number of the signal that ended it, or 127 if it could not be started.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let Some(program) = args.next() else { return not_started("no program was named") };
    adopt_orphans();
    let mut server = match Command::new(program).args(args).process_group(0).spawn() {
        Ok(server) => server,
        Err(error) => return not_started(&error.to_string()),
    };
    let group = Pid::from_child(&server);
    let_go_of_output();
    wait_for_either_end(group);
    // Before the server's number is given back with its end, or the group might be another's. Who is gone needs no kill.
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    let code = code_of(&mut server);
    kill_orphans();
    ExitCode::from(code)
}

fn not_started(why: &str) -> ExitCode {
    // Where nobody reads, nobody misses it.
    let _ = writeln!(std::io::stderr(), "The language server cannot be started: {why}");
    ExitCode::from(NOT_STARTED)
}

/// The pipes for output end when the server and what it has started have closed them, not when we have.
fn let_go_of_output() {
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        // Where it fails, they end with us.
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}

/// Returns when the server has ended, or [`GRACE`] after stdin has hung up.
fn wait_for_either_end(server: Pid) {
    let stdin = std::io::stdin();
    let told = end_of(server);
    let mut hung_up: Option<Instant> = None;
    while !has_ended(server) {
        reap_orphans(server);
        let left = hung_up.map(|since| GRACE.saturating_sub(since.elapsed()));
        if left == Some(Duration::ZERO) {
            return;
        }
        let mut watched = Vec::new();
        if let Some(told) = &told {
            watched.push(PollFd::new(told, PollFlags::IN));
        }
        if hung_up.is_none() {
            // Linux tells of this unasked; others only where something is asked for.
            watched.push(PollFd::new(&stdin, PollFlags::HUP));
        }
        let often = if told.is_some() { REAP_EVERY } else { LOOK_EVERY };
        let wait = Timespec::try_from(left.unwrap_or(often).min(often)).ok();
        // Interrupted, it is tried again.
        let _ = poll(&mut watched, wait.as_ref());
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        if hung_up.is_none() && watched.last().is_some_and(|stdin| stdin.revents().intersects(gone)) {
            hung_up = Some(Instant::now());
        }
    }
}

/// Whether the server has ended. It stays a zombie, so that its number is nobody else's.
fn has_ended(server: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(rustix::process::waitid(WaitId::Pid(server), look), Ok(None))
}

fn code_of(server: &mut Child) -> u8 {
    let code = |status: ExitStatus| status.code().or_else(|| Some(128 + status.signal()?));
    server.wait().ok().and_then(code).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Something to poll that is readable once the server has ended.
#[cfg(target_os = "linux")]
fn end_of(server: Pid) -> Option<std::os::fd::OwnedFd> {
    rustix::process::pidfd_open(server, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_server: Pid) -> Option<std::os::fd::OwnedFd> {
    None
}

/// Has processes that lose their parent below us become our children, daemons among them.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Where it fails, only the group is killed.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Our children, as far as the system tells.
fn children() -> Vec<Pid> {
    let us = std::process::id();
    let listed = fs::read_to_string(format!("/proc/self/task/{us}/children")).unwrap_or_default();
    listed.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Takes note of the end of every child but the server, or they would stay zombies.
fn reap_orphans(server: Pid) {
    for orphan in children().into_iter().filter(|child| *child != server) {
        let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

/// Kills every child, and those that become children by that.
fn kill_orphans() {
    let deadline = Instant::now() + GONE_WITHIN;
    loop {
        for orphan in children() {
            // It may be a zombie, or another user's.
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
        }
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            // No child is left.
            _ => return,
        }
    }
}
