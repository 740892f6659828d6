//! The files that lists of packages name, straight from the text of a list to the paths of the merged view.

use super::super::context::InventoryContext;
use crate::rootfs::{NodeId, NodeKind};

/// Bytes that the lists of files of all packages may have together, with what each path costs beside its
/// text. Those of an image with 300,000 files have 40 MB; a short list may name its folder once for each line.
pub(super) const LIST_BYTES: usize = 256 << 20;
/// What a path costs beside its text.
const PATH_COST: usize = 32;
/// Folders that are remembered: a list names the files of a folder one after another, with some of others
/// between them.
const RECENT: usize = 8;

/// A folder as a list writes it.
struct Recent {
    text: Vec<u8>,
    node: Option<NodeId>,
    /// What was found in it last.
    last: Option<NodeId>,
}

/// Reads lists, within [`LIST_BYTES`] for all of them.
pub(super) struct Lists<'a> {
    context: &'a InventoryContext<'a>,
    left: usize,
    /// What paths are relative to.
    root: Vec<u8>,
    recent: Vec<Recent>,
    /// The one that was used last, and the one that makes room for the next.
    at: usize,
    oldest: usize,
}

/// A list that is being read.
pub(super) struct List<'l, 'a> {
    lists: &'l mut Lists<'a>,
    nodes: Option<Vec<NodeId>>,
}

impl List<'_, '_> {
    /// Takes a path. When there is no room for all of a list, none of it is kept.
    pub(super) fn add(&mut self, path: &[u8]) {
        let Some(nodes) = &mut self.nodes else { return };
        let cost = path.len() + self.lists.root.len() + PATH_COST;
        let Some(left) = self.lists.left.checked_sub(cost) else {
            self.lists.left = 0;
            self.nodes = None;
            return;
        };
        self.lists.left = left;
        let found = self.lists.find(path);
        nodes.extend(found.filter(|id| self.lists.context.node(*id).kind() != NodeKind::Directory));
    }

    /// What the list names and the view has, without folders.
    pub(super) fn finish(self) -> Option<Vec<NodeId>> {
        self.nodes
    }
}

impl<'a> Lists<'a> {
    pub(super) fn new(context: &'a InventoryContext<'a>) -> Self {
        Self { context, left: LIST_BYTES, root: Vec::new(), recent: Vec::new(), at: 0, oldest: 0 }
    }

    /// Whether lists were omitted.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// A list of absolute paths.
    pub(super) fn absolute<'p>(&mut self, paths: impl Iterator<Item = &'p [u8]>) -> Option<Vec<NodeId>> {
        let mut list = self.relative(b"");
        paths.for_each(|path| list.add(path));
        list.finish()
    }

    /// A list of paths that are relative to a folder, or absolute.
    pub(super) fn relative(&mut self, root: &[u8]) -> List<'_, 'a> {
        if self.root != root {
            root.clone_into(&mut self.root);
            self.recent.clear();
            (self.at, self.oldest) = (0, 0);
        }
        List { lists: self, nodes: Some(Vec::new()) }
    }

    fn find(&mut self, path: &[u8]) -> Option<NodeId> {
        let is_absolute = path.starts_with(b"/");
        if is_absolute != self.root.is_empty() {
            return self.context.entry_at(path);
        }
        let path = if is_absolute { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        let slash = memchr::memrchr(b'/', path);
        let (folder, name) = match slash {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b""[..], path),
        };
        if !is_absolute && matches!(name, b"" | b"." | b"..") {
            return self.context.entry_at(&joined(&self.root, path));
        }
        if self.recent.get(self.at).is_none_or(|recent| recent.text != folder) {
            self.at = self.enter(folder);
        }
        let context = self.context;
        let recent = self.recent.get_mut(self.at)?;
        let node = recent.node?;
        let found = beside(context, node, recent.last, name).or_else(|| context.paths.child(node, name));
        recent.last = found.or(recent.last);
        found
    }

    /// The place of a folder among those that are remembered.
    fn enter(&mut self, folder: &[u8]) -> usize {
        if let Some(known) = self.recent.iter().position(|recent| recent.text == folder) {
            return known;
        }
        let path = if self.root.is_empty() { folder.to_vec() } else { joined(&self.root, folder) };
        let node = self.context.paths.lookup(if path.is_empty() { b"/" } else { &path });
        let recent = Recent { text: folder.to_vec(), node, last: None };
        let place = self.oldest;
        self.oldest = (place + 1) % RECENT;
        match self.recent.get_mut(place) {
            Some(old) => *old = recent,
            None => self.recent.push(recent),
        }
        place
    }
}

/// What a folder holds under a name, when it stands beside what was found last: lists and layers have the files
/// of a folder in the same order, and the view has those of a layer in that order or the other way round.
fn beside(
    context: &InventoryContext<'_>,
    folder: NodeId,
    last: Option<NodeId>,
    name: &[u8],
) -> Option<NodeId> {
    let mut children = context.node(folder).children();
    let first = children.next()?.id().0;
    let end = first + u32::try_from(children.len()).ok()?;
    let guesses = match last {
        Some(NodeId(last)) => [last.wrapping_sub(1), last.saturating_add(1)],
        None => [end, first],
    };
    let is_it = |id: &u32| (first..=end).contains(id) && context.node(NodeId(*id)).name() == name;
    guesses.into_iter().find(is_it).map(NodeId)
}

/// A path that a package names relative to its folder, without `..`.
fn joined(root: &[u8], path: &[u8]) -> Vec<u8> {
    if path.starts_with(b"/") {
        return path.to_vec();
    }
    let mut joined = if root == b"/" { Vec::new() } else { root.to_vec() };
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => joined.truncate(joined.iter().rposition(|byte| *byte == b'/').unwrap_or(0)),
            _ => {
                joined.push(b'/');
                joined.extend_from_slice(part);
            }
        }
    }
    joined
}
