//! Findings, as part of the report's schema.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cold_start::SecondsPart;
use super::options::Options;
use super::vocabulary;
use super::words::Word;
use crate::analysis::Analysis;
use crate::base::text::{elide_end, escape};
use crate::cuda::Inode;
use crate::deploy::ColdStart;
use crate::findings::{Finding, Findings, Item, Plan, User, WholeFolder, whole_folders};
use crate::jobs::{map_all, workers};
use crate::rootfs::{NodeId, PathBuffer, Rootfs};

/// One finding.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FindingLine {
    /// Unique id; the same image has the same ids.
    pub id: String,
    /// Rule id, as in `cutaway explain`.
    #[schemars(transform = vocabulary::finding_rule)]
    pub rule: Word,
    /// high, medium, low, info.
    #[schemars(transform = vocabulary::severity)]
    pub severity: Word,
    /// safe, needed, unsure.
    #[schemars(transform = vocabulary::verdict)]
    pub verdict: Word,
    /// Category.
    #[schemars(transform = vocabulary::category)]
    pub category: Word,
    /// Title, one line.
    pub title: String,
    /// Reason of the verdict.
    pub reason: String,
    /// Proof: the statements behind the verdict.
    pub proof: Vec<String>,
    /// For unsure: the question that decides the verdict.
    pub question: Option<String>,
    /// Reduction of the layers without its files.
    pub bytes: u64,
    /// Of these, reduction of the merged view: the rest is already shadowed.
    pub merged_bytes: u64,
    /// Number of files, each inode once.
    pub files: u64,
    /// Layers with its files.
    pub layers: Vec<u16>,
    /// The same, with bytes and instruction.
    pub layer_bytes: Vec<LayerShare>,
    /// All paths of its files; shadowed files by their path in their layer.
    pub paths: Vec<String>,
    /// Topmost folders of which every entry belongs to the finding.
    #[serde(default)]
    pub folders: Vec<FolderLine>,
    /// Subjects without bytes: variables, names of libraries.
    pub subjects: Vec<String>,
    /// Owners of the files, as `manager:name`.
    pub packages: Vec<String>,
    /// Files and settings that use or name it.
    pub used_by: Vec<String>,
    /// Bytes of GPU code inside its files that `cutaway slim` removes for the targets.
    pub potential_bytes: u64,
    /// By so much compressed layers shrink without that code, estimated from samples. Null if unknown.
    #[serde(default)]
    pub potential_compressed_bytes: Option<u64>,
    /// Seconds that it costs at each cold start, in the first scenario of `cold_start`. Null if it has no bytes of its
    /// own, or if sizes are unknown.
    #[serde(default)]
    pub cold_start_seconds: Option<SecondsPart>,
    /// Fix.
    pub fix: String,
}

/// A folder that belongs to a finding completely.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FolderLine {
    /// Absolute path, with a slash at the end.
    pub path: String,
    /// Number of regular files at or below it.
    pub files: u64,
    /// Their bytes, each inode once.
    pub bytes: u64,
}

/// Share of a finding in one layer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LayerShare {
    /// The layer, from 0 at the bottom.
    pub layer: u16,
    /// Bytes there.
    pub bytes: u64,
    /// Of these, bytes visible in the container.
    pub merged_bytes: u64,
    /// Files there.
    pub files: u64,
    /// Beginning of the instruction that created the layer, secrets redacted.
    pub created_by: Option<String>,
}

/// Reclaimable bytes.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReclaimablePart {
    /// Removable bytes.
    pub safe_bytes: u64,
    /// Bytes that need review.
    pub unsure_bytes: u64,
    /// Bytes of GPU code inside files that `cutaway slim` removes for the targets.
    pub potential_bytes: u64,
    /// Safe and unsure bytes by category.
    #[schemars(transform = vocabulary::category)]
    pub by_category: BTreeMap<Word, u64>,
}

/// Findings to remove, and the sizes after.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PlanPart {
    /// Ids of the findings.
    pub findings: Vec<String>,
    /// Merged bytes after removal.
    pub merged_bytes_after: u64,
    /// Compressed bytes after removal, estimated: the remainder of a layer is assumed to compress like the whole. Null
    /// if a blob's size is unknown.
    pub compressed_bytes_after: Option<u64>,
}

/// All findings; `None` if the rules did not run.
pub(super) fn lines(
    analysis: &Analysis,
    options: &Options,
    cold_start: Option<&ColdStart>,
) -> Option<Vec<FindingLine>> {
    let findings = analysis.findings.as_deref()?;
    let rootfs = &analysis.merge.as_ref()?.rootfs;
    let mut names: Names = HashMap::new();
    for (node, inode) in rootfs.shared_files() {
        names.entry(inode).or_default().push(node);
    }
    let instructions: Vec<Option<String>> =
        (0..analysis.image.layers.len()).map(|layer| instruction(analysis, layer, options)).collect();
    let line = |one: &Finding| FindingLine {
        cold_start_seconds: cold_start.and_then(|found| found.findings.get(&one.id)).map(SecondsPart::of),
        ..line(analysis, (rootfs, &names), one, &instructions, options)
    };
    Some(map_all(findings.list.iter().collect(), workers(), line))
}

/// All paths of files with several names.
type Names = HashMap<Inode, Vec<NodeId>>;

fn line(
    analysis: &Analysis,
    (rootfs, names): (&Rootfs, &Names),
    finding: &Finding,
    instructions: &[Option<String>],
    options: &Options,
) -> FindingLine {
    let inventory = analysis.inventory.as_deref();
    let package = |place: &usize| {
        let package = inventory?.packages.get(*place)?;
        Some(format!("{}:{}", package.manager, package.name))
    };
    let items = if options.paths { &*finding.items } else { &[] };
    let mut paths: Vec<String> = Vec::with_capacity(items.len());
    let mut buffer = PathBuffer::default();
    for item in items {
        match names.get(&(item.layer, item.entry)) {
            Some(all) => paths.extend(all.iter().map(|node| escape(&rootfs.node(*node).path()))),
            None => paths.push(match item.node {
                Some(node) => escape(buffer.of(rootfs.node(node))),
                None => path(rootfs, item),
            }),
        }
    }
    paths.sort_unstable();
    paths.dedup();
    let folder = |folder: &WholeFolder| FolderLine {
        path: format!("{}/", escape(&rootfs.node(folder.node).path())),
        files: folder.files,
        bytes: folder.bytes,
    };
    let mut folders: Vec<FolderLine> = whole_folders(rootfs, items).iter().map(folder).collect();
    folders.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    FindingLine {
        id: finding.id.clone(),
        rule: finding.rule.id.into(),
        severity: finding.severity.as_str().into(),
        verdict: finding.verdict.as_str().into(),
        category: finding.category.as_str().into(),
        title: finding.title.clone(),
        reason: finding.reason.clone(),
        proof: finding.proof.clone(),
        question: finding.question.clone(),
        bytes: finding.bytes,
        merged_bytes: finding.merged_bytes,
        files: finding.items.len() as u64,
        layers: finding.layers.iter().map(|share| share.layer).collect(),
        layer_bytes: finding
            .layers
            .iter()
            .map(|share| LayerShare {
                layer: share.layer,
                bytes: share.bytes,
                merged_bytes: share.merged_bytes,
                files: share.files,
                created_by: instructions.get(usize::from(share.layer)).cloned().flatten(),
            })
            .collect(),
        paths,
        folders,
        subjects: finding.subjects.clone(),
        packages: finding.packages.iter().filter_map(package).collect(),
        used_by: finding.users.iter().map(|user| user_name(analysis, rootfs, user)).collect(),
        potential_bytes: finding.potential_bytes,
        potential_compressed_bytes: finding.potential_compressed_bytes,
        cold_start_seconds: None,
        fix: finding.fix.clone(),
    }
}

/// Maximum characters of an instruction in a finding; the layer has the complete text.
const INSTRUCTION: usize = 500;

fn instruction(analysis: &Analysis, layer: usize, options: &Options) -> Option<String> {
    let text = analysis.image.layers.get(layer)?.created_by.as_ref()?;
    Some(elide_end(&options.instruction(text), INSTRUCTION))
}

/// The path of a file: in the merged view, or in its layer if it is shadowed.
pub fn path(rootfs: &Rootfs, item: &Item) -> String {
    escape(&match item.node {
        Some(node) => rootfs.node(node).path(),
        None => rootfs.layer(item.layer).path(item.entry),
    })
}

/// A user, as text.
pub fn user_name(analysis: &Analysis, rootfs: &Rootfs, user: &User) -> String {
    match user {
        User::Object(id) => {
            let object = analysis.inventory.as_ref().and_then(|found| found.links.objects.get(id.0 as usize));
            object.map_or_else(String::new, |object| escape(&rootfs.node(object.node).path()))
        }
        User::Package(name, folder) if folder.is_empty() => name.clone(),
        User::Package(name, folder) => format!("{name} in {}", escape(folder)),
        User::File(node) => escape(&rootfs.node(*node).path()),
        User::Setting(text) => text.clone(),
    }
}

pub(super) fn reclaimable(findings: &Findings) -> ReclaimablePart {
    let sums = &findings.reclaimable;
    ReclaimablePart {
        safe_bytes: sums.safe_bytes,
        unsure_bytes: sums.unsure_bytes,
        potential_bytes: sums.potential_bytes,
        by_category: sums
            .by_category
            .iter()
            .map(|(category, bytes)| (category.as_str().into(), *bytes))
            .collect(),
    }
}

pub(super) fn plan(analysis: &Analysis, options: &Options) -> Option<PlanPart> {
    let findings = analysis.findings.as_deref()?;
    let safe = Plan::of_safe(findings);
    let plan = options.plan.as_ref().unwrap_or(&safe);
    let predicted = analysis.predict(plan)?;
    Some(PlanPart {
        findings: plan.ids(findings).into_iter().map(str::to_owned).collect(),
        merged_bytes_after: predicted.merged_bytes,
        compressed_bytes_after: predicted.compressed_bytes,
    })
}
