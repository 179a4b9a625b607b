//! Which files may be spoken of (contract sections 1.2 and 4.1).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::ToolError;
use crate::keys::RootsKey;
use crate::uri::{
    ANOTHER_MACHINE, CanonicalUri, NamedPath, PathStyle, below, file_uri, input_path, is_inside, joined,
    lossy_path_text, output_path, path_text,
};

/// The only way in which core learns about the file system.
pub trait RealPaths: Send + Sync {
    /// The path with every link on its way followed, if something exists there.
    fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved>;
}

/// A path that does not resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// Where the path would lie: with every link on the way followed as far as links exist, so that a link inside a
    /// root that leads outside says nothing about what exists there (D36).
    pub would_be: PathBuf,
}

/// The folders that answers may speak of. A value: it stays as it was when it was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedRoots {
    roots: Vec<Root>,
    unresolved: usize,
    key: RootsKey,
    style: PathStyle,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    /// The folder as the editor knows it.
    known_as: String,
    real: String,
}

/// One of the folders that answers may speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folder<'a> {
    /// As the editor knows it.
    pub known_as: &'a Path,
    /// As it was when it was resolved.
    pub real: &'a Path,
}

/// A document that may be asked about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Document {
    /// Its name in answers and keys.
    pub uri: CanonicalUri,
    /// Its name towards the editor: under the root as the editor knows it, so that the editor does not take it for
    /// another document (D31). It depends on the canonical URI and the roots alone, so the same document gets the same
    /// answer however the caller spelled it.
    pub editor_uri: String,
    /// Where it lies on the disk.
    pub real_path: PathBuf,
}

/// Why what a URI from the editor names is left out of an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotAllowed {
    /// It lies outside the roots, or would lie there if it existed (D36): at this path, or under this URI if that names no
    /// local file.
    Outside(PathBuf),
    /// It would lie inside the roots, and does not exist.
    Missing,
}

impl AllowedRoots {
    /// Resolves the folders, given as the editor knows them and workspace folders first. Folders that do not resolve
    /// are left out and counted.
    pub fn resolve(folders: &[PathBuf], real: &dyn RealPaths) -> Self {
        Self::resolve_in_style(folders, real, PathStyle::NATIVE)
    }

    /// As [`AllowedRoots::resolve`], for paths of another platform.
    pub fn resolve_in_style(folders: &[PathBuf], real: &dyn RealPaths, style: PathStyle) -> Self {
        let roots: Vec<Root> = folders.iter().filter_map(|folder| Root::resolve(folder, real, style)).collect();
        Self::of(roots, folders.len(), style)
    }

    /// Why nothing may be spoken of, if that is so.
    pub fn check_any(&self) -> Result<(), ToolError> {
        match (self.is_empty(), self.unresolved) {
            (false, _) => Ok(()),
            (true, 0) => Err(ToolError::NoRoots),
            (true, _) => Err(ToolError::RootsGone),
        }
    }

    /// Whether nothing may be spoken of.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The roots that still are where they were when they were resolved. A name that leads elsewhere by now is no longer
    /// the folder that somebody allowed: whoever can write beside it may have put a link in its place.
    #[must_use]
    pub fn still_in_place(&self, real: &dyn RealPaths) -> Self {
        let roots: Vec<Root> = self.roots.iter().filter(|root| root.is_in_place(real, self.style)).cloned().collect();
        if roots.len() == self.roots.len() {
            return self.clone();
        }
        Self::of(roots, self.roots.len() + self.unresolved, self.style)
    }

    /// Whether [`AllowedRoots::still_in_place`] would give the same roots.
    pub fn are_all_in_place(&self, real: &dyn RealPaths) -> bool {
        self.roots.iter().all(|root| root.is_in_place(real, self.style))
    }

    /// The folders that resolved.
    pub fn folders(&self) -> impl Iterator<Item = Folder<'_>> {
        self.roots.iter().map(Root::folder)
    }

    /// The folder in which a caller's URI lies as it is written, whatever links lead to.
    pub fn folder_of(&self, uri: &str) -> Option<Folder<'_>> {
        let path = self.local(input_path(uri, self.style).ok()?)?;
        let holds = |root: &&Root| is_inside(&path, &root.known_as) || is_inside(&path, &root.real);
        self.roots.iter().find(holds).map(Root::folder)
    }

    fn of(roots: Vec<Root>, folders: usize, style: PathStyle) -> Self {
        let mut uris: Vec<_> = roots.iter().map(|root| CanonicalUri::of_real_path(&root.real, style)).collect();
        uris.sort_unstable();
        uris.dedup();
        Self { unresolved: folders - roots.len(), key: RootsKey::derive(&uris), roots, style }
    }

    /// How many folders were left out because they did not resolve.
    pub fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// What binds cursors to these roots (contract section 3.6.1).
    pub fn key(&self) -> &RootsKey {
        &self.key
    }

    /// The document that a caller's URI names. Refuses what is not a usable URI (D34), what lies outside the roots, and
    /// what does not exist inside them; of what lies outside, the error does not say whether it exists (D36).
    pub fn admit(&self, uri: &str, real: &dyn RealPaths) -> Result<Document, ToolError> {
        let named = input_path(uri, self.style).map_err(ToolError::UriMalformed)?;
        let path = self.local(named).ok_or(ToolError::UriMalformed(ANOTHER_MACHINE))?;
        self.check_any()?;
        let (root, path) = match real.real_path(Path::new(&path)) {
            Ok(path) => match path_text(&path, self.style) {
                Some(path) => (self.root_of(&path).ok_or(ToolError::OutsideRoots)?, path),
                None => return Err(self.refusal(&path)),
            },
            Err(Unresolved { would_be }) => return Err(self.refusal(&would_be)),
        };
        let uri = CanonicalUri::of_real_path(&path, self.style);
        let editor_uri = if root.known_as == root.real {
            uri.as_str().to_owned()
        } else {
            let rest = below(&path, &root.real).unwrap_or_default();
            file_uri(&joined(&root.known_as, rest), self.style)
        };
        Ok(Document { uri, editor_uri, real_path: path.into() })
    }

    /// The URI of what a caller names by a path: below a root, as answers show it, or absolute. A URI stays as it is.
    ///
    /// With several roots a path may begin with that of its root, such as `r2:`; else it has to exist below one of them only.
    pub fn uri_of(&self, file: &str, real: &dyn RealPaths) -> Result<String, ToolError> {
        if is_file_uri(file) {
            return Ok(file.to_owned());
        }
        self.check_any()?;
        if let Some(path) = path_text(Path::new(file), self.style) {
            return Ok(file_uri(&path, self.style));
        }
        let below = |root: &Root| joined(&root.known_as, file);
        if let [root] = &*self.roots {
            return Ok(file_uri(&below(root), self.style));
        }
        if let Some((root, rest)) = self.root_named(file) {
            return Ok(file_uri(&joined(&root.known_as, rest), self.style));
        }
        // What would lead out of the roots is left to the gate: whether it exists is not told here (D36).
        let found = |root: &Root| {
            let path = path_text(&real.real_path(Path::new(&below(root))).ok()?, self.style)?;
            self.root_of(&path).map(|_| (path, below(root)))
        };
        let mut found: Vec<_> = self.roots.iter().filter_map(found).collect();
        found.sort();
        found.dedup_by(|(path, _), (other, _)| path == other);
        match (&*found, &*self.roots) {
            ([(_, path)], _) => Ok(file_uri(path, self.style)),
            ([], _) if root_index(file).is_some() => Err(ToolError::InvalidParams(format!(
                "`file` begins with the id of a root that there is not; there are r1 to r{}.",
                self.roots.len()
            ))),
            ([], [root, ..]) => Ok(file_uri(&below(root), self.style)),
            _ => Err(ToolError::InvalidParams(
                "This path exists below several roots; put the id of its root and a colon before it, as answers do."
                    .to_owned(),
            )),
        }
    }

    /// The root that stands before a path, such as `r2:`, and the rest of the path.
    fn root_named<'a>(&self, file: &'a str) -> Option<(&Root, &'a str)> {
        let (index, rest) = root_index(file)?;
        Some((self.roots.get(index.checked_sub(1)?)?, rest))
    }

    /// How compact lists name a file: by the index of its root and the path below that.
    pub(crate) fn shown(&self, uri: &CanonicalUri) -> Option<(usize, String)> {
        let (NamedPath::Local(path) | NamedPath::Share(path)) = output_path(uri.as_str(), self.style)?;
        self.roots.iter().enumerate().find_map(|(index, root)| {
            let rest = below(&path, &root.real)?;
            Some((
                index,
                match self.roots.len() {
                    // It would be read as a URI.
                    1 if is_file_uri(rest) => format!("./{rest}"),
                    1 => rest.to_owned(),
                    _ => format!("r{}:{rest}", index + 1),
                },
            ))
        })
    }

    /// What of a path from [`AllowedRoots::shown`] lies below its root.
    pub(crate) fn below_root<'a>(&self, shown: &'a str) -> &'a str {
        if self.roots.len() == 1 { shown } else { shown.split_once(':').map_or("", |(_, below)| below) }
    }

    /// The members that tell where paths of these roots begin, with their comma.
    pub(crate) fn told(&self, used: &BTreeSet<usize>) -> String {
        let uri = |root: &Root| Value::from(CanonicalUri::of_real_path(&root.real, self.style).as_str());
        if let [root] = &*self.roots {
            return format!(r#""root":{},"#, uri(root));
        }
        let told = used.iter().filter_map(|&index| Some((index, self.roots.get(index)?)));
        let told: Vec<_> =
            told.map(|(index, root)| format!(r#"{{"id":"r{}","uri":{}}}"#, index + 1, uri(root))).collect();
        format!(r#""roots":[{}],"#, told.join(","))
    }

    /// The canonical URI of what a URI from the editor names, if it resolves to a real path inside the roots.
    pub fn admit_output(&self, uri: &str, real: &dyn RealPaths) -> Result<CanonicalUri, NotAllowed> {
        self.admit_output_path(&self.output_path(uri).ok_or_else(|| NotAllowed::Outside(uri.into()))?, real)
    }

    /// The path that a URI from the editor names, before anything is looked up.
    pub(crate) fn output_path(&self, uri: &str) -> Option<String> {
        self.local(output_path(uri, self.style)?)
    }

    /// The path, if it may be looked up. A path on a share may only if a root lies there: the canonical URIs of such a
    /// root name the share, and what an answer names can be asked about (D34).
    fn local(&self, path: NamedPath) -> Option<String> {
        match path {
            NamedPath::Local(path) => Some(path),
            NamedPath::Share(path) => {
                let written = path.to_lowercase();
                let holds = |root: &Root| {
                    [&root.known_as, &root.real].into_iter().any(|folder| is_inside(&written, &folder.to_lowercase()))
                };
                self.roots.iter().any(holds).then_some(path)
            }
        }
    }

    /// As [`AllowedRoots::admit_output`], for a path from [`AllowedRoots::output_path`].
    pub(crate) fn admit_output_path(&self, path: &str, real: &dyn RealPaths) -> Result<CanonicalUri, NotAllowed> {
        let (path, exists) = match real.real_path(Path::new(path)) {
            Ok(path) => (path, true),
            Err(Unresolved { would_be }) => (would_be, false),
        };
        match path_text(&path, self.style) {
            Some(text) if exists && self.root_of(&text).is_some() => Ok(CanonicalUri::of_real_path(&text, self.style)),
            _ if self.holds(&path) => Err(NotAllowed::Missing),
            _ => Err(NotAllowed::Outside(path)),
        }
    }

    /// The first root that holds this real path: workspace folders come first, and the editor's projects live there.
    fn root_of(&self, path: &str) -> Option<&Root> {
        self.roots.iter().find(|root| is_inside(path, &root.real))
    }

    fn refusal(&self, would_be: &Path) -> ToolError {
        if self.holds(would_be) { ToolError::UriUnresolvable } else { ToolError::OutsideRoots }
    }

    /// Whether the path, Unicode or not, lies inside a root.
    fn holds(&self, path: &Path) -> bool {
        lossy_path_text(path, self.style).is_some_and(|path| self.root_of(&path).is_some())
    }
}

fn is_file_uri(text: &str) -> bool {
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

impl Root {
    fn resolve(folder: &Path, real: &dyn RealPaths, style: PathStyle) -> Option<Self> {
        let known_as = path_text(folder, style)?;
        let real = path_text(&real.real_path(folder).ok()?, style)?;
        Some(Self { known_as, real })
    }

    fn folder(&self) -> Folder<'_> {
        Folder { known_as: Path::new(&self.known_as), real: Path::new(&self.real) }
    }

    fn is_in_place(&self, real: &dyn RealPaths, style: PathStyle) -> bool {
        let resolved = real.real_path(Path::new(&self.known_as));
        resolved.is_ok_and(|path| path_text(&path, style).is_some_and(|path| path == self.real))
    }
}

/// The number of the root before a path, such as `r2:`, and the rest of the path.
fn root_index(file: &str) -> Option<(usize, &str)> {
    let (id, rest) = file.split_once(':')?;
    Some((id.strip_prefix('r')?.parse().ok()?, rest))
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// Every path leads to the same place, whose name is not Unicode.
    struct NotUnicode(&'static [u8]);

    impl RealPaths for NotUnicode {
        fn real_path(&self, path: &Path) -> Result<PathBuf, Unresolved> {
            Ok(if path == Path::new("/ws") { path.to_owned() } else { OsStr::from_bytes(self.0).into() })
        }
    }

    fn roots() -> AllowedRoots {
        let folders = ["/ws", "/gone/\u{fffd}", "relative"].map(PathBuf::from);
        AllowedRoots::resolve_in_style(&folders, &NotUnicode(b"/\xff"), PathStyle::Posix)
    }

    #[test]
    fn roots_without_a_name_in_unicode_or_from_the_root_of_the_disk_are_counted_as_unresolved() {
        assert_eq!(roots().unresolved(), 2);
        assert!(!roots().is_empty());
    }

    #[test]
    fn a_real_path_that_is_not_unicode_is_unresolvable_inside_and_denied_outside() {
        let inside = NotUnicode(b"/ws/\xff/a.ts");
        assert_eq!(roots().admit("file:///ws/link", &inside), Err(ToolError::UriUnresolvable));
        assert_eq!(roots().admit_output("file:///ws/link", &inside), Err(NotAllowed::Missing));
        let outside = NotUnicode(b"/outside/\xff/a.ts");
        assert_eq!(roots().admit("file:///ws/link", &outside), Err(ToolError::OutsideRoots));
    }
}
