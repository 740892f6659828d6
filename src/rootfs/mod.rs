//! In: the indexes of all layers, bottom first.
//! Out: a [`Rootfs`]: the merged view, and what each layer shadows.
//! Must not know: the origin of layers, how they were read, or the meaning of files.

mod copies;
mod entries;
mod finish;
mod merge;
mod timeline;
mod tree;
mod value;

pub use copies::{copies, replaced};
pub use merge::{LayerWaste, Merge, merge, merge_kept};
pub use timeline::{PathId, Timeline, Version, VersionId};
pub use tree::{Node, Rootfs};
pub use value::{Copied, Hidden, NodeId, NodeKind};
