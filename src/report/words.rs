//! Words of fixed vocabularies, and what else all parts of the schema share.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::vocabulary;
use crate::base::Warning;

/// A word of a fixed vocabulary: borrowed when this program made it, owned when it was read from a report.
pub type Word = Cow<'static, str>;

/// Reads a fraction as it was written to the last digit: `serde_json` itself may be off by one there.
pub(super) fn fraction<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let written = Option::<Box<RawValue>>::deserialize(from)?;
    written.map(|text| text.get().parse().map_err(serde::de::Error::custom)).transpose()
}

/// Something that went wrong.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WarningLine {
    /// A stable name.
    #[schemars(transform = vocabulary::warning_code)]
    pub code: Word,
    /// What was wrong, and why.
    pub message: String,
    /// The layer, file or package that it is about.
    pub subject: String,
}

impl From<Warning> for WarningLine {
    fn from(warning: Warning) -> Self {
        Self { code: warning.code.as_str().into(), message: warning.message, subject: warning.subject }
    }
}
