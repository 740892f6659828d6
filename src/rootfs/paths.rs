//! Paths of many nodes, one after the other.

use super::tree::Node;
use super::value::NodeId;

/// Builds paths in one buffer. After a sibling, only the name is written: measured on 63,000 files, a fifth of the
/// instructions of [`Node::path`].
#[derive(Debug, Default)]
pub struct PathBuffer {
    /// The folder that the buffer begins with, and the length of its path.
    folder: Option<(NodeId, usize)>,
    path: Vec<u8>,
}

impl PathBuffer {
    /// The absolute path of a node, as [`Node::path`]. All nodes given are of one view.
    pub fn of(&mut self, node: Node<'_>) -> &[u8] {
        let folder = node.parent().id();
        let length = match self.folder {
            Some((known, length)) if known == folder => length,
            _ => {
                self.path = node.parent().path();
                if folder == NodeId::ROOT {
                    self.path.clear();
                }
                self.folder = Some((folder, self.path.len()));
                self.path.len()
            }
        };
        self.path.truncate(length);
        self.path.push(b'/');
        self.path.extend_from_slice(node.name());
        &self.path
    }
}
