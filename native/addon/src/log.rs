//! Log lines on their way to the editor's log: formatted, redacted, and handed to JavaScript in batches, without waiting
//! for it.

use std::fmt::Write as _;
use std::mem;
use std::panic::PanicHookInfo;
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
    level: RwLock<LevelFilter>,
    waiting: Mutex<Waiting>,
    /// Told when there is something to hand over.
    filled: Notify,
    closed: CancellationToken,
}

/// The lines that have not been handed over.
#[derive(Default)]
struct Waiting {
    levels: Vec<u32>,
    lines: Vec<String>,
    /// How many lines were dropped since the last one that was kept.
    dropped: u64,
    /// Whether JavaScript's thread has a batch that it has not taken.
    is_on_its_way: bool,
}

static SINK: RwLock<Option<Arc<Sink>>> = RwLock::new(None);

static SUBSCRIBED: Once = Once::new();

impl Sink {
    /// A sink that gets every line from now on. It hands them over on the runtime that this is called on.
    pub(crate) fn open(write: WriteLog, level: LevelFilter, redaction: Redaction) -> Arc<Self> {
        let sink = Arc::new(Self {
            write,
            redaction: RwLock::new(redaction),
            level: RwLock::new(level),
            waiting: Mutex::default(),
            filled: Notify::new(),
            closed: CancellationToken::new(),
        });
        *SINK.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&sink));
        tokio::spawn(Arc::clone(&sink).hand_over_until_closed());
        SUBSCRIBED.call_once(|| {
            // Nobody else in this library subscribes, so this cannot fail; without a log the gateway still serves.
            let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Forward));
        });
        sink
    }

    /// Puts another level and other redactions in force.
    pub(crate) fn configure(&self, level: LevelFilter, redaction: Redaction) {
        *self.level.write().unwrap_or_else(PoisonError::into_inner) = level;
        *self.redaction.write().unwrap_or_else(PoisonError::into_inner) = redaction;
    }

    /// Ends this sink, with what it holds handed over. Lines that come later are dropped, unless another sink has been
    /// opened meanwhile.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut current = SINK.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, self)) {
            *current = None;
        }
        drop(current);
        self.closed.cancel();
        self.hand_over(&mut self.waiting());
    }

    fn lets_through(&self, level: Level) -> bool {
        level <= *self.level.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, event: &Event<'_>) {
        if self.waiting().is_full() {
            self.waiting().dropped += 1;
            return;
        }
        let level = number(*event.metadata().level());
        let line = one_line(&self.redaction.read().unwrap_or_else(PoisonError::into_inner).line(event));
        if self.waiting().add(level, line) {
            self.filled.notify_one();
        }
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

impl Waiting {
    fn is_full(&self) -> bool {
        self.lines.len() >= WAITING_LINES
    }

    /// Keeps a line, and returns whether it is the first.
    fn add(&mut self, level: u32, mut line: String) -> bool {
        if self.is_full() {
            self.dropped += 1;
            return false;
        }
        if self.dropped > 0 {
            // Writing to a String cannot fail.
            let _ = write!(line, " (lines lost before this one: {})", self.dropped);
            self.dropped = 0;
        }
        self.levels.push(level);
        self.lines.push(line);
        self.lines.len() == 1
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

fn sink() -> Option<Arc<Sink>> {
    SINK.read().unwrap_or_else(PoisonError::into_inner).clone()
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
        is_ours(metadata) && sink().is_some_and(|sink| sink.lets_through(*metadata.level()))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if let Some(sink) = sink() {
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
