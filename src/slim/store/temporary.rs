//! Temporary files and folders beside a destination, on the same file system.

use std::env;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use super::{SlimError, failed, refused};
use crate::base::text::printable;

/// Start of temporary names.
const PREFIX: &str = ".cutaway-";

/// A temporary folder in `folder`, with the permissions that a new folder has.
pub(super) fn temporary_folder(folder: &Path) -> Result<TempDir, SlimError> {
    tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(folder)
        // Its message names the temporary folder, which is irrelevant.
        .map_err(|error| {
            failed(format!("cannot write to the folder {}", shown(folder)), &error.kind().into())
        })
}

/// A temporary file in `folder`, with the permissions that a new file has.
pub(super) fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| error.kind().into())
}

/// A path for messages.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// The folder that `path` is in, which must exist: temporary names are created there.
pub(super) fn folder_of(path: &Path) -> Result<PathBuf, SlimError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let what = || format!("cannot write to the folder {}", shown(folder));
    match folder.metadata() {
        Ok(facts) if facts.is_dir() => Ok(folder.to_owned()),
        Ok(_) => Err(refused(what(), "not a folder", None)),
        Err(error) => Err(refused(what(), error, Some("create it first"))),
    }
}

/// Where large temporary files belong: `/tmp` may be in memory.
pub(super) fn large_folder() -> PathBuf {
    let large = PathBuf::from("/var/tmp");
    if env::var_os("TMPDIR").is_none() && large.is_dir() { large } else { env::temp_dir() }
}
