//! Folders that the user's instructions made or set, and how they become the same again.

use std::collections::HashMap;

use super::{Below, Walk};
use crate::base::convert::layer16;
use crate::base::text::escape;
use crate::layer::EntryKind;
use crate::rewrite::split::keep::Keep;
use crate::rewrite::split::words::shell_word;
use crate::rootfs::{Node, NodeId, NodeKind};

/// More commands for folders nobody reads.
const MOST_SETTINGS: usize = 60;

/// An empty folder that the user's instructions made.
pub(super) fn is_made_folder(keep: &Keep<'_, '_>, node: Node<'_>, below: Below) -> bool {
    const NEVER: [&[u8]; 5] = [b"/dev/", b"/proc/", b"/sys/", b"/tmp/", b"/var/cache/"];
    if below.copied
        || below.blocked
        || below.gone
        || node.id() == NodeId::ROOT
        || node.children().len() > 0
        || node.entry().is_none()
        || !keep.world.is_users(node)
    {
        return false;
    }
    let path = [&node.path()[..], b"/"].concat();
    !NEVER.iter().any(|folder| path.starts_with(folder)) && is_users_work(keep, node)
}

/// Whether the user's instructions made a folder what it is, and not a package that they install.
fn is_users_work(keep: &Keep<'_, '_>, node: Node<'_>) -> bool {
    !keep.world.installs(node.layer())
        || keep.world.says(node.layer(), &String::from_utf8_lossy(&node.path()))
}

/// Permission bits, owner and group.
pub(super) type Settings = (u16, (u32, u32));
/// What a COPY gives to folders that it makes.
const MADE: Settings = (0o755, (0, 0));

/// Folders that the base image has, and how they are set there.
pub(super) fn base_folders(keep: &Keep<'_, '_>) -> HashMap<NodeId, Settings> {
    let rootfs = keep.world.rootfs;
    let mut known = HashMap::new();
    for layer in 0..keep.base.layers.min(layer16(keep.world.input.layers.len())) {
        let index = rootfs.layer(layer);
        for entry in index.entries().filter(|entry| index.kind(*entry) != EntryKind::Whiteout) {
            let Some(id) = rootfs.node_at(layer, entry) else { continue };
            if index.kind(entry) == EntryKind::Directory {
                known.insert(id, (index.mode(entry), index.owner(entry)));
            }
            let mut node = rootfs.node(id).parent();
            while node.id() != NodeId::ROOT && !known.contains_key(&node.id()) {
                known.insert(node.id(), MADE);
                node = node.parent();
            }
        }
    }
    known
}

impl Walk<'_, '_, '_> {
    /// Modes and owners of folders: a COPY makes them as root's, and leaves those of the base as they are.
    pub(super) fn set_folders(&mut self) {
        let world = self.keep.world;
        let mut open = vec![world.rootfs.root()];
        let mut commands = Vec::new();
        while let Some(folder) = open.pop() {
            let whole = self.wholes.get(&folder.id());
            if whole.is_none() {
                open.extend(folder.children().filter(|node| node.kind() == NodeKind::Directory));
            }
            let Some(entry) = folder.entry().filter(|_| world.is_users(folder)) else { continue };
            let is = (
                world.rootfs.layer(folder.layer()).mode(entry),
                world.rootfs.layer(folder.layer()).owner(entry),
            );
            let becomes = match (whole, self.known.get(&folder.id())) {
                (Some(owner), _) => (MADE.0, *owner),
                (None, Some(known)) => *known,
                (None, None) if self.below(folder).copied => MADE,
                (None, None) => {
                    // A package that is installed again brings it.
                    if self.below(folder).blocked {
                        self.trees.folders.insert(folder.id());
                    }
                    continue;
                }
            };
            let by_package = whole.is_none() && !is_users_work(self.keep, folder);
            if is == becomes || (by_package && self.below(folder).blocked) {
                self.trees.folders.insert(folder.id());
            }
            if is == becomes || by_package {
                continue;
            }
            let Some(path) = shell_word(&folder.path()) else {
                self.trees.unnamed.push(escape(&folder.path()));
                continue;
            };
            self.trees.folders.insert(folder.id());
            if is.1 != becomes.1 {
                commands.push(format!("chown {}:{} {path}", is.1.0, is.1.1));
            }
            if is.0 != becomes.0 {
                commands.push(format!("chmod {:o} {path}", is.0));
            }
        }
        commands.sort_by(|a, b| a.split(' ').nth(2).cmp(&b.split(' ').nth(2)));
        if commands.len() > MOST_SETTINGS {
            self.trees.unnamed.push(format!("modes and owners of {} folders", commands.len()));
            commands.truncate(MOST_SETTINGS);
        }
        self.trees.settings = commands;
    }
}
