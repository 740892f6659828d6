//! Invariants of every layer and image that was read.

use std::sync::Arc;

use crate::base::text::{escape, is_unsafe};
use crate::base::{Limits, Warning};
use crate::layer::{DirId, EntryId, EntryKind, LayerIndex, LayerRead};
use crate::rootfs::{Merge, Node, NodeId, Rootfs, Timeline, merge, replaced};

/// Shown text contains nothing that moves a cursor or changes the text direction.
pub(super) fn is_safe(text: &str) {
    assert!(!text.chars().any(is_unsafe), "{text:?} is shown as it is");
}

/// Warnings are safe to show, and none reports a crash.
pub(super) fn warnings(list: &[Warning]) {
    for warning in list {
        is_safe(&warning.message);
        is_safe(&warning.subject);
        assert!(!warning.message.contains("inside cutaway"), "a crash was caught: {}", warning.message);
    }
}

/// The promises of a layer that was read within `limits`.
pub(super) fn layer(read: &LayerRead, limits: &Limits) {
    let index = &read.index;
    entries(index, limits);
    for entry in index.entries() {
        if let (Some(at), Some(bytes)) = (index.body_at(entry), read.uncompressed_bytes) {
            let end = at.saturating_add(index.size(entry));
            let is_file = index.kind(entry) == EntryKind::File;
            assert!(!is_file || end <= bytes, "a body ends at {end} of {bytes}");
        }
    }
    facts(read, limits);
    warnings(&read.warnings);
    let mut codes: Vec<_> = read.warnings.iter().map(|warning| warning.code).collect();
    codes.sort_unstable();
    let most = codes.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or(0);
    // The kinds of facts, of the walk, of paths and of the pass itself are counted apart.
    assert!(most <= 4 * (limits.warnings_per_code + 1), "{most} warnings of one code");
}

fn entries(index: &LayerIndex, limits: &Limits) {
    let counts = index.counts();
    assert!(index.len() <= limits.layer_entries, "{} entries", index.len());
    assert_eq!(counts.entries, index.len() as u64);
    let sorts = [counts.files, counts.directories, counts.symlinks, counts.hardlinks, counts.whiteouts];
    assert_eq!(sorts.iter().sum::<u64>() + counts.others, counts.entries, "counts of kinds add up");
    let files = || index.entries().filter(|entry| index.kind(*entry) == EntryKind::File);
    assert_eq!(files().count() as u64, counts.files);
    assert_eq!(files().map(|entry| index.size(entry)).sum::<u64>(), counts.content_bytes);
    for entry in index.entries() {
        let path = index.path(entry);
        assert!(path.starts_with(b"/") && path.len() <= limits.path_bytes + 1, "{}", escape(&path));
        is_safe(&escape(&path));
        let name = index.name(entry);
        assert!(!name.contains(&b'/') && !matches!(name, b"." | b".."), "{}", escape(&path));
        if index.kind(entry) != EntryKind::File {
            assert_eq!(index.size(entry), 0, "only files have bytes");
        }
        let is_link = matches!(index.kind(entry), EntryKind::Symlink | EntryKind::HardLink);
        let link = index.link(entry);
        assert!(link.is_none_or(|target| is_link && target.len() <= limits.path_bytes));
    }
    for number in 1..index.dir_count() {
        let dir = DirId(crate::base::convert::index32(number));
        assert!(index.dir_parent(dir) < dir, "a folder comes after the one that holds it");
        let name = index.dir_name(dir);
        assert!(!name.is_empty() && !name.contains(&b'/') && !matches!(name, b"." | b".."));
    }
}

fn facts(read: &LayerRead, limits: &Limits) {
    let (index, facts) = (&read.index, &read.facts);
    let is_file = |entry: EntryId| {
        assert!((entry.0 as usize) < index.len() && index.kind(entry) == EntryKind::File, "{entry:?}");
    };
    assert!(facts.binaries().is_sorted_by_key(|(entry, _)| *entry));
    facts.binaries().iter().for_each(|(entry, _)| is_file(*entry));
    assert!(facts.hashes().is_sorted_by_key(|(entry, _)| *entry));
    facts.hashed().for_each(is_file);
    assert!(facts.documents().is_sorted_by_key(|document| document.entry));
    for document in facts.documents() {
        is_file(document.entry);
        let bytes = document.bytes();
        let most = limits.database_bytes.max(limits.document_bytes).min(document.size);
        assert!(bytes.is_ok_and(|bytes| bytes.len() as u64 <= most), "a document can be unpacked");
    }
    for entry in index.entries() {
        let known = [facts.script(entry).is_some(), facts.head(entry).is_some()];
        if known.contains(&true) || facts.mentions(entry).is_some() {
            is_file(entry);
        }
    }
}

/// Two ways to the same layer found the same entries.
pub(super) fn same_index(one: &LayerIndex, other: &LayerIndex) {
    assert_eq!(one.counts(), other.counts());
    assert_eq!(one.dir_count(), other.dir_count());
    for entry in one.entries() {
        let of = |index: &LayerIndex| {
            let plain = (index.kind(entry), index.size(entry), index.mode(entry), index.owner(entry));
            let place = (index.mtime(entry), index.body_at(entry), index.link(entry).map(<[u8]>::to_vec));
            (index.path(entry), plain, place)
        };
        assert_eq!(of(one), of(other), "{entry:?}");
    }
}

/// Two merged views of the same layers say the same.
fn same_view(one: &Merge, other: &Merge, layers: &[Arc<LayerIndex>]) {
    assert_eq!((one.merged_bytes, one.merged_files), (other.merged_bytes, other.merged_files));
    assert_eq!(one.waste, other.waste);
    let (one, other) = (&one.rootfs, &other.rootfs);
    assert_eq!((one.len(), one.hidden()), (other.len(), other.hidden()));
    assert!(replaced(one).eq(replaced(other)));
    assert!(one.shared_files().eq(other.shared_files()));
    for (node, same) in one.nodes().zip(other.nodes()) {
        let of = |node: Node<'_>| {
            let place = (node.kind(), node.layer(), node.entry(), node.content());
            let children: Vec<NodeId> = node.children().map(Node::id).collect();
            (node.path(), place, node.bytes(), node.files(), node.has_other_names(), children)
        };
        assert_eq!(of(node), of(same));
    }
    for (layer, index) in (0..).zip(layers) {
        for entry in index.entries() {
            let of = |view: &Rootfs| {
                let names = view.names(layer, entry).to_vec();
                (view.node_at(layer, entry), view.node_showing(layer, entry), names)
            };
            assert_eq!(of(one), of(other), "{entry:?}");
        }
    }
}

/// What a merge of this layer, alone and on itself, promises.
pub(super) fn merges(index: &Arc<LayerIndex>) {
    for count in 1..=2 {
        let layers = vec![Arc::clone(index); count];
        let merged = merge(&layers, &[], 2);
        let content = index.counts().content_bytes * count as u64;
        let wasted: u64 = merged.waste.iter().map(|waste| waste.wasted_bytes).sum();
        let hides: u64 = merged.waste.iter().map(|waste| waste.hides_bytes).sum();
        assert_eq!(merged.merged_bytes + wasted, content, "bytes are seen or wasted");
        assert_eq!(wasted, hides, "some layer hides what is wasted");
        warnings(&merged.warnings);
        if let Some(bytes) = merged.to_bytes() {
            let again = Merge::from_bytes(&bytes, &layers);
            assert!(again.is_ok(), "a view that was stored can be read: {:?}", again.err());
            if let Ok(again) = again {
                same_view(&merged, &again, &layers);
                assert!(again.to_bytes() == Some(bytes), "storing has one answer");
            }
        }
        let rootfs = &merged.rootfs;
        for node in rootfs.nodes() {
            assert!(node.children().all(|child| child.parent().id() == node.id()));
            assert!(node.path().starts_with(b"/"));
        }
        let timeline = Timeline::new(&layers);
        let last = crate::base::convert::layer16(count - 1);
        let seen = |path| timeline.versions(path).filter(|version| version.shows_after(last)).count();
        let shown: usize = timeline.paths().skip(1).map(seen).sum();
        assert_eq!(shown, rootfs.len() - 1, "the timeline shows what the merge does");
    }
}
