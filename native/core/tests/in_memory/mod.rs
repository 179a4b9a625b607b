//! A file system in memory: files, folders and links by their paths, in the style of either platform.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gateway_core::roots::{RealPaths, Unresolved};
use gateway_core::uri::PathStyle;

/// How many links are followed on one path before it counts as unresolvable.
const MAX_LINKS: usize = 40;

pub(crate) struct InMemory {
    style: PathStyle,
    entries: BTreeMap<String, Entry>,
}

struct Entry {
    spelled: String,
    kind: Kind,
}

enum Kind {
    File,
    Folder,
    Link(String),
}

impl InMemory {
    pub(crate) fn new(style: PathStyle) -> Self {
        Self { style, entries: BTreeMap::new() }
    }

    pub(crate) fn with_file(mut self, path: &str) -> Self {
        self.add(path, Kind::File);
        self
    }

    pub(crate) fn with_folder(mut self, path: &str) -> Self {
        self.add(path, Kind::Folder);
        self
    }

    pub(crate) fn with_link(mut self, path: &str, target: &str) -> Self {
        self.add(path, Kind::Link(target.to_owned()));
        self
    }

    fn add(&mut self, path: &str, kind: Kind) {
        let (prefix, parts) = self.split(path);
        let mut reached = prefix;
        for part in parts {
            self.entries.entry(self.key(&reached)).or_insert(Entry { spelled: reached.clone(), kind: Kind::Folder });
            reached = format!("{reached}/{part}");
        }
        self.entries.insert(self.key(&reached), Entry { spelled: reached, kind });
    }

    fn split(&self, path: &str) -> (String, Vec<String>) {
        let (prefix, rest) = match self.style {
            PathStyle::Posix => (String::new(), path.to_owned()),
            PathStyle::Windows => {
                let path = path.replace('\\', "/");
                let end = match path.strip_prefix("//") {
                    Some(share) => 2 + share.match_indices('/').nth(1).map_or(share.len(), |(end, _)| end),
                    None => path.find(':').map_or(0, |colon| colon + 1),
                };
                (path[..end].to_owned(), path[end..].to_owned())
            }
        };
        (prefix, rest.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }

    /// Windows finds a file however its name is capitalized.
    fn key(&self, path: &str) -> String {
        match self.style {
            PathStyle::Posix => path.to_owned(),
            PathStyle::Windows => path.to_lowercase(),
        }
    }

    /// Where the path leads, and whether something is there.
    fn walk(&self, path: &str) -> (String, bool) {
        let (mut reached, mut ahead) = self.split(path);
        ahead.reverse();
        let mut exists = self.entries.contains_key(&self.key(&reached));
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part == "." {
                continue;
            }
            if part == ".." {
                reached.truncate(reached.rfind('/').unwrap_or(0));
                continue;
            }
            let is_folder =
                self.entries.get(&self.key(&reached)).is_some_and(|entry| matches!(entry.kind, Kind::Folder));
            reached = format!("{reached}/{part}");
            match self.entries.get(&self.key(&reached)) {
                Some(Entry { kind: Kind::Link(_), .. }) if links == MAX_LINKS => exists = false,
                Some(Entry { kind: Kind::Link(target), .. }) => {
                    links += 1;
                    let (prefix, parts) = self.split(target);
                    let absolute = target.starts_with(['/', '\\']) || !prefix.is_empty();
                    reached = if absolute { prefix } else { reached[..reached.rfind('/').unwrap()].to_owned() };
                    ahead.extend(parts.into_iter().rev());
                }
                Some(Entry { spelled, .. }) => reached.clone_from(spelled),
                None => exists = false,
            }
            exists &= is_folder;
        }
        (if reached.is_empty() { "/".to_owned() } else { reached }, exists)
    }

    /// What the platform's own function gives: Windows resolves to a path in its verbatim spelling.
    fn spelled_by_the_platform(&self, path: &str) -> PathBuf {
        match self.style {
            PathStyle::Posix => path.into(),
            PathStyle::Windows => match path.strip_prefix("//") {
                Some(share) => format!(r"\\?\UNC\{share}").replace('/', r"\").into(),
                None => format!(r"\\?\{path}").replace('/', r"\").into(),
            },
        }
    }
}

impl RealPaths for InMemory {
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        let (reached, exists) = self.walk(path.to_str().unwrap());
        let reached = self.spelled_by_the_platform(&reached);
        if exists { Ok(reached) } else { Err(Unresolved { would_be: reached }) }
    }
}
