//! CUDA versions of driver branches, and drivers of CUDA versions, derived from the toolkit and driver
//! tables.

use super::{Catalog, CudnnSupport, DriverBranch, ReleasedToolkit, major_minor, numbers};

impl DriverBranch {
    /// CUDA version of its libcuda, such as `(12, 4)`.
    pub fn cuda_version(&self) -> Option<(u32, u32)> {
        major_minor(&self.cuda)
    }
}

impl ReleasedToolkit {
    /// Major and minor version, such as `(12, 4)`.
    fn minor(&self) -> Option<(u32, u32)> {
        major_minor(&self.version)
    }
}

impl Catalog {
    /// The branch of a driver by the first number of its version, or the last known branch before it: a
    /// driver between two branches has the CUDA version of the older. `None` before the first branch.
    pub fn driver_branch(&self, branch: u32) -> Option<&DriverBranch> {
        self.driver_branches().iter().filter(|one| one.branch <= branch).max_by_key(|one| one.branch)
    }

    /// The newest known branch.
    pub fn newest_driver_branch(&self) -> Option<&DriverBranch> {
        self.driver_branches().iter().max_by_key(|one| one.branch)
    }

    /// The first branch with this CUDA version or a later one. `None` if the version is newer than all
    /// branches, or older than the first known one.
    pub fn first_driver_branch(&self, cuda: (u32, u32)) -> Option<&DriverBranch> {
        let known = self.driver_branches().iter().filter_map(DriverBranch::cuda_version).min();
        let with = |one: &&DriverBranch| one.cuda_version().is_some_and(|version| version >= cuda);
        let branches = self.driver_branches().iter().filter(with);
        branches.min_by_key(|one| one.branch).filter(|_| known.is_some_and(|oldest| oldest <= cuda))
    }

    /// The Linux driver released with the first point release of a CUDA version, or the first driver branch
    /// with that version if the toolkit is unknown.
    pub fn shipped_driver(&self, cuda: (u32, u32)) -> Option<String> {
        let of_minor = self.toolkits().iter().filter(|toolkit| toolkit.minor() == Some(cuda));
        let drivers = of_minor.filter_map(|toolkit| toolkit.driver_linux.as_deref());
        let first = drivers.min_by_key(|driver| numbers(driver.as_bytes()));
        let branch = || self.first_driver_branch(cuda).map(|one| one.branch.to_string());
        first.map(str::to_owned).or_else(branch)
    }

    /// The newest PTX ISA version that a driver with this CUDA version compiles; `None` before the first
    /// known toolkit.
    pub fn ptx_isa(&self, cuda: (u32, u32)) -> Option<(u16, u16)> {
        let toolkits = self.toolkits().iter().filter_map(|toolkit| Some((toolkit.minor()?, toolkit)));
        let (_, toolkit) = toolkits.filter(|(minor, _)| *minor <= cuda).max_by_key(|(minor, _)| *minor)?;
        let (major, minor) = major_minor(&toolkit.ptx_isa)?;
        Some((u16::try_from(major).ok()?, u16::try_from(minor).ok()?))
    }

    /// GPU support of a cuDNN version; `None` if unknown. If the CUDA major version of the build is not
    /// given, the entry with the oldest minimum SM.
    pub fn cudnn_support_of(&self, version: &str, cuda: Option<u32>) -> Option<&CudnnSupport> {
        let version = numbers(version.as_bytes());
        let known = self.cudnn_support().iter().filter(|entry| {
            let fits = entry.cuda.is_none() || cuda.is_none() || entry.cuda == cuda;
            fits && numbers(entry.from.as_bytes()) <= version
        });
        // Among entries of the same version: the entry for that CUDA build, otherwise the lowest minimum SM.
        known.max_by_key(|entry| {
            let exact = entry.cuda.is_some() && entry.cuda == cuda;
            (numbers(entry.from.as_bytes()), exact, std::cmp::Reverse(entry.min_sm))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Catalog;

    #[test]
    fn drivers_have_the_cuda_version_of_their_branch_or_of_the_one_before() {
        let catalog = Catalog::builtin();
        for (branch, cuda) in [
            (550, Some((12, 4))),
            (551, Some((12, 4))),
            (580, Some((13, 0))),
            (585, Some((13, 0))),
            (418, Some((10, 1))),
            (430, Some((10, 1))),
            (300, None),
        ] {
            let found = catalog.driver_branch(branch).and_then(super::DriverBranch::cuda_version);
            assert_eq!(found, cuda, "{branch}");
        }
        let newest = catalog.newest_driver_branch().unwrap();
        assert!(catalog.driver_branches().iter().all(|one| one.branch <= newest.branch));
    }

    #[test]
    fn a_cuda_version_came_out_with_a_driver_or_at_least_a_branch() {
        let catalog = Catalog::builtin();
        for (cuda, driver) in [
            ((12, 4), Some("550.54.14")),
            ((12, 2), Some("535.54.03")),
            ((12, 7), Some("565")),
            ((13, 4), Some("615")),
            ((10, 2), Some("440")),
            ((6, 0), None),
            ((99, 0), None),
        ] {
            assert_eq!(catalog.shipped_driver(cuda).as_deref(), driver, "{cuda:?}");
        }
    }

    #[test]
    fn versions_of_ptx_follow_from_those_of_cuda() {
        let catalog = Catalog::builtin();
        for (cuda, isa) in [((12, 0), (8, 0)), ((12, 4), (8, 4)), ((12, 6), (8, 5)), ((13, 0), (9, 0))] {
            assert_eq!(catalog.ptx_isa(cuda), Some(isa), "{cuda:?}");
        }
        assert_eq!(catalog.ptx_isa((10, 2)), None);
    }

    #[test]
    fn cudnn_left_volta_behind_after_9_10() {
        let catalog = Catalog::builtin();
        for (version, cuda, wanted) in [
            ("8.9.6", Some(12), Some(50)),
            ("9.10.2", Some(12), Some(50)),
            ("9.10.2.21", None, Some(50)),
            ("9.11.0", Some(12), Some(75)),
            ("9.17.0", Some(13), Some(75)),
            ("8.4.0", Some(11), Some(35)),
            ("7.6.5", Some(10), None),
        ] {
            let found = catalog.cudnn_support_of(version, cuda).map(|entry| entry.min_sm);
            assert_eq!(found, wanted, "{version} for {cuda:?}");
        }
    }
}
