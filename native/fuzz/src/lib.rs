//! What the fuzz targets have in common. Each module is one target: `run` takes the bytes that libFuzzer made up, and
//! panics where an invariant is broken.

pub mod call_sequences;
mod checks;
pub mod cursors;
mod editor;
pub mod file_uris;
mod gateway_over_http;
pub mod http_heads;
#[path = "../../core/tests/in_memory/mod.rs"]
#[expect(dead_code, reason = "folders come with their files here")]
mod in_memory;
pub mod json_rpc;
pub mod packed_rows;
// The addon is a library for Node alone, which no program can link. This is the very file that it is built from.
#[path = "../../addon/src/rows.rs"]
mod rows;
pub mod server_messages;
