//! What an image needs of a machine, and what a verdict is made of.

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

/// What needs are read from.
pub struct NeedsInput<'a> {
    /// Config of the image.
    pub image: &'a Image,
    /// Layers as they were read, bottom first; `None` for those without bytes.
    pub layers: &'a [Option<Arc<LayerRead>>],
    /// What was read of bodies after the layers.
    pub bodies: &'a FileContents,
    /// The merged view.
    pub merge: &'a Merge,
    /// What is known of the CUDA content.
    pub inventory: &'a Inventory,
    /// The rules that are data.
    pub catalog: &'a Catalog,
    /// Whether all of the image could be read.
    pub complete: bool,
}

/// A CUDA version; the minor is `None` where only the major is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CudaVersion {
    /// Such as 12.
    pub major: u32,
    /// Such as 8.
    pub minor: Option<u32>,
}

impl CudaVersion {
    /// Reads `12`, `12.8` and `12.8.1`; `None` when the first part is no number.
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

/// What an image needs of a machine, without the machine. Texts are safe to show: escaped and redacted.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// What the image is made for; `None` when its config does not say.
    pub platform: Option<Platform>,
    /// Variables that decide: `NVIDIA_REQUIRE_*`, `NVIDIA_DISABLE_REQUIRE`, `CUDA_VERSION`,
    /// `NVIDIA_DRIVER_CAPABILITIES`, `NVIDIA_VISIBLE_DEVICES`; the last of a name only, values as they are.
    pub environment: Vec<(String, String)>,
    /// Whether anything that is used loads CUDA: the driver, the runtime, or GPU code.
    pub uses_cuda: bool,
    /// CUDA versions that something in use was built for, highest first.
    pub versions: Vec<CudaNeed>,
    /// Files with GPU code that something in use reaches, by path.
    pub code: Vec<CodeFile>,
    /// cuDNN in use.
    pub cudnn: Vec<UsedCudnn>,
    /// Forward-compatibility drivers in the image.
    pub compat: Vec<CompatDriver>,
    /// Driver libraries in the image, without those of `compat`, that a program would load for `libcuda.so.1`.
    pub own_drivers: Vec<OwnDriver>,
    /// Folders that every program's loader looks into: `LD_LIBRARY_PATH` and the loader's configuration.
    pub loader_folders: Vec<LoaderFolder>,
    /// Why more may be needed than is known here; `None` when everything was read.
    pub incomplete: Option<String>,
}

/// A CUDA version that something was built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaNeed {
    /// The version.
    pub version: CudaVersion,
    /// Who needs it, such as `torch 2.9.1+cu128` or `libcudart.so.12`.
    pub who: String,
    /// File or package that states it.
    pub subject: String,
    /// What it was read from, in a sentence.
    pub evidence: String,
    /// Whether it is used for certain: a root reaches it without a choice.
    pub firm: bool,
}

/// How much a file without code for a GPU decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weight {
    /// What it holds is started when the image runs: without code nothing works.
    Decides,
    /// It is loaded, and whether its kernels are started is not known: an extension module that code may or may
    /// not import, a library of a component that not everybody calls.
    MayDecide,
    /// Its caller asks the GPU first and does without.
    Optional,
}

/// A file with GPU code that something in use reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Its path.
    pub path: String,
    /// Whose it is: `torch 2.9.1`, `cublas 12.8.4.1`, `the application`.
    pub what: String,
    /// What it decides.
    pub weight: Weight,
    /// Why it has that weight, in a sentence.
    pub evidence: String,
    /// SM number from which its component is used: on older GPUs its callers have a fallback, so that a file without
    /// code for one of them is [`Weight::Optional`] there, whatever its weight. `None` if unknown.
    pub from_sm: Option<u32>,
    /// Whether it decides for one of several frameworks: which of them the image runs is not known.
    pub among_frameworks: bool,
    /// SASS and PTX in it.
    pub code: Vec<GpuCode>,
}

/// cuDNN in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedCudnn {
    /// Its version, such as `9.10.2`.
    pub version: String,
    /// A file of it.
    pub path: String,
    /// The major version of CUDA that it was built for.
    pub cuda_major: Option<u32>,
    /// Whether it is used for certain.
    pub firm: bool,
}

/// A forward-compatibility driver in the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompatDriver {
    /// Its `libcuda.so`.
    pub path: String,
    /// The CUDA version that it brings: by its note, else by the branch in its name.
    pub cuda: Option<(u32, u32)>,
    /// Its own branch, by the file name.
    pub branch: Option<u32>,
    /// Branches of the host's driver that it works with, by its note; `None` without a note.
    pub drivers: Option<Vec<u32>>,
    /// Classes of devices, as NVML numbers brands, by its note.
    pub devices: Vec<u32>,
    /// What puts it on every program's loader path, such as `ENV LD_LIBRARY_PATH`; `None` when nothing does.
    pub forced_by: Option<String>,
}

/// A driver library in the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnDriver {
    /// Its path.
    pub path: String,
    /// Whether it is a stub, which no call into works.
    pub stub: bool,
    /// What puts it on the loader's path.
    pub by: String,
}

/// A folder that the loader looks into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderFolder {
    /// The folder, as it is written, without a slash at its end.
    pub path: String,
    /// `ENV LD_LIBRARY_PATH`, or the file that names it.
    pub by: String,
}

/// Whether an image runs, from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunVerdict {
    /// Nothing speaks against it.
    #[default]
    Runs,
    /// The driver compiles PTX when it is loaded first.
    RunsWithJit,
    /// The forward-compatibility driver in the image is needed.
    RunsWithCompat,
    /// Unknown.
    Unknown,
    /// It does not.
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

/// Which rule a reason comes from. The names in reports are those of [`RuleId::as_str`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleId {
    /// The image is for another processor.
    Platform,
    /// The image does not use CUDA.
    NoCuda,
    /// `NVIDIA_REQUIRE_*` is not fulfilled.
    Requirement,
    /// `NVIDIA_DRIVER_CAPABILITIES` lacks compute.
    Capabilities,
    /// The loader does not find the driver's folder.
    DriverPath,
    /// A library in the image replaces the driver.
    OwnDriver,
    /// The driver does not drive this GPU.
    DriverDropped,
    /// The driver against the CUDA version: new enough as it is.
    Driver,
    /// The driver is older than the toolkit, and of the same major version.
    MinorVersion,
    /// The driver is too old, and the image's compatibility driver helps, or does not.
    ForwardCompat,
    /// GPU code for this GPU.
    GpuCode,
    /// PTX that is newer than the driver.
    PtxVersion,
    /// cuDNN against the GPU.
    Cudnn,
    /// Something could not be read or is not known.
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
    /// Where the rule is written down.
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

/// One thing that speaks for or against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What would follow from it alone.
    pub verdict: RunVerdict,
    /// The rule.
    pub rule: RuleId,
    /// In one sentence.
    pub text: String,
    /// The file, package, variable or version that it is about.
    pub subject: Option<String>,
    /// CUDA error: code and name, such as 209 and `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    pub error: Option<(u32, &'static str)>,
    /// What would change it.
    pub hint: Option<String>,
}

/// Whether an image runs on a machine, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The worst of the reasons.
    pub verdict: RunVerdict,
    /// The first of the reasons that the verdict comes from.
    pub why: String,
    /// All reasons, the worst first; never empty.
    pub reasons: Vec<Reason>,
}
