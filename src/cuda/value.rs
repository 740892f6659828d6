//! What the inventory of an image holds.
//!
//! Files are named by their node in the merged view, packages and objects by their place in the
//! inventory, so that a view or a report turns them into words where it shows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::links::{Links, ObjectId};
use super::packages::Owners;
use crate::base::Warning;
use crate::formats::fatbin::{Compression, GpuKind, Suffix};
use crate::rootfs::NodeId;

/// Everything that is known about the CUDA content of an image, and what it needs to be understood:
/// packages, links between files, frameworks, the base image.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// CUDA toolkits, by root folder.
    pub toolkits: Vec<Toolkit>,
    /// The one of them that `/usr/local/cuda` names.
    pub toolkit: Option<usize>,
    /// CUDA libraries and other libraries with GPU code, by path.
    pub libraries: Vec<Library>,
    /// Libraries by component, largest first.
    pub components: Vec<Component>,
    /// GPU code of the merged view by architecture and kind, largest first.
    pub gpu_code: Vec<GpuCodeSum>,
    /// Files with GPU code that are no libraries: executables, static archives, loose files.
    pub holders: Vec<GpuHolder>,
    /// Sonames that several files have, largest gain first.
    pub duplicates: Vec<Duplicate>,
    /// Libraries that are loaded unless Python packages load their own copies before, by place in `libraries`.
    pub displaced: Vec<Displaced>,
    /// Large files of one content anywhere, largest gain first.
    pub identical: Vec<Identical>,
    /// Frameworks, by name and path.
    pub frameworks: Vec<Framework>,
    /// From the server down to the GPU.
    pub stack: Vec<StackLevel>,
    /// Model files, largest first.
    pub weights: Vec<WeightFile>,
    /// Packages, by manager and name.
    pub packages: Vec<Package>,
    /// Which package each file belongs to.
    pub owners: Owners,
    /// Mentions of tools and libraries in files of the application, by path; each inode once.
    pub mentions: Vec<StringReference>,
    /// Coverage of [`Self::mentions`].
    pub searched: Searched,
    /// The base image, when it was recognised.
    pub base: Option<BaseImage>,
    /// What each byte is for.
    pub classes: ClassBytes,
    /// Which file needs which.
    pub links: Links,
    /// Faults met on the way: files and package databases that could not be read.
    pub warnings: Vec<Warning>,
    /// What is still being looked into, in words; `None` when nothing more will come.
    pub waits_for: Option<String>,
}

/// A file that names tools of the build, headers of CUDA, or shared libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringReference {
    /// The file: no package of the system owns it.
    pub node: NodeId,
    /// The words of [`WORDS`](crate::formats::string_references::WORDS) that it holds, in their order.
    pub words: Vec<&'static str>,
    /// Names of shared libraries, escaped; of an ELF file without those that its dynamic table has.
    pub libraries: Vec<String>,
}

/// Number of application files searched for [`Inventory::mentions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Files, each inode once.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Files of the right kind that were not searched: too large, beyond what is read, or not readable.
    pub left_out: u64,
    /// Of them: scripts and programs, which may start and open anything. One more when the command starts an
    /// archive of Java or Python.
    pub programs_left_out: u64,
    /// Libraries that start programs: they were searched, but not for all tools.
    pub libraries_left_out: u64,
    /// Sources of Python packages that the catalogue knows: they are not searched, what they read stands there.
    pub known: u64,
}

/// Flavour of NVIDIA's CUDA images, and what a toolkit is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flavor {
    /// libcudart and the forward-compatibility driver.
    Base,
    /// And the toolkit's libraries.
    Runtime,
    /// And compilers, headers, static libraries.
    Devel,
    /// No CUDA at all.
    None,
}

/// A CUDA toolkit in the image.
#[derive(Clone, Debug)]
pub struct Toolkit {
    /// Its root, such as `/usr/local/cuda-13.0`; links are resolved.
    pub root: Vec<u8>,
    /// Full version, such as `13.0.2`, from `version.json`, packages or the folder.
    pub version: Option<String>,
    /// Where the version was read.
    pub evidence: String,
    /// Recognised by its files.
    pub flavor: Flavor,
    /// Version of the cuDNN beside it, from the package or the file name.
    pub cudnn_version: Option<String>,
}

/// What a library is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Loaded at run time.
    Runtime,
    /// Only to link against.
    Stub,
    /// Forward-compatibility driver.
    Compat,
}

/// Who brought a library into the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Supplier {
    /// A Python wheel.
    Wheel,
    /// A conda package.
    Conda,
    /// The CUDA toolkit or a package of NVIDIA's repository.
    Toolkit,
    /// The distribution.
    Distro,
    /// The author of the image.
    Application,
}

/// Whether something that runs reaches a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// By resolved NEEDED entries, from a root.
    Needed,
    /// Opened at run time by something that is reached.
    Dlopen,
    /// By nothing that is known.
    #[default]
    Unreferenced,
}

/// Where a version was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VersionSource {
    /// The file's own name, such as `libcublas.so.13.1.0.3`.
    FileName,
    /// The name of a file beside it with the same bytes or a link to it.
    Link,
    /// The package that owns it.
    Package,
    /// A note inside it.
    Note,
}

/// A CUDA library, or another library that holds GPU code.
#[derive(Clone, Debug)]
pub struct Library {
    /// The file.
    pub node: NodeId,
    /// Its links.
    pub object: ObjectId,
    /// The first name of the same inode, for a second one.
    pub hard_link_of: Option<NodeId>,
    /// `DT_SONAME`, escaped.
    pub soname: Option<String>,
    /// Component by the contract's names; `other` for what only holds GPU code.
    pub component: Arc<str>,
    /// Its version and where that was read.
    pub version: Option<(String, VersionSource)>,
    /// CUDA major version it belongs to, with the evidence (package, folder, soname).
    pub cuda_major: Option<(u32, String)>,
    /// What it is for.
    pub role: Role,
    /// Logical bytes; a hard link shows those of its inode.
    pub bytes: u64,
    /// The layer that holds them.
    pub layer: u16,
    /// Who brought it.
    pub supplier: Supplier,
    /// The package that owns it, in [`Inventory::packages`].
    pub package: Option<usize>,
    /// Machine or format that this image's platform does not run, such as `aarch64`; `None` when it fits.
    pub foreign: Option<String>,
    /// Drivers it supports, if it is a forward-compatibility driver.
    pub forward_compat: Option<ForwardCompat>,
    /// GPU code in it.
    pub gpu_code: Vec<GpuCode>,
    /// Container headers and padding: with the code they make up [`Self::gpu_section_bytes`].
    pub overhead_bytes: u64,
    /// Bytes of the sections that hold GPU code only (`.nv_fatbin`, `__nv_relfatbin`), and of the containers
    /// found in others.
    pub gpu_section_bytes: u64,
}

/// The note of a forward-compatibility driver (`.note.cuda.fwd_compatibility`).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct ForwardCompat {
    /// The CUDA version that it brings.
    #[serde(rename = "CUDA version")]
    pub cuda_version: Option<String>,
    /// Branches of the host's driver that it works with.
    pub driver: Vec<u32>,
    /// Classes of devices that it works with, as NVML numbers them.
    pub device: Vec<u32>,
}

/// GPU code of one file, architecture, kind and compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCode {
    /// SM number, such as 90.
    pub arch: u32,
    /// `a` or `f`.
    pub suffix: Option<Suffix>,
    /// What it is.
    pub kind: GpuKind,
    /// Instruction set version of PTX, major and minor.
    pub isa: Option<(u16, u16)>,
    /// How it is stored.
    pub compression: Compression,
    /// Entries.
    pub entries: u64,
    /// How many of them are too small to hold a kernel: linkers leave such entries behind.
    pub without_kernel: u64,
    /// Entry headers and padded payloads.
    pub bytes: u64,
    /// Payloads once unpacked.
    pub uncompressed_bytes: u64,
}

impl GpuCode {
    /// Whether it is code that a GPU can run, judged by its size: SASS with a kernel, or PTX.
    pub fn is_for_running(&self) -> bool {
        match self.kind {
            GpuKind::Sass => self.without_kernel < self.entries,
            GpuKind::Ptx => true,
            _ => false,
        }
    }
}

/// GPU code of the image for one architecture and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCodeSum {
    /// SM number.
    pub arch: u32,
    /// `a` or `f`.
    pub suffix: Option<Suffix>,
    /// What it is.
    pub kind: GpuKind,
    /// Entry headers and padded payloads, each inode once.
    pub bytes: u64,
    /// Payloads once unpacked.
    pub uncompressed_bytes: u64,
    /// Of `bytes`: in shared libraries.
    pub libraries: u64,
    /// In executables.
    pub executables: u64,
    /// In static archives.
    pub archives: u64,
    /// In loose cubin, fatbin, PTX and object files.
    pub files: u64,
}

/// What kind of file holds GPU code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HolderKind {
    /// A shared library.
    Library,
    /// An executable.
    Executable,
    /// A static archive.
    Archive,
    /// A loose cubin, fatbin, PTX or object file.
    File,
}

/// A file with GPU code that is no library.
#[derive(Clone, Debug)]
pub struct GpuHolder {
    /// The file.
    pub node: NodeId,
    /// What it is.
    pub kind: HolderKind,
    /// Its GPU code.
    pub gpu_code: Vec<GpuCode>,
}

/// All libraries of one component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name.
    pub name: Arc<str>,
    /// Bytes, each inode once.
    pub bytes: u64,
    /// Files, hard links not counted.
    pub libraries: usize,
    /// Who brought them.
    pub suppliers: Vec<Supplier>,
}

/// Several files with one soname.
#[derive(Clone, Debug)]
pub struct Duplicate {
    /// The soname, escaped.
    pub soname: String,
    /// The files, in [`Inventory::libraries`], each inode once.
    pub libraries: Vec<usize>,
    /// Whether all have the same bytes; `None` when that was not compared.
    pub identical: Option<bool>,
    /// Bytes of the copies that nothing reaches while another copy for the same CUDA is loaded, and of the
    /// [`Inventory::displaced`] ones.
    pub reclaimable_bytes: u64,
    /// Which copy is loaded by what.
    pub picks: Vec<Pick>,
}

/// A library outside the Python packages that is loaded by Python packages only, and not when the process has loaded
/// their own copy of it before: the first library of a name serves the whole process.
#[derive(Clone, Debug)]
pub struct Displaced {
    /// The library, in [`Inventory::libraries`].
    pub library: usize,
    /// The copy of the Python packages, in [`Inventory::libraries`]; `None` for a library that only displaced ones load.
    pub by: Option<usize>,
    /// What loads that copy, such as `onnxruntime.preload_dlls()` or `importing torch`.
    pub loaders: Vec<String>,
}

/// A copy that the loader takes.
#[derive(Clone, Debug)]
pub struct Pick {
    /// In [`Inventory::libraries`].
    pub library: usize,
    /// The objects that load it.
    pub loaded_by: Vec<ObjectId>,
}

/// Files of one content.
#[derive(Clone, Debug)]
pub struct Identical {
    /// The files, each inode once.
    pub nodes: Vec<NodeId>,
    /// Bytes of each.
    pub bytes: u64,
}

/// How a framework gets its CUDA libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// From wheels (or conda packages) beside it.
    WheelBundled,
    /// From the base image's toolkit.
    BaseImage,
    /// Copied or linked by the author of the image, static linking included.
    ByHand,
    /// From more than one.
    Mixed,
    /// It uses no CUDA.
    None,
    /// Unknown.
    Unknown,
}

/// A framework or service that uses the GPU, or serves one that does.
#[derive(Clone, Debug)]
pub struct Framework {
    /// Its name in the catalogue, such as `torch`.
    pub name: Arc<str>,
    /// Its version, with the local part (`2.9.1+cu128`).
    pub version: Option<String>,
    /// The CUDA version that it was built for.
    pub cuda_version: Option<String>,
    /// How it gets its CUDA libraries.
    pub strategy: Strategy,
    /// Why the strategy is what it is.
    pub evidence: String,
    /// Path.
    pub path: Vec<u8>,
    /// Level in the stack.
    pub level: Level,
    /// The package that it comes from, in [`Inventory::packages`].
    pub package: Option<usize>,
}

/// A level of the stack that GPU work passes through, from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// What answers requests.
    Server,
    /// The model's code and weights.
    Model,
    /// torch, tensorflow and the like.
    Framework,
    /// triton, flash-attn and other kernel libraries.
    Kernels,
    /// cuBLAS, cuDNN and the like.
    Libraries,
    /// libcudart.
    Runtime,
    /// libcuda.
    Driver,
    /// The kernel's module.
    KernelDriver,
    /// The operating system.
    System,
    /// The device.
    Gpu,
}

/// Who supplies a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuppliedBy {
    /// Wheels.
    Wheel,
    /// Conda packages.
    Conda,
    /// The base image or its toolkit.
    BaseImage,
    /// The author of the image.
    ByHand,
    /// Linked into the level above.
    Static,
    /// The machine that the image runs on.
    Host,
    /// Needed, but missing.
    Missing,
    /// Not used by this image.
    NotUsed,
    /// Unknown.
    Unknown,
}

/// One level of the stack.
#[derive(Clone, Debug)]
pub struct StackLevel {
    /// Which.
    pub level: Level,
    /// Contents, such as `uvicorn 0.38.0`.
    pub names: Vec<String>,
    /// Who supplies it, in the order of the names below; never empty.
    pub supplied_by: Vec<SuppliedBy>,
    /// Files of the level.
    pub nodes: Vec<NodeId>,
    /// What the image cannot supply, or what is wrong, in a sentence.
    pub note: Option<String>,
}

/// A file of model weights.
#[derive(Clone, Debug)]
pub struct WeightFile {
    /// The file.
    pub node: NodeId,
    /// Format, such as `safetensors`.
    pub format: Arc<str>,
    /// Logical bytes.
    pub bytes: u64,
}

/// An installed package.
#[derive(Clone, Debug)]
pub struct Package {
    /// dpkg, rpm, apk, pip or conda.
    pub manager: &'static str,
    /// Its name.
    pub name: String,
    /// Its version as the manager writes it.
    pub version: String,
    /// Bytes of its files in the merged view, each inode once; `None` when its list of files is missing.
    pub bytes: Option<u64>,
    /// How many of its files are in the merged view; `None` when its list of files is missing.
    pub files: Option<u64>,
    /// The lowest layer whose database has this version.
    pub layer: u16,
    /// Where it is installed, for pip and conda: the folder that holds its files.
    pub root: Option<Vec<u8>>,
    /// Maker from the database: maintainer, vendor or author.
    pub maker: Option<String>,
    /// Names that it needs, as its database has them: with dpkg names of packages, all of several alternatives.
    pub depends: Vec<String>,
    /// Names of what its manager keeps installed beside it: what it recommends, and with dpkg what it suggests
    /// unless apt is set not to count that.
    pub recommends: Vec<String>,
    /// Names of what it suggests, where that keeps nothing installed.
    pub suggests: Vec<String>,
    /// Names besides its own under which others may need it.
    pub provides: Vec<String>,
    /// What it was built from: the source package of dpkg and rpm, the origin of apk.
    pub source: Option<String>,
    /// Whether its manager never removes it as unneeded.
    pub essential: bool,
    /// The record that it was installed as a dependency and not by name, such as `/var/lib/apt/extended_states`; `None`
    /// without one.
    pub automatic: Option<&'static str>,
}

/// What the image was built on.
#[derive(Clone, Debug)]
pub struct BaseImage {
    /// The reference that it seems to be, such as `nvidia/cuda:13.0.2-cudnn-devel-ubuntu24.04`.
    pub reference: Option<String>,
    /// Flavour of the CUDA image.
    pub flavor: Flavor,
    /// CUDA version.
    pub cuda_version: Option<String>,
    /// cuDNN version.
    pub cudnn_version: Option<String>,
    /// Distribution and release, such as `ubuntu24.04`.
    pub distribution: Option<String>,
    /// How many layers from the bottom belong to it.
    pub layers: usize,
    /// Images that it was built on in turn, the lowest first: the distribution, then flavours of the CUDA image.
    /// Without itself; none when the history does not say where they end.
    pub below: Vec<LowerBase>,
    /// Evidence.
    pub evidence: Vec<String>,
}

/// An image that a base image was built on: its layers are the lowest of this one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerBase {
    /// Its reference, such as `nvidia/cuda:12.9.1-base-ubuntu22.04` or `ubuntu:22.04`; only one that is known to exist.
    pub reference: String,
    /// Flavour of the CUDA image; [`Flavor::None`] for the distribution's own.
    pub flavor: Flavor,
    /// How many layers from the bottom belong to it.
    pub layers: usize,
}

/// What a byte of the image is for. The names are those of `class_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The distribution.
    System,
    /// CUDA at run time.
    CudaRuntime,
    /// CUDA for building.
    CudaDevel,
    /// Frameworks and the packages around them.
    Framework,
    /// Model weights.
    Weights,
    /// What the image is for.
    Application,
}

impl Class {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::System, Self::CudaRuntime, Self::CudaDevel, Self::Framework, Self::Weights, Self::Application];

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::CudaRuntime => "cuda-runtime",
            Self::CudaDevel => "cuda-devel",
            Self::Framework => "framework",
            Self::Weights => "weights",
            Self::Application => "application",
        }
    }
}

/// Bytes by class. Every regular file of every layer has one class, so each layer's bytes add up to its content.
#[derive(Clone, Debug, Default)]
pub struct ClassBytes {
    /// One for each layer, bottom first: content bytes.
    pub layers: Vec<BTreeMap<Class, u64>>,
    /// Of the merged view, each inode once.
    pub merged: BTreeMap<Class, u64>,
}
