//! Which files of a package are in the result.

use hashbrown::HashSet;

use crate::cuda::links::{Paths, file_name, folder_of};
use crate::formats::packages::Package;
use crate::formats::packages::dpkg::Diversions;
use crate::rootfs::{NodeId, NodeKind};
use crate::slim::bits::Bits;

/// What becomes of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A file of it is left.
    Stays,
    /// It had files, and none is left.
    Gone,
    /// It had none: it stands for what it depends on.
    Empty,
}

/// Folders with a file or folder about each package.
const PAPERS: [&[u8]; 4] =
    [b"/usr/share/doc", b"/usr/share/licenses", b"/usr/share/lintian/overrides", b"/usr/share/bug"];

/// The merged view, and what is removed from it.
pub(super) struct Owned<'a> {
    pub(super) paths: &'a Paths<'a>,
    /// Nodes that are removed.
    pub(super) gone: &'a Bits,
    pub(super) diversions: &'a Diversions,
}

impl Owned<'_> {
    /// What becomes of a package with this file list, which may name folders.
    pub(super) fn fate(&self, package: &Package, list: &[&[u8]]) -> Fate {
        let rootfs = self.paths.rootfs();
        let mut others = Vec::new();
        for path in list.iter().copied().filter(|path| !is_paper(path, package.name.as_bytes())) {
            let node = self.find(package, path);
            match node.map(|node| rootfs.node(node).kind()) {
                Some(NodeKind::Directory) => {}
                Some(NodeKind::File | NodeKind::Other) if node.is_some_and(|node| !self.gone.has(node.0)) => {
                    return Fate::Stays;
                }
                _ => others.push((path, node)),
            }
        }
        if others.is_empty() {
            return Fate::Empty;
        }
        // What others are below is a folder, even if it is missing or a link to one: `/lib` is one to `usr/lib`.
        let folders: HashSet<&[u8]> = list.iter().map(|path| folder_of(path)).collect();
        others.retain(|(path, _)| !folders.contains(path));
        if others.iter().any(|(_, node)| node.is_some_and(|node| self.is_left(node))) {
            Fate::Stays
        } else if others.is_empty() {
            Fate::Empty
        } else {
            Fate::Gone
        }
    }

    /// Whether a file or link is left. A link to a file that is removed is not; where others lead may be known only in a
    /// container.
    fn is_left(&self, node: NodeId) -> bool {
        let is_removed = |node: NodeId| self.gone.has(node.0);
        let leads_to_removed = || self.paths.lookup(&self.paths.path(node)).is_some_and(is_removed);
        !is_removed(node) && !leads_to_removed()
    }

    /// The node of a path in a file list. Lists name diverted files by the path of their package.
    fn find(&self, package: &Package, path: &[u8]) -> Option<NodeId> {
        let to = self.diversions.diverted_to(path, package.name.as_bytes());
        let moved = to.and_then(|to| self.paths.entry_at(to));
        moved.or_else(|| self.paths.entry_at(path))
    }
}

/// Whether a path is a file that nearly every package has, about itself: its licence, its changelog.
fn is_paper(path: &[u8], name: &[u8]) -> bool {
    let of = |folder: &[u8], last: &[u8]| PAPERS.contains(&folder) && last == name;
    let folder = folder_of(path);
    of(folder, file_name(path)) || of(folder_of(folder), file_name(folder))
}
