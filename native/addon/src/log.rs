//! Log lines on their way to the editor's log: formatted, redacted, and handed to JavaScript without waiting for it.

use std::fmt::Write as _;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once, PoisonError, RwLock};

use gateway_server::redact::Redaction;
use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// How many lines may wait for JavaScript's thread; more are dropped, and counted.
const WAITING_LINES: usize = 1024;

/// How much of one line is kept.
const MAX_LINE_CHARACTERS: usize = 4_096;

/// Takes one line: its level, 1 for an error to 5 for a trace, and its text, with secrets and foreign paths taken out.
pub(crate) type WriteLog = ThreadsafeFunction<
    FnArgs<(u32, String)>,
    UnknownReturnValue,
    FnArgs<(u32, String)>,
    Status,
    false,
    true,
    WAITING_LINES,
>;

/// Where one gateway's lines go. The process has one log: while one gateway follows another, the later one's.
pub(crate) struct Sink {
    write: WriteLog,
    redaction: RwLock<Redaction>,
    level: RwLock<LevelFilter>,
    dropped: AtomicU64,
}

static SINK: RwLock<Option<Arc<Sink>>> = RwLock::new(None);

static SUBSCRIBED: Once = Once::new();

impl Sink {
    /// A sink that gets every line from now on.
    pub(crate) fn open(write: WriteLog, level: LevelFilter, redaction: Redaction) -> Arc<Self> {
        let sink = Arc::new(Self {
            write,
            redaction: RwLock::new(redaction),
            level: RwLock::new(level),
            dropped: AtomicU64::new(0),
        });
        *SINK.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&sink));
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

    /// Ends this sink. Lines that come later are dropped, unless another sink has been opened meanwhile.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut current = SINK.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, self)) {
            *current = None;
        }
    }

    fn lets_through(&self, level: Level) -> bool {
        level <= *self.level.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, event: &Event<'_>) {
        let level = *event.metadata().level();
        let mut line = one_line(&self.redaction.read().unwrap_or_else(PoisonError::into_inner).line(event));
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            // Writing to a String cannot fail.
            let _ = write!(line, " (lines lost before this one: {dropped})");
        }
        let written = self.write.call_with_return_value(
            (number(level), line).into(),
            ThreadsafeFunctionCallMode::NonBlocking,
            // Looking at what came back is what keeps a throw from reaching the editor as an uncaught exception.
            |_, _| Ok(()),
        );
        if written == Status::QueueFull {
            self.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
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
