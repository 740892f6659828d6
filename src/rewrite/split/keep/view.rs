//! Generated files, and the entries of the new image.

use super::causes::Cause;
use super::{FileDisposition, Keep};
use crate::rewrite::split::state::{self, State, state};
use crate::rootfs::{Node, NodeId, NodeKind, PathBuffer};

impl Keep<'_, '_> {
    /// Installs the packages with links to build tools that stay: `gcc` of one package is a link to `gcc-11`
    /// of another.
    pub(in crate::rewrite::split) fn names_of_tools(&mut self) {
        let context = self.context;
        for link in context.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
            let path = link.path();
            let owner = context.system_owner(link.id()).filter(|owner| !self.by_file(*owner));
            let Some(package) = owner.filter(|_| path.starts_with(b"/usr/bin/")) else { continue };
            let Some(target) = context.paths.lookup(&path) else { continue };
            let stays =
                context.rootfs.node(target).content().is_some_and(|inode| context.stays.contains(&inode));
            if stays
                && self.fate(link.id()) == FileDisposition::Gone
                && self.fate(target) == FileDisposition::Installed
            {
                self.install(package, Cause::Link(link.id()));
            }
        }
    }

    /// Marks files that package installation generates again, and links into toolkits whose targets are kept.
    /// Drops links to removed files.
    pub(in crate::rewrite::split) fn states(&mut self) {
        let context = self.context;
        let mut paths = PathBuffer::default();
        for node in context.rootfs.nodes().filter(|node| node.layer() >= self.base.layers) {
            if node.kind() == NodeKind::Directory || self.fate(node.id()) != FileDisposition::Gone {
                continue;
            }
            let path = paths.of(node);
            let owned = context.system_owner(node.id()).is_some();
            let again = match state(path) {
                Some(State::Users) => true,
                Some(State::Packages) => !self.installed.is_empty() && !owned,
                Some(State::PackagePapers(name)) => {
                    context.by_name.get(name.as_str()).is_some_and(|place| self.installed.contains(place))
                }
                Some(State::Compiled) => {
                    let source = state::source_of(path).and_then(|path| context.paths.lookup(&path));
                    source.is_some_and(|node| self.fate(node) == FileDisposition::Installed)
                }
                None if self.is_alternative(node) => {
                    let target = context.paths.lookup(path);
                    target.is_some_and(|target| {
                        matches!(self.fate(target), FileDisposition::Installed | FileDisposition::Base)
                    })
                }
                Some(State::Lost) | None => false,
            };
            if again {
                self.fates[node.id().0 as usize] = FileDisposition::Rewritten;
            }
        }
        // Links to removed files would dangle.
        for node in context.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
            if self.fate(node.id()) == FileDisposition::Copied
                && let Some(target) = context.paths.lookup(&node.path())
                && context.rootfs.node(target).kind() == NodeKind::File
                && self.fate(target) == FileDisposition::Gone
            {
                self.fates[node.id().0 as usize] = FileDisposition::Gone;
            }
        }
        for link in context.toolkit_links() {
            let at = link.0 as usize;
            let target = context.paths.lookup(&context.rootfs.node(link).path());
            if self.fates[at] == FileDisposition::Gone
                && target.is_some_and(|target| self.has_copied_below(target))
            {
                self.fates[at] = FileDisposition::Copied;
            }
        }
    }

    /// Whether files of the current base image are copied, because the new one lacks them.
    pub(in crate::rewrite::split) fn copies_from_base(&self) -> bool {
        let mut nodes = self.context.rootfs.nodes();
        nodes.any(|node| {
            node.kind() == NodeKind::File
                && self.fate(node.id()) == FileDisposition::Copied
                && !self.context.is_users(node)
        })
    }

    pub(in crate::rewrite::split) fn has_copied_below(&self, node: NodeId) -> bool {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if self.fate(node) == FileDisposition::Copied {
                return true;
            }
            open.extend(self.context.rootfs.node(node).children().map(Node::id));
        }
        false
    }

    /// Whether a folder contains only folders.
    pub(in crate::rewrite::split) fn is_empty(&self, folder: Node<'_>) -> bool {
        self.first_below(folder, &|_| true).is_none()
    }

    /// Whether the new stage may need an empty folder: the nearest folder with content, at or above it, has
    /// kept content. A folder in a tree that stays in the build stage is not needed.
    pub(in crate::rewrite::split) fn is_of_stage(&self, folder: Node<'_>) -> bool {
        let mut at = folder;
        loop {
            if !self.is_empty(at) {
                return self.first_below(at, &|node| self.fate(node) != FileDisposition::Gone).is_some();
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
            let node = self.context.rootfs.node(id);
            if node.kind() != NodeKind::Directory && wanted(id) {
                return Some(id);
            }
            open.extend(node.children().map(Node::id));
        }
        None
    }
}
