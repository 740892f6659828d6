//! The report, schema `cutaway.report/1`. All formats are generated from it.
//!
//! Parts of the schema that this version does not fill are absent. Strings from the image are unchanged, except
//! secrets; paths are escaped.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cold_start::{self, ColdStartPart};
use super::compatibility::{self, CompatibilityPart};
use super::cuda::{BasePart, CudaPart, PackageLine};
use super::findings::{self, FindingLine, PlanPart, ReclaimablePart};
use super::graphs::CudaGraphsPart;
use super::inventory;
use super::options::{GENERATOR, Generator, Options, SCHEMA};
use super::proposal::{DockerfilePart, ProposalLine};
use super::vocabulary;
use super::words::{WarningLine, Word, fraction};
use crate::analysis::{Analysis, Totals};
use crate::base::Platform;
use crate::base::text::escape;
use crate::cuda::Class;
use crate::deploy::graphs::cuda_graphs;
use crate::formats::compression::Compression;
use crate::layer::Verified;
use crate::rootfs::Rootfs;
use crate::source::redacted;

/// A report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Report {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// Generator of this document.
    pub generator: Generator,
    /// Manifest and config.
    pub image: ImagePart,
    /// Totals.
    pub totals: TotalsPart,
    /// Layers, bottom first.
    pub layers: Vec<LayerLine>,
    /// Installed packages, by manager and name.
    pub packages: Vec<PackageLine>,
    /// CUDA libraries, GPU code, frameworks; null if not analysed.
    pub cuda: Option<CudaPart>,
    /// Findings; null if the rules did not run.
    pub findings: Option<Vec<FindingLine>>,
    /// Reclaimable bytes; null if the rules did not run.
    pub reclaimable: Option<ReclaimablePart>,
    /// The plan; null if the rules did not run.
    pub plan: Option<PlanPart>,
    /// Compatibility; null if the inventory is incomplete.
    pub compatibility: Option<CompatibilityPart>,
    /// CUDA Graphs in the image; null if the inventory is incomplete.
    #[serde(default)]
    pub cuda_graphs: Option<CudaGraphsPart>,
    /// Estimated cold start; null if the layers were not read.
    #[serde(default)]
    pub cold_start: Option<ColdStartPart>,
    /// The Dockerfile of the image; null if none was reconstructed or given.
    #[serde(default)]
    pub dockerfile: Option<DockerfilePart>,
    /// Proposed Dockerfiles, best first; null if none were computed.
    pub proposals: Option<Vec<ProposalLine>>,
    /// The largest files of the merged view, each inode once.
    pub largest_files: Vec<FileLine>,
    /// All warnings.
    pub warnings: Vec<WarningLine>,
}

/// Facts from manifest and config.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ImagePart {
    /// Transport, such as `oci-archive`.
    pub source: String,
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Names of the image in its source.
    pub tags: Vec<String>,
    /// Media type of the manifest.
    pub media_type: Option<String>,
    /// Digest of the manifest bytes.
    pub manifest_digest: Option<String>,
    /// Digest of the config bytes.
    pub config_digest: Option<String>,
    /// Platform of the image.
    pub platform: Option<Platform>,
    /// Creation time from the config.
    pub created: Option<String>,
    /// Container config; null without a config.
    pub config: Option<RunConfig>,
    /// The base image, if recognised.
    pub base: Option<BasePart>,
}

/// Container config.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunConfig {
    /// Environment as `NAME=VALUE`, secrets redacted.
    pub env: Vec<String>,
    /// Entrypoint; null if not set.
    pub entrypoint: Option<Vec<String>>,
    /// Command; null if not set.
    pub cmd: Option<Vec<String>>,
    /// Working directory.
    pub working_dir: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Labels, secrets redacted.
    pub labels: BTreeMap<String, String>,
    /// Ports as `8080/tcp`.
    pub exposed_ports: Vec<String>,
}

/// Sums in bytes.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TotalsPart {
    /// Whether every layer was read completely and matches its digest, or was read by a verified table of contents,
    /// with all files that are required.
    pub complete: bool,
    /// Number of layers.
    pub layers: usize,
    /// Compressed bytes of all blobs.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the tar streams.
    pub uncompressed_bytes: Option<u64>,
    /// Bytes of the regular files of all layers; null if no layer was read.
    pub content_bytes: Option<u64>,
    /// Regular files of the merged view, hard links included; null if no layer was read.
    pub merged_files: Option<u64>,
    /// Bytes of the merged view, each inode once; null if no layer was read.
    pub merged_bytes: Option<u64>,
    /// Bytes in layers that no path of the merged view reaches; null if no layer was read.
    pub wasted_bytes: Option<u64>,
    /// `merged_bytes / content_bytes`; null without content.
    #[serde(default, deserialize_with = "fraction")]
    pub efficiency: Option<f64>,
}

/// One layer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LayerLine {
    /// Index, from 0 at the bottom.
    pub index: usize,
    /// Digest of the blob.
    pub digest: Option<String>,
    /// Digest of the tar stream.
    pub diff_id: Option<String>,
    /// Media type from the manifest.
    pub media_type: Option<String>,
    /// Compression, detected by content.
    #[schemars(transform = vocabulary::compression)]
    pub compression: Option<Word>,
    /// Verified digests: digest, diff-id, both, none.
    #[schemars(transform = vocabulary::verified)]
    pub verified: Word,
    /// Size of the blob; for a layer read by its table of contents, as declared by the manifest.
    pub compressed_bytes: Option<u64>,
    /// Size of the blob as declared by the manifest.
    #[serde(default)]
    pub claimed_bytes: Option<u64>,
    /// The table of contents that the layer was read from; null when the layer was read completely or not at all.
    #[serde(default, alias = "table")]
    pub toc: Option<TablePart>,
    /// Bytes of the tar stream.
    pub uncompressed_bytes: Option<u64>,
    /// Bytes of the regular files; null if the layer could not be read at all.
    pub content_bytes: Option<u64>,
    /// Tar members.
    pub entries: Option<u64>,
    /// Regular files.
    pub files: Option<u64>,
    /// Folders.
    pub directories: Option<u64>,
    /// Symbolic links.
    pub symlinks: Option<u64>,
    /// Hard links.
    pub hardlinks: Option<u64>,
    /// Whiteouts, opaque ones included.
    pub whiteouts: Option<u64>,
    /// Devices, pipes and others.
    pub others: Option<u64>,
    /// Bytes in this layer that are not visible in the container.
    pub wasted_bytes: Option<u64>,
    /// Bytes that this layer shadows.
    pub hides_bytes: Option<u64>,
    /// Of these, bytes overwritten with identical content; null if not compared.
    pub metadata_only_bytes: Option<u64>,
    /// Instruction that created it, secrets redacted.
    pub created_by: Option<String>,
    /// Whether it belongs to the recognised base image; null if none was recognised, or its end is unknown.
    pub is_base: Option<bool>,
    /// `content_bytes` by class; null if the layer could not be read.
    #[schemars(transform = vocabulary::class)]
    pub class_bytes: Option<BTreeMap<Word, u64>>,
}

/// The verified table of contents of a layer, which provides tree, sizes, owners, modes and times.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TablePart {
    /// Format: estargz, zstd:chunked.
    #[schemars(transform = vocabulary::table_format)]
    pub format: Word,
    /// Digest in the manifest.
    pub digest: String,
    /// Bytes fetched of the layer, the table included.
    pub fetched_bytes: u64,
}

/// One file of the merged view.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FileLine {
    /// Absolute path, escaped.
    pub path: String,
    /// Logical bytes.
    pub bytes: u64,
    /// Layer of the file.
    pub layer: u16,
}

impl Report {
    /// The report of a finished analysis, without proposals; `None` while its layers are not merged, unless only
    /// manifest and config were requested.
    pub fn new(analysis: &Analysis, options: &Options) -> Option<Self> {
        let (totals, largest_files) = match (&analysis.merge, analysis.totals()) {
            (Some(merge), Some(totals)) => (TotalsPart::of(&totals), largest_files(&merge.rootfs, options)),
            _ if analysis.is_documents_only() => (TotalsPart::unknown(analysis.layers.len()), Vec::new()),
            _ => return None,
        };
        let cold = cold_start::estimate(analysis, options);
        Some(Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            image: image_part(analysis, options),
            totals,
            layers: (0..analysis.layers.len()).map(|index| layer_line(analysis, index, options)).collect(),
            packages: analysis.inventory.as_deref().map(inventory::packages).unwrap_or_default(),
            cuda: inventory::cuda_part(analysis),
            findings: findings::lines(analysis, options, cold.as_ref()),
            reclaimable: analysis.findings.as_deref().map(findings::reclaimable),
            plan: findings::plan(analysis, options),
            compatibility: compatibility::part(analysis, options),
            cuda_graphs: cuda_graphs(analysis, None).map(|graphs| CudaGraphsPart::new(&graphs, None)),
            cold_start: cold.map(|found| cold_start::part(analysis, &found, options)),
            dockerfile: None,
            proposals: None,
            largest_files,
            warnings: analysis.warnings().into_iter().map(WarningLine::from).collect(),
        })
    }
}

fn largest_files(rootfs: &Rootfs, options: &Options) -> Vec<FileLine> {
    let line = |id| {
        let node = rootfs.node(id);
        let layer = node.content().map_or(node.layer(), |(layer, _)| layer);
        FileLine { path: escape(&node.path()), bytes: node.bytes(), layer }
    };
    rootfs.largest_files(options.largest_files).into_iter().map(line).collect()
}

impl TotalsPart {
    /// The totals of an analysis.
    pub(super) fn of(totals: &Totals) -> Self {
        Self {
            complete: totals.complete,
            layers: totals.layers,
            compressed_bytes: totals.compressed_bytes,
            uncompressed_bytes: totals.uncompressed_bytes,
            content_bytes: Some(totals.content_bytes),
            merged_files: Some(totals.merged_files),
            merged_bytes: Some(totals.merged_bytes),
            wasted_bytes: Some(totals.wasted_bytes),
            efficiency: totals.efficiency,
        }
    }

    /// Totals of which only the number of layers is known.
    pub(super) fn unknown(layers: usize) -> Self {
        Self {
            complete: false,
            layers,
            compressed_bytes: None,
            uncompressed_bytes: None,
            content_bytes: None,
            merged_files: None,
            merged_bytes: None,
            wasted_bytes: None,
            efficiency: None,
        }
    }
}

/// Facts from manifest and config: known before any layer is read.
pub fn image_part(analysis: &Analysis, options: &Options) -> ImagePart {
    let image = &analysis.image;
    let config = image.config.as_ref();
    let mut part = ImagePart {
        source: image.source.clone(),
        reference: redacted(&image.reference),
        tags: image.tags.clone(),
        media_type: image.media_type.clone(),
        manifest_digest: image.manifest_digest.clone(),
        config_digest: image.config_digest.clone(),
        platform: image.platform.clone(),
        created: config.and_then(|config| config.created().clone()),
        config: config.map(|config| config.config().as_ref().map(run_config).unwrap_or_default()),
        base: analysis.inventory.as_ref().and_then(|found| found.base.as_ref()).map(inventory::base),
    };
    if !options.show_secrets {
        part.redact();
    }
    part
}

fn run_config(run: &oci_spec::image::Config) -> RunConfig {
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let mut exposed_ports = run.exposed_ports().clone().unwrap_or_default();
    exposed_ports.sort();
    RunConfig {
        env: run.env().clone().unwrap_or_default(),
        entrypoint: run.entrypoint().clone(),
        cmd: run.cmd().clone(),
        working_dir: text(run.working_dir()),
        user: text(run.user()),
        labels: run.labels().clone().unwrap_or_default().into_iter().collect(),
        exposed_ports,
    }
}

fn layer_line(analysis: &Analysis, index: usize, options: &Options) -> LayerLine {
    let source = &analysis.image.layers[index];
    let layer = &analysis.layers[index];
    let read = layer.read.as_deref();
    let counts = layer.counts();
    let waste = analysis.waste(index).filter(|_| read.is_some());
    let claimed = |digest: &Option<crate::base::Digest>| digest.as_ref().map(ToString::to_string);
    let plain = read.is_some_and(|read| read.compression == Some(Compression::None));
    let found = analysis.inventory.as_deref();
    LayerLine {
        index,
        digest: claimed(&source.digest).or_else(|| read.and_then(|read| read.digest.clone())),
        diff_id: claimed(&source.diff_id)
            .or_else(|| read.and_then(|read| read.diff_id.clone()))
            .or_else(|| claimed(&source.digest).filter(|_| plain)),
        media_type: source.media_type.clone(),
        compression: read.and_then(|read| read.compression).map(|one| one.as_str().into()),
        verified: match read.map(|read| read.verified).unwrap_or_default() {
            Verified { digest: true, diff_id: true } => "both".into(),
            Verified { digest: true, diff_id: false } => "digest".into(),
            Verified { digest: false, diff_id: true } => "diff-id".into(),
            Verified { digest: false, diff_id: false } => "none".into(),
        },
        compressed_bytes: read.and_then(|read| read.compressed_bytes),
        claimed_bytes: source.size,
        toc: layer.table.as_deref().map(|table| TablePart {
            format: table.format.as_str().into(),
            digest: table.digest.clone(),
            fetched_bytes: table.fetched_bytes(),
        }),
        uncompressed_bytes: read.and_then(|read| read.uncompressed_bytes),
        content_bytes: counts.map(|counts| counts.content_bytes),
        entries: counts.map(|counts| counts.entries),
        files: counts.map(|counts| counts.files),
        directories: counts.map(|counts| counts.directories),
        symlinks: counts.map(|counts| counts.symlinks),
        hardlinks: counts.map(|counts| counts.hardlinks),
        whiteouts: counts.map(|counts| counts.whiteouts),
        others: counts.map(|counts| counts.others),
        wasted_bytes: waste.map(|waste| waste.wasted_bytes),
        // An unread layer shadows nothing that is known.
        hides_bytes: waste.map(|waste| waste.hides_bytes),
        metadata_only_bytes: waste.and(analysis.findings.as_deref()).and_then(|found| {
            let nothing = waste.filter(|waste| waste.hides_bytes == 0).map(|_| 0);
            nothing.or_else(|| found.metadata_only.get(index).copied().flatten())
        }),
        created_by: source.created_by.as_ref().map(|text| options.instruction(text)),
        // If the end of the base image is unknown, so is the membership of every layer.
        is_base: found
            .and_then(|found| found.base.as_ref())
            .filter(|base| base.layers > 0)
            .map(|base| index < base.layers),
        class_bytes: found.zip(counts).and_then(|(found, _)| {
            let classes = found.classes.layers.get(index)?;
            Some(
                Class::ALL
                    .map(|class| (class.as_str().into(), classes.get(&class).copied().unwrap_or(0)))
                    .into(),
            )
        }),
    }
}
