//! Kinds of files, what is found in them, and why one cannot be read.

use hashbrown::HashSet;

use super::node::Position;
use crate::base::text::and_more;
use crate::base::words::{json_words, words};
use crate::cuda::compat::Needs;
use crate::findings::Severity;

/// What a file configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `cerebrium.toml`.
    Cerebrium,
    /// An Azure ML environment.
    AzureEnvironment,
    /// An Azure ML online deployment.
    AzureDeployment,
    /// An Azure ML job.
    AzureJob,
    /// Kubernetes manifests.
    Kubernetes,
}

words!(FileKind {
    Cerebrium = "cerebrium",
    AzureEnvironment = "azureml-environment",
    AzureDeployment = "azureml-deployment",
    AzureJob = "azureml-job",
    Kubernetes = "kubernetes",
});

json_words!(FileKind);

impl FileKind {
    /// Name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cerebrium => "Cerebrium configuration",
            Self::AzureEnvironment => "Azure ML environment",
            Self::AzureDeployment => "Azure ML online deployment",
            Self::AzureJob => "Azure ML job",
            Self::Kubernetes => "Kubernetes manifests",
        }
    }
}

/// Rule of a finding in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileRule {
    /// CUDA libraries from two suppliers.
    CudaTwice,
    /// A devel base image.
    DevelBase,
    /// A package calls nvcc, and the base image has none.
    NvccMissing,
    /// A package loads CUDA libraries that nothing supplies.
    CudaMissing,
    /// The image or a package does not run on the GPU.
    GpuNotSupported,
    /// The GPU or machine type is not in the catalogue.
    UnknownMachine,
    /// The platform offers the GPU or machine type no longer.
    RetiredMachine,
    /// CUDA without a GPU.
    NoGpu,
    /// The GPU quantity is invalid.
    GpuQuantity,
    /// The container bypasses the device plugin.
    VisibleDevices,
    /// The loader does not find the driver.
    DriverPath,
    /// `LD_LIBRARY_PATH` of the image is replaced.
    LoaderPath,
    /// No toleration for the taint of GPU nodes.
    Toleration,
    /// Another CPU architecture.
    Architecture,
    /// A required key is missing.
    MissingKey,
    /// Keys that exclude each other.
    KeyConflict,
    /// What the file leaves open.
    NotChecked,
}

words!(FileRule {
    CudaTwice = "cuda-twice",
    DevelBase = "devel-base",
    NvccMissing = "nvcc-missing",
    CudaMissing = "cuda-missing",
    GpuNotSupported = "gpu-not-supported",
    UnknownMachine = "unknown-machine",
    RetiredMachine = "retired-machine",
    NoGpu = "no-gpu",
    GpuQuantity = "gpu-quantity",
    VisibleDevices = "visible-devices",
    DriverPath = "driver-path",
    LoaderPath = "loader-path",
    Toleration = "toleration",
    Architecture = "architecture",
    MissingKey = "missing-key",
    KeyConflict = "key-conflict",
    NotChecked = "not-checked",
});

json_words!(FileRule);

/// Something that does not fit. Texts are plain, and not escaped: shown through
/// [`printable`](crate::base::text::printable).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFinding {
    /// Rule.
    pub rule: FileRule,
    /// Severity.
    pub severity: Severity,
    /// Position in the file.
    pub at: Position,
    /// Path of the key, such as `cerebrium.hardware.compute`.
    pub key: String,
    /// What does not fit, in a sentence or two.
    pub text: String,
    /// Evidence: values of the file, facts of image and catalogue.
    pub evidence: Vec<String>,
    /// What to do about it.
    pub fix: Option<String>,
}

impl FileFinding {
    pub(super) fn new(rule: FileRule, severity: Severity, at: Position, key: &str, text: String) -> Self {
        Self { rule, severity, at, key: key.to_owned(), text, evidence: Vec::new(), fix: None }
    }

    pub(super) fn evidence(mut self, text: impl Into<String>) -> Self {
        self.evidence.push(text.into());
        self
    }

    pub(super) fn fix(self, text: impl Into<String>) -> Self {
        Self { fix: Some(text.into()), ..self }
    }
}

/// Maximum number of names in a text.
const NAMES: usize = 4;

/// Different names as a list: the first [`NAMES`], and how many more there are.
pub(super) fn listed(names: impl IntoIterator<Item = String>) -> String {
    let mut known = HashSet::new();
    let names: Vec<String> = names.into_iter().filter(|name| known.insert(name.clone())).collect();
    let shown = names.get(..NAMES).unwrap_or(&names);
    shown.join(", ") + &and_more(names.len(), shown.len())
}

/// An image that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileImage {
    /// The reference as written.
    pub reference: String,
    /// Its position.
    pub at: Position,
}

/// An image that was read, for the judgement of a file that names it.
pub struct JudgedImage<'a> {
    /// Reference in the file that means this image; `None` for every image of the file.
    pub reference: Option<&'a str>,
    /// What it requires of a machine.
    pub needs: &'a Needs,
    /// Its environment as name and value.
    pub environment: &'a [(String, String)],
}

impl JudgedImage<'_> {
    /// Whether the image of a file is this one.
    pub(super) fn is(&self, reference: &str) -> bool {
        self.reference.is_none_or(|own| own == reference)
    }

    /// The last value of a variable of its environment.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Larger than [`super::FILE_BYTES`].
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("line {line}: not UTF-8")]
    NotText {
        /// Line of the first other byte.
        line: usize,
    },
    /// Broken TOML or YAML.
    #[error("line {}, column {}: {message}", at.line, at.column)]
    Syntax {
        /// Where.
        at: Position,
        /// Message of the parser.
        message: String,
    },
    /// Nested too deeply.
    #[error("line {}, column {}: nested more than {} levels deep", at.line, at.column, super::NESTING)]
    TooDeep {
        /// Where.
        at: Position,
    },
    /// Aliases expand to too much.
    #[error("line {}, column {}: values and aliases exceed {} bytes", at.line, at.column, super::EXPANDED_BYTES)]
    Expanded {
        /// Where.
        at: Position,
    },
    /// Too many documents.
    #[error("line {}: more than {} documents", at.line, super::DOCUMENTS)]
    TooManyDocuments {
        /// Where.
        at: Position,
    },
    /// Of no known kind.
    #[error("not a file of a known platform")]
    Unknown,
}

impl FileError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, Self::Unknown).then_some(
            "known are cerebrium.toml, Azure ML environments, online deployments and jobs, and Kubernetes manifests",
        )
    }

    /// Where it is broken.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::Syntax { at, .. }
            | Self::TooDeep { at }
            | Self::Expanded { at }
            | Self::TooManyDocuments { at } => Some(*at),
            Self::NotText { line } => Some(Position { line: *line, column: 1 }),
            Self::TooLarge { .. } | Self::Unknown => None,
        }
    }
}
