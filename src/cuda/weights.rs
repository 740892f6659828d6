//! Model weight files in the image.

use std::sync::Arc;

use hashbrown::HashSet;

use super::context::{Inode, InventoryContext};
use super::value::WeightFile;
use crate::rootfs::Node;

/// Minimum size of weight files without a file name suffix, in bytes.
const UNNAMED_BYTES: u64 = 1 << 20;

/// Model files of the merged view, each inode once, largest first.
pub(super) fn find(context: &InventoryContext<'_>) -> Vec<WeightFile> {
    let mut found: Vec<(Inode, WeightFile)> = Vec::new();
    let may_be = |inode: Inode| {
        let name = context.rootfs.layer(inode.0).name(inode.1);
        context.catalog.may_be_weights(name, context.size(inode))
    };
    for (inode, node) in context.files(|inode, named| named.weights && may_be(inode)) {
        let bytes = context.size(inode);
        let named = context.is_named_weights(node) && context.catalog.may_be_weights(node.name(), bytes);
        if !named || context.is_binary(inode) {
            continue;
        }
        let head = context.head(inode);
        if let Some(format) = format(context, node, head, bytes) {
            found.push((inode, WeightFile { node: node.id(), format: Arc::from(format), bytes }));
        }
    }
    found.sort_by_cached_key(|(_, file)| (std::cmp::Reverse(file.bytes), context.path(file.node)));
    let mut seen = HashSet::new();
    found.into_iter().filter(|(inode, _)| seen.insert(*inode)).map(|(_, file)| file).collect()
}

fn format<'a>(
    context: &InventoryContext<'a>,
    node: Node<'_>,
    head: Option<&[u8]>,
    bytes: u64,
) -> Option<&'a str> {
    let name = node.name();
    if name.contains(&b'.') {
        // With a suffix the name is sufficient: building the path of each of 100,000 files would be slow.
        return context.catalog.weight_format(name, head, bytes).map(|format| format.name.as_str());
    }
    if bytes < UNNAMED_BYTES {
        return None;
    }
    context.catalog.weight_format(&node.path(), head, bytes).map(|format| format.name.as_str())
}
