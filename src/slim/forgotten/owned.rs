//! Which files of a package are in the result.

use std::collections::{HashMap, HashSet};

use crate::cuda::links::{Paths, file_name, folder_of};
use crate::formats::packages::Package;
use crate::rootfs::{NodeId, NodeKind};
use crate::slim::bits::Bits;

/// What becomes of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A file of it is left, or it has none.
    Stays,
    /// It had files, and none is left.
    Gone,
    /// The same, but it had only papers: its copyright notice, its changelog.
    PapersGone,
}

/// Files that dpkg unpacked elsewhere: by path, where, and the package that has its own file there.
pub(super) type Diversions = HashMap<Vec<u8>, (Vec<u8>, Option<Vec<u8>>)>;

/// Folders with a folder or file of papers for each package.
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
        let (mut removed, mut missing) = (Vec::new(), Vec::new());
        for path in list {
            match self.find(package, path) {
                None => missing.push(*path),
                Some(node) if self.paths.rootfs().node(node).kind() == NodeKind::Directory => {}
                Some(node) if self.gone.has(node.0) => removed.push(*path),
                Some(_) => return Fate::Stays,
            }
        }
        // Of what is not there, a path with others below it was a folder.
        let folders: HashSet<&[u8]> = list.iter().map(|path| folder_of(path)).collect();
        removed.extend(missing.into_iter().filter(|path| !folders.contains(path)));
        if removed.is_empty() {
            Fate::Stays
        } else if removed.iter().all(|path| is_paper(path, package.name.as_bytes())) {
            Fate::PapersGone
        } else {
            Fate::Gone
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

/// Whether a path is a file that nearly every package has, about itself.
fn is_paper(path: &[u8], name: &[u8]) -> bool {
    let of = |folder: &[u8], last: &[u8]| PAPERS.contains(&folder) && last == name;
    let folder = folder_of(path);
    of(folder, file_name(path)) || of(folder_of(folder), file_name(folder))
}
