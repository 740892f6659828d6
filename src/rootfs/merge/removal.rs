//! What removes paths from the merged view: whiteouts, and entries that replace others. A file whose last path goes is
//! wasted.

use super::{Merger, Watch};
use crate::layer::{EntryId, LayerIndex};
use crate::rootfs::value::{Hidden, Inode, Links, NONE, NodeKind};

impl<W: Watch> Merger<'_, W> {
    pub(super) fn whiteout(&mut self, layer: u16, index: &LayerIndex, entry: EntryId) {
        let name = index.name(entry);
        if let Some(node) = self.find_dir(index, index.dir(entry)).and_then(|dir| self.find(dir, name)) {
            self.remove(node, layer);
        }
    }

    pub(super) fn opaque(&mut self, layer: u16, index: &LayerIndex, entry: EntryId) {
        let Some(dir) = self.find_dir(index, index.dir(entry)) else { return };
        self.remove_children(dir, layer);
    }

    /// Removes a path with everything below it from the view.
    fn remove(&mut self, node: u32, layer: u16) {
        self.remove_children(node, layer);
        self.release(node, layer);
        self.unlink(node, layer);
    }

    pub(super) fn remove_children(&mut self, node: u32, layer: u16) {
        // Without recursion: a path may be thousands of folders deep.
        let mut doomed = Vec::new();
        let mut child = std::mem::replace(&mut self.links[node as usize].first_child, NONE);
        loop {
            while child != NONE {
                doomed.push(child);
                child = self.links[child as usize].next;
            }
            let Some(next) = doomed.pop() else { return };
            child = std::mem::replace(&mut self.links[next as usize].first_child, NONE);
            self.release(next, layer);
            self.forget(next, layer);
        }
    }

    fn unlink(&mut self, node: u32, layer: u16) {
        let Links { next, previous, .. } = self.links[node as usize];
        if previous == NONE {
            self.links[self.nodes[node as usize].parent as usize].first_child = next;
        } else {
            self.links[previous as usize].next = next;
        }
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
        self.forget(node, layer);
    }

    fn forget(&mut self, node: u32, layer: u16) {
        self.nodes[node as usize].kind = None;
        self.watch.gone(node, layer);
    }

    /// Releases the bytes of a path.
    pub(super) fn release(&mut self, node: u32, layer: u16) {
        if self.nodes[node as usize].kind != Some(NodeKind::File) {
            return;
        }
        let inode = self.inode(node);
        self.shared.remove(&node);
        if let Some(left) = self.paths_left.get_mut(&inode) {
            *left -= 1;
            if *left > 0 {
                return;
            }
            self.paths_left.remove(&inode);
        }
        self.lose(inode, layer);
    }

    pub(super) fn lose(&mut self, inode: Inode, by: u16) {
        let (layer, entry) = inode;
        let bytes = self.layers[usize::from(layer)].size(entry);
        self.waste[usize::from(layer)].wasted_bytes += bytes;
        self.waste[usize::from(by)].hides_bytes += bytes;
        self.hidden.push(Hidden { layer, entry, by });
    }
}
