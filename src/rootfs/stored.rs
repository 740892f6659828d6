//! The merged view as a record of the index cache.
//!
//! Merging takes a quarter of a second opening, and its result follows from the indexes of the layers alone. A
//! record has the entry of each node and its folder, names of shared files, and what was replaced by what. Sums and waste
//! are computed again. That a node is of the same kind as its entry is not checked: looking at every entry in
//! the order of paths would take as long as all the rest.

use std::sync::Arc;

use super::entries::Entries;
use super::finish::{Name, share, sum_up};
use super::merge::{LayerWaste, Merge};
use super::tree::{Folder, Record, Rootfs};
use super::value::{Copied, Hidden, Inode, NodeId, NodeKind, Place};
use crate::base::convert::index32;
use crate::jobs::both;
use crate::layer::{EntryId, EntryKind, LayerIndex, Reader, Rows, StoredError, Writer};

/// In the order of their numbers.
const KINDS: [NodeKind; 4] = [NodeKind::File, NodeKind::Directory, NodeKind::Symlink, NodeKind::Other];
/// Added to the kind of a folder without an entry.
const IMPLIED: u32 = 1 << 2;

impl Merge {
    /// Serialises the view. `None` if there is nothing to store, or warnings, which name the layers of one image.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let Rootfs { layers, nodes, shared, hidden, copied, entries, .. } = &self.rootfs;
        if layers.is_empty() || !self.warnings.is_empty() {
            return None;
        }
        let mut out = Writer::default();
        out.rows(&nodes.iter().map(|node| {
            let Place { layer, implied, id } = node.place();
            let kind = node.kind as u32 + if implied { IMPLIED } else { 0 };
            [node.parent.0, u32::from(layer), id, kind]
        }));
        out.rows(&shared.iter().map(|(node, layer, entry)| [node.0, u32::from(*layer), entry.0]));
        out.rows(
            &hidden.iter().map(|hidden| [u32::from(hidden.layer), hidden.entry.0, u32::from(hidden.by)]),
        );
        out.rows(
            &copied
                .iter()
                .map(|((layer, entry), (by, new))| [u32::from(*layer), entry.0, u32::from(*by), new.0]),
        );
        out.rows(&entries.elsewhere().into_iter());
        Some(out.finish())
    }

    /// Reads the output of [`Self::to_bytes`] for the same layers. The bytes are untrusted: impossible views are
    /// rejected, and allocations never exceed what the layers and the bytes account for.
    ///
    /// # Errors
    /// `bytes` are damaged, or of other layers.
    pub fn from_bytes(bytes: &[u8], layers: &[Arc<LayerIndex>]) -> Result<Self, StoredError> {
        let mut from = Reader::new(bytes);
        let paths = from.rows::<4>()?;
        let count = paths.iter().len();
        let most: usize = layers.iter().map(|layer| layer.len() + layer.dir_count()).sum();
        from.expect(count <= most.min(Entries::MOST_NODES), "more paths than the layers have")?;
        let shared = read_shared(&mut from, layers, count)?;
        let (hidden, waste) = read_hidden(&mut from, layers)?;
        let copied = read_copied(&mut from, layers)?;
        let elsewhere = from.rows::<3>()?;
        from.finish()?;
        // In parallel, since each takes long.
        let (nodes, entries) =
            both(|| nodes(&paths, layers, &shared), || entries(&paths, &elsewhere, layers, &shared));
        let (nodes, folders) = nodes.map_err(|what| from.fault(what))?;
        let entries = entries.map_err(|what| from.fault(what))?;
        let (merged_bytes, merged_files) = (folders[0].bytes, u64::from(folders[0].files));
        let rootfs = Rootfs { layers: layers.to_vec(), nodes, folders, shared, hidden, copied, entries };
        Ok(Self { rootfs, merged_bytes, merged_files, waste, warnings: Vec::new() })
    }
}

/// What is wrong with a view.
type Fault = &'static str;

/// The nodes, each after its folder and all of a folder beside each other.
fn nodes(
    paths: &Rows<4>,
    layers: &[Arc<LayerIndex>],
    shared: &[Name],
) -> Result<(Vec<Record>, Vec<Folder>), Fault> {
    let rows = paths.iter();
    let mut nodes: Vec<Record> = Vec::with_capacity(rows.len());
    let mut folders: Vec<Folder> = Vec::new();
    for [parent, layer, id, kind] in rows {
        let implied = kind & IMPLIED != 0;
        let kind = KINDS.get((kind & !IMPLIED) as usize).copied();
        let place = u16::try_from(layer).ok().map(|layer| Place { layer, implied, id });
        let found = kind.zip(place).filter(|(_, place)| is_place(layers, *place));
        let (kind, place) = found.ok_or("no entry of a path")?;
        let own = index32(nodes.len());
        let in_folder = match nodes.get(parent as usize) {
            Some(above) => above.folder().is_some_and(|above| folders[above].adopt(own)),
            None => own == 0 && parent == 0 && kind == NodeKind::Directory,
        };
        expect(in_folder, "a path in no folder")?;
        nodes.push(Record::new(NodeId(parent), place, kind, index32(folders.len())));
        if kind == NodeKind::Directory {
            folders.push(Folder::default());
        }
    }
    expect(!nodes.is_empty(), "no root")?;
    let is_file = |name: &Name| nodes[name.0.0 as usize].kind == NodeKind::File;
    expect(shared.iter().all(is_file), "a name of no file")?;
    share(&mut nodes, shared);
    sum_up(layers, &nodes, &mut folders, shared);
    Ok((nodes, folders))
}

/// The nodes of entries: of those that the view shows, and of those where it shows another.
fn entries(
    paths: &Rows<4>,
    elsewhere: &Rows<3>,
    layers: &[Arc<LayerIndex>],
    shared: &[Name],
) -> Result<Entries, Fault> {
    let mut entries = Entries::empty(layers);
    for (node, [_, layer, id, kind]) in (0..).zip(paths.iter()) {
        if kind & IMPLIED == 0 {
            let inode = inode(layers, layer, id).ok_or("no entry of a path")?;
            expect(entries.place(inode, node), "two paths with one entry")?;
        }
    }
    for [layer, entry, node] in elsewhere.iter() {
        let inode = inode(layers, layer, entry).filter(|_| (node as usize) < paths.iter().len());
        let placed = inode.is_some_and(|inode| entries.place_elsewhere(inode, node));
        expect(placed, "an entry at no path")?;
    }
    entries.name(shared);
    Ok(entries)
}

fn expect(holds: bool, what: Fault) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(what) }
}

/// Whether there is such an entry, or folder.
fn is_place(layers: &[Arc<LayerIndex>], place: Place) -> bool {
    let index = layers.get(usize::from(place.layer));
    let count = |index: &LayerIndex| if place.implied { index.dir_count() } else { index.len() };
    index.is_some_and(|index| (place.id as usize) < count(index))
}

/// An entry that exists.
fn inode(layers: &[Arc<LayerIndex>], layer: u32, entry: u32) -> Option<Inode> {
    let index = layers.get(layer as usize)?;
    let layer = u16::try_from(layer).ok()?;
    ((entry as usize) < index.len()).then_some((layer, EntryId(entry)))
}

/// An entry that exists and has bytes.
fn file(layers: &[Arc<LayerIndex>], layer: u32, entry: u32) -> Option<Inode> {
    let found = inode(layers, layer, entry)?;
    (layers[usize::from(found.0)].kind(found.1) == EntryKind::File).then_some(found)
}

fn read_shared(
    from: &mut Reader<'_>,
    layers: &[Arc<LayerIndex>],
    nodes: usize,
) -> Result<Vec<Name>, StoredError> {
    let rows = from.rows::<3>()?;
    let named = rows.iter().map(|[node, layer, entry]| {
        let inode = file(layers, layer, entry).filter(|_| (node as usize) < nodes);
        inode.map(|(layer, entry)| (NodeId(node), layer, entry))
    });
    let shared: Option<Vec<Name>> = named.collect();
    let shared = shared.filter(|shared| shared.is_sorted_by(|one, next| one.0 < next.0));
    shared.ok_or_else(|| from.fault("a name of no file"))
}

fn read_hidden(
    from: &mut Reader<'_>,
    layers: &[Arc<LayerIndex>],
) -> Result<(Vec<Hidden>, Vec<LayerWaste>), StoredError> {
    let rows = from.rows::<3>()?;
    let mut waste = vec![LayerWaste::default(); layers.len()];
    let hidden: Option<Vec<Hidden>> = rows
        .iter()
        .map(|[layer, entry, by]| {
            let (layer, entry) = file(layers, layer, entry)?;
            let bytes = layers[usize::from(layer)].size(entry);
            waste.get_mut(by as usize)?.hides_bytes += bytes;
            waste[usize::from(layer)].wasted_bytes += bytes;
            Some(Hidden { layer, entry, by: u16::try_from(by).ok()? })
        })
        .collect();
    let each = |hidden: &Hidden| (hidden.layer, hidden.entry);
    let once = |hidden: &Vec<Hidden>| hidden.is_sorted_by(|one, next| each(one) < each(next));
    let hidden = hidden.filter(once).ok_or_else(|| from.fault("no file that is hidden"))?;
    Ok((hidden, waste))
}

fn read_copied(from: &mut Reader<'_>, layers: &[Arc<LayerIndex>]) -> Result<Vec<Copied>, StoredError> {
    let rows = from.rows::<4>()?;
    let pairs =
        rows.iter().map(|[layer, entry, by, new]| file(layers, layer, entry).zip(file(layers, by, new)));
    let copied: Option<Vec<Copied>> = pairs.collect();
    copied.filter(|copied| copied.is_sorted()).ok_or_else(|| from.fault("no file that was replaced"))
}
