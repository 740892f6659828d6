//! In: the indexes of all layers, bottom first.
//! Out: a [`Rootfs`]: what a container sees, and what each layer hides.
//! Must not know: where layers come from, how they were read, or what files mean.

mod copies;
mod entries;
mod finish;
mod merge;
mod timeline;
mod tree;

pub use copies::{Copied, copies};
pub use merge::{LayerWaste, Merge, merge, merge_kept};
pub use timeline::{PathId, Timeline, Version, VersionId};
pub use tree::{Hidden, Node, NodeId, NodeKind, Rootfs};
