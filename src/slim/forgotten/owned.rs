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
    /// Its files are not in the image as it was: an earlier step removed them, or dpkg did not unpack them.
    Absent,
    /// It had none: it stands for what it depends on.
    Empty,
}

/// What is left of a path in a file list.
enum Left {
    No,
    Folder,
    File,
    /// A link to a file that stays.
    Link,
    /// One that nobody needs who does not compile: `libm.so`, to a library of another package.
    DevelopmentLink,
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
        let mut fate = Fate::Absent;
        let mut keeps_link = false;
        // What others are below is a folder, even if it is missing or a link to one: `/lib` is one to `usr/lib`.
        let folders: HashSet<&[u8]> = list.iter().map(|path| folder_of(path)).collect();
        let files = list.iter().copied().filter(|path| !is_paper(path, package.name.as_bytes()));
        let mut has_files = false;
        for path in files {
            let Some(node) = self.find(package, path) else {
                has_files |= !folders.contains(path);
                continue;
            };
            match self.left(node, path) {
                Left::Folder => continue,
                Left::File => return Fate::Stays,
                Left::Link => keeps_link = true,
                Left::No => fate = Fate::Gone,
                Left::DevelopmentLink => {}
            }
            has_files = true;
        }
        match fate {
            _ if keeps_link => Fate::Stays,
            Fate::Absent if !has_files => Fate::Empty,
            fate => fate,
        }
    }

    /// What is left of a path.
    fn left(&self, node: NodeId, path: &[u8]) -> Left {
        let rootfs = self.paths.rootfs();
        let is_removed = self.gone.has(node.0);
        match rootfs.node(node).kind() {
            NodeKind::Directory => Left::Folder,
            _ if is_removed => Left::No,
            NodeKind::File | NodeKind::Other => Left::File,
            NodeKind::Symlink => match self.paths.lookup(&self.paths.path(node)) {
                Some(target) if self.gone.has(target.0) => Left::No,
                Some(target) if rootfs.node(target).kind() == NodeKind::Directory => Left::Folder,
                _ if path.ends_with(b".so") || is_about_a_package(path) => Left::DevelopmentLink,
                // Where a link leads may be known only in a container.
                _ => Left::Link,
            },
        }
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

/// Whether a path is directly in the folder of documents about a package.
fn is_about_a_package(path: &[u8]) -> bool {
    PAPERS.contains(&folder_of(folder_of(path)))
}
