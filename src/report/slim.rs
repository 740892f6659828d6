//! What `cutaway slim` wrote or would write, schema `cutaway.slim/1`.

mod text;

use schemars::JsonSchema;
use serde::Serialize;

use super::options::{GENERATOR, Generator};
use super::rewrite::RewritePlan;
use super::vocabulary;
use super::words::{WarningLine, Word};
use crate::analysis::Analysis;
use crate::base::Digest;
use crate::base::text::escape;
use crate::findings::Plan;
use crate::slim::{ForgottenPackage, OtherPlatform, Pruned, PrunedFile, Removed, Selection, Sizes, Written};
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
    /// Sizes of the written image; `compressed_bytes` is an estimate with `--dry-run`, and null if a layer that changes
    /// is stored uncompressed.
    pub after: SizePart,
    /// Layers of the image, bottom first.
    pub layers: Vec<SlimLayer>,
    /// GPU code that is removed from files that stay; null without `--target`, or with `--gpu-code keep`.
    pub gpu_code: Option<SlimGpuCode>,
    /// What the verification of the written image compared; null with `--dry-run`.
    pub verification: Option<SlimVerification>,
    /// Removed files, each of their paths.
    pub removed: Vec<RemovedLine>,
    /// Packages of which no file is left, and which the package databases do not list any more; with
    /// `--forget-packages`.
    pub forgotten_packages: Vec<ForgottenLine>,
    /// Images for other platforms, carried over byte for byte; with `--all-platforms`.
    pub other_platforms: Vec<PlatformLine>,
    /// Layers of the base image that were left alone, and bytes in them that would otherwise be removed.
    pub kept_base: SlimBase,
    /// What does not carry over, and what choices cost, in sentences.
    pub notes: Vec<String>,
    /// Warnings about the image.
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
    /// Digest of the index of all platforms; null if only one is written.
    pub index_digest: Option<String>,
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
    /// Bytes of GPU code removed from files that stay.
    pub pruned_bytes: u64,
}

/// GPU code that is removed.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimGpuCode {
    /// Ids of the GPUs whose code stays.
    pub targets: Vec<String>,
    /// Their compute capabilities, such as 9.0.
    pub compute_capabilities: Vec<String>,
    /// Whether PTX and LTO-IR stay for GPUs of the future.
    pub keep_ptx: bool,
    /// Whether libraries are also shorter.
    pub shrink: bool,
    /// Files that lose GPU code, by path.
    pub libraries: Vec<PrunedLine>,
}

/// A file that loses GPU code.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct PrunedLine {
    /// Absolute path, escaped.
    pub path: String,
    /// The layer that has it.
    pub layer: u16,
    /// Bytes of its containers of GPU code.
    pub before_bytes: u64,
    /// Bytes of what stays of them: headers and entries.
    pub after_bytes: u64,
    /// Containers of GPU code that can be changed; each keeps its place.
    pub containers: u64,
    /// Entries that stay.
    pub entries_kept: u64,
    /// Entries that are removed.
    pub entries_removed: u64,
    /// Bytes of the file.
    pub file_bytes_before: u64,
    /// Bytes of the new file.
    pub file_bytes_after: u64,
    /// SHA-256 digest of the file; null with `--dry-run`.
    pub digest_before: Option<String>,
    /// SHA-256 digest of the new file; null with `--dry-run`.
    pub digest_after: Option<String>,
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

/// Results of the verification.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimVerification {
    /// Whether its merged view, read by the ordinary reader, equals the predicted one in every entry.
    pub merged_view: bool,
    /// Whether every dependency that the loader resolved before resolves to the same content; false only with
    /// `--force`, and `notes` has the others.
    pub links: bool,
    /// Paths that were compared.
    pub paths: u64,
    /// Dependencies that were compared.
    pub dependencies: u64,
    /// Whether each file that loses GPU code was compared with the old one while it was written: entries that stay, and
    /// all bytes outside of containers, are the same. Null if no file changes.
    pub gpu_code: Option<bool>,
    /// What a GPU's driver loaded before and after; null without `--verify-gpu`.
    pub gpu: Option<SlimGpuLoads>,
}

/// What the driver of a GPU loads.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimGpuLoads {
    /// Name of the device.
    pub device: String,
    /// Containers that were handed to the driver.
    pub containers: u64,
    /// Those of the image that it loaded.
    pub loaded_before: u64,
    /// Those of the written image that it loaded.
    pub loaded_after: u64,
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
    /// Id of the finding; `forget-packages` for the files of forgotten packages in a package database.
    pub finding: String,
}

/// An image for another platform.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct PlatformLine {
    /// Its platform, such as `linux/arm64`; null if the index names none.
    pub platform: Option<String>,
    /// Digest of its manifest.
    pub manifest_digest: String,
}

/// A package that the package databases do not list any more.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct ForgottenLine {
    /// Package manager.
    #[schemars(transform = vocabulary::manager)]
    pub manager: Word,
    /// Its name.
    pub name: String,
    /// Its version, as the manager writes it.
    pub version: String,
}

/// Layers of the base image that were left alone.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SlimBase {
    /// Their number.
    pub layers: usize,
    /// Bytes in them that would otherwise be removed.
    pub bytes: u64,
}

impl SlimReport {
    /// The image that was written, or would be without `written`.
    pub fn new(
        analysis: &Analysis,
        plan: &Plan,
        selection: &Selection,
        written: Option<&Written>,
    ) -> Option<Self> {
        let findings = analysis.findings.as_deref()?;
        let notes = written.map_or(&selection.warnings, |written| &written.warnings);
        Some(Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            source: SlimSource {
                reference: redacted(&analysis.image.reference),
                manifest_digest: analysis.image.manifest_digest.clone(),
            },
            output: written.map(|written| SlimOutput {
                destination: written.published.reference.clone(),
                manifest_digest: written.manifest_digest.to_string(),
                config_digest: written.config_digest.to_string(),
                index_digest: digest(written.index_digest.as_ref()),
            }),
            plan: RewritePlan::new(plan, findings),
            before: selection.before.into(),
            after: written.map_or(selection.after, |written| written.after).into(),
            layers: (0..selection.layers.len()).map(|at| layer(analysis, selection, written, at)).collect(),
            gpu_code: selection.pruned.as_ref().map(SlimGpuCode::from),
            verification: written.map(|written| SlimVerification {
                merged_view: true,
                links: written.verified.lost.is_empty(),
                paths: written.verified.paths,
                dependencies: written.verified.links,
                gpu_code: selection.pruned.as_ref().filter(|pruned| !pruned.files.is_empty()).map(|_| true),
                gpu: None,
            }),
            removed: selection.removed(analysis).map(RemovedLine::from).collect(),
            forgotten_packages: selection.forgotten.iter().map(ForgottenLine::from).collect(),
            other_platforms: selection.platforms.iter().map(PlatformLine::from).collect(),
            kept_base: SlimBase { layers: selection.base_layers, bytes: selection.base_bytes },
            notes: notes.clone(),
            warnings: analysis.warnings().into_iter().map(WarningLine::from).collect(),
        })
    }

    /// Adds what a driver loaded.
    pub fn set_gpu(&mut self, loads: SlimGpuLoads) {
        if let Some(verification) = &mut self.verification {
            verification.gpu = Some(loads);
        }
    }
}

fn digest(digest: Option<&Digest>) -> Option<String> {
    digest.map(ToString::to_string)
}

fn layer(analysis: &Analysis, selection: &Selection, written: Option<&Written>, index: usize) -> SlimLayer {
    let selected = &selection.layers[index];
    let source = analysis.image.layers.get(index);
    let read = analysis.layers.get(index).and_then(|layer| layer.read.as_deref());
    SlimLayer {
        index,
        action: selected.action.as_str().into(),
        before: SlimBlob {
            digest: digest(source.and_then(|source| source.digest.as_ref()))
                .or_else(|| read.and_then(|read| read.digest.clone())),
            diff_id: digest(source.and_then(|source| source.diff_id.as_ref())),
            compressed_bytes: selected.compressed_bytes,
        },
        after: written.and_then(|written| written.layers.get(index)?.as_ref()).map(|layer| SlimBlob {
            digest: digest(Some(&layer.digest)),
            diff_id: digest(Some(&layer.diff_id)),
            compressed_bytes: Some(layer.compressed_bytes),
        }),
        removed_files: selected.removed_files,
        removed_bytes: selected.removed_bytes,
        pruned_bytes: selected.pruned_bytes,
    }
}

impl From<&Pruned> for SlimGpuCode {
    fn from(pruned: &Pruned) -> Self {
        let line = |file: &PrunedFile| {
            let digests = file.digests();
            PrunedLine {
                path: escape(&file.path),
                layer: file.layer,
                before_bytes: file.gpu_bytes.0,
                after_bytes: file.gpu_bytes.1,
                containers: file.containers,
                entries_kept: file.entries_kept,
                entries_removed: file.entries_removed,
                file_bytes_before: file.file_bytes.0,
                file_bytes_after: file.file_bytes.1,
                digest_before: digests.map(|digests| digests.0.clone()),
                digest_after: digests.map(|digests| digests.1.clone()),
            }
        };
        Self {
            targets: pruned.pruning.targets.iter().map(|(id, _)| id.clone()).collect(),
            compute_capabilities: pruned.capabilities().split(',').map(str::to_owned).collect(),
            keep_ptx: pruned.pruning.keep_ptx,
            shrink: pruned.pruning.shrink,
            libraries: pruned.files.iter().map(line).collect(),
        }
    }
}

impl From<Sizes> for SizePart {
    fn from(sizes: Sizes) -> Self {
        Self {
            compressed_bytes: sizes.compressed_bytes,
            content_bytes: sizes.content_bytes,
            merged_bytes: sizes.merged_bytes,
        }
    }
}

impl From<&OtherPlatform> for PlatformLine {
    fn from(other: &OtherPlatform) -> Self {
        Self { platform: other.platform.clone(), manifest_digest: other.manifest_digest.to_string() }
    }
}

impl From<&ForgottenPackage> for ForgottenLine {
    fn from(package: &ForgottenPackage) -> Self {
        Self { manager: package.manager.into(), name: package.name.clone(), version: package.version.clone() }
    }
}

impl From<Removed> for RemovedLine {
    fn from(removed: Removed) -> Self {
        let Removed { path, bytes, layer, shadowed, finding } = removed;
        Self { path, bytes, layer, shadowed, finding }
    }
}
