//! What a final stage copies: whole folders where everything in them is copied, single files elsewhere.

mod folders;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::keep::{Fate, Keep};
use super::words::{shell_word, word};
use crate::base::convert::index32;
use crate::base::text::escape;
use crate::rootfs::{Node, NodeId, NodeKind};
use folders::{Settings, base_folders, is_made_folder};

/// One COPY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    /// Paths in the build stage.
    pub(super) from: Vec<String>,
    /// Where they go: the same folder, or the folder of files with a slash at the end.
    pub(super) to: String,
    /// Who owns all of them, when that is not root.
    pub(super) owner: Option<(u32, u32)>,
    /// Bytes that it copies.
    pub(super) bytes: u64,
    /// A path in it, for the reason.
    pub(super) folder: NodeId,
    /// Whether packages want it before they are installed: tables of users, sources of packages and their keys.
    pub(super) early: bool,
}

/// Whether packages want a path before they are installed.
fn is_early(path: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 5] = [
        b"/etc/apt/",
        b"/etc/yum.repos.d/",
        b"/etc/pki/rpm-gpg/",
        b"/usr/share/keyrings/",
        b"/usr/local/share/keyrings/",
    ];
    const TABLES: [&[u8]; 6] =
        [b"/etc/group", b"/etc/gshadow", b"/etc/passwd", b"/etc/shadow", b"/etc/subgid", b"/etc/subuid"];
    let folder = [path, b"/"].concat();
    TABLES.contains(&path) || FOLDERS.iter().any(|known| folder.starts_with(known))
}

/// What is written into the final stage beside packages.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    pub(super) copies: Vec<Copy>,
    /// Links that are made anew: target and path.
    pub(super) links: Vec<(String, String)>,
    /// Paths to be removed in the build stage before it is copied from, and their bytes.
    pub(super) removed: Vec<(String, u64)>,
    /// Files that stay in copied folders although the plan takes them away: they are too many to be named.
    pub(super) left: Vec<NodeId>,
    /// Whether libraries are put into folders that the loader's cache knows.
    pub(super) needs_ldconfig: bool,
    /// Folders of the user's layers that the new image has as they are.
    pub(super) folders: HashSet<NodeId>,
    /// Modes and owners of folders that no COPY sets: commands.
    pub(super) settings: Vec<String>,
    /// Paths that cannot be written in a COPY.
    pub(super) unnamed: Vec<String>,
    /// Folders whose files have several owners.
    pub(super) mixed: Vec<String>,
}

/// More paths in one RUN nobody reads.
const MOST_REMOVED: usize = 150;
/// More files in one COPY nobody reads; they are then copied with others beside them, or it is by hand.
const MOST_FILES: usize = 400;

/// User and group.
type Owner = (u32, u32);

/// What lies at or below a node.
#[derive(Clone, Copy, Default)]
struct Below {
    copied: bool,
    /// Something that must not be copied: it comes by another way, or is no work of the user's.
    blocked: bool,
    /// Something of the user's that is to go.
    gone: bool,
}

pub(super) fn trees(keep: &Keep<'_, '_>) -> Trees {
    let rootfs = keep.world.rootfs;
    let mut below = vec![Below::default(); rootfs.len()];
    for id in (0..rootfs.len()).rev() {
        let node = rootfs.node(NodeId(index32(id)));
        if node.kind() != NodeKind::Directory {
            let own = &mut below[id];
            match keep.fate(node.id()) {
                Fate::Copied => own.copied = true,
                Fate::Gone if keep.world.is_users(node) => own.gone = true,
                _ => own.blocked = true,
            }
        } else if is_made_folder(keep, node, below[id]) {
            below[id].copied = true;
        }
        if id > 0 {
            let (own, parent) = (below[id], &mut below[node.parent().id().0 as usize]);
            parent.copied |= own.copied;
            parent.blocked |= own.blocked;
            parent.gone |= own.gone;
        }
    }
    let known = base_folders(keep);
    let mut walk = Walk { keep, below, known, wholes: HashMap::new(), trees: Trees::default() };
    walk.descend();
    walk.set_folders();
    walk.trees
}

struct Walk<'k, 'w, 'a> {
    keep: &'k Keep<'w, 'a>,
    below: Vec<Below>,
    known: HashMap<NodeId, Settings>,
    /// Folders that are copied whole, and the owner that their COPY gives.
    wholes: HashMap<NodeId, (u32, u32)>,
    trees: Trees,
}

impl<'a> Walk<'_, '_, 'a> {
    fn below(&self, node: Node<'_>) -> Below {
        self.below[node.id().0 as usize]
    }

    fn descend(&mut self) {
        let mut open = vec![self.keep.world.rootfs.root()];
        while let Some(folder) = open.pop() {
            let below = self.below(folder);
            if !below.copied {
                continue;
            }
            let whole =
                !below.blocked && folder.id() != NodeId::ROOT && !self.known.contains_key(&folder.id());
            if whole && word(&folder.path()).is_some() {
                self.whole(folder);
                continue;
            }
            let mut children: Vec<Node<'a>> = folder.children().collect();
            children.sort_unstable_by(|a, b| b.name().cmp(a.name()));
            self.files(folder, &children);
            open.extend(children.into_iter().filter(|child| child.kind() == NodeKind::Directory));
        }
    }

    fn whole(&mut self, folder: Node<'a>) {
        let Some(path) = word(&folder.path()) else { return };
        let gone_before = self.trees.removed.len();
        let mut removed = Vec::new();
        let mut owners = BTreeSet::new();
        let mut bytes = 0;
        let mut open = vec![folder];
        while let Some(node) = open.pop() {
            let below = self.below(node);
            if below.gone && !below.copied {
                removed.push(node);
                continue;
            }
            if node.kind() == NodeKind::Directory {
                self.trees.folders.insert(node.id());
            }
            if node.kind() == NodeKind::File {
                bytes += node.bytes();
                if is_cached_library(&node.path()) {
                    self.trees.needs_ldconfig = true;
                }
            }
            if let Some(entry) = node.entry().filter(|_| self.keep.world.is_users(node)) {
                owners.insert(self.keep.world.rootfs.layer(node.layer()).owner(entry));
            }
            open.extend(node.children());
        }
        removed.sort_by_cached_key(|node| (std::cmp::Reverse(node.bytes()), node.path()));
        for node in removed {
            match shell_word(&node.path()) {
                Some(path) if self.trees.removed.len() < gone_before.max(MOST_REMOVED) => {
                    self.trees.removed.push((path, node.bytes()));
                }
                _ => {
                    bytes += node.bytes();
                    let mut all = vec![node];
                    while let Some(node) = all.pop() {
                        self.trees.left.push(node.id());
                        all.extend(node.children());
                    }
                }
            }
        }
        let owner = self.one_owner(&owners, &path);
        self.wholes.insert(folder.id(), owner.unwrap_or_default());
        let early = self.is_early(&path);
        self.trees.copies.push(Copy {
            from: vec![path.clone()],
            to: path,
            owner,
            bytes,
            folder: folder.id(),
            early,
        });
    }

    fn one_owner(&mut self, owners: &BTreeSet<(u32, u32)>, path: &str) -> Option<(u32, u32)> {
        if owners.len() > 1 {
            self.trees.mixed.push(path.to_owned());
        }
        owners.iter().next().copied().filter(|owner| owners.len() == 1 && *owner != (0, 0))
    }

    /// Single files of a folder that is not copied whole.
    fn files(&mut self, folder: Node<'a>, children: &[Node<'a>]) {
        let copied: Vec<Node<'a>> = children
            .iter()
            .rev()
            .copied()
            .filter(|node| node.kind() != NodeKind::Directory && self.keep.fate(node.id()) == Fate::Copied)
            .collect();
        // A link that is copied would become a second copy of the file: libraries go under the name that they are
        // asked for by, other links are made anew.
        let mut groups: BTreeMap<(bool, Option<Owner>), (Vec<String>, u64)> = BTreeMap::new();
        let mut named = HashSet::new();
        for node in copied.iter().filter(|node| node.kind() == NodeKind::File) {
            let asked = self.keep.asked.get(&node.id());
            let own = node.name();
            let users = self.keep.world.is_users(*node);
            let name = match asked.and_then(|names| names.iter().next()) {
                Some(name) if !users && !asked.is_some_and(|names| names.contains(own)) => name.as_slice(),
                None if !users => self.soname(*node).unwrap_or(own),
                _ => own,
            };
            named.insert(name.to_vec());
            let path = join(&folder.path(), name);
            let Some(path) = word(&path) else {
                self.trees.unnamed.push(escape(&path));
                continue;
            };
            self.trees.needs_ldconfig |= is_cached_library(&node.path());
            let owner = node.entry().map(|entry| self.keep.world.rootfs.layer(node.layer()).owner(entry));
            let group =
                groups.entry((!self.is_early(&path), owner.filter(|owner| *owner != (0, 0)))).or_default();
            group.0.push(path);
            group.1 += node.bytes();
        }
        for node in
            copied.iter().filter(|node| node.kind() == NodeKind::Symlink && !named.contains(node.name()))
        {
            let target = node
                .entry()
                .and_then(|entry| self.keep.world.rootfs.layer(node.layer()).link(entry))
                .map(<[u8]>::to_vec);
            match (target.as_deref().and_then(shell_word), shell_word(&node.path())) {
                (Some(target), Some(path)) => self.trees.links.push((self.landed(*node, target), path)),
                _ => self.trees.unnamed.push(escape(&node.path())),
            }
        }
        let Some(to) = word(&join(&folder.path(), b"")) else { return };
        for ((late, owner), (mut from, bytes)) in groups {
            from.sort_unstable();
            if from.len() > MOST_FILES {
                self.trees.unnamed.push(format!("{} single files in {to}", from.len()));
            }
            self.trees.copies.push(Copy {
                from,
                to: to.clone(),
                owner,
                bytes,
                folder: folder.id(),
                early: !late,
            });
        }
    }

    fn is_early(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        is_early(path.as_bytes())
            || self.keep.world.keys.iter().any(|key| key == path || key.starts_with(&folder))
    }

    /// The soname of a library, when a link of that name lies beside it.
    fn soname(&self, file: Node<'a>) -> Option<&'a [u8]> {
        let world = self.keep.world;
        let library = &world.input.inventory.libraries[*world.library_at.get(&file.id())?];
        let name = library.soname.as_ref()?.as_bytes();
        let link = world.paths.child(file.parent().id(), name)?;
        (world.paths.lookup(&world.rootfs.node(link).path()) == Some(file.id()))
            .then(|| world.rootfs.node(link).name())
    }

    /// What a link leads to once the file that it names was copied under another name.
    fn landed(&self, link: Node<'a>, target: String) -> String {
        let reached = self.keep.world.paths.lookup(&link.path());
        let Some(names) = reached.and_then(|node| self.keep.asked.get(&node)) else { return target };
        let (Some(first), Some(node)) = (names.iter().next(), reached) else { return target };
        let file = self.keep.world.rootfs.node(node);
        if self.keep.world.is_users(file) || names.contains(file.name()) || target.contains('/') {
            return target;
        }
        shell_word(first).unwrap_or(target)
    }
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    [folder, b"/", name].concat()
}

/// Whether a file may be a library that the loader finds by its cache: any but those of Python's packages, which
/// are loaded by their path.
fn is_cached_library(path: &[u8]) -> bool {
    let has = |part: &[u8]| path.windows(part.len()).any(|window| window == part);
    (has(b".so") && !has(b"-packages/")) || path.starts_with(b"/etc/ld.so.conf")
}
