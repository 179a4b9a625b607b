//! Language servers driven without VS Code.
#![forbid(unsafe_code)]

pub mod connection;
pub mod frame;
mod message;
mod printable;
pub mod process;
#[cfg(unix)]
pub mod supervisor;
