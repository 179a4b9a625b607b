//! How language servers are asked: the document is admitted and opened, its language waited for until answers can be
//! believed (D28), and what they answer is canonicalized for the workspace as it was just before.

use std::future::Future;
use std::iter::successors;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use gateway_core::ask::{Ask, Raw, Shape, Subject};
use gateway_core::completeness::Completeness;
use gateway_core::error::ToolError;
use gateway_core::limits::MAX_OUTLINED;
use gateway_core::position::Position;
use gateway_core::roots::{AllowedRoots, Document, RealPaths};
use gateway_core::texts::{RawTexts, WithWord};
use gateway_core::tool::{Asked, Canonical, Question, Registered};
use gateway_core::tools;
use gateway_core::uri::CanonicalUri;
use tokio::time::sleep;

use crate::activity::Unopenable;
use crate::disk::{AtOnce, Disk, Noting, Resolver};
use crate::editor::{Editor, EditorError, Language, OpenDocument, Readiness};
use crate::gateway::Gateway;
use crate::root_probe::Permit;
use crate::single_flight::Progress;
use crate::texts::{FileTexts, UNSAVED};
use crate::workspace::{Workspace, WorkspaceVersion};

/// The pauses between answers that are not believed yet.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How many items are put in order on the thread that serves connections, if the system knows all their paths, and how many
/// bytes of their texts.
const MAX_ITEMS_AT_ONCE: usize = 16;
const MAX_TEXT_AT_ONCE: usize = 65_536;

/// How many documents are outlined at a time: a server may be given the text of each, which it takes in when it likes.
const OUTLINED_AT_ONCE: usize = 4;

/// How many other questions are put where one has found nothing.
const MAX_OTHERS: usize = 4;

/// A document that has been opened, and when.
struct Opened {
    moment: WorkspaceVersion,
    document: Document,
    language: Language,
    /// Whether the language has shown that it is ready when the document was opened.
    ready: bool,
    in_tab: bool,
}

/// An answer that can be believed, and of when it is.
struct Believed {
    moment: WorkspaceVersion,
    answers: Vec<Raw>,
    completeness: Completeness,
}

/// What came of a question: which document it was about, and what was found or why nothing.
pub(crate) type Found = (Option<CanonicalUri>, Result<Canonical, ToolError>);

impl<E: Editor> Gateway<E> {
    /// Asks until the answer can be believed, and canonicalizes that.
    pub(crate) async fn ask(
        &self,
        tool: Registered,
        question: &Question,
        progress: &Progress,
    ) -> Result<(WorkspaceVersion, Found), ToolError> {
        let is_nothing = |found: &Found| matches!(&found.1, Ok(Canonical::Set(retained)) if retained.set.is_empty());
        let word = if question.subject.uri().is_none() { tool.word(question) } else { None };
        let (moment, mut found) = match (self.ask_this(tool, question, progress).await, word.clone()) {
            // Nobody searches, but somebody may outline the files.
            (Err(unavailable @ ToolError::ProviderUnavailable(_)), word @ Some(_)) => {
                let (moment, found) = self.ask_workspace(tool, question, word, progress).await?;
                return if is_nothing(&found) { Err(unavailable) } else { Ok((moment, found)) };
            }
            (asked, _) => asked?,
        };
        let others = successors(tool.instead(question), |other| tool.instead(other)).take(MAX_OTHERS);
        for other in others {
            if !is_nothing(&found) {
                break;
            }
            let (_, by_other) = self.ask_this(tool, &other, progress).await?;
            found = with_omissions_of(by_other, &found);
        }
        if is_nothing(&found) && word.is_some() {
            let (_, by_word) = self.ask_workspace(tool, question, word, progress).await?;
            found = with_omissions_of(by_word, &found);
        }
        Ok((moment, found))
    }

    async fn ask_this(
        &self,
        tool: Registered,
        question: &Question,
        progress: &Progress,
    ) -> Result<(WorkspaceVersion, Found), ToolError> {
        let Some(uri) = question.subject.uri() else { return self.ask_workspace(tool, question, None, progress).await };
        let opened = self.open(uri, question.subject.position()).await?;
        let asks = tool.asks(question);
        let subject = question.subject.with_uri(opened.document.editor_uri.clone());
        if asks.iter().any(|ask| ask.shape == Shape::Diagnostics) {
            return self.ask_once_settled(tool, question, asks, &subject, &opened, progress).await;
        }
        let ask = || self.answers(asks, &subject);
        let Believed { moment, answers, completeness } = self.believed(tool, question, &opened, progress, ask).await?;
        let answered = RawAnswer {
            opened: Some((opened.document, false)),
            unsaved: self.unsaved(tool, question).await?,
            ..RawAnswer::new(tool, question, completeness, answers)
        };
        self.with_outlines(answered, None, &moment).await?.canonical(self.workspace(), moment).await
    }

    /// Asks about the whole workspace. With a `word`, outlines are asked for of the files that have it in them.
    async fn ask_workspace(
        &self,
        tool: Registered,
        question: &Question,
        word: Option<String>,
        progress: &Progress,
    ) -> Result<(WorkspaceVersion, Found), ToolError> {
        self.admit_workspace().await?;
        let completeness = if tool.is_about_languages() {
            Completeness::Confirmed
        } else {
            self.await_workspace_ready(progress).await?
        };
        let moment = self.admit_workspace().await?;
        let asks = tool.asks(question);
        let answers = match &word {
            None => self.answers(asks, &question.subject).await?,
            // It was asked before.
            Some(_) => asks.iter().map(|ask| ask.shape.nothing()).collect(),
        };
        let mut answered = RawAnswer::new(tool, question, completeness, answers);
        answered.unsaved = self.unsaved(tool, question).await?;
        self.with_outlines(answered, word, &moment).await?.canonical(self.workspace(), moment).await
    }

    /// The same with the outlines that the tool takes. With a `word`, they are those of the files that have it in them.
    async fn with_outlines(
        &self,
        answered: RawAnswer,
        word: Option<String>,
        moment: &WorkspaceVersion,
    ) -> Result<RawAnswer, ToolError> {
        if !answered.tool.takes_outlines(&answered.question) {
            return Ok(answered);
        }
        let by_word = word.is_some();
        let looking_through = if by_word { Some(self.looking_through().await) } else { None };
        let (mut answered, mut documents) = answered.documents(word, self.workspace(), moment).await?;
        drop(looking_through);
        let rest = documents.split_off(documents.len().min(MAX_OUTLINED));
        let mut outlines = Vec::with_capacity(documents.len());
        for some in documents.chunks(OUTLINED_AT_ONCE) {
            outlines.extend(join_all(some.iter().map(|document| self.outline(document))).await);
        }
        let outlines = outlines.into_iter().collect::<Result<Vec<_>, _>>()?;
        // A file with the word in it that nobody outlines need not have a symbol.
        let counts = |(_, outline): &(CanonicalUri, Option<Raw>)| !by_word || outline.is_some();
        let beyond = rest.into_iter().map(|document| (document, None));
        answered.outlines = documents.into_iter().zip(outlines).filter(counts).chain(beyond).collect();
        Ok(answered)
    }

    /// The texts that are not saved, for a tool that repeats what is written in files.
    async fn unsaved(&self, tool: Registered, question: &Question) -> Result<Option<RawTexts>, ToolError> {
        if tool.reads_texts(question) { self.unsaved_texts().await.map(Some) } else { Ok(None) }
    }

    /// The texts that are not saved.
    pub(crate) async fn unsaved_texts(&self) -> Result<RawTexts, ToolError> {
        match self.editor().ask(UNSAVED, &Subject::Workspace { query: None }, None).await? {
            Raw::Texts(texts) => Ok(texts),
            _ => Err(ToolError::Internal),
        }
    }

    /// The outline of a document; nothing where nobody gives one.
    async fn outline(&self, document: &CanonicalUri) -> Result<Option<Raw>, ToolError> {
        let opened = match self.open(document.as_str(), None).await {
            Ok(opened) => opened,
            Err(ToolError::DocumentNotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let subject = Subject::Document { uri: opened.document.editor_uri };
        match self.editor().ask(tools::OUTLINE, &subject, self.freshness().known_for()).await {
            Ok(raw) => Ok(Some(raw)),
            Err(EditorError::Unavailable(_) | EditorError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The outline of a document, asked for until it can be believed.
    pub(crate) async fn believed_outline(&self, uri: &str, progress: &Progress) -> Result<Raw, ToolError> {
        let opened = self.open(uri, None).await?;
        let subject = Subject::Document { uri: opened.document.editor_uri.clone() };
        let question = Question { subject: Subject::Document { uri: uri.to_owned() }, parameters: Vec::new() };
        let ask = || self.answers(&[tools::OUTLINE], &subject);
        let Believed { answers, .. } = self.believed(tools::FIND, &question, &opened, progress, ask).await?;
        answers.into_iter().next().ok_or(ToolError::Internal)
    }

    /// Asks for what is published about a document, once that is settled (D29). That nobody has published anything is
    /// believed only of a language that is ready.
    async fn ask_once_settled(
        &self,
        tool: Registered,
        question: &Question,
        asks: &[Ask],
        subject: &Subject,
        opened: &Opened,
        progress: &Progress,
    ) -> Result<(WorkspaceVersion, Found), ToolError> {
        let Opened { document, language, .. } = opened;
        let mut ready = opened.ready || self.is_known_ready(language);
        loop {
            if language.has_readiness_probe && !ready {
                self.await_ready(&document.editor_uri, progress).await?;
                ready = true;
            }
            let moment = self.moment_for(opened);
            let answers = self.answers(asks, subject).await?;
            let opened = Some((document.clone(), opened.in_tab && ready));
            let answered = RawAnswer { opened, ..RawAnswer::new(tool, question, Completeness::Confirmed, answers) };
            match answered.canonical(self.workspace(), moment).await? {
                (_, (_, Err(ToolError::NotAnalysed))) if !ready => {
                    self.await_ready(&document.editor_uri, progress).await?;
                    ready = true;
                }
                found => return Ok(found),
            }
        }
    }

    /// The answers to these asks, which are asked at the same time.
    async fn answers(&self, asks: &[Ask], subject: &Subject) -> Result<Vec<Raw>, EditorError> {
        let known_for = self.freshness().known_for();
        // All are waited for, so that of several failures it is always that of the same ask that counts.
        let answers = join_all(asks.iter().map(|ask| async move {
            match self.editor().ask(*ask, subject, known_for).await {
                Err(EditorError::Unavailable(_)) if ask.is_optional => Ok(ask.shape.nothing()),
                answer => answer,
            }
        }))
        .await;
        answers.into_iter().collect()
    }

    /// Asks about a document until the answer can be believed, with or without a remark.
    ///
    /// Where something tells when the language is ready, that is waited for, each time, since it may have started anew;
    /// nearly always it was told when the document was opened. Any other language is asked at once, and its answers count
    /// for no more than they have shown it to be worth.
    async fn believed<F>(
        &self,
        tool: Registered,
        question: &Question,
        opened: &Opened,
        progress: &Progress,
        ask: impl Fn() -> F,
    ) -> Result<Believed, ToolError>
    where
        F: Future<Output = Result<Vec<Raw>, EditorError>>,
    {
        let language = &opened.language;
        if language.has_readiness_probe {
            self.silent().forget(&language.id);
            if !opened.ready {
                return self.once_ready(tool, opened, progress, ask).await;
            }
            let moment = self.moment_for(opened);
            return Ok(Believed { moment, answers: ask().await?, completeness: Completeness::Confirmed });
        }
        let mut pause = FIRST_PAUSE;
        loop {
            let moment = self.moment_for(opened);
            match ask().await {
                Ok(answers) => {
                    if let Some(completeness) = self.silent().weigh(&language.id, tool, question, &moment, &answers) {
                        return Ok(Believed { moment, answers, completeness });
                    }
                }
                // A back end that says why it failed does not wait for a start.
                Err(EditorError::Failed(None)) if self.silent().may_be_starting(&language.id) => {}
                Err(error) => return Err(error.into()),
            }
            progress.set_warming_up(true);
            sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Asks about a document whose language is ready, or rests: some servers take seconds for their first answer. What one
    /// answers as it rests counts if it has not begun to work until it is ready; else it is asked again, once for each rest.
    async fn once_ready<F>(
        &self,
        tool: Registered,
        opened: &Opened,
        progress: &Progress,
        ask: impl Fn() -> F,
    ) -> Result<Believed, ToolError>
    where
        F: Future<Output = Result<Vec<Raw>, EditorError>>,
    {
        let now = || self.workspace().now().epochs.that_outdate_a_question(tool.epochs());
        loop {
            progress.set_warming_up(true);
            // It may begin to work as soon as it has told of itself, so this is the state before that.
            let (moment, before) = (self.moment_for(opened), now());
            let mut early = None;
            let completeness = loop {
                match self.editor().ready(&opened.document.editor_uri, true).await? {
                    Readiness::Shown => break Completeness::Confirmed,
                    Readiness::Assumed => break Completeness::Unconfirmed,
                    Readiness::Resting if now() != before => break Completeness::Unconfirmed,
                    Readiness::Resting if early.is_none() => early = Some(ask().await),
                    Readiness::Resting => sleep(FIRST_PAUSE).await,
                }
            };
            if now() != before {
                continue;
            }
            progress.set_warming_up(false);
            let answers = match early {
                Some(Ok(answers)) => answers,
                Some(Err(_)) | None => ask().await?,
            };
            return Ok(Believed { moment, answers, completeness });
        }
    }

    /// Waits until the languages of the whole workspace are ready.
    async fn await_workspace_ready(&self, progress: &Progress) -> Result<Completeness, ToolError> {
        let documents = self.editor().main_documents().await?;
        // Where no language is in use, nobody is there to find anything.
        let mut completeness = if documents.is_empty() { Completeness::Unconfirmed } else { Completeness::Confirmed };
        for document in &documents {
            // One after the other takes no longer than all at once: each runs whether or not it is waited for.
            if !self.is_known_ready(&document.language) {
                let shown = self.await_ready(&document.uri, progress).await?;
                completeness = completeness.and(if document.language.has_readiness_probe {
                    shown
                } else {
                    Completeness::Unconfirmed
                });
            }
        }
        Ok(completeness)
    }

    /// Waits until the language of the document is ready, or has had its time.
    async fn await_ready(&self, uri: &str, progress: &Progress) -> Result<Completeness, ToolError> {
        progress.set_warming_up(true);
        let readiness = self.editor().ready(uri, false).await?;
        progress.set_warming_up(false);
        Ok(match readiness {
            Readiness::Shown => Completeness::Confirmed,
            Readiness::Assumed | Readiness::Resting => Completeness::Unconfirmed,
        })
    }

    /// The workspace as it is now, for an ask about an open document; if the roots have moved since that was admitted, as
    /// it was then, so that the answer is not taken for one of now.
    fn moment_for(&self, opened: &Opened) -> WorkspaceVersion {
        let now = self.workspace().now();
        if now.epochs.roots == opened.moment.epochs.roots { now } else { opened.moment.clone() }
    }

    /// Whether it is known already, without waiting, that the language is ready.
    fn is_known_ready(&self, language: &Language) -> bool {
        !language.has_readiness_probe && self.silent().is_ready(&language.id)
    }

    /// Admits the document, has the editor open it, checks the position, and only then reads the epochs (D23).
    async fn open(&self, uri: &str, position: Option<Position>) -> Result<Opened, ToolError> {
        loop {
            let (admitted, document) = self.admit(uri).await?;
            self.workspace().name([document.real_path.clone()]);
            let opened = self.editor().open(&document.editor_uri, position).await?;
            let moment = self.workspace().now();
            if moment.epochs.roots != admitted.epochs.roots {
                continue;
            }
            if let Some(position) = position {
                position.check(opened.line_count, opened.line_length)?;
            }
            let OpenDocument { language, ready, in_tab, .. } = opened;
            return Ok(Opened { moment, document, language, ready, in_tab });
        }
    }

    /// The document at `uri`, if the roots of this moment allow it.
    pub(crate) async fn admit(&self, uri: &str) -> Result<(WorkspaceVersion, Document), ToolError> {
        if let Some(admitted) = self.workspace().admit_at_once(uri) {
            return Ok(admitted);
        }
        let moment = self.workspace().look_at_roots().await;
        let permit = self.workspace().permit_for_document(uri).await?;
        let uri = uri.to_owned();
        blocking(permit, move || {
            let document = moment.roots.admit(&uri, &Disk)?;
            // Opening a pipe or a device may never end, and reading one may take something away.
            if !document.real_path.is_file() {
                return Err(ToolError::DocumentNotFound);
            }
            Ok((moment, document))
        })
        .await?
    }

    /// The URI of a file that a caller names by a path.
    pub(crate) async fn uri_of(&self, file: &str) -> Result<String, ToolError> {
        let disk = AtOnce::default();
        if let Ok(uri) = self.workspace().now().roots.uri_of(file, &disk)
            && disk.is_decided()
        {
            return Ok(uri);
        }
        let moment = self.workspace().look_at_roots().await;
        let permit = self.workspace().permit_for_document(file).await?;
        let file = file.to_owned();
        blocking(permit, move || moment.roots.uri_of(&file, &Disk)).await?
    }

    /// Where the call of this number asked, as the editor knows it. The file is admitted anew, by the roots as they are now
    /// and the disk as it is: what a client could not ask about, nobody is led to by it.
    pub async fn place_of_call(&self, number: u64) -> Result<(String, Option<Position>), Unopenable> {
        let (uri, position) = self.activity().document_of(number)?;
        // It may have been named by a path.
        let admitted = match self.uri_of(&uri).await {
            Ok(uri) => self.admit(&uri).await,
            Err(error) => Err(error),
        };
        match admitted {
            Ok((_, document)) => Ok((document.editor_uri, position)),
            Err(ToolError::UriUnresolvable | ToolError::DocumentNotFound) => Err(Unopenable::Gone),
            Err(_) => Err(Unopenable::Refused),
        }
    }

    /// The workspace as it is now, for a question about all of it. Without roots, nothing may be spoken of, and of a part
    /// of them it would not be about all.
    pub(crate) async fn admit_workspace(&self) -> Result<WorkspaceVersion, ToolError> {
        let moment = self.workspace().look_at_roots().await;
        if !moment.silent.is_empty() {
            return Err(ToolError::DiskSilent);
        }
        moment.roots.check_any()?;
        Ok(moment)
    }
}

/// What was answered to which question.
struct RawAnswer {
    tool: Registered,
    question: Question,
    /// The document that was asked about, and whether what was not published about it counts as nothing wrong.
    opened: Option<(Document, bool)>,
    completeness: Completeness,
    answers: Vec<Raw>,
    /// The outlines that the tool has asked for.
    outlines: Vec<(CanonicalUri, Option<Raw>)>,
    /// The files that have the word of the question, if they were looked for.
    with_word: Option<WithWord>,
    /// For a tool that repeats what is written in files: what is not saved of that.
    unsaved: Option<RawTexts>,
}

impl RawAnswer {
    fn new(tool: Registered, question: &Question, completeness: Completeness, answers: Vec<Raw>) -> Self {
        Self {
            tool,
            question: question.clone(),
            opened: None,
            completeness,
            answers,
            outlines: Vec::new(),
            with_word: None,
            unsaved: None,
        }
    }

    /// The documents of which the tool wants outlines: those that it names, or all that have the word in them.
    async fn documents(
        mut self,
        word: Option<String>,
        workspace: &Workspace,
        moment: &WorkspaceVersion,
    ) -> Result<(Self, Vec<CanonicalUri>), ToolError> {
        let (roots, resolver) = (Arc::clone(&moment.roots), Resolver::sparing(Arc::clone(&moment.silent)));
        blocking(workspace.permit_for_answer().await?, move || {
            if let (Some(word), Some(unsaved)) = (word, &self.unsaved) {
                self.with_word = Some(FileTexts::new(unsaved, &roots, &resolver)?.with_word(&word, &roots));
            }
            let documents =
                self.tool.documents(&self.answers, &self.asked(&roots, &resolver, &FileTexts::default()))?;
            Ok::<_, ToolError>((self, documents))
        })
        .await?
    }

    /// Canonicalizes the answers where it may wait for the disk; or at once, if that takes little and the system knows every
    /// path that it takes. Most paths lead through no link, and to where somebody has just been. On a disk that does not
    /// answer, what it remembers is not to be told from what lies outside.
    async fn canonical(
        self,
        workspace: &Workspace,
        moment: WorkspaceVersion,
    ) -> Result<(WorkspaceVersion, Found), ToolError> {
        let document = self.opened.as_ref().map(|(document, _)| document.uri.clone());
        if self.takes_little() && moment.silent.is_empty() {
            let disk = AtOnce::default();
            let noting = Noting::new(&disk);
            let canonical = self.within(&moment.roots, &noting);
            let named = noting.noted();
            if disk.is_decided() {
                workspace.name(named);
                return Ok((moment, (document, canonical)));
            }
        }
        let (roots, resolver) = (Arc::clone(&moment.roots), Resolver::sparing(Arc::clone(&moment.silent)));
        let (canonical, named) = blocking(workspace.permit_for_answer().await?, move || {
            let noting = Noting::new(&resolver);
            let canonical = self.within(&roots, &noting);
            let named = noting.noted();
            // Without a path on a disk that does not answer, it would be a part that reads as the whole.
            (resolver.check_complete().map(|()| canonical), named)
        })
        .await?;
        workspace.name(named);
        Ok((moment, (document, canonical?)))
    }

    fn takes_little(&self) -> bool {
        // Of diagnostics, those that are only counted name files as well.
        // A file takes as long as its disk.
        self.unsaved.is_none()
            && self.answers.iter().all(|raw| !matches!(raw, Raw::Diagnostics(_)))
            && self.answers.iter().map(Raw::len).sum::<usize>() <= MAX_ITEMS_AT_ONCE
            && self.answers.iter().map(Raw::text_bytes).sum::<usize>() <= MAX_TEXT_AT_ONCE
    }

    fn within(&self, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<Canonical, ToolError> {
        if let Some((document, _)) = &self.opened {
            check_unmoved(document, roots, real)?;
        }
        let texts = match &self.unsaved {
            Some(unsaved) => FileTexts::new(unsaved, roots, real)?,
            None => FileTexts::default(),
        };
        self.tool.canonicalize(&self.answers, &self.asked(roots, real, &texts))
    }

    fn asked<'a>(&'a self, roots: &'a AllowedRoots, real: &'a dyn RealPaths, texts: &'a FileTexts) -> Asked<'a> {
        let Self { question, opened, completeness, outlines, .. } = self;
        let (document, in_tab) = opened.as_ref().map(|(document, in_tab)| (&document.uri, *in_tab)).unzip();
        let in_tab = in_tab.unwrap_or_default();
        let with_word = self.with_word.as_ref();
        Asked { question, document, in_tab, outlines, with_word, completeness: *completeness, roots, real, texts }
    }
}

/// What was found, with what was left out before, when another question had found nothing.
fn with_omissions_of(found: Found, before: &Found) -> Found {
    let (document, canonical) = found;
    let canonical = match (canonical, before) {
        (Ok(Canonical::Set(mut retained)), (_, Ok(Canonical::Set(before)))) => {
            retained.omissions = retained.omissions.or_more(&before.omissions);
            Ok(Canonical::Set(retained))
        }
        (canonical, _) => canonical,
    };
    (document, canonical)
}

/// Checks that the name under which the editor was asked still leads where it led when the document was admitted.
/// Somebody may have put a link in its way before the editor opened it, and then the answer is one about another file.
fn check_unmoved(document: &Document, roots: &AllowedRoots, real: &dyn RealPaths) -> Result<(), ToolError> {
    if roots.admit(&document.editor_uri, real)? == *document { Ok(()) } else { Err(ToolError::OutsideRoots) }
}

/// Runs what may block on the disk off the threads that serve connections, once it is its turn.
pub(crate) async fn blocking<T: Send + 'static>(
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let work = move || {
        let _permit = permit;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| ToolError::Internal)
}
