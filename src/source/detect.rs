//! What lies at a bare path, told by content and never by name.

use std::fs;
use std::path::Path;

use super::error::SourceError;
use super::reference::{Reference, Transport};

/// Turns a bare path into a transport; other references pass unchanged.
pub(super) fn resolve(reference: &Reference) -> Result<Reference, SourceError> {
    let mut resolved = reference.clone();
    if reference.transport != Transport::Path {
        return Ok(resolved);
    }
    let path = Path::new(&reference.location);
    let object = crate::base::text::printable(&reference.location);
    let facts = fs::metadata(path).map_err(|error| SourceError::open(&object, error))?;
    resolved.transport = if !facts.is_dir() {
        Transport::Archive
    } else if path.join("index.json").is_file() {
        Transport::Oci
    } else if path.join("manifest.json").is_file() {
        Transport::Dir
    } else if ["etc", "usr", "bin", "lib"].iter().filter(|name| path.join(name).is_dir()).count() >= 2 {
        Transport::Rootfs
    } else {
        return Err(SourceError::NotAnImage {
            object,
            reason: "the folder has no index.json (OCI layout), no manifest.json (skopeo dir) and does not look like a root filesystem".into(),
            hint: Some("rootfs:FOLDER opens any folder as one layer".into()),
        });
    };
    Ok(resolved)
}
