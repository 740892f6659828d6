//! In: an analysis of an image, a plan, a destination.
//! Out: a smaller image at the destination, opened again and compared with the predicted merged view.
//! Must not know: how a plan is chosen, or how results are shown.
//!
//! # Design
//!
//! **Selection** (`slim/selection.rs`) decides for every entry of every layer whether it stays. What an upper layer
//! shadows goes; what the plan removes goes; folders of the merged view stay. The merged view of the selection is
//! computed before anything is written, and must be the merged view of the image without the removed files.
//!
//! **Layers** that lose nothing keep their blob byte for byte. Others are rewritten from their own tar stream:
//! members that stay keep their header bytes. (`slim/layer.rs`) Compression uses all cores and gives the same bytes
//! whatever their number. (`slim/encode.rs`)
//!
//! **Package databases** stay, or lose the packages without files, which the selection decides too: it needs no byte
//! that the analysis did not store. (`slim/forgotten.rs`)
//!
//! **Other platforms** of an index stay out, or are carried over byte for byte. (`slim/platforms.rs`)
//!
//! **Documents** are those of the source, member by member, with what changed. (`slim/documents.rs`)
//!
//! **Stores** (`slim/store`) receive blobs, then the documents, and publish the image at its name last. Until then
//! it exists under a temporary name, where it is verified (`slim/verify.rs`); a store that is dropped before leaves
//! nothing behind.

mod again;
mod bits;
mod blob;
mod compare;
mod destination;
mod documents;
mod encode;
mod error;
mod files;
mod folder;
mod forgotten;
mod gpu_code;
mod json;
mod layer;
mod options;
mod platforms;
mod proof;
mod pruned;
mod replacement;
mod selection;
mod store;
mod verify;
mod write;

pub use destination::Destination;
pub use documents::WrittenLayer;
pub use encode::Encoding;
pub use error::SlimError;
pub use files::{FileSink, SparseFiles, read_files};
pub use forgotten::ForgottenPackage;
pub use gpu_code::{has_gpu_code, prune, prune_estimate};
pub use options::{SlimOptions, needs_all_bytes};
pub use platforms::OtherPlatform;
pub use pruned::{GPU_TARGETS, Pruned, PrunedFile, Pruning};
pub use selection::{Action, FORGET, Removed, SelectedLayer, Selection, Sizes};
pub use store::{BlobSink, CarriedDocuments, Documents, KeptBlob, Platforms, Published, Staged, Store};
pub use verify::Verified;
pub use write::{Written, write};
