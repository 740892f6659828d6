//! Properties of a machine, derived from its target.

use crate::cuda::catalog::{Catalog, DriverBranch, GpuClass, numbers};
use crate::cuda::compat::versions::as_new_as;
use crate::cuda::compat::{CudaVersion, DriverFrom, TargetGpu};

/// A target, with facts derived from its driver.
pub(super) struct Host<'a> {
    pub(super) target: &'a TargetGpu,
    pub(super) catalog: &'a Catalog,
    /// Numbers of the driver version; empty if unknown.
    pub(super) driver: Vec<u32>,
    /// CUDA version of the driver's libcuda; `None` if unknown.
    pub(super) cuda: Option<(u32, u32)>,
    /// Whether the driver is newer than every known branch, so that `cuda` is only a lower bound.
    pub(super) or_later: bool,
}

/// How a driver supports programs built for a CUDA version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Served {
    /// Full support: the driver is at least as new as that version.
    Fully,
    /// Minor-version compatibility: an older driver of the same major version.
    ByMinor,
    /// Support unknown.
    Unknown,
    /// No support: too old.
    No,
}

impl<'a> Host<'a> {
    pub(super) fn new(target: &'a TargetGpu, catalog: &'a Catalog) -> Self {
        let version = target.driver.as_ref().map(|driver| numbers(driver.version.as_bytes()));
        let mut host =
            Self { target, catalog, driver: version.unwrap_or_default(), cuda: target.cuda, or_later: false };
        // Jetson drivers have their own branches.
        if host.cuda.is_none() && !host.is_jetson() {
            let branch = host.branch();
            let known = branch.and_then(|branch| catalog.driver_branch(branch));
            host.cuda = known.and_then(DriverBranch::cuda_version);
            host.or_later = branch > catalog.newest_driver_branch().map(|newest| newest.branch);
        }
        host
    }

    pub(super) fn is_jetson(&self) -> bool {
        self.target.class == Some(GpuClass::Jetson)
    }

    /// First number of the driver version.
    pub(super) fn branch(&self) -> Option<u32> {
        self.driver.first().copied()
    }

    /// The driver branch, except for Jetson, whose branches are different.
    pub(super) fn data_branch(&self) -> Option<u32> {
        self.branch().filter(|_| !self.is_jetson())
    }

    /// The driver as text.
    pub(super) fn name(&self) -> String {
        match (&self.target.driver, self.cuda) {
            (Some(driver), _) if !self.driver.is_empty() => {
                let version: Vec<String> = driver.version.split('.').take(4).map(str::to_owned).collect();
                let usual = if driver.from == DriverFrom::Usual { " (typical for this target)" } else { "" };
                format!("driver {}{usual}", version.join("."))
            }
            (_, Some((major, minor))) => format!("the driver of CUDA {major}.{minor}"),
            _ => "the driver".to_owned(),
        }
    }

    /// How the machine's driver supports programs built for `need`. With an unknown driver the result is
    /// `Unknown`, or `No` for a driver older than all known branches.
    pub(super) fn serves(&self, need: CudaVersion) -> Served {
        let Some(cuda) = self.cuda else {
            // A driver older than all known branches is too old for a version whose branch is known.
            let later = need.minor.and_then(|minor| self.catalog.first_driver_branch((need.major, minor)));
            let older = self.data_branch().is_some_and(|own| later.is_some_and(|later| own < later.branch));
            return if older { Served::No } else { Served::Unknown };
        };
        let served = serves(self.catalog, cuda, &self.driver, need, self.is_jetson());
        if served == Served::No && self.or_later { Served::Unknown } else { served }
    }

    /// Whether the driver is at least as new as the one released with `need`.
    pub(super) fn is_from_release_of(&self, need: CudaVersion) -> bool {
        let shipped = need.minor.and_then(|minor| self.catalog.shipped_driver((need.major, minor)));
        let as_new = |shipped: String| as_new_as(&self.driver, &numbers(shipped.as_bytes()));
        !self.driver.is_empty() && !self.is_jetson() && shipped.is_none_or(as_new)
    }

    /// The oldest driver that supports `need`, by minor-version compatibility where available.
    pub(super) fn least_driver(&self, need: CudaVersion) -> Option<String> {
        let minor = self.catalog.major(need.major).map(|major| major.min_driver.clone());
        let shipped = need.minor.and_then(|minor| self.catalog.shipped_driver((need.major, minor)));
        match (minor, shipped) {
            // 11.0 was released with a driver older than the minimum of its major version.
            (Some(minor), Some(shipped)) => {
                let older = as_new_as(&numbers(minor.as_bytes()), &numbers(shipped.as_bytes()));
                Some(if older { shipped } else { minor })
            }
            (minor, shipped) => minor.or(shipped),
        }
    }
}

/// How a libcuda of version `cuda` supports programs built for `need`. `driver` is its version, empty if
/// unknown: minor-version compatibility starts with a driver version, not with a CUDA version.
pub(super) fn serves(
    catalog: &Catalog,
    cuda: (u32, u32),
    driver: &[u32],
    need: CudaVersion,
    jetson: bool,
) -> Served {
    let shipped = need.minor.and_then(|minor| catalog.shipped_driver((need.major, minor)));
    let shipped = shipped.map(|shipped| numbers(shipped.as_bytes())).filter(|_| !jetson);
    match need.minor {
        Some(minor) if cuda > (need.major, minor) => return Served::Fully,
        // Drivers of that branch from before the release report the same CUDA version.
        Some(minor) if cuda == (need.major, minor) => {
            let is_before = |shipped: &Vec<u32>| driver.len() > 1 && !as_new_as(driver, shipped);
            if !shipped.as_ref().is_some_and(is_before) {
                return Served::Fully;
            }
        }
        None if cuda.0 > need.major => return Served::Fully,
        _ => {}
    }
    if shipped.is_some_and(|shipped| !driver.is_empty() && as_new_as(driver, &shipped)) {
        return Served::Fully;
    }
    if cuda.0 != need.major {
        return Served::No;
    }
    // Minor-version compatibility exists for desktops and servers, from CUDA 11 on.
    match catalog.major(need.major) {
        Some(_) if jetson => Served::Unknown,
        Some(major) if driver.is_empty() || as_new_as(driver, &numbers(major.min_driver.as_bytes())) => {
            Served::ByMinor
        }
        _ if need.minor.is_none() => Served::Unknown,
        _ => Served::No,
    }
}
