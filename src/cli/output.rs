//! Where results go: stdout, or a file that appears whole or not at all.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;

/// Writes a result to `file`, or to stdout when there is none. A reader that closed the pipe has what
/// it wanted: that is no error.
pub(super) fn write(bytes: &[u8], file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else {
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("cannot write to stdout")
            }
            _ => Ok(()),
        };
    };
    let what = || format!("cannot write {}", file.display());
    // A device or pipe is written to, not replaced; a link is followed to the file that it names.
    let target = match file.canonicalize() {
        Ok(target) if !target.is_file() => {
            return std::fs::OpenOptions::new()
                .write(true)
                .open(&target)
                .and_then(|mut special| special.write_all(bytes))
                .with_context(what);
        }
        Ok(target) => target,
        Err(_) => file.to_owned(),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut temporary = tempfile::Builder::new()
        .prefix(".cutaway-")
        // The user's umask applies, as for any file that a program writes.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(what)?;
    temporary.write_all(bytes).with_context(what)?;
    temporary.persist(&target).with_context(what)?;
    Ok(())
}
