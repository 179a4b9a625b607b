//! The server: MCP over HTTP on loopback, and the questions that it asks of an editor.
#![forbid(unsafe_code)]

pub mod access;
pub mod activity;
mod aim;
pub mod answers;
mod asking;
pub mod body;
mod call;
pub mod catalog;
mod catching_up;
mod connection_limit;
pub mod disk;
pub mod editor;
pub mod files;
mod freshness;
pub mod gateway;
pub mod http;
pub mod lifecycle;
mod readiness;
pub mod redact;
mod root_probe;
mod rpc;
pub mod serve;
pub mod session;
mod single_flight;
pub mod stdio;
mod texts;
pub mod walk;
pub mod watch;
mod workspace;
