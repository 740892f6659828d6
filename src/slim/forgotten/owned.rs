//! Which files of a package are in the result.

use std::collections::{HashMap, HashSet};

use crate::cuda::links::{Paths, file_name, folder_of};
use crate::formats::packages::Package;
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

/// Files that dpkg unpacked elsewhere: by path, where, and the package that has its own file there.
pub(super) type Diversions = HashMap<Vec<u8>, (Vec<u8>, Option<Vec<u8>>)>;

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
        // What others are below is a folder, even if it is missing or a link to one: `/lib` is one to `usr/lib`.
        let folders: HashSet<&[u8]> = list.iter().map(|path| folder_of(path)).collect();
        let mut owns = false;
        for path in list.iter().copied().filter(|path| !folders.contains(path)) {
            if is_paper(path, package.name.as_bytes()) {
                continue;
            }
            let node = self.find(package, path);
            if node.is_some_and(|node| self.is_file(node)) {
                return Fate::Stays;
            }
            owns |= node.is_none_or(|node| self.paths.rootfs().node(node).kind() != NodeKind::Directory);
        }
        if owns { Fate::Gone } else { Fate::Empty }
    }

    /// Whether a node is left, and no folder. A link to a file that is removed is not; where others lead may be known
    /// only in a container.
    fn is_file(&self, node: NodeId) -> bool {
        let is_removed = |node: NodeId| self.gone.has(node.0);
        match self.paths.rootfs().node(node).kind() {
            NodeKind::Directory => false,
            NodeKind::Symlink => {
                !is_removed(node) && !self.paths.lookup(&self.paths.path(node)).is_some_and(is_removed)
            }
            NodeKind::File | NodeKind::Other => !is_removed(node),
        }
    }

    /// The node of a path in a file list. Lists name diverted files by the path of their package.
    fn find(&self, package: &Package, path: &[u8]) -> Option<NodeId> {
        let diverted =
            self.diversions.get(path).filter(|(_, by)| by.as_deref() != Some(package.name.as_bytes()));
        // A diversion may be older than the file that it will move.
        let moved = diverted.and_then(|(to, _)| self.paths.entry_at(to));
        moved.or_else(|| self.paths.entry_at(path))
    }
}

/// Whether a path is a file that nearly every package has, about itself: its licence, its changelog.
fn is_paper(path: &[u8], name: &[u8]) -> bool {
    let of = |folder: &[u8], last: &[u8]| PAPERS.contains(&folder) && last == name;
    let folder = folder_of(path);
    of(folder, file_name(path)) || of(folder_of(folder), file_name(folder))
}
