//! Vocabulary words and other parts shared by the schema.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::vocabulary;
use crate::base::Warning;
pub use crate::base::words::Word;

/// Parses a fraction exactly as written: `serde_json` may be off in the last digit.
pub(super) fn fraction<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let written = Option::<Box<RawValue>>::deserialize(from)?;
    written.map(|text| text.get().parse().map_err(serde::de::Error::custom)).transpose()
}

/// A warning.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WarningLine {
    /// Stable code.
    #[schemars(transform = vocabulary::warning_code)]
    pub code: Word,
    /// What is wrong, and why.
    pub message: String,
    /// Layer, file or package concerned.
    pub subject: String,
}

impl From<Warning> for WarningLine {
    fn from(warning: Warning) -> Self {
        Self { code: warning.code.as_str().into(), message: warning.message, subject: warning.subject }
    }
}
