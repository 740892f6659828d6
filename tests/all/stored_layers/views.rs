//! Merged views as bytes: what comes back is what was merged, and any other bytes are refused or harmless.

use std::sync::{Arc, LazyLock};

use cutaway::layer::{EntryId, LayerIndex};
use cutaway::rootfs::{Merge, Node, NodeId, Rootfs, copies, merge};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::Index;

use super::read;
use crate::fixtures::tarball::{dir, file, hardlink, opaque, symlink, tar, whiteout};

/// Layers with everything that a merge distinguishes, without warnings.
fn layers() -> Vec<Arc<LayerIndex>> {
    let tars = [
        tar([
            dir("usr/lib"),
            file("usr/lib/libone.so.1", "one"),
            hardlink("usr/lib/libtwo.so.1", "usr/lib/libone.so.1"),
            symlink("usr/lib/libone.so", "libone.so.1"),
            hardlink("usr/lib/link", "usr/lib/libone.so"),
            file("usr/share/doc/a/copyright", "text"),
            file("opt/tool/a/b/c", "deep"),
            file("etc/config", "first"),
        ]),
        tar([
            dir("./"),
            whiteout("usr/lib/libone.so.1"),
            opaque("usr/share"),
            file("usr/share/new", "new"),
            file("opt/tool", "a file now"),
            file("etc/config", "other"),
        ]),
        tar([file("opt/tool/a/again", "again"), file("usr/lib/libone.so.1", "back"), file("empty", "")]),
    ];
    tars.iter().map(|tar| Arc::clone(&read(tar).index)).collect()
}

static LAYERS: LazyLock<Vec<Arc<LayerIndex>>> = LazyLock::new(layers);
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| merge(&LAYERS, &[], 2).to_bytes().unwrap());

/// What others ask of a view, by path.
type Said = (Vec<u8>, String, Option<(u16, EntryId)>, u64, u32, usize);

fn said(view: &Rootfs) -> Vec<Said> {
    let of = |node: Node<'_>| {
        let shown = format!("{:?} {:?} {:?}", node.kind(), node.layer(), node.entry());
        let children = node.children().map(|child| child.path().len()).sum();
        (node.path(), shown, node.content(), node.bytes(), node.files(), children)
    };
    view.nodes().map(of).collect()
}

/// What others ask of a view, by entry.
fn placed(view: &Rootfs) -> Vec<(Option<NodeId>, Option<NodeId>, Vec<NodeId>)> {
    let mut placed = Vec::new();
    for (layer, index) in (0..).zip(LAYERS.iter()) {
        for entry in index.entries() {
            let (node, shown) = (view.node_at(layer, entry), view.node_showing(layer, entry));
            placed.push((node, shown, view.all_names(layer, entry).collect()));
        }
    }
    placed
}

#[test]
fn a_view_comes_back() {
    let merged = merge(&LAYERS, &[], 2);
    let again = Merge::from_bytes(&BYTES, &LAYERS).unwrap();
    assert_eq!(said(&again.rootfs), said(&merged.rootfs));
    assert_eq!(placed(&again.rootfs), placed(&merged.rootfs));
    assert_eq!(again.rootfs.hidden(), merged.rootfs.hidden());
    assert!(!merged.rootfs.hidden().is_empty() && copies(&merged.rootfs).count() > 0);
    assert!(copies(&again.rootfs).eq(copies(&merged.rootfs)));
    assert!(again.rootfs.shared_files().eq(merged.rootfs.shared_files()));
    assert_eq!((again.merged_bytes, again.merged_files), (merged.merged_bytes, merged.merged_files));
    assert_eq!(again.waste, merged.waste);
    assert_eq!(again.to_bytes().unwrap(), *BYTES);
}

#[test]
fn a_view_with_warnings_is_not_stored() {
    let dangling = read(&tar([hardlink("usr/lib/link", "usr/lib/missing")]));
    let merged = merge(&[dangling.index], &["layer 0".to_owned()], 2);
    assert_eq!(merged.warnings.len(), 1);
    assert!(merged.to_bytes().is_none());
    assert!(merge(&[], &[], 2).to_bytes().is_none());
}

#[test]
fn a_view_of_other_layers_is_refused() {
    assert!(Merge::from_bytes(&BYTES, &LAYERS[..2]).is_err());
    assert!(Merge::from_bytes(&BYTES, &[]).is_err());
    let turned: Vec<_> = LAYERS.iter().rev().cloned().collect();
    assert!(Merge::from_bytes(&BYTES, &turned).is_err());
}

#[test]
fn every_shorter_or_longer_view_is_refused() {
    for length in 0..BYTES.len() {
        assert!(Merge::from_bytes(&BYTES[..length], &LAYERS).is_err(), "{length}");
    }
    assert!(Merge::from_bytes(&[&BYTES[..], &[0]].concat(), &LAYERS).is_err());
}

#[test]
fn numbers_in_a_view_set_no_memory_aside() {
    for number in [u64::MAX, 1 << 40, 1 << 31, 0xffff, 0x0fff_ffff_ffff] {
        for at in 0..BYTES.len() - 8 {
            let mut bytes = BYTES.clone();
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            let taken = allocation_counter::measure(|| {
                try_view(&bytes);
            });
            assert!(taken.bytes_max <= 1 << 20, "{number:#x} at {at}: {} bytes", taken.bytes_max);
        }
    }
}

/// Decodes; what is not refused can be used.
fn try_view(bytes: &[u8]) {
    let Ok(view) = Merge::from_bytes(bytes, &LAYERS) else { return };
    let all = said(&view.rootfs);
    assert!(all.iter().all(|(path, ..)| path.starts_with(b"/")));
    placed(&view.rootfs);
    for (_, (layer, entry)) in view.rootfs.shared_files() {
        LAYERS[usize::from(layer)].size(entry);
    }
    view.rootfs.largest_files(3);
    assert_eq!(view.waste.len(), LAYERS.len());
    assert!(Merge::from_bytes(&view.to_bytes().unwrap(), &LAYERS).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn changed_views_are_refused_or_harmless(changes in vec((any::<Index>(), any::<u8>()), 1..4)) {
        let mut bytes = BYTES.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        try_view(&bytes);
    }

    #[test]
    fn small_changes_of_a_view_are_refused_or_harmless(at in any::<Index>(), add in 1_u8..6) {
        let mut bytes = BYTES.clone();
        let at = at.index(bytes.len());
        bytes[at] = bytes[at].wrapping_add(add);
        try_view(&bytes);
    }
}
