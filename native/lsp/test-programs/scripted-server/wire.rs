//! The base protocol by hand, and how it is bent.

use std::io::{BufRead, Write as _};

use serde_json::Value;

/// The client's next message, or none at the end. A client that does not keep to the protocol is a failure.
pub(crate) fn read(stdin: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stdin.read_line(&mut line).unwrap() == 0 {
            assert!(length.is_none(), "the client ended in a header");
            return None;
        }
        if line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(": ").expect("a header");
        if name == "Content-Length" {
            length = Some(value.trim_end().parse::<usize>().expect("a length"));
        }
    }
    let mut body = vec![0; length.expect("a Content-Length")];
    stdin.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("JSON"))
}

/// The way to the client.
pub(crate) struct Wire {
    header: String,
    before: String,
    cut: usize,
    join: usize,
    joined: Vec<u8>,
    frames: usize,
}

impl Default for Wire {
    fn default() -> Self {
        let (header, before) = ("Content-Length:".to_owned(), String::new());
        Self { header, before, cut: usize::MAX, join: 1, joined: Vec::new(), frames: 0 }
    }
}

impl Wire {
    pub(crate) fn restyle(&mut self, style: &Value) {
        let text = |name: &str, old: &str| style[name].as_str().unwrap_or(old).to_owned();
        let number = |name: &str, old| style[name].as_u64().map_or(old, |new| usize::try_from(new).unwrap());
        self.header = text("header", &self.header);
        self.before = text("before", &self.before);
        self.cut = number("cut", self.cut);
        self.join = number("join", self.join);
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let frame = format!("{}{} {}\r\n\r\n{body}", self.before, self.header, body.len());
        self.joined.extend_from_slice(frame.as_bytes());
        self.frames += 1;
        if self.frames >= self.join {
            self.frames = 0;
            let joined = std::mem::take(&mut self.joined);
            self.write(&joined);
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        for piece in bytes.chunks(self.cut) {
            // A client that is gone is told by the end of stdin.
            let _ = stdout.write_all(piece).and_then(|()| stdout.flush());
        }
    }
}
