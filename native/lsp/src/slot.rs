//! The place of one language server: when it is started, and started again, and when it ends.

use std::collections::VecDeque;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use gateway_server::watch::Change;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use crate::server::{NotStarted, Server, Told};
use crate::setup::Surroundings;
use crate::table::Row;

/// How often a server may end within [`ENDS_COUNT_FOR`] until it is not started any more.
const MAX_ENDS: usize = 5;
/// How long the end of a server counts.
const ENDS_COUNT_FOR: Duration = Duration::from_secs(180);
/// The pause before a server that has ended is started again; it doubles with each end.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many changes are remembered for a server while it starts; after more it is started again.
const MAX_MISSED: usize = 1_024;

/// The place of a server for a folder.
#[derive(Debug, Clone)]
pub(crate) struct Slot(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    row: Arc<Row>,
    folder: Arc<Path>,
    surroundings: Arc<Surroundings>,
    /// Nobody waits for anything while it is locked.
    place: Mutex<Place>,
}

#[derive(Debug)]
struct Place {
    state: State,
    /// When it has ended by itself lately.
    ends: VecDeque<Instant>,
    /// When it was asked for last.
    used: Instant,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Out,
    Starting {
        outcome: Starting,
        /// What was written since its process was started, of which it has to be told.
        missed: Written,
    },
    Running(Arc<Server>),
}

/// What comes of a start that is under way.
type Starting = Shared<BoxFuture<'static, Result<Arc<Server>, NoServer>>>;

/// What was written in a while.
#[derive(Debug)]
enum Written {
    These(Vec<Change>),
    /// More than is remembered.
    More,
}

impl Written {
    fn add(&mut self, written: Option<&[Change]>) {
        match (&mut *self, written) {
            (Self::These(changes), Some(written)) if changes.len() + written.len() <= MAX_MISSED => {
                changes.extend_from_slice(written);
            }
            _ => *self = Self::More,
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Self::These(changes) if changes.is_empty())
    }
}

impl Default for Written {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// Why there is no server.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum NoServer {
    #[error("its program is not on PATH outside the folder")]
    Missing,
    #[error("the folder is not trusted")]
    Untrusted,
    #[error("{0}")]
    NotStarted(#[from] NotStarted),
    #[error("it has ended five times within three minutes")]
    EndedTooOften,
    #[error("as many servers are running as may")]
    TooMany,
}

impl Place {
    /// Whether it was the place of this server, which it is no more.
    fn gives_up(&mut self, server: &Arc<Server>) -> bool {
        let is_its = matches!(&self.state, State::Running(running) if Arc::ptr_eq(running, server));
        if is_its {
            self.state = State::Out;
        }
        is_its
    }
}

impl Slot {
    pub(crate) fn new(row: Arc<Row>, folder: Arc<Path>, surroundings: Arc<Surroundings>) -> Self {
        let place = Place { state: State::Out, ends: VecDeque::new(), used: Instant::now() };
        Self(Arc::new(Inner { row, folder, surroundings, place: Mutex::new(place) }))
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        // What is in it is put there whole.
        self.0.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server, if it runs.
    pub(crate) fn running(&self) -> Option<Arc<Server>> {
        if let State::Running(server) = &self.place().state { Some(Arc::clone(server)) } else { None }
    }

    /// When the server was asked for last, if there is one or is to be one.
    pub(crate) fn used(&self) -> Option<Instant> {
        let place = self.place();
        if matches!(place.state, State::Out) { None } else { Some(place.used) }
    }

    /// The server that runs, or is started now. One that ends by itself is started again after a pause.
    pub(crate) async fn server(&self) -> Result<Arc<Server>, NoServer> {
        let starting = {
            let mut place = self.place();
            place.used = Instant::now();
            match &place.state {
                State::Running(server) if !server.has_ended() => return Ok(Arc::clone(server)),
                State::Starting { outcome, .. } => outcome.clone(),
                State::Running(_) => {
                    place.ends.push_back(Instant::now());
                    self.launch(&mut place)?
                }
                State::Out => self.launch(&mut place)?,
            }
        };
        starting.await
    }

    fn launch(&self, place: &mut Place) -> Result<Starting, NoServer> {
        place.state = State::Out;
        let now = Instant::now();
        place.ends.retain(|end| now - *end < ENDS_COUNT_FOR);
        if place.ends.len() >= MAX_ENDS {
            return Err(NoServer::EndedTooOften);
        }
        let not_before = place.ends.back().map(|last| *last + pause_after(place.ends.len()));
        // In a task of its own: who waits for it may go.
        let task = tokio::spawn(self.clone().start(not_before));
        let failed = |failure: JoinError| Err(NoServer::NotStarted(NotStarted::Failed(failure.to_string())));
        let outcome = async move { task.await.unwrap_or_else(failed) }.boxed().shared();
        place.state = State::Starting { outcome: outcome.clone(), missed: Written::default() };
        Ok(outcome)
    }

    /// Puts the server into its place, which hears when it ends.
    async fn start(self, not_before: Option<Instant>) -> Result<Arc<Server>, NoServer> {
        let started = self.try_start(not_before).await;
        match &started {
            Ok(server) => {
                tokio::spawn(self.watch_over(Arc::clone(server)));
            }
            Err(error) => {
                let mut place = self.place();
                place.state = State::Out;
                if matches!(error, NoServer::NotStarted(_)) {
                    place.ends.push_back(Instant::now());
                }
            }
        }
        started
    }

    async fn try_start(&self, not_before: Option<Instant>) -> Result<Arc<Server>, NoServer> {
        let Inner { row, folder, surroundings, .. } = &*self.0;
        if !surroundings.allow(row) {
            return Err(NoServer::Untrusted);
        }
        if let Some(not_before) = not_before {
            sleep_until(not_before).await;
        }
        loop {
            // From here on it is read what is there.
            self.forget_missed();
            let (known, place, with) = (Arc::clone(row), Arc::clone(folder), Arc::clone(surroundings));
            let start = spawn_blocking(move || {
                let program = with.programs.find(&known)?;
                Some(with.start(&known, program, &place))
            });
            let start = match start.await {
                Ok(Some(Ok(start))) => start,
                Ok(Some(Err(error))) => return Err(NotStarted::Refused(Arc::new(error)).into()),
                Ok(None) => return Err(NoServer::Missing),
                Err(error) => return Err(NotStarted::Failed(error.to_string()).into()),
            };
            let server = Arc::new(Server::start(Arc::clone(row), &start).await?);
            if self.takes_its_place(&server).await? {
                return Ok(server);
            }
            server.end().await;
        }
    }

    /// Whether the server knows all that was written since it was started, and has its place now; else it has to be
    /// started again.
    async fn takes_its_place(&self, server: &Arc<Server>) -> Result<bool, NotStarted> {
        loop {
            let missed = {
                let mut place = self.place();
                let State::Starting { missed, .. } = &mut place.state else {
                    return Err(NotStarted::Failed("it is not needed any more".to_owned()));
                };
                let missed = mem::take(missed);
                if missed.is_nothing() {
                    place.state = State::Running(Arc::clone(server));
                    return Ok(true);
                }
                missed
            };
            let Written::These(missed) = missed else { return Ok(false) };
            match server.tell(&missed).await {
                Ok(Told::Knows) => {}
                Ok(Told::StartAgain) => return Ok(false),
                Err(_) => return Err(NotStarted::Failed(server.ended().await)),
            }
        }
    }

    fn forget_missed(&self) {
        if let State::Starting { missed, .. } = &mut self.place().state {
            *missed = Written::default();
        }
    }

    /// Takes note of the server's end, and ends it once nobody has asked for it for long.
    async fn watch_over(self, server: Arc<Server>) {
        loop {
            let idle_at = self.place().used + self.0.surroundings.idle_end;
            tokio::select! {
                said = server.ended() => {
                    let mut place = self.place();
                    // One that was ended on purpose has left its place before.
                    if place.gives_up(&server) {
                        tracing::warn!(server = self.0.row.title, said, "a language server has ended by itself");
                        place.ends.push_back(Instant::now());
                    }
                    return;
                }
                () = sleep_until(idle_at) => {
                    let was_given_up = {
                        let mut place = self.place();
                        place.used + self.0.surroundings.idle_end <= Instant::now() && place.gives_up(&server)
                    };
                    if was_given_up {
                        return server.end().await;
                    }
                }
            }
        }
    }

    /// Tells the server of what was written; `None` if that is more than is remembered.
    pub(crate) async fn tell(&self, written: Option<&[Change]>) {
        let server = match &mut self.place().state {
            State::Running(server) => Arc::clone(server),
            State::Starting { missed, .. } => return missed.add(written),
            State::Out => return,
        };
        let told = match written {
            Some(written) => server.tell(written).await,
            None => Ok(Told::StartAgain),
        };
        if told == Ok(Told::StartAgain) && self.place().gives_up(&server) {
            server.end().await;
        }
    }

    /// Ends the server, if there is one. What starts one sees that it has lost its place.
    pub(crate) async fn end(&self) {
        let state = mem::take(&mut self.place().state);
        if let State::Running(server) = state {
            server.end().await;
        }
    }
}

/// How long a server that has ended so often lately is not started.
fn pause_after(ends: usize) -> Duration {
    let doublings = u32::try_from(ends).unwrap_or(u32::MAX).saturating_sub(1);
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_PAUSE)
}
