//! What is done before a question so that language servers know of every write that had ended (docs/CONTRACT.md, FRESH).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gateway_core::error::ToolError;
use gateway_core::roots::Folder;
use gateway_core::uri::{PathStyle, file_uri};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep_until;

use crate::editor::{Editor, EditorError};
use crate::freshness::{Next, Opened};
use crate::gateway::Gateway;
use crate::single_flight::Progress;
use crate::watch::Kind;

/// Larger files are not opened.
const LARGEST_OPENED: u64 = 4 << 20;
/// What no language server reads is in this language.
const PLAIN: &str = "plaintext";

impl<E: Editor> Gateway<E> {
    /// Waits until the language servers know, as far as can be told, of every write that had ended when this was called.
    /// Returns the number of the last change that they know of. Nothing is waited for if the question may not be asked.
    /// `uri` is the document that the question is about.
    pub(crate) async fn make_known(self: &Arc<Self>, uri: Option<&str>, progress: &Progress) -> Result<u64, ToolError> {
        let freshness = self.freshness();
        let mut is_admitted = false;
        loop {
            let number = freshness.catch_up(self.workspace(), uri).await?;
            let (next, told) = freshness.next();
            progress.set_catching_up(next != Next::Known);
            if next == Next::Known {
                return Ok(number);
            }
            if let Some(uri) = uri.filter(|_| !is_admitted) {
                self.admit(uri).await?;
            }
            is_admitted = true;
            match next {
                Next::Known => {}
                Next::Tell => self.tell().await,
                Next::Open(files) => self.open_written(files).await,
                Next::Wait(until) => {
                    tokio::select! {
                        () = told => {}
                        () = sleep_until(until) => {}
                    }
                }
            }
        }
    }

    /// Takes note of files that have come, changed or gone, as the editor has seen and language servers have been told by now.
    /// The paths are those by which the editor knows them.
    pub async fn editor_saw(&self, files: Vec<(PathBuf, Kind)>) {
        let freshness = self.freshness();
        // What the editor tells of has happened before: it has to be pending by now, if that can be known.
        drop(freshness.catch_up(self.workspace(), None).await);
        let roots = self.workspace().now().roots;
        let real = |path: PathBuf| {
            let inside = |folder: Folder<'_>| Some(folder.real.join(path.strip_prefix(folder.known_as).ok()?));
            roots.folders().find_map(inside).unwrap_or(path)
        };
        freshness.told(files.into_iter().map(|(path, kind)| (real(path), kind)));
    }

    /// Tells the editor of what it has not been told yet. What it is told while the call ends, it is told again.
    async fn tell(&self) {
        let freshness = self.freshness();
        let _telling = freshness.telling.lock().await;
        let Some(untold) = freshness.untold() else { return };
        self.editor().tell((untold.many == 0).then_some(&untold.changes[..])).await;
        freshness.was_told(&untold);
    }

    /// Opens files that were written in step with the disk.
    async fn open_written(self: &Arc<Self>, files: Vec<(PathBuf, u64)>) {
        let mut opening = JoinSet::new();
        for (path, number) in files {
            let gateway = Arc::clone(self);
            opening.spawn(async move {
                let opened = gateway.open_one(&path).await;
                gateway.freshness().opened(&path, number, opened);
            });
        }
        opening.join_all().await;
    }

    async fn open_one(&self, path: &Path) -> Opened {
        let Some(text) = path.to_str() else { return Opened::NotAtAll };
        let uri = file_uri(text, PathStyle::NATIVE);
        // What is gone again, which the watch tells by itself.
        let Ok((_, document)) = self.admit(&uri).await else { return Opened::NotAtAll };
        let path = document.real_path.clone();
        let size = spawn_blocking(move || fs::metadata(path).map_or(0, |found| found.len())).await;
        if size.is_ok_and(|size| size > LARGEST_OPENED) {
            return Opened::InVain;
        }
        match self.editor().open(&document.editor_uri, None).await {
            Ok(opened) if opened.language.id == PLAIN => Opened::Plain,
            Ok(_) => Opened::InStep,
            Err(EditorError::NotFound) if document.real_path.is_file() => Opened::Plain,
            Err(EditorError::NotFound) => Opened::NotAtAll,
            Err(EditorError::Unavailable(_) | EditorError::Failed(_) | EditorError::Starting) => Opened::InVain,
        }
    }
}
