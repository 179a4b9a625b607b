//! Log lines on their way to the editor's log: formatted, redacted, and handed to JavaScript in batches, without waiting
//! for it.

use std::fmt::Write as _;
use std::mem;
use std::panic::PanicHookInfo;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, RwLock};
use std::time::Duration;

use gateway_server::redact::Redaction;
use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// How many lines may wait to be handed over together; more are dropped, and counted. The editor's thread takes one batch
/// at a time, so this bounds what a flood of lines costs it.
const WAITING_LINES: usize = 256;

/// How much of one line is kept.
const MAX_LINE_CHARACTERS: usize = 4_096;

/// How long after one batch the next is handed over. A line that comes after a quiet time does not wait.
const BATCH_EVERY: Duration = Duration::from_millis(100);

/// Takes a batch of lines, oldest first: the level of each, 1 for an error to 5 for a trace, and its text, with secrets
/// and foreign paths taken out.
pub(crate) type WriteLog = ThreadsafeFunction<
    FnArgs<(Vec<u32>, Vec<String>)>,
    UnknownReturnValue,
    FnArgs<(Vec<u32>, Vec<String>)>,
    Status,
    false,
    true,
    WAITING_BATCHES,
>;

/// One is on its way at a time, and one more when the sink closes.
const WAITING_BATCHES: usize = 2;

/// Where one gateway's lines go. The process has one log: while one gateway follows another, the later one's.
pub(crate) struct Sink {
    write: WriteLog,
    redaction: RwLock<Redaction>,
    waiting: Mutex<Waiting>,
    /// Whether no more lines may wait, as a hint for those that would: they are not even written.
    is_full: AtomicBool,
    /// How many lines were dropped since the last one that was kept.
    dropped: AtomicU64,
    /// Told when there is something to hand over.
    filled: Notify,
    closed: CancellationToken,
}

/// The lines that have not been handed over.
#[derive(Default)]
struct Waiting {
    levels: Vec<u32>,
    lines: Vec<String>,
    /// Whether JavaScript's thread has a batch that it has not taken.
    is_on_its_way: bool,
}

static SINK: RwLock<Option<Arc<Sink>>> = RwLock::new(None);

/// The highest number of a level that [`SINK`] wants; 0 if there is none. Every event is judged by it, so it takes no lock.
static LEVEL: AtomicU32 = AtomicU32::new(0);

static SUBSCRIBED: Once = Once::new();

impl Sink {
    /// A sink that gets every line from now on. It hands them over on the runtime that this is called on.
    pub(crate) fn open(write: WriteLog, level: LevelFilter, redaction: Redaction) -> Arc<Self> {
        let sink = Arc::new(Self {
            write,
            redaction: RwLock::new(redaction),
            waiting: Mutex::default(),
            is_full: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            filled: Notify::new(),
            closed: CancellationToken::new(),
        });
        let mut current = SINK.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::clone(&sink));
        LEVEL.store(most(level), Ordering::Relaxed);
        drop(current);
        tokio::spawn(Arc::clone(&sink).hand_over_until_closed());
        SUBSCRIBED.call_once(|| {
            // Nobody else in this library subscribes, so this cannot fail; without a log the gateway still serves.
            let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Forward));
        });
        sink
    }

    /// Puts another level and other redactions in force.
    pub(crate) fn configure(&self, level: LevelFilter, redaction: Redaction) {
        let current = SINK.read().unwrap_or_else(PoisonError::into_inner);
        if self.is(current.as_ref()) {
            LEVEL.store(most(level), Ordering::Relaxed);
        }
        drop(current);
        *self.redaction.write().unwrap_or_else(PoisonError::into_inner) = redaction;
    }

    /// Ends this sink, with what it holds handed over. Lines that come later are dropped, unless another sink has been
    /// opened meanwhile.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut current = SINK.write().unwrap_or_else(PoisonError::into_inner);
        if self.is(current.as_ref()) {
            *current = None;
            LEVEL.store(0, Ordering::Relaxed);
        }
        drop(current);
        self.closed.cancel();
        self.hand_over(&mut self.waiting());
    }

    fn is(&self, current: Option<&Arc<Self>>) -> bool {
        current.is_some_and(|current| ptr::eq(Arc::as_ptr(current), self))
    }

    fn write(&self, event: &Event<'_>) {
        if self.is_full.load(Ordering::Relaxed) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let level = number(*event.metadata().level());
        let line = one_line(&self.redaction.read().unwrap_or_else(PoisonError::into_inner).line(event));
        if self.add(level, line) {
            self.filled.notify_one();
        }
    }

    /// Keeps a line, and returns whether it is the first.
    fn add(&self, level: u32, mut line: String) -> bool {
        let mut waiting = self.waiting();
        if waiting.lines.len() >= WAITING_LINES {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            // Writing to a String cannot fail.
            let _ = write!(line, " (lines lost before this one: {dropped})");
        }
        waiting.levels.push(level);
        waiting.lines.push(line);
        self.is_full.store(waiting.lines.len() >= WAITING_LINES, Ordering::Relaxed);
        waiting.lines.len() == 1
    }

    async fn hand_over_until_closed(self: Arc<Self>) {
        let handing_over = async {
            loop {
                self.filled.notified().await;
                {
                    let mut waiting = self.waiting();
                    if !waiting.is_on_its_way {
                        self.hand_over(&mut waiting);
                    }
                }
                sleep(BATCH_EVERY).await;
            }
        };
        self.closed.run_until_cancelled(handing_over).await;
    }

    fn hand_over(self: &Arc<Self>, waiting: &mut Waiting) {
        if waiting.lines.is_empty() {
            return;
        }
        let batch = (mem::take(&mut waiting.levels), mem::take(&mut waiting.lines));
        self.is_full.store(false, Ordering::Relaxed);
        let sink = Arc::clone(self);
        let status = self.write.call_with_return_value(
            batch.into(),
            ThreadsafeFunctionCallMode::NonBlocking,
            // Looking at what came back is what keeps a throw from reaching the editor as an uncaught exception.
            move |_, _| {
                let mut waiting = sink.waiting();
                waiting.is_on_its_way = false;
                if !waiting.lines.is_empty() {
                    sink.filled.notify_one();
                }
                Ok(())
            },
        );
        // Anything else means that JavaScript's side is gone, and nobody reads the log any more.
        waiting.is_on_its_way = status == Status::Ok;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The level that a setting names; `None` if it names none.
pub(crate) fn level_named(name: &str) -> Option<LevelFilter> {
    match name {
        "off" => Some(LevelFilter::OFF),
        "error" => Some(LevelFilter::ERROR),
        "warn" => Some(LevelFilter::WARN),
        "info" => Some(LevelFilter::INFO),
        "debug" => Some(LevelFilter::DEBUG),
        "trace" => Some(LevelFilter::TRACE),
        _ => None,
    }
}

/// Logs a panic. It has cost one call and will be reported as such there; the default hook would write to the standard
/// error of the editor, which nobody reads and nothing redacts.
pub(crate) fn panicked(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, ToString::to_string);
    let payload = panic.payload();
    let cause =
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(%place, cause, "a fault of the gateway ended a task");
}

fn number(level: Level) -> u32 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

/// The highest number of what a filter lets through; 0 if it lets nothing through.
fn most(level: LevelFilter) -> u32 {
    level.into_level().map_or(0, number)
}

/// Hands the events of our own crates to the current sink. Those of other crates are nobody's to vouch for: they may
/// hold anything.
struct Forward;

impl<S: Subscriber> Layer<S> for Forward {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The level can change at any time, so every event is judged on its own.
        if is_ours(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        number(*metadata.level()) <= LEVEL.load(Ordering::Relaxed) && is_ours(metadata)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if let Some(sink) = &*SINK.read().unwrap_or_else(PoisonError::into_inner) {
            sink.write(event);
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("gateway_")
}

/// What a language extension says may hold line breaks, which would let it write lines of its own, and has no bounds. It
/// is cut after the redaction: half a secret would not be recognised.
fn one_line(text: &str) -> String {
    let cut = text.char_indices().nth(MAX_LINE_CHARACTERS).map_or(text, |(end, _)| &text[..end]);
    cut.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
