//! What is kept as a whole: by-products, and the entries that the new image has.

use super::{Fate, Keep};
use crate::rewrite::split::state::{self, State, state};
use crate::rootfs::{Node, NodeId, NodeKind};

impl Keep<'_, '_> {
    /// What stays for building is started by names that other packages have for it: `gcc` is a link to `gcc-11`.
    pub(in crate::rewrite::split) fn names_of_tools(&mut self) {
        let world = self.world;
        for link in world.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
            let path = link.path();
            let owner = world.system_owner(link.id()).filter(|owner| !self.by_file(*owner));
            let Some(package) = owner.filter(|_| path.starts_with(b"/usr/bin/")) else { continue };
            let Some(target) = world.paths.lookup(&path) else { continue };
            let stays = world.rootfs.node(target).content().is_some_and(|inode| world.stays.contains(&inode));
            if stays && self.fate(link.id()) == Fate::Gone && self.fate(target) == Fate::Installed {
                self.install(package);
            }
        }
    }

    /// Files that installing packages writes, and links into toolkits whose targets are kept.
    pub(in crate::rewrite::split) fn states(&mut self) {
        let world = self.world;
        for node in world.rootfs.nodes().filter(|node| node.layer() >= self.base.layers) {
            if node.kind() == NodeKind::Directory || self.fate(node.id()) != Fate::Gone {
                continue;
            }
            let path = node.path();
            let owned = world.system_owner(node.id()).is_some();
            let again = match state(&path) {
                Some(State::Users) => true,
                Some(State::Packages) => !self.installed.is_empty() && !owned && world.is_users(node),
                Some(State::PackagePapers(name)) => {
                    world.by_name.get(name.as_str()).is_some_and(|place| self.installed.contains(place))
                }
                Some(State::Compiled) => {
                    let source = state::source_of(&path).and_then(|path| world.paths.lookup(&path));
                    source.is_some_and(|node| self.fate(node) == Fate::Installed)
                }
                None if self.is_alternative(node) => {
                    let target = world.paths.lookup(&path);
                    target.is_some_and(|target| matches!(self.fate(target), Fate::Installed | Fate::Base))
                }
                Some(State::Lost) | None => false,
            };
            if again {
                self.fates[node.id().0 as usize] = Fate::Rewritten;
            }
        }
        // The user's links to what goes lead nowhere.
        for node in world.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
            if self.fate(node.id()) == Fate::Copied
                && let Some(target) = world.paths.lookup(&node.path())
                && world.rootfs.node(target).kind() == NodeKind::File
                && self.fate(target) == Fate::Gone
            {
                self.fates[node.id().0 as usize] = Fate::Gone;
            }
        }
        for link in world.toolkit_links() {
            let at = link.0 as usize;
            let target = world.paths.lookup(&world.rootfs.node(link).path());
            if self.fates[at] == Fate::Gone && target.is_some_and(|target| self.has_copied_below(target)) {
                self.fates[at] = Fate::Copied;
            }
        }
    }

    /// Whether files of the base image of today are copied, rather than brought by the new one.
    pub(in crate::rewrite::split) fn copies_from_base(&self) -> bool {
        let mut nodes = self.world.rootfs.nodes();
        nodes.any(|node| {
            node.kind() == NodeKind::File
                && self.fate(node.id()) == Fate::Copied
                && !self.world.is_users(node)
        })
    }

    pub(in crate::rewrite::split) fn has_copied_below(&self, node: NodeId) -> bool {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if self.fate(node) == Fate::Copied {
                return true;
            }
            open.extend(self.world.rootfs.node(node).children().map(Node::id));
        }
        false
    }

    /// Whether a folder has nothing but folders below it.
    pub(in crate::rewrite::split) fn is_empty(&self, folder: Node<'_>) -> bool {
        self.first_below(folder, &|_| true).is_none()
    }

    /// Whether a folder is one that the new stage has a use for: of those around it the nearest with content has
    /// some that is kept. A folder of a tree that stays behind is not.
    pub(in crate::rewrite::split) fn is_of_stage(&self, folder: Node<'_>) -> bool {
        let mut at = folder;
        loop {
            if !self.is_empty(at) {
                return self.first_below(at, &|node| self.fate(node) != Fate::Gone).is_some();
            }
            if at.id() == NodeId::ROOT {
                return true;
            }
            at = at.parent();
        }
    }

    fn first_below(&self, folder: Node<'_>, wanted: &dyn Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut open = vec![folder.id()];
        while let Some(id) = open.pop() {
            let node = self.world.rootfs.node(id);
            if node.kind() != NodeKind::Directory && wanted(id) {
                return Some(id);
            }
            open.extend(node.children().map(Node::id));
        }
        None
    }
}
