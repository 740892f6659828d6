//! A slim image to be written: destination, choices, sizes, and the two jobs: sizes and writing.

use std::sync::Arc;

use super::background::Background;
use super::typed::tidy;
use crate::analysis::{Analysis, Failure, Options};
use crate::base::size::human;
use crate::base::text::counted;
use crate::findings::Plan;
use crate::jobs::{CancelToken, Progress, Snapshot, Waker};
use crate::slim::{self, Action, Destination, Encoding, Selection, Sizes, SlimError, SlimOptions};

/// A kind of destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationKind {
    /// An OCI image layout.
    Layout,
    /// An OCI archive.
    Archive,
    /// An archive as `docker save` writes it.
    DockerArchive,
    /// A registry.
    Registry,
    /// The local Docker engine.
    Docker,
    /// The local Podman engine.
    Podman,
}

impl DestinationKind {
    /// All kinds, in the order shown.
    pub const ALL: [Self; 6] =
        [Self::Layout, Self::Archive, Self::DockerArchive, Self::Registry, Self::Docker, Self::Podman];

    /// Label, prefix of the destination, and an example of its name.
    pub const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Layout => ("OCI layout", "oci:", "/path/to/folder:tag"),
            Self::Archive => ("OCI archive", "oci-archive:", "/path/to/image.tar:tag"),
            Self::DockerArchive => ("Docker archive", "docker-archive:", "/path/to/image.tar:name:tag"),
            Self::Registry => ("Registry", "docker://", "registry.example/team/image:tag"),
            Self::Docker => ("Docker", "docker-daemon:", "image:tag"),
            Self::Podman => ("Podman", "podman:", "image:tag"),
        }
    }

    /// Whether its name is a path.
    pub const fn is_path(self) -> bool {
        matches!(self, Self::Layout | Self::Archive | Self::DockerArchive)
    }
}

/// Result of the sizes job.
type Computed = Result<Arc<Selection>, Failure>;

/// A written image.
#[derive(Clone, Debug)]
pub struct SlimResult {
    /// The reference that opens it.
    pub reference: String,
    /// Destination and sizes, for the log.
    pub summary: String,
}

/// The sheet for one image.
pub struct SlimModel {
    /// The tab of the image.
    pub tab: u64,
    /// Title of the image.
    pub title: String,
    /// Whether the sheet is shown; writing continues without it.
    pub open: bool,
    /// Whether the name had the focus once.
    pub focused: bool,
    /// Kind of the destination.
    pub kind: DestinationKind,
    /// Its name or path, as typed.
    pub name: String,
    /// Whether rewritten layers are compressed with zstd.
    pub zstd: bool,
    /// Whether the layers of the base image are kept.
    pub keep_base: bool,
    /// Error of the file dialog.
    pub message: Option<String>,
    /// Why the image was not written.
    pub failure: Option<Failure>,
    analysis: Arc<Analysis>,
    plan: Plan,
    selection: Option<Computed>,
    asked: Option<bool>,
    sizes: Background<Computed>,
    writing: Background<Result<SlimResult, Option<Failure>>>,
    progress: Progress,
    cancel: CancelToken,
    checked: Option<(String, Result<Option<&'static str>, String>)>,
}

impl SlimModel {
    /// For the image and the plan of a tab.
    pub fn new(tab: u64, title: String, analysis: Arc<Analysis>, plan: Plan) -> Self {
        Self {
            tab,
            title,
            open: true,
            focused: false,
            kind: DestinationKind::Layout,
            name: String::new(),
            zstd: false,
            keep_base: false,
            message: None,
            failure: None,
            analysis,
            plan,
            selection: None,
            asked: None,
            sizes: Background::default(),
            writing: Background::default(),
            progress: Progress::default(),
            cancel: CancelToken::new(),
            checked: None,
        }
    }

    /// Name of the base image, if one is recognised.
    pub fn base(&self) -> Option<&str> {
        let base = self.analysis.inventory.as_ref()?.base.as_ref()?;
        Some(base.reference.as_deref().unwrap_or("recognised base image"))
    }

    /// Starts what is out of date, and takes results. Gives the written image, once.
    pub fn poll(&mut self, waker: &Waker) -> Option<SlimResult> {
        if self.asked != Some(self.keep_base) {
            self.asked = Some(self.keep_base);
            let (analysis, plan, options) = (Arc::clone(&self.analysis), self.plan.clone(), self.options());
            self.sizes.start(waker, false, move |cancel| {
                cancel.check()?;
                Ok(Selection::new(&analysis, &plan, &options).map(Arc::new).map_err(|error| failure(&error)))
            });
        }
        if let Some(result) = self.sizes.result() {
            self.selection = Some(result.unwrap_or_else(|panic| Err(Failure::new(panic))));
        }
        match self.writing.result()? {
            Ok(Ok(result)) => Some(result),
            Ok(Err(reason)) => {
                self.failure = reason;
                None
            }
            Err(panic) => {
                self.failure = Some(Failure::new(panic));
                None
            }
        }
    }

    /// What happens at the destination, if something is there; or why it cannot be used. `None` while it is empty.
    pub fn check(&mut self) -> Option<Result<Option<&'static str>, String>> {
        let name = tidy(&self.name);
        if name.is_empty() {
            return None;
        }
        let text = format!("{}{name}", self.kind.words().1);
        if self.checked.as_ref().is_none_or(|(known, _)| *known != text) {
            let result = Destination::parse(&text).map_err(|error| error.to_string()).map(|destination| {
                match destination.path() {
                    Some(path) if path.is_file() => Some("This file exists and will be replaced."),
                    Some(path) if path.join("index.json").is_file() => {
                        Some("This layout exists; its other images stay.")
                    }
                    _ => None,
                }
            });
            self.checked = Some((text, result));
        }
        self.checked.as_ref().map(|(_, result)| result.clone())
    }

    /// Why the image cannot be written now.
    pub fn obstacle(&mut self) -> Option<&'static str> {
        match self.check() {
            None => Some("Enter a destination first"),
            Some(Err(_)) => Some("The destination is not valid"),
            Some(Ok(_)) if self.sizes.is_busy() => Some("Sizes are not ready yet"),
            Some(Ok(_)) => {
                (!matches!(self.selection, Some(Ok(_)))).then_some("The image cannot be rewritten")
            }
        }
    }

    /// Whether the sizes are being computed.
    pub fn is_computing(&self) -> bool {
        self.sizes.is_busy()
    }

    /// Whether the image is being written.
    pub fn is_writing(&self) -> bool {
        self.writing.is_busy()
    }

    /// Whether writing was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.is_writing() && self.cancel.is_cancelled()
    }

    /// Counters of the writing.
    pub fn progress(&self) -> Snapshot {
        self.progress.snapshot()
    }

    /// Stops writing; nothing is left at the destination.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// The newest sizes, as lines of name and value; or why there are none.
    pub fn lines(&self) -> Option<Result<Vec<(&'static str, String)>, &Failure>> {
        Some(match self.selection.as_ref()? {
            Ok(selection) => Ok(lines(selection)),
            Err(failure) => Err(failure),
        })
    }

    /// What keeping the base image costs.
    pub fn base_cost(&self) -> Option<String> {
        let Some(Ok(selection)) = &self.selection else { return None };
        (self.keep_base && selection.base_layers > 0).then(|| {
            let layers = counted(selection.base_layers, "layer");
            format!("{layers} unchanged; keeps {} that could be removed", human(selection.base_bytes))
        })
    }

    fn options(&self) -> SlimOptions {
        let encoding = if self.zstd { Encoding::Zstd(3) } else { Encoding::default() };
        SlimOptions { keep_base: self.keep_base, encoding, ..SlimOptions::default() }
    }

    /// Starts writing, if nothing is in the way.
    pub fn write(&mut self, opened: &Options, waker: &Waker) {
        if self.is_writing() || self.obstacle().is_some() {
            return;
        }
        let Some(Ok(selection)) = self.selection.clone() else { return };
        let text = format!("{}{}", self.kind.words().1, tidy(&self.name));
        (self.failure, self.checked) = (None, None);
        (self.progress, self.cancel) = (Progress::default(), CancelToken::new());
        let (analysis, options, opened) = (Arc::clone(&self.analysis), self.options(), opened.clone());
        let (progress, cancel) = (self.progress.clone(), self.cancel.clone());
        self.writing.start(waker, false, move |_| {
            let work = || {
                let store = Destination::parse(&text)?.open(&opened.access, &analysis.image, &cancel)?;
                slim::write(&analysis, &selection, &options, store, &opened, &progress, &cancel)
            };
            Ok(match work() {
                Ok(written) => Ok(SlimResult {
                    summary: format!(
                        "Slim image written: {}: {}",
                        written.published.reference,
                        compressed(written.before, written.after, "")
                    ),
                    reference: written.published.reference,
                }),
                Err(SlimError::Cancelled) => Err(None),
                Err(error) => Err(Some(failure(&error))),
            })
        });
    }
}

impl Drop for SlimModel {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn failure(error: &SlimError) -> Failure {
    Failure { hint: error.hint().map(str::to_owned), ..Failure::new(error.to_string()) }
}

fn compressed(before: Sizes, after: Sizes, about: &str) -> String {
    let size = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), human);
    format!("{} before, {about}{} after", size(before.compressed_bytes), size(after.compressed_bytes))
}

fn lines(selection: &Selection) -> Vec<(&'static str, String)> {
    let (before, after) = (selection.before, selection.after);
    let count = |action| selection.layers.iter().filter(|layer| layer.action == action).count();
    let layers = [Action::Kept, Action::Rewritten, Action::Dropped].map(|action| (count(action), action));
    let layers = layers.map(|(count, action)| format!("{count} {}", action.as_str()));
    vec![
        ("Compressed", compressed(before, after, "about ")),
        ("Merged", format!("{} before, {} after", human(before.merged_bytes), human(after.merged_bytes))),
        ("Layers", layers.join(", ")),
        ("Removed", counted(selection.findings.len(), "finding")),
    ]
}
