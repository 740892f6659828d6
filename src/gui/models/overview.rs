//! The first view of an image as data.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::image_names::image_name;
use super::layers::{BaseLayers, LayerItem, base_name, waiting_for};
use crate::analysis::{Analysis, Totals};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{escape, printable};
use crate::jobs::Snapshot;
use crate::report::page::share;
use crate::report::{ImagePart, Options, image_part};
use crate::rootfs::{Merge, Node, NodeId, NodeKind, Rootfs};

const LARGEST: usize = 10;

/// A path of the merged view with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathItem {
    /// The absolute path, any bytes.
    pub raw: Vec<u8>,
    /// The same, safe to show.
    pub shown: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its files, for folders.
    pub files: u32,
    /// The layer that contains its bytes, for files.
    pub layer: u16,
}

/// A file that a layer contains and no path reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasteItem {
    /// The absolute path in its layer, any bytes.
    pub raw: Vec<u8>,
    /// The same, safe to show.
    pub shown: String,
    /// Its bytes.
    pub bytes: u64,
    /// The layer that contains it.
    pub held_by: u16,
    /// The layer that hides it.
    pub hidden_by: u16,
}

/// All that one layer hides of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WastePair {
    /// The layer that contains the bytes.
    pub held_by: u16,
    /// The layer that hides them.
    pub hidden_by: u16,
    /// How many.
    pub bytes: u64,
    /// Of how many files.
    pub files: usize,
}

/// What is known once all layers are merged.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The largest files.
    pub files: Vec<PathItem>,
    /// Where the bytes are: folders that do not overlap, each the smallest one that no single folder
    /// inside stands for.
    pub folders: Vec<PathItem>,
    /// The largest files that are wasted.
    pub waste: Vec<WasteItem>,
    /// Waste by the layers between which it happens, largest first.
    pub pairs: Vec<WastePair>,
    /// How many files are wasted.
    pub wasted_files: usize,
}

/// A section of the image's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What it is called.
    pub name: &'static str,
    /// Its lines, safe to show, secrets redacted; empty when not set.
    pub lines: Vec<String>,
}

/// Everything the overview shows.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The name of the image, safe to show.
    pub name: String,
    /// Source, platform, time, digest: small print below the name.
    pub origin: Vec<String>,
    /// What the image is, in a sentence.
    pub sentence: String,
    /// The sums, once known.
    pub totals: Option<Totals>,
    /// Compressed bytes: from the manifest where a layer was not read completely.
    pub compressed: Option<u64>,
    /// What is still waited for, in words.
    pub waits_for: Option<String>,
    /// Whether the layers come from a registry or an engine, which may take its time.
    pub arrives: bool,
    /// Whether something could not be read.
    pub incomplete: bool,
    /// The layers.
    pub layers: Vec<LayerItem>,
    /// How the image runs.
    pub settings: Vec<Setting>,
    /// Warnings so far.
    pub warnings: usize,
}

impl Overview {
    /// The current state of an analysis. Cheap: reads no file. `done`: nothing more follows.
    pub fn new(analysis: &Analysis, done: bool) -> Self {
        let part = image_part(analysis, &Options::default());
        let layers = LayerItem::all(analysis, done);
        let totals = analysis.totals();
        let compressed = analysis.compressed();
        let waits_for = match &totals {
            _ if done => None,
            Some(_) => None,
            None => Some(waiting_for(&layers).unwrap_or_else(|| "the layers to be merged".to_owned())),
        };
        let incomplete = match &totals {
            Some(totals) => !totals.complete,
            None => done || layers.iter().any(|layer| layer.state.fault().is_some()),
        };
        Self {
            name: name(&part),
            origin: origin(&part).into_iter().chain(base(analysis)).collect(),
            sentence: sentence(totals.as_ref(), compressed, &layers, done),
            totals,
            compressed,
            arrives: waits_for.is_some() && ["registry", "engine"].contains(&analysis.image.source.as_str()),
            waits_for,
            incomplete,
            settings: settings(&part),
            warnings: analysis.warnings().len(),
            layers,
        }
    }
}

impl Overview {
    /// The layer being received, and its progress; `None` when all are present or local.
    pub fn arrival(&self, progress: &Snapshot) -> Option<String> {
        let (layers, done) = (self.layers.len() as u64, progress.layers_done);
        if !self.arrives || done >= layers {
            return None;
        }
        let bytes = match (progress.bytes_passed, progress.bytes_total) {
            (passed, 0) => human(passed),
            (passed, total) => format!("{} of {}", human(passed.min(total)), human(total)),
        };
        Some(format!("Receiving layer {} of {}: {bytes}.", grouped(done + 1), grouped(layers)))
    }
}

/// The name of the image: its tag, with its repository when the tag alone is ambiguous.
fn name(part: &ImagePart) -> String {
    let place = image_name(&printable(&part.reference));
    match part.tags.first() {
        Some(tag) if tag.contains([':', '/']) => printable(tag),
        Some(tag) if !place.contains(':') => format!("{place}:{}", printable(tag)),
        _ => place,
    }
}

fn origin(part: &ImagePart) -> Vec<String> {
    let mut origin = Vec::new();
    if name(part) != printable(&part.reference) {
        origin.push(printable(&part.reference));
    }
    origin.push(part.source.clone());
    if let Some(platform) = &part.platform {
        let variant = platform.variant.as_ref().map_or_else(String::new, |variant| format!("/{variant}"));
        origin.push(printable(&format!("{}/{}{variant}", platform.os, platform.architecture)));
    }
    if let Some(created) = &part.created {
        let created = created.split('.').next().unwrap_or(created).trim_end_matches('Z');
        origin.push(format!("created {}", printable(&created.replace('T', " "))));
    }
    origin
}

/// The base image, with its layers as far as they are known.
fn base(analysis: &Analysis) -> Option<String> {
    let name = base_name(analysis)?;
    Some(match BaseLayers::of(analysis) {
        Some(base) => {
            let own = analysis.layers.len() - base.count;
            format!(
                "base image {name} ({} of {})",
                grouped(base.count as u64),
                counted(base.count + own, "layer")
            )
        }
        None => format!("base image {name}"),
    })
}

/// What the image is, with each of the three sizes named.
fn sentence(totals: Option<&Totals>, compressed: Option<u64>, layers: &[LayerItem], done: bool) -> String {
    let layers_text = counted(layers.len(), "layer");
    let Some(totals) = totals else {
        let size = compressed.map_or_else(String::new, |bytes| format!(", {} compressed", human(bytes)));
        return if done {
            format!("{layers_text}{size}; stopped before the layers were merged.")
        } else {
            format!("{layers_text}{size}.")
        };
    };
    let unread = layers.iter().filter(|layer| !layer.state.has_files()).count();
    let stored = match compressed {
        _ if unread > 0 => {
            format!(
                "The {} of {layers_text} that could be read contain",
                grouped((layers.len() - unread) as u64)
            )
        }
        Some(bytes) => format!("{layers_text} ({} compressed) contain", human(bytes)),
        None => format!("{layers_text} contain"),
    };
    let files = counted(usize::try_from(totals.merged_files).unwrap_or(usize::MAX), "file");
    let merged = format!("{} in the merged view ({})", human(totals.merged_bytes), files);
    let stored = if layers.len() - unread == 1 { format!("{stored}s") } else { stored };
    match (totals.wasted_bytes, totals.content_bytes) {
        (0, _) if !totals.complete => {
            format!("{stored} {merged}. Part of the image was not read: its waste is unknown.")
        }
        (wasted, _) if !totals.complete => {
            format!("{stored} {merged}; at least {} wasted. Part of the image was not read.", human(wasted))
        }
        (0, _) => format!("{stored} {merged}; no wasted bytes."),
        (wasted, content) => {
            format!("{stored} {merged}; {} wasted ({}).", human(wasted), share(wasted, content))
        }
    }
}

fn settings(part: &ImagePart) -> Vec<Setting> {
    let Some(config) = &part.config else { return Vec::new() };
    let one = |text: &Option<String>| text.iter().map(|text| printable(text)).collect::<Vec<_>>();
    let command = |words: &Option<Vec<String>>| match words {
        Some(words) if !words.is_empty() => vec![printable(&crate::base::text::shell_words(words))],
        _ => Vec::new(),
    };
    let mut env: Vec<String> = config.env.iter().map(|pair| printable(pair)).collect();
    env.sort();
    let labels = config.labels.iter().map(|(name, value)| printable(&format!("{name}={value}")));
    vec![
        Setting { name: "Entrypoint", lines: command(&config.entrypoint) },
        Setting { name: "Command", lines: command(&config.cmd) },
        Setting { name: "User", lines: one(&config.user) },
        Setting { name: "Working directory", lines: one(&config.working_dir) },
        Setting { name: "Ports", lines: config.exposed_ports.iter().map(|port| printable(port)).collect() },
        Setting { name: "Environment", lines: env },
        Setting { name: "Labels", lines: labels.collect() },
    ]
}

impl Contents {
    /// Looks at every path of the merged view: for a thread of its own where there are many.
    pub fn new(merge: &Merge) -> Self {
        let rootfs = &merge.rootfs;
        let files = rootfs.largest_files(LARGEST).into_iter().map(|id| path_item(rootfs.node(id))).collect();
        let (waste, wasted_files) = waste(rootfs);
        Self { files, folders: folders(rootfs), waste, pairs: pairs(rootfs), wasted_files }
    }
}

fn path_item(node: Node<'_>) -> PathItem {
    let raw = node.path();
    let layer = node.content().map_or(node.layer(), |(layer, _)| layer);
    PathItem { shown: escape(&raw), raw, bytes: node.bytes(), files: node.files(), layer }
}

/// Folders that do not overlap. A folder of which one folder inside has more than half is looked into.
fn folders(rootfs: &Rootfs) -> Vec<PathItem> {
    let mut pending = BinaryHeap::from([(rootfs.root().bytes(), Reverse(NodeId::ROOT))]);
    let mut found = Vec::new();
    while let Some((bytes, Reverse(id))) = pending.pop() {
        if bytes == 0 || found.len() == LARGEST {
            break;
        }
        let node = rootfs.node(id);
        let inside = || node.children().filter(|child| child.kind() == NodeKind::Directory);
        let largest = inside().map(Node::bytes).max().unwrap_or(0);
        if id == NodeId::ROOT || largest > bytes / 2 {
            pending.extend(inside().map(|child| (child.bytes(), Reverse(child.id()))));
        } else {
            found.push(path_item(node));
        }
    }
    found
}

fn waste(rootfs: &Rootfs) -> (Vec<WasteItem>, usize) {
    let size = |hidden: &crate::rootfs::Hidden| rootfs.layer(hidden.layer).size(hidden.entry);
    let mut heap = BinaryHeap::with_capacity(LARGEST + 1);
    for (place, hidden) in rootfs.hidden().iter().enumerate() {
        heap.push(Reverse((size(hidden), Reverse(place))));
        if heap.len() > LARGEST {
            heap.pop();
        }
    }
    let items = heap
        .into_sorted_vec()
        .into_iter()
        .map(|Reverse((bytes, Reverse(place)))| {
            let hidden = rootfs.hidden()[place];
            let raw = rootfs.layer(hidden.layer).path(hidden.entry);
            WasteItem { shown: escape(&raw), raw, bytes, held_by: hidden.layer, hidden_by: hidden.by }
        })
        .filter(|item| item.bytes > 0)
        .collect();
    (items, rootfs.hidden().len())
}

fn pairs(rootfs: &Rootfs) -> Vec<WastePair> {
    let mut sums: BTreeMap<(u16, u16), (u64, usize)> = BTreeMap::new();
    for hidden in rootfs.hidden() {
        let sum = sums.entry((hidden.layer, hidden.by)).or_default();
        sum.0 += rootfs.layer(hidden.layer).size(hidden.entry);
        sum.1 += 1;
    }
    let mut pairs: Vec<WastePair> = sums
        .into_iter()
        .filter(|(_, (bytes, _))| *bytes > 0)
        .map(|((held_by, hidden_by), (bytes, files))| WastePair { held_by, hidden_by, bytes, files })
        .collect();
    pairs.sort_by_key(|pair| Reverse(pair.bytes));
    pairs
}
