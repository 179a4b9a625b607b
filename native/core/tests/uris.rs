//! Canonical URIs against those that the `vscode-uri` package makes (D30).
#![expect(clippy::disallowed_methods, reason = "tests read their cases from files")]

use gateway_core::uri::{PathStyle, file_uri};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    style: Style,
    path: String,
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    Posix,
    Windows,
}

#[test]
fn every_path_has_the_uri_that_vs_code_gives_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/golden/uris.json");
    let samples: Vec<Sample> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert!(samples.len() >= 4_000, "the file holds some thousands of paths");
    for Sample { style, path, uri } in samples {
        let style = match style {
            Style::Posix => PathStyle::Posix,
            Style::Windows => PathStyle::Windows,
        };
        assert_eq!(file_uri(&path, style), uri, "{path:?}, {style:?}");
    }
}
