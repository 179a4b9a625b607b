//! The texts of files behind core's [`Texts`]: what somebody has changed in the editor and not saved, and else what is on disk.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use gateway_core::ask::{Ask, Shape};
use gateway_core::error::ToolError;
use gateway_core::roots::{AllowedRoots, RealPaths};
use gateway_core::texts::{RawTexts, Texts, WithWord};
use gateway_core::uri::{CanonicalUri, PathStyle, file_uri, path_of_file_uri};

use crate::disk::Disk;
use crate::files::{LARGEST_TEXT, open_in_place, text_of};
use crate::walk;

/// The question for the texts that are not saved. LSP has no such request.
pub(crate) const UNSAVED: Ask = Ask::of_editor("editor/unsavedTexts", Shape::Texts);

/// How many bytes of files are looked through for a word, and at how many of the first it shows that a file is no text.
const MOST_LOOKED_THROUGH: u64 = 256 * 1024 * 1024;
const BEGINNING: u64 = 8_192;

/// What was found of a word in a file.
enum Search {
    Has,
    HasNot,
    /// It may have it.
    Unsearched,
}

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

    /// The files in the roots that have the word in them, but what [`walk`] passes over.
    pub(crate) fn with_word(&self, word: &str, roots: &AllowedRoots) -> WithWord {
        let (mut files, mut unsearched, mut left) = (BTreeSet::new(), 0, MOST_LOOKED_THROUGH);
        for folder in roots.folders() {
            let mut walk = walk::below(folder.real);
            for entry in walk.by_ref().filter(|entry| !entry.is_folder) {
                let uri = entry.path.to_str().map(|path| file_uri(path, PathStyle::NATIVE));
                let Some(uri) = uri.and_then(|uri| roots.admit_output(&uri, &Disk).ok()) else { continue };
                let found = match self.unsaved.get(&uri) {
                    Some(Some(text)) if has_word(text, word) => Search::Has,
                    Some(Some(_)) => Search::HasNot,
                    Some(None) => Search::Unsearched,
                    None => search(&entry.path, word, &mut left),
                };
                match found {
                    Search::Has => _ = files.insert(uri),
                    Search::HasNot => {}
                    Search::Unsearched => unsearched += 1,
                }
            }
            unsearched += usize::from(!walk.is_whole());
        }
        WithWord { files: files.into_iter().collect(), unsearched }
    }
}

/// Looks through a file, if it is a text and no more than `left` bytes, which it takes from that.
fn search(path: &Path, word: &str, left: &mut u64) -> Search {
    let Ok(file) = open_in_place(path) else { return Search::HasNot };
    let size = match file.metadata() {
        Ok(found) if found.is_file() => found.len(),
        _ => return Search::HasNot,
    };
    let read = |most: u64, into: &mut Vec<u8>| (&file).take(most).read_to_end(into).is_ok();
    let mut bytes = Vec::new();
    if !read(BEGINNING, &mut bytes) || bytes.contains(&0) {
        return Search::HasNot;
    }
    if size > LARGEST_TEXT || size > *left || !read(LARGEST_TEXT, &mut bytes) {
        return Search::Unsearched;
    }
    *left -= size;
    match String::from_utf8_lossy(&bytes) {
        text if !has_word(&text, word) => Search::HasNot,
        // Whoever reads it may find the word there.
        Cow::Owned(_) => Search::Unsearched,
        Cow::Borrowed(_) => Search::Has,
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
        text_of(open_in_place(Path::new(&path)).ok()?)
    }
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
