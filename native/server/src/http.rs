//! The HTTP face: who may come in, in what shape, and with which status code the others leave (D40 to D45, D50).
//!
//! The checks run in the order of D45: Host, Origin, bearer, path, method, media types, size, JSON, session, version.
//! So whoever is turned away learns nothing that a later check would have told.

use std::convert::Infallible;
use std::error::Error;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use gateway_core::limits::MAX_REQUEST_BYTES;
use gateway_core::wording::Wording;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{
    ACCEPT, ALLOW, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode};
use subtle::{Choice, ConstantTimeEq};
use tokio::time::timeout;

use crate::access::Access;
use crate::body::Pieces;
use crate::catalog::Profile;
use crate::connection_limit::Slot;
use crate::lifecycle::{Calls, Crowd, Lifecycle, Unserved};
use crate::rpc::{self, Message};
use crate::session::{LastSession, Revision, SessionId, Sessions};

const PATH: &str = "/mcp";
const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
/// What nearly every client sends as Accept, so that it does not have to be taken apart.
const USUAL_ACCEPT: [&str; 2] = ["application/json, text/event-stream", "text/event-stream, application/json"];
const PLAIN_TEXT: &str = "text/plain; charset=utf-8";
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How long a request body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of a refused request's body is read, and for how long, before the connection is closed instead.
const DISCARD_BYTES: usize = 4 * MAX_REQUEST_BYTES;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);
/// When to call again after too many calls: those under way end within their time limit, most of them much sooner.
const RETRY_AFTER_SECONDS: &str = "1";

/// What the endpoint needs of the gateway behind it.
pub trait Guarded: Calls {
    /// Who may come in, now.
    fn access(&self) -> Arc<Access>;
}

/// An answer.
pub type Answer = Response<Pieces>;

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.take_piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len() as u64)
    }
}

/// The body of a request, from a connection or from anywhere else.
pub trait RequestBody: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static {}

impl<B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static> RequestBody for B {}

/// The one endpoint of a gateway. There is no router: the order of the checks is ours.
pub struct Endpoint<G>(Arc<Lifecycle<G>>);

impl<G> Clone for Endpoint<G> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<G: Guarded> Endpoint<G> {
    /// The endpoint in front of `gateway`.
    pub fn new(gateway: Arc<G>) -> Self {
        Self(Arc::new(Lifecycle::new(gateway)))
    }

    /// Answers one request.
    pub async fn answer<B: RequestBody>(&self, request: Request<B>) -> Answer {
        self.answer_on(&Connection::in_place(None), request).await
    }

    /// As [`Self::answer`], for a connection that may have sent others.
    pub(crate) async fn answer_on<B: RequestBody>(&self, connection: &Connection, request: Request<B>) -> Answer {
        let (head, mut body) = request.into_parts();
        match receive(&self.0, connection, &head, &mut body).await {
            Ok(answer) => answer,
            Err(refusal) => {
                tracing::debug!(status = refusal.status().as_u16(), reason = ?refusal, "refused a request");
                discard(&head, body);
                refusal.answer(self.0.gateway().wording())
            }
        }
    }
}

/// What outlives a request on its connection.
pub(crate) struct Connection {
    /// Is told what the connection does.
    place: Option<Slot>,
    last_session: LastSession,
}

impl Connection {
    pub(crate) fn in_place(place: Option<Slot>) -> Self {
        Self { place, last_session: LastSession::default() }
    }
}

async fn receive<G: Guarded, B: RequestBody>(
    lifecycle: &Lifecycle<G>,
    connection: &Connection,
    head: &Parts,
    body: &mut B,
) -> Result<Answer, Refusal> {
    let access = lifecycle.gateway().access();
    admit(head, &access)?;
    if let Some(place) = &connection.place {
        place.admit();
    }
    let sessions = lifecycle.gateway().sessions();
    let session = || session(&head.headers, sessions, &connection.last_session, access.fallback);
    if head.method == Method::DELETE {
        let session = session()?;
        lifecycle.end(session);
        return Ok(empty(StatusCode::NO_CONTENT));
    }
    admit_media_types(&head.headers)?;
    let bytes = read(body).await?;
    let _answering = connection.place.as_ref().map(Slot::answering);
    let message = match Message::read(&bytes, "request body") {
        Ok(message) => message,
        Err(fault) => {
            tracing::debug!(?fault, "a body is not a message");
            return Ok(json(StatusCode::BAD_REQUEST, rpc::failure(None, &fault, lifecycle.gateway().wording())));
        }
    };
    if let Message::Request { id, method, params } = &message
        && method == "initialize"
    {
        let (session, body) = lifecycle.initialize(id, params, access.fallback, Profile::of_query(head.uri.query()));
        let mut answer = json(StatusCode::OK, body);
        if let Some(id) = session.and_then(|session| HeaderValue::from_str(&session.to_string()).ok()) {
            answer.headers_mut().insert(SESSION_ID, id);
        }
        return Ok(answer);
    }
    Ok(match lifecycle.receive(session()?, message).await {
        Ok(Some(body)) => json(StatusCode::OK, body),
        Ok(None) => empty(StatusCode::ACCEPTED),
        Err(Unserved::Cancelled(body)) => json(StatusCode::OK, body),
        Err(Unserved::TooMany(of, body)) => {
            let status = match of {
                Crowd::Session => StatusCode::TOO_MANY_REQUESTS,
                Crowd::Everybody => StatusCode::SERVICE_UNAVAILABLE,
            };
            let mut answer = json(status, body);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
            answer
        }
    })
}

fn json(status: StatusCode, body: impl Into<Pieces>) -> Answer {
    of_type(JSON, status, body.into())
}

fn of_type(content_type: &'static str, status: StatusCode, body: Pieces) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Pieces::default());
    *answer.status_mut() = status;
    answer
}

/// Host, Origin, bearer, path, method.
fn admit(head: &Parts, access: &Access) -> Result<(), Refusal> {
    let host = only(&head.headers, &HOST).ok_or(Refusal::Host)?;
    // A request target in absolute form names a host of its own, which would take precedence.
    let named = head.uri.authority().map(Authority::as_str);
    if !is_loopback(host) || !named.is_none_or(is_loopback) {
        return Err(Refusal::Host);
    }
    for origin in head.headers.get_all(ORIGIN) {
        if !access.allowed_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
            return Err(Refusal::Origin);
        }
    }
    if !only(&head.headers, &AUTHORIZATION).is_some_and(|value| is_authorized(value, &access.tokens)) {
        return Err(Refusal::Bearer);
    }
    if head.uri.path() != PATH {
        return Err(Refusal::Path);
    }
    if head.method != Method::POST && head.method != Method::DELETE {
        return Err(Refusal::Method);
    }
    Ok(())
}

/// The value of a header that stands exactly once and is plain text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Whether a host, with or without a port, names this machine's loopback interface. A page that rebinds its own name to
/// 127.0.0.1 still sends its own name.
fn is_loopback(authority: &str) -> bool {
    let (is_local, port) = if let Some(rest) = authority.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        (address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()), port)
    } else {
        let (name, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
        let is_address = name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
        (is_address || name.eq_ignore_ascii_case("localhost"), port)
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    is_local && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Whether the header carries a valid token. Each is compared in constant time, and all of them, so that the time tells
/// nothing of any.
fn is_authorized(header: &str, tokens: &[String]) -> bool {
    let Some((scheme, token)) = header.split_once(' ') else { return false };
    let token = token.trim_start_matches(' ');
    if !scheme.eq_ignore_ascii_case("bearer") {
        return false;
    }
    let matches = |valid: &String| valid.as_bytes().ct_eq(token.as_bytes());
    tokens.iter().map(matches).fold(Choice::from(0), |any, one| any | one).into()
}

fn admit_media_types(headers: &HeaderMap) -> Result<(), Refusal> {
    let content_type = only(headers, &CONTENT_TYPE).ok_or(Refusal::ContentType)?;
    if !essence(content_type).eq_ignore_ascii_case(JSON) {
        return Err(Refusal::ContentType);
    }
    if !listed(headers, &CONTENT_ENCODING).all(|coding| coding.is_some_and(|it| it.eq_ignore_ascii_case("identity"))) {
        return Err(Refusal::ContentEncoding);
    }
    if only(headers, &ACCEPT).is_some_and(|accept| USUAL_ACCEPT.contains(&accept)) {
        return Ok(());
    }
    let ranges: Vec<&str> = listed(headers, &ACCEPT).flatten().collect();
    if !covers(&ranges, JSON) || !covers(&ranges, EVENT_STREAM) {
        return Err(Refusal::Accept);
    }
    Ok(())
}

/// The elements of a header that is a list, over all its lines; `None` for a line that is not plain text.
fn listed<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = Option<&'a str>> {
    headers.get_all(name).iter().flat_map(|value| {
        let text = value.to_str().ok();
        text.unwrap_or_default().split(',').map(move |element| text.map(|_| element.trim()))
    })
}

/// A media type or range without its parameters.
fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

/// Whether a client that sent these media ranges takes `media_type`: the most specific range that matches decides.
fn covers(ranges: &[&str], media_type: &str) -> bool {
    let (group, _) = media_type.split_once('/').unwrap_or_default();
    let specificity = |range: &str| match range.split_once('/') {
        _ if range.eq_ignore_ascii_case(media_type) => Some(2),
        Some((range, "*")) if range.eq_ignore_ascii_case(group) => Some(1),
        Some(("*", "*")) => Some(0),
        _ => None,
    };
    ranges
        .iter()
        .filter_map(|range| Some((specificity(essence(range))?, is_wanted(range))))
        .max()
        .is_some_and(|(_, wanted)| wanted)
}

/// Whether a media range's weight is above nothing.
fn is_wanted(range: &str) -> bool {
    range
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .is_none_or(|(_, weight)| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0 && weight <= 1.0))
}

/// The whole body, if it is not too large and does not take too long.
async fn read<B: RequestBody>(body: &mut B) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > MAX_REQUEST_BYTES as u64 {
        return Err(Refusal::Size);
    }
    timeout(BODY_TIMEOUT, read_whole(body)).await.unwrap_or(Err(Refusal::Slow))
}

async fn read_whole<B: RequestBody>(body: &mut B) -> Result<Bytes, Refusal> {
    let mut limited = Limited::new(body, MAX_REQUEST_BYTES);
    let first = match limited.frame().await.transpose().map_err(|error| of_body(&*error))?.map(Frame::into_data) {
        // Most bodies come in one piece.
        Some(Ok(first)) if limited.is_end_stream() => return Ok(first),
        Some(Ok(first)) => first,
        Some(Err(_)) | None => Bytes::new(),
    };
    let rest = limited.collect().await.map_err(|error| of_body(&*error))?.to_bytes();
    Ok(if first.is_empty() { rest } else { [first, rest].concat().into() })
}

fn of_body(error: &(dyn Error + Send + Sync + 'static)) -> Refusal {
    if error.is::<LengthLimitError>() { Refusal::Size } else { Refusal::Body }
}

/// Reads the rest of a refused request's body while the answer is under way. A connection that is closed over unread
/// bytes is reset, and then the client may never see why it was refused. A client that waits to be told to go on has
/// sent nothing, and is not told.
fn discard<B: RequestBody>(head: &Parts, mut body: B) {
    if body.is_end_stream() || head.headers.contains_key(EXPECT) {
        return;
    }
    tokio::spawn(timeout(DISCARD_TIMEOUT, async move {
        let mut rest = Limited::new(&mut body, DISCARD_BYTES);
        while let Some(Ok(_)) = rest.frame().await {}
    }));
}

/// The session of a request, which may name no version but the one that the session was begun in. One of the fallback
/// is unknown as soon as there is none: its client begins another, and is told the revision that is spoken now.
fn session(headers: &HeaderMap, sessions: &Sessions, last: &LastSession, fallback: bool) -> Result<SessionId, Refusal> {
    if !headers.contains_key(&SESSION_ID) {
        return Err(Refusal::NoSession);
    }
    let session =
        only(headers, &SESSION_ID).and_then(|id| sessions.admit_on(last, id)).ok_or(Refusal::UnknownSession)?;
    let revision = session.revision();
    if revision == Revision::Fallback && !fallback {
        return Err(Refusal::UnknownSession);
    }
    if !listed(headers, &PROTOCOL_VERSION).all(|version| version == Some(revision.name())) {
        return Err(Refusal::Version(revision));
    }
    Ok(session)
}

/// Why a request is turned away before any message in it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Host,
    Origin,
    Bearer,
    Path,
    Method,
    ContentType,
    ContentEncoding,
    Accept,
    Size,
    Slow,
    Body,
    NoSession,
    UnknownSession,
    /// The revision that it should have named.
    Version(Revision),
}

impl Refusal {
    const fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Bearer => StatusCode::UNAUTHORIZED,
            Self::Path | Self::UnknownSession => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::ContentType | Self::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Accept => StatusCode::NOT_ACCEPTABLE,
            Self::Size => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Body | Self::NoSession | Self::Version(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// What the client's person reads. Nothing where clients of newer revisions, which probe before they initialize,
    /// fall back on exactly an empty body (D42).
    const fn text(self, wording: &Wording) -> &'static str {
        match self {
            Self::Host => {
                "The Host header must name this machine's loopback interface, such as 127.0.0.1 or localhost."
            }
            Self::Origin => wording.origin_refused,
            Self::Bearer => wording.token_refused,
            Self::Path => "The one path of this server is /mcp.",
            Self::Method => "Send messages by POST, and end a session by DELETE; there is no event stream to GET.",
            Self::ContentType => "The request body must be application/json, and Content-Type must say so.",
            Self::ContentEncoding => "The request body must not be compressed.",
            Self::Accept => "Accept must cover application/json and text/event-stream.",
            Self::Size => "A request body may have at most 1048576 bytes.",
            Self::Slow => "The request body did not arrive in time.",
            Self::Body => "The request body ended early or is malformed.",
            Self::NoSession => "",
            Self::UnknownSession => "This session is unknown or has ended; begin a new one by initialize.",
            Self::Version(Revision::Current) => {
                "MCP-Protocol-Version must be 2025-11-25, the one revision that this server speaks."
            }
            Self::Version(Revision::Fallback) => {
                "MCP-Protocol-Version must be 2025-06-18, the revision that this session was begun in."
            }
        }
    }
}

impl Refusal {
    fn answer(self, wording: &Wording) -> Answer {
        let mut answer = match self.text(wording) {
            "" => empty(self.status()),
            text => of_type(PLAIN_TEXT, self.status(), format!("{text}\n").into_bytes().into()),
        };
        let headers = answer.headers_mut();
        if matches!(self, Self::Host | Self::Origin | Self::Bearer) {
            // Who may not come in does not keep the place of somebody who may.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        match self {
            Self::Bearer => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Method => {
                headers.insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
            }
            _ => {}
        }
        answer
    }
}
