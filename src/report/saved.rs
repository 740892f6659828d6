//! A report that was saved as JSON, read again.

use serde::Deserialize;
use thiserror::Error;

use super::model::Report;
use super::options::SCHEMA;
use crate::base::redact::json_fault;
use crate::base::size::human;
use crate::base::text::{elide_end, printable};

/// Bytes of a saved report: that of an image with a million files that all findings name stays below.
pub const SAVED_BYTES: u64 = 512 << 20;

/// Why a file cannot be read as a report.
#[derive(Debug, Error)]
pub enum SavedError {
    /// More than [`SAVED_BYTES`].
    #[error("{} is too large for a report: the limit is {}", human(*.0), human(SAVED_BYTES))]
    TooLarge(u64),
    /// No JSON, or it ends early.
    #[error("not a JSON document: {0}")]
    NotJson(String),
    /// JSON of something else.
    #[error("not a saved report: {0}, expected {SCHEMA}")]
    Foreign(String),
    /// A report of a schema that this version does not know.
    #[error("unsupported report schema {found}: this version reads {SCHEMA}")]
    Newer {
        /// The schema that it names.
        found: String,
    },
    /// It declares the schema, but lacks required fields.
    #[error("invalid report of schema {SCHEMA}: {0}")]
    Malformed(String),
}

impl SavedError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Newer { .. } => Some("open it with a newer version of Cutaway"),
            Self::Foreign(_) => Some("write one with `cutaway report IMAGE --format json -o FILE`"),
            _ => None,
        }
    }
}

/// The field that identifies a document.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

/// Reads a report. Fields that it does not know are left out, as newer versions may add some.
///
/// # Errors
/// It is too large, no JSON, something else than a report, or of a schema that is not known here.
pub fn read_saved(bytes: &[u8]) -> Result<Report, SavedError> {
    if bytes.len() as u64 > SAVED_BYTES {
        return Err(SavedError::TooLarge(bytes.len() as u64));
    }
    let head: Head = match serde_json::from_slice(bytes) {
        Ok(head) => head,
        Err(error) if error.is_data() => return Err(SavedError::Foreign("no schema given".to_owned())),
        Err(error) => return Err(SavedError::NotJson(json_fault(&error))),
    };
    let Some(schema) = head.schema else {
        return Err(SavedError::Foreign("no schema given".to_owned()));
    };
    if schema != SCHEMA {
        let found = printable(&elide_end(&schema, 80));
        return Err(match schema.strip_prefix("cutaway.report/") {
            Some(version) if version.parse::<u32>().is_ok() => SavedError::Newer { found },
            _ => SavedError::Foreign(format!("schema {found}")),
        });
    }
    serde_json::from_slice(bytes).map_err(|error| SavedError::Malformed(misfit(&error)))
}

/// The mismatch. Field names are safe; other `serde_json` messages quote the document, which may contain a secret.
fn misfit(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("missing field") { printable(&text) } else { json_fault(error) }
}
