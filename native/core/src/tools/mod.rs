//! The tools, a file each (contract sections 2 and 7), but for three that only differ in what they ask.

mod definition;
mod diagnostics_document;
mod diagnostics_workspace;
mod document_highlights;
mod document_symbols;
mod hover;
mod leads;
mod listed;
mod outline;
mod references;
mod shared;
mod status;
mod symbol_find;
mod symbol_source;
mod usages;
mod workspace_symbols;

pub use document_symbols::{ASK as OUTLINE, name_in};
pub use symbol_find::{only, question_of_target};

use crate::tool::Registered;

/// The tool that finds what has a name.
pub const FIND: Registered = Registered(&symbol_find::SymbolFind);

/// Every tool, in the order of `tools/list`.
pub const ALL: &[Registered] = &[
    Registered(&definition::Definition),
    Registered(&references::References),
    Registered(&hover::Hover),
    Registered(&document_symbols::DocumentSymbols),
    Registered(&workspace_symbols::WorkspaceSymbols),
    Registered(&diagnostics_document::DocumentDiagnostics),
    Registered(&diagnostics_workspace::WorkspaceDiagnostics),
    FIND,
    Registered(&symbol_source::SymbolSource),
    Registered(&outline::Outline),
    Registered(&usages::Usages),
    Registered(&leads::IMPLEMENTATION),
    Registered(&leads::TYPE_DEFINITION),
    Registered(&leads::DECLARATION),
    Registered(&status::Status),
    Registered(&document_highlights::DocumentHighlights),
];

/// The tool with this exact name.
pub fn named(name: &str) -> Option<Registered> {
    ALL.iter().copied().find(|tool| tool.name() == name)
}

/// The tools of the contract's first version, in its order.
pub fn v1() -> Vec<Registered> {
    ALL.iter().copied().filter(|tool| tool.is_in_v1()).collect()
}

/// The tools that a person has chosen, in the order of the registry: by `v1`, by `core` or `all`, or by their names. Choices
/// that are none of these choose nothing; where nothing is chosen, those of version 1 are.
pub fn chosen(choices: &[String]) -> Vec<Registered> {
    let is_chosen = |tool: &Registered| {
        choices.iter().any(|choice| match choice.as_str() {
            "v1" => tool.is_in_v1(),
            "core" => tool.is_in_core(),
            "all" => true,
            name => tool.name() == name,
        })
    };
    let chosen: Vec<_> = ALL.iter().copied().filter(is_chosen).collect();
    if chosen.is_empty() { v1() } else { chosen }
}

/// Whether this chooses tools.
pub fn is_choice(choice: impl AsRef<str>) -> bool {
    let choice = choice.as_ref();
    matches!(choice, "v1" | "core" | "all") || named(choice).is_some()
}
