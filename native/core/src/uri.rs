//! `file:` URIs: from the caller's URI to a path (D34), and from a real path to the canonical URI (D30).

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &COMPONENT.remove(b'/');
const AUTHORITY: &AsciiSet = &COMPONENT.remove(b'[').remove(b']').remove(b':');

/// The URI of a real path inside an allowed root, byte for byte as VS Code spells it. Only
/// [`AllowedRoots`](crate::roots::AllowedRoots) makes one, so having one is the proof that gating happened.
///
/// Everything but the host and port of a Windows share is ASCII, so the order of its bytes is the order of its UTF-16
/// units (D4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUri(Arc<str>);

impl CanonicalUri {
    /// The canonical URI of a path that is known to be real and allowed.
    pub(crate) fn of_real_path(path: &str, style: PathStyle) -> Self {
        Self(file_uri(path, style).into())
    }

    /// The URI as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CanonicalUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// How paths are written. It is a value and not a build flag, so that both styles are tested on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStyle {
    /// `/home/me`; a backslash is a character like any other.
    Posix,
    /// `c:\Users\me` or `\\server\share`.
    Windows,
}

impl PathStyle {
    /// The style of the machine that this runs on.
    pub const NATIVE: Self = if cfg!(windows) { Self::Windows } else { Self::Posix };
}

/// What VS Code's `Uri.file(path).toString()` gives (D30).
pub fn file_uri(path: &str, style: PathStyle) -> String {
    let path = with_slashes(path, style);
    let (authority, path) = match path.strip_prefix("//") {
        Some(share) => share.split_at(share.find('/').unwrap_or(share.len())),
        None => ("", &*path),
    };
    // Few paths have more to be escaped than there is room for.
    let mut uri = String::with_capacity(path.len() + path.len() / 4 + 16);
    uri.push_str("file://");
    push_authority(&mut uri, authority);
    if !path.starts_with('/') {
        uri.push('/');
    }
    match drive_of(path) {
        Some(drive) => {
            let after_drive = path.trim_start_matches('/').get(1..).unwrap_or_default();
            if path.starts_with('/') {
                uri.push('/');
            }
            uri.push(drive.to_ascii_lowercase());
            uri.extend(utf8_percent_encode(after_drive, PATH));
        }
        None => uri.extend(utf8_percent_encode(path, PATH)),
    }
    uri
}

fn push_authority(uri: &mut String, authority: &str) {
    let host = match authority.split_once('@') {
        Some((user, host)) => {
            match user.rsplit_once(':') {
                Some((name, password)) => {
                    uri.extend(utf8_percent_encode(name, COMPONENT));
                    uri.push(':');
                    uri.extend(utf8_percent_encode(password, AUTHORITY));
                }
                None => uri.extend(utf8_percent_encode(user, COMPONENT)),
            }
            uri.push('@');
            host
        }
        None => authority,
    };
    let host = host.to_lowercase();
    let (name, port) = host.split_at(host.rfind(':').unwrap_or(host.len()));
    uri.extend(utf8_percent_encode(name, AUTHORITY));
    uri.push_str(port);
}

/// The drive letter of `/C:…` or `C:…`. VS Code lower-cases what looks like one on every platform.
fn drive_of(path: &str) -> Option<char> {
    match *path.strip_prefix('/').unwrap_or(path).as_bytes() {
        [letter, b':', ..] if letter.is_ascii_alphabetic() => Some(letter.into()),
        _ => None,
    }
}

/// The path that a URI names, in normal form. Dot segments are resolved in the decoded text, so that an escaped `..`
/// climbs as far as a plain one and no further; links are resolved later, by who looks at the disk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NamedPath {
    /// A path on this machine.
    Local(String),
    /// A path on a Windows share. Merely looking there sends this user's credentials to another machine.
    Share(String),
}

/// What is wrong with a URI that names another machine.
pub(crate) const ANOTHER_MACHINE: &str =
    "it names another machine; three slashes follow file: in the URI of a local file";

/// The path that a caller's URI names (D34), or why it names none.
pub(crate) fn input_path(uri: &str, style: PathStyle) -> Result<NamedPath, &'static str> {
    let rest = after_scheme(uri).ok_or("only file: URIs are allowed")?;
    if rest.contains(['?', '#']) {
        return Err("it has a query or a fragment; write these characters as %3F and %23 if they belong to the name");
    }
    named_path(rest, style)
}

/// The path that a URI from the editor names, its query and fragment dropped (D34).
pub(crate) fn output_path(uri: &str, style: PathStyle) -> Option<NamedPath> {
    let rest = after_scheme(uri)?;
    let rest = rest.split(['?', '#']).next()?;
    named_path(rest, style).ok()
}

/// The path on this machine that a URI from a language server names, in normal form.
pub fn path_of_file_uri(uri: &str, style: PathStyle) -> Option<String> {
    match output_path(uri, style)? {
        NamedPath::Local(path) => Some(path),
        NamedPath::Share(_) => None,
    }
}

fn after_scheme(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    scheme.eq_ignore_ascii_case("file").then_some(rest)
}

fn named_path(rest: &str, style: PathStyle) -> Result<NamedPath, &'static str> {
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let is_local = authority.is_empty() || authority.eq_ignore_ascii_case("localhost");
    if !is_local && style == PathStyle::Posix {
        return Err(ANOTHER_MACHINE);
    }
    if !path.starts_with('/') {
        return Err(if is_local { "its path is not absolute" } else { ANOTHER_MACHINE });
    }
    let path = decoded(path)?;
    match style {
        PathStyle::Posix => Ok(NamedPath::Local(normalized(&path, style))),
        PathStyle::Windows => {
            let path = with_slashes(&path, style);
            if is_local { on_drive(&path) } else { on_share(&decoded(authority)?, &path) }
        }
    }
}

fn decoded(text: &str) -> Result<Cow<'_, str>, &'static str> {
    if has_bad_escape(text) {
        return Err("it has a percent sign that begins no escape; write %25 for a percent sign in a name");
    }
    let text = percent_decode_str(text).decode_utf8().map_err(|_| "its escapes are not UTF-8")?;
    if text.contains('\0') {
        return Err("it has a NUL character");
    }
    Ok(text)
}

/// The path of `/c:/…`. What begins with two slashes is no path on a drive: the system would look for a share.
fn on_drive(path: &str) -> Result<NamedPath, &'static str> {
    let Some(path) = path.strip_prefix('/').filter(|path| !path.starts_with('/') && drive_of(path).is_some()) else {
        return Err("its path does not begin with a drive such as /c:/");
    };
    let after_drive = path.get(2..).unwrap_or_default();
    if !after_drive.is_empty() && !after_drive.starts_with('/') {
        return Err("its path is not absolute");
    }
    if after_drive.contains(':') {
        // It would name a stream of a file.
        return Err("it has a colon after the drive letter");
    }
    Ok(NamedPath::Local(normalized(path, PathStyle::Windows)))
}

fn on_share(server: &str, path: &str) -> Result<NamedPath, &'static str> {
    // `//./` and `//?/` are the system's own names for devices, not servers.
    if matches!(server, "." | "?") || server.contains(['/', '\\', ':', '@']) || path.contains(':') {
        return Err(ANOTHER_MACHINE);
    }
    Ok(NamedPath::Share(normalized(&format!("//{server}{path}"), PathStyle::Windows)))
}

fn has_bad_escape(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .any(|after| !matches!(after.as_bytes(), [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()))
}

/// The text of an absolute path in one spelling, whoever it comes from: forward slashes, no dot segments, no doubled or
/// trailing slashes, and on Windows no verbatim prefix and a lower-case drive letter. `None` if it is relative or not
/// Unicode.
pub(crate) fn path_text(path: &Path, style: PathStyle) -> Option<String> {
    path.to_str().and_then(|text| absolute_text(text, style))
}

/// As [`path_text`]; what is not Unicode is replaced. It shows in which folder such a path lies, not which path it is.
pub(crate) fn lossy_path_text(path: &Path, style: PathStyle) -> Option<String> {
    absolute_text(&path.to_string_lossy(), style)
}

fn absolute_text(text: &str, style: PathStyle) -> Option<String> {
    match style {
        PathStyle::Posix => text.starts_with('/').then(|| normalized(text, style)),
        PathStyle::Windows => {
            let text = with_slashes(text, style);
            let text = match text.strip_prefix("//?/UNC/") {
                Some(share) => Cow::Owned(format!("//{share}")),
                None => Cow::Borrowed(text.strip_prefix("//?/").unwrap_or(&text)),
            };
            (text.starts_with("//") || (drive_of(&text).is_some() && text.get(2..3) == Some("/")))
                .then(|| normalized(&text, style))
        }
    }
}

/// Whether a path in normal form is the folder or lies below it.
pub(crate) fn is_inside(path: &str, folder: &str) -> bool {
    below(path, folder).is_some()
}

/// The part of a path in normal form that lies below the folder, without the slash before it.
pub(crate) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() || folder.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
}

/// The path of `rest` below `folder`, both as [`below`] takes and gives them.
pub(crate) fn joined(folder: &str, rest: &str) -> String {
    match rest {
        "" => folder.to_owned(),
        _ if folder.ends_with('/') => format!("{folder}{rest}"),
        _ => format!("{folder}/{rest}"),
    }
}

fn normalized(path: &str, style: PathStyle) -> String {
    let (prefix, path) = match style {
        PathStyle::Posix if is_normal(path) => return path.to_owned(),
        PathStyle::Posix => (String::new(), path),
        PathStyle::Windows => split_prefix(path),
    };
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    format!("{prefix}/{}", kept.join("/"))
}

/// Whether nothing is to be done to an absolute path of [`PathStyle::Posix`].
fn is_normal(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(|name| !matches!(name, "" | "." | "..")))
}

/// Splits off what no `..` can leave: `c:` with its letter in lower case, or `//server/share`.
fn split_prefix(path: &str) -> (String, &str) {
    if let Some(share) = path.strip_prefix("//") {
        let end = share.match_indices('/').nth(1).map_or(share.len(), |(index, _)| index);
        let (share, rest) = share.split_at(end);
        return (format!("//{share}"), rest);
    }
    match drive_of(path) {
        Some(drive) => (format!("{}:", drive.to_ascii_lowercase()), path.get(2..).unwrap_or_default()),
        None => (String::new(), path),
    }
}

fn with_slashes(path: &str, style: PathStyle) -> Cow<'_, str> {
    match style {
        PathStyle::Windows if path.contains('\\') => Cow::Owned(path.replace('\\', "/")),
        _ => Cow::Borrowed(path),
    }
}
