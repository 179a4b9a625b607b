//! The server.
#![forbid(unsafe_code)]
pub mod editor;
