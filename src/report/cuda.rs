//! Parts of the report's schema from the inventory: packages, CUDA libraries, GPU code, links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::library::LibraryLine;
use super::vocabulary;
use super::words::Word;

/// An installed package.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PackageLine {
    /// dpkg, rpm, apk, pip or conda.
    #[schemars(transform = vocabulary::manager)]
    pub manager: Word,
    /// Name.
    pub name: String,
    /// Version as written by the package manager.
    pub version: String,
    /// Bytes of its files in the merged view; null if its file list is missing.
    pub bytes: Option<u64>,
    /// Files in the merged view; null if its file list is missing.
    pub files: Option<u64>,
    /// The lowest layer whose database has this version.
    pub layer: u16,
    /// Installation folder, for pip and conda.
    pub root: Option<String>,
}

/// The base image.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BasePart {
    /// Probable reference.
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
    /// Number of its layers, from the bottom.
    pub layers: usize,
    /// Evidence.
    pub evidence: Vec<String>,
}

/// Everything about CUDA.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CudaPart {
    /// The toolkit named by `/usr/local/cuda`.
    pub toolkit: Option<ToolkitLine>,
    /// All toolkits.
    pub toolkits: Vec<ToolkitLine>,
    /// Libraries by path.
    pub libraries: Vec<LibraryLine>,
    /// Sums by component.
    pub components: Vec<ComponentLine>,
    /// Sums by architecture.
    pub gpu_code: Vec<GpuCodeSumLine>,
    /// Sonames of several files.
    pub duplicates: Vec<DuplicateLine>,
    /// Identical large files, each inode once.
    pub identical: Vec<IdenticalLine>,
    /// Frameworks.
    pub frameworks: Vec<FrameworkLine>,
    /// From the server down to the GPU.
    pub stack: Vec<StackLine>,
    /// Model files.
    pub weights: Vec<WeightLine>,
    /// NEEDED entries that resolve to nothing and are not driver libraries.
    pub unresolved: Vec<UnresolvedLine>,
}

/// A CUDA toolkit.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ToolkitLine {
    /// Full version, if known.
    pub version: Option<String>,
    /// base, runtime or devel.
    #[schemars(transform = vocabulary::flavor)]
    pub flavor: Word,
    /// Folder.
    pub root: String,
    /// cuDNN version beside it.
    pub cudnn_version: Option<String>,
    /// Source of the version.
    pub evidence: String,
}

/// A CUDA component.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComponentLine {
    /// Name.
    pub name: String,
    /// Bytes, each inode once.
    pub bytes: u64,
    /// Number of files, without hard links.
    pub libraries: usize,
    /// Suppliers.
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
    /// Stored bytes.
    pub bytes: u64,
    /// Decompressed bytes.
    pub uncompressed_bytes: u64,
    /// `bytes` by kind of file.
    pub by_holder: ByHolder,
}

/// Bytes by kind of file.
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

/// Files with the same soname.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DuplicateLine {
    /// Soname.
    pub soname: String,
    /// Paths.
    pub paths: Vec<String>,
    /// Whether their contents are identical; null if not compared.
    pub identical: Option<bool>,
    /// Bytes of copies that are not loaded, or need not be: Python packages load their own copies first.
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

/// Identical files.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct IdenticalLine {
    /// Paths.
    pub paths: Vec<String>,
    /// Bytes of each.
    pub bytes: u64,
}

/// A framework.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FrameworkLine {
    /// Name.
    pub name: String,
    /// Version.
    pub version: Option<String>,
    /// CUDA version it is built for.
    pub cuda_version: Option<String>,
    /// wheel-bundled, base-image, by-hand, mixed, none or unknown.
    #[schemars(transform = vocabulary::strategy)]
    pub strategy: Word,
    /// Evidence of the strategy.
    pub evidence: String,
    /// Path.
    pub path: String,
}

/// A level of the stack.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StackLine {
    /// server, model, framework, kernels, libraries, runtime, driver, kernel-driver, system or gpu.
    #[schemars(transform = vocabulary::level)]
    pub level: Word,
    /// Contents.
    pub name: String,
    /// Suppliers, joined by commas.
    pub supplied_by: String,
    /// Files of the level.
    pub paths: Vec<String>,
    /// What the image does not supply, or what is wrong.
    pub note: Option<String>,
}

/// A model file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WeightLine {
    /// Path.
    pub path: String,
    /// Format.
    pub format: String,
    /// Size.
    pub bytes: u64,
}

/// An unresolved NEEDED entry.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct UnresolvedLine {
    /// File with the entry.
    pub path: String,
    /// Name in the entry.
    pub name: String,
}
