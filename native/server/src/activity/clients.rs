//! Who calls. A session's id says nothing of its client, so what the client said of itself at `initialize` is remembered.

use std::sync::Arc;

use serde_json::Value;

use crate::session::SessionId;

/// How many clients are remembered; of those that never called, or else called longest ago, one makes room.
const MAX_CLIENTS: usize = 64;
/// How many sessions are remembered, in the same way.
const MAX_CLIENT_SESSIONS: usize = 256;
/// The longest name and version of a client that are kept, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

/// A client's name and version, as it gave them; both empty for one whose session is not remembered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClientName {
    name: String,
    version: String,
}

/// All that was done under one name and version.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) name: Arc<ClientName>,
    pub(super) calls: u64,
    pub(super) failed: u64,
    /// The number of its last call.
    last_call: u64,
}

struct Session {
    id: SessionId,
    client: Arc<ClientName>,
    has_ended: bool,
    /// The number of its last call.
    last_call: u64,
}

#[derive(Default)]
pub(super) struct Clients {
    clients: Vec<Client>,
    sessions: Vec<Session>,
}

impl ClientName {
    /// Reads the `clientInfo` of `initialize`, which may be anything.
    pub(super) fn read(info: Option<&Value>) -> Self {
        let text = |name| info.and_then(|info| info.get(name)?.as_str()).map(shown).unwrap_or_default();
        Self { name: text("name"), version: text("version") }
    }

    pub(super) fn parts(&self) -> (&str, &str) {
        (&self.name, &self.version)
    }
}

impl Clients {
    pub(super) fn begin(&mut self, id: SessionId, name: ClientName) {
        let client = self.client_named(name);
        self.add_session(id, client, 0);
    }

    pub(super) fn end(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) {
            session.has_ended = true;
        }
    }

    /// Counts a call, and tells whose it was.
    pub(super) fn called(&mut self, id: SessionId, number: u64, has_failed: bool) -> Arc<ClientName> {
        let name = if let Some(session) = self.sessions.iter_mut().find(|session| session.id == id) {
            session.last_call = number;
            Arc::clone(&session.client)
        } else {
            let name = self.client_named(ClientName::default());
            self.add_session(id, Arc::clone(&name), number);
            name
        };
        let known = self.clients.iter().position(|client| Arc::ptr_eq(&client.name, &name));
        // One that is not known any more has made room for others in the meantime.
        let at = known.unwrap_or_else(|| self.add_client(Arc::clone(&name)));
        let client = &mut self.clients[at];
        client.calls += 1;
        client.failed += u64::from(has_failed);
        client.last_call = number;
        name
    }

    /// Every client, the one that called last first, and whether it has a session that has not ended.
    pub(super) fn all(&self) -> Vec<(Client, bool)> {
        let has_session = |client: &Client| {
            self.sessions.iter().any(|session| !session.has_ended && Arc::ptr_eq(&session.client, &client.name))
        };
        let mut all: Vec<_> = self.clients.iter().map(|client| (client.clone(), has_session(client))).collect();
        all.sort_by_key(|(client, _)| std::cmp::Reverse(client.last_call));
        all
    }

    fn client_named(&mut self, name: ClientName) -> Arc<ClientName> {
        let known = self.clients.iter().position(|client| *client.name == name);
        let at = known.unwrap_or_else(|| self.add_client(Arc::new(name)));
        Arc::clone(&self.clients[at].name)
    }

    /// Where it is now.
    fn add_client(&mut self, name: Arc<ClientName>) -> usize {
        make_room(&mut self.clients, MAX_CLIENTS, |client| client.last_call);
        self.clients.push(Client { name, calls: 0, failed: 0, last_call: 0 });
        self.clients.len() - 1
    }

    fn add_session(&mut self, id: SessionId, client: Arc<ClientName>, last_call: u64) {
        make_room(&mut self.sessions, MAX_CLIENT_SESSIONS, |session| (!session.has_ended, session.last_call));
        self.sessions.push(Session { id, client, has_ended: false, last_call });
    }
}

/// Takes the first of the least out of what is full.
fn make_room<T, K: Ord>(full: &mut Vec<T>, most: usize, key: impl Fn(&T) -> K) {
    if full.len() < most {
        return;
    }
    let least = full.iter().enumerate().min_by_key(|(_, one)| key(one)).map(|(at, _)| at);
    if let Some(least) = least {
        full.remove(least);
    }
}

/// A text as it may stand among others: nothing in it that moves or hides them, and not too long.
fn shown(text: &str) -> String {
    let is_shown = |character: &char| !character.is_control() && !is_bidi_control(*character);
    text.chars().filter(is_shown).take(MAX_NAME_CHARACTERS).collect::<String>().trim().to_owned()
}

/// The characters of Unicode that change the direction of the text around them.
fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Profile;
    use crate::session::{Revision, Sessions};

    fn sessions() -> Sessions {
        Sessions::new(&[7; 32], "workspace", &[], Box::new(|_| {}))
    }

    fn session(sessions: &Sessions) -> SessionId {
        sessions.mint(Revision::Current, Profile::Offered).expect("a session")
    }

    fn named(name: &str) -> ClientName {
        ClientName::read(Some(&json!({ "name": name, "version": "1" })))
    }

    /// Each client's name, its calls, and whether it has a session.
    fn shown(clients: &Clients) -> Vec<(String, u64, bool)> {
        clients.all().into_iter().map(|(client, open)| (client.name.name.clone(), client.calls, open)).collect()
    }

    #[test]
    fn a_client_is_named_in_all_its_sessions_until_the_last_has_ended() {
        let (mut clients, sessions) = (Clients::default(), sessions());
        let (first, second) = (session(&sessions), session(&sessions));
        clients.begin(first, named("codex"));
        clients.begin(second, named("codex"));
        clients.called(first, 1, false);
        clients.called(second, 2, true);
        clients.end(first);
        assert_eq!(shown(&clients), [("codex".to_owned(), 2, true)]);
        clients.end(second);
        assert_eq!(shown(&clients), [("codex".to_owned(), 2, false)]);
    }

    #[test]
    fn a_session_from_before_a_reload_is_of_a_client_without_a_name() {
        let (mut clients, sessions) = (Clients::default(), sessions());
        assert_eq!(clients.called(session(&sessions), 1, false).parts(), ("", ""));
        assert_eq!(shown(&clients), [(String::new(), 1, true)]);
    }

    #[test]
    fn at_most_64_clients_and_256_sessions_are_kept_and_those_that_call_stay() {
        let (mut clients, sessions) = (Clients::default(), sessions());
        let caller = session(&sessions);
        clients.begin(caller, named("caller"));
        clients.called(caller, 1, false);
        for number in 0..1_000 {
            clients.begin(session(&sessions), named(&format!("flood {number}")));
            assert!(clients.clients.len() <= 64 && clients.sessions.len() <= 256);
        }
        assert_eq!(clients.all().len(), 64);
        assert_eq!(clients.called(caller, 2, false).parts(), ("caller", "1"));
        assert_eq!(shown(&clients)[0], ("caller".to_owned(), 2, true));
    }

    #[test]
    fn a_name_is_cut_to_64_characters_and_has_none_that_move_others() {
        let cases = [
            (json!({ "name": "a".repeat(1_000) }), "a".repeat(64)),
            (json!({ "name": "\u{202e}evil\u{2066}\n\u{0}\u{7f} one\u{200f} " }), "evil one".to_owned()),
            (json!({ "name": "<img src=x onerror=alert(1)>" }), "<img src=x onerror=alert(1)>".to_owned()),
            (json!({ "name": ["a"] }), String::new()),
            (json!("a"), String::new()),
        ];
        for (info, name) in cases {
            assert_eq!(ClientName::read(Some(&info)).parts(), (name.as_str(), ""), "{info}");
        }
    }
}
