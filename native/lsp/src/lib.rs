//! Language servers driven without VS Code.
#![forbid(unsafe_code)]

mod answers;
mod belonging;
mod compile_commands;
pub mod connection;
pub mod frame;
pub mod headless;
mod known;
mod message;
mod printable;
pub mod process;
pub mod programs;
mod projects;
mod registrations;
mod server;
pub mod setup;
mod signs;
mod slot;
#[cfg(unix)]
pub mod supervisor;
pub mod table;
mod tsserver;
