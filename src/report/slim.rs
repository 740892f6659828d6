//! What `cutaway slim` wrote or would write, schema `cutaway.slim/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::options::{GENERATOR, Generator};
use super::rewrite::{AnswerLine, RewritePlan, answers};
use super::vocabulary;
use super::words::{WarningLine, Word};
use crate::analysis::Analysis;
use crate::findings::Plan;
use crate::slim::{Removed, Selection, Sizes, Written, WrittenLayer};
use crate::source::redacted;

/// Schema of slim images.
const SCHEMA: &str = "cutaway.slim/1";

/// A slim image that was written, or would be.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimReport {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// Generator of this document.
    pub generator: Generator,
    /// The image.
    pub source: SlimSource,
    /// The written image; null with `--dry-run`.
    pub output: Option<SlimOutput>,
    /// The findings that are removed, and the answers to questions.
    pub plan: RewritePlan,
    /// Sizes of the image.
    pub before: SizePart,
    /// Sizes of the written image; `compressed_bytes` is an estimate with `--dry-run`.
    pub after: SizePart,
    /// Layers of the image, bottom first.
    pub layers: Vec<SlimLayer>,
    /// What the verification of the written image compared; null with `--dry-run`.
    pub verification: Option<SlimVerification>,
    /// Removed files, each of their paths.
    pub removed: Vec<RemovedLine>,
    /// Layers of the base image that were left alone, and bytes in them that would otherwise be removed.
    pub kept_base: SlimBase,
    /// Warnings about the image, and about what does not carry over.
    pub warnings: Vec<WarningLine>,
}

/// The image that is rewritten.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimSource {
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Digest of the manifest bytes.
    pub manifest_digest: Option<String>,
}

/// The written image.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimOutput {
    /// The destination as a reference that opens it, without user info.
    pub destination: String,
    /// Digest of its manifest.
    pub manifest_digest: String,
    /// Digest of its config.
    pub config_digest: String,
}

/// Sizes of an image.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SizePart {
    /// Bytes of all blobs as stored; null if unknown.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Bytes of the merged view, each inode once.
    pub merged_bytes: u64,
}

/// A layer of the image.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimLayer {
    /// Its number, counted from 0 at the bottom.
    pub index: usize,
    /// kept, rewritten, dropped or merged.
    #[schemars(transform = vocabulary::slim_action)]
    pub action: Word,
    /// Its blob.
    pub before: SlimBlob,
    /// The blob that has its content now; null if it was dropped, and with `--dry-run`.
    pub after: Option<SlimBlob>,
    /// Regular files removed from it, those that upper layers shadow included.
    pub removed_files: u64,
    /// Bytes of these files.
    pub removed_bytes: u64,
}

/// A blob.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimBlob {
    /// Digest of the blob; null for a folder.
    pub digest: Option<String>,
    /// Digest of its tar stream; null if the image names none.
    pub diff_id: Option<String>,
    /// Its bytes as stored; null if unknown.
    pub compressed_bytes: Option<u64>,
}

/// Results of the verification. A written image has passed all of them.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimVerification {
    /// Whether its merged view, read by the ordinary reader, equals the predicted one in every entry.
    pub merged_view: bool,
    /// Whether every library that the loader resolved before resolves to the same content.
    pub links: bool,
    /// Entries that were compared.
    pub entries: u64,
}

/// A path that is removed.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct RemovedLine {
    /// Absolute path, escaped.
    pub path: String,
    /// Bytes of the file; 0 for the further names of a hard link.
    pub bytes: u64,
    /// The layer that has it.
    pub layer: u16,
    /// Whether no container sees it, because an upper layer deletes or replaces it.
    pub shadowed: bool,
    /// Id of the finding.
    pub finding: String,
}

/// Layers of the base image that were left alone.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimBase {
    /// Their number.
    pub layers: usize,
    /// Bytes in them that would otherwise be removed.
    pub bytes: u64,
}
