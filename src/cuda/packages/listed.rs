//! File lists of packages, resolved to nodes of the merged view without intermediate copies.

use super::super::context::InventoryContext;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum cost of the file lists of all packages, in bytes: path, root folder and a fixed cost for each
/// entry. Lists of an image with 300,000 files have 40 MB.
pub(super) const LIST_BYTES: usize = 256 << 20;
/// Fixed cost of a path, in bytes.
const PATH_COST: usize = 32;
/// Number of cached folders: most lists are sorted by folder, with a few other folders in between.
const RECENT: usize = 8;

/// A cached folder, with its text in the list.
struct Recent {
    text: Vec<u8>,
    node: Option<NodeId>,
    /// The last node found in it.
    last: Option<NodeId>,
}

/// Reader of file lists, with a common limit of [`LIST_BYTES`].
pub(super) struct Lists<'a> {
    context: &'a InventoryContext<'a>,
    left: usize,
    /// Folder to which paths are relative.
    root: Vec<u8>,
    recent: Vec<Recent>,
    /// Indexes in `recent`: the last used folder, and the next one to replace.
    at: usize,
    oldest: usize,
}

/// A list in progress.
pub(super) struct List<'l, 'a> {
    lists: &'l mut Lists<'a>,
    nodes: Option<Vec<NodeId>>,
}

impl List<'_, '_> {
    /// Adds a path. If the limit is reached, the whole list is dropped.
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

    /// The listed nodes of the merged view, without folders; `None` if the list was dropped.
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

    /// Starts a list of paths that are relative to a folder, or absolute.
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

    /// The index of a folder in the cache, adding it if necessary.
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

/// The child with this name if it is adjacent to the last found one: lists and layers have the files of a
/// folder in the same order, and the view has them in that or the reverse order.
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

/// A path in a package's folder, with `..` resolved; absolute paths are unchanged.
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
