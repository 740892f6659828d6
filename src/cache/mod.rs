//! In: verified keys, and bytes to store under them.
//! Out: the same bytes in a later run, intact, or nothing.
//! Must not know: the meaning of the bytes.
//!
//! # Cache store
//!
//! The store (`cache`) has keys and bytes, and does not interpret them. A record is a file in
//! `index-<format>-<fingerprint>`, named by the BLAKE3 hash of its key; it contains the key as text and the
//! BLAKE3 hash of the payload. `build.rs` computes the fingerprint from the sources that write records
//! (`base`, `cache`, `formats`, `source`, `layer`, `analysis`) and `Cargo.lock`: the meaning of a record
//! changes with the code, and a version number maintained by hand would be forgotten.
//!
//! There is no lock and no index file. A record appears by a rename, its file time is the time of last use,
//! and every step is valid on its own: a record that vanished was removed by another process. Nothing is
//! synced, because a record truncated by a crash fails its checksum. Folders are held open while in use, and
//! links below the chosen folder are never followed. The folder must belong to the user and not be writable
//! by others: a writable record could forge an image. A cache fault is never an analysis fault: it is a note,
//! and the layer is read.

mod blobs;
mod folder;
mod record;
mod settings;
mod store;
mod sweep;

pub use blobs::{Blobs, NewBlob};
pub use folder::Usage;
pub use record::{CacheRecord, Key};
pub use settings::{Settings, SettingsError};
pub use store::Cache;
