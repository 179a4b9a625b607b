//! The server: MCP over HTTP on loopback, and the questions that it asks of an editor.
#![forbid(unsafe_code)]

pub mod access;
pub mod activity;
pub mod answers;
mod asking;
mod asks;
pub mod body;
mod call;
pub mod catalog;
mod catching_up;
pub mod disk;
pub mod editor;
mod freshness;
pub mod gateway;
pub mod http;
pub mod lifecycle;
mod looks;
mod places;
mod readiness;
pub mod redact;
mod rpc;
pub mod serve;
pub mod session;
pub mod watch;
mod workspace;
