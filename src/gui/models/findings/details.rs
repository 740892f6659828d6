//! Everything about one finding: why, and the evidence that leads on.

use super::evidence::{beyond, short_question};
use super::files::FindingFiles;
use super::item::FindingItem;
use super::manual::{ManualBlock, blocks};
use crate::analysis::Analysis;
use crate::base::text::{escape, printable};
use crate::cuda::Inventory;
use crate::cuda::links::{Links, ObjectId};
use crate::findings::{Finding, User, Verdict, rule};
use crate::gui::models::layers::LayerItem;
use crate::rootfs::{NodeId, Rootfs};

/// Longer chains are cut: the root is named, the steps between are counted.
const CHAIN: usize = 12;

/// The part of a finding in one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerLine {
    /// The layer.
    pub layer: usize,
    /// Its instruction in a line, secrets redacted; empty without one.
    pub instruction: String,
    /// Bytes of the finding there.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
    /// Of `bytes`: what a later layer hides already.
    pub hidden: u64,
}

/// A step of the way from a file to the process that loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderStep {
    /// The name of the file.
    pub name: String,
    /// Its path, any bytes.
    pub raw: Vec<u8>,
    /// Why it is loaded, for the last one.
    pub why: Option<String>,
}

/// Who uses or names what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserLine {
    /// What kind of thing it is, in a word.
    pub kind: &'static str,
    /// What it is called, safe to show.
    pub name: String,
    /// Its path, any bytes; `None` for what is no file.
    pub raw: Option<Vec<u8>>,
    /// From what loads it to the process that runs, root last; empty for what no loader loads.
    pub chain: Vec<LoaderStep>,
}

/// Everything about one finding.
#[derive(Clone, Debug)]
pub struct FindingDetails {
    /// The finding as it is listed.
    pub item: FindingItem,
    /// Why the verdict is what it is.
    pub reason: String,
    /// The question that would settle it, without statements that are in the reason or the proof.
    pub question: Option<String>,
    /// The statements that the verdict rests on; of an unsure finding, those that are not in the reason.
    pub proof: Vec<String>,
    /// What to do.
    pub fix: String,
    /// The layers that contain its files, most bytes first.
    pub layers: Vec<LayerLine>,
    /// Owners of its files: name, version and manager.
    pub packages: Vec<String>,
    /// Who uses or names it.
    pub users: Vec<UserLine>,
    /// Names of what has no files.
    pub subjects: Vec<String>,
    /// Its files; `None` until they are in order, which takes longer than a frame for very many.
    pub files: Option<FindingFiles>,
}

impl FindingDetails {
    /// The details of the finding at a place, without its files; `None` when there is none, or nothing is known yet.
    pub fn new(analysis: &Analysis, layers: &[LayerItem], place: usize) -> Option<Self> {
        let (findings, merge) = (analysis.findings.as_ref()?, analysis.merge.as_ref()?);
        let finding = findings.list.get(place)?;
        let inventory = analysis.inventory.as_deref();
        let reason = printable(&finding.reason);
        let proof: Vec<String> = finding.proof.iter().map(|text| printable(text)).collect();
        let question = finding.question.as_deref().map(printable);
        let question = question.map(|text| short_question(&text, &reason, &proof).to_owned());
        let is_unsure = finding.verdict == Verdict::Unsure;
        let proof = if is_unsure { beyond(&reason, proof) } else { proof };
        Some(Self {
            item: FindingItem::new(finding),
            reason,
            question,
            proof,
            fix: printable(&finding.fix),
            layers: layer_lines(finding, layers),
            packages: packages(finding, inventory),
            users: users(finding, inventory, &merge.rootfs),
            subjects: finding.subjects.iter().map(|text| printable(text)).collect(),
            files: None,
        })
    }

    /// The page of the manual about its rule.
    pub fn manual(&self) -> Vec<ManualBlock> {
        rule(self.item.rule).map(|rule| blocks(rule.page)).unwrap_or_default()
    }
}

fn layer_lines(finding: &Finding, layers: &[LayerItem]) -> Vec<LayerLine> {
    let mut lines: Vec<LayerLine> = finding
        .layers
        .iter()
        .map(|share| {
            let layer = usize::from(share.layer);
            let item = layers.get(layer);
            // A layer without an instruction is named by its number, which is shown anyway.
            let instruction = item.map_or("", |item| item.title.as_str());
            let instruction = if instruction == format!("layer {layer}") { "" } else { instruction };
            let (bytes, merged_bytes) = if finding.category.has_bytes() {
                (share.bytes, share.merged_bytes)
            } else {
                sizes(finding, share.layer)
            };
            LayerLine {
                layer,
                instruction: instruction.to_owned(),
                bytes,
                files: share.files,
                hidden: bytes.saturating_sub(merged_bytes),
            }
        })
        .collect();
    lines.sort_by_key(|line| (std::cmp::Reverse(line.bytes), line.layer));
    lines
}

/// Bytes of the files in a layer, and of those that a container sees, of a finding that has no bytes of its own because
/// other rules count them.
fn sizes(finding: &Finding, layer: u16) -> (u64, u64) {
    let items = || finding.items.iter().filter(|item| item.layer == layer);
    let merged = items().filter(|item| item.node.is_some()).map(|item| item.bytes).sum();
    (items().map(|item| item.bytes).sum(), merged)
}

fn packages(finding: &Finding, inventory: Option<&Inventory>) -> Vec<String> {
    let Some(inventory) = inventory else { return Vec::new() };
    let found = finding.packages.iter().filter_map(|place| inventory.packages.get(*place));
    found
        .map(|package| printable(&format!("{} {} ({})", package.name, package.version, package.manager)))
        .collect()
}

fn users(finding: &Finding, inventory: Option<&Inventory>, rootfs: &Rootfs) -> Vec<UserLine> {
    let links = inventory.map(|inventory| &inventory.links);
    finding.users.iter().filter_map(|user| line(user, links, rootfs)).collect()
}

fn line(user: &User, links: Option<&Links>, rootfs: &Rootfs) -> Option<UserLine> {
    let file = |kind, node: NodeId, chain| {
        let raw = rootfs.node(node).path();
        UserLine { kind, name: escape(&raw), raw: Some(raw), chain }
    };
    Some(match user {
        User::Object(id) => {
            let links = links?;
            let object = links.objects.get(id.0 as usize)?;
            file("loaded by", object.node, chain(links, rootfs, *id))
        }
        User::File(node) => file("named in", *node, Vec::new()),
        User::Package(name, raw) => UserLine {
            // The heading says it.
            kind: "",
            name: printable(name),
            raw: (!raw.is_empty()).then(|| raw.clone()),
            chain: Vec::new(),
        },
        User::Setting(name) => {
            UserLine { kind: "set in", name: printable(name), raw: None, chain: Vec::new() }
        }
    })
}

/// The way from an object to its root, without the object itself.
fn chain(links: &Links, rootfs: &Rootfs, id: ObjectId) -> Vec<LoaderStep> {
    let ids = links.chain(id);
    let last = ids.len().saturating_sub(1);
    let mut steps = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let Some(object) = links.objects.get(id.0 as usize) else { break };
        let why = object.root.as_ref().filter(|_| place == last).map(|root| printable(&root.why));
        let kept = place < CHAIN || place == last;
        // The object itself is named already; only why it is loaded is new.
        if kept && (place > 0 || why.is_some()) {
            let node = rootfs.node(object.node);
            steps.push(LoaderStep { name: escape(node.name()), raw: node.path(), why });
        }
    }
    steps
}
