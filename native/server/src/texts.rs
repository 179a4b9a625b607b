//! The texts of files behind core's [`Texts`]: what somebody has changed in the editor and not saved, and else what is on disk.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use gateway_core::ask::{Ask, Shape};
use gateway_core::error::ToolError;
use gateway_core::roots::{AllowedRoots, RealPaths};
use gateway_core::texts::{RawTexts, Texts};
use gateway_core::uri::{CanonicalUri, PathStyle, file_uri, path_of_file_uri};

use crate::disk::Disk;
use crate::walk;

/// The question for the texts that are not saved. LSP has no such request.
pub(crate) const UNSAVED: Ask = Ask::of_editor("editor/unsavedTexts", Shape::Texts);

/// The largest file of which the text is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// How many bytes of text are looked through for a word.
const MOST_LOOKED_THROUGH: usize = 256 * 1024 * 1024;

/// The texts of files, by their canonical URIs. Calls block on the disk.
#[derive(Default)]
pub(crate) struct FileTexts {
    /// Nothing of a text that is too long.
    unsaved: HashMap<CanonicalUri, Option<Arc<str>>>,
}

impl FileTexts {
    /// Of what is not saved, what lies in the roots.
    pub(crate) fn new(unsaved: &RawTexts, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<Self, ToolError> {
        let string = |index: u32| unsaved.strings.get(index as usize).ok_or(ToolError::Internal);
        let mut texts = HashMap::new();
        for item in &unsaved.items {
            if let Ok(uri) = roots.admit_output(string(item.uri)?, real) {
                let text = item.text.map(string).transpose()?;
                texts.insert(uri, text.map(|text| Arc::from(&**text)));
            }
        }
        Ok(Self { unsaved: texts })
    }

    /// The files in the roots that have the word in them, in the order of their paths, and whether all were looked through.
    /// What Git ignores is left out.
    pub(crate) fn with_word(&self, word: &str, roots: &AllowedRoots) -> (Vec<CanonicalUri>, bool) {
        let (mut found, mut left) = (BTreeSet::new(), MOST_LOOKED_THROUGH);
        for folder in roots.folders() {
            let mut entries = 0;
            for entry in walk::entries(folder.real) {
                entries += 1;
                let uri = entry.path().to_str().map(|path| file_uri(path, PathStyle::NATIVE));
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                let Some(uri) = uri.filter(|_| is_file).and_then(|uri| roots.admit_output(&uri, &Disk).ok()) else {
                    continue;
                };
                let Some(text) = self.text(&uri) else { continue };
                if has_word(&text, word) {
                    found.insert(uri);
                }
                left = left.saturating_sub(text.len());
                if left == 0 {
                    return (found.into_iter().collect(), false);
                }
            }
            if entries >= walk::MAX_LOOKED_AT {
                return (found.into_iter().collect(), false);
            }
        }
        (found.into_iter().collect(), true)
    }
}

/// Whether the word stands there by itself, and not as a part of a longer name.
fn has_word(text: &str, word: &str) -> bool {
    let is_of_name = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name)
    })
}

impl Texts for FileTexts {
    fn text(&self, uri: &CanonicalUri) -> Option<Arc<str>> {
        if let Some(text) = self.unsaved.get(uri) {
            return text.clone();
        }
        let path = path_of_file_uri(uri.as_str(), PathStyle::NATIVE)?;
        let file = open_in_place(Path::new(&path)).ok()?;
        let is_small = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
        if !is_small {
            return None;
        }
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        Some(Arc::from(text.strip_prefix('\u{feff}').unwrap_or(&text)))
    }
}

/// Opens a real path, unless a link has come into its way since it was resolved.
#[cfg(target_os = "linux")]
fn open_in_place(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    // A pipe without a writer would be waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => Ok(opened.into()),
        // The system, or what it runs in, has no such call.
        Err(Errno::NOSYS | Errno::PERM) => open_and_look(path),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_in_place(path: &Path) -> io::Result<File> {
    open_and_look(path)
}

fn open_and_look(path: &Path) -> io::Result<File> {
    if !path.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = File::open(path)?;
    let is_in_place = Disk.real_path(path).is_ok_and(|real| real == path);
    if is_in_place { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use gateway_core::texts::RawText;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_text_is_what_is_not_saved_and_else_what_is_on_disk_in_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let uri = |name: &str| {
            let roots = AllowedRoots::resolve(std::slice::from_ref(&root), &Disk);
            roots.admit(&format!("file://{}/{name}", root.display()), &Disk).unwrap().uri
        };
        for name in ["saved.txt", "unsaved.txt", "long.txt"] {
            fs::write(root.join(name), "\u{feff}on disk").unwrap();
        }
        fs::write(root.join("not.txt"), [0xff]).unwrap();
        fs::write(root.join("later.txt"), "inside").unwrap();
        let [saved, unsaved, long, not, later] =
            ["saved.txt", "unsaved.txt", "long.txt", "not.txt", "later.txt"].map(uri);
        let outside = tempfile::NamedTempFile::new().unwrap();
        fs::write(outside.path(), "secret").unwrap();
        fs::remove_file(root.join("later.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("later.txt")).unwrap();

        let raw = RawTexts {
            strings: vec![unsaved.as_str().to_owned(), "in the editor".to_owned(), long.as_str().to_owned()],
            items: vec![RawText { uri: 0, text: Some(1) }, RawText { uri: 2, text: None }],
        };
        let texts = FileTexts::new(&raw, &AllowedRoots::resolve(&[root], &Disk), &Disk).unwrap();
        let found = [&saved, &unsaved, &long, &not, &later].map(|uri| texts.text(uri));
        let expected = [Some("on disk"), Some("in the editor"), None, None, None];
        assert_eq!(found.each_ref().map(Option::as_deref), expected);
    }
}
