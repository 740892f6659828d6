//! Findings as values for views, reports and plans.
//!
//! Files are identified by layer and entry, and by a node of the merged view when a container sees them; callers turn
//! them into paths.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::base::Warning;
use crate::base::labels::labelled;
use crate::base::words::{json_words, words};
use crate::cuda::links::ObjectId;
use crate::layer::EntryId;
use crate::rootfs::NodeId;

/// Whether a finding is removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Removable, with a proof.
    Safe,
    /// Needs review: it depends on a question that the image does not answer.
    Unsure,
    /// Required at run time: it looks like build content, but something uses it.
    Needed,
}

impl Verdict {
    /// All verdicts, in display order.
    pub const ALL: [Self; 3] = [Self::Safe, Self::Unsure, Self::Needed];

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsure => "unsure",
            Self::Needed => "needed",
        }
    }
}

labelled!(Verdict: VERDICTS);

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Breaks the service, leaks a secret, or costs the most.
    High,
    /// Costs much, or breaks the service on some machines.
    Medium,
    /// Costs little.
    Low,
    /// Information.
    Info,
}

words!(Severity {
    High = "high",
    Medium = "medium",
    Low = "low",
    Info = "info",
});

labelled!(Severity: SEVERITIES);

macro_rules! categories {
    ($($variant:ident = $name:literal: $doc:literal,)*) => {
        /// The category of a finding. A file belongs to the first one that matches.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Category {
            $(#[doc = $doc] $variant,)*
        }

        impl Category {
            /// All categories, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

categories! {
    PackageCaches = "package-caches": "Download caches of package managers.",
    BuildArtifacts = "build-artifacts": "Files left by a build.",
    Stubs = "stubs": "Stub libraries: for linking only, without code.",
    StaticLibraries = "static-libraries": "Static libraries.",
    Headers = "headers": "C, C++ and CUDA headers.",
    Profilers = "profilers": "Profilers and their libraries.",
    Debuggers = "debuggers": "Debuggers and memory checkers.",
    Compilers = "compilers": "Compilers, assemblers and linkers: CUDA, C and C++.",
    BuildMetadata = "build-metadata": "Build system metadata, such as pkg-config and cmake packages.",
    DocsSamples = "docs-samples": "Documentation and samples.",
    BuildTools = "build-tools": "Build systems, code generators, version control.",
    DriverLibraries = "driver-libraries": "Driver files, which the host supplies.",
    Duplicates = "duplicates": "Duplicate files.",
    UnusedLibraries = "unused-libraries": "Unreferenced libraries.",
    Overwritten = "overwritten": "Files shadowed by an upper layer.",
    UnusedGpuCode = "unused-gpu-code": "GPU code that no target uses.",
    Weights = "weights": "Model weights.",
    Secrets = "secrets": "Names that indicate secrets.",
    Configuration = "configuration": "Environment, labels and the base image.",
}

labelled!(Category: CATEGORIES);
json_words!(Category);

impl Category {
    /// The category with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|category| category.as_str() == name)
    }

    /// Whether its findings have files with bytes of their own. A file has one such category.
    pub fn has_bytes(self) -> bool {
        self <= Self::Overwritten
    }

    /// Whether it is build content, which the budget `devel_bytes` counts.
    pub fn is_devel(self) -> bool {
        matches!(
            self,
            Self::Stubs
                | Self::StaticLibraries
                | Self::Headers
                | Self::Profilers
                | Self::Debuggers
                | Self::Compilers
                | Self::BuildMetadata
                | Self::DocsSamples
                | Self::BuildTools
        )
    }
}

/// A rule; its detection is in [`super::rules`].
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// Its stable name, as in reports and `cutaway.toml`.
    pub id: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// The category of its findings.
    pub category: Category,
    /// The default severity.
    pub severity: Severity,
    /// The default fix, in one sentence.
    pub fix: &'static str,
    /// Its manual page, in Markdown: `assets/manual/rules/ID.md`.
    pub page: &'static str,
}

impl Rule {
    /// What it detects: the first section of its page.
    pub fn detects(&self) -> &'static str {
        self.page
            .split("\n## ")
            .nth(1)
            .and_then(|text| text.split_once("\n\n"))
            .map_or("", |(_, text)| text.trim())
    }
}

/// A regular file of a layer, part of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The layer that stores its bytes.
    pub layer: u16,
    /// The entry in that layer.
    pub entry: EntryId,
    /// A path of the merged view with its content; `None` when shadowed by an upper layer.
    pub node: Option<NodeId>,
    /// Its logical bytes.
    pub bytes: u64,
}

/// The part of a finding in one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The layer.
    pub layer: u16,
    /// Bytes of its files there.
    pub bytes: u64,
    /// Number of these files.
    pub files: u64,
    /// Of `bytes`: visible in a container. The rest is shadowed by an upper layer.
    pub merged_bytes: u64,
}

/// A user of a file at run time, or a mention of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum User {
    /// A program or library of the image that loads it; its chain to a root is in [`crate::cuda::links::Links`].
    Object(ObjectId),
    /// A framework or package, such as `triton 3.5.1`, and its path.
    Package(String, Vec<u8>),
    /// An application file that mentions it.
    File(NodeId),
    /// A setting of the image, such as `ENV XLA_FLAGS`, without its value.
    Setting(String),
}

/// A finding of a rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Unique id within the image: the rule, the verdict, and a number when there are several. The same image gives the
    /// same ids.
    pub id: String,
    /// The rule that created it.
    pub rule: &'static Rule,
    /// Its severity, which may differ from that of its rule.
    pub severity: Severity,
    /// The verdict. A finding without files is `Safe` when it is certainly wrong or superfluous.
    pub verdict: Verdict,
    /// Its category, which may differ from that of its rule.
    pub category: Category,
    /// One line: what, and in which layer or folder.
    pub title: String,
    /// The reason for the verdict, in sentences.
    pub reason: String,
    /// The statements that prove the verdict.
    pub proof: Vec<String>,
    /// For `Unsure`: the question to answer.
    pub question: Option<String>,
    /// Who may need the files, and why, sorted; empty if the question is about something else, too. Programs that were
    /// not searched have no user.
    pub readers: Vec<(Option<User>, String)>,
    /// Its own files, and files that only those read, that are among the readers of other findings, sorted: where its
    /// files are removed, they read nothing.
    pub reading: Vec<NodeId>,
    /// What to do.
    pub fix: String,
    /// Its files, each inode once, by layer and entry.
    pub items: Vec<Item>,
    /// Sum of their bytes: saved in the layers when the files are never added.
    pub bytes: u64,
    /// Of `bytes`: saved in the merged view.
    pub merged_bytes: u64,
    /// By layer, bottom first.
    pub layers: Vec<Share>,
    /// Subjects without bytes of their own: names of variables, missing libraries.
    pub subjects: Vec<String>,
    /// Owners of the files, as indexes in [`crate::cuda::Inventory::packages`]; sorted.
    pub packages: Vec<usize>,
    /// Users and mentions.
    pub users: Vec<User>,
    /// Bytes inside files that stay: GPU code that `slim` removes for the targets. Never part of `bytes`.
    pub potential_bytes: u64,
    /// By so much compressed layers shrink without them, estimated; `None` if unknown.
    pub potential_compressed_bytes: Option<u64>,
    /// Ids of other findings: this one is removable only together with all of them; sorted.
    pub rests_on: Vec<String>,
}

/// Reclaimable bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reclaimable {
    /// Bytes of the findings with the verdict `Safe`.
    pub safe_bytes: u64,
    /// Bytes of those with `Unsure`.
    pub unsure_bytes: u64,
    /// Bytes inside files that stay: GPU code that `slim` removes for the targets.
    pub potential_bytes: u64,
    /// `Safe` and `Unsure` bytes by category, without categories that have none.
    pub by_category: BTreeMap<Category, u64>,
}

/// All findings of an image.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Sorted by verdict, then bytes (largest first), then severity and id.
    pub list: Vec<Finding>,
    /// Reclaimable bytes.
    pub reclaimable: Reclaimable,
    /// By layer: of the bytes that it shadows, those whose new content is the same. `None` while some pairs have not
    /// been compared.
    pub metadata_only: Vec<Option<u64>>,
    /// Faults while the rules ran.
    pub warnings: Vec<Warning>,
    /// See [`Findings::by_file`].
    pub files: Computed<FilesOfFindings>,
}

/// What is computed when first asked for. A copy may be changed, so it begins without.
#[derive(Debug)]
pub struct Computed<T>(OnceLock<Arc<T>>);

impl<T> Default for Computed<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Computed<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What all findings about each file come to: sorted by entry, for each layer.
#[derive(Debug, Default)]
pub struct FilesOfFindings {
    layers: Vec<Vec<(EntryId, FileFindings)>>,
}

impl FilesOfFindings {
    fn new(list: &[Finding]) -> Self {
        let mut layers: Vec<Vec<(EntryId, FileFindings)>> = Vec::new();
        for finding in list {
            for item in &finding.items {
                let layer = usize::from(item.layer);
                if layers.len() <= layer {
                    layers.resize_with(layer + 1, Vec::new);
                }
                layers[layer].push((item.entry, FileFindings::of(finding)));
            }
        }
        for files in &mut layers {
            files.sort_by_key(|(entry, _)| *entry);
            files.dedup_by(|(entry, more), (kept, all)| {
                let same = entry == kept;
                if same {
                    all.add(*more);
                }
                same
            });
            files.shrink_to_fit();
        }
        Self { layers }
    }

    /// What the findings about the file of an entry come to; `None` without any.
    pub fn get(&self, layer: u16, entry: EntryId) -> Option<FileFindings> {
        let files = self.layers.get(usize::from(layer))?;
        let place = files.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        Some(files[place].1)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = FileFindings> {
        self.layers.iter().flatten().map(|(_, all)| *all)
    }
}

/// What all findings about one file come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFindings {
    /// The highest severity.
    pub severity: Severity,
    /// The verdict that keeps most.
    pub verdict: Verdict,
    /// Number of findings.
    pub count: u16,
}

impl FileFindings {
    /// Further findings.
    fn add(&mut self, more: Self) {
        // Both begin with the highest severity, and with what is removable.
        self.severity = self.severity.min(more.severity);
        self.verdict = self.verdict.max(more.verdict);
        self.count = self.count.saturating_add(more.count);
    }

    fn of(finding: &Finding) -> Self {
        Self { severity: finding.severity, verdict: finding.verdict, count: 1 }
    }

    /// The severity in words: `High severity`, `High severity, in 3 findings`.
    pub fn words(&self) -> String {
        let severity = self.severity.label();
        match self.count {
            0 | 1 => format!("{severity} severity"),
            count => format!("{severity} severity, in {count} findings"),
        }
    }
}

impl Findings {
    /// By the layer and entry of each file that is part of findings: what they come to. A file may be part of several; it
    /// has one severity and one verdict everywhere.
    ///
    /// Computed by the first call, which takes a third of a second for a million files, and shared by all. An
    /// [`AnalysisJob`](crate::analysis::AnalysisJob) makes that call, so that no frame of the window does.
    pub fn by_file(&self) -> &Arc<FilesOfFindings> {
        self.files.0.get_or_init(|| Arc::new(FilesOfFindings::new(&self.list)))
    }

    /// What the findings with these ids come to for a file that is part of all of them; `None` without one.
    pub fn together<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Option<FileFindings> {
        let mut found = ids.filter_map(|id| self.find(id));
        let first = FileFindings::of(found.next()?);
        Some(found.fold(first, |mut all, finding| {
            all.add(FileFindings::of(finding));
            all
        }))
    }

    /// The finding with this id.
    pub fn find(&self, id: &str) -> Option<&Finding> {
        self.list.iter().find(|finding| finding.id == id)
    }
}
