//! GPU architectures, toolkits, drivers and the GPUs of compatibility checks.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::entry::{CatalogEntry, entry};
use super::{Catalog, numbers};

/// A GPU architecture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// SM number: ten times the compute capability, such as 90.
    pub sm: u32,
    /// Name, such as `Hopper`.
    pub name: String,
    /// First toolkit that compiles for it.
    pub introduced: String,
    /// First toolkit that no longer compiles for it; `None` if still supported.
    pub dropped: Option<String>,
    /// Last driver branch that supports it; `None` if still supported.
    pub last_driver: Option<u32>,
    /// SM number under which it is also known: the one before or after a renaming.
    pub also: Option<u32>,
    /// Architecture-specific and family-specific variants, whose code runs on fewer GPUs.
    #[serde(default)]
    pub suffixes: Vec<ArchitectureSuffix>,
    /// Whether it is used in data-centre GPUs.
    #[serde(default)]
    pub data_center: bool,
    /// Whether it belongs to Tegra: Jetson and other systems with an integrated GPU.
    #[serde(default)]
    pub tegra: bool,
    /// Names of its GPUs.
    pub gpus: Vec<String>,
    /// Source of the facts.
    pub source: String,
}

/// A variant of an architecture: code for `a` runs on exactly this architecture, code for `f` on its family
/// with the same or a later minor version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchitectureSuffix {
    /// `a` or `f`.
    pub suffix: String,
    /// First toolkit that compiles for it.
    pub introduced: String,
}

/// A released CUDA toolkit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedToolkit {
    /// Full version, such as `13.0.2`.
    pub version: String,
    /// Newest PTX ISA version that it emits.
    pub ptx_isa: String,
    /// Linux driver released with it; supports all its features.
    pub driver_linux: Option<String>,
    /// Version of its cuda-cudart package, without the package revision. Point releases may have the same
    /// version.
    pub cudart: Option<String>,
    /// Version of its libcublas package; distinguishes point releases with the same cuda-cudart.
    pub cublas: Option<String>,
    /// Versions of its other packages, by component.
    #[serde(default)]
    pub packages: BTreeMap<String, String>,
    /// cuDNN part of its image tags: `cudnn8`, `cudnn9` or `cudnn`; `None` if no image with cuDNN is known.
    pub cudnn_tag: Option<String>,
    /// cuDNN version of those images.
    pub cudnn: Option<String>,
    /// Distributions with known images, as in the image tags.
    #[serde(default)]
    pub distributions: Vec<String>,
    /// Those of `distributions` without an image with cuDNN.
    #[serde(default)]
    pub without_cudnn: Vec<String>,
    /// Source of the facts.
    pub source: String,
}

impl ReleasedToolkit {
    /// The tag of its image, such as `13.0.2-cudnn-devel-ubuntu24.04`; `None` if no such image is known.
    /// `flavor` is `base`, `runtime` or `devel`.
    pub fn image_tag(&self, flavor: &str, cudnn: bool, distribution: &str) -> Option<String> {
        let known = |list: &[String]| list.iter().any(|one| one == distribution);
        if !known(&self.distributions) || !matches!(flavor, "base" | "runtime" | "devel") {
            return None;
        }
        if !cudnn {
            return Some(format!("{}-{flavor}-{distribution}", self.version));
        }
        if flavor == "base" || known(&self.without_cudnn) {
            return None;
        }
        Some(format!("{}-{}-{flavor}-{distribution}", self.version, self.cudnn_tag.as_deref()?))
    }
}

/// Properties of all toolkits of a major version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MajorVersion {
    /// The major version.
    pub major: u32,
    /// Oldest Linux driver for minor version compatibility, which excludes PTX that needs JIT compilation. It
    /// starts with 11.1: 11.0 was released with a driver older than the minimum of 11.
    pub min_driver: String,
    /// Source of the fact.
    pub source: String,
}

/// A driver branch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverBranch {
    /// First number of its driver versions, such as 580.
    pub branch: u32,
    /// CUDA version of its libcuda.
    pub cuda: String,
    /// Whether it is a long-term support branch for data centres.
    #[serde(default)]
    pub long_term: bool,
    /// Source of the fact.
    pub source: String,
}

/// Product line of a GPU; forward compatibility depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuClass {
    /// Data-centre GPU.
    DataCenter,
    /// Workstation GPU.
    Workstation,
    /// `GeForce` GPU.
    Geforce,
    /// Integrated GPU of a Jetson module.
    Jetson,
}

/// A GPU of compatibility checks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Identifier on the command line, such as `gpu:a100-80`.
    pub id: String,
    /// Product name.
    pub gpu: String,
    /// Compute capability, such as `8.0`.
    pub compute_capability: String,
    /// Product line.
    pub class: GpuClass,
    /// Nominal GPU memory in GiB, of all dies or of the whole module. For Jetson and GB10 it is shared with
    /// the CPU.
    pub memory_gib: Option<u32>,
    /// Common driver: a branch such as `580`, or a version.
    pub driver: Option<String>,
    /// CUDA version of that driver, for drivers with their own version scheme (Jetson).
    pub cuda: Option<String>,
    /// CPU architecture as a `GOARCH` value, if there is only one: `arm64` for Jetson and GPUs with a Grace
    /// CPU.
    pub architecture: Option<String>,
    /// Source of the facts.
    pub source: String,
}

impl Target {
    /// SM number, such as 80 for compute capability 8.0; `None` if malformed.
    pub fn sm(&self) -> Option<u32> {
        let (major, minor) = self.compute_capability.split_once('.')?;
        major.parse::<u32>().ok()?.checked_mul(10)?.checked_add(minor.parse().ok()?)
    }
}

/// Cloud machine types with the same GPU.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Machine types; the id of the first is the key.
    pub sizes: Vec<MachineSize>,
    /// Id of the target of their GPU.
    pub target: String,
    /// Common driver, if different from the one of the target.
    pub driver: Option<String>,
    /// CPU architecture as a `GOARCH` value.
    pub architecture: Option<String>,
    /// Whether new ones are no longer available: judged, and never proposed.
    #[serde(default)]
    pub retired: bool,
    /// Source of the facts.
    pub source: String,
}

/// A cloud machine type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSize {
    /// Identifier on the command line, such as `azure:Standard_NC24ads_A100_v4`.
    pub id: String,
    /// Number of GPUs, such as `8`, or a fraction such as `1/6`.
    pub gpus: String,
}

/// A container service on cloud machines that installs the driver in its own way.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Prefix of its machines on the command line, such as `gke`.
    pub id: String,
    /// Cloud of its machines, as the prefix of their ids: `gcp`.
    pub machines: String,
    /// Folder of the mounted driver, if it is not on the loader's search path by default.
    pub driver_folder: Option<String>,
    /// Common driver.
    pub driver: Option<String>,
    /// Source of the facts.
    pub source: String,
}

/// GPU support of cuDNN versions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudnnSupport {
    /// First version of the range, such as `9.11`; the next entry ends it.
    pub from: String,
    /// CUDA major version of the build; `None` for all builds.
    pub cuda: Option<u32>,
    /// Oldest supported SM number.
    pub min_sm: u32,
    /// Newest SM number known to be supported; `None` if unknown.
    pub max_sm: Option<u32>,
    /// Source of the fact.
    pub source: String,
}

entry!(Architecture, |it| it.sm.to_string());
entry!(ReleasedToolkit, |it| it.version.clone());
entry!(MajorVersion, |it| it.major.to_string());
entry!(DriverBranch, |it| it.branch.to_string());
entry!(Target, |it| it.id.clone());
entry!(Service, |it| it.id.clone());
entry!(Machine, |it| it.sizes.first().map(|size| size.id.clone()).unwrap_or_default());
entry!(CudnnSupport, |it| match it.cuda {
    Some(cuda) => format!("{} for CUDA {cuda}", it.from),
    None => it.from.clone(),
});

impl Catalog {
    /// All architectures, in file order.
    pub fn architectures(&self) -> &[Architecture] {
        &self.document.architectures
    }

    /// The architecture with this SM number.
    pub fn architecture(&self, sm: u32) -> Option<&Architecture> {
        self.document.architectures.iter().find(|architecture| architecture.sm == sm)
    }

    /// All toolkits, oldest first in the built-in file.
    pub fn toolkits(&self) -> &[ReleasedToolkit] {
        &self.document.toolkits
    }

    /// The toolkit with this full version.
    pub fn toolkit(&self, version: &str) -> Option<&ReleasedToolkit> {
        self.document.toolkits.iter().find(|toolkit| toolkit.version == version)
    }

    /// The newest point release of a minor version such as `12.6` with a known image; the newest of all if
    /// none has one.
    pub fn newest_toolkit(&self, minor: &str) -> Option<&ReleasedToolkit> {
        let asked = numbers(minor.as_bytes());
        let of_minor = self.document.toolkits.iter();
        of_minor
            .filter(|toolkit| numbers(toolkit.version.as_bytes()).starts_with(&asked))
            .max_by_key(|toolkit| (!toolkit.distributions.is_empty(), numbers(toolkit.version.as_bytes())))
    }

    /// The toolkits with a version of cuda-cudart, with or without the package revision. Point releases may
    /// have the same one; the version of libcublas distinguishes them.
    pub fn toolkits_of_cudart<'a>(&'a self, version: &str) -> impl Iterator<Item = &'a ReleasedToolkit> {
        self.of_package(version, |toolkit| toolkit.cudart.as_deref())
    }

    /// The toolkits with a version of libcublas, with or without the package revision.
    pub fn toolkits_of_cublas<'a>(&'a self, version: &str) -> impl Iterator<Item = &'a ReleasedToolkit> {
        self.of_package(version, |toolkit| toolkit.cublas.as_deref())
    }

    fn of_package<'a>(
        &'a self,
        version: &str,
        field: impl Fn(&'a ReleasedToolkit) -> Option<&'a str>,
    ) -> impl Iterator<Item = &'a ReleasedToolkit> {
        let upstream = version.split('-').next().unwrap_or(version).to_owned();
        self.document.toolkits.iter().filter(move |toolkit| field(toolkit) == Some(upstream.as_str()))
    }

    /// Properties of all major versions.
    pub fn majors(&self) -> &[MajorVersion] {
        &self.document.majors
    }

    /// Properties of a major version.
    pub fn major(&self, major: u32) -> Option<&MajorVersion> {
        self.document.majors.iter().find(|one| one.major == major)
    }

    /// Driver branches, oldest first in the built-in file.
    pub fn driver_branches(&self) -> &[DriverBranch] {
        &self.document.driver_branches
    }

    /// GPUs of compatibility checks.
    pub fn targets(&self) -> &[Target] {
        &self.document.targets
    }

    /// Cloud machine types with their GPUs.
    pub fn machines(&self) -> &[Machine] {
        &self.document.machines
    }

    /// Container services that install the driver in their own way.
    pub fn services(&self) -> &[Service] {
        &self.document.services
    }

    /// GPU support of cuDNN versions, oldest first in the built-in file.
    pub fn cudnn_support(&self) -> &[CudnnSupport] {
        &self.document.cudnn_support
    }

    /// The target with this id, such as `gpu:l4`.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.document.targets.iter().find(|target| target.id == id)
    }
}
