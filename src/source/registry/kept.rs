//! Blobs that the user wants kept as they are, within a limit.

use std::path::PathBuf;

/// A folder of blobs by digest, and how many bytes it may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBlobs {
    folder: PathBuf,
    limit_bytes: u64,
}
