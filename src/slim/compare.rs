//! Compares two merged views, entry for entry.

use hashbrown::HashMap;

use super::bits::Bits;
use crate::base::text::escape;
use crate::layer::EntryId;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// The layer and entry with the bytes of a file.
pub(super) type Inode = (u16, EntryId);

/// The first difference: a path, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) what: String,
}

/// Whether `after` is `before` without the files in `gone`: path, kind, mode, owner, time, size, link target, hard
/// links, and by `same` the contents. `sizes` are those of files with new contents. Folders without an entry of their own exist only through what is below them.
pub(super) fn compare(
    before: &Rootfs,
    gone: &Bits,
    sizes: &HashMap<Inode, u64>,
    after: &Rootfs,
    same: &mut dyn FnMut(Inode, Inode) -> bool,
) -> Result<(), Difference> {
    let mut comparison =
        Comparison { before, gone, sizes, same, inodes: HashMap::new(), back: HashMap::new() };
    let mut open = vec![(before.root(), after.root())];
    attributes(before.root(), after.root())?;
    while let Some((old, new)) = open.pop() {
        let (old, new) = (sorted(old), sorted(new));
        let (mut was, mut is) = (old.into_iter().peekable(), new.into_iter().peekable());
        loop {
            let order = match (was.peek(), is.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(one), Some(other)) => one.name().cmp(other.name()),
            };
            let old = if order.is_le() { was.next() } else { None };
            let new = if order.is_ge() { is.next() } else { None };
            match (old, new) {
                (Some(old), Some(new)) => {
                    if gone.has(old.id().0) {
                        return Err(difference(old, "it is still there"));
                    }
                    comparison.both(old, new)?;
                    if old.kind() == NodeKind::Directory {
                        open.push((old, new));
                    }
                }
                (Some(old), None) if comparison.may_go(old) => {}
                (Some(old), None) => return Err(difference(old, "it is missing")),
                (None, Some(new)) => return Err(difference(new, "it was not there before")),
                (None, None) => {}
            }
        }
    }
    Ok(())
}

fn sorted(node: Node<'_>) -> Vec<Node<'_>> {
    let mut children: Vec<Node<'_>> = node.children().collect();
    children.sort_unstable_by(|one, other| one.name().cmp(other.name()));
    children
}

fn difference(node: Node<'_>, what: impl Into<String>) -> Difference {
    Difference { path: escape(&node.path()), what: what.into() }
}

struct Comparison<'a> {
    before: &'a Rootfs,
    gone: &'a Bits,
    sizes: &'a HashMap<Inode, u64>,
    same: &'a mut dyn FnMut(Inode, Inode) -> bool,
    inodes: HashMap<Inode, Inode>,
    back: HashMap<Inode, Inode>,
}

impl Comparison<'_> {
    /// Whether a path may be missing: it is removed, or a folder without an entry of which everything is removed.
    fn may_go(&self, node: Node<'_>) -> bool {
        let mut open = vec![node.id()];
        while let Some(id) = open.pop() {
            let node = self.before.node(id);
            if node.kind() == NodeKind::Directory && node.entry().is_none() && node.id() != NodeId::ROOT {
                open.extend(node.children().map(Node::id));
            } else if !self.gone.has(id.0) {
                return false;
            }
        }
        true
    }

    fn both(&mut self, old: Node<'_>, new: Node<'_>) -> Result<(), Difference> {
        if old.kind() != new.kind() {
            return Err(difference(old, format!("it is {}, not {}", name(new.kind()), name(old.kind()))));
        }
        attributes(old, new)?;
        let (Some(was), Some(is)) = (old.content(), new.content()) else { return Ok(()) };
        let size = |node: Node<'_>, inode: Inode| node.size_of(inode);
        let before = self.sizes.get(&was).copied().unwrap_or_else(|| size(old, was));
        let after = size(new, is);
        if before != after {
            return Err(difference(old, format!("it has {after} bytes, not {before}")));
        }
        if old.has_other_names() || new.has_other_names() {
            let known = self.inodes.insert(was, is).is_none_or(|known| known == is);
            if !known || self.back.insert(is, was).is_some_and(|known| known != was) {
                return Err(difference(old, "it is a name of another file"));
            }
        }
        if !(self.same)(was, is) {
            return Err(difference(old, "it has other contents"));
        }
        Ok(())
    }
}

type Facts<'a> = (u16, (u32, u32), i64, Option<&'a [u8]>);

/// Mode, owner, time, and the target of a symbolic link.
fn facts(node: Node<'_>) -> Option<Facts<'_>> {
    let (index, entry) = node.index_entry()?;
    let target = index.link(entry).filter(|_| node.kind() == NodeKind::Symlink);
    Some((index.mode(entry), index.owner(entry), index.mtime(entry), target))
}

fn name(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::File => "a file",
        NodeKind::Directory => "a folder",
        NodeKind::Symlink => "a symbolic link",
        NodeKind::Other => "a device or pipe",
    }
}

fn attributes(old: Node<'_>, new: Node<'_>) -> Result<(), Difference> {
    match (facts(old), facts(new)) {
        (None, None) => Ok(()),
        (Some(was), Some(is)) if was == is => Ok(()),
        (Some(was), Some(is)) => {
            let what = if was.0 != is.0 {
                format!("its mode is {:o}, not {:o}", is.0, was.0)
            } else if was.1 != is.1 {
                format!("its owner is {}:{}, not {}:{}", is.1.0, is.1.1, was.1.0, was.1.1)
            } else if was.2 != is.2 {
                format!("its time is {}, not {}", is.2, was.2)
            } else {
                "it names another target".to_owned()
            };
            Err(difference(old, what))
        }
        (Some(_), None) => Err(difference(old, "its entry is missing")),
        (None, Some(_)) => Err(difference(old, "it had no entry before")),
    }
}
