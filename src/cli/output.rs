//! Output: stdout, or a file that is replaced atomically.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;

use crate::base::save::save;

/// Writes to `file`, or to stdout without one. A closed pipe is not an error.
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
    save(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}
