//! What tests start beside the scripted server: `host supervise PROGRAM ARGS…` is the supervisor, as the product's own
//! program is. `host parent PROGRAM ARGS…` starts a server under one, as the product does, and waits for its end, whose code
//! it prints.

use std::process::ExitCode;

use gateway_lsp::process::{Spec, Supervisor, spawn};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next();
    #[cfg(unix)]
    if command.as_ref().is_some_and(|command| command == "supervise") {
        return gateway_lsp::supervisor::run(args);
    }
    if command.is_none_or(|command| command != "parent") {
        return ExitCode::FAILURE;
    }
    match parent(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn parent(mut args: impl Iterator<Item = std::ffi::OsString>) -> std::io::Result<()> {
    let supervisor = Supervisor { program: std::env::current_exe()?, args: vec!["supervise".into()] };
    let program = args.next().unwrap_or_default().into();
    let spec = Spec { program, args: args.collect(), env: Vec::new(), cwd: std::env::current_dir()?, supervisor };
    let server = spawn(&spec)?;
    println!("{:?}", server.process.ended().await.code);
    Ok(())
}
