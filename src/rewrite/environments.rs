//! Python virtual environments.

use std::sync::Arc;

use crate::formats::python_environment::includes_system_packages;
use crate::layer::LayerRead;
use crate::rootfs::{NodeId, Rootfs};

/// Whether a virtual environment does not search the packages of the system. `settings` is its `pyvenv.cfg`.
pub(super) fn is_isolated(rootfs: &Rootfs, layers: &[Option<Arc<LayerRead>>], settings: NodeId) -> bool {
    let read = || {
        let (layer, entry) = rootfs.node(settings).content()?;
        layers.get(usize::from(layer))?.as_deref()?.facts.document(entry)?.bytes().ok()
    };
    read().is_some_and(|bytes| !includes_system_packages(&bytes))
}
