//! What a final stage copies from a build stage: folders that only the build created, else single files.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::keep::{FileDisposition, Keep};
use super::sources::is_within;
use super::steps::{Kind, Steps};
use super::words::word;
use crate::base::convert::index32;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Maximum paths in one instruction. More are unreadable.
pub(super) const MOST_PATHS: usize = 5;

/// Maximum programs of `/usr/local/bin` in one instruction: packages of Python install one or two each, and the folder
/// itself is of the base image.
pub(super) const MOST_PROGRAMS: usize = 24;

/// Maximum bytes that a copied folder stores again when it has fewer bytes of its own: more than the packages that
/// images of Python have, less than Python's library.
const MOST_AGAIN: u64 = 24 << 20;

/// Folders shared by many packages: never copied as a whole.
const SHARED: [&[u8]; 26] = [
    b"",
    b"/usr",
    b"/usr/local",
    b"/usr/lib",
    b"/usr/lib64",
    b"/usr/bin",
    b"/usr/sbin",
    b"/usr/share",
    b"/usr/local/lib",
    b"/usr/local/share",
    b"/usr/local/etc",
    b"/usr/include",
    b"/opt",
    b"/etc",
    b"/etc/alternatives",
    b"/var",
    b"/var/lib",
    b"/home",
    b"/root",
    b"/srv",
    b"/lib",
    b"/bin",
    b"/sbin",
    b"/lib64",
    b"/tmp",
    b"/mnt",
];

/// A folder or files copied from the build stage.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The folder; for single files their parent.
    pub(super) folder: NodeId,
    /// Single files; empty when the whole folder is copied.
    pub(super) files: Vec<NodeId>,
    /// Steps that created its content.
    pub(super) steps: BTreeSet<usize>,
    /// Copied bytes that the build stage created.
    pub(super) bytes: u64,
    /// Further bytes in the folder that the new stage has already: a `COPY` stores them again.
    pub(super) stored_again: u64,
}

/// The content at or below a node.
#[derive(Clone, Copy, Default)]
struct Below {
    /// Build content that the final stage needs: paths and bytes.
    made: u32,
    made_bytes: u64,
    /// Content that the final stage gets another way.
    other: bool,
    /// Bytes of it that the build stage has too: an instruction copies them into both.
    both_bytes: u64,
    /// Whether the final stage gets content another way that the build stage may not have.
    apart: bool,
    /// Content of the new base or of packages it installs, and its bytes.
    base: bool,
    base_bytes: u64,
    /// Build content that the final stage does not need.
    junk_bytes: u64,
    /// The user and group of all files.
    owner: Owner,
}

/// Who owns the files of a folder.
#[derive(Clone, Copy, Default, PartialEq)]
enum Owner {
    #[default]
    None,
    One(u32, u32),
    Several,
}

impl Owner {
    fn of(node: Node<'_>) -> Self {
        node.index_entry().map_or(Self::None, |(index, entry)| {
            let (user, group) = index.owner(entry);
            Self::One(user, group)
        })
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (one, other) if one == other => one,
            _ => Self::Several,
        }
    }
}

/// Folders and files to copy, and links that a copy would follow: target and path.
pub(super) struct Roots {
    pub(super) list: Vec<Root>,
    pub(super) links: Vec<(Vec<u8>, Vec<u8>, usize)>,
    /// Superfluous content of copied folders worth a command: topmost paths, largest first.
    pub(super) junk: Vec<(NodeId, u64)>,
}

pub(super) struct Finder<'f, 'w, 'a, 's, 'r> {
    pub(super) keep: &'f Keep<'w, 'a>,
    pub(super) steps: &'f Steps<'s, 'r>,
    /// The last step of the build stage.
    pub(super) last: usize,
    /// Whether the content of a step is copied from the build stage.
    pub(super) is_copied: &'f dyn Fn(usize) -> bool,
}

impl<'a> Finder<'_, '_, 'a, '_, '_> {
    pub(super) fn find(&self) -> Roots {
        let rootfs = self.keep.context.rootfs;
        let mut below = vec![Below::default(); rootfs.len()];
        let mut makers: BTreeMap<NodeId, usize> = BTreeMap::new();
        for id in (0..rootfs.len()).rev() {
            let node = rootfs.node(NodeId(index32(id)));
            if node.kind() != NodeKind::Directory {
                self.judge(node, &mut below[id], &mut makers);
                below[id].owner = Owner::of(node);
            }
            if id > 0 {
                let own = below[id];
                let parent = &mut below[node.parent().id().0 as usize];
                parent.made += own.made;
                parent.made_bytes += own.made_bytes;
                parent.other |= own.other;
                parent.both_bytes += own.both_bytes;
                parent.apart |= own.apart;
                parent.base |= own.base;
                parent.base_bytes += own.base_bytes;
                parent.junk_bytes += own.junk_bytes;
                parent.owner = parent.owner.and(own.owner);
            }
        }
        let mut found = Roots { list: Vec::new(), links: Vec::new(), junk: Vec::new() };
        self.visit(rootfs.root(), &below, &makers, &mut found);
        self.widen(&below, &mut found);
        for root in &mut found.list {
            root.steps = self.steps_of(root, &makers);
        }
        let wholes: Vec<NodeId> =
            found.list.iter().filter(|root| root.files.is_empty()).map(|root| root.folder).collect();
        for folder in wholes {
            self.junk(folder, &below, &mut found);
        }
        found.junk.sort_by_key(|(id, bytes)| (std::cmp::Reverse(*bytes), *id));
        found
    }

    fn judge(&self, node: Node<'_>, own: &mut Below, makers: &mut BTreeMap<NodeId, usize>) {
        match self.keep.fate(node.id()) {
            FileDisposition::Base | FileDisposition::Installed => {
                own.base = true;
                own.base_bytes = node.bytes();
            }
            FileDisposition::Rewritten => {}
            // Files of the old base are in the build stage, too.
            FileDisposition::Gone => own.junk_bytes = node.bytes(),
            FileDisposition::Copied => {
                let step = self.steps.origin(node);
                // Needed files of the current base have no instruction: they are copied first.
                let users = self.keep.context.is_users(node);
                let step = step.or((!users).then_some(0));
                if let Some(step) =
                    step.filter(|step| !users || *step <= self.last && (self.is_copied)(*step))
                {
                    own.made = 1;
                    own.made_bytes = node.bytes();
                    makers.insert(node.id(), step);
                } else {
                    own.other = true;
                    let given = step.filter(|step| *step <= self.last && self.is_context(*step));
                    own.both_bytes = given.map_or(0, |_| node.bytes());
                    own.apart = given.is_none();
                }
            }
        }
    }

    fn visit(&self, folder: Node<'a>, below: &[Below], makers: &BTreeMap<NodeId, usize>, roots: &mut Roots) {
        let of = |node: Node<'_>| below[node.id().0 as usize];
        let own = of(folder);
        if own.made == 0 {
            return;
        }
        let path = folder.path();
        let is_shared = folder.id() == NodeId::ROOT || SHARED.contains(&path.as_slice());
        let of_programs = matches!(path.as_slice(), b"/usr/local/bin" | b"/usr/local/sbin");
        let named = word(&path).is_some();
        if named && !is_shared && !of_programs && !own.other && !own.base && !is_mostly_junk(own) {
            roots.list.push(whole(folder.id(), own));
            return;
        }
        let before = roots.list.len();
        let mut files = Vec::new();
        let mut bytes = 0;
        let mut children: Vec<Node<'a>> = folder.children().collect();
        children.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        for child in children {
            if child.kind() == NodeKind::Directory {
                self.visit(child, below, makers, roots);
            } else if let Some(step) = makers.get(&child.id()) {
                if child.kind() == NodeKind::Symlink {
                    let target = child
                        .entry()
                        .and_then(|entry| self.keep.context.rootfs.layer(child.layer()).link(entry));
                    roots.links.extend(target.map(|target| (target.to_vec(), child.path(), *step)));
                } else {
                    files.push(child.id());
                    bytes += child.bytes();
                }
            }
        }
        if !files.is_empty() {
            roots.list.push(Root {
                folder: folder.id(),
                files,
                steps: BTreeSet::new(),
                bytes,
                stored_again: 0,
            });
        }
        let paths: usize = roots.list[before..].iter().map(|root| root.files.len().max(1)).sum();
        let links = roots.links.iter().filter(|(_, link, _)| is_within(link, &path)).count();
        // Many pieces of a folder to which nothing else adds content, or only the base image: all of it, unless that
        // would mostly store content of the base image again.
        let is_mostly_base = own.base_bytes > own.made_bytes && own.base_bytes > MOST_AGAIN;
        // A list of packages of Python would lack the next one, and names versions.
        let is_many = paths + links > MOST_PATHS
            || matches!(folder.name(), b"site-packages" | b"dist-packages")
                && path != b"/usr/lib/python3/dist-packages"
                && paths > 0;
        // The build stage has what instructions copy into both.
        let is_apart = own.other
            && (!of_programs || own.apart || own.both_bytes > MOST_AGAIN || own.owner == Owner::Several);
        if named && !is_shared && !is_apart && !is_mostly_base && is_many {
            roots.list.truncate(before);
            roots.links.retain(|(_, link, _)| !is_within(link, &path));
            let stored_again = own.base_bytes + own.both_bytes;
            roots.list.push(Root { stored_again, ..whole(folder.id(), own) });
        }
    }

    fn is_context(&self, step: usize) -> bool {
        self.steps.list.get(step).is_some_and(|step| matches!(step.kind, Kind::Context | Kind::FromStage))
    }

    /// Copies folders in place of single results among copied sources, such as compiled translations: the list would
    /// lack the result of the next source. The topmost folders below what a `COPY` names, if little is stored again.
    fn widen(&self, below: &[Below], found: &mut Roots) {
        const LITTLE: u64 = 1 << 20;
        let rootfs = self.keep.context.rootfs;
        let tidying = self.steps.tidying;
        let targets = (0..=self.last).filter(|step| self.is_context(*step)).filter_map(|step| {
            let place = self.steps.list[step].place;
            let target = &tidying.instruction(place)?.words.last()?.text;
            self.keep.context.paths.lookup(tidying.absolute(place, target)?.as_bytes())
        });
        let mut named: HashSet<NodeId> = HashSet::new();
        for target in targets {
            let above = std::iter::successors(Some(rootfs.node(target)), |node| Some(node.parent()));
            named.extend(above.take_while(|node| node.id() != NodeId::ROOT).map(Node::id));
        }
        let fits = |folder: Node<'_>| {
            let own = below[folder.id().0 as usize];
            let path = folder.path();
            own.other
                && !own.apart
                && !own.base
                && own.junk_bytes == 0
                && own.both_bytes <= LITTLE
                && folder.id() != NodeId::ROOT
                && !named.contains(&folder.id())
                && !SHARED.contains(&path.as_slice())
                && word(&path).is_some()
                && own.owner != Owner::Several
        };
        let mut wide = BTreeSet::new();
        for root in found.list.iter().filter(|root| !root.files.is_empty()) {
            let above = std::iter::successors(Some(rootfs.node(root.folder)), |node| Some(node.parent()));
            wide.extend(above.take_while(|folder| fits(*folder)).last().map(Node::id));
        }
        for folder in wide {
            let path = rootfs.node(folder).path();
            found.list.retain(|root| !is_within(&rootfs.node(root.folder).path(), &path));
            found.links.retain(|(_, link, _)| !is_within(link, &path));
            let own = below[folder.0 as usize];
            found.list.push(Root { stored_again: own.both_bytes, ..whole(folder, own) });
        }
    }

    fn steps_of(&self, root: &Root, makers: &BTreeMap<NodeId, usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<NodeId> =
            if root.files.is_empty() { vec![root.folder] } else { root.files.clone() };
        while let Some(id) = open.pop() {
            found.extend(makers.get(&id));
            open.extend(self.keep.context.rootfs.node(id).children().map(Node::id));
        }
        found
    }

    /// Topmost superfluous paths of a folder.
    fn junk(&self, folder: NodeId, below: &[Below], roots: &mut Roots) {
        let mut open = vec![self.keep.context.rootfs.node(folder)];
        while let Some(node) = open.pop() {
            let own = below[node.id().0 as usize];
            if own.junk_bytes == 0 {
                continue;
            }
            if own.made == 0 && !own.other && !own.base {
                roots.junk.push((node.id(), own.junk_bytes));
            } else {
                open.extend(node.children());
            }
        }
    }
}

fn whole(folder: NodeId, below: Below) -> Root {
    let bytes = below.made_bytes + below.junk_bytes;
    Root { folder, files: Vec::new(), steps: BTreeSet::new(), bytes, stored_again: 0 }
}

/// Whether a folder is a build folder rather than a result: few results among compiler leftovers are listed one by one.
fn is_mostly_junk(own: Below) -> bool {
    const LITTLE: u64 = 64 << 10;
    own.junk_bytes > own.made_bytes && own.junk_bytes > LITTLE
        || own.junk_bytes > 0 && own.made as usize <= MOST_PATHS
}
