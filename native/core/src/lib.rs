//! The pure engine of the gateway.
//!
//! It turns what an editor returned into what the contract promises: gated to the allowed roots, canonical, sorted,
//! deduplicated, capped and paged. It takes values and returns values; it knows no clock, no network, no environment,
//! and of the file system only what the [`roots::RealPaths`] trait tells it.

#![forbid(unsafe_code)]

pub mod ask;
pub mod canonical;
pub mod compact;
pub mod completeness;
pub mod cursor;
pub mod diagnostic;
pub mod epochs;
pub mod error;
pub mod highlight;
pub mod history;
pub mod hover;
pub mod keys;
pub mod limits;
pub mod location;
pub mod name_path;
pub mod omissions;
mod order;
pub mod page;
pub mod piece;
pub mod place;
pub mod position;
pub mod roots;
pub mod schema;
pub mod snapshots;
pub mod status;
pub mod symbol;
pub mod texts;
mod tokens;
pub mod tool;
pub mod tools;
pub mod uri;
pub mod wording;
