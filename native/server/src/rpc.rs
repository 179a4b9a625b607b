//! JSON-RPC 2.0: reading one message, writing one answer. The numbers of JSON-RPC errors appear here and nowhere else.

use bytes::Bytes;
use gateway_core::error::{ErrorCode, ToolError};
use gateway_core::page::Payload;
use gateway_core::wording::Wording;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answers::Answered;
use crate::body::{Pieces, held as held_bytes};

/// Longest string that is accepted as the id of a request, in bytes of UTF-8 (D46).
const MAX_ID_BYTES: usize = 1_024;

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
const INTERNAL_ERROR: i32 = -32_603;

/// The id of a request: an integer or a string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Id(Value);

impl Id {
    /// The id that `value` is, if it can be one.
    pub(crate) fn read(value: Value) -> Result<Self, Fault> {
        match &value {
            Value::Number(number) if number.is_i64() || number.is_u64() => Ok(Self(value)),
            Value::String(text) if text.len() <= MAX_ID_BYTES => Ok(Self(value)),
            Value::String(_) => Err(Fault::InvalidRequest("`id` may have at most 1024 bytes")),
            _ => Err(Fault::InvalidRequest("`id` must be a string or an integer")),
        }
    }
}

/// One message from a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Wants an answer.
    Request {
        /// What the answer is to be marked with.
        id: Id,
        /// What is wanted.
        method: String,
        /// Its parameters; empty if there are none.
        params: Map<String, Value>,
    },
    /// Wants none.
    Notification {
        /// What happened.
        method: String,
        /// Its parameters; empty if there are none.
        params: Map<String, Value>,
    },
    /// Answers a request of the server. The server makes none, so there is nothing to do with it.
    Response,
}

impl Message {
    /// Reads the message that `text` is, which came in what the transport calls `carrier`. The fault says what is wrong
    /// without repeating any of it.
    pub(crate) fn read(text: &[u8], carrier: &'static str) -> Result<Self, Fault> {
        let message: Value = serde_json::from_slice(text).map_err(|_| Fault::Parse(carrier))?;
        let mut message = match message {
            Value::Object(fields) => fields,
            Value::Array(_) => {
                return Err(Fault::InvalidRequest("batches are not supported; send one message at a time"));
            }
            _ => return Err(Fault::InvalidRequest("a message is a JSON object")),
        };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(Fault::InvalidRequest("`jsonrpc` must be \"2.0\""));
        }
        let id = message.remove("id").map(Id::read).transpose()?;
        let is_response = message.contains_key("result") || message.contains_key("error");
        let Some(method) = message.remove("method") else {
            return if is_response {
                Ok(Self::Response)
            } else {
                Err(Fault::InvalidRequest("a message has a `method`, or answers a request by `result` or `error`"))
            };
        };
        let Value::String(method) = method else {
            return Err(Fault::InvalidRequest("`method` must be a string"));
        };
        if is_response {
            return Err(Fault::InvalidRequest("a message with a `method` has no `result` and no `error`"));
        }
        let params = match message.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(Fault::InvalidRequest("`params` must be an object")),
        };
        Ok(match id {
            Some(id) => Self::Request { id, method, params },
            None => Self::Notification { method, params },
        })
    }
}

/// Why a message is answered by an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What came in this carrier is not JSON.
    Parse(&'static str),
    /// It is JSON and not a message, or a message that may not be sent now.
    InvalidRequest(&'static str),
    /// There is no such method.
    MethodNotFound,
    /// The method was called and failed.
    Tool(ToolError),
}

impl From<ToolError> for Fault {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl Fault {
    fn number(&self) -> i32 {
        match self {
            Self::Parse(_) => PARSE_ERROR,
            Self::InvalidRequest(_) => INVALID_REQUEST,
            Self::MethodNotFound => METHOD_NOT_FOUND,
            Self::Tool(error) => match error.code() {
                ErrorCode::InvalidParams
                | ErrorCode::UriInvalid
                | ErrorCode::WorkspaceDenied
                | ErrorCode::CursorInvalid
                | ErrorCode::CursorStale
                | ErrorCode::CursorExpired
                | ErrorCode::SnapshotTooLarge
                | ErrorCode::FileChanged => INVALID_PARAMS,
                ErrorCode::NotFound | ErrorCode::CapExceeded | ErrorCode::ProviderUnavailable | ErrorCode::Internal => {
                    INTERNAL_ERROR
                }
            },
        }
    }

    fn message(&self, wording: &Wording) -> String {
        match self {
            Self::Parse(carrier) => format!(
                "Parse error: the {carrier} cannot be read as JSON in UTF-8, with numbers in range and at most 127 levels."
            ),
            Self::InvalidRequest(reason) => format!("Invalid request: {reason}."),
            Self::MethodNotFound => {
                "Method not found: this server answers initialize, ping, tools/list and tools/call.".to_owned()
            }
            // Most clients show the model this text alone, so it carries the code as well (D3).
            Self::Tool(error) => format!("{} [{}]", error.message(wording), error.code().as_str()),
        }
    }

    fn data(&self, wording: &Wording) -> Option<Value> {
        let Self::Tool(error) = self else { return None };
        let mut data = json!({ "code": error.code().as_str(), "message": error.message(wording) });
        if let (Value::Object(fields), Some(details)) = (&mut data, error.details()) {
            fields.insert("details".to_owned(), details);
        }
        Some(data)
    }
}

/// The body that answers `id`, or a message whose id could not be read, by an error, in the words of the back end.
pub(crate) fn failure(id: Option<&Id>, fault: &Fault, wording: &Wording) -> Vec<u8> {
    let mut error = json!({ "code": fault.number(), "message": fault.message(wording) });
    if let (Value::Object(fields), Some(data)) = (&mut error, fault.data(wording)) {
        fields.insert("data".to_owned(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
}

/// The body that answers `id` by `result`, which is encoded already.
pub(crate) fn success(id: &Id, result: &[u8]) -> Vec<u8> {
    Envelope::of_result(id).around(result)
}

/// What stands before and after encoded JSON in a body, so that a payload is copied once into its place and never
/// encoded a second time.
pub(crate) struct Envelope {
    before: String,
    after: &'static str,
}

impl Envelope {
    /// The envelope of any result.
    fn of_result(id: &Id) -> Self {
        Self { before: format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.0), after: "}" }
    }

    /// The envelope of what a tool answered (contract section 3.0): `content` stays empty (D2).
    pub(crate) fn of_tool(id: &Id) -> Self {
        let Self { mut before, .. } = Self::of_result(id);
        before.push_str(r#"{"isError":false,"structuredContent":"#);
        Self { before, after: r#","content":[]}}"# }
    }

    /// How many bytes of the body are not the payload.
    pub(crate) fn bytes(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The whole body. The items of a page stay where they are held.
    pub(crate) fn around_answer(self, answered: Answered) -> Pieces {
        let Answered { payload: Payload { before, held, after, .. }, retained } = answered;
        let before = [self.before.into_bytes(), before].concat();
        let after = [&after, self.after.as_bytes()].concat();
        Pieces::around(before, retained.map_or_else(Bytes::new, |retained| held_bytes(retained, held)), after)
    }

    /// The whole body of what a tool answered, with the payload once more as a text in `content`: clients of the revision
    /// before may look nowhere else.
    pub(crate) fn around_twice(&self, answered: &Answered) -> Vec<u8> {
        let payload = answered.json();
        let content = json!([{ "type": "text", "text": String::from_utf8_lossy(&payload) }]);
        let after = format!(r#","content":{content}}}}}"#);
        [self.before.as_bytes(), &payload, after.as_bytes()].concat()
    }

    /// The whole body.
    fn around(&self, payload: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.bytes() + payload.len());
        body.extend_from_slice(self.before.as_bytes());
        body.extend_from_slice(payload);
        body.extend_from_slice(self.after.as_bytes());
        body
    }
}
