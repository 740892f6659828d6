//! A file of an image, or an archive of several, as one file of this machine: complete under its name, or not there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

use super::archive::archive;
use super::error::ContentsError;
use super::output::Extracted;
use super::read::read_into;
use crate::analysis::{Analysis, Options};
use crate::base::text::escape;
use crate::cuda::Inode;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::EntryId;
use crate::rootfs::{NodeId, Rootfs};
use crate::slim::{FileSink, SparseFiles};

/// What is saved: an analysis, and the options it was made with.
pub type Opened<'a> = (&'a Analysis, &'a Options);
/// Progress and cancellation.
pub type Work<'a> = (&'a Progress, &'a CancelToken);

/// Saves one file; its size. `path` is its path in the merged view. Without `replace` an existing file stays.
///
/// # Errors
/// Those of [`read_into`]; `to` cannot be written, or exists.
pub fn save_file(
    (analysis, opened): Opened<'_>,
    (inode, path): (Inode, Vec<u8>),
    to: &Path,
    replace: bool,
    (progress, cancel): Work<'_>,
) -> Result<u64, ContentsError> {
    let stop = cancel.child();
    let wanted = BTreeMap::from([(inode, path)]);
    let mut saved = None;
    write_to(to, replace, |out| {
        let mut sink = Saved { out, bytes: 0, ended: false, failed: None, stop: stop.clone() };
        let result = read_into(analysis, opened, &wanted, &mut sink, progress, &stop);
        cancel.check()?;
        if let Some(error) = sink.failed.take() {
            return Err(failed(to, &error));
        }
        result?;
        if !sink.ended {
            let object = wanted.values().map(|path| escape(path)).collect();
            let reason = "its layer does not have its bytes".to_owned();
            return Err(ContentsError::Unread { object, reason });
        }
        saved = Some(sink.bytes);
        Ok(())
    })?;
    Ok(saved.unwrap_or_default())
}

/// Saves `nodes` and all below them as a tar archive. Without `replace` an existing file stays.
///
/// # Errors
/// Those of [`archive`]; `to` cannot be written, or exists.
pub fn save_archive(
    opened: Opened<'_>,
    rootfs: &Rootfs,
    nodes: &BTreeSet<NodeId>,
    to: &Path,
    replace: bool,
    work: Work<'_>,
) -> Result<Extracted, ContentsError> {
    let mut done = Extracted::default();
    write_to(to, replace, |out| {
        done = archive(opened, rootfs, nodes, out, work)?;
        Ok(())
    })?;
    Ok(done)
}

fn failed(to: &Path, error: &io::Error) -> ContentsError {
    ContentsError::Write { to: to.display().to_string(), reason: error.to_string() }
}

fn write_to(
    to: &Path,
    replace: bool,
    work: impl FnOnce(&mut dyn Write) -> Result<(), ContentsError>,
) -> Result<(), ContentsError> {
    let fault = |error: io::Error| failed(to, &error);
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Checked first for its error message: that of the temporary file is lost below.
    std::fs::metadata(folder).map_err(fault)?;
    let mut file: NamedTempFile = tempfile::Builder::new()
        .prefix(".cutaway-")
        // The user's umask applies, as for any new file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| fault(io::Error::from(error.kind())))?;
    let mut out = BufWriter::new(file.as_file_mut());
    work(&mut out)?;
    out.flush().map_err(fault)?;
    drop(out);
    let saved = if replace { file.persist(to) } else { file.persist_noclobber(to) };
    saved.map(drop).map_err(|error| fault(error.error))
}

struct Saved<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
    ended: bool,
    failed: Option<io::Error>,
    stop: CancelToken,
}

impl FileSink for Saved<'_> {
    fn sparse_files(&self) -> SparseFiles {
        SparseFiles::Expand
    }

    fn begin(&mut self, _: (u16, EntryId), _: u64) {}

    fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(bytes)
        {
            self.failed = Some(error);
            self.stop.cancel();
        }
        self.bytes += bytes.len() as u64;
    }

    fn end(&mut self, _: (u16, EntryId)) -> Result<(), Cancelled> {
        self.ended = true;
        if self.failed.is_some() { Err(Cancelled) } else { Ok(()) }
    }
}
