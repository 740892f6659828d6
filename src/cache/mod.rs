//! In: verified keys, and bytes to store under them.
//! Out: the same bytes in a later run, intact, or nothing.
//! Must not know: the meaning of the bytes.

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
