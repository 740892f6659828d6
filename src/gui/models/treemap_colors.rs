//! The colours of a treemap as data: which group each path belongs to, and what a group has in bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::{FileTree, PathChange};
use crate::analysis::Analysis;
use crate::base::convert::index32;
use crate::cuda::{Class, Inode};
use crate::findings::{FilesOfFindings, Verdict};
use crate::gui::design::{layer_pattern, pattern};
use crate::jobs::{CancelToken, Cancelled};
use crate::rootfs::{PathId, Version};

/// What colours mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    /// The layer that stores the bytes.
    #[default]
    Layer,
    /// The purpose of a file.
    Class,
    /// The package that owns a file.
    Owner,
    /// The verdict of the findings about a file.
    Finding,
    /// The position of the layer, from the bottom to the top.
    Age,
}

impl ColorBy {
    /// All of them, in display order.
    pub const ALL: [Self; 5] = [Self::Layer, Self::Class, Self::Owner, Self::Finding, Self::Age];

    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Layer => "Layer",
            Self::Class => "Class",
            Self::Owner => "Owner",
            Self::Finding => "Finding",
            Self::Age => "Layer age",
        }
    }

    /// What of the analysis it requires and is not there.
    pub fn missing(self, analysis: &Analysis) -> Option<&'static str> {
        match self {
            Self::Layer | Self::Age => None,
            Self::Class | Self::Owner => analysis.inventory.is_none().then_some("the CUDA inventory"),
            Self::Finding => analysis.findings.is_none().then_some("the findings"),
        }
    }
}

/// The colour of a group, by meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroupPaint {
    /// A hue of the layers.
    Layer(usize),
    /// The hue of a class.
    Class(usize),
    /// A shade, from 0 for the lightest to 1.
    Shade(f32),
    /// Grey.
    Neutral,
}

/// A group of files with one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorGroup {
    /// Its name, safe to show.
    pub name: String,
    /// Its colour.
    pub paint: GroupPaint,
    /// Its pattern, so that colour is not needed: see `widgets::treemap`.
    pub pattern: u8,
    /// Bytes of its files in the tree, each once.
    pub bytes: u64,
}

/// The groups of all paths of a tree.
#[derive(Debug)]
pub struct Coloring {
    /// What colours mean.
    pub by: ColorBy,
    /// The groups with files, in the order of the legend.
    pub groups: Vec<ColorGroup>,
    /// Bytes of all groups.
    pub bytes: u64,
    /// By path: place in `groups`, or [`NO_GROUP`].
    of: Vec<u16>,
}

/// No group: a folder without bytes.
const NO_GROUP: u16 = u16::MAX;
/// Packages with a colour of their own; the others share one.
const MOST_OWNERS: usize = 11;
/// Steps from the oldest to the newest layer.
const AGES: usize = 5;
/// How many paths are looked at between two looks at the cancel token.
const STRIDE: usize = 1 << 16;

impl Coloring {
    /// Groups the paths of `tree`; a folder is in the group of its largest part. `titles` names the layers, bottom
    /// first.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        tree: &FileTree,
        analysis: &Analysis,
        titles: &[String],
        by: ColorBy,
        cancel: &CancelToken,
    ) -> Result<Self, Cancelled> {
        let layers = analysis.layers.len().max(1);
        let ages = AGES.min(layers);
        let mut keys = Keys::new(tree, analysis, by);
        let count = tree.timeline().len();
        let mut raw = vec![u32::MAX; count];
        let mut largest = vec![0_u64; count];
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        // Children come after their folder.
        for at in (0..count).rev() {
            if at.is_multiple_of(STRIDE) {
                cancel.check()?;
            }
            let path = PathId(index32(at));
            if !tree.shows(path) {
                continue;
            }
            let (bytes, counted) = (tree.bytes(path), tree.mark(path) != PathChange::Removed);
            if let Some(version) = tree.version(path).filter(|_| !tree.is_folder(path)) {
                raw[at] = keys.of(&version);
                if counted && bytes > 0 {
                    *sums.entry(raw[at]).or_default() += bytes;
                }
            }
            let parent = tree.timeline().parent(path).0 as usize;
            if parent != at && (raw[parent] == u32::MAX || bytes > largest[parent]) {
                (raw[parent], largest[parent]) = (raw[at], bytes);
            }
        }
        let (groups, places) = if by == ColorBy::Owner {
            owners(analysis, &sums)
        } else {
            let named = |key: u32, bytes: u64| group(by, key as usize, bytes, (titles, layers, ages));
            let groups = sums.iter().map(|(key, bytes)| named(*key, *bytes)).collect::<Vec<_>>();
            (groups, sums.keys().enumerate().map(|(place, key)| (*key, place)).collect())
        };
        let place = |key: u32| places.get(&key).and_then(|place| u16::try_from(*place).ok());
        let of = raw.into_iter().map(|key| place(key).unwrap_or(NO_GROUP)).collect();
        Ok(Self { by, groups, bytes: sums.values().sum(), of })
    }

    /// The group of a path; `None` where nothing has bytes.
    pub fn group(&self, path: PathId) -> Option<&ColorGroup> {
        self.groups.get(usize::from(*self.of.get(path.0 as usize)?))
    }
}

/// The layer and entry with the content of a version.
pub fn inode(tree: &FileTree, version: &Version) -> Option<Inode> {
    let shared = tree.timeline().shares(version.id).map(|(layer, entry, _)| (layer, entry));
    shared.or_else(|| version.entry.map(|entry| (version.layer, entry)))
}

/// The package that owns the file at a version, by its place in the inventory.
pub fn owner(analysis: &Analysis, version: &Version) -> Option<usize> {
    let rootfs = &analysis.merge.as_ref()?.rootfs;
    let node = rootfs.node_showing(version.layer, version.entry?)?;
    analysis.inventory.as_ref()?.owners.of(node)
}

/// The key of a file: the number of its group before groups are counted.
struct Keys<'a> {
    tree: &'a FileTree,
    analysis: &'a Analysis,
    by: ColorBy,
    findings: Arc<FilesOfFindings>,
}

impl<'a> Keys<'a> {
    fn new(tree: &'a FileTree, analysis: &'a Analysis, by: ColorBy) -> Self {
        let findings = analysis.findings.as_deref().filter(|_| by == ColorBy::Finding);
        let findings = findings.map(|findings| Arc::clone(findings.by_file())).unwrap_or_default();
        Self { tree, analysis, by, findings }
    }

    fn of(&mut self, version: &Version) -> u32 {
        let inode = inode(self.tree, version);
        let layer = inode.map_or(version.layer, |inode| inode.0);
        match self.by {
            ColorBy::Layer => u32::from(layer),
            ColorBy::Age => {
                let layers = self.analysis.layers.len().max(1);
                index32((usize::from(layer) * AGES.min(layers) / layers).min(AGES - 1))
            }
            ColorBy::Class => {
                let inventory = self.analysis.inventory.as_deref();
                let class = inode.and_then(|(layer, entry)| inventory?.classes.of(layer, entry));
                class.map_or(index32(Class::ALL.len()), |class| class as u32)
            }
            ColorBy::Owner => owner(self.analysis, version).map_or(0, |place| index32(place + 1)),
            ColorBy::Finding => {
                let found = inode.and_then(|(layer, entry)| self.findings.get(layer, entry));
                let place = found.and_then(|found| Verdict::ALL.iter().position(|one| *one == found.verdict));
                index32(place.unwrap_or(Verdict::ALL.len()))
            }
        }
    }
}

fn group(
    by: ColorBy,
    key: usize,
    bytes: u64,
    (titles, layers, ages): (&[String], usize, usize),
) -> ColorGroup {
    let (name, paint, pattern) = match by {
        ColorBy::Layer => {
            let title = titles.get(key).map_or("", String::as_str);
            (format!("Layer {key}: {title}"), GroupPaint::Layer(key), layer_pattern(key))
        }
        ColorBy::Age => {
            // The layers whose step this is, see `Keys::of`.
            let first = (key * layers).div_ceil(ages);
            let last = ((key + 1) * layers).div_ceil(ages).saturating_sub(1).max(first);
            let range =
                if first == last { format!("Layer {first}") } else { format!("Layers {first}–{last}") };
            let word = match key {
                0 => ", oldest",
                _ if key + 1 == ages => ", newest",
                _ => "",
            };
            let share = if ages > 1 { key as f32 / (ages - 1) as f32 } else { 1.0 };
            (format!("{range}{word}"), GroupPaint::Shade(share), 0)
        }
        ColorBy::Class => match Class::ALL.get(key) {
            Some(class) => (class.label().to_owned(), GroupPaint::Class(key), pattern(key)),
            None => ("No class".to_owned(), GroupPaint::Neutral, 0),
        },
        ColorBy::Finding => match Verdict::ALL.get(key) {
            Some(verdict) => (verdict.label().to_owned(), GroupPaint::Class(key + 1), pattern(key + 1)),
            None => ("No finding".to_owned(), GroupPaint::Neutral, 0),
        },
        ColorBy::Owner => (String::new(), GroupPaint::Neutral, 0),
    };
    ColorGroup { name, paint, pattern, bytes }
}

/// The largest packages, the other ones, and what no package owns; and the place of each key.
fn owners(analysis: &Analysis, sums: &BTreeMap<u32, u64>) -> (Vec<ColorGroup>, BTreeMap<u32, usize>) {
    let mut sizes: Vec<(u64, u32)> =
        sums.iter().filter(|(key, _)| **key > 0).map(|(key, bytes)| (*bytes, *key)).collect();
    sizes.sort_unstable_by_key(|(bytes, key)| (std::cmp::Reverse(*bytes), *key));
    let (mut groups, mut places) = (Vec::new(), BTreeMap::new());
    for (place, (bytes, key)) in sizes.iter().take(MOST_OWNERS).enumerate() {
        let packages = analysis.inventory.as_deref().map(|inventory| &inventory.packages);
        let package = packages.and_then(|packages| packages.get((*key as usize).saturating_sub(1)));
        let name = package.map_or_else(String::new, |package| owner_name(package.manager, &package.name));
        places.insert(*key, groups.len());
        let paint = GroupPaint::Layer(place);
        groups.push(ColorGroup { name, paint, pattern: layer_pattern(place), bytes: *bytes });
    }
    let others = sizes.get(MOST_OWNERS..).unwrap_or_default();
    if !others.is_empty() {
        places.extend(others.iter().map(|(_, key)| (*key, groups.len())));
        let name = crate::base::text::counted(others.len(), "other package");
        let bytes = others.iter().map(|(bytes, _)| bytes).sum();
        groups.push(ColorGroup { name, paint: GroupPaint::Layer(MOST_OWNERS), pattern: 3, bytes });
    }
    if let Some(bytes) = sums.get(&0) {
        places.insert(0, groups.len());
        let name = "No package".to_owned();
        groups.push(ColorGroup { name, paint: GroupPaint::Neutral, pattern: 0, bytes: *bytes });
    }
    (groups, places)
}

/// A package as it is named: `dpkg:libcublas-12-4`, safe to show.
pub fn owner_name(manager: &str, name: &str) -> String {
    format!("{manager}:{}", crate::base::text::printable(name))
}
