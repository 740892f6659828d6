//! The parts of the report's schema that come from the inventory: packages, CUDA libraries, GPU code, links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary;
use super::words::Word;

/// An installed package.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PackageLine {
    /// dpkg, rpm, apk, pip or conda.
    #[schemars(transform = vocabulary::manager)]
    pub manager: Word,
    /// Its name.
    pub name: String,
    /// Its version as the manager writes it.
    pub version: String,
    /// Bytes of its files in the merged view; null when the list of its files is missing.
    pub bytes: Option<u64>,
    /// Its files in the merged view; null when the list of its files is missing.
    pub files: Option<u64>,
    /// The lowest layer whose database has this version.
    pub layer: u16,
    /// The folder that it is installed in, for pip and conda.
    pub root: Option<String>,
}

/// The image that this one was built on.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BasePart {
    /// What it seems to be.
    pub reference: Option<String>,
    /// base, runtime, devel or none.
    #[schemars(transform = vocabulary::flavor)]
    pub flavor: Word,
    /// CUDA version.
    pub cuda_version: Option<String>,
    /// cuDNN version.
    pub cudnn_version: Option<String>,
    /// Distribution and release.
    pub distribution: Option<String>,
    /// How many layers from the bottom are its own.
    pub layers: usize,
    /// What says so.
    pub evidence: Vec<String>,
}

/// Everything about CUDA.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CudaPart {
    /// The toolkit that `/usr/local/cuda` names.
    pub toolkit: Option<ToolkitLine>,
    /// All toolkits.
    pub toolkits: Vec<ToolkitLine>,
    /// Libraries by path.
    pub libraries: Vec<LibraryLine>,
    /// Sums by component.
    pub components: Vec<ComponentLine>,
    /// Sums by architecture.
    pub gpu_code: Vec<GpuCodeSumLine>,
    /// Sonames that several files have.
    pub duplicates: Vec<DuplicateLine>,
    /// Large files with the same bytes, each inode once.
    pub identical: Vec<IdenticalLine>,
    /// Frameworks.
    pub frameworks: Vec<FrameworkLine>,
    /// From the server down to the GPU.
    pub stack: Vec<StackLine>,
    /// Model files.
    pub weights: Vec<WeightLine>,
    /// NEEDED names that nothing supplies and that are no driver's.
    pub unresolved: Vec<UnresolvedLine>,
}

/// A CUDA toolkit.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ToolkitLine {
    /// Full version, when known.
    pub version: Option<String>,
    /// base, runtime or devel.
    #[schemars(transform = vocabulary::flavor)]
    pub flavor: Word,
    /// Its folder.
    pub root: String,
    /// The cuDNN beside it.
    pub cudnn_version: Option<String>,
    /// Where the version was read.
    pub evidence: String,
}

/// A package by name.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PackageName {
    /// dpkg, rpm, apk, pip or conda.
    #[schemars(transform = vocabulary::manager)]
    pub manager: Word,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A CUDA library, or one that holds GPU code.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LibraryLine {
    /// Absolute path, escaped.
    pub path: String,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// Component.
    pub component: String,
    /// Version, when known.
    pub version: Option<String>,
    /// CUDA major version that it belongs to, when known.
    pub cuda_major: Option<u32>,
    /// runtime, stub or compat.
    #[schemars(transform = vocabulary::role)]
    pub role: Word,
    /// Logical bytes.
    pub bytes: u64,
    /// The layer that holds them.
    pub layer: u16,
    /// The first name of the same inode.
    pub hardlink_of: Option<String>,
    /// wheel, conda, toolkit, distro or application.
    #[schemars(transform = vocabulary::supplier)]
    pub supplier: Word,
    /// The package that owns it.
    pub package: Option<PackageName>,
    /// The machine that it is for, when that is not the image's.
    pub foreign: Option<String>,
    /// What a forward-compatibility driver says of the host's drivers that it works with.
    pub forward_compat: Option<ForwardCompatPart>,
    /// Files whose NEEDED entries lead here, and files that open it.
    pub needed_by: Vec<String>,
    /// needed, dlopen or unreferenced.
    #[schemars(transform = vocabulary::usage)]
    #[serde(rename = "use")]
    pub usage: Word,
    /// From this file up to the one that is started, when something reaches it.
    pub chain: Vec<String>,
    /// GPU code in it.
    pub gpu_code: Vec<GpuCodeLine>,
    /// Container headers and padding.
    pub overhead_bytes: u64,
    /// Bytes of the sections that hold the GPU code, from the section table.
    pub gpu_section_bytes: u64,
}

/// The note of a forward-compatibility driver.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ForwardCompatPart {
    /// The CUDA version that it brings.
    pub cuda_version: Option<String>,
    /// Branches of the host's driver that it works with.
    pub drivers: Vec<u32>,
    /// Classes of devices, as NVML numbers them.
    pub devices: Vec<u32>,
}

/// GPU code of one file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GpuCodeLine {
    /// `sm_90a`, `compute_90`, `lto_90`.
    pub arch: String,
    /// sass, ptx, lto or other.
    #[schemars(transform = vocabulary::code_kind)]
    pub kind: Word,
    /// PTX instruction set version.
    pub isa: Option<String>,
    /// none, lz4, zstd or other.
    #[schemars(transform = vocabulary::code_compression)]
    pub compression: Word,
    /// Entries.
    pub entries: u64,
    /// As stored.
    pub bytes: u64,
    /// Unpacked.
    pub uncompressed_bytes: u64,
}

/// A component.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComponentLine {
    /// Its name.
    pub name: String,
    /// Bytes, each inode once.
    pub bytes: u64,
    /// Files, hard links not counted.
    pub libraries: usize,
    /// Who brought them.
    #[schemars(transform = vocabulary::supplier)]
    pub suppliers: Vec<Word>,
}

/// GPU code of the image.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GpuCodeSumLine {
    /// Architecture.
    pub arch: String,
    /// sass, ptx, lto or other.
    #[schemars(transform = vocabulary::code_kind)]
    pub kind: Word,
    /// As stored.
    pub bytes: u64,
    /// Unpacked.
    pub uncompressed_bytes: u64,
    /// `bytes` by what holds them.
    pub by_holder: ByHolder,
}

/// Bytes by what holds them.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ByHolder {
    /// Shared libraries.
    pub libraries: u64,
    /// Executables.
    pub executables: u64,
    /// Static archives.
    pub archives: u64,
    /// Loose files.
    pub files: u64,
}

/// Files with one soname.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DuplicateLine {
    /// The soname.
    pub soname: String,
    /// The files.
    pub paths: Vec<String>,
    /// Whether they have the same bytes; null when that was not compared.
    pub identical: Option<bool>,
    /// Bytes of the copies that are not loaded, or need not be: Python packages load their own copies before.
    pub reclaimable_bytes: u64,
    /// Which copies NEEDED entries resolve to, and for which files.
    #[serde(alias = "picks")]
    pub resolved_by: Vec<ResolvedLine>,
}

/// A copy that NEEDED entries resolve to.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResolvedLine {
    /// Path of the copy.
    pub path: String,
    /// Files that load it.
    pub loaded_by: Vec<String>,
}

/// Files of one content.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct IdenticalLine {
    /// The files.
    pub paths: Vec<String>,
    /// Bytes of each.
    pub bytes: u64,
}

/// A framework.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FrameworkLine {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The CUDA version that it was built for.
    pub cuda_version: Option<String>,
    /// wheel-bundled, base-image, by-hand, mixed, none or unknown.
    #[schemars(transform = vocabulary::strategy)]
    pub strategy: Word,
    /// Why the strategy is that.
    pub evidence: String,
    /// Where it lies.
    pub path: String,
}

/// A level of the stack.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StackLine {
    /// server, model, framework, kernels, libraries, runtime, driver, kernel-driver, system or gpu.
    #[schemars(transform = vocabulary::level)]
    pub level: Word,
    /// What stands there.
    pub name: String,
    /// Who supplies it; several are joined by commas.
    pub supplied_by: String,
    /// Files that stand for it.
    pub paths: Vec<String>,
    /// What the image cannot supply, or what is wrong.
    pub note: Option<String>,
}

/// A model file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WeightLine {
    /// Where it lies.
    pub path: String,
    /// Its format.
    pub format: String,
    /// Its bytes.
    pub bytes: u64,
}

/// A NEEDED entry that leads nowhere.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct UnresolvedLine {
    /// The file that needs it.
    pub path: String,
    /// The name.
    pub name: String,
}
