//! The report, schema `cutaway.report/1`. Every format is made from this, so that no two disagree.
//!
//! Parts of the schema that this version does not fill are absent. Strings from the image are as they
//! are, except secrets; paths are escaped as the contract has it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compatibility::{self, CompatibilityPart};
use super::cuda::{BasePart, CudaPart, PackageLine};
use super::findings::{self, FindingLine, PlanPart, ReclaimablePart};
use super::inventory;
use super::rewrite::{DockerfilePart, ProposalLine};
use super::vocabulary;
use super::words::{WarningLine, Word, fraction};
use crate::analysis::{Analysis, Totals};
use crate::base::redact;
use crate::base::text::escape;
use crate::cuda::Class;
use crate::cuda::compat::TargetGpu;
use crate::findings::Plan;
use crate::formats::compression::Compression;
use crate::layer::Verified;
use crate::rootfs::Rootfs;

/// What makes reports: this program.
pub(super) const GENERATOR: Generator =
    Generator { name: Word::Borrowed("cutaway"), version: Word::Borrowed(env!("CARGO_PKG_VERSION")) };

/// The schema of reports.
pub(super) const SCHEMA: &str = "cutaway.report/1";

/// How to make a report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Show values that look like secrets.
    pub show_secrets: bool,
    /// How many of the largest files to list.
    pub largest_files: usize,
    /// Name all files of the findings: a report for people does without.
    pub paths: bool,
    /// What is to be taken away; `None` for all that is safe.
    pub plan: Option<Plan>,
    /// GPUs of this machine that the image is judged against besides the targets of the analysis.
    pub host: Vec<TargetGpu>,
}

impl Default for Options {
    fn default() -> Self {
        Self { show_secrets: false, largest_files: 20, paths: true, plan: None, host: Vec::new() }
    }
}

/// A whole report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Report {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: Word,
    /// What made the report.
    pub generator: Generator,
    /// The image's documents.
    pub image: ImagePart,
    /// Sums.
    pub totals: TotalsPart,
    /// Layers, bottom first.
    pub layers: Vec<LayerLine>,
    /// Installed packages, by manager and name.
    pub packages: Vec<PackageLine>,
    /// CUDA libraries, GPU code, frameworks; null when they were not looked for.
    pub cuda: Option<CudaPart>,
    /// What should not be there; null when the rules have not looked.
    pub findings: Option<Vec<FindingLine>>,
    /// What can be gained; null when the rules have not looked.
    pub reclaimable: Option<ReclaimablePart>,
    /// What is to be taken away; null when the rules have not looked.
    pub plan: Option<PlanPart>,
    /// On which machines it runs; null while the inventory is not complete.
    pub compatibility: Option<CompatibilityPart>,
    /// The Dockerfile that it was built from; null when none was looked for.
    #[serde(default)]
    pub dockerfile: Option<DockerfilePart>,
    /// Dockerfiles that give a better image, the best first; null when none were looked for.
    pub proposals: Option<Vec<ProposalLine>>,
    /// The largest files of the merged view, each inode once.
    pub largest_files: Vec<FileLine>,
    /// Everything that went wrong.
    pub warnings: Vec<WarningLine>,
}

/// The program that made a report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Generator {
    /// `cutaway`.
    pub name: Word,
    /// Its version.
    pub version: Word,
}

/// What manifest and config say.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ImagePart {
    /// Transport, such as `oci-archive`.
    pub source: String,
    /// The reference as it was given, without user info.
    pub reference: String,
    /// Names that the source gives the image.
    pub tags: Vec<String>,
    /// Media type of the manifest.
    pub media_type: Option<String>,
    /// Digest of the manifest bytes.
    pub manifest_digest: Option<String>,
    /// Digest of the config bytes.
    pub config_digest: Option<String>,
    /// What it runs on.
    pub platform: Option<PlatformPart>,
    /// When it was made, as the config says.
    pub created: Option<String>,
    /// How it runs; null without a config.
    pub config: Option<RunConfig>,
    /// The image that it was built on, when it was recognised.
    pub base: Option<BasePart>,
}

/// Operating system and architecture.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PlatformPart {
    /// Operating system.
    pub os: String,
    /// Architecture in Go's names.
    pub architecture: String,
    /// Variant of the architecture.
    pub variant: Option<String>,
}

/// How the image runs.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunConfig {
    /// Environment as `NAME=VALUE`, secrets redacted.
    pub env: Vec<String>,
    /// Entrypoint; null when it has none.
    pub entrypoint: Option<Vec<String>>,
    /// Command; null when it has none.
    pub cmd: Option<Vec<String>>,
    /// Working folder.
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
    /// Whether every layer was read to its end and fits its digest, or was read by a table of contents that fits its
    /// own, with all files that were needed.
    pub complete: bool,
    /// Number of layers.
    pub layers: usize,
    /// Blobs as stored.
    pub compressed_bytes: Option<u64>,
    /// Tar streams.
    pub uncompressed_bytes: Option<u64>,
    /// Regular files of all layers; null when no layer was to be read.
    pub content_bytes: Option<u64>,
    /// Regular files of the merged view, hard links included; null when no layer was to be read.
    pub merged_files: Option<u64>,
    /// Bytes of the merged view, each inode once; null when no layer was to be read.
    pub merged_bytes: Option<u64>,
    /// Bytes that layers hold and no path reaches; null when no layer was to be read.
    pub wasted_bytes: Option<u64>,
    /// `merged_bytes / content_bytes`; null when there is no content.
    #[serde(default, deserialize_with = "fraction")]
    pub efficiency: Option<f64>,
}

/// One layer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LayerLine {
    /// From 0 at the bottom.
    pub index: usize,
    /// Digest of the blob.
    pub digest: Option<String>,
    /// Digest of the tar stream.
    pub diff_id: Option<String>,
    /// Media type as the manifest claims.
    pub media_type: Option<String>,
    /// Compression by content.
    #[schemars(transform = vocabulary::compression)]
    pub compression: Option<Word>,
    /// What was proven: digest, diff-id, both, none.
    #[schemars(transform = vocabulary::verified)]
    pub verified: Word,
    /// Blob as stored; of a layer that was read by its table of contents, as the manifest claims.
    pub compressed_bytes: Option<u64>,
    /// Blob as stored, as the manifest claims.
    #[serde(default)]
    pub claimed_bytes: Option<u64>,
    /// The table of contents that the layer was read from; null when the layer was read completely or not at all.
    #[serde(default, alias = "table")]
    pub toc: Option<TablePart>,
    /// Tar stream.
    pub uncompressed_bytes: Option<u64>,
    /// Regular files; null when the layer could not be read at all.
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
    /// Devices, pipes and the rest.
    pub others: Option<u64>,
    /// Hidden bytes that lie here.
    pub wasted_bytes: Option<u64>,
    /// Bytes that this layer hides.
    pub hides_bytes: Option<u64>,
    /// Those of them whose new content is the same; null until bodies are compared.
    pub metadata_only_bytes: Option<u64>,
    /// The instruction that made it, secrets redacted.
    pub created_by: Option<String>,
    /// Whether it belongs to the recognised base image; null when none was recognised, or not where it ends.
    pub is_base: Option<bool>,
    /// `content_bytes` by what they are for; null when the layer could not be read.
    #[schemars(transform = vocabulary::class)]
    pub class_bytes: Option<BTreeMap<Word, u64>>,
}

/// The table of contents of a layer, which the manifest proves: tree, sizes, owners, modes and times are its own.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TablePart {
    /// Who wrote it: estargz, zstd:chunked.
    #[schemars(transform = vocabulary::table_format)]
    pub format: Word,
    /// The digest that the manifest has for it.
    pub digest: String,
    /// Bytes of the layer that were fetched, the table included.
    pub fetched_bytes: u64,
}

/// One file of the merged view.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FileLine {
    /// Absolute path, escaped.
    pub path: String,
    /// Logical bytes.
    pub bytes: u64,
    /// The layer that holds them.
    pub layer: u16,
}

impl Report {
    /// The report of a finished analysis, without proposals; `None` while its layers are not merged, but for one of
    /// which only the documents were asked for.
    pub fn new(analysis: &Analysis, options: &Options) -> Option<Self> {
        let (totals, largest_files) = match (&analysis.merge, analysis.totals()) {
            (Some(merge), Some(totals)) => (TotalsPart::of(&totals), largest_files(&merge.rootfs, options)),
            _ if analysis.is_documents_only() => (TotalsPart::unknown(analysis.layers.len()), Vec::new()),
            _ => return None,
        };
        Some(Self {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            image: image_part(analysis, options),
            totals,
            layers: (0..analysis.layers.len()).map(|index| layer_line(analysis, index, options)).collect(),
            packages: analysis.inventory.as_deref().map(inventory::packages).unwrap_or_default(),
            cuda: inventory::cuda_part(analysis),
            findings: findings::lines(analysis, options),
            reclaimable: analysis.findings.as_deref().map(findings::reclaimable),
            plan: findings::plan(analysis, options),
            compatibility: compatibility::part(analysis, options),
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
    /// The sums of an analysis.
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

    /// Sums of which nothing is known but the number of layers.
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

/// What the documents say: known before any layer is read.
pub fn image_part(analysis: &Analysis, options: &Options) -> ImagePart {
    let image = &analysis.image;
    let config = image.config.as_ref();
    ImagePart {
        source: image.source.clone(),
        reference: redact::reference(&image.reference),
        tags: if options.show_secrets {
            image.tags.clone()
        } else {
            image.tags.iter().map(|tag| redact::reference(tag)).collect()
        },
        media_type: image.media_type.clone(),
        manifest_digest: image.manifest_digest.clone(),
        config_digest: image.config_digest.clone(),
        platform: image.platform.as_ref().map(|platform| PlatformPart {
            os: platform.os.clone(),
            architecture: platform.architecture.clone(),
            variant: platform.variant.clone(),
        }),
        created: config.and_then(|config| config.created().clone()),
        config: config.map(|config| run_config(config.config().as_ref(), options)),
        base: analysis.inventory.as_ref().and_then(|found| found.base.as_ref()).map(inventory::base),
    }
}

fn run_config(run: Option<&oci_spec::image::Config>, options: &Options) -> RunConfig {
    let env = run.and_then(|run| run.env().clone()).unwrap_or_default();
    let labels = run.and_then(|run| run.labels().clone()).unwrap_or_default();
    let shown = |name: &str, value: &str| {
        if options.show_secrets { value.to_owned() } else { redact::value(name, value).into_owned() }
    };
    let command = |words: Vec<String>| {
        if options.show_secrets { words } else { redact::words(&words) }
    };
    let plain = |text: Option<&String>| {
        text.filter(|text| !text.is_empty()).map(|text| {
            if options.show_secrets { text.clone() } else { redact::value("", text).into_owned() }
        })
    };
    let mut exposed_ports = run.and_then(|run| run.exposed_ports().clone()).unwrap_or_default();
    exposed_ports.sort();
    RunConfig {
        env: if options.show_secrets {
            env
        } else {
            env.iter().map(|pair| redact::assignment(pair)).collect()
        },
        entrypoint: run.and_then(|run| run.entrypoint().clone()).map(command),
        cmd: run.and_then(|run| run.cmd().clone()).map(command),
        working_dir: plain(run.and_then(|run| run.working_dir().as_ref())),
        user: plain(run.and_then(|run| run.user().as_ref())),
        labels: labels.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect(),
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
            format: table.format().as_str().into(),
            digest: table.digest().to_owned(),
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
        // A layer that could not be read hides nothing that we know of.
        hides_bytes: waste.map(|waste| waste.hides_bytes),
        metadata_only_bytes: waste.and(analysis.findings.as_deref()).and_then(|found| {
            let nothing = waste.filter(|waste| waste.hides_bytes == 0).map(|_| 0);
            nothing.or_else(|| found.metadata_only.get(index).copied().flatten())
        }),
        created_by: source
            .created_by
            .as_ref()
            .map(|text| if options.show_secrets { text.clone() } else { redact::instruction(text) }),
        // A base whose end is not known tells nothing of any layer.
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
