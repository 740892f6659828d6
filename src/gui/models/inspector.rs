//! The panel about one path: its contents, and why it is there.

mod reading;

use std::path::PathBuf;
use std::sync::Arc;

use self::reading::{download, load, resolve, save};
use super::background::Background;
use super::contents::{ContentView, FIRST_BYTES, FileDocument, MOST_BYTES, TextSearch};
use super::external::{External, ExternalFolder};
use super::format::save_name;
use super::path_why::{PathWhy, WhyAnswer};
use super::report::Opener;
use super::saver::Saver;
use crate::analysis::{Analysis, Options};
use crate::base::text::printable;
use crate::contents::{ContentsError, find};
use crate::cuda::Inode;
use crate::cuda::links::file_name;
use crate::jobs::{Progress, Snapshot, Waker};
use crate::rootfs::NodeKind;

/// A page of the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InspectorPage {
    /// The bytes.
    #[default]
    Contents,
    /// Layer, owner, loader, findings.
    Why,
}

/// A path, and optionally one version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathTarget {
    /// Absolute path, any bytes.
    pub raw: Vec<u8>,
    /// Layer and entry with the bytes; `None` for what a container sees.
    pub version: Option<Inode>,
}

impl PathTarget {
    /// What a container sees at a path.
    pub fn of(raw: Vec<u8>) -> Self {
        Self { raw, version: None }
    }

    /// Whether it is a folder; not before layers are merged.
    pub fn is_folder(&self, analysis: &Analysis) -> bool {
        let Some(merge) = analysis.merge.as_ref().filter(|_| self.version.is_none()) else { return false };
        let node = find(analysis, &merge.rootfs, &self.raw, true).ok();
        node.is_some_and(|node| merge.rootfs.node(node).kind() == NodeKind::Directory)
    }
}

/// What the contents page shows.
pub enum ContentState {
    /// The layers are not merged yet.
    Waiting,
    /// Its bytes are at a registry: so many must be downloaded.
    Ask(u64),
    /// Being read.
    Loading,
    /// The file.
    Ready(Box<FileDocument>),
    /// It has no bytes to show, and why.
    Nothing(String),
    /// It cannot be read, and why.
    Failed(String),
    /// Reading was cancelled.
    Cancelled,
}

type Loaded = Result<FileDocument, ContentsError>;

/// The panel.
#[allow(clippy::struct_excessive_bools, reason = "each is one thing about the file or the panel")]
pub struct Inspector {
    /// The tab of the image.
    pub tab: u64,
    /// What it is about.
    pub target: PathTarget,
    /// The page in front.
    pub page: InspectorPage,
    /// The way in which the contents are shown.
    pub view: Option<ContentView>,
    /// Whether a picture is shown in its actual size.
    pub actual_size: bool,
    /// The search in its text.
    pub search: TextSearch,
    /// Saves it.
    pub saver: Saver,
    /// Opens it with another program.
    pub external: External,
    /// Whether it takes the room of the view in front.
    pub covers: bool,
    state: ContentState,
    /// Generation for which the state was made.
    generation: Option<u64>,
    inode: Option<Inode>,
    /// Whether it is a folder, which is saved as an archive.
    folder: bool,
    most: u64,
    allowed: bool,
    why: PathWhy,
    load: Background<Loaded>,
    load_progress: Progress,
}

impl Inspector {
    /// A panel about a path.
    pub fn new(tab: u64, target: PathTarget, page: InspectorPage, opener: Opener) -> Self {
        Self {
            tab,
            target,
            page,
            view: None,
            actual_size: false,
            search: TextSearch::default(),
            saver: Saver::default(),
            external: External::new(opener),
            covers: false,
            state: ContentState::Waiting,
            generation: None,
            inode: None,
            folder: false,
            most: FIRST_BYTES,
            allowed: false,
            why: PathWhy::default(),
            load: Background::default(),
            load_progress: Progress::default(),
        }
    }

    /// Takes results, and starts what the page in front needs. Called on each frame.
    pub fn update(&mut self, analysis: &Arc<Analysis>, generation: u64, options: &Options, waker: &Waker) {
        if let Some(result) = self.load.result() {
            self.state = match result {
                Ok(Ok(document)) => {
                    if self.view.is_none_or(|view| !document.views.contains(&view)) {
                        self.view = document.views.first().copied();
                    }
                    ContentState::Ready(Box::new(document))
                }
                Ok(Err(ContentsError::Cancelled)) => ContentState::Cancelled,
                Ok(Err(error)) => ContentState::Failed(printable(&error.to_string())),
                Err(panic) => ContentState::Failed(panic),
            };
        }
        self.saver.update();
        self.external.update(waker);
        match self.page {
            InspectorPage::Why => self.why.update(analysis, generation, &self.target.raw, waker),
            InspectorPage::Contents => {
                // A file that is shown stays while more of the image becomes known.
                let settled = matches!(self.state, ContentState::Ready(_) | ContentState::Loading);
                if self.generation != Some(generation) && !settled {
                    self.generation = Some(generation);
                    self.learn_kind(analysis);
                    self.begin(analysis, options, waker);
                }
            }
        }
    }

    /// The state of the contents.
    pub fn state(&self) -> &ContentState {
        &self.state
    }

    /// The file that is shown.
    pub fn document_mut(&mut self) -> Option<&mut FileDocument> {
        match &mut self.state {
            ContentState::Ready(document) => Some(document),
            _ => None,
        }
    }

    /// Why the path is there; `None` while that is worked out.
    pub fn why(&self) -> Option<&WhyAnswer> {
        self.why.answer(&self.target.raw)
    }

    /// Why that is not known.
    pub fn why_error(&self) -> Option<&str> {
        self.why.error()
    }

    /// Progress of reading.
    pub fn progress(&self) -> Snapshot {
        self.load_progress.snapshot()
    }

    /// Whether it is read or saved: the progress is shown.
    pub fn is_running(&self) -> bool {
        self.load.is_busy() || self.saver.is_busy() || self.external.saver.is_busy()
    }

    /// Whether it works.
    pub fn is_busy(&self) -> bool {
        self.load.is_busy()
            || self.saver.is_busy()
            || self.external.saver.is_busy()
            || self.why.is_busy()
            || self.search.is_busy()
    }

    /// Allows a download.
    pub fn allow(&mut self) {
        self.allowed = true;
        self.again();
    }

    /// Reads again.
    pub fn again(&mut self) {
        self.state = ContentState::Waiting;
        self.generation = None;
    }

    /// Stops reading.
    pub fn cancel(&mut self) {
        self.load = Background::default();
        self.state = ContentState::Cancelled;
    }

    /// Reads more of the file.
    pub fn load_more(&mut self) {
        self.most = self.most.saturating_mul(8).min(MOST_BYTES);
        self.again();
    }

    /// Whether more of it can be read.
    pub fn can_load_more(&self) -> bool {
        self.most < MOST_BYTES
    }

    /// Asks where to save, beginning with the name of the file.
    pub fn ask_name(&mut self) {
        self.saver.ask(self.file_name());
    }

    /// A name for the file dialog.
    pub fn file_name(&self) -> String {
        let name = save_name(file_name(&self.target.raw));
        let name = if name.is_empty() { "image".to_owned() } else { name };
        if self.folder { format!("{name}.tar") } else { name }
    }

    /// Finds out whether it is a folder.
    pub fn learn_kind(&mut self, analysis: &Analysis) {
        if analysis.merge.is_some() {
            self.folder = self.target.is_folder(analysis);
        }
    }

    fn begin(&mut self, analysis: &Arc<Analysis>, options: &Options, waker: &Waker) {
        let Some(merge) = &analysis.merge else {
            self.state = ContentState::Waiting;
            return;
        };
        let inode = match self.target.version {
            Some(inode) => inode,
            None => match resolve(analysis, &merge.rootfs, &self.target.raw) {
                Ok(inode) => inode,
                Err(reason) => {
                    self.state = ContentState::Nothing(reason);
                    return;
                }
            },
        };
        self.inode = Some(inode);
        if let Some(bytes) = download(analysis, options, inode)
            && !self.allowed
        {
            self.state = ContentState::Ask(bytes);
            return;
        }
        self.state = ContentState::Loading;
        self.load_progress = Progress::default();
        let (analysis, options, progress) =
            (Arc::clone(analysis), options.clone(), self.load_progress.clone());
        let (raw, most) = (self.target.raw.clone(), self.most);
        self.load.start(waker, false, move |cancel| {
            Ok(load(&analysis, &options, (inode, raw), most, &progress, cancel))
        });
    }

    /// Opens the file that is shown with the desktop's program for it.
    pub fn open_external(
        &mut self,
        analysis: &Arc<Analysis>,
        options: &Options,
        folder: &mut ExternalFolder,
        waker: &Waker,
    ) {
        let (ContentState::Ready(document), Some(inode)) = (&self.state, self.inode) else { return };
        let known = (&*document.head.bytes, document.head.size);
        let file = (inode, self.target.raw.clone());
        self.external.open((analysis, options), file, known, folder, waker);
    }

    /// Saves the file, or a folder as a tar archive, to a path; `replace` if a dialog asked whether it may be replaced.
    pub fn save_to(
        &mut self,
        analysis: &Arc<Analysis>,
        options: &Options,
        (to, replace): (PathBuf, bool),
        waker: &Waker,
    ) {
        let (analysis, options) = (Arc::clone(analysis), options.clone());
        let (raw, version) = (self.target.raw.clone(), self.target.version);
        self.saver.start(waker, move |progress, cancel| {
            save(&analysis, &options, (raw, version), (&to, replace), progress, cancel)
        });
    }
}
