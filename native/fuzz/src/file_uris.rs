//! URIs that clients and language servers name files by, on a disk in memory in the style of either platform.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arbitrary::Unstructured;
use gateway_core::error::ToolError;
use gateway_core::roots::{AllowedRoots, RealPaths, Unresolved};
use gateway_core::uri::PathStyle;

use crate::in_memory::InMemory;

/// A disk that notes what it was asked.
struct Watched {
    disk: InMemory,
    asked: Mutex<Vec<PathBuf>>,
}

impl RealPaths for Watched {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        self.asked.lock().expect("nobody panics while holding it").push(path.to_owned());
        self.disk.real_path(path)
    }
}

struct World {
    style: PathStyle,
    disk: InMemory,
    roots: Vec<PathBuf>,
    /// The canonical URIs of everything that lies inside the roots and exists.
    inside: &'static [&'static str],
    /// Pieces that URIs are made of.
    pieces: &'static [&'static str],
}

fn posix() -> World {
    let disk = InMemory::new(PathStyle::Posix)
        .with_file("/ws/a.ts")
        .with_file("/ws/deep/b c.ts")
        .with_file("/ws/dé.ts")
        .with_file("/real/c.ts")
        .with_file("/outside/secret.ts")
        .with_file("/ws-beside/secret.ts")
        .with_link("/linked", "/real")
        .with_link("/ws/out", "/outside")
        .with_link("/ws/in", "deep")
        .with_link("/ws/ring", "/ws/ring")
        .with_link("/ws/dangling", "/outside/none")
        .with_link("/outside/back", "/ws");
    World {
        style: PathStyle::Posix,
        disk,
        roots: ["/ws", "/linked", "/ws/deep", "/gone"].map(PathBuf::from).into(),
        inside: &[
            "file:///ws",
            "file:///ws/a.ts",
            "file:///ws/deep",
            "file:///ws/deep/b%20c.ts",
            "file:///ws/d%C3%A9.ts",
            "file:///real",
            "file:///real/c.ts",
        ],
        pieces: &[
            "file:",
            "FILE:",
            "//",
            "/",
            "///",
            "localhost",
            "host",
            "ws",
            "a.ts",
            "deep",
            "b c.ts",
            "b%20c.ts",
            "out",
            "secret.ts",
            "..",
            "%2e%2e",
            ".%2E",
            "%2F",
            "%5c",
            "\\",
            "in",
            "ring",
            "linked",
            "c.ts",
            "outside",
            "back",
            "%00",
            "\0",
            "%c0%ae",
            "%ff",
            "%",
            "%2",
            "?",
            "#",
            "d%C3%A9.ts",
            "de%CC%81.ts",
            "dé.ts",
            "ws-beside",
            "dangling",
            "none",
            ".",
            "A.TS",
            "WS",
            "gone",
            "real",
            "untitled:",
            "c:",
            "/c%3A/",
            "@",
            ":80",
        ],
    }
}

fn windows() -> World {
    let disk = InMemory::new(PathStyle::Windows)
        .with_file("C:/ws/A.ts")
        .with_file("C:/ws/deep/b.ts")
        .with_file("C:/outside/secret.ts")
        .with_file("//server/share/ws/s.ts")
        .with_file("//server/other/secret.ts")
        .with_file("//evil/share/secret.ts")
        .with_link("C:/ws/out", "C:/outside")
        .with_link("C:/ws/share", "//evil/share");
    World {
        style: PathStyle::Windows,
        disk,
        roots: ["C:\\ws", "\\\\server\\share\\ws"].map(PathBuf::from).into(),
        inside: &[
            "file:///c%3A/ws",
            "file:///c%3A/ws/A.ts",
            "file:///c%3A/ws/deep",
            "file:///c%3A/ws/deep/b.ts",
            "file://server/share/ws",
            "file://server/share/ws/s.ts",
        ],
        pieces: &[
            "file:",
            "//",
            "/",
            "///",
            "\\",
            "%5C",
            "%5c%5c",
            "c:",
            "C:",
            "c%3A",
            "C%3a",
            "d:",
            "ws",
            "WS",
            "a.ts",
            "A.ts",
            "deep",
            "b.ts",
            "out",
            "share",
            "server",
            "SERVER",
            "evil",
            "other",
            "s.ts",
            "secret.ts",
            "..",
            "%2e%2e",
            "?",
            "%3F",
            ".",
            "%2F",
            "::$DATA",
            "%3A%3A$DATA",
            "a.ts:stream",
            "localhost",
            "unc",
            "UNC",
            "%00",
            "%ff",
            "%c0%af",
            "COM1",
            "a.ts.",
            "a.ts%20",
            "outside",
            "#",
            "//./",
            "//?/",
            "%2F%2Fevil",
            "@",
        ],
    }
}

/// Asks for the file that a URI names, as a client and as a language server.
pub fn run(bytes: &[u8]) {
    _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let World { style, disk, roots, inside, pieces } = if input.arbitrary()? { windows() } else { posix() };
    let disk = Watched { disk, asked: Mutex::default() };
    let roots = AllowedRoots::resolve_in_style(&roots, &disk, style);
    let asked_for_roots = disk.asked.lock().expect("as above").len();
    let uri = if input.arbitrary()? {
        let mut uri = String::new();
        while !input.is_empty() && uri.len() < 400 {
            uri.push_str(pieces[input.choose_index(pieces.len())?]);
        }
        uri
    } else {
        String::from_utf8_lossy(input.bytes(input.len())?).into_owned()
    };

    let admitted = roots.admit(&uri, &disk);
    let returned = roots.admit_output(&uri, &disk);
    match &admitted {
        Ok(document) => {
            assert!(inside.contains(&document.uri.as_str()), "{uri:?} gives {document:?}");
            assert_eq!(roots.admit(document.uri.as_str(), &disk).as_ref(), Ok(document), "of {uri:?}");
            assert_eq!(roots.admit(&document.editor_uri, &disk).as_ref(), Ok(document), "of {uri:?}");
            assert_eq!(returned.as_ref(), Ok(&document.uri), "of {uri:?}");
        }
        Err(ToolError::UriMalformed(_) | ToolError::OutsideRoots | ToolError::UriUnresolvable) => {}
        Err(error) => panic!("{uri:?}: {error:?}"),
    }
    if let Ok(returned) = &returned {
        assert!(inside.contains(&returned.as_str()), "{uri:?} gives {returned}");
        assert_eq!(roots.admit(returned.as_str(), &disk).map(|document| document.uri), Ok(returned.clone()));
    }
    for path in &disk.asked.lock().expect("as above")[asked_for_roots..] {
        let path = path.to_str().expect("a path from a URI is Unicode");
        // On POSIX a backslash is a character like any other.
        let path = if style == PathStyle::Windows { path.replace('\\', "/") } else { path.to_owned() };
        assert!(!path.contains('\0'), "{uri:?} looks at {path:?}");
        assert!(!path.split('/').any(|part| part == ".."), "{uri:?} looks at {path:?}");
        let is_share = style == PathStyle::Windows && path.starts_with("//");
        let is_root = path.to_lowercase().starts_with("//server/share/ws");
        assert!(!is_share || is_root, "{uri:?} looks at the share {path:?}");
        assert!(style == PathStyle::Posix || is_share || path.as_bytes().get(1) == Some(&b':'), "{uri:?}: {path:?}");
    }
    Ok(())
}
