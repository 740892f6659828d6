//! GPU architectures, toolkits, drivers and the GPUs that images are judged against.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::document::CatalogEntry;
use super::{Catalog, numbers};

/// A GPU architecture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// SM number: ten times the compute capability, such as 90.
    pub sm: u32,
    /// Its name, such as `Hopper`.
    pub name: String,
    /// The first toolkit that compiles for it.
    pub introduced: String,
    /// The first toolkit that no longer does.
    #[serde(default)]
    pub dropped: Option<String>,
    /// The last driver branch that drives it, when later ones do not.
    #[serde(default)]
    pub last_driver: Option<u32>,
    /// The SM number that it had before it was renamed, or got later.
    #[serde(default)]
    pub also: Option<u32>,
    /// Forms of it whose code runs on less than the plain form's.
    #[serde(default)]
    pub suffixes: Vec<ArchitectureSuffix>,
    /// Whether data-centre GPUs have it.
    #[serde(default)]
    pub data_center: bool,
    /// Whether it is of the Tegra line: Jetson and other boards with the GPU in the processor.
    #[serde(default)]
    pub tegra: bool,
    /// GPUs that have it, in words.
    pub gpus: Vec<String>,
    /// Where the facts come from.
    pub source: String,
}

/// A form of an architecture: `a` runs on that very one, `f` on its family with the same or a later minor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchitectureSuffix {
    /// `a` or `f`.
    pub suffix: String,
    /// The first toolkit that compiles for it.
    pub introduced: String,
}

/// A toolkit as it was released.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedToolkit {
    /// Its full version, such as `13.0.2`.
    pub version: String,
    /// The newest PTX version that it writes.
    pub ptx_isa: String,
    /// The Linux driver that came out with it: with it, everything works.
    #[serde(default)]
    pub driver_linux: Option<String>,
    /// Version of its cuda-cudart package, without the package revision. Point releases may share it.
    #[serde(default)]
    pub cudart: Option<String>,
    /// Version of its libcublas package: it differs where that of cudart does not.
    #[serde(default)]
    pub cublas: Option<String>,
    /// Versions of other packages, by component.
    #[serde(default)]
    pub packages: BTreeMap<String, String>,
    /// How the tags of its images with cuDNN spell it: `cudnn8`, `cudnn9` or `cudnn`; `None` when there are
    /// none, or none are known.
    #[serde(default)]
    pub cudnn_tag: Option<String>,
    /// The cuDNN version in those images.
    #[serde(default)]
    pub cudnn: Option<String>,
    /// Distributions that its images are known to exist for, as tags spell them.
    #[serde(default)]
    pub distributions: Vec<String>,
    /// Those of them without images with cuDNN.
    #[serde(default)]
    pub without_cudnn: Vec<String>,
    /// Where the facts come from.
    pub source: String,
}

impl ReleasedToolkit {
    /// The tag of its image, such as `13.0.2-cudnn-devel-ubuntu24.04`; `None` when no such image is known.
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

/// What all toolkits of a major version share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MajorVersion {
    /// The major version.
    pub major: u32,
    /// The oldest Linux driver that runs programs built with any of them, as far as no PTX has to be compiled.
    /// That promise began with 11.1: 11.0 came out with an older driver than the minimum of 11.
    pub min_driver: String,
    /// Where the fact comes from.
    pub source: String,
}

/// A branch of the driver.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverBranch {
    /// First number of its versions, such as 580.
    pub branch: u32,
    /// The CUDA version of its libcuda.
    pub cuda: String,
    /// Whether it is a branch for data centres that is looked after for longer.
    #[serde(default)]
    pub long_term: bool,
    /// Where the fact comes from.
    pub source: String,
}

/// What kind of GPU it is: forward compatibility depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuClass {
    /// For data centres.
    DataCenter,
    /// For workstations.
    Workstation,
    /// For games.
    Geforce,
    /// A board with the GPU in the processor.
    Jetson,
}

/// A GPU that images are judged against.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// How it is named on the command line, such as `gpu:a100-80`.
    pub id: String,
    /// Its name.
    pub gpu: String,
    /// Its compute capability, such as `8.0`.
    pub compute_capability: String,
    /// What kind it is.
    pub class: GpuClass,
    /// GPU memory as it is sold, in GiB; of both dies or of the whole module where there are several. For
    /// Jetson and GB10 it is what processor and GPU share.
    #[serde(default)]
    pub memory_gib: Option<u32>,
    /// The driver that is usual there: a branch such as `580`, or a version.
    #[serde(default)]
    pub driver: Option<String>,
    /// The CUDA version of that driver, where drivers have versions of their own (Jetson).
    #[serde(default)]
    pub cuda: Option<String>,
    /// Architecture of the processor beside it in Go's names, where there is only one: `arm64` for Jetson and
    /// for those with a Grace processor.
    #[serde(default)]
    pub architecture: Option<String>,
    /// Where the facts come from.
    pub source: String,
}

impl Target {
    /// The SM number: 80 for compute capability 8.0.
    pub fn sm(&self) -> Option<u32> {
        let (major, minor) = self.compute_capability.split_once('.')?;
        major.parse::<u32>().ok()?.checked_mul(10)?.checked_add(minor.parse().ok()?)
    }
}

/// Machines of a cloud that have one kind of GPU.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its sizes; the id of the first is the key.
    pub sizes: Vec<MachineSize>,
    /// Their GPU, by the id of its target.
    pub target: String,
    /// The driver that is usual there, where it is another than with the GPU elsewhere.
    #[serde(default)]
    pub driver: Option<String>,
    /// Architecture of the processor in Go's names.
    #[serde(default)]
    pub architecture: Option<String>,
    /// Where the facts come from.
    pub source: String,
}

/// One size of a machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSize {
    /// How it is named on the command line, such as `azure:Standard_NC24ads_A100_v4`.
    pub id: String,
    /// How many GPUs it has, such as `8`, or `1/6` of one.
    pub gpus: String,
}

impl CatalogEntry for Machine {
    fn key(&self) -> String {
        self.sizes.first().map(|size| size.id.clone()).unwrap_or_default()
    }
    fn source(&self) -> &str {
        &self.source
    }
}

/// A service that runs containers on machines of a cloud, and brings the driver in a way of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// What its machines begin with on the command line, such as `gke`.
    pub id: String,
    /// The cloud whose machines it has, as their ids begin: `gcp`.
    pub machines: String,
    /// The folder in which the driver is mounted, without anything that makes loaders look there.
    #[serde(default)]
    pub driver_folder: Option<String>,
    /// The driver that is usual there.
    #[serde(default)]
    pub driver: Option<String>,
    /// Where the facts come from.
    pub source: String,
}

/// Which GPUs versions of cuDNN have code for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudnnSupport {
    /// The first version that this holds for, such as `9.11`; up to that of the next entry.
    pub from: String,
    /// The major version of CUDA that it is built for, when it holds for that build only.
    #[serde(default)]
    pub cuda: Option<u32>,
    /// The oldest SM number.
    pub min_sm: u32,
    /// The newest SM number that it is known to support; later ones are not known.
    #[serde(default)]
    pub max_sm: Option<u32>,
    /// Where the fact comes from.
    pub source: String,
}

impl CatalogEntry for CudnnSupport {
    fn key(&self) -> String {
        match self.cuda {
            Some(cuda) => format!("{} for CUDA {cuda}", self.from),
            None => self.from.clone(),
        }
    }
    fn source(&self) -> &str {
        &self.source
    }
}

macro_rules! entry {
    ($entry:ty, $key:ident) => {
        impl CatalogEntry for $entry {
            fn key(&self) -> String {
                self.$key.to_string()
            }
            fn source(&self) -> &str {
                &self.source
            }
        }
    };
}

entry!(Architecture, sm);
entry!(ReleasedToolkit, version);
entry!(MajorVersion, major);
entry!(DriverBranch, branch);
entry!(Target, id);
entry!(Service, id);

impl Catalog {
    /// All architectures, in the order of the file.
    pub fn architectures(&self) -> &[Architecture] {
        &self.document.architectures
    }

    /// An architecture by its SM number.
    pub fn architecture(&self, sm: u32) -> Option<&Architecture> {
        self.document.architectures.iter().find(|architecture| architecture.sm == sm)
    }

    /// All toolkits, oldest first in the built-in file.
    pub fn toolkits(&self) -> &[ReleasedToolkit] {
        &self.document.toolkits
    }

    /// A toolkit by its full version.
    pub fn toolkit(&self, version: &str) -> Option<&ReleasedToolkit> {
        self.document.toolkits.iter().find(|toolkit| toolkit.version == version)
    }

    /// The newest point release of a version such as `12.6` that images exist for, or of all when none do.
    pub fn newest_toolkit(&self, minor: &str) -> Option<&ReleasedToolkit> {
        let asked = numbers(minor.as_bytes());
        let of_minor = self.document.toolkits.iter();
        of_minor
            .filter(|toolkit| numbers(toolkit.version.as_bytes()).starts_with(&asked))
            .max_by_key(|toolkit| (!toolkit.distributions.is_empty(), numbers(toolkit.version.as_bytes())))
    }

    /// The toolkits that shipped a version of cuda-cudart, package revision or not: several when point
    /// releases share it, then a package of cuBLAS tells them apart.
    pub fn toolkits_of_cudart<'a>(&'a self, version: &str) -> impl Iterator<Item = &'a ReleasedToolkit> {
        self.of_package(version, |toolkit| toolkit.cudart.as_deref())
    }

    /// The toolkits that shipped a version of libcublas, package revision or not.
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

    /// What the toolkits of each major version share.
    pub fn majors(&self) -> &[MajorVersion] {
        &self.document.majors
    }

    /// What all toolkits of a major version share.
    pub fn major(&self, major: u32) -> Option<&MajorVersion> {
        self.document.majors.iter().find(|one| one.major == major)
    }

    /// The branches of the driver, oldest first in the built-in file.
    pub fn driver_branches(&self) -> &[DriverBranch] {
        &self.document.driver_branches
    }

    /// The GPUs that images are judged against.
    pub fn targets(&self) -> &[Target] {
        &self.document.targets
    }

    /// Machines of clouds, with the GPUs that they have.
    pub fn machines(&self) -> &[Machine] {
        &self.document.machines
    }

    /// Services that bring the driver in a way of their own.
    pub fn services(&self) -> &[Service] {
        &self.document.services
    }

    /// Which GPUs versions of cuDNN have code for, oldest first in the built-in file.
    pub fn cudnn_support(&self) -> &[CudnnSupport] {
        &self.document.cudnn_support
    }

    /// A target by its id, such as `gpu:l4`.
    pub fn target(&self, id: &str) -> Option<&Target> {
        self.document.targets.iter().find(|target| target.id == id)
    }
}
