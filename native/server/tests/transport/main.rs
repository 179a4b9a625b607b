//! The transport over a real socket, byte by byte, with a stand-in for the gateway behind it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected has failed"
)]

mod activity;
mod admission;
mod arguments;
mod double;
mod lifecycle;
mod messages;
mod order;
mod redaction;
mod serving;
mod sessions;
mod stdio;
mod wire;
