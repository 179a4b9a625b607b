//! JSON-RPC 2.0 as language servers write it, read leniently: `jsonrpc` is not looked at, and a message of another form
//! costs that message.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::printable::printable;

/// A request or a notification of ours. A member that is none is left out.
#[derive(Serialize)]
pub(crate) struct Sent<'a, P> {
    pub(crate) jsonrpc: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u64>,
    pub(crate) method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<P>,
}

/// Our answer to a request of the server.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) jsonrpc: Version,
    pub(crate) id: &'a RawValue,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// What stands in an answer.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Result(Value),
    Error(Refusal),
}

/// Why a request of the server is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// A number of JSON-RPC or LSP.
    pub code: i64,
    /// One sentence, for the server's log.
    pub message: String,
}

/// The version that every message names.
#[derive(Serialize)]
pub(crate) enum Version {
    #[serde(rename = "2.0")]
    Two,
}

/// Any message of a server. Of an `error` that is null, nothing is there, as of one that is missing.
#[derive(Deserialize)]
pub(crate) struct Received<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: Option<String>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// The longest message of an error that is kept, in characters.
const MAX_MESSAGE: usize = 1_000;

/// The code and the message of an error of a server: 0 and the error itself where it has another form than it should.
pub(crate) fn error_of(error: &RawValue) -> (i64, String) {
    #[derive(Deserialize)]
    struct Parts<'a> {
        code: i64,
        #[serde(borrow)]
        message: Option<&'a RawValue>,
    }
    let (code, said) = serde_json::from_str::<Parts<'_>>(error.get())
        .map_or((0, error.get()), |parts| (parts.code, parts.message.map_or("", RawValue::get)));
    let message = serde_json::from_str::<String>(said).unwrap_or_else(|_| start_of(said).to_owned());
    (code, printable(start_of(&message)))
}

fn start_of(text: &str) -> &str {
    text.char_indices().nth(MAX_MESSAGE).map_or(text, |(at, _)| &text[..at])
}

/// What can be told of a message that is cut or is not JSON-RPC.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Its `id`: a number or a string.
    pub(crate) id: Option<Box<RawValue>>,
    /// Whether it has a `method`, as requests have and answers have not.
    pub(crate) has_method: bool,
}

/// Reads the start of a message, up to where it is cut or stops to be JSON.
pub(crate) fn head_of(start: &[u8]) -> Head {
    let mut head = Head::default();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = start.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some(end) = end_of_string(start, at) else { break };
                let name = &start[at..end];
                let after = start[end..].trim_ascii_start();
                at = end;
                if let (1, Some(value)) = (depth, after.strip_prefix(b":")) {
                    match name {
                        br#""id""# => head.id = scalar(value.trim_ascii_start()),
                        br#""method""# => head.has_method = true,
                        _ => {}
                    }
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    head
}

/// Where the string that starts there has ended.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The number or string at the start of a text, if it is whole.
fn scalar(text: &[u8]) -> Option<Box<RawValue>> {
    let end = match text.first()? {
        b'"' => end_of_string(text, 0)?,
        _ => text.iter().position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'e' | b'E'))?,
    };
    serde_json::from_slice(&text[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_head(start: &str, id: Option<&str>, has_method: bool) {
        let head = head_of(start.as_bytes());
        assert_eq!((head.id.as_deref().map(RawValue::get), head.has_method), (id, has_method), "{start}");
    }

    #[test]
    fn the_id_is_found_in_what_is_cut() {
        assert_head(r#"{"jsonrpc":"2.0","id":17,"result":[{"id":3,"na"#, Some("17"), false);
        assert_head(
            r#"{"jsonrpc":"2.0", "result":[{"id":3}, "}\"{", {}] , "id" : "a\"b" , "x"#,
            Some(r#""a\"b""#),
            false,
        );
        assert_head(r#"{"id":1,"method":"workspace/configuration","params":{"#, Some("1"), true);
        assert_head(r#"{"method":"window/logMessage","params":{"id":1,"message":"xx"#, None, true);
    }

    #[test]
    fn an_id_that_is_cut_or_none_is_not_taken_for_one() {
        for start in
            [r#"{"id":1"#, r#"{"id":"1"#, r#"{"id":{"id":1}}"#, r#"{"id":1.2.3,"#, r#"{"id":,"#, r#"{"id"#, "", "]]]]{"]
        {
            assert_head(start, None, false);
        }
        assert_head(r#"{"x":"id","id":null,"id":true,"#, None, false);
    }

    #[test]
    fn errors_are_read_whatever_their_form() {
        for (error, code, message) in [
            (r#"{"code":-32603,"message":"no"}"#, -32603, "no"),
            (r#"{"code":-32603,"message":"no","data":{"code":1}}"#, -32603, "no"),
            (r#"{"code":-32603}"#, -32603, ""),
            (r#"{"code":1,"message":["no"]}"#, 1, r#"["no"]"#),
            (r#"{"code":"E1","message":"no"}"#, 0, r#"{"code":"E1","message":"no"}"#),
            (r#""no""#, 0, "no"),
            ("7", 0, "7"),
        ] {
            let read = serde_json::from_str(error).map(error_of).unwrap();
            assert_eq!(read, (code, message.to_owned()), "{error}");
        }
    }

    #[test]
    fn the_message_of_an_error_is_bounded_and_printable() {
        let error = format!(r#"{{"code":1,"message":"\u001b[2J{}"}}"#, "ü".repeat(5_000));
        let (_, message) = error_of(serde_json::from_str(&error).unwrap());
        assert_eq!(message, format!("\u{fffd}[2J{}", "ü".repeat(996)));
    }
}
