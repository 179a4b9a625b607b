//! napi glue: starts, configures and stops the server from the extension host, asks its questions through one callback,
//! and decides nothing.

pub mod answers;
pub mod gateway;
pub mod js_editor;
mod log;
mod rows;
mod wording;

#[cfg(panic = "abort")]
compile_error!("a panic must cost one call, never the extension host with every extension in it: build with unwinding");

use napi_derive::module_init;

/// The server waits for JavaScript most of the time: two threads are plenty, and cost the machine little.
const WORKERS: usize = 2;

/// Resolving paths on a disk that does not answer blocks a thread for as long as that takes. The server lets so many do
/// that at a time that two such disks leave others some (`root_probe.rs`).
const MAX_BLOCKING_THREADS: usize = 24;

#[module_init]
fn init() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_name("mcp-lsp-gateway")
        .enable_all()
        .build();
    // Without it napi makes a runtime of its own on first use, and reports to JavaScript if that fails too.
    if let Ok(runtime) = runtime {
        napi::bindgen_prelude::create_custom_tokio_runtime(runtime);
    }
    std::panic::set_hook(Box::new(log::panicked));
}
