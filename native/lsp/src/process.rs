//! Processes of language servers, which leave nothing behind.
//!
//! On Unix our own program is started between us and the server, as its [`supervisor`](crate::supervisor): where we end,
//! for whatever reason, it kills what the server has started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::printable::printable;

/// How long a server may take to end by itself once its stdin has ended. Then it is killed with all that it has started.
pub const GRACE: Duration = Duration::from_secs(1);

/// How long a supervisor may take after that.
const SUPERVISOR_GRACE: Duration = Duration::from_secs(4);

/// How much of what a server writes to its stderr is kept, in bytes: the last of it.
pub const STDERR_TAIL: usize = 16 * 1024;

/// How long what a server wrote to its stderr last may take to arrive once it has ended.
const STDERR_GRACE: Duration = Duration::from_millis(500);

/// What is started, and how.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The server's program, by its absolute path.
    pub program: PathBuf,
    /// What it is given.
    pub args: Vec<OsString>,
    /// What its environment has beyond ours; a variable without a value is removed.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// The folder that it starts in, by its absolute path.
    pub cwd: PathBuf,
    /// How our own program is started as a supervisor.
    pub supervisor: Supervisor,
}

/// The command that ends in [`supervisor::run`](crate::supervisor::run) with what follows `args`: the server's program and
/// what that is given.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// Our own program, by its absolute path.
    pub program: PathBuf,
    /// What makes it a supervisor.
    pub args: Vec<OsString>,
}

/// A process that was started, and its ends of the pipes.
#[derive(Debug)]
pub struct Spawned {
    /// The process.
    pub process: Process,
    /// What it reads. It ends where this is dropped, as it does with the process.
    pub stdin: Stdin,
    /// What it writes.
    pub stdout: ChildStdout,
}

/// A process of a language server with all that it starts. It ends where this is dropped, after [`GRACE`] at most.
#[derive(Debug)]
pub struct Process {
    id: u32,
    stdin: Arc<Closable>,
    stderr: Arc<Mutex<Vec<u8>>>,
    exit: watch::Receiver<Option<Exit>>,
}

/// How a server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, or 128 and the number of the signal that killed it; 127 if it could not be started, which its stderr
    /// says. None if its supervisor was killed.
    pub code: Option<i32>,
}

/// Starts a server, in the Tokio runtime that this is called in. A program that cannot be started is no error here where a
/// supervisor starts it: it ends with 127.
pub fn spawn(spec: &Spec) -> io::Result<Spawned> {
    if [&spec.program, &spec.cwd, &spec.supervisor.program].iter().any(|path| !path.is_absolute()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the paths of a language server must be absolute"));
    }
    let mut command = command(spec);
    command.current_dir(&spec.cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in &spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command.spawn()?;
    let id = child.id();
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(id), (Some(stdin), Some(stdout), Some(stderr))) = (id, pipes) else {
        return Err(io::Error::other("the language server was started without pipes"));
    };
    let stdin = Arc::new(Closable { pipe: Mutex::new(Pipe::Open(stdin, None)), closed: CancellationToken::new() });
    let tail = Arc::default();
    let (ended, exit) = watch::channel(None);
    let process = Process { id, stdin: stdin.clone(), stderr: Arc::clone(&tail), exit };
    tokio::spawn(wait(child, stderr, tail, stdin.clone(), ended));
    Ok(Spawned { process, stdin: Stdin(stdin), stdout })
}

/// In a process group of its own, so that what a terminal sends to ours, such as Ctrl-C, does not end the supervisor.
#[cfg(unix)]
fn command(spec: &Spec) -> Command {
    let mut command = Command::new(&spec.supervisor.program);
    command.args(&spec.supervisor.args).arg(&spec.program).args(&spec.args).process_group(0);
    command
}

/// Without a supervisor, only the process itself is killed.
#[cfg(not(unix))]
fn command(spec: &Spec) -> Command {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).kill_on_drop(true);
    command
}

/// Waits for the end of a process, and kills what does not end although it has nothing to read any more.
async fn wait(
    mut child: Child,
    stderr: ChildStderr,
    tail: Arc<Mutex<Vec<u8>>>,
    stdin: Arc<Closable>,
    ended: watch::Sender<Option<Exit>>,
) {
    let draining = tokio::spawn(drain(stderr, tail));
    let overdue = async {
        stdin.closed.cancelled().await;
        tokio::time::sleep(GRACE + SUPERVISOR_GRACE).await;
    };
    let status = tokio::select! {
        status = child.wait() => status,
        () = overdue => {
            // It fails where the process has ended, which is what is wanted.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    // A server whose supervisor was killed ends with this.
    stdin.close();
    // Whoever still has it may go on writing, and is read, but not waited for.
    let _ = timeout(STDERR_GRACE, draining).await;
    ended.send_replace(Some(Exit { code: status.ok().and_then(|status: ExitStatus| status.code()) }));
}

/// Reads as long as there is something, or the server would wait for us.
async fn drain(mut stderr: impl AsyncRead + Unpin, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut tail = locked(&tail);
        tail.extend_from_slice(&buffer[..read]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..surplus);
    }
}

impl Process {
    /// The number of the process that we have started: on Unix the supervisor.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The last [`STDERR_TAIL`] bytes that the server has written to its stderr, without control characters.
    pub fn stderr_tail(&self) -> String {
        printable(&String::from_utf8_lossy(&locked(&self.stderr)))
    }

    /// Resolves when the server has ended, and all that it has started was killed.
    pub async fn ended(&self) -> Exit {
        let mut exit = self.exit.clone();
        // Where nobody waits for it any more, its runtime is gone.
        exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit).unwrap_or(Exit { code: None })
    }

    /// Gives the server `patience` to end by itself, as after LSP's `exit`, then closes its stdin, and resolves when it has
    /// ended. [`GRACE`] after its stdin was closed it is killed with all that it has started.
    pub async fn end(&self, patience: Duration) -> Exit {
        if let Ok(exit) = timeout(patience, self.ended()).await {
            return exit;
        }
        self.stdin.close();
        self.ended().await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin.close();
    }
}

/// The stdin of a server: what is written to it, the server can read. It can be closed by the [`Process`] as well, and then
/// writes fail.
#[derive(Debug)]
pub struct Stdin(Arc<Closable>);

#[derive(Debug)]
struct Closable {
    pipe: Mutex<Pipe>,
    closed: CancellationToken,
}

#[derive(Debug)]
enum Pipe {
    /// With whom to wake when it is closed: who waits for room in the pipe.
    Open(ChildStdin, Option<Waker>),
    Closed,
}

impl Closable {
    fn close(&self) {
        let pipe = std::mem::replace(&mut *locked(&self.pipe), Pipe::Closed);
        self.closed.cancel();
        if let Pipe::Open(_, Some(waker)) = pipe {
            waker.wake();
        }
    }

    fn poll<T>(
        &self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut ChildStdin>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut *locked(&self.pipe) {
            Pipe::Open(stdin, waker) => {
                let polled = poll(Pin::new(stdin), context);
                *waker = polled.is_pending().then(|| context.waker().clone());
                polled
            }
            Pipe::Closed => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll(context, |stdin, context| stdin.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
