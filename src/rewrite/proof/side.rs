//! One of the two compared images: its view, its inventory, its settings.

use std::cell::Cell;

use hashbrown::HashMap;

use crate::base::text::{elide_middle, escape};
use crate::cuda::links::{DEFAULT_PATH, ObjectId, Paths};
use crate::cuda::{Inode, Inventory};
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// Maximum path parts of all lookups of one side: those of a large image take some hundred thousand.
const STEPS: u64 = 20_000_000;
/// Maximum characters shown of a path.
const SHOWN: usize = 240;

/// One of the two compared images.
pub(super) struct Side<'a> {
    pub(super) rootfs: &'a Rootfs,
    pub(super) paths: Paths<'a>,
    pub(super) inventory: &'a Inventory,
    /// `NAME=VALUE`.
    pub(super) environment: &'a [String],
    working_dir: NodeId,
    left: Cell<u64>,
    /// Objects by inode.
    objects: HashMap<Inode, ObjectId>,
}

impl<'a> Side<'a> {
    pub(super) fn new(
        rootfs: &'a Rootfs,
        inventory: &'a Inventory,
        environment: &'a [String],
        working_dir: &[u8],
    ) -> Self {
        let links = &inventory.links;
        let inode = |id: ObjectId| Some((rootfs.node(links.object(id).node).content()?, id));
        let paths = Paths::new(rootfs);
        let working_dir = paths.folder_from(NodeId::ROOT, working_dir).unwrap_or(NodeId::ROOT);
        Self {
            rootfs,
            paths,
            inventory,
            environment,
            working_dir,
            left: Cell::new(STEPS),
            objects: links.ids().filter_map(inode).collect(),
        }
    }

    pub(super) fn node(&self, id: NodeId) -> Node<'a> {
        self.rootfs.node(id)
    }

    /// The node at a path, from a folder or the root.
    pub(super) fn find_from(&self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        let mut left = self.left.get();
        let found = self.paths.walk(folder, path, &mut left);
        self.left.set(left);
        found
    }

    /// The node at a path, from the working directory or the root.
    pub(super) fn find(&self, path: &[u8]) -> Option<NodeId> {
        self.find_from(self.working_dir, path)
    }

    /// The file that a command runs, as a shell resolves it.
    pub(super) fn program(&self, name: &[u8]) -> Option<NodeId> {
        Some(self.program_in(name)?.1)
    }

    /// The folder in which a shell finds a program, and its file, to which links may lead.
    pub(super) fn program_in(&self, name: &[u8]) -> Option<(NodeId, NodeId)> {
        let in_folder = |folder: &[u8], name: &[u8]| {
            let folder = self.find(folder).filter(|node| self.node(*node).kind() == NodeKind::Directory)?;
            let file = self.find_from(folder, name)?;
            (self.node(file).kind() == NodeKind::File).then_some((folder, file))
        };
        if let Some(slash) = memchr::memrchr(b'/', name) {
            return in_folder(&name[..=slash], &name[slash + 1..]);
        }
        match self.variable("PATH") {
            Some(list) => list.as_bytes().split(|byte| *byte == b':').find_map(|one| in_folder(one, name)),
            None => DEFAULT_PATH.into_iter().find_map(|one| in_folder(one, name)),
        }
    }

    /// A variable of the environment; the last definition counts.
    pub(super) fn variable(&self, name: &str) -> Option<&'a str> {
        self.environment
            .iter()
            .rev()
            .find_map(|pair| pair.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')))
    }

    /// The object of an inode.
    pub(super) fn object(&self, inode: Inode) -> Option<ObjectId> {
        self.objects.get(&inode).copied()
    }

    /// The inode of an object.
    pub(super) fn inode(&self, id: ObjectId) -> Option<Inode> {
        self.node(self.inventory.links.object(id).node).content()
    }

    /// The path of a node, safe to show.
    pub(super) fn shown(&self, id: NodeId) -> String {
        shown(&self.node(id).path())
    }

    /// The path of an object, safe to show.
    pub(super) fn shown_object(&self, id: ObjectId) -> String {
        self.shown(self.inventory.links.object(id).node)
    }
}

/// A path or name, safe to show.
pub(super) fn shown(path: &[u8]) -> String {
    elide_middle(&escape(path), SHOWN)
}
