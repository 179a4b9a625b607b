//! What language servers are asked, and what they answer: raw, as they returned it.

use crate::diagnostic::RawDiagnostics;
use crate::error::ToolError;
use crate::highlight::RawHighlights;
use crate::hover::RawHovers;
use crate::location::{RawLocations, RawTargets};
use crate::position::Position;
use crate::status::RawStatus;
use crate::symbol::{RawDocumentSymbols, RawWorkspaceSymbols};
use crate::texts::RawTexts;

/// A request of LSP that answers a question of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ask {
    /// The method of LSP.
    pub method: &'static str,
    /// In which shape it is answered.
    pub shape: Shape,
    /// Whether it can go without: a language that cannot be asked this then has nothing to add.
    pub is_optional: bool,
}

impl Ask {
    pub(crate) const fn new(method: &'static str, shape: Shape) -> Self {
        Self { method, shape, is_optional: false }
    }

    /// A question that no language server is asked, by the name that it has between us and the editor.
    pub const fn of_editor(method: &'static str, shape: Shape) -> Self {
        Self::new(method, shape)
    }

    /// The same, where a language may go without.
    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The symbol at a place.
    Place {
        /// The document: as the caller names it, or towards language servers as the editor knows it (D31).
        uri: String,
        /// Where in the document.
        position: Position,
    },
    /// A document.
    Document {
        /// As in [`Subject::Place`].
        uri: String,
    },
    /// All of the workspace.
    Workspace {
        /// What to look for; nothing if everything is wanted.
        query: Option<String>,
    },
}

impl Subject {
    /// The document that it is about.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Place { uri, .. } | Self::Document { uri } => Some(uri),
            Self::Workspace { .. } => None,
        }
    }

    /// The place in the document.
    pub fn position(&self) -> Option<Position> {
        match self {
            &Self::Place { position, .. } => Some(position),
            Self::Document { .. } | Self::Workspace { .. } => None,
        }
    }

    /// The same of the document under another name.
    #[must_use]
    pub fn with_uri(&self, uri: String) -> Self {
        match self {
            &Self::Place { position, .. } => Self::Place { uri, position },
            Self::Document { .. } => Self::Document { uri },
            Self::Workspace { .. } => self.clone(),
        }
    }
}

macro_rules! shapes {
    ($($(#[$about:meta])* $shape:ident($raw:ty, $strings:ident) by $method:ident),+ $(,)?) => {
        /// The few shapes in which requests are answered. More will come.
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Shape {
            $($(#[$about])* $shape,)+
        }

        /// An answer, as language servers returned it.
        #[non_exhaustive]
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Raw {
            $($(#[$about])* $shape($raw),)+
        }

        impl Shape {
            /// An answer of this shape with nothing in it.
            pub fn nothing(self) -> Raw {
                match self {
                    $(Self::$shape => Raw::$shape(<$raw>::default()),)+
                }
            }
        }

        impl Raw {
            /// How many items it has.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$shape(raw) => raw.items.len(),)+
                }
            }

            /// How many bytes its texts have.
            pub fn text_bytes(&self) -> usize {
                let strings = match self {
                    $(Self::$shape(raw) => &raw.$strings,)+
                };
                strings.iter().map(String::len).sum()
            }

            $(
                $(#[$about])*
                pub fn $method(&self) -> Result<&$raw, ToolError> {
                    if let Self::$shape(raw) = self { Ok(raw) } else { Err(ToolError::Internal) }
                }
            )+
        }
    };
}

shapes! {
    /// Where a symbol leads.
    Targets(RawTargets, uris) by targets,
    /// Places of which each is a range in a file.
    Locations(RawLocations, uris) by locations,
    /// What there is to tell about a symbol.
    Hovers(RawHovers, strings) by hovers,
    /// The outline of a document.
    DocumentSymbols(RawDocumentSymbols, strings) by document_symbols,
    /// Symbols from anywhere.
    WorkspaceSymbols(RawWorkspaceSymbols, strings) by workspace_symbols,
    /// Places in one document.
    Highlights(RawHighlights, strings) by highlights,
    /// Everything that is published.
    Diagnostics(RawDiagnostics, strings) by diagnostics,
    /// What answers for languages.
    Status(RawStatus, strings) by status,
    /// Texts that are not saved.
    Texts(RawTexts, strings) by texts,
}

impl Raw {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
