//! GPUs to judge by, and which GPU code runs on them.

use crate::cuda::catalog::{Catalog, GpuClass};
use crate::formats::fatbin::{GpuKind, Suffix};

/// A GPU that code can be judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetItem {
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

impl TargetItem {
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
                    GpuClass::DataCenter => "Data centre",
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
        let (major, minor) = (arch / 10, arch % 10);
        let exact = (major, minor) == (self.major, self.minor);
        let family = major == self.major && minor <= self.minor;
        match (kind, suffix) {
            (GpuKind::Sass, None | Some(Suffix::F)) if family => Fit::Native,
            (GpuKind::Sass, Some(Suffix::A)) if exact => Fit::Native,
            (GpuKind::Ptx, None) if (major, minor) <= (self.major, self.minor) => Fit::Jit,
            (GpuKind::Ptx, Some(Suffix::F)) if family => Fit::Jit,
            (GpuKind::Ptx, Some(Suffix::A)) if exact => Fit::Jit,
            _ => Fit::Never,
        }
    }
}

/// What becomes of GPU code on a GPU. The order is from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fit {
    /// It is of no use there.
    Never,
    /// The driver compiles it when it is loaded.
    Jit,
    /// It runs as it is.
    Native,
}

impl Fit {
    /// A word for it, below the head of a column.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Jit => "JIT",
            Self::Native => "runs",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, TargetItem};
    use crate::formats::fatbin::{GpuKind, Suffix};

    #[test]
    fn code_runs_by_the_rules_of_compute_capabilities() {
        let target =
            |major, minor| TargetItem { id: String::new(), gpu: String::new(), major, minor, class: "" };
        let (a, f) = (Some(Suffix::A), Some(Suffix::F));
        for (kind, arch, suffix, on, wanted) in [
            (GpuKind::Sass, 80, None, (8, 0), Fit::Native),
            (GpuKind::Sass, 80, None, (8, 6), Fit::Native),
            (GpuKind::Sass, 86, None, (8, 0), Fit::Never),
            (GpuKind::Sass, 80, None, (9, 0), Fit::Never),
            (GpuKind::Sass, 90, a, (9, 0), Fit::Native),
            (GpuKind::Sass, 100, a, (10, 3), Fit::Never),
            (GpuKind::Sass, 100, f, (10, 3), Fit::Native),
            (GpuKind::Sass, 120, None, (12, 1), Fit::Native),
            (GpuKind::Ptx, 70, None, (9, 0), Fit::Jit),
            (GpuKind::Ptx, 90, None, (8, 9), Fit::Never),
            (GpuKind::Ptx, 90, a, (10, 0), Fit::Never),
            (GpuKind::Ptx, 90, a, (9, 0), Fit::Jit),
            (GpuKind::Ptx, 100, f, (10, 3), Fit::Jit),
            (GpuKind::Ptx, 100, f, (12, 0), Fit::Never),
            (GpuKind::Lto, 90, None, (9, 0), Fit::Never),
            (GpuKind::Other(9), 90, None, (9, 0), Fit::Never),
        ] {
            let found = target(on.0, on.1).fit(kind, arch, suffix);
            assert_eq!(found, wanted, "{kind:?} {arch} {suffix:?} on {on:?}");
        }
    }
}
