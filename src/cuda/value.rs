//! Data types of the inventory.
//!
//! Files are referenced by their node in the merged view, packages and objects by their index in the
//! inventory; views and reports convert them to text.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::development::{DevelopmentPackages, PackageManagers};
use super::links::{Links, ObjectId};
use super::packages::Owners;
use crate::base::Warning;
mod software;

pub use crate::formats::fatbin::Row as GpuCode;
use crate::formats::fatbin::{ContainerFacts, GpuKind, Suffix};
use crate::layer::EntryId;
use crate::rootfs::NodeId;
pub use software::{
    BaseImage, Framework, Level, LowerBase, Package, StackLevel, Strategy, SuppliedBy, WeightFile,
};

/// CUDA content of an image with its context: packages, links between files, frameworks, the base image.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// CUDA toolkits, sorted by root folder.
    pub toolkits: Vec<Toolkit>,
    /// Index of the toolkit at `/usr/local/cuda`.
    pub toolkit: Option<usize>,
    /// CUDA libraries and other libraries with GPU code, sorted by path.
    pub libraries: Vec<Library>,
    /// Sums of `libraries` by component, largest first.
    pub components: Vec<Component>,
    /// GPU code of the merged view by architecture and kind, largest first.
    pub gpu_code: Vec<GpuCodeSum>,
    /// Files with GPU code that are not libraries: executables, static archives, loose files.
    pub holders: Vec<GpuHolder>,
    /// Libraries with the same soname, the largest saving first.
    pub duplicates: Vec<Duplicate>,
    /// Libraries that are loaded only if Python packages have not loaded their own copies before.
    pub displaced: Vec<Displaced>,
    /// Large files with identical content, the largest saving first.
    pub identical: Vec<Identical>,
    /// Frameworks, sorted by name and path.
    pub frameworks: Vec<Framework>,
    /// Software stack, from the server to the GPU.
    pub stack: Vec<StackLevel>,
    /// Model files, largest first.
    pub weights: Vec<WeightFile>,
    /// Packages, sorted by manager and name.
    pub packages: Vec<Package>,
    /// The owning package of each file.
    pub owners: Owners,
    /// Packages for the development of projects.
    pub development: Vec<DevelopmentPackages>,
    /// Package managers of Python, by packages folder.
    pub managers: Vec<PackageManagers>,
    /// References to tools and libraries in application files, sorted by path; each inode once.
    pub mentions: Vec<StringReference>,
    /// Coverage of [`Self::mentions`].
    pub searched: Searched,
    /// The base image; `None` if not recognised.
    pub base: Option<BaseImage>,
    /// Bytes by class.
    pub classes: ClassBytes,
    /// Dependencies between ELF files.
    pub links: Links,
    /// Warnings, such as unreadable files and package databases.
    pub warnings: Vec<Warning>,
    /// Description of the analysis still running; `None` if the inventory is final.
    pub waits_for: Option<String>,
}

/// A file that refers to build tools, CUDA headers or shared libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringReference {
    /// A file of the application or of an unknown package.
    pub node: NodeId,
    /// The words of [`WORDS`](crate::formats::string_references::WORDS) that it contains, in that order.
    pub words: Vec<&'static str>,
    /// Names of shared libraries, escaped; for an ELF file without those in its dynamic section.
    pub libraries: Vec<String>,
    /// Names of programs that a text of the application starts.
    pub programs: Vec<String>,
    /// Whether it is of a Python package other than the application.
    pub of_package: bool,
}

/// Number of application files searched for [`Inventory::mentions`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Number of files, each inode once.
    pub files: u64,
    /// Total size, in bytes.
    pub bytes: u64,
    /// Files that were not searched, or not completely: too large, beyond the limits, unreadable, or with
    /// commands that are unknown before run time.
    pub left_out: u64,
    /// Those of `left_out` that are scripts or programs, which may start and open any file. Plus one if the
    /// command starts a Java or Python archive.
    pub programs_left_out: u64,
    /// The first of `programs_left_out`.
    pub programs: Vec<NodeId>,
    /// Libraries that start programs: searched, but not for all tools.
    pub libraries_left_out: u64,
    /// The first of them.
    pub libraries: Vec<NodeId>,
    /// Sources of Python packages that the catalogue knows: searched for git alone, since the catalogue lists what they
    /// read.
    pub known: u64,
}

/// Flavor of NVIDIA's CUDA images, also used for toolkits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flavor {
    /// libcudart and the forward-compatibility driver.
    Base,
    /// As `Base`, with the toolkit's libraries.
    Runtime,
    /// As `Runtime`, with compilers, headers and static libraries.
    Devel,
    /// No CUDA.
    None,
}

/// A CUDA toolkit in the image.
#[derive(Clone, Debug)]
pub struct Toolkit {
    /// Root folder, such as `/usr/local/cuda-13.0`; symbolic links are resolved.
    pub root: Vec<u8>,
    /// Version, such as `13.0.2`, from `version.json`, packages or the folder name; `None` if unknown.
    pub version: Option<String>,
    /// Source of the version.
    pub evidence: String,
    /// Flavor, derived from its files.
    pub flavor: Flavor,
    /// Version of the system's cuDNN for the same or an unknown CUDA major version, from package or file
    /// name.
    pub cudnn_version: Option<String>,
}

/// Role of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Loaded at run time.
    Runtime,
    /// Only for linking.
    Stub,
    /// Forward-compatibility driver.
    Compat,
}

/// Supplier of a library.
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

/// Reachability of an object from a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// Reachable by resolved NEEDED entries.
    Needed,
    /// Opened at run time by a reachable object.
    Dlopen,
    /// Unreferenced: no known object loads it.
    #[default]
    Unreferenced,
}

/// Source of a library's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VersionSource {
    /// Its file name, such as `libcublas.so.13.1.0.3`.
    FileName,
    /// Another name of the same inode in its folder.
    Link,
    /// The package that owns it.
    Package,
    /// A note in the file.
    Note,
}

/// A CUDA library, or another library with GPU code.
#[derive(Clone, Debug)]
pub struct Library {
    /// File of the merged view.
    pub node: NodeId,
    /// Its object in [`Inventory::links`].
    pub object: ObjectId,
    /// The first name of the same inode, if this is a further one.
    pub hard_link_of: Option<NodeId>,
    /// `DT_SONAME`, escaped.
    pub soname: Option<String>,
    /// Component; `other` for libraries of no component with GPU code.
    pub component: Arc<str>,
    /// Version and its source.
    pub version: Option<(String, VersionSource)>,
    /// CUDA major version, with the evidence (package, folder, soname).
    pub cuda_major: Option<(u32, String)>,
    /// Role.
    pub role: Role,
    /// File size in bytes; for a hard link, that of its inode.
    pub bytes: u64,
    /// Index of the layer with its content.
    pub layer: u16,
    /// Supplier.
    pub supplier: Supplier,
    /// Index of the owning package in [`Inventory::packages`].
    pub package: Option<usize>,
    /// ELF machine that the image's platform does not run, such as `aarch64`; `None` if it matches.
    pub foreign: Option<String>,
    /// Supported drivers, if it is a forward-compatibility driver.
    pub forward_compat: Option<ForwardCompat>,
    /// Its GPU code.
    pub gpu_code: Vec<GpuCode>,
    /// The containers of it.
    pub containers: ContainerFacts,
    /// Container headers and padding, in bytes; with the bytes of `gpu_code`, [`Self::gpu_section_bytes`].
    pub overhead_bytes: u64,
    /// Bytes of the sections with only GPU code (`.nv_fatbin`, `__nv_relfatbin`), and of the containers in
    /// other sections.
    pub gpu_section_bytes: u64,
}

/// The note of a forward-compatibility driver (`.note.cuda.fwd_compatibility`).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct ForwardCompat {
    /// Its CUDA version.
    #[serde(rename = "CUDA version")]
    pub cuda_version: Option<String>,
    /// Supported branches of the host's driver.
    pub driver: Vec<u32>,
    /// Supported device classes, as NVML brand numbers.
    pub device: Vec<u32>,
}

/// GPU code of the image for one architecture and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuCodeSum {
    /// SM number, such as 90.
    pub arch: u32,
    /// Architecture-specific (`a`) or family-specific (`f`).
    pub suffix: Option<Suffix>,
    /// Kind of code.
    pub kind: GpuKind,
    /// Size of entry headers and padded payloads in bytes, each inode once.
    pub bytes: u64,
    /// Uncompressed size of the payloads, in bytes.
    pub uncompressed_bytes: u64,
    /// Those of `bytes` in shared libraries.
    pub libraries: u64,
    /// Those of `bytes` in executables.
    pub executables: u64,
    /// Those of `bytes` in static archives.
    pub archives: u64,
    /// Those of `bytes` in loose cubin, fatbin, PTX and object files.
    pub files: u64,
}

/// Kind of a file with GPU code.
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

/// A file with GPU code that is not a library.
#[derive(Clone, Debug)]
pub struct GpuHolder {
    /// File of the merged view.
    pub node: NodeId,
    /// Kind of file.
    pub kind: HolderKind,
    /// Its GPU code.
    pub gpu_code: Vec<GpuCode>,
    /// The containers of it.
    pub containers: ContainerFacts,
}

/// Sums over the libraries of one component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Name of the component.
    pub name: Arc<str>,
    /// Total size in bytes, each inode once.
    pub bytes: u64,
    /// Number of files, without hard links.
    pub libraries: usize,
    /// Suppliers, without duplicates.
    pub suppliers: Vec<Supplier>,
}

/// Several libraries with the same soname.
#[derive(Clone, Debug)]
pub struct Duplicate {
    /// Soname without auditwheel's hash, escaped; the file name for libraries without a soname.
    pub soname: String,
    /// Indexes in [`Inventory::libraries`], each inode once.
    pub libraries: Vec<usize>,
    /// Whether all have identical content; `None` if unknown.
    pub identical: Option<bool>,
    /// Bytes of the unreferenced copies for which another copy for the same CUDA major version is loaded, and
    /// of the [`Inventory::displaced`] ones.
    pub reclaimable_bytes: u64,
    /// The loaded copies, with the objects that load them.
    pub picks: Vec<Pick>,
}

/// A library outside the Python packages that only Python packages load, and only if the process has not
/// loaded their own copy before: the first library with a name serves the whole process.
#[derive(Clone, Debug)]
pub struct Displaced {
    /// Index in [`Inventory::libraries`].
    pub library: usize,
    /// Index of the Python packages' copy in [`Inventory::libraries`]; `None` for a library that only
    /// displaced ones load.
    pub by: Option<usize>,
    /// Imports and calls that load that copy, such as `onnxruntime.preload_dlls()` or `importing torch`.
    pub loaders: Vec<String>,
}

/// A loaded copy of a duplicate library.
#[derive(Clone, Debug)]
pub struct Pick {
    /// Index in [`Inventory::libraries`].
    pub library: usize,
    /// Objects that load it.
    pub loaded_by: Vec<ObjectId>,
}

/// Files with identical content.
#[derive(Clone, Debug)]
pub struct Identical {
    /// Nodes of the files, each inode once.
    pub nodes: Vec<NodeId>,
    /// Size of each file, in bytes.
    pub bytes: u64,
}

/// Purpose of a byte of the image. Reports list them as `class_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The distribution.
    System,
    /// CUDA run-time files.
    CudaRuntime,
    /// CUDA development files.
    CudaDevel,
    /// Frameworks and other Python packages.
    Framework,
    /// Model weights.
    Weights,
    /// The application.
    Application,
}

impl Class {
    /// All classes, in display order.
    pub const ALL: [Self; 6] =
        [Self::System, Self::CudaRuntime, Self::CudaDevel, Self::Framework, Self::Weights, Self::Application];

    /// Name in reports.
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

/// Bytes by class. Every regular file of every layer has one class, so the sums of a layer are its content
/// bytes.
#[derive(Clone, Debug, Default)]
pub struct ClassBytes {
    /// Content bytes of each layer, bottom first.
    pub layers: Vec<BTreeMap<Class, u64>>,
    /// Bytes of the merged view, each inode once.
    pub merged: BTreeMap<Class, u64>,
    /// By layer and entry: place in [`Class::ALL`] plus 1; 0 for what is not a regular file. With `NO_DEVEL_PATH` if
    /// its path was compared with all path rules and none of development files matches.
    pub by_entry: Vec<Box<[u8]>>,
}

/// Flag of an entry in [`ClassBytes::by_entry`].
pub(super) const NO_DEVEL_PATH: u8 = 1 << 7;

impl ClassBytes {
    /// The class of a regular file of a layer; `None` for anything else.
    pub fn of(&self, layer: u16, entry: EntryId) -> Option<Class> {
        let place = self.entry(layer, entry)? & !NO_DEVEL_PATH;
        Class::ALL.get(usize::from(place).checked_sub(1)?).copied()
    }

    /// Whether it is known that no path rule of development files matches the path of an entry.
    pub fn has_no_devel_path(&self, layer: u16, entry: EntryId) -> bool {
        self.entry(layer, entry).is_some_and(|place| place & NO_DEVEL_PATH != 0)
    }

    fn entry(&self, layer: u16, entry: EntryId) -> Option<u8> {
        self.by_entry.get(usize::from(layer))?.get(entry.0 as usize).copied()
    }
}
