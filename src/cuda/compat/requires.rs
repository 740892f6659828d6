//! What an image needs, in a few figures.

use super::Needs;
use crate::cuda::catalog::Catalog;

/// What any machine must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requires {
    /// The highest CUDA version that something in use was built for, such as `12.8`.
    pub cuda: Option<String>,
    /// The driver that came out with it: with it, everything works.
    pub min_driver: Option<String>,
    /// The oldest driver by minor-version compatibility: enough as long as no PTX has to be compiled.
    pub min_driver_minor_compat: Option<String>,
    /// Architectures on which every file that decides has SASS that runs, such as `sm_80`, lowest first.
    pub sass: Vec<String>,
    /// Further ones on which all of them run once PTX was compiled.
    pub ptx: Vec<String>,
}

/// The least that any machine must have.
pub fn requires(_needs: &Needs, _catalog: &Catalog) -> Requires {
    Requires::default()
}
