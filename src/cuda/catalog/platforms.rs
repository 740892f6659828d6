//! Deployment platforms: their names of GPUs, and what Python packages ask of a base image.

use serde::Deserialize;

use super::Catalog;
use super::entry::{CatalogEntry, entry};

/// The names of a GPU on a platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accelerator {
    /// Who names it.
    pub platform: AcceleratorNames,
    /// The names; the first is the current one.
    pub names: Vec<String>,
    /// Id of its target.
    pub target: String,
    /// Whether new nodes with it are no longer available: judged, and never proposed.
    #[serde(default)]
    pub retired: bool,
    /// Source of the facts.
    pub source: String,
}

/// Who names GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AcceleratorNames {
    /// `hardware.compute` of `cerebrium.toml`.
    Cerebrium,
    /// The node label `cloud.google.com/gke-accelerator`.
    Gke,
    /// The node label `nvidia.com/gpu.product`.
    GpuProduct,
}

/// What Python packages ask of a base image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonPackage {
    /// Names, normalised as in PEP 503.
    pub names: Vec<String>,
    /// Where their CUDA libraries are from; `None` if from another package.
    pub cuda: Option<PythonCuda>,
    /// When they call nvcc; `None` if they do not.
    pub nvcc: Option<NvccUse>,
    /// Source of the facts.
    pub source: String,
}

/// Where the CUDA libraries of a Python package are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PythonCuda {
    /// Wheels: its own or its dependencies'.
    Wheels,
    /// The base image.
    Base,
    /// Statically linked.
    Static,
}

/// When a Python package calls nvcc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NvccUse {
    /// When pip builds it.
    Build,
    /// When the program runs.
    Run,
}

/// GPU code of the wheels of torch on `PyPI`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TorchWheel {
    /// Minor versions, such as `2.9`.
    pub versions: Vec<String>,
    /// CUDA version that they were built for.
    pub cuda: String,
    /// SM numbers of their SASS; they have no PTX.
    pub sm: Vec<u32>,
    /// Source of the facts.
    pub source: String,
}

entry!(Accelerator, |it| format!("{:?} {}", it.platform, it.names.first().map_or("", String::as_str)));
entry!(PythonPackage, |it| it.names.first().cloned().unwrap_or_default());
entry!(TorchWheel, |it| it.versions.first().cloned().unwrap_or_default());

impl Catalog {
    /// Names of GPUs on a platform, in file order.
    pub fn accelerators(&self, names: AcceleratorNames) -> impl Iterator<Item = &Accelerator> {
        self.document.accelerators.iter().filter(move |one| one.platform == names)
    }

    /// The GPU with this name on a platform.
    pub fn accelerator(&self, names: AcceleratorNames, name: &str) -> Option<&Accelerator> {
        self.accelerators(names).find(|one| one.names.iter().any(|known| known == name))
    }

    /// What a Python package asks of a base image, by its normalised name.
    pub fn python_package(&self, name: &str) -> Option<&PythonPackage> {
        self.document.python_packages.iter().find(|one| one.names.iter().any(|known| known == name))
    }

    /// GPU code of a wheel of torch on `PyPI`, by its version; `None` if unknown, or not a plain version.
    pub fn torch_wheel(&self, version: &str) -> Option<&TorchWheel> {
        let mut parts = version.split('.');
        let minor = format!("{}.{}", parts.next()?, parts.next()?);
        let plain = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        self.document.torch_wheels.iter().find(|one| plain && one.versions.contains(&minor))
    }
}
