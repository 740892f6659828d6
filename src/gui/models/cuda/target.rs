//! GPUs to judge by, and which GPU code runs on them.

pub use crate::cuda::Fit;
use crate::cuda::catalog::{Catalog, GpuClass};
use crate::cuda::compat::RunVerdict;
use crate::cuda::fit;
use crate::formats::fatbin::{GpuKind, Suffix};

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
}

impl CodeTarget {
    /// The GPUs of a catalogue whose compute capability can be read, in its order.
    pub fn all(catalog: &Catalog) -> Vec<Self> {
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
            })
        };
        catalog.targets().iter().filter_map(item).collect()
    }

    /// Its name with its compute capability.
    pub fn title(&self) -> String {
        format!("{} ({}.{})", self.gpu, self.major, self.minor)
    }

    /// What this GPU makes of a piece of code.
    pub fn fit(&self, kind: GpuKind, arch: u32, suffix: Option<Suffix>) -> Fit {
        fit(self.major * 10 + self.minor, kind, arch, suffix)
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
