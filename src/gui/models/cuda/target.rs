//! GPUs to judge by, and which GPU code runs on them.

use crate::base::text::printable;
pub use crate::cuda::Fit;
use crate::cuda::catalog::{Catalog, GpuClass};
use crate::cuda::compat::{HostDevice, RunVerdict, default_targets};
use crate::cuda::fit;
use crate::formats::fatbin::{GpuKind, Suffix};

/// Where the GPUs that are offered are chosen.
pub const OTHER_GPUS: &str = "Other GPUs: Settings, Target GPUs and machines";

/// A GPU that code can be judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeTarget {
    /// Its id in the catalogue, such as `gpu:a100-80`.
    pub id: String,
    /// What it is called.
    pub gpu: String,
    /// Compute capability, before the point.
    pub major: u32,
    /// Compute capability, after the point.
    pub minor: u32,
    /// What kind of GPU it is, in words.
    pub class: &'static str,
    /// Whether it is one that code is kept for often: a common one, or this machine's.
    pub is_common: bool,
}

impl CodeTarget {
    /// The GPUs of a catalogue whose compute capability can be read, in its order.
    pub fn all(catalog: &Catalog) -> Vec<Self> {
        let common = default_targets(catalog);
        let item = |target: &crate::cuda::catalog::Target| {
            let sm = target.sm()?;
            Some(Self {
                id: target.id.clone(),
                gpu: target.gpu.strip_prefix("NVIDIA ").unwrap_or(&target.gpu).to_owned(),
                major: sm / 10,
                minor: sm % 10,
                class: match target.class {
                    GpuClass::DataCenter => "Data center",
                    GpuClass::Workstation => "Workstation",
                    GpuClass::Geforce => "GeForce",
                    GpuClass::Jetson => "Jetson",
                },
                is_common: common.iter().any(|one| one.id == target.id),
            })
        };
        catalog.targets().iter().filter_map(item).collect()
    }

    /// A GPU of this machine, if its compute capability can be read.
    pub fn host(device: &HostDevice) -> Option<Self> {
        let (major, minor) = device.compute_capability.split_once('.')?;
        Some(Self {
            id: format!("host:{}", device.index),
            gpu: printable(device.name.strip_prefix("NVIDIA ").unwrap_or(&device.name)),
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            class: "This machine",
            is_common: true,
        })
    }

    /// Its SM number.
    pub fn sm(&self) -> u32 {
        self.major.saturating_mul(10).saturating_add(self.minor)
    }

    /// Its name with its compute capability.
    pub fn title(&self) -> String {
        format!("{} ({}.{})", self.gpu, self.major, self.minor)
    }

    /// What this GPU makes of a piece of code.
    pub fn fit(&self, kind: GpuKind, arch: u32, suffix: Option<Suffix>) -> Fit {
        fit(self.sm(), kind, arch, suffix)
    }
}

impl Fit {
    /// A word for it, below the head of a column.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Never => "Never",
            Self::Jit => "JIT",
            Self::Native => RunVerdict::Runs.label(),
        }
    }
}
