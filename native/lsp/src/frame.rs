//! The base protocol of LSP, by bytes: a header that gives the length of a body, and the body.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// The longest body that is read, in bytes. A longer one is passed over.
pub const MAX_BODY: u64 = 64 * 1024 * 1024;

/// How much of a body that is passed over is kept, in bytes. Servers write the id of a response before its result.
const KEPT_START: u64 = 512;

/// How much of a line of the header is kept, in bytes: its end, where a header is that follows what a server has printed.
const MAX_LINE: usize = 4 * 1024;

/// How much is read at once, in bytes.
const BUFFER: usize = 64 * 1024;

const CONTENT_LENGTH: &[u8] = b"content-length:";

/// What stands behind one header.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A body, of whatever bytes the server has sent.
    Body(Vec<u8>),
    /// A body over [`MAX_BODY`].
    TooLarge {
        /// Its length.
        bytes: u64,
        /// Its first few hundred bytes.
        start: Vec<u8>,
    },
}

/// Frames as they arrive.
#[derive(Debug)]
pub struct Frames<R> {
    reader: BufReader<R>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Reads from a stream that is at the start of a header.
    pub fn of(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER, reader) }
    }

    /// The next frame, or none where the stream ends between two. What is no header is passed over: servers and what they
    /// start print to the same stream. A stream that ends inside a frame is an error of the kind `UnexpectedEof`.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        let Some(bytes) = self.content_length().await? else { return Ok(None) };
        let too_large = bytes > MAX_BODY;
        // The room grows with what arrives, so that nobody can have 64 MiB for a header.
        let mut body = Vec::new();
        let wanted = if too_large { KEPT_START } else { bytes };
        (&mut self.reader).take(wanted).read_to_end(&mut body).await?;
        let mut read = body.len() as u64;
        if too_large {
            read += tokio::io::copy_buf(&mut (&mut self.reader).take(bytes - wanted), &mut tokio::io::sink()).await?;
        }
        if read < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(if too_large { Frame::TooLarge { bytes, start: body } } else { Frame::Body(body) }))
    }

    /// Reads until the empty line behind a length.
    async fn content_length(&mut self) -> io::Result<Option<u64>> {
        let mut length = None;
        let mut line = Vec::new();
        while self.read_line(&mut line).await? {
            match (line.trim_ascii().is_empty(), length) {
                (true, Some(length)) => return Ok(Some(length)),
                _ => length = length_in(&line).or(length),
            }
        }
        // Where a header was cut, no message is lost that could have been read.
        Ok(None)
    }

    /// Reads one line, of which the last [`MAX_LINE`] bytes are kept. False at the end of the stream.
    async fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            line.extend_from_slice(&available[..taken]);
            line.drain(..line.len().saturating_sub(MAX_LINE));
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

/// The length that a line gives, which may follow something that was printed without the end of a line.
fn length_in(line: &[u8]) -> Option<u64> {
    let at = line.windows(CONTENT_LENGTH.len()).rposition(|part| part.eq_ignore_ascii_case(CONTENT_LENGTH))?;
    let value = line[at + CONTENT_LENGTH.len()..].trim_ascii();
    // What parse() would take as well, such as "+5", is no length.
    if !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(value).ok()?.parse().ok()
}

/// A body with its header, as it is sent.
pub fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}
