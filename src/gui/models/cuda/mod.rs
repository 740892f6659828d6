//! The CUDA content of an image as tables: libraries, GPU code by architecture, copies, and why a file is there.

mod arch_matrix;
mod details;
mod duplicates;
mod libraries;
mod pruned;
mod query;
mod rows;
mod summary;
mod target;
pub mod words;

use std::collections::BTreeMap;

pub use arch_matrix::{ArchMatrix, ArchMatrixRow, Architecture, CodeBytes, CodeVerdict};
pub use details::{ChainStep, CodeLine, LibraryDetails, LinkLine, LinkState, LinkTarget};
pub use duplicates::{CopyItem, DuplicateGroup, DuplicateItem, DuplicateRows};
pub use libraries::LibraryItem;
pub use pruned::PrunedCode;
pub use query::{CudaFile, CudaFiles};
pub use rows::{LibraryColumn, LibraryGroup, LibraryRows, LibrarySort};
pub use summary::{FrameworkItem, Summary};
pub use target::{CodeTarget, Fit, OTHER_GPUS};

use crate::cuda::Inventory;
use crate::cuda::links::ObjectId;
use crate::rootfs::{Merge, NodeId, Rootfs};

/// All that the CUDA view shows but for the details of one library.
#[derive(Clone, Debug)]
pub struct CudaModel {
    /// The content in a few words.
    pub summary: Summary,
    /// The libraries, in the order of the inventory.
    pub libraries: Vec<LibraryItem>,
    /// GPU code by architecture and file.
    pub arch_matrix: ArchMatrix,
    /// Copies of libraries, then other large files of one content.
    pub duplicates: Vec<DuplicateItem>,
    /// GPUs to judge by.
    pub targets: Vec<CodeTarget>,
    places: Places,
}

/// Which library an object or a file is.
#[derive(Clone, Debug, Default)]
struct Places {
    objects: BTreeMap<ObjectId, usize>,
    nodes: BTreeMap<NodeId, usize>,
}

impl CudaModel {
    /// Looks at every library once: for a thread of its own where there are many.
    pub fn new(inventory: &Inventory, rootfs: &Rootfs, targets: Vec<CodeTarget>) -> Self {
        let mut places = Places::default();
        for (place, library) in inventory.libraries.iter().enumerate() {
            places.nodes.insert(library.node, place);
            places.objects.entry(library.object).or_insert(place);
        }
        let libraries = LibraryItem::all(inventory, rootfs);
        let duplicates = duplicates::all(inventory, rootfs, &libraries, &places);
        let arch_matrix = ArchMatrix::new(inventory, rootfs, &libraries);
        Self { summary: Summary::new(inventory), libraries, arch_matrix, duplicates, targets, places }
    }

    /// The library at a path.
    pub fn find(&self, raw: &[u8]) -> Option<usize> {
        self.libraries.iter().position(|library| library.raw == raw)
    }
}

/// Whether the CUDA view has a row for the file at a path.
pub fn is_listed(inventory: &Inventory, merge: &Merge, raw: &[u8]) -> bool {
    let name = raw.rsplit(|byte| *byte == b'/').next().unwrap_or(raw);
    let nodes = inventory.libraries.iter().map(|library| merge.rootfs.node(library.node));
    nodes.filter(|node| node.name() == name).any(|node| node.path() == raw)
}
