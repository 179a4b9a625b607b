//! The server: MCP over HTTP on loopback, and the questions that it asks of an editor.
#![forbid(unsafe_code)]

pub mod catalog;
pub mod editor;
pub mod http;
pub mod lifecycle;
pub mod redact;
mod rpc;
pub mod serve;
pub mod session;
