//! Frameworks, the software stack, packages, model files and the base image.

use std::sync::Arc;

use super::Flavor;
use crate::rootfs::NodeId;

/// Source of a framework's CUDA libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Wheels or conda packages.
    WheelBundled,
    /// The toolkit or the distribution of the base image.
    BaseImage,
    /// Copied or statically linked by the author of the image.
    ByHand,
    /// Several sources.
    Mixed,
    /// Does not use CUDA.
    None,
    /// Unknown.
    Unknown,
}

/// A framework or server that uses the GPU, or depends on one that does.
#[derive(Clone, Debug)]
pub struct Framework {
    /// Name in the catalogue, such as `torch`.
    pub name: Arc<str>,
    /// Version with the local part (`2.9.1+cu128`); `None` if unknown.
    pub version: Option<String>,
    /// CUDA version that it was built for; `None` if unknown.
    pub cuda_version: Option<String>,
    /// Source of its CUDA libraries.
    pub strategy: Strategy,
    /// Evidence for the strategy.
    pub evidence: String,
    /// Install folder: that of its package (`/` for system packages), or of its files.
    pub path: Vec<u8>,
    /// Level in the stack.
    pub level: Level,
    /// Index of its package in [`Inventory::packages`]; `None` without one.
    pub package: Option<usize>,
}

/// A level of the GPU software stack, from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Inference or API server.
    Server,
    /// Model code and weights.
    Model,
    /// General frameworks, such as torch and tensorflow.
    Framework,
    /// Kernel libraries, such as triton and flash-attn.
    Kernels,
    /// CUDA libraries, such as cuBLAS and cuDNN.
    Libraries,
    /// CUDA runtime: libcudart.
    Runtime,
    /// User-mode driver: libcuda.
    Driver,
    /// Kernel module.
    KernelDriver,
    /// Operating system.
    System,
    /// GPU.
    Gpu,
}

/// Supplier of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuppliedBy {
    /// Wheels.
    Wheel,
    /// Conda packages.
    Conda,
    /// The base image, its toolkit or its packages.
    BaseImage,
    /// The author of the image.
    ByHand,
    /// Statically linked into the level above.
    Static,
    /// The machine that runs the container.
    Host,
    /// Required, but missing.
    Missing,
    /// Not used by the image.
    NotUsed,
    /// Unknown.
    Unknown,
}

/// A level of the stack with its content.
#[derive(Clone, Debug)]
pub struct StackLevel {
    /// Level.
    pub level: Level,
    /// Content, such as `uvicorn 0.38.0`.
    pub names: Vec<String>,
    /// Suppliers, without duplicates; never empty.
    pub supplied_by: Vec<SuppliedBy>,
    /// Files of the level.
    pub nodes: Vec<NodeId>,
    /// What the image lacks or what is wrong, in a sentence.
    pub note: Option<String>,
}

/// A file of model weights.
#[derive(Clone, Debug)]
pub struct WeightFile {
    /// File of the merged view.
    pub node: NodeId,
    /// Format, such as `safetensors`.
    pub format: Arc<str>,
    /// File size, in bytes.
    pub bytes: u64,
}

/// An installed package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Package manager: `dpkg`, `rpm`, `apk`, `pip` or `conda`.
    pub manager: &'static str,
    /// Package name.
    pub name: String,
    /// Version in the manager's format.
    pub version: String,
    /// Size of its files in the merged view in bytes, each inode once; `None` without a file list.
    pub bytes: Option<u64>,
    /// Number of its files in the merged view; `None` without a file list.
    pub files: Option<u64>,
    /// The lowest layer whose database contains this version.
    pub layer: u16,
    /// Install folder of pip and conda packages: packages folder or environment.
    pub root: Option<Vec<u8>>,
    /// Maintainer, vendor or author in the database.
    pub maker: Option<String>,
    /// Names of its dependencies, as in its database: for dpkg package names, including all alternatives.
    pub depends: Vec<String>,
    /// Names of packages that its manager keeps installed because of it: recommended ones, and for dpkg
    /// suggested ones unless apt is configured otherwise.
    pub recommends: Vec<String>,
    /// Names of suggested packages that are not kept installed.
    pub suggests: Vec<String>,
    /// Further names under which other packages may depend on it.
    pub provides: Vec<String>,
    /// Source package of dpkg and rpm, origin of apk.
    pub source: Option<String>,
    /// Whether its manager never removes it automatically.
    pub essential: bool,
    /// The record that it was installed as a dependency, such as `/var/lib/apt/extended_states`; `None`
    /// without one.
    pub automatic: Option<&'static str>,
}

impl Package {
    /// Whether it is from the distribution's package manager, with its dependencies: dpkg, rpm or apk.
    pub fn is_of_system(&self) -> bool {
        matches!(self.manager, "dpkg" | "rpm" | "apk")
    }

    /// Whether it is a Python package in the folder into which Debian's packages alone install. pip has another one.
    pub fn is_in_debians_folder(&self) -> bool {
        self.root.as_deref() == Some(b"/usr/lib/python3/dist-packages")
    }
}

/// The base image of the image.
#[derive(Clone, Debug)]
pub struct BaseImage {
    /// Probable reference, such as `nvidia/cuda:13.0.2-cudnn-devel-ubuntu24.04`.
    pub reference: Option<String>,
    /// Flavor of the CUDA image; [`Flavor::None`] for other images.
    pub flavor: Flavor,
    /// CUDA version.
    pub cuda_version: Option<String>,
    /// cuDNN version.
    pub cudnn_version: Option<String>,
    /// Distribution and release, such as `ubuntu24.04`.
    pub distribution: Option<String>,
    /// Number of its layers, from the bottom; 0 if unknown.
    pub layers: usize,
    /// Its own base images, the lowest first: the distribution, then flavors of the CUDA image. Empty if
    /// their ends are not in the history.
    pub below: Vec<LowerBase>,
    /// Evidence, one sentence each.
    pub evidence: Vec<String>,
}

/// A base image of a base image: its layers are the lowest of this one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerBase {
    /// Reference, such as `nvidia/cuda:12.9.1-base-ubuntu22.04` or `ubuntu:22.04`; only one that is known to
    /// exist.
    pub reference: String,
    /// Flavor of the CUDA image; [`Flavor::None`] for the distribution's own.
    pub flavor: Flavor,
    /// Number of its layers, from the bottom.
    pub layers: usize,
}
