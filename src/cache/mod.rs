//! In: keys that were verified, and bytes to keep under them.
//! Out: the same bytes in a later run, unharmed, or nothing.
//! Must not know: what the bytes mean.

mod blobs;
mod folder;
mod record;
mod settings;
mod store;
mod sweep;

pub use blobs::{Blobs, NewBlob};
pub use record::CacheRecord;
pub use settings::{Settings, SettingsError};
pub use store::{Cache, Key};
pub use sweep::Usage;
