//! Messages between the loader and its child. To the child: the length of a container (8 bytes, little-endian) and its
//! bytes. From the child: one line of JSON after the name of the schema for each, and one when it is ready.

use serde::{Deserialize, Serialize};

use super::super::SCHEMA;

/// Largest container that is tried. Those of real libraries have up to some 100 MB.
pub(super) const CONTAINER_BYTES: u64 = 512 << 20;

/// An answer of the child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    /// The driver is open: the name of the device.
    Ready(String),
    /// The driver cannot be used.
    Unusable(String),
    /// The container loads.
    Loaded,
    /// A call returned this code; whether the process ends with that, because its context is lost.
    Refused { code: i32, call: String, ends: bool },
}

impl Reply {
    pub(super) fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{SCHEMA} {}\n", serde_json::to_string(self)?))
    }

    /// Parses a line; `None` if it is not an answer.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(SCHEMA.as_bytes())?.strip_prefix(b" ")?;
        serde_json::from_slice(rest.trim_ascii_end()).ok()
    }
}
