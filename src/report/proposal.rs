//! The Dockerfile of an image and its proposals, in the report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary;
use super::words::Word;

/// An instruction and its layers.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct InstructionLine {
    /// First line, counted from 1.
    pub line: u32,
    /// Keyword, upper case.
    #[schemars(transform = vocabulary::keyword)]
    pub keyword: Word,
    /// Layers it created, from 0 at the bottom.
    pub layers: Vec<u16>,
    /// Bytes of the regular files in these; null if unknown.
    pub content_bytes: Option<u64>,
}

/// A proposal in the report of an image.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProposalLine {
    /// Unique id.
    pub id: String,
    /// Title, one line.
    pub title: String,
    /// safe, review, manual.
    #[schemars(transform = vocabulary::applicability)]
    pub applicability: Word,
    /// Reduction of the layers.
    pub saved_bytes: u64,
    /// Merged bytes of the new image.
    #[serde(default)]
    pub merged_bytes: Option<u64>,
    /// Base image of the final stage; null if unknown.
    #[serde(default)]
    pub base_image: Option<String>,
    /// The complete Dockerfile.
    #[serde(default)]
    pub dockerfile: Option<String>,
    /// The same as a unified diff.
    #[serde(default)]
    pub diff: Option<String>,
}

/// The Dockerfile of the image, in its report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DockerfilePart {
    /// `given` by the user, or `rebuilt` from the image history.
    #[schemars(transform = vocabulary::origin)]
    pub origin: Word,
    /// Name of the file; null for a reconstructed one.
    pub name: Option<String>,
    /// Its instructions, in order.
    pub instructions: Vec<InstructionLine>,
}
