//! In: the bytes of one layer, or one folder.
//! Out: a [`LayerIndex`]: every entry in flat arrays, and [`LayerFacts`] of its files, with what was proven.
//! Must not know: other layers, the image it belongs to, or what its files mean.

mod beside;
mod bodies;
mod builder;
mod capture;
mod column;
mod context;
mod facts;
mod folder;
mod index;
mod listed;
mod outcome;
mod pass;
mod stored;
mod walk;
mod watch;

pub use bodies::BodyFacts;
pub use builder::{IndexBuilder, IndexFull, NewEntry};
pub use capture::{COMPARED_BYTES, is_compared};
pub use context::Context;
pub use facts::{ContentHash, Document, LayerFacts, content_hash};
pub use folder::{FolderError, open_file, read_folder};
pub(crate) use index::parts;
pub use index::{Counts, DirId, EntryId, EntryKind, LayerIndex};
pub use listed::{ListedBodies, look_into_listed, read_listed, wanted_of};
pub use outcome::{Expected, LayerRead, Verified};
pub use pass::{read_download, read_layer, read_stream};
pub use stored::StoredError;
pub(crate) use stored::{Reader, Rows, Writer};
