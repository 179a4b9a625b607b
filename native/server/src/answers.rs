//! What is shared of a question that is asked once for several calls, and what a call is answered by.

use std::sync::Arc;

use gateway_core::cursor::Cursor;
use gateway_core::epochs::Epochs;
use gateway_core::keys::RootsKey;
use gateway_core::page::{Payload, Whole};
use gateway_core::snapshots::Retained;
use gateway_core::tool::{Question, Registered};

use crate::workspace::WorkspaceVersion;

/// What an ask in flight asks, and of which state: a call that comes after a change never joins an ask from before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlightKey {
    tool: Registered,
    question: Question,
    roots: RootsKey,
    epochs: Epochs,
}

impl FlightKey {
    pub(crate) fn of(tool: Registered, question: &Question, moment: &WorkspaceVersion) -> Self {
        let epochs = moment.epochs.that_outdate_a_question(tool.epochs());
        Self { tool, question: question.clone(), roots: moment.roots.key().clone(), epochs }
    }
}

/// What a shared ask answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Of a tool that is not paged.
    Whole(Arc<dyn Whole>),
    /// Of a paged tool: where its first page begins, and the full set.
    Set(Cursor, Arc<Retained>),
}

/// What a call is answered by.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The payload.
    pub payload: Payload,
    /// What holds the middle of the payload, if it is a page.
    pub retained: Option<Arc<Retained>>,
}

impl Answered {
    /// The payload in one piece.
    pub fn json(&self) -> Vec<u8> {
        match &self.retained {
            Some(retained) => self.payload.joined(&retained.set),
            None => self.payload.before.clone(),
        }
    }
}
