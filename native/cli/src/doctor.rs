//! What works in a folder, what does not, and what helps.

use std::fmt::Write as _;

use gateway_lsp::headless::{Able, Examined, Headless};
use gateway_lsp::table::Rule;

/// clangd has an index only with it.
const NO_INDEX: &str = "; it finds nothing in other files without a compile_commands.json, which CMake writes with \
                        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON and others with bear";

/// Starts what there is for the languages of the folders. Returns the report, and whether all of them are served.
pub(crate) async fn examine(headless: &Headless) -> (String, bool) {
    let examined = headless.examine().await;
    let mut report = String::new();
    let mut is_served = !examined.is_empty();
    if examined.is_empty() {
        report.push_str("There is no file here of a language whose server is known.\n");
    }
    for each in &examined {
        is_served &= matches!(each.outcome, Some(Ok(_))) || !each.row.is_missed();
        // A text takes all that is written to it.
        let untried = if each.row.is_untried { " (untried: its answers may be a part)" } else { "" };
        let _ = writeln!(report, "{}{untried} in {}: {}", each.row.title, each.root.display(), told(each));
    }
    (report, is_served)
}

fn told(examined: &Examined) -> String {
    let Examined { row, root, program, wants_trust, outcome } = examined;
    let Some(program) = program else {
        let names: Vec<_> = row.programs.iter().map(|name| name.display().to_string()).collect();
        return format!("no {} on PATH outside the folder; install it: {}", names.join(" or "), row.install);
    };
    if *wants_trust {
        return format!(
            "it runs code of the project, and the folder is not trusted; trust it: mcp-lsp-gateway trust {}",
            root.display()
        );
    }
    match outcome {
        Some(Ok(Able { info, ready_after, methods, has_index })) => format!(
            "ready after {:.1} s, {} ({}); answers {}{}",
            ready_after.as_secs_f64(),
            info.as_deref().unwrap_or("it tells no version"),
            program.display(),
            methods.join(", "),
            if *has_index || row.rule != Rule::Clangd { "" } else { NO_INDEX }
        ),
        Some(Err(reason)) => format!("{} is no server that works: {reason}", program.display()),
        None => "it was not started".to_owned(),
    }
}
