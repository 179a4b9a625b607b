//! The body of a response, in pieces that are written as they are: what is held for many answers is not copied for one.

use std::convert::Infallible;
use std::mem;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use gateway_core::snapshots::Retained;
use hyper::body::{Body, Bytes, Frame, SizeHint};

/// A body that is there as a whole.
#[derive(Debug, Default)]
pub struct Pieces([Bytes; 3]);

impl Pieces {
    /// What stands before, in and after the middle.
    pub(crate) fn around(before: Vec<u8>, middle: Bytes, after: Vec<u8>) -> Self {
        Self([before.into(), middle, after.into()])
    }

    /// The pieces, in their order.
    pub(crate) fn pieces(&self) -> &[Bytes] {
        &self.0
    }

    /// How many bytes the pieces have together.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }
}

impl From<Bytes> for Pieces {
    fn from(whole: Bytes) -> Self {
        Self([whole, Bytes::new(), Bytes::new()])
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(whole: Vec<u8>) -> Self {
        Bytes::from(whole).into()
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.0.iter_mut().find(|piece| !piece.is_empty());
        Poll::Ready(next.map(|piece| Ok(Frame::data(mem::take(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len() as u64)
    }
}

/// Some of a retained set's bytes, which keep the set until they are sent.
pub(crate) fn held(retained: Arc<Retained>, run: Range<usize>) -> Bytes {
    struct Held(Arc<Retained>);

    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            self.0.set.json()
        }
    }

    Bytes::from_owner(Held(retained)).slice(run)
}
