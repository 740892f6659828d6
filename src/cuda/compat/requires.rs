//! Summary of an image's requirements.

use super::versions::as_new_as;
use super::{CodeFile, Needs, Weight};
use crate::cuda::catalog::{Catalog, numbers};
use crate::cuda::{Fit, fit};

/// Minimum requirements for a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requires {
    /// Highest CUDA version that a file in use was built for, such as `12.8`.
    pub cuda: Option<String>,
    /// Driver released with that CUDA version; supports all its features.
    pub min_driver: Option<String>,
    /// Oldest driver for minor-version compatibility: sufficient if no PTX needs JIT compilation.
    pub min_driver_minor_compat: Option<String>,
    /// Architectures for which all deciding files have SASS, such as `sm_80`, lowest first.
    pub sass: Vec<String>,
    /// Further architectures on which all deciding files run after JIT compilation of PTX.
    pub ptx: Vec<String>,
}

/// The minimum requirements for a machine.
pub fn requires(needs: &Needs, catalog: &Catalog) -> Requires {
    let highest = needs.versions.first().map(|need| need.version);
    let min_driver = highest
        .and_then(|version| Some((version.major, version.minor?)))
        .and_then(|cuda| catalog.shipped_driver(cuda));
    let of_major =
        highest.and_then(|version| catalog.major(version.major)).map(|major| major.min_driver.clone());
    // 11.0 was released with a driver older than the minimum of its major version; for 11.0 that driver is
    // sufficient.
    let older = |minimum: &String| {
        let shipped = min_driver.as_ref().map(|driver| numbers(driver.as_bytes()));
        shipped.is_none_or(|shipped| as_new_as(&shipped, &numbers(minimum.as_bytes())))
    };
    let min_driver_minor_compat =
        of_major.map(|minimum| if older(&minimum) { minimum } else { min_driver.clone().unwrap_or(minimum) });
    let (sass, ptx) = architectures(needs, catalog);
    Requires {
        cuda: highest.map(|version| version.to_string()),
        min_driver,
        min_driver_minor_compat,
        sass,
        ptx,
    }
}

/// Architectures of the catalogue on which all deciding files run: with SASS, and after JIT compilation of
/// PTX.
fn architectures(needs: &Needs, catalog: &Catalog) -> (Vec<String>, Vec<String>) {
    let of =
        |weight: Weight| needs.code.iter().filter(move |file| file.weight == weight && !file.code.is_empty());
    let mut files: Vec<&CodeFile> = of(Weight::Decides).collect();
    if files.is_empty() {
        files = of(Weight::MayDecide).collect();
    }
    if files.is_empty() {
        return Default::default();
    }
    // The old name of a renamed architecture is omitted.
    let mut known: Vec<u32> = catalog
        .architectures()
        .iter()
        .filter(|one| one.also.is_none() || one.dropped.is_none())
        .map(|one| one.sm)
        .collect();
    known.sort_unstable();
    let (mut sass, mut ptx) = (Vec::new(), Vec::new());
    for sm in known {
        let best = |file: &CodeFile| {
            file.code.iter().map(|row| fit(sm, row.kind, row.arch, row.suffix)).max().unwrap_or(Fit::Never)
        };
        match files.iter().map(|file| best(file)).min() {
            Some(Fit::Native) => sass.push(format!("sm_{sm}")),
            Some(Fit::Jit) => ptx.push(format!("sm_{sm}")),
            _ => {}
        }
    }
    (sass, ptx)
}
