//! The user's own Dockerfile.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::problem::Problem;
use crate::base::size::grouped;
use crate::formats::dockerfile::parse;
use crate::rewrite::DOCKERFILE_BYTES;

/// A file, read once when it is needed first.
pub(super) struct GivenFile {
    pub(super) path: PathBuf,
    /// Its name, as messages have it.
    pub(super) name: String,
    bytes: OnceLock<Vec<u8>>,
}

impl GivenFile {
    pub(super) fn new(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { path, name, bytes: OnceLock::new() }
    }

    /// Its bytes; they stay as they were when it was read first.
    pub(super) fn bytes(&self) -> Result<&[u8], Problem> {
        if self.bytes.get().is_none() {
            let bytes = read_file(&self.path, DOCKERFILE_BYTES as u64, "a Dockerfile")
                .map_err(|why| Problem::unreadable(&self.name, &why))?;
            return Ok(self.bytes.get_or_init(|| bytes));
        }
        Ok(self.bytes.get().map(Vec::as_slice).unwrap_or_default())
    }
}

/// Reads a regular file of at most so many bytes, or one more when it grows meanwhile.
pub(in crate::gui::models) fn read_file(path: &Path, most: u64, what: &str) -> Result<Vec<u8>, String> {
    // Looked at before it is opened: a pipe would wait for somebody who writes.
    let facts = path.metadata().map_err(|error| error.to_string())?;
    if !facts.is_file() {
        return Err("Not a regular file.".to_owned());
    }
    if facts.len() > most {
        let (bytes, most) = (grouped(facts.len()), grouped(most));
        return Err(format!("File too large: {bytes} bytes; the limit for {what} is {most}."));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // It may have grown; one byte too many is refused later.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Whether a file is a Dockerfile, by name or content. Reads it.
pub fn is_dockerfile(path: &Path) -> bool {
    let small =
        || path.metadata().is_ok_and(|facts| facts.is_file() && facts.len() <= DOCKERFILE_BYTES as u64);
    small()
        && (named_dockerfile(path)
            || read_file(path, DOCKERFILE_BYTES as u64, "a Dockerfile")
                .is_ok_and(|bytes| parse(&bytes).is_ok()))
}

/// Whether a file is called as Dockerfiles are: `Dockerfile`, `Dockerfile.dev`, `gpu.Containerfile`.
pub fn named_dockerfile(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.to_string_lossy().to_lowercase();
    let mut parts = name.split('.');
    parts
        .clone()
        .next()
        .into_iter()
        .chain(parts.next_back())
        .any(|part| ["dockerfile", "containerfile"].contains(&part))
}
