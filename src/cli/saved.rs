//! Reads a saved JSON report in place of an image.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use super::arguments::ReportPlan;
use super::dockerfile::open_regular;
use super::run::message;
use crate::report::{Report, SAVED_BYTES, SavedError, read_saved};
use crate::source::{Reference, redacted};

/// Why a saved report cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum SavedFileError {
    /// The file cannot be read.
    #[error("cannot read {file}")]
    Unreadable { file: String, source: io::Error },
    /// JSON, but not a report.
    #[error("{file}: {reason}")]
    NoReport { file: String, reason: SavedError },
    /// An option that needs the image was given.
    #[error("{option} needs the image: {file} is a saved report")]
    NeedsImage { file: String, option: &'static str },
}

impl SavedFileError {
    /// What the user can do about it.
    pub(super) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unreadable { .. } => return None,
            Self::NoReport { reason, .. } => reason.hint()?.to_owned(),
            Self::NeedsImage { option, .. } => {
                format!("pass the image instead of its report, or omit {option}")
            }
        })
    }
}

/// The saved report given in place of an image; `None` for an image.
pub(super) fn saved(plan: &ReportPlan) -> Result<Option<Report>, SavedFileError> {
    let Ok(reference) = Reference::parse(&plan.read.image) else { return Ok(None) };
    let Some(path) = reference.json_file() else { return Ok(None) };
    let file = redacted(&reference.location);
    let bytes = match bounded(path) {
        Ok(bytes) => bytes,
        Err(source) => return Err(SavedFileError::Unreadable { file, source }),
    };
    let mut report = match read_saved(&bytes) {
        Ok(report) => report,
        Err(reason) => return Err(SavedFileError::NoReport { file, reason }),
    };
    if let Some(option) = needs_image(plan) {
        return Err(SavedFileError::NeedsImage { file, option });
    }
    if plan.read.verbose || io::stderr().is_terminal() {
        let (name, version) = (&report.generator.name, &report.generator.version);
        message(&format!(
            "{file} is a saved report of {}, written by {name} {version}",
            report.image.reference
        ));
    }
    if !plan.show_secrets {
        report.redact();
    }
    Ok(Some(report))
}

/// The first option that needs the image.
fn needs_image(plan: &ReportPlan) -> Option<&'static str> {
    let read = &plan.read;
    [
        (read.verify, "--verify"),
        (plan.dockerfile.is_some(), "--dockerfile"),
        (!read.targets.is_empty(), "--target"),
        (read.platform.is_some(), "--platform"),
        (!read.catalog.is_empty(), "--catalog"),
        (read.today.is_some(), "--today"),
    ]
    .into_iter()
    .find_map(|(given, option)| given.then_some(option))
}

/// All bytes, up to one more than a report may have.
fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(SAVED_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
