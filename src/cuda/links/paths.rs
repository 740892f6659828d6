//! Path lookup in the merged view, as in the kernel: through symbolic links, relative to folders.

use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::layer::EntryId;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// Maximum number of symbolic links in one lookup, as in Linux (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// Folders with at most this many children are searched linearly, which is cheaper than a table.
const FEW: usize = 8;

/// The merged view with name tables for fast lookups. Takes 6 to 11 bytes for each node of the visited
/// folders.
pub struct Paths<'a> {
    rootfs: &'a Rootfs,
    /// By visited folder: its children by name. One table for all would hash every name again each time it grows.
    /// Shared by all threads that read an image.
    names: Mutex<HashMap<NodeId, HashTable<NodeId>>>,
    /// Seeded anew in every process, so that an image cannot provoke collisions.
    hasher: DefaultHashBuilder,
}

impl<'a> Paths<'a> {
    /// Reads no names yet; those of a folder are read at the first lookup in it.
    pub fn new(rootfs: &'a Rootfs) -> Self {
        Self { rootfs, names: Mutex::default(), hasher: DefaultHashBuilder::default() }
    }

    /// The merged view.
    pub fn rootfs(&self) -> &'a Rootfs {
        self.rootfs
    }

    /// The child of a folder with this name; symbolic links are not followed.
    pub fn child(&self, folder: NodeId, name: &[u8]) -> Option<NodeId> {
        let children = self.rootfs.node(folder).children();
        if children.len() <= FEW {
            let mut children = children;
            return children.find(|child| child.name() == name).map(Node::id);
        }
        let hash = |name: &[u8]| self.hasher.hash_one(name);
        let name_of = |id: &NodeId| self.rootfs.node(*id).name();
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let table = names.entry(folder).or_insert_with(|| {
            let mut table = HashTable::with_capacity(children.len());
            for child in children {
                table.insert_unique(hash(child.name()), child.id(), |id| hash(name_of(id)));
            }
            table
        });
        table.find(hash(name), |id| name_of(id) == name).copied()
    }

    /// The target of an absolute path, all symbolic links followed, at most 40. `..` stays at the root. A
    /// path without leading `/` is relative to the root. Never a symbolic link.
    pub fn lookup(&self, path: &[u8]) -> Option<NodeId> {
        self.lookup_from(NodeId::ROOT, path)
    }

    /// As [`Self::lookup`], for a path that may be relative to `folder`.
    pub fn lookup_from(&self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        self.walk(folder, path, &mut { u64::MAX })
    }

    /// As [`Self::lookup_from`], limited to `budget` components of paths and links. Subtracts the visited
    /// ones, so that several lookups can share one budget.
    pub fn walk(&self, folder: NodeId, path: &[u8], budget: &mut u64) -> Option<NodeId> {
        if path.is_empty() {
            return None;
        }
        let mut at = if path.starts_with(b"/") { NodeId::ROOT } else { folder };
        let mut links = 0;
        let mut left: Vec<&[u8]> = path.rsplit(|byte| *byte == b'/').collect();
        while let Some(part) = left.pop() {
            *budget = budget.checked_sub(1)?;
            if self.rootfs.node(at).kind() != NodeKind::Directory {
                return None;
            }
            match part {
                b"" | b"." => {}
                b".." => at = self.rootfs.node(at).parent().id(),
                name => {
                    let child = self.child(at, name)?;
                    let Some(target) = self.link(child) else {
                        at = child;
                        continue;
                    };
                    links += 1;
                    if links > MAX_LINKS || target.is_empty() {
                        return None;
                    }
                    if target.starts_with(b"/") {
                        at = NodeId::ROOT;
                    }
                    left.extend(target.rsplit(|byte| *byte == b'/'));
                }
            }
        }
        Some(at)
    }

    /// The node of an absolute path; symbolic links are followed except for the last component.
    pub fn entry_at(&self, path: &[u8]) -> Option<NodeId> {
        let trimmed = path.strip_suffix(b"/").unwrap_or(path);
        let slash = trimmed.iter().rposition(|byte| *byte == b'/')?;
        let folder = self.lookup(if slash == 0 { b"/" } else { &trimmed[..slash] })?;
        self.child(folder, &trimmed[slash + 1..])
    }

    /// The folder at a path; `None` for other kinds of nodes.
    pub fn folder_from(&self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        let node = self.lookup_from(folder, path)?;
        (self.rootfs.node(node).kind() == NodeKind::Directory).then_some(node)
    }

    /// The path without symbolic links; `None` if it does not exist.
    pub fn real_path(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.lookup(path).map(|node| self.path(node))
    }

    /// Absolute path of a node.
    pub fn path(&self, node: NodeId) -> Vec<u8> {
        self.rootfs.node(node).path()
    }

    /// The parent folder of a node; the root is its own parent.
    pub fn parent(&self, node: NodeId) -> NodeId {
        self.rootfs.node(node).parent().id()
    }

    /// Children of a folder, sorted by name; empty for other nodes.
    pub fn children(&self, folder: NodeId) -> Vec<NodeId> {
        let node = self.rootfs.node(folder);
        if node.kind() != NodeKind::Directory {
            return Vec::new();
        }
        let mut children: Vec<_> = node.children().collect();
        children.sort_unstable_by_key(|child| child.name());
        children.iter().map(|child| child.id()).collect()
    }

    /// Children of the folder at an absolute path, sorted by name; links are followed. Empty if it does not
    /// exist.
    pub fn children_of(&self, path: &[u8]) -> Vec<NodeId> {
        self.lookup(path).map(|folder| self.children(folder)).unwrap_or_default()
    }

    /// The inode of a file: layer and entry of its content, equal for all of its names.
    pub fn inode(&self, node: NodeId) -> Option<(u16, EntryId)> {
        self.rootfs.node(node).content()
    }

    /// Target of a symbolic link.
    pub fn link(&self, node: NodeId) -> Option<&'a [u8]> {
        let node = self.rootfs.node(node);
        if node.kind() != NodeKind::Symlink {
            return None;
        }
        Some(self.rootfs.layer(node.layer()).link(node.entry()?).unwrap_or_default())
    }
}

/// The last component of a path.
pub fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Folder of a path: `/` for entries of the root, empty for a bare name.
pub fn folder_of(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(slash) => &path[..slash],
        None => b"",
    }
}

/// The packages folder of a path (the innermost `site-packages` or `dist-packages`), and the rest of the path
/// below it.
pub fn site_root(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut found = None;
    let mut start = 0;
    for part in path.split(|byte| *byte == b'/') {
        let end = start + part.len();
        if matches!(part, b"site-packages" | b"dist-packages") && end < path.len() {
            found = Some((&path[..end], &path[end + 1..]));
        }
        start = end + 1;
    }
    found
}
