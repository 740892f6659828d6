//! Requirements of an image, and the parts of a verdict.

use std::fmt;
use std::sync::Arc;

use crate::base::Platform;
use crate::base::labels::labelled;
use crate::base::words::words;
use crate::cuda::catalog::{Catalog, numbers};
use crate::cuda::{FileContents, GpuCode, Inventory};
use crate::layer::LayerRead;
use crate::rootfs::Merge;
use crate::source::Image;

/// Input for deriving the requirements.
pub struct NeedsInput<'a> {
    /// Manifest and config of the image.
    pub image: &'a Image,
    /// Layers, bottom first; `None` for those without content.
    pub layers: &'a [Option<Arc<LayerRead>>],
    /// File contents read after the layers.
    pub bodies: &'a FileContents,
    /// Merged view of the layers.
    pub merge: &'a Merge,
    /// CUDA inventory of the image.
    pub inventory: &'a Inventory,
    /// Catalogue of facts and rules.
    pub catalog: &'a Catalog,
    /// Whether the whole image was read.
    pub complete: bool,
}

/// A CUDA version; the minor version is `None` if only the major version is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CudaVersion {
    /// Major version, such as 12.
    pub major: u32,
    /// Minor version, such as 8.
    pub minor: Option<u32>,
}

impl CudaVersion {
    /// Parses `12`, `12.8` and `12.8.1`; `None` if the first part is not a number.
    pub fn parse(text: &str) -> Option<Self> {
        let parts = numbers(text.as_bytes());
        parts.first().map(|major| Self { major: *major, minor: parts.get(1).copied() })
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            Some(minor) => write!(f, "{}.{minor}", self.major),
            None => write!(f, "{}", self.major),
        }
    }
}

/// Requirements of an image, independent of a machine. Texts are safe to show: escaped and redacted.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Platform of the image; `None` if missing in its config.
    pub platform: Option<Platform>,
    /// Variables that affect verdicts: `NVIDIA_REQUIRE_*`, `NVIDIA_DISABLE_REQUIRE`, `CUDA_VERSION`,
    /// `NVIDIA_DRIVER_CAPABILITIES`, `NVIDIA_VISIBLE_DEVICES`. The last one of each name, sorted by name.
    pub environment: Vec<(String, String)>,
    /// Whether a file in use loads the driver or a CUDA library, contains GPU code, or was built for a CUDA
    /// version.
    pub uses_cuda: bool,
    /// CUDA versions that files in use were built for, highest first.
    pub versions: Vec<CudaNeed>,
    /// Files with GPU code in use, sorted by path.
    pub code: Vec<CodeFile>,
    /// cuDNN in use.
    pub cudnn: Vec<UsedCudnn>,
    /// Forward-compatibility drivers in the image.
    pub compat: Vec<CompatDriver>,
    /// Driver libraries in the image, except `compat`, that programs load as `libcuda.so.1`.
    pub own_drivers: Vec<OwnDriver>,
    /// Folders on every program's library search path: `LD_LIBRARY_PATH` and the loader configuration.
    pub loader_folders: Vec<LoaderFolder>,
    /// Why the requirements may be incomplete; `None` if everything was read.
    pub incomplete: Option<String>,
}

/// A CUDA version that a file was built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaNeed {
    /// Required version.
    pub version: CudaVersion,
    /// Library, framework or program that requires it, such as `torch 2.9.1+cu128` or `libcudart.so.12`.
    pub who: String,
    /// File or folder with the evidence.
    pub subject: String,
    /// Evidence, in a sentence.
    pub evidence: String,
    /// Whether it is certainly used: loaded from a root without a condition.
    pub firm: bool,
}

/// Weight of a file in the verdict if it has no code for a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weight {
    /// Its code certainly runs: without code for the GPU the image fails.
    Decides,
    /// It is loaded, but its kernels may not run: an extension module that may not be imported, or a library
    /// of a component that some callers do not use.
    MayDecide,
    /// Its caller selects it by GPU and runs without it.
    Optional,
}

/// A file with GPU code in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Absolute path, escaped.
    pub path: String,
    /// Owner: `torch 2.9.1`, `cublas 12.8.4.1`, `the application`.
    pub what: String,
    /// Weight in the verdict.
    pub weight: Weight,
    /// Reason for the weight, in a sentence.
    pub evidence: String,
    /// SM number from which its component is used: on older GPUs its callers have a fallback, so that a file without
    /// code for one of them is [`Weight::Optional`] there, whatever its weight. `None` if unknown.
    pub from_sm: Option<u32>,
    /// Whether it decides for one of several frameworks, of which the image may run only one.
    pub among_frameworks: bool,
    /// Its SASS and PTX.
    pub code: Vec<GpuCode>,
}

/// cuDNN in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedCudnn {
    /// Version, such as `9.10.2`.
    pub version: String,
    /// Path of one of its files.
    pub path: String,
    /// CUDA major version that it was built for; `None` if unknown.
    pub cuda_major: Option<u32>,
    /// Whether it is certainly used.
    pub firm: bool,
}

/// A forward-compatibility driver in the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompatDriver {
    /// Path of its `libcuda.so`.
    pub path: String,
    /// Its CUDA version: from its note, otherwise from the branch in the file name.
    pub cuda: Option<(u32, u32)>,
    /// Its driver branch, from the file name.
    pub branch: Option<u32>,
    /// Supported branches of the host's driver, from its note; `None` without a note.
    pub drivers: Option<Vec<u32>>,
    /// Supported device classes as NVML brand numbers, from its note.
    pub devices: Vec<u32>,
    /// What adds it to every program's search path, such as `ENV LD_LIBRARY_PATH`; `None` if it is not on the
    /// path.
    pub forced_by: Option<String>,
}

/// A driver library in the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnDriver {
    /// Absolute path, escaped.
    pub path: String,
    /// Whether it is a stub, in which every call fails.
    pub stub: bool,
    /// What adds it to the loader's search path.
    pub by: String,
}

/// A folder on the loader's search path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderFolder {
    /// Path as configured, without trailing slashes.
    pub path: String,
    /// `ENV LD_LIBRARY_PATH`, or the configuration file.
    pub by: String,
}

/// Verdict of a compatibility check, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunVerdict {
    /// No known incompatibility.
    #[default]
    Runs,
    /// Runs after JIT compilation of PTX, at the first load.
    RunsWithJit,
    /// Runs with the forward-compatibility driver of the image.
    RunsWithCompat,
    /// Not decidable from the known facts.
    Unknown,
    /// Does not run.
    Fails,
}

words!(RunVerdict {
    Runs = "runs",
    RunsWithJit = "runs-with-jit",
    RunsWithCompat = "runs-with-compat",
    Unknown = "unknown",
    Fails = "fails",
});

labelled!(RunVerdict: TARGET_VERDICTS);

/// Rule of a reason. Reports use the names of [`RuleId::as_str`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleId {
    /// The CPU architecture or operating system of the image.
    Platform,
    /// The image does not use CUDA.
    NoCuda,
    /// A condition of `NVIDIA_REQUIRE_*`.
    Requirement,
    /// `NVIDIA_DRIVER_CAPABILITIES` lacks compute.
    Capabilities,
    /// The loader does not find the driver's folder.
    DriverPath,
    /// A library in the image replaces the driver.
    OwnDriver,
    /// The driver does not support this GPU.
    DriverDropped,
    /// The driver version against the required CUDA version.
    Driver,
    /// The driver is older than the toolkit but has the same major version.
    MinorVersion,
    /// The driver is too old for the image, and whether the image's compatibility driver helps.
    ForwardCompat,
    /// GPU code against the GPU architecture.
    GpuCode,
    /// PTX newer than the driver.
    PtxVersion,
    /// cuDNN against the GPU architecture.
    Cudnn,
    /// A part of the image was not read, or is unknown.
    Incomplete,
}

words!(RuleId {
    Platform = "platform",
    NoCuda = "no-cuda",
    Requirement = "requirement",
    Capabilities = "driver-capabilities",
    DriverPath = "driver-path",
    OwnDriver = "own-driver",
    DriverDropped = "gpu-past-driver",
    Driver = "driver-version",
    MinorVersion = "minor-version-compatibility",
    ForwardCompat = "forward-compatibility",
    GpuCode = "gpu-code",
    PtxVersion = "ptx-version",
    Cudnn = "cudnn",
    Incomplete = "incomplete",
});

impl RuleId {
    /// Source of the rule.
    pub const fn source(self) -> &'static str {
        match self {
            Self::Platform => "OCI image specification, config: architecture",
            Self::NoCuda => "the inventory of the image",
            Self::Requirement => "libnvidia-container, src/dsl.c; nvidia-container-toolkit, constraints",
            Self::Capabilities => "libnvidia-container, src/nvc_info.c",
            Self::DriverPath => {
                "container-engine-accelerators, GPU device plugin: host-path and container-path; ld.so(8)"
            }
            Self::OwnDriver => "CUDA driver API, errors 34 and 803; ld.so(8)",
            Self::DriverDropped => "driver release notes, supported GPUs",
            Self::Driver => "CUDA Toolkit release notes, table of toolkit and driver versions",
            Self::MinorVersion => "docs.nvidia.com/deploy/cuda-compatibility, minor version compatibility",
            Self::ForwardCompat => "docs.nvidia.com/deploy/cuda-compatibility, forward compatibility",
            Self::GpuCode => "CUDA C++ Programming Guide, binary and PTX compatibility",
            Self::PtxVersion => "PTX ISA, release history; CUDA driver API, error 222",
            Self::Cudnn => "cuDNN support matrix",
            Self::Incomplete => "the warnings of the report",
        }
    }
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Verdict of this reason alone.
    pub verdict: RunVerdict,
    /// Rule of this reason.
    pub rule: RuleId,
    /// Explanation, in one sentence or a few.
    pub text: String,
    /// File, package, variable or version concerned.
    pub subject: Option<String>,
    /// CUDA error as code and name, such as 209 and `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    pub error: Option<(u32, &'static str)>,
    /// Advice for the user.
    pub hint: Option<String>,
}

/// Verdict of an image on a machine, with its reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The worst verdict of all reasons.
    pub verdict: RunVerdict,
    /// Text of the first reason with that verdict.
    pub why: String,
    /// All reasons, the worst first; never empty.
    pub reasons: Vec<Reason>,
}
