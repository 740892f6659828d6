//! Where results go: stdout, or a file that appears whole or not at all.

use std::fs::{self, OpenOptions, Permissions};
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
    let write_through = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(file).and_then(|mut file| file.write_all(bytes))
    };
    // A device, a pipe or /dev/stdout is written to, never replaced; so is a link to nothing.
    let mut mode = None;
    let target = match fs::metadata(file) {
        Ok(facts) if !facts.is_file() => return write_through().with_context(what),
        Ok(facts) => {
            mode = Some(facts.permissions());
            file.canonicalize().with_context(what)?
        }
        Err(_) if file.is_symlink() => return write_through().with_context(what),
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
    if let Some(mode) = mode {
        temporary.as_file().set_permissions(mode).with_context(what)?;
    }
    temporary.persist(&target).with_context(what)?;
    Ok(())
}
