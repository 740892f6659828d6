//! The files of a finding. There may be many thousands: only those in sight are turned into text.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::analysis::Analysis;
use crate::base::convert::index32;
use crate::base::text::escape;
use crate::findings::{FileFindings, Finding, Findings, Item, whole_folders};
use crate::rootfs::{Merge, NodeId, Rootfs};

/// How many of the largest files are shown with the reasons.
const LARGEST: usize = 5;

/// The files of one finding, largest first.
#[derive(Clone, Debug)]
pub struct FindingFiles {
    /// The largest folders that belong to it as a whole, and files outside of them.
    pub places: Vec<FileLine>,
    findings: Arc<Findings>,
    finding: usize,
    order: Vec<u32>,
}

/// A file as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLine {
    /// Absolute path of the file, or of a folder with all of its files; any bytes.
    pub raw: Vec<u8>,
    /// The same, safe to show.
    pub shown: String,
    /// Its bytes.
    pub bytes: u64,
    /// The layer that contains them.
    pub layer: u16,
    /// Whether a later layer hides it already.
    pub hidden: bool,
    /// What all findings about it come to; `None` for a folder.
    pub all: Option<FileFindings>,
}

impl FindingFiles {
    /// Those of the finding at a place; `None` when there is none, or nothing is known yet. Of hundreds of thousands it
    /// takes longer than a frame.
    pub fn new(analysis: &Analysis, finding: usize) -> Option<Self> {
        let (findings, merge) = (analysis.findings.as_ref()?, analysis.merge.as_ref()?);
        let items = &findings.list.get(finding)?.items;
        let mut order: Vec<u32> = (0..index32(items.len())).collect();
        order.sort_by_key(|place| Reverse(items[*place as usize].bytes));
        let mut files = Self { places: Vec::new(), findings: Arc::clone(findings), finding, order };
        files.places = files.largest_places(merge, LARGEST);
        Some(files)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The largest of their sizes.
    pub fn largest(&self) -> u64 {
        self.item(0).map_or(0, |item| item.bytes)
    }

    /// The file at a row.
    pub fn line(&self, merge: &Merge, row: usize) -> Option<FileLine> {
        self.item(row).map(|item| self.line_of(&merge.rootfs, item))
    }

    /// Folders that belong to the finding as a whole and the files outside of them, largest first, at most `most`.
    fn largest_places(&self, merge: &Merge, most: usize) -> Vec<FileLine> {
        let rootfs = &merge.rootfs;
        let items = self.findings.list.get(self.finding).map_or(&[][..], |finding| &finding.items);
        let mut whole = whole_folders(rootfs, items);
        whole.sort_unstable_by_key(|folder| folder.node);
        let is_inside = |item: &&Item| {
            let mut node = item.node.map(|node| rootfs.node(node).parent());
            while let Some(folder) = node.filter(|folder| folder.id() != NodeId::ROOT) {
                if whole.binary_search_by_key(&folder.id(), |folder| folder.node).is_ok() {
                    return true;
                }
                node = Some(folder.parent());
            }
            false
        };
        let files = (0..self.order.len()).filter_map(|row| self.item(row)).filter(|item| !is_inside(item));
        let mut lines: Vec<FileLine> = files.take(most).map(|item| self.line_of(rootfs, item)).collect();
        lines.extend(whole.iter().map(|folder| {
            let node = rootfs.node(folder.node);
            let (raw, bytes, layer) = (node.path(), folder.bytes, node.layer());
            FileLine { shown: format!("{}/", escape(&raw)), raw, bytes, layer, hidden: false, all: None }
        }));
        lines.sort_by_key(|line| Reverse(line.bytes));
        lines.truncate(most);
        lines
    }

    fn item(&self, row: usize) -> Option<&Item> {
        let finding: &Finding = self.findings.list.get(self.finding)?;
        finding.items.get(*self.order.get(row)? as usize)
    }

    fn line_of(&self, rootfs: &Rootfs, item: &Item) -> FileLine {
        let raw = match item.node {
            Some(node) => rootfs.node(node).path(),
            None => rootfs.layer(item.layer).path(item.entry),
        };
        let all = self.findings.by_file().get(item.layer, item.entry);
        let hidden = item.node.is_none();
        FileLine { shown: escape(&raw), raw, bytes: item.bytes, layer: item.layer, hidden, all }
    }
}
