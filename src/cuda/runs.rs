//! Compatibility of GPU code with GPUs.

use crate::formats::fatbin::{GpuKind, Suffix};

/// Use of GPU code on a GPU, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fit {
    /// Does not run.
    Never,
    /// The driver JIT-compiles it when loaded.
    Jit,
    /// Runs directly.
    Native,
}

/// Tegra architectures. Code built for one of them runs on no other, and they run only their own SASS: the
/// programming guide guarantees binary compatibility between minor versions for desktop GPUs only, and with
/// SASS for 8.0 an Orin with CUDA 12 finds no kernel (jax-ml/jax pull request 40492, vllm-project/vllm issue
/// 19328).
const TEGRA: [u32; 8] = [32, 53, 62, 72, 87, 88, 101, 110];

/// Whether an SM number is that of a Tegra GPU.
pub fn is_tegra(sm: u32) -> bool {
    TEGRA.contains(&sm)
}

/// SM numbers of the same GPU before and after renaming: 101 in CUDA 12.8 is 110 from 13.0 on.
const RENAMED: [(u32, u32); 1] = [(101, 110)];

/// `arch`, or `sm` if both are numbers of one GPU.
pub(super) fn numbered_as(sm: u32, arch: u32) -> u32 {
    let renamed = RENAMED.contains(&(arch, sm)) || RENAMED.contains(&(sm, arch));
    if renamed { sm } else { arch }
}

/// Use of GPU code for `arch` on a GPU with SM number `sm` (86 for 8.6).
///
/// SASS runs on the same major version with the same or a later minor version; PTX is compiled for any later
/// architecture. With suffix `a` both are restricted to exactly this architecture, with `f` to its family.
/// Source: CUDA C++ Programming Guide, application compatibility, and `ptxas --help` of 13.0. The PTX ISA
/// version is not checked against the driver.
pub fn fit(sm: u32, kind: GpuKind, arch: u32, suffix: Option<Suffix>) -> Fit {
    let arch = numbered_as(sm, arch);
    let exact = arch == sm;
    let family = exact || arch / 10 == sm / 10 && arch <= sm && !is_tegra(arch) && !is_tegra(sm);
    match (kind, suffix) {
        (GpuKind::Sass, None | Some(Suffix::F)) if family => Fit::Native,
        (GpuKind::Sass, Some(Suffix::A)) if exact => Fit::Native,
        (GpuKind::Ptx, None) if arch <= sm => Fit::Jit,
        (GpuKind::Ptx, Some(Suffix::F)) if family => Fit::Jit,
        (GpuKind::Ptx, Some(Suffix::A)) if exact => Fit::Jit,
        _ => Fit::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, RENAMED, TEGRA, fit};
    use crate::cuda::catalog::Catalog;
    use crate::formats::fatbin::{GpuKind, Suffix};

    #[test]
    fn code_runs_by_the_rules_of_compute_capabilities() {
        let (a, f) = (Some(Suffix::A), Some(Suffix::F));
        for (kind, arch, suffix, on, wanted) in [
            (GpuKind::Sass, 80, None, 80, Fit::Native),
            (GpuKind::Sass, 80, None, 86, Fit::Native),
            (GpuKind::Sass, 86, None, 80, Fit::Never),
            (GpuKind::Sass, 80, None, 90, Fit::Never),
            (GpuKind::Sass, 87, None, 87, Fit::Native),
            (GpuKind::Sass, 87, None, 89, Fit::Never),
            (GpuKind::Sass, 86, None, 87, Fit::Never),
            (GpuKind::Sass, 90, a, 90, Fit::Native),
            (GpuKind::Sass, 100, a, 103, Fit::Never),
            (GpuKind::Sass, 100, f, 103, Fit::Native),
            (GpuKind::Sass, 120, None, 121, Fit::Native),
            (GpuKind::Sass, 101, a, 110, Fit::Native),
            (GpuKind::Sass, 110, None, 101, Fit::Native),
            (GpuKind::Sass, 100, None, 110, Fit::Never),
            (GpuKind::Sass, 101, None, 103, Fit::Never),
            (GpuKind::Ptx, 101, a, 110, Fit::Jit),
            (GpuKind::Ptx, 70, None, 90, Fit::Jit),
            (GpuKind::Ptx, 90, None, 89, Fit::Never),
            (GpuKind::Ptx, 90, a, 100, Fit::Never),
            (GpuKind::Ptx, 90, a, 90, Fit::Jit),
            (GpuKind::Ptx, 100, f, 103, Fit::Jit),
            (GpuKind::Ptx, 100, f, 120, Fit::Never),
            // 10.1 became 11.0, and is of no family with 10.0 and 10.3.
            (GpuKind::Sass, 101, f, 103, Fit::Never),
            (GpuKind::Ptx, 101, f, 103, Fit::Never),
            (GpuKind::Sass, 100, f, 101, Fit::Never),
            (GpuKind::Sass, 101, f, 110, Fit::Native),
            (GpuKind::Lto, 90, None, 90, Fit::Never),
            (GpuKind::Other(9), 90, None, 90, Fit::Never),
        ] {
            assert_eq!(fit(on, kind, arch, suffix), wanted, "{kind:?} {arch} {suffix:?} on {on:?}");
        }
    }

    #[test]
    fn the_catalogue_knows_the_same_boards_and_names() {
        for architecture in Catalog::builtin().architectures() {
            let sm = architecture.sm;
            assert_eq!(TEGRA.contains(&sm), architecture.tegra, "{sm}");
            let other = RENAMED.iter().find(|pair| pair.0 == sm || pair.1 == sm);
            let other = other.map(|pair| if pair.0 == sm { pair.1 } else { pair.0 });
            assert_eq!(other, architecture.also, "{sm}");
        }
    }
}
