//! What all commands write: results to stdout or a file that is replaced atomically, messages to stderr, an exit code.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::ValueEnum;

use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;
use crate::base::text::printable;
use crate::report::WarningLine;

/// Exit code of wrong usage, unreadable input, an incomplete result.
pub(super) const TROUBLE: u8 = 2;
/// Maximum warnings printed on stderr.
const SHOWN_WARNINGS: usize = 20;

/// Output format of commands with text and JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Human-readable
    Text,
    /// Machine-readable
    Json,
}

/// Why a command cannot do what its arguments ask for.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct UsageError {
    message: String,
    /// What the user can do about it.
    pub(super) hint: Option<String>,
}

impl UsageError {
    pub(super) fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint }
    }
}

/// The exit code of a result.
pub(super) fn code(complete: bool) -> ExitCode {
    ExitCode::from(if complete { 0 } else { TROUBLE })
}

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

/// Prints a line on stderr.
pub(super) fn message(text: &str) {
    // A closed stderr must not end the program.
    writeln!(io::stderr(), "{}", printable(text)).ok();
}

/// Prints warnings on stderr.
pub(super) fn warn(warnings: &[WarningLine]) {
    for warning in warnings.iter().take(SHOWN_WARNINGS) {
        message(&format!("warning: {}: {}: {}", warning.code, warning.subject, warning.message));
    }
    if let Some(more) = warnings.len().checked_sub(SHOWN_WARNINGS).filter(|more| *more > 0) {
        message(&format!("{more} more warnings: see the report"));
    }
}

/// The bytes of a regular file, up to one more than `most`.
pub(super) fn read_file(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_up_to(open_regular(file)?, most)
}
