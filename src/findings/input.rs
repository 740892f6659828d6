//! The input of the rules.

use std::sync::Arc;

use crate::cuda::catalog::Catalog;
use crate::cuda::compat::TargetGpu;
use crate::cuda::{FileContents, Inventory};
use crate::layer::LayerRead;
use crate::rootfs::Merge;
use crate::source::Image;

/// The input of the rules.
pub struct Input<'a> {
    /// Config and history.
    pub image: &'a Image,
    /// Layers, bottom first; `None` for those without bytes.
    pub layers: &'a [Option<Arc<LayerRead>>],
    /// The merged view.
    pub merge: &'a Merge,
    /// File contents read after the layers.
    pub bodies: &'a FileContents,
    /// The CUDA inventory.
    pub inventory: &'a Inventory,
    /// The catalogue of rules.
    pub catalog: &'a Catalog,
    /// Whether the whole image was read. An unread part may contain a user of any file.
    pub complete: bool,
    /// Target GPUs.
    pub targets: &'a [TargetGpu],
    /// Today in days since 1970, for end-of-support dates; `None` skips those checks.
    pub today: Option<u32>,
}
