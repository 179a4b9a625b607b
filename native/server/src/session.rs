//! Sessions whose ids authenticate themselves (D43).
//!
//! An id is random bytes and a MAC over them, the session's revision, catalog and profile and the workspace's identity, under a key
//! that outlives the window. So a session goes on across a reload without anything of it being stored, and never in the window
//! of another workspace.
//! What has to be remembered is bounded: the sessions that have not finished their handshake, and those that ended.

use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::digest::Key;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::catalog::Profile;

const RANDOM_BYTES: usize = 16;
const MAC_BYTES: usize = 32;
const ID_BYTES: usize = RANDOM_BYTES + MAC_BYTES;
/// How many ended sessions are remembered, oldest forgotten first (D43).
const MAX_ENDED: usize = 1_024;
/// How many sessions may be in the middle of their handshake. One that is pushed out counts as initialized, as any id
/// does that verifies and isn't in memory.
const MAX_UNINITIALIZED: usize = 1_024;
/// How long a request waits for the notification that it has overtaken.
const OVERTAKING: Duration = Duration::from_secs(1);

/// The revision of MCP that a session is spoken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// The one revision of the contract (D40).
    Current,
    /// The one before, for clients that know no other, where the person has allowed it.
    Fallback,
}

impl Revision {
    const ALL: [Self; 2] = [Self::Current, Self::Fallback];

    /// As it stands in `initialize` and in the `MCP-Protocol-Version` header.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "2025-11-25",
            Self::Fallback => "2025-06-18",
        }
    }

    /// What the MAC of an id begins with: an id of one revision never verifies as one of the other.
    const fn label(self) -> &'static [u8] {
        match self {
            Self::Current => b"mcp-lsp-gateway|session|v1|",
            Self::Fallback => b"mcp-lsp-gateway|session|v1 fallback|",
        }
    }
}

/// The id of a session that this workspace minted: there is no other way to get one than [`Sessions::mint`] and
/// [`Sessions::admit`]. `Display` is its form on the wire; there is no `Debug` that would put it in a log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionId {
    bytes: [u8; ID_BYTES],
    revision: Revision,
    profile: Profile,
}

impl SessionId {
    /// The revision that the session was begun in.
    pub const fn revision(self) -> Revision {
        self.revision
    }

    /// Which of the offered tools it has.
    pub const fn profile(self) -> Profile {
        self.profile
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&URL_SAFE_NO_PAD.encode(self.bytes))
    }
}

/// Told of every session that ends: all ended ids that are remembered, oldest first, so that they can be stored. It is
/// called in the order in which sessions end, and must not block or call back.
pub type OnEnded = Box<dyn Fn(Vec<String>) + Send + Sync>;

/// The sessions of one workspace.
pub struct Sessions {
    keyed: Hmac<Sha256>,
    workspace: String,
    /// What tells the catalog that clients are offered from others, if it is not that of the contract's first version.
    catalog: RwLock<Option<[u8; 32]>>,
    memory: Mutex<Memory>,
    /// How many sessions have ended since the start, those of another catalog counted as one.
    ends: AtomicU64,
    /// How many there are in [`Memory::uninitialized`], nearly always none.
    uninitialized: AtomicUsize,
    initialized: Notify,
    on_ended: OnEnded,
}

/// The session that a connection named last. The MAC of an id changes only with the catalog, which counts as an end; a
/// session that ends does, and is counted.
#[derive(Default)]
pub(crate) struct LastSession(Mutex<Option<Admitted>>);

struct Admitted {
    /// The id as it was written.
    text: String,
    id: SessionId,
    /// [`Sessions::ends`] when it had not ended.
    ends: u64,
}

#[derive(Default)]
struct Memory {
    uninitialized: VecDeque<SessionId>,
    ended: VecDeque<[u8; ID_BYTES]>,
}

impl Memory {
    fn forget_uninitialized(&mut self, id: SessionId, count: &AtomicUsize) {
        self.uninitialized.retain(|other| *other != id);
        count.store(self.uninitialized.len(), Ordering::SeqCst);
    }
}

impl Sessions {
    /// `key` is secret and outlives the window; `workspace` identifies the workspace; `ended` are the ids that
    /// [`OnEnded`] was last told of.
    pub fn new(key: &[u8; 32], workspace: &str, ended: &[String], on_ended: OnEnded) -> Self {
        let mut padded = Key::<Hmac<Sha256>>::default();
        padded[..key.len()].copy_from_slice(key);
        let keyed = Hmac::<Sha256>::new(&padded);
        // Kept as they are: one that was begun with another catalog verifies when that is offered again.
        let ended: Vec<[u8; ID_BYTES]> = ended.iter().filter_map(|id| decoded(id)).collect();
        let kept = ended.len().saturating_sub(MAX_ENDED);
        let memory = Memory { ended: ended[kept..].to_vec().into(), ..Memory::default() };
        Self {
            keyed,
            workspace: workspace.to_owned(),
            catalog: RwLock::default(),
            memory: Mutex::new(memory),
            ends: AtomicU64::new(0),
            uninitialized: AtomicUsize::new(0),
            initialized: Notify::new(),
            on_ended,
        }
    }

    /// Clients are offered this catalog from now on. An id that was minted for another does not verify: its client begins a
    /// new session, and is told the tools that there are.
    pub(crate) fn offer(&self, catalog: Option<[u8; 32]>) {
        let mut offered = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        if *offered != catalog {
            *offered = catalog;
            self.ends.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A new session, which is not initialized yet. Fails only if the system has no randomness to give.
    pub fn mint(&self, revision: Revision, profile: Profile) -> Result<SessionId, getrandom::Error> {
        let mut bytes = [0; ID_BYTES];
        let (random, mac) = bytes.split_at_mut(RANDOM_BYTES);
        getrandom::fill(random)?;
        mac.copy_from_slice(&self.authenticate(revision, profile, random));
        let id = SessionId { bytes, revision, profile };
        let mut memory = self.memory();
        if memory.uninitialized.len() == MAX_UNINITIALIZED {
            memory.uninitialized.pop_front();
        }
        memory.uninitialized.push_back(id);
        self.uninitialized.store(memory.uninitialized.len(), Ordering::SeqCst);
        Ok(id)
    }

    /// The session that a client names, if this workspace minted it and it has not ended.
    pub fn admit(&self, id: &str) -> Option<SessionId> {
        let id = self.verify(id)?;
        (!self.memory().ended.contains(&id.bytes)).then_some(id)
    }

    /// As [`Self::admit`], for a connection that may have named the same session before.
    pub(crate) fn admit_on(&self, last: &LastSession, id: &str) -> Option<SessionId> {
        let mut last = last.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Read before the session is looked at: one that ends meanwhile is looked at again with the next request.
        let ends = self.ends.load(Ordering::SeqCst);
        if let Some(known) = last.as_ref().filter(|known| known.text == id && known.ends == ends) {
            return Some(known.id);
        }
        *last = self.admit(id).map(|admitted| Admitted { text: id.to_owned(), id: admitted, ends });
        last.as_ref().map(|admitted| admitted.id)
    }

    /// Whether the client has said that it is ready. A session from before a reload counts as initialized.
    pub fn is_initialized(&self, id: SessionId) -> bool {
        self.uninitialized.load(Ordering::SeqCst) == 0 || !self.memory().uninitialized.contains(&id)
    }

    /// Like [`Self::is_initialized`], but waits for a moment if it isn't so. A client that sends the notification and its
    /// first request at once sends them on two connections, where the second may well arrive first.
    pub async fn is_initialized_soon(&self, id: SessionId) -> bool {
        let initialized = async {
            loop {
                let mut next = pin!(self.initialized.notified());
                // From here on none is missed, also not one between the look and the wait.
                next.as_mut().enable();
                if self.is_initialized(id) {
                    return;
                }
                next.await;
            }
        };
        timeout(OVERTAKING, initialized).await.is_ok()
    }

    /// Notes that the client is ready.
    pub fn initialize(&self, id: SessionId) {
        self.memory().forget_uninitialized(id, &self.uninitialized);
        self.initialized.notify_waiters();
    }

    /// Ends the session: its id is not admitted any more.
    pub fn end(&self, id: SessionId) {
        let mut memory = self.memory();
        memory.forget_uninitialized(id, &self.uninitialized);
        if memory.ended.contains(&id.bytes) {
            return;
        }
        if memory.ended.len() == MAX_ENDED {
            memory.ended.pop_front();
        }
        memory.ended.push_back(id.bytes);
        self.ends.fetch_add(1, Ordering::SeqCst);
        // Still under the lock, so that of two sessions that end at once the longer list is told last.
        (self.on_ended)(memory.ended.iter().map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).collect());
    }

    fn verify(&self, id: &str) -> Option<SessionId> {
        let bytes = decoded(id)?;
        let (random, mac) = bytes.split_at(RANDOM_BYTES);
        let all = Revision::ALL.into_iter().flat_map(|revision| Profile::ALL.map(|profile| (revision, profile)));
        let is_authentic = |(revision, profile): &(Revision, Profile)| {
            bool::from(self.authenticate(*revision, *profile, random).ct_eq(mac))
        };
        all.into_iter().find(is_authentic).map(|(revision, profile)| SessionId { bytes, revision, profile })
    }

    fn authenticate(&self, revision: Revision, profile: Profile, random: &[u8]) -> [u8; MAC_BYTES] {
        // The random part has a fixed length, so the workspace's own length cannot make two inputs equal.
        let mut mac = self.keyed.clone().chain_update(revision.label());
        if let Some(catalog) = *self.catalog.read().unwrap_or_else(PoisonError::into_inner) {
            mac = mac.chain_update(b"catalog|").chain_update(catalog);
        }
        let mac = mac.chain_update(self.workspace.as_bytes()).chain_update(random);
        mac.chain_update(profile.label()).finalize().into_bytes().into()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of what has the form of an id.
fn decoded(id: &str) -> Option<[u8; ID_BYTES]> {
    let mut bytes = [0; ID_BYTES];
    (URL_SAFE_NO_PAD.decode_slice(id, &mut bytes) == Ok(ID_BYTES)).then_some(bytes)
}
