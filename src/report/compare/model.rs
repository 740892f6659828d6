//! The model. Every list `[]` with one value for each image has the order in which the images were given; null is
//! unknown, and 0 is known to be none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::make::SCHEMA;
use crate::report::model::{Generator, PlatformPart, TotalsPart};
use crate::report::vocabulary;
use crate::report::words::Word;

/// Several images side by side. Lists with one value for each image have the order in which the images were given.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareReport {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// What made it.
    pub generator: Generator,
    /// Whether all layers of all images were read to their end and fit their digests.
    pub complete: bool,
    /// The images. The first is the baseline.
    pub images: Vec<CompareImage>,
    /// What a container sees by what it is for; the sum of a column is `merged_bytes`.
    pub classes: Vec<CompareClass>,
    /// All layers, each once: those of the first image bottom first, then what the next ones add.
    pub layers: Vec<CompareLayer>,
    /// What a node that holds the first image pulls for each: blobs as stored.
    pub pull_bytes: Vec<Option<u64>>,
    /// CUDA components, largest first.
    pub components: Vec<CompareComponent>,
    /// GPU code by architecture and kind, largest first.
    pub gpu_code: Vec<CompareGpuCode>,
    /// Packages by manager and name.
    pub packages: Vec<ComparePackage>,
    /// Regular files of the merged view, the last image against the first.
    pub files: CompareFiles,
    /// Every image against the first, which has nothing but `same` itself; empty for two images.
    pub files_by_image: Vec<CompareFiles>,
    /// The files of the last image that differ most from the first, most bytes first; `files` counts all.
    pub largest_changes: Vec<FileChange>,
    /// Environment by name, secrets redacted.
    pub environment: Vec<CompareSetting>,
    /// Entrypoint, command, user and other settings, then labels by name; secrets redacted.
    pub config: Vec<CompareSetting>,
    /// What the rules found, without what is needed at run time: most bytes first.
    pub findings: Vec<CompareFinding>,
    /// Whether each image runs on each target.
    pub compatibility: Vec<CompareCompatibility>,
    /// What came of `[regression]` of cutaway.toml; null without one.
    pub verdict: Option<CompareVerdict>,
    /// Everything that went wrong.
    pub warnings: Vec<CompareWarning>,
}

/// An image of a comparison.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareImage {
    /// Transport, such as `oci-archive`.
    pub source: String,
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Names that the source gives the image.
    pub tags: Vec<String>,
    /// Digest of the manifest bytes.
    pub digest: Option<String>,
    /// What it runs on.
    pub platform: Option<PlatformPart>,
    /// When it was made, as the config says.
    pub created: Option<String>,
    /// Whether every layer was read to its end and fits its digest; the same as in `totals`.
    pub complete: bool,
    /// Sums.
    pub totals: TotalsPart,
}

/// Bytes that a container sees of one class.
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
    /// Blob as stored in each image; null where an image does not have the layer, or its size is not known.
    pub bytes: Vec<Option<u64>>,
    /// The images that have it, from 0.
    pub shared_by: Vec<usize>,
    /// How the layer of each image is known to be that of the first that has it: digest, diff-id (packed in another
    /// way), content (only times or the order differ); null where an image does not have it.
    #[schemars(transform = vocabulary::layer_match)]
    pub matches: Vec<Option<Word>>,
    /// Where each image has it, from 0 at the bottom.
    pub indexes: Vec<Vec<usize>>,
    /// Regular files of the layer.
    pub content_bytes: Option<u64>,
    /// The instruction that made it in the first image that has it, secrets redacted.
    pub created_by: Option<String>,
}

/// A CUDA component.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareComponent {
    /// Its name.
    pub name: String,
    /// Bytes in each image, each inode once.
    pub bytes: Vec<Option<u64>>,
    /// Versions of its libraries, joined by commas; null where there is none or it is not known.
    pub versions: Vec<Option<String>>,
}

/// GPU code of an architecture.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareGpuCode {
    /// `sm_90a`, `compute_90`, `lto_90`.
    pub arch: String,
    /// sass, ptx, lto, other.
    #[schemars(transform = vocabulary::code_kind)]
    pub kind: Word,
    /// Bytes as stored in each image.
    pub bytes: Vec<Option<u64>>,
}

/// A package.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ComparePackage {
    /// dpkg, rpm, apk, pip, conda.
    #[schemars(transform = vocabulary::manager)]
    pub manager: Word,
    /// Its name.
    pub name: String,
    /// Versions in each image, several joined by commas; null where it is not installed.
    pub versions: Vec<Option<String>>,
    /// Bytes of its files; null where that is not known or it is not installed.
    pub bytes: Vec<Option<u64>>,
}

/// Regular files of an image against those of the first, by path.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareFiles {
    /// Paths that only the image has.
    pub added: u64,
    /// Paths that only the first has.
    pub removed: u64,
    /// Paths of both whose size or content differs.
    pub changed: u64,
    /// Paths of both with one size, whose contents could not be compared.
    pub unknown: u64,
    /// Paths of both with the same content.
    pub same: u64,
    /// Bytes of the added files.
    pub added_bytes: u64,
    /// Bytes of the removed files, in the first image.
    pub removed_bytes: u64,
    /// Bytes of the changed files, in the image.
    pub changed_bytes: u64,
    /// Bytes of the changed files, in the first image.
    pub changed_bytes_before: u64,
    /// Bytes of the files whose contents could not be compared.
    pub unknown_bytes: u64,
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
    /// Its value in each image, commands as a JSON list; null where it is not set.
    pub values: Vec<Option<String>>,
    /// Whether two images have different values, also where both are redacted.
    pub differs: bool,
}

/// What a rule found.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareFinding {
    /// The rule.
    #[schemars(transform = vocabulary::finding_rule)]
    pub rule: Word,
    /// Bytes that the layers lose without it; null when the rules have not looked.
    pub bytes: Vec<Option<u64>>,
    /// How many findings; null when the rules have not looked.
    pub counts: Vec<Option<u64>>,
}

/// Whether the images run on a target.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareCompatibility {
    /// Its id, or what the user wrote.
    pub target: String,
    /// What the GPU is called.
    pub gpu: String,
    /// runs, runs-with-jit, runs-with-compat, fails, unknown; null where the inventory is not complete.
    #[schemars(transform = vocabulary::run_verdict)]
    pub verdicts: Vec<Option<Word>>,
    /// The first of the reasons that each verdict comes from.
    pub why: Vec<Option<String>>,
}

/// What came of `[regression]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareVerdict {
    /// Whether it passes.
    pub pass: bool,
    /// Why not, in the words of the verdict line.
    pub reasons: Vec<String>,
    /// One for each key that is set.
    pub checks: Vec<RegressionCheck>,
}

/// One key of `[regression]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RegressionCheck {
    /// The key.
    pub name: Word,
    /// Whether it is kept.
    pub ok: bool,
    /// What the figures are: bytes, ratio, rules.
    #[schemars(transform = vocabulary::unit)]
    pub unit: Word,
    /// How much more the last image has than the first; for `efficiency` how far it fell, for `pull_bytes` what is
    /// pulled, for `new_findings` how many rules find more. Below zero when there is less; null when unknown.
    pub actual: Option<RegressionFigure>,
    /// What is allowed.
    pub limit: RegressionFigure,
    /// The rules that find more, or why the figure is unknown; may be empty.
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

/// Something that went wrong.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CompareWarning {
    /// The image, from 0.
    pub image: usize,
    /// A stable name.
    #[schemars(transform = vocabulary::warning_code)]
    pub code: Word,
    /// What was wrong, and why.
    pub message: String,
    /// The layer, file or package that it is about.
    pub subject: String,
}
