//! The body of a response, in pieces that are written as they are: what is held for many answers is not copied for one.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use gateway_core::snapshots::Retained;

/// A body that is there as a whole.
#[derive(Debug, Default)]
pub struct Pieces([Bytes; 3]);

impl Pieces {
    /// What stands before, in and after the middle.
    pub(crate) fn around(before: Vec<u8>, middle: Bytes, after: Vec<u8>) -> Self {
        Self([before.into(), middle, after.into()])
    }

    /// How many bytes the pieces have together.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// Takes the next piece that has something in it.
    pub(crate) fn take_piece(&mut self) -> Option<Bytes> {
        self.0.iter_mut().find(|piece| !piece.is_empty()).map(mem::take)
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
