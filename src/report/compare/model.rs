//! The model. Every list `[]` with one value per image is in the order of the images; null is unknown, 0 is known to be
//! none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::Platform;
use crate::compare::{ComponentRow, FileSums, FindingRow, GpuCodeRow, PackageRow};
use crate::report::model::TotalsPart;
use crate::report::options::Generator;
use crate::report::vocabulary;
use crate::report::words::{WarningLine, Word};

/// Schema of comparisons.
pub(super) const SCHEMA: &str = "cutaway.compare/1";

/// Comparison of several images. Lists with one value per image are in the order of the images.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareReport {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// Generator of this document.
    pub generator: Generator,
    /// Whether all layers of all images were read completely and match their digests.
    pub complete: bool,
    /// The images. The first is the baseline.
    pub images: Vec<CompareImage>,
    /// Merged bytes by class; a column adds up to `merged_bytes`.
    pub classes: Vec<CompareClass>,
    /// All layers, each once: those of the first image, bottom first, then those added by the next ones.
    pub layers: Vec<CompareLayer>,
    /// Compressed bytes that a node with the first image pulls for each.
    pub pull_bytes: Vec<Option<u64>>,
    /// CUDA components, largest first.
    pub components: Vec<ComponentRow>,
    /// GPU code by architecture and kind, largest first.
    pub gpu_code: Vec<GpuCodeRow>,
    /// Packages by manager and name.
    pub packages: Vec<PackageRow>,
    /// Regular files of the merged view, the last image against the first.
    pub files: FileSums,
    /// Every image against the baseline, which has only `same`; empty for two images.
    pub files_by_image: Vec<FileSums>,
    /// The files of the last image that differ most from the first, most bytes first; `files` counts all.
    pub largest_changes: Vec<FileChange>,
    /// Environment by name, secrets redacted.
    pub environment: Vec<CompareSetting>,
    /// Entrypoint, command, user and other settings, then labels by name; secrets redacted.
    pub config: Vec<CompareSetting>,
    /// Findings by rule, without those required at run time: most bytes first.
    pub findings: Vec<FindingRow>,
    /// Verdicts of each image on each target.
    pub compatibility: Vec<CompareCompatibility>,
    /// Verdict of `[regression]` in cutaway.toml; null without one.
    pub verdict: Option<CompareVerdict>,
    /// All warnings.
    pub warnings: Vec<CompareWarning>,
}

/// An image of a comparison.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareImage {
    /// Transport, such as `oci-archive`.
    pub source: String,
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Names of the image in its source.
    pub tags: Vec<String>,
    /// Digest of the manifest bytes.
    pub digest: Option<String>,
    /// Platform of the image.
    pub platform: Option<Platform>,
    /// Creation time from the config.
    pub created: Option<String>,
    /// Whether every layer was read completely and matches its digest; same as in `totals`.
    pub complete: bool,
    /// Totals.
    pub totals: TotalsPart,
}

/// Merged bytes of one class.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareClass {
    /// system, cuda-runtime, cuda-devel, framework, weights, application.
    #[schemars(transform = vocabulary::class)]
    pub name: Word,
    /// Bytes in each image.
    pub bytes: Vec<Option<u64>>,
}

/// A layer, and the images that have it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareLayer {
    /// Digest of the blob in the first image that has it.
    pub digest: Option<String>,
    /// Digest of the tar stream.
    pub diff_id: Option<String>,
    /// Compressed bytes in each image; null if an image does not have the layer, or its size is unknown.
    pub bytes: Vec<Option<u64>>,
    /// Images that have it, from 0.
    pub shared_by: Vec<usize>,
    /// Match of each image's layer with the first one: digest, diff-id (compressed differently), content (only
    /// timestamps or order differ); null if an image does not have it.
    #[schemars(transform = vocabulary::layer_match)]
    pub matches: Vec<Option<Word>>,
    /// Positions in each image, from 0 at the bottom.
    pub indexes: Vec<Vec<usize>>,
    /// Regular files of the layer.
    pub content_bytes: Option<u64>,
    /// Instruction that created it in the first image that has it, secrets redacted.
    pub created_by: Option<String>,
}

/// A file that differs.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FileChange {
    /// Absolute path, escaped.
    pub path: String,
    /// added, removed, changed.
    #[schemars(transform = vocabulary::change)]
    pub change: Word,
    /// Logical bytes in each image; null where an image does not have the path.
    pub bytes: Vec<Option<u64>>,
}

/// A variable, label or other setting.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareSetting {
    /// Its name: of a variable, of a label with `label ` before it, or such as `entrypoint`.
    pub name: String,
    /// Value in each image, commands as a JSON list; null if not set.
    pub values: Vec<Option<String>>,
    /// Whether two images have different values, also if both are redacted.
    pub differs: bool,
}

/// Verdicts of the images on a target.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareCompatibility {
    /// Id of the target, or its text as given.
    pub target: String,
    /// Name of the GPU.
    pub gpu: String,
    /// runs, runs-with-jit, runs-with-compat, fails, unknown; null if the inventory is incomplete.
    #[schemars(transform = vocabulary::run_verdict)]
    pub verdicts: Vec<Option<Word>>,
    /// Decisive reason of each verdict.
    pub why: Vec<Option<String>>,
}

/// Verdict of `[regression]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareVerdict {
    /// Whether all checks passed.
    pub pass: bool,
    /// Reasons of a failure, as in the verdict line.
    pub reasons: Vec<String>,
    /// One for each key that is set.
    pub checks: Vec<RegressionCheck>,
}

/// One key of `[regression]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RegressionCheck {
    /// The key.
    pub name: Word,
    /// Whether the check passed.
    pub ok: bool,
    /// Unit of the figures: bytes, ratio, rules.
    #[schemars(transform = vocabulary::unit)]
    pub unit: Word,
    /// Growth of the last image over the first; for `efficiency` the decrease, for `pull_bytes` the pull size, for
    /// `new_findings` the number of rules that find more. Negative for a reduction; null if unknown.
    pub actual: Option<RegressionFigure>,
    /// Limit.
    pub limit: RegressionFigure,
    /// Rules that find more, or why the figure is unknown; may be empty.
    pub detail: String,
}

/// A figure of `[regression]`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RegressionFigure {
    /// Bytes, or a count.
    Whole(i64),
    /// A ratio.
    Ratio(f64),
}

/// A warning.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareWarning {
    /// The image, from 0.
    pub image: usize,
    /// Code, message and subject.
    #[serde(flatten)]
    pub warning: WarningLine,
}
