//! Which paths of one row of the tree have equal content, as far as known without reading.

use std::sync::Arc;

use super::identity::Identity;
use crate::analysis::Analysis;
use crate::base::convert::index32;
use crate::cuda::Inode;
use crate::jobs::Cancelled;
use crate::layer::{ContentHash, EntryId, LayerFacts};
use crate::rootfs::{NodeId, NodeKind, Rootfs};

/// Marks an image without the path.
pub(super) const NONE: u32 = u32::MAX;

/// Set in the number of a content that is not known, where another image has a file of its size.
pub(super) const UNPROVEN: u16 = 1 << 15;

/// The merged views, with the known contents of their files.
pub(super) struct Contents<'a> {
    views: Vec<View<'a>>,
    /// By number of the stream.
    hashes: Vec<Hashes<'a>>,
}

struct View<'a> {
    rootfs: Option<&'a Rootfs>,
    /// Numbers of the streams of its layers.
    streams: Vec<u32>,
}

/// What a path is in an image.
#[derive(Clone, Copy)]
pub(super) struct Content<'a> {
    pub(super) kind: NodeKind,
    pub(super) size: u64,
    /// Stream and entry: the same ones are the same content.
    pub(super) key: (u32, EntryId),
    /// The target of a symbolic link.
    link: &'a [u8],
    pub(super) inode: Inode,
    pub(super) has_other_names: bool,
}

/// Hashes of the files of a stream.
#[derive(Default)]
struct Hashes<'a> {
    facts: Option<&'a LayerFacts>,
    /// Places in the list of hashes by entry.
    places: Vec<u32>,
}

impl<'a> Hashes<'a> {
    fn new(facts: &'a LayerFacts, entries: usize) -> Self {
        let mut places = vec![NONE; entries];
        for (place, (entry, _)) in facts.hashes().iter().enumerate() {
            if let Some(at) = places.get_mut(entry.0 as usize) {
                *at = index32(place);
            }
        }
        Self { facts: Some(facts), places }
    }

    fn of(&self, entry: EntryId) -> Option<ContentHash> {
        let place = *self.places.get(entry.0 as usize)?;
        Some(self.facts?.hashes().get(place as usize)?.1)
    }
}

/// Lists that are used for one row after the other.
#[derive(Default)]
pub(super) struct Scratch<'a> {
    /// Contents of the row with different keys.
    distinct: Vec<Content<'a>>,
    /// Their numbers.
    numbers: Vec<u16>,
    /// Of them, those of one size.
    class: Vec<usize>,
    proofs: Vec<Option<ContentHash>>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(images: &'a [Arc<Analysis>], ids: &[Vec<Identity>]) -> Self {
        let views: Vec<View<'a>> = images
            .iter()
            .zip(ids)
            .map(|(image, ids)| View {
                rootfs: image.merge.as_ref().map(|merge| &merge.rootfs),
                streams: ids.iter().map(|id| id.stream).collect(),
            })
            .collect();
        let count = ids.iter().flatten().map(|id| id.stream as usize + 1).max().unwrap_or(0);
        let mut hashes: Vec<Hashes<'a>> = Vec::new();
        hashes.resize_with(count, Hashes::default);
        for (id, layer) in ids.iter().flatten().zip(images.iter().flat_map(|image| &image.layers)) {
            let Some(read) = &layer.read else { continue };
            let known = &mut hashes[id.stream as usize];
            // Of a stream that one image has packed and another plain, the packed one was hashed.
            let more = read.facts.hashes().len() > known.facts.map_or(0, |facts| facts.hashes().len());
            if more {
                *known = Hashes::new(&read.facts, read.index.len());
            }
        }
        Self { views, hashes }
    }

    /// How many images there are.
    pub(super) fn images(&self) -> usize {
        self.views.len()
    }

    /// The merged view of an image.
    pub(super) fn rootfs(&self, image: usize) -> Option<&'a Rootfs> {
        self.views.get(image)?.rootfs
    }

    /// What a path is in an image.
    pub(super) fn content(&self, image: usize, node: u32) -> Option<Content<'a>> {
        let view = self.views.get(image).filter(|_| node != NONE)?;
        let rootfs = view.rootfs?;
        let node = rootfs.node(NodeId(node));
        let inode = node.content().or_else(|| Some((node.layer(), node.entry()?)));
        // A folder that only paths below it name has no entry, and needs none.
        let (layer, entry) = inode.unwrap_or((node.layer(), EntryId(NONE)));
        let stream = view.streams.get(usize::from(layer)).copied().unwrap_or(NONE);
        let kind = node.kind();
        Some(Content {
            kind,
            size: if kind == NodeKind::File { rootfs.layer(layer).size(entry) } else { 0 },
            key: (stream, entry),
            link: match kind {
                NodeKind::Symlink => rootfs.layer(layer).link(entry).unwrap_or_default(),
                _ => b"",
            },
            inode: (layer, entry),
            has_other_names: node.has_other_names(),
        })
    }

    /// The hash of a file that passed.
    pub(super) fn hash(&self, content: &Content<'_>) -> Option<ContentHash> {
        self.hashes.get(content.key.0 as usize)?.of(content.key.1)
    }

    /// Numbers the contents of a path: equal numbers are equal contents in all images. `prove` adds to the proofs for
    /// contents of one kind and size: what is equal only if the contents are, `None` if undecidable. Returns whether
    /// some file is unproven.
    pub(super) fn number(
        &self,
        nodes: &[u32],
        scratch: &mut Scratch<'a>,
        numbers: &mut Vec<u16>,
        mut prove: impl FnMut(&[Content<'a>], &[usize], &mut Vec<Option<ContentHash>>) -> Result<(), Cancelled>,
    ) -> Result<bool, Cancelled> {
        let start = numbers.len();
        scratch.distinct.clear();
        for (image, node) in nodes.iter().enumerate() {
            let Some(content) = self.content(image, *node) else {
                numbers.push(0);
                continue;
            };
            let known = scratch.distinct.iter().position(|other| is_same(other, &content));
            numbers.push(number16(known.unwrap_or(scratch.distinct.len())));
            if known.is_none() {
                scratch.distinct.push(content);
            }
        }
        if scratch.distinct.len() < 2 {
            return Ok(false);
        }
        let unproven = scratch.tell_apart(&mut prove)?;
        for (number, node) in numbers[start..].iter_mut().zip(nodes) {
            if *node != NONE {
                *number = scratch.numbers[usize::from(*number)];
            }
        }
        Ok(unproven)
    }
}

impl<'a> Scratch<'a> {
    /// Numbers [`Self::distinct`] by proof.
    fn tell_apart(
        &mut self,
        prove: &mut impl FnMut(&[Content<'a>], &[usize], &mut Vec<Option<ContentHash>>) -> Result<(), Cancelled>,
    ) -> Result<bool, Cancelled> {
        let Self { distinct, numbers, class, proofs } = self;
        numbers.clear();
        numbers.extend((0..distinct.len()).map(number16));
        let mut unproven = false;
        for first in 0..distinct.len() {
            let shape = |at: usize| (distinct[at].kind, distinct[at].size);
            let is_open = matches!(shape(first), (NodeKind::Other, _) | (NodeKind::File, 1..));
            if !is_open || (0..first).any(|before| shape(before) == shape(first)) {
                continue;
            }
            class.clear();
            class.extend((first..distinct.len()).filter(|other| shape(*other) == shape(first)));
            if class.len() < 2 {
                continue;
            }
            proofs.clear();
            if distinct[first].kind == NodeKind::File {
                prove(distinct, class, proofs)?;
            }
            // The index does not identify devices and pipes.
            proofs.resize(class.len(), None);
            for (place, one) in class.iter().enumerate() {
                if proofs[place].is_none() {
                    numbers[*one] |= UNPROVEN;
                    unproven |= distinct[*one].kind == NodeKind::File;
                } else if let Some(before) = (0..place).find(|before| proofs[*before] == proofs[place]) {
                    numbers[*one] = numbers[class[before]];
                }
            }
        }
        Ok(unproven)
    }
}

/// Whether two contents are the same without any proof.
fn is_same(one: &Content<'_>, other: &Content<'_>) -> bool {
    if one.kind != other.kind {
        return false;
    }
    match one.kind {
        NodeKind::Directory => true,
        NodeKind::File => one.size == other.size && (one.size == 0 || one.key == other.key),
        NodeKind::Symlink => one.link == other.link,
        NodeKind::Other => one.key == other.key,
    }
}

/// Numbers are of images, of which there are far fewer.
fn number16(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(UNPROVEN) & !UNPROVEN
}
