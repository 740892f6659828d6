//! Walks the merged views of all images together, folder by folder.

use super::contents::{Contents, NONE, Scratch};
use crate::base::convert::index32;
use crate::jobs::{CancelToken, Cancelled};
use crate::rootfs::{NodeId, Rootfs};

/// Rows between two checks for cancellation.
const STRETCH: usize = 4096;

/// All rows in flat lists: folders before their contents, siblings adjacent and sorted by name.
#[derive(Default)]
pub(super) struct Arena {
    /// How many images there are.
    pub(super) images: usize,
    /// Rows of their parent folders.
    pub(super) parents: Vec<u32>,
    /// Where the children begin: they end where those of the next row begin.
    pub(super) children: Vec<u32>,
    /// For each row and image the node, or [`NONE`].
    pub(super) nodes: Vec<u32>,
    /// For each row and image the number of its content: see [`Contents::number`].
    pub(super) numbers: Vec<u16>,
}

impl Arena {
    /// The nodes of a row.
    pub(super) fn nodes(&self, row: u32) -> &[u32] {
        let start = row as usize * self.images;
        &self.nodes[start..start + self.images]
    }

    /// The numbers of its contents.
    pub(super) fn numbers(&self, row: u32) -> &[u16] {
        let start = row as usize * self.images;
        &self.numbers[start..start + self.images]
    }
}

/// The tree, and the rows with files whose equality only their bytes can decide.
pub(super) fn build(contents: &Contents<'_>, cancel: &CancelToken) -> Result<(Arena, Vec<u32>), Cancelled> {
    let images = contents.images();
    let views: Vec<Option<&Rootfs>> = (0..images).map(|image| contents.rootfs(image)).collect();
    let rows = views.iter().flatten().map(|rootfs| rootfs.len()).max().unwrap_or(1);
    let mut arena = Arena {
        images,
        parents: Vec::with_capacity(rows),
        children: Vec::with_capacity(rows + 1),
        nodes: Vec::with_capacity(rows * images),
        numbers: Vec::with_capacity(rows * images),
    };
    arena.parents.push(0);
    arena.nodes.extend(views.iter().map(|view| if view.is_some() { NodeId::ROOT.0 } else { NONE }));
    let mut lists: Vec<Vec<(&[u8], u32)>> = vec![Vec::new(); images];
    let mut at = vec![0; images];
    let mut row = 0;
    while row < arena.parents.len() {
        if row.is_multiple_of(STRETCH) {
            cancel.check()?;
        }
        arena.children.push(index32(arena.parents.len()));
        for (image, list) in lists.iter_mut().enumerate() {
            list.clear();
            let node = arena.nodes[row * images + image];
            let Some(rootfs) = views[image].filter(|_| node != NONE) else { continue };
            list.extend(rootfs.node(NodeId(node)).children().map(|child| (child.name(), child.id().0)));
            list.sort_unstable();
        }
        at.fill(0);
        merge(&lists, &mut at, index32(row), &mut arena, cancel)?;
        row += 1;
    }
    arena.children.push(index32(arena.parents.len()));
    drop(lists);
    arena.parents.shrink_to_fit();
    arena.children.shrink_to_fit();
    arena.nodes.shrink_to_fit();
    let unproven = number(contents, &mut arena, cancel)?;
    Ok((arena, unproven))
}

/// Adds a row for each name of the lists, which are sorted, from the places `at` on.
fn merge(
    lists: &[Vec<(&[u8], u32)>],
    at: &mut [usize],
    parent: u32,
    arena: &mut Arena,
    cancel: &CancelToken,
) -> Result<(), Cancelled> {
    let next = |at: &[usize]| {
        let firsts = lists.iter().zip(at).filter_map(|(list, at)| list.get(*at));
        firsts.map(|(name, _)| *name).min()
    };
    while let Some(name) = next(at) {
        if arena.parents.len().is_multiple_of(STRETCH) {
            cancel.check()?;
        }
        arena.parents.push(parent);
        for (list, at) in lists.iter().zip(&mut *at) {
            let node = list.get(*at).filter(|(other, _)| *other == name).map(|(_, node)| *node);
            *at += usize::from(node.is_some());
            arena.nodes.push(node.unwrap_or(NONE));
        }
    }
    Ok(())
}

/// Numbers the contents of all rows, as far as known without reading.
fn number(contents: &Contents<'_>, arena: &mut Arena, cancel: &CancelToken) -> Result<Vec<u32>, Cancelled> {
    let mut scratch = Scratch::default();
    let mut unproven = Vec::new();
    let mut numbers = Vec::with_capacity(arena.nodes.len());
    for row in 0..index32(arena.parents.len()) {
        if (row as usize).is_multiple_of(STRETCH) {
            cancel.check()?;
        }
        let open = contents.number(arena.nodes(row), &mut scratch, &mut numbers, |all, class, proofs| {
            proofs.extend(class.iter().map(|place| contents.hash(&all[*place])));
            Ok(())
        })?;
        if open {
            unproven.push(row);
        }
    }
    arena.numbers = numbers;
    Ok(unproven)
}
