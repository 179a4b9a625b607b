//! A gateway over a real folder, with a stand-in for the editor. One program, since each compiles the gateway for its editor.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod bench;
mod calls;
#[cfg(target_os = "linux")]
mod freshness;
#[cfg(unix)]
mod gating;
mod names;
mod readiness;
mod rust_sdk;
