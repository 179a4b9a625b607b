//! The keys that bind a cursor to its request and to the state of the workspace (contract sections 3.6 and 7).

use std::fmt::{self, Write as _};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::epochs::{Epochs, Relevant};
use crate::uri::CanonicalUri;

/// `k`: which question is asked. Everything in the arguments that affects the result is in it, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(String);

/// `s`: of which question the answer is, in which state of the workspace. Inside a [`Cursor`](crate::cursor::Cursor) it
/// is a claim, to be compared with the one that the server derives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotKey(String);

/// Which folders are allowed: the hash of their sorted canonical URIs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RootsKey(String);

/// What a symbol or diagnostic is known by: the hash of its canonical string (contract section 3.7).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(crate) struct ItemId(String);

impl RequestKey {
    /// The key of a request that this text tells from all others: the tool's name, then what its result depends on, joined
    /// by bars (contract section 7).
    pub(crate) fn of(text: fmt::Arguments<'_>) -> Self {
        Self(sha256_hex(format_args!("v1|{text}")))
    }

    /// The key in lower-case hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SnapshotKey {
    /// The key of a request in this state of the workspace, of which its result depends on `relevant` (contract section
    /// 3.6.1).
    pub fn derive(relevant: Relevant, request: &RequestKey, roots: &RootsKey, epochs: &Epochs) -> Self {
        let tuple = epochs.tuple_of(relevant);
        Self(sha256_hex(format_args!("v1|snapshot|{request}|roots:{roots}|epochs:{tuple}")))
    }

    /// What a cursor claims to be its snapshot key.
    pub(crate) fn claimed(text: String) -> Self {
        Self(text)
    }

    /// The key in lower-case hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RootsKey {
    /// The key of roots that are sorted and distinct.
    pub(crate) fn derive(sorted: &[CanonicalUri]) -> Self {
        // The canonical JSON of an array of strings: there are no members to sort and no numbers to format.
        let json: Value = sorted.iter().map(CanonicalUri::as_str).collect();
        Self(sha256_hex(format_args!("{json}")))
    }

    /// The key in lower-case hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ItemId {
    /// The id of what this canonical string describes.
    pub(crate) fn of(canonical_string: &str) -> Self {
        Self(format!("sha256:{}", sha256_hex(format_args!("{canonical_string}"))))
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for SnapshotKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for RootsKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What tells a result from others: the first 16 digits of the hash of its JSON.
pub(crate) fn state_of(json: &[u8]) -> String {
    hex(&Sha256::digest(json)[..8])
}

/// Hashes text as it is written.
#[derive(Default)]
struct Hashing(Sha256);

impl fmt::Write for Hashing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

fn sha256_hex(text: fmt::Arguments<'_>) -> String {
    let mut hashing = Hashing::default();
    // Neither hashing nor the numbers and strings that make up the text can fail.
    let _ = hashing.write_fmt(text);
    hex(&hashing.0.finalize())
}

fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for nibble in [byte >> 4, byte & 0xf] {
            hex.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri::PathStyle;

    #[test]
    fn the_roots_are_hashed_as_canonical_json() {
        let uris = ["/a b", "/é/😀", "/z"].map(|path| CanonicalUri::of_real_path(path, PathStyle::Posix));
        let texts = uris.each_ref().map(CanonicalUri::as_str);
        let canonical = serde_jcs::to_string(&texts).unwrap();
        assert_eq!(RootsKey::derive(&uris).as_str(), sha256_hex(format_args!("{canonical}")));
    }

    #[test]
    fn a_hash_is_64_lower_case_digits() {
        assert_eq!(sha256_hex(format_args!("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
