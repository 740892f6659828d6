//! Configuration files of deployment platforms: `cerebrium.toml`, Azure ML YAML, Kubernetes manifests.
//!
//! A file is parsed to documents with positions ([`read`]) and judged by name and, if the image was read, by its
//! contents ([`judge`]). Unknown keys are ignored. Files are untrusted input: size, nesting, the number of documents
//! and the expansion of aliases are bounded.

mod azureml;
mod base_name;
mod cerebrium;
mod kubernetes;
mod machines;
mod node;
mod python;
mod toml;
mod value;
mod yaml;

pub use base_name::BaseName;
pub use node::Position;
pub use value::{FileError, FileFinding, FileImage, FileKind, FileRule, JudgedImage};

use crate::analysis::Analysis;
use crate::base::text::counted;
use crate::cuda::catalog::Catalog;
use node::Node;

/// Maximum size of a file, in bytes. Real files have some kilobytes; Kubernetes limits an object to 1.5 MiB.
pub const FILE_BYTES: usize = 1 << 20;
/// Maximum nesting. Pod specifications have about ten levels.
const NESTING: usize = 64;
/// Maximum number of YAML documents.
const DOCUMENTS: usize = 1_000;
/// Maximum memory of all values after the expansion of aliases, in bytes, roughly.
const EXPANDED_BYTES: usize = 64 << 20;
/// Maximum number of findings; a hostile file has as many as it has lines. One more says how many others there are.
const FINDINGS: usize = 1_000;

/// A file of a platform.
#[derive(Clone, Debug)]
pub struct PlatformFile {
    /// What it configures.
    pub kind: FileKind,
    /// Images that it names, in file order.
    pub images: Vec<FileImage>,
    documents: Vec<Node>,
}

impl PlatformFile {
    /// Id of its platform's profile.
    pub fn profile(&self) -> &'static str {
        match self.kind {
            FileKind::Kubernetes => kubernetes::profile(&self.documents),
            FileKind::Cerebrium => "cerebrium",
            FileKind::AzureEnvironment | FileKind::AzureDeployment | FileKind::AzureJob => "azureml",
        }
    }

    /// The reference of this file that means an image opened as `reference`.
    pub fn reference_of(&self, reference: &str) -> Option<&str> {
        let bare = reference.strip_prefix("docker://").unwrap_or(reference);
        let named = |known: &&FileImage| known.reference == bare || known.reference == reference;
        self.images.iter().find(named).map(|known| known.reference.as_str())
    }
}

/// Parses a file and recognises its kind by content.
///
/// # Errors
/// It is too large, not UTF-8, broken, nested too deeply, or of no known kind.
pub fn read(bytes: &[u8]) -> Result<PlatformFile, FileError> {
    if bytes.len() > FILE_BYTES {
        return Err(FileError::TooLarge { limit: FILE_BYTES });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        FileError::NotText { line }
    })?;
    if is_toml(text) {
        let document = toml::parse(text)?;
        if document.get("cerebrium").is_none() {
            return Err(FileError::Unknown);
        }
        let images = cerebrium::images(&document);
        return Ok(PlatformFile { kind: FileKind::Cerebrium, images, documents: vec![document] });
    }
    let documents = yaml::parse(text)?;
    let kind = documents.iter().find_map(kind_of).ok_or(FileError::Unknown)?;
    let images = match kind {
        FileKind::Kubernetes => kubernetes::images(&documents),
        _ => documents.iter().flat_map(azureml::images).collect(),
    };
    Ok(PlatformFile { kind, images, documents })
}

/// Whether bytes may be a platform's file: short text. Image archives and layouts are not.
pub fn is_candidate(bytes: &[u8]) -> bool {
    bytes.len() <= FILE_BYTES && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// TOML begins its tables with a header; no YAML document of these platforms has such a line.
fn is_toml(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}').trim();
        line.starts_with("[cerebrium") || line.starts_with("[[cerebrium")
    })
}

fn kind_of(document: &Node) -> Option<FileKind> {
    if document.text_of("apiVersion").is_some() && document.text_of("kind").is_some() {
        return Some(FileKind::Kubernetes);
    }
    let schema = document.text_of("$schema").unwrap_or_default().to_ascii_lowercase();
    let has = |key| document.entry(key).is_some();
    if schema.contains("deployment.schema.json") || (has("instance_type") && has("environment")) {
        Some(FileKind::AzureDeployment)
    } else if schema.contains("job.schema.json") || (has("command") && has("environment")) {
        Some(FileKind::AzureJob)
    } else if schema.contains("environment.schema.json") || ((has("image") || has("build")) && has("name")) {
        Some(FileKind::AzureEnvironment)
    } else {
        None
    }
}

/// What does not fit: [`judge`], with what an analysis knows of the image, if one was read. `named` is the
/// reference of the file that means this image; `None` if every image of the file is this one.
pub fn judge_with(
    file: &PlatformFile,
    analysis: Option<&Analysis>,
    named: Option<&str>,
    catalog: &Catalog,
) -> Vec<FileFinding> {
    let read = analysis.and_then(|analysis| Some((analysis.needs()?, environment(analysis))));
    let judged =
        read.as_ref().map(|(needs, environment)| JudgedImage { reference: named, needs, environment });
    judge(file, judged.as_ref(), catalog)
}

/// The environment of an image as name and value.
fn environment(analysis: &Analysis) -> Vec<(String, String)> {
    let config = analysis.image.config.as_ref().and_then(|config| config.config().as_ref());
    let pairs = config.and_then(|config| config.env().as_ref()).into_iter().flatten();
    pairs
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What does not fit, in file order, and of one place the worst first. `image` is the image of the file, if it was
/// read.
pub fn judge(file: &PlatformFile, image: Option<&JudgedImage<'_>>, catalog: &Catalog) -> Vec<FileFinding> {
    let mut findings = Vec::new();
    for document in &file.documents {
        match file.kind {
            FileKind::Cerebrium => cerebrium::judge(document, image, catalog, &mut findings),
            FileKind::Kubernetes => kubernetes::judge(document, image, catalog, &mut findings),
            FileKind::AzureEnvironment | FileKind::AzureDeployment | FileKind::AzureJob => {
                azureml::judge(document, image, catalog, &mut findings);
            }
        }
    }
    if file.kind == FileKind::Kubernetes {
        findings.extend(kubernetes::without_pods(&file.documents));
    }
    findings.sort_by_key(|one| (one.at, one.severity, one.rule));
    findings.dedup();
    shorten(&mut findings);
    findings
}

/// Keeps the first [`FINDINGS`] and adds how many more there are, as severe as the worst of these.
fn shorten(findings: &mut Vec<FileFinding>) {
    let Some(rest) = findings.get(FINDINGS..) else { return };
    let (Some(first), Some(severity)) = (rest.first(), rest.iter().map(|one| one.severity).min()) else {
        return;
    };
    let verb = if rest.len() == 1 { "is" } else { "are" };
    let text = format!("{} {verb} not shown.", counted(rest.len(), "more finding"));
    let more = FileFinding::new(FileRule::NotChecked, severity, first.at, &first.key, text);
    findings.truncate(FINDINGS);
    findings.push(more);
}
