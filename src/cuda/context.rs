//! Input of the inventory: the merged view with the facts of its files.

use std::collections::BTreeMap;

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::catalog::Catalog;
use super::links::Paths;
use crate::base::convert::layer16;
use crate::formats::binary::FileFacts;
use crate::formats::document::DocumentKind;
use crate::formats::string_references::StringReferences;
use crate::jobs::both;
use crate::layer::{ContentHash, Document, EntryId, EntryKind, LayerRead};
use crate::rootfs::{Merge, Node, NodeId, Rootfs};
use crate::source::Image;

/// Layer index and entry of the content of a file.
pub type Inode = (u16, EntryId);

/// Maximum length of the paths of all binaries together, in bytes; 50,000 binaries have 5 MB.
const PATH_BYTES: usize = 64 << 20;

/// Input of the inventory.
pub struct Input<'a> {
    /// Manifest, config and history of the image.
    pub image: &'a Image,
    /// Layers, bottom first; `None` for those without content.
    pub layers: &'a [Option<Arc<LayerRead>>],
    /// Merged view of the layers.
    pub merge: &'a Merge,
    /// File contents read after the layers.
    pub bodies: &'a FileContents,
    /// Catalogue of facts and rules.
    pub catalog: &'a Catalog,
}

/// Facts that require complete file contents, for layers whose contents were not read in the first pass.
#[derive(Debug, Default)]
pub struct FileContents {
    /// BLAKE3 hashes of files.
    pub hashes: HashMap<Inode, ContentHash>,
    /// Binaries with their deferred GPU code; they replace the facts of their layer.
    pub binaries: HashMap<Inode, FileFacts>,
    /// String references of the files searched for them.
    pub mentions: HashMap<Inode, StringReferences>,
}

/// A binary of the merged view.
#[derive(Clone, Copy)]
pub(super) struct BinaryFile<'a> {
    pub(super) node: NodeId,
    pub(super) inode: Inode,
    pub(super) facts: &'a FileFacts,
}

/// A document of the merged view.
#[derive(Clone, Copy)]
pub(super) struct Visible<'a> {
    pub(super) node: NodeId,
    pub(super) document: &'a Document,
}

/// Facts derived from the name of an entry alone.
#[derive(Clone, Copy)]
pub(super) struct Named {
    /// Whether it contains `.so`.
    pub(super) library: bool,
    /// Whether it may be a file of model weights.
    pub(super) weights: bool,
}

/// Facts by layer and entry. Names are read in memory order: in the order of the merged view, reading 300,000
/// takes ten times as long.
fn names(input: &Input<'_>) -> Vec<Vec<Named>> {
    let find = memchr::memmem::Finder::new(b".so");
    let rootfs = &input.merge.rootfs;
    let is_weights = |name: &[u8]| {
        // Without first bytes and with any size, every format with such names matches.
        let has_format = || input.catalog.weight_format(name, None, u64::MAX).is_some();
        input.catalog.may_be_weights(name, u64::MAX) && (!name.contains(&b'.') || has_format())
    };
    let named = |name: &[u8]| Named { library: find.find(name).is_some(), weights: is_weights(name) };
    let of = |layers: Range<u16>| -> Vec<Vec<Named>> {
        let layers = layers.map(|layer| rootfs.layer(layer));
        layers.map(|index| index.entries().map(|entry| named(index.name(entry))).collect()).collect()
    };
    let middle = rootfs.middle();
    let (upper, mut all) = both(|| of(middle..layer16(input.layers.len())), || of(0..middle));
    all.extend(upper);
    all
}

pub(super) struct InventoryContext<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) rootfs: &'a Rootfs,
    pub(super) paths: Paths<'a>,
    pub(super) catalog: &'a Catalog,
    /// All binaries sorted by path, one entry for each hard link.
    pub(super) binaries: Vec<BinaryFile<'a>>,
    documents: BTreeMap<DocumentKind, Vec<Visible<'a>>>,
    names: Vec<Vec<Named>>,
    /// Number of binaries omitted because of [`PATH_BYTES`].
    pub(super) left_out: usize,
}

impl<'a> InventoryContext<'a> {
    pub(super) fn new(input: &'a Input<'a>) -> Self {
        let rootfs = &input.merge.rootfs;
        let mut binaries = Vec::new();
        let mut documents: BTreeMap<DocumentKind, Vec<Visible<'a>>> = BTreeMap::new();
        let mut found: Vec<(NodeId, Inode, &FileFacts)> = Vec::new();
        let (mut path_bytes, mut left_out) = (0, 0);
        for number in 0..layer16(input.layers.len()) {
            let Some(read) = layer(input, number) else { continue };
            for document in read.facts.documents() {
                let names = rootfs.all_names(number, document.entry);
                let visible = names.map(|node| Visible { node, document });
                documents.entry(document.kind).or_default().extend(visible);
            }
            for (entry, facts) in read.facts.binaries() {
                if read.facts.document(*entry).is_none() {
                    found
                        .extend(rootfs.all_names(number, *entry).map(|node| (node, (number, *entry), facts)));
                }
            }
        }
        // The omitted binaries must not depend on their layer.
        found.sort_unstable_by_key(|(node, ..)| *node);
        for (node, inode, facts) in found {
            let path = rootfs.node(node).path();
            path_bytes += path.len();
            if path_bytes > PATH_BYTES {
                left_out += 1;
                continue;
            }
            let facts = input.bodies.binaries.get(&inode).unwrap_or(facts);
            binaries.push((path, BinaryFile { node, inode, facts }));
        }
        binaries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for list in documents.values_mut() {
            list.sort_by_cached_key(|visible| rootfs.node(visible.node).path());
        }
        Self {
            input,
            rootfs,
            paths: Paths::new(rootfs),
            catalog: input.catalog,
            binaries: binaries.into_iter().map(|(_, binary)| binary).collect(),
            documents,
            names: names(input),
            left_out,
        }
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> Node<'a> {
        self.rootfs.node(id)
    }

    /// Whether the name of a file contains `.so`.
    #[inline]
    pub(super) fn is_named_library(&self, node: Node<'_>) -> bool {
        self.named(node).is_none_or(|named| named.library)
    }

    /// Whether a file may contain model weights, by name alone.
    #[inline]
    pub(super) fn is_named_weights(&self, node: Node<'_>) -> bool {
        self.named(node).is_none_or(|named| named.weights)
    }

    /// As [`Self::is_named_weights`], for the entry of a layer.
    #[inline]
    pub(super) fn is_entry_named_weights(&self, layer: u16, entry: EntryId) -> bool {
        let named = self.names.get(usize::from(layer)).and_then(|names| names.get(entry.0 as usize));
        named.is_none_or(|named| named.weights)
    }

    /// All files of the merged view whose inode and entry name pass, and all that have, or had in lower
    /// layers, several names; with their inode. In memory order.
    pub(super) fn files(
        &self,
        pass: impl Fn(Inode, Named) -> bool + Copy,
    ) -> impl Iterator<Item = (Inode, Node<'a>)> {
        self.files_of(0..layer16(self.names.len()), pass)
    }

    /// As [`Self::files`], of some layers.
    pub(super) fn files_of(
        &self,
        layers: Range<u16>,
        pass: impl Fn(Inode, Named) -> bool + Copy,
    ) -> impl Iterator<Item = (Inode, Node<'a>)> {
        let rootfs = self.rootfs;
        layers.flat_map(move |layer| {
            let index = rootfs.layer(layer);
            let names = self.names.get(usize::from(layer)).map(Vec::as_slice).unwrap_or_default();
            let files = index.entries().zip(names).filter(|(entry, _)| index.kind(*entry) == EntryKind::File);
            files
                .filter(move |(entry, named)| {
                    pass((layer, *entry), **named) || !rootfs.names(layer, *entry).is_empty()
                })
                .flat_map(move |(entry, _)| {
                    rootfs.all_names(layer, entry).map(move |id| ((layer, entry), rootfs.node(id)))
                })
        })
    }

    /// All entries with their names, in memory order.
    pub(super) fn entry_names(&self) -> impl Iterator<Item = (u16, EntryId, &'a [u8])> {
        let rootfs = self.rootfs;
        (0..layer16(self.input.layers.len())).flat_map(move |layer| {
            let index = rootfs.layer(layer);
            index.entries().map(move |entry| (layer, entry, index.name(entry)))
        })
    }

    /// The nodes of the merged view that show an entry with this name, in no defined order.
    pub(super) fn nodes_named(&self, name: &[u8]) -> impl Iterator<Item = NodeId> {
        let rootfs = self.rootfs;
        (0..layer16(self.input.layers.len())).flat_map(move |layer| {
            let index = rootfs.layer(layer);
            let named = index.entries().filter(move |entry| index.name(*entry) == name);
            named.filter_map(move |entry| rootfs.node_showing(layer, entry))
        })
    }

    #[inline]
    fn named(&self, node: Node<'_>) -> Option<Named> {
        self.names.get(usize::from(node.layer()))?.get(node.entry()?.0 as usize).copied()
    }

    pub(super) fn path(&self, id: NodeId) -> Vec<u8> {
        self.rootfs.node(id).path()
    }

    /// The documents of a kind in the merged view, sorted by path.
    pub(super) fn visible(&self, kind: DocumentKind) -> &[Visible<'a>] {
        self.documents.get(&kind).map(Vec::as_slice).unwrap_or_default()
    }

    /// Facts of a layer; `None` if it has no content.
    #[inline]
    pub(super) fn layer(&self, layer_number: u16) -> Option<&'a LayerRead> {
        layer(self.input, layer_number)
    }

    /// File size, in bytes.
    #[inline]
    pub(super) fn size(&self, inode: Inode) -> u64 {
        self.rootfs.layer(inode.0).size(inode.1)
    }

    /// Hash of an inode's content; `None` if its bytes were not read.
    #[inline]
    pub(super) fn hash(&self, inode: Inode) -> Option<&'a ContentHash> {
        let passed = self.layer(inode.0).and_then(|read| read.facts.hash(inode.1));
        passed.or_else(|| self.input.bodies.hashes.get(&inode))
    }

    /// Whether the content of a file is a program, library or other binary, whatever its name.
    #[inline]
    pub(super) fn is_binary(&self, inode: Inode) -> bool {
        self.layer(inode.0).is_some_and(|read| read.facts.binary(inode.1).is_some())
    }

    /// The first bytes of a large file that is not a binary.
    #[inline]
    pub(super) fn head(&self, inode: Inode) -> Option<&'a [u8]> {
        self.layer(inode.0)?.facts.head(inode.1)
    }

    /// The node of a path; symbolic links are followed except for the last component.
    pub(super) fn entry_at(&self, path: &[u8]) -> Option<NodeId> {
        self.paths.entry_at(path)
    }

    /// Environment of the image, as `NAME=VALUE`.
    pub(super) fn environment(&self) -> &'a [String] {
        self.input.image.environment()
    }

    /// Value of a variable; the last one takes precedence.
    pub(super) fn variable(&self, name: &str) -> Option<&'a str> {
        self.input.image.variable(name)
    }
}

#[inline]
fn layer<'a>(input: &Input<'a>, layer_number: u16) -> Option<&'a LayerRead> {
    input.layers.get(usize::from(layer_number))?.as_deref()
}
