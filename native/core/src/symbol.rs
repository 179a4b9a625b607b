//! Symbols as an editor returned them.

use serde::Serialize;

use crate::position::Range;

/// LSP's number of a kind of symbol: 1 (a file) to 26 (a type parameter) (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SymbolKind(u32);

const WORDS: [&str; 26] = [
    "file",
    "module",
    "namespace",
    "package",
    "class",
    "method",
    "property",
    "field",
    "constructor",
    "enum",
    "interface",
    "function",
    "variable",
    "constant",
    "string",
    "number",
    "boolean",
    "array",
    "object",
    "key",
    "null",
    "enumMember",
    "struct",
    "event",
    "operator",
    "typeParameter",
];

impl SymbolKind {
    /// The kind with this number of LSP, if there is one.
    pub fn of_lsp(number: u32) -> Option<Self> {
        (1..=26).contains(&number).then_some(Self(number))
    }

    /// LSP's name, with a small first letter.
    pub fn word(self) -> &'static str {
        // `of_lsp` lets no other number through.
        WORDS.get(self.0 as usize - 1).copied().unwrap_or_default()
    }

    /// The names of all kinds.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().copied()
    }

    /// LSP's number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The outline of a document, a symbol before what it contains. Texts are interned: an item names its texts by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawDocumentSymbols {
    /// The distinct texts.
    pub strings: Vec<String>,
    /// The symbols, in the provider's order.
    pub items: Vec<RawDocumentSymbol>,
}

/// One symbol of [`RawDocumentSymbols`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawDocumentSymbol {
    /// Index of the name.
    pub name: Option<u32>,
    /// What it is.
    pub kind: SymbolKind,
    /// The whole symbol.
    pub range: Range,
    /// Its name in the text, if the provider tells.
    pub selection: Option<Range>,
    /// Index of the name of what contains it, if the provider tells that name and not the symbol itself.
    pub container_name: Option<u32>,
    /// Index, in [`RawDocumentSymbols::items`], of the symbol that directly contains it.
    pub parent: Option<u32>,
}

/// Symbols from anywhere. Texts and URIs are interned: an item names them by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RawWorkspaceSymbols {
    /// The distinct texts and URIs.
    pub strings: Vec<String>,
    /// The symbols, in the providers' order.
    pub items: Vec<RawWorkspaceSymbol>,
}

/// One symbol of [`RawWorkspaceSymbols`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawWorkspaceSymbol {
    /// Index of the name.
    pub name: Option<u32>,
    /// What it is.
    pub kind: SymbolKind,
    /// Index of the name of what contains it.
    pub container_name: Option<u32>,
    /// Index of the URI.
    pub uri: u32,
    /// Where in that document; nothing if its server would look that up later (D14).
    pub range: Option<Range>,
}
