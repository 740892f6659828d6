//! The current image and the new image, side by side.

use hashbrown::HashMap;
use hashbrown::HashSet;

use super::super::input::Input;
use super::side::Side;
use crate::base::convert::index32;
use crate::cuda::Inode;
use crate::findings::Finding;
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfFacts;
use crate::layer::{ContentHash, LayerRead};
use crate::rootfs::{NodeId, NodeKind};

/// No node.
const NONE: u32 = u32::MAX;

/// The state of a path of the current image in the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileDisposition {
    /// The same content.
    Stays,
    /// Different or unknown content.
    Changes,
    /// Missing.
    Goes,
}

/// Both images, and the mapping from the old one to the new one.
pub(super) struct ImagePair<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) old: Side<'a>,
    pub(super) new: Side<'a>,
    /// By node of the old view: the node of the new one at the same path.
    new_of: Vec<u32>,
    /// Files of findings in the plan.
    planned: HashSet<Inode>,
    /// By file: the finding that counts its bytes.
    findings: HashMap<Inode, &'a Finding>,
    /// Regular files of the old view whose path is missing and that no finding of the plan covers, in its order.
    pub(super) lost: Vec<NodeId>,
    /// By node of the old view: the number of them at or below it.
    lost_at: Vec<u32>,
    /// Regular files of the old view with different content.
    pub(super) changed: Vec<NodeId>,
    /// Paths of the new view, other than folders, that the old one does not have.
    pub(super) back: Vec<NodeId>,
}

impl<'a> ImagePair<'a> {
    pub(super) fn new(input: &'a Input<'a>, old: Side<'a>, new: Side<'a>) -> Self {
        let (mut planned, mut findings) = (HashSet::new(), HashMap::new());
        for finding in &input.findings.list {
            let is_planned = input.plan.contains(&finding.id);
            for item in &finding.items {
                let inode = (item.layer, item.entry);
                if is_planned {
                    planned.insert(inode);
                }
                if finding.category.has_bytes() {
                    findings.entry(inode).or_insert(finding);
                }
            }
        }
        let new_of = twins(&old, &new);
        let old_nodes = old.rootfs.len();
        let mut pair = Self {
            input,
            old,
            new,
            new_of,
            planned,
            findings,
            lost: Vec::new(),
            lost_at: vec![0; old_nodes],
            changed: Vec::new(),
            back: Vec::new(),
        };
        for node in pair.old.rootfs.nodes() {
            let Some(inode) = node.content() else { continue };
            match pair.fate(node.id()) {
                FileDisposition::Stays => {}
                FileDisposition::Changes => pair.changed.push(node.id()),
                FileDisposition::Goes if pair.planned.contains(&inode) => {}
                FileDisposition::Goes => pair.lost.push(node.id()),
            }
        }
        for id in &pair.lost {
            if let Some(count) = pair.lost_at.get_mut(id.0 as usize) {
                *count = 1;
            }
        }
        for id in (1..pair.lost_at.len()).rev() {
            let (above, count) =
                (pair.old.node(NodeId(index32(id))).parent().id().0 as usize, pair.lost_at[id]);
            pair.lost_at[above] = pair.lost_at[above].saturating_add(count);
        }
        let mut is_old = vec![false; pair.new.rootfs.len()];
        for new in &pair.new_of {
            if let Some(new) = is_old.get_mut(*new as usize) {
                *new = true;
            }
        }
        let nodes = pair.new.rootfs.nodes().zip(is_old);
        let back = nodes.filter(|(node, is_old)| !is_old && node.kind() != NodeKind::Directory);
        pair.back = back.map(|(node, _)| node.id()).collect();
        pair
    }

    /// The node of the new view at the path of one of the old view.
    pub(super) fn twin(&self, old: NodeId) -> Option<NodeId> {
        self.new_of.get(old.0 as usize).copied().filter(|new| *new != NONE).map(NodeId)
    }

    /// The state of a node's path in the new view.
    pub(super) fn fate(&self, id: NodeId) -> FileDisposition {
        let Some(twin) = self.twin(id) else { return FileDisposition::Goes };
        let (old, new) = (self.old.node(id), self.new.node(twin));
        let same = old.kind() == new.kind()
            && match old.kind() {
                NodeKind::Directory => true,
                NodeKind::File => match (old.content(), new.content()) {
                    (Some(old), Some(new)) => self.is_same(old, new) == Some(true),
                    _ => false,
                },
                NodeKind::Symlink => self.old.paths.link(id) == self.new.paths.link(twin),
                NodeKind::Other => old.entry() == new.entry() && old.layer() == new.layer(),
            };
        if same { FileDisposition::Stays } else { FileDisposition::Changes }
    }

    /// Whether two files have the same content; `None` when unknown.
    pub(super) fn is_same(&self, one: Inode, other: Inode) -> Option<bool> {
        if one == other {
            return Some(true);
        }
        let size = self.size(one);
        if size != self.size(other) {
            return Some(false);
        }
        if size == 0 {
            return Some(true);
        }
        Some(self.hash(one)? == self.hash(other)?)
    }

    fn hash(&self, inode: Inode) -> Option<&ContentHash> {
        let passed = self.layer(inode.0).and_then(|read| read.facts.hash(inode.1));
        passed.or_else(|| self.input.bodies.hashes.get(&inode))
    }

    /// Logical bytes of a file.
    pub(super) fn size(&self, inode: Inode) -> u64 {
        self.old.rootfs.layer(inode.0).size(inode.1)
    }

    pub(super) fn layer(&self, number: u16) -> Option<&'a LayerRead> {
        self.input.layers.get(usize::from(number))?.as_deref()
    }

    /// The ELF facts of a file.
    pub(super) fn elf(&self, inode: Inode) -> Option<&'a ElfFacts> {
        match self.layer(inode.0)?.facts.binary(inode.1)? {
            FileFacts::Elf(elf) => Some(elf),
            _ => None,
        }
    }

    /// The `#!` line of a script, without these two bytes.
    pub(super) fn script(&self, inode: Inode) -> Option<&'a [u8]> {
        let line = self.layer(inode.0)?.facts.script(inode.1)?;
        let line = line.strip_prefix(b"#!").unwrap_or(line);
        line.split(|byte| matches!(byte, b'\n' | b'\r' | 0)).next()
    }

    /// Whether the plan removes a file.
    pub(super) fn is_planned(&self, inode: Inode) -> bool {
        self.planned.contains(&inode)
    }

    /// The finding that a file belongs to.
    pub(super) fn finding(&self, inode: Inode) -> Option<&'a Finding> {
        self.findings.get(&inode).copied()
    }

    /// Whether a file of the current image is anywhere in the new one.
    pub(super) fn has(&self, inode: Inode) -> bool {
        self.new.rootfs.first_name(inode.0, inode.1).is_some()
    }

    /// Files at or below a node of the old view that are left out without a finding: their number, and one of them.
    pub(super) fn lost_below(&self, node: NodeId) -> Option<(u32, NodeId)> {
        let count = |node: NodeId| self.lost_at.get(node.0 as usize).copied().unwrap_or_default();
        let all = count(node);
        let mut at = self.old.node(node);
        while all > 0 && at.kind() == NodeKind::Directory {
            at = at.children().filter(|child| count(child.id()) > 0).min_by_key(|child| child.name())?;
        }
        (all > 0).then_some((all, at.id()))
    }

    /// Whether a path belongs to package management rather than to the function of the image.
    pub(super) fn is_bookkeeping(path: &[u8]) -> bool {
        const KEPT: [&[u8]; 8] = [
            b"/var/lib/dpkg/",
            b"/var/lib/apt/",
            b"/var/lib/rpm/",
            b"/usr/lib/sysimage/",
            b"/lib/apk/db/",
            b"/var/cache/",
            b"/var/log/",
            b"/tmp/",
        ];
        path == b"/etc/ld.so.cache"
            || path.ends_with(b"-")
            || KEPT.iter().any(|folder| path.starts_with(folder))
    }
}

/// By node of one view: the node of the other at the same path.
fn twins(from: &Side<'_>, to: &Side<'_>) -> Vec<u32> {
    let mut twins = vec![NONE; from.rootfs.len()];
    for node in from.rootfs.nodes() {
        // An entry has the same path in both views; only entries that one of them lacks are looked up by name.
        let by_entry = || to.rootfs.node_at(node.layer(), node.entry()?);
        let twin = if node.id() == NodeId::ROOT {
            Some(NodeId::ROOT)
        } else {
            let above = twins.get(node.parent().id().0 as usize).copied().filter(|above| *above != NONE);
            above.and_then(|above| by_entry().or_else(|| to.paths.child(NodeId(above), node.name())))
        };
        if let (Some(twin), Some(place)) = (twin, twins.get_mut(node.id().0 as usize)) {
            *place = twin.0;
        }
    }
    twins
}
