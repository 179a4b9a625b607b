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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use tokio::io::{AsyncWriteExt as _, ReadBuf};

    use super::*;

    /// A stream that arrives in pieces.
    struct Pieces(VecDeque<Vec<u8>>);

    impl AsyncRead for Pieces {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            if let Some(piece) = self.0.pop_front() {
                buffer.put_slice(&piece);
            }
            Poll::Ready(Ok(()))
        }
    }

    fn pieces(bytes: &[u8], mut cuts: Vec<usize>) -> Pieces {
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        Pieces(cuts.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect())
    }

    /// The bodies until the stream ends, and how it ends.
    fn read(stream: impl AsyncRead + Unpin) -> (Vec<Vec<u8>>, Option<io::ErrorKind>) {
        let mut frames = Frames::of(stream);
        let mut bodies = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            loop {
                match frames.next().await {
                    Ok(Some(Frame::Body(body))) => bodies.push(body),
                    Ok(Some(Frame::TooLarge { .. })) => panic!("none is too large"),
                    Ok(None) => return (bodies, None),
                    Err(error) => return (bodies, Some(error.kind())),
                }
            }
        })
    }

    #[track_caller]
    fn assert_bodies(stream: &str, bodies: &[&str]) {
        let bodies = bodies.iter().map(|body| body.as_bytes().to_vec()).collect();
        assert_eq!(read(stream.as_bytes()), (bodies, None), "{stream:?}");
    }

    #[test]
    fn headers_are_read_in_any_case_and_others_ignored() {
        assert_bodies("content-length:2\r\n\r\n{}CONTENT-LENGTH:   3  \r\n\r\n[1]", &["{}", "[1]"]);
        assert_bodies(
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
            &["{}"],
        );
        assert_bodies(
            "Content-Length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length: 0\n\nContent-Length: 1\n\n1",
            &["{}", "", "1"],
        );
    }

    #[test]
    fn what_a_server_prints_is_passed_over() {
        assert_bodies("loading\n\n\r\n...Content-Length: 2\r\n\r\n{}bye", &["{}"]);
        assert_bodies("wrote Content-Length: 9 to a file, and Content-Length: 9\nContent-Length: 2\r\n\r\n{}", &["{}"]);
    }

    #[test]
    fn what_is_no_length_is_passed_over() {
        for length in ["", "two", "-2", "+2", "2.0", "0x2", "99999999999999999999"] {
            assert_bodies(&format!("Content-Length: {length}\r\n\r\n{{}}\r\nContent-Length: 1\r\n\r\n1"), &["1"]);
        }
    }

    #[test]
    fn a_stream_that_ends_inside_a_frame_is_an_error() {
        assert_eq!(read(&b"Content-Length: 3\r\n\r\n{}"[..]), (Vec::new(), Some(io::ErrorKind::UnexpectedEof)));
        assert_eq!(read(&b"Content-Length: 67108865\r\n\r\n{}"[..]), (Vec::new(), Some(io::ErrorKind::UnexpectedEof)));
        assert_eq!(read(&b"Content-Length: 3\r\n"[..]), (Vec::new(), None));
    }

    #[tokio::test]
    async fn of_a_line_without_an_end_little_is_kept() {
        let (mut server, client) = tokio::io::duplex(BUFFER);
        let writing = tokio::spawn(async move {
            let x = vec![b'x'; BUFFER];
            for _ in 0..256 {
                server.write_all(&x).await.unwrap();
            }
            server.write_all(b"Content-Length: 2\r\n\r\n{}").await.unwrap();
        });
        let mut frames = Frames::of(client);
        let mut line = Vec::new();
        assert!(frames.read_line(&mut line).await.unwrap());
        assert!(line.ends_with(b"xxContent-Length: 2\r\n"));
        assert!(line.capacity() < 4 * BUFFER, "{}", line.capacity());
        writing.await.unwrap();
    }

    #[tokio::test]
    async fn a_body_over_the_cap_is_passed_over_and_told_of() {
        let (mut server, client) = tokio::io::duplex(BUFFER);
        tokio::spawn(async move {
            for bytes in [64 * 1024 * 1024, 64 * 1024 * 1024 + 1] {
                server.write_all(format!("Content-Length: {bytes}\r\n\r\n{{\"id\":7,").as_bytes()).await.unwrap();
                let rest = vec![b'x'; bytes - 8];
                server.write_all(&rest).await.unwrap();
            }
            server.write_all(b"Content-Length: 2\r\n\r\n{}").await.unwrap();
        });
        let mut frames = Frames::of(client);
        let Some(Frame::Body(body)) = frames.next().await.unwrap() else { panic!("it is not over the cap") };
        assert_eq!(body.len(), 64 * 1024 * 1024);
        let Some(Frame::TooLarge { bytes, start }) = frames.next().await.unwrap() else { panic!("it is over the cap") };
        assert_eq!(bytes, 64 * 1024 * 1024 + 1);
        assert!(start.starts_with(b"{\"id\":7,xxx") && start.len() < 1024, "{} bytes", start.len());
        assert_eq!(frames.next().await.unwrap(), Some(Frame::Body(b"{}".to_vec())));
        assert_eq!(frames.next().await.unwrap(), None);
    }

    #[test]
    fn the_length_that_is_sent_counts_bytes() {
        assert_eq!(framed("\"µ\"".as_bytes()), "Content-Length: 4\r\n\r\n\"µ\"".as_bytes());
    }

    proptest! {
        #[test]
        fn frames_that_are_cut_anywhere_read_the_same(
            parts in vec(("[a-z \u{b5}]{0,9}", prop::option::of("[a-z \r]{1,9}\n")), 1..6),
            cuts in vec(any::<Index>(), 0..20),
        ) {
            let mut stream = Vec::new();
            for (body, junk) in &parts {
                stream.extend_from_slice(junk.as_deref().unwrap_or_default().as_bytes());
                stream.extend_from_slice(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
            }
            let cuts = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            let bodies = parts.iter().map(|(body, _)| body.as_bytes().to_vec()).collect();
            prop_assert_eq!(read(pieces(&stream, cuts)), (bodies, None));
        }
    }
}
