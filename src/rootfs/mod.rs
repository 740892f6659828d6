//! In: the indexes of all layers, bottom first.
//! Out: a [`Rootfs`]: the merged view, and what each layer shadows.
//! Must not know: the origin of layers, how they were read, or the meaning of files.
//!
//! # Layer rules
//!
//! - A path loses leading `/` and `./`, repeated slashes and `.`; `..` goes up and stops at the root, with a
//!   warning.
//! - Whiteouts of a layer apply first, and only to lower layers. Then its members apply in order: a later
//!   member at the same path replaces the earlier one, a file replaces a folder with everything below it, a
//!   member below a file replaces that file by a folder, a folder over a folder merges.
//! - A hard link is resolved against the state at that moment and shares the inode; it adds no bytes.
//! - Every regular-file member is an inode. Its bytes are merged if some path of the result reaches it, else
//!   wasted; the content of all layers is exactly merged plus wasted. Waste is attributed to the layer that
//!   contains the bytes, and to the layer that removed the last path to them.

mod copies;
mod entries;
mod finish;
mod merge;
mod paths;
mod stored;
mod timeline;
mod tree;
mod value;

pub use copies::{copies, replaced};
pub use merge::{LayerWaste, Merge, merge, merge_kept};
pub use paths::PathBuffer;
pub use timeline::{PathId, Timeline, Version, VersionId};
pub use tree::{Node, Rootfs};
pub use value::{Copied, Hidden, NodeId, NodeKind};
