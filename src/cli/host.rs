//! The GPUs of this machine as targets.

use crate::cuda::catalog::Catalog;
use crate::cuda::compat::HostTargets;

/// The GPUs of this machine, asked for in a process of its own; or why there is none to judge against.
pub(super) fn host_targets(_catalog: &Catalog) -> HostTargets {
    Err("this build has no GPU check".to_owned())
}
