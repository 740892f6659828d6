//! What the rules find: values for views, reports and plans.
//!
//! Files are named by layer and entry, and by a node of the merged view where a container sees them, so that
//! whoever shows them turns them into paths.

use std::collections::BTreeMap;

use super::rule::Rule;
use crate::base::Warning;
use crate::base::words::words;
use crate::cuda::links::ObjectId;
use crate::layer::EntryId;
use crate::rootfs::NodeId;

/// Whether something can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It can be removed, with the proof.
    Safe,
    /// Whether it can be removed depends on a question that the image does not answer.
    Unsure,
    /// It looks like content for building, and is used at run time here.
    Needed,
}

impl Verdict {
    /// All of them, in the order in which they are shown.
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

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// It breaks the service, leaks a secret, or costs more than anything else.
    High,
    /// It costs much, or breaks the service on some machines.
    Medium,
    /// It costs little.
    Low,
    /// It is good to know.
    Info,
}

words!(Severity {
    High = "high",
    Medium = "medium",
    Low = "low",
    Info = "info",
});

macro_rules! categories {
    ($($variant:ident = $name:literal: $doc:literal,)*) => {
        /// What kind of thing is found. The order is that in which a file is sorted: it has the first that fits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Category {
            $(#[doc = $doc] $variant,)*
        }

        impl Category {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

categories! {
    PackageCaches = "package-caches": "What package managers downloaded and keep.",
    BuildArtifacts = "build-artifacts": "What a build left behind.",
    Stubs = "stubs": "Libraries to link against, without code.",
    StaticLibraries = "static-libraries": "Static libraries.",
    Headers = "headers": "Headers of C, C++ and CUDA.",
    Profilers = "profilers": "Profilers and their libraries.",
    Debuggers = "debuggers": "Debuggers and checkers.",
    Compilers = "compilers": "Compilers, assemblers and linkers: of CUDA, and of C and C++.",
    BuildMetadata = "build-metadata": "What tells build systems where things are.",
    DocsSamples = "docs-samples": "Documentation and samples.",
    BuildTools = "build-tools": "Build systems, code generators, version control.",
    DriverLibraries = "driver-libraries": "Parts of the driver, which the host supplies.",
    Duplicates = "duplicates": "Second copies.",
    UnusedLibraries = "unused-libraries": "Libraries that nothing reaches.",
    Overwritten = "overwritten": "Bytes that a later layer hides.",
    UnusedGpuCode = "unused-gpu-code": "GPU code for other GPUs than those that the image is meant for.",
    Weights = "weights": "Model weights.",
    Secrets = "secrets": "Names that tell of secrets.",
    Configuration = "configuration": "Environment, labels and the base image.",
}

impl Category {
    /// The category with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|category| category.as_str() == name)
    }

    /// Whether its findings have files with bytes of their own. A file has one such category.
    pub fn has_bytes(self) -> bool {
        self <= Self::Overwritten
    }

    /// Whether it is content for building: what the budget `devel_bytes` counts.
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

/// A regular file of a layer that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The layer that holds its bytes.
    pub layer: u16,
    /// The entry in that layer.
    pub entry: EntryId,
    /// A path of the merged view that shows it; `None` when a later layer hides it.
    pub node: Option<NodeId>,
    /// Its logical bytes.
    pub bytes: u64,
}

/// What of a finding lies in one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The layer.
    pub layer: u16,
    /// Bytes of its files there.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
    /// Of `bytes`: what a container sees. The rest is hidden by a later layer already.
    pub merged_bytes: u64,
}

/// What uses something at run time, or names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum User {
    /// A program or library of the image that loads it, with its way to a root in [`crate::cuda::links::Links`].
    Object(ObjectId),
    /// A framework or package, such as `triton 3.5.1`, and where it lies.
    Package(String, Vec<u8>),
    /// A file of the application that names it.
    File(NodeId),
    /// A setting of the image, such as `ENV XLA_FLAGS`, without its value.
    Setting(String),
}

/// One thing that a rule has found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What tells it from all others of the image: the rule, the verdict, and a word when that is not enough.
    /// The same image gives the same ids.
    pub id: String,
    /// The rule.
    pub rule: &'static Rule,
    /// How much it matters here.
    pub severity: Severity,
    /// Whether it can go. For what has no files of its own: `Safe` when it is certainly wrong or superfluous.
    pub verdict: Verdict,
    /// What kind of thing it is.
    pub category: Category,
    /// One line: what and where.
    pub title: String,
    /// Why the verdict is what it is, in sentences.
    pub reason: String,
    /// The single statements that the verdict rests on.
    pub proof: Vec<String>,
    /// For `Unsure`: the question that would settle it.
    pub question: Option<String>,
    /// What to do.
    pub fix: String,
    /// Its files, each inode once, by layer and entry.
    pub items: Vec<Item>,
    /// Sum of their bytes: what the layers lose when they are not put in.
    pub bytes: u64,
    /// Of `bytes`: what the unpacked image loses.
    pub merged_bytes: u64,
    /// The same by layer, bottom first.
    pub layers: Vec<Share>,
    /// Things without bytes of their own: names of variables, libraries that are missing.
    pub subjects: Vec<String>,
    /// Owners of the files, as places in [`crate::cuda::Inventory::packages`]; sorted.
    pub packages: Vec<usize>,
    /// Who uses or names it.
    pub users: Vec<User>,
    /// Bytes that nobody can cut today, such as GPU code inside linked libraries.
    pub potential_bytes: u64,
    /// Ids of other findings: this one holds only when all of those are carried out; sorted.
    pub rests_on: Vec<String>,
}

/// What can be gained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reclaimable {
    /// Bytes of the findings with the verdict `Safe`.
    pub safe_bytes: u64,
    /// Bytes of those with `Unsure`.
    pub unsure_bytes: u64,
    /// What no tool can cut from a linked library today.
    pub potential_bytes: u64,
    /// `safe` and `unsure` bytes by category; only those with bytes.
    pub by_category: BTreeMap<Category, u64>,
}

/// Everything that the rules found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// By verdict, then most bytes first, then severity and id.
    pub list: Vec<Finding>,
    /// What can be gained.
    pub reclaimable: Reclaimable,
    /// Of the bytes that each layer hides: those whose new content is the same. `None` while some pairs were
    /// not compared.
    pub metadata_only: Vec<Option<u64>>,
    /// What went wrong while the rules looked.
    pub warnings: Vec<Warning>,
}

impl Findings {
    /// The finding with this id.
    pub fn find(&self, id: &str) -> Option<&Finding> {
        self.list.iter().find(|finding| finding.id == id)
    }
}
