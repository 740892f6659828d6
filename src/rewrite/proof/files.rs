//! Files that are left out, reappear or change, beyond those that something loads.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::image_pair::{FileDisposition, ImagePair};
use super::notes::ProofNotes;
use super::side::shown;
use crate::base::convert::layer16;
use crate::base::size::human;
use crate::base::text::counted;
use crate::cuda::links::file_name;
use crate::formats::dockerfile::is_assignment;
use crate::layer::EntryKind;
use crate::rewrite::select::Selection;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum paths listed in one sentence.
const PATHS: usize = 8;

/// Runs all checks of this module.
pub(super) fn files(pair: &ImagePair<'_>, selection: &Selection, notes: &mut ProofNotes) {
    second_names(pair, selection, notes);
    weights(pair, notes);
    scripts(pair, notes);
    left_out(pair, notes);
    links(pair, notes);
    come_back(pair, notes);
    folders(pair, notes);
}

/// Hard links kept without the entry that stores their bytes.
fn second_names(pair: &ImagePair<'_>, selection: &Selection, notes: &mut ProofNotes) {
    for layer in 0..layer16(pair.input.layers.len()) {
        let index = pair.old.rootfs.layer(layer);
        if index.counts().hardlinks == 0 {
            continue;
        }
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::HardLink) {
            let Some(node) = pair.old.rootfs.node_showing(layer, entry) else { continue };
            if !selection.has(layer, entry) || pair.fate(node) == FileDisposition::Stays {
                continue;
            }
            let (name, target) = (pair.old.shown(node), shown(index.link(entry).unwrap_or_default()));
            notes.faults.say("second name", || {
                format!("{name} is a hard link to {target}, which is left out: it has no content")
            });
        }
    }
}

/// Models that are left out.
fn weights(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let is_planned = |node: NodeId| pair.old.node(node).content().is_some_and(|inode| pair.is_planned(inode));
    for weights in &pair.old.inventory.weights {
        if pair.fate(weights.node) == FileDisposition::Goes && !is_planned(weights.node) {
            let (path, bytes) = (pair.old.shown(weights.node), human(weights.bytes));
            notes
                .faults
                .add(format!("model file {path} ({bytes}) is left out without a finding in the plan"));
        }
    }
}

/// Scripts that stay without their interpreter.
fn scripts(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let mut known: HashMap<&[u8], Option<Vec<u8>>> = HashMap::new();
    let mut lost: BTreeMap<Vec<u8>, (u64, NodeId)> = BTreeMap::new();
    for node in pair.new.rootfs.nodes() {
        let Some(line) = node.content().and_then(|inode| pair.script(inode)) else { continue };
        let missing = known.entry(line).or_insert_with(|| {
            let words = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let program = words().next()?;
            let program = if file_name(program) == b"env" {
                words()
                    .skip(1)
                    .find(|word| !word.starts_with(b"-") && !is_assignment(word))
                    .unwrap_or(program)
            } else {
                program
            };
            let is_lost = pair.old.program(program).is_some() && pair.new.program(program).is_none();
            is_lost.then(|| program.to_vec())
        });
        if let Some(program) = missing.as_ref().filter(|_| !node.path().starts_with(b"/usr/share/doc/")) {
            lost.entry(program.clone()).or_insert((0, node.id())).0 += 1;
        }
    }
    for (program, (count, first)) in lost {
        let (program, first) = (shown(&program), pair.new.shown(first));
        let scripts = counted(count, "script");
        notes
            .unproven
            .add(format!("{scripts} with interpreter {program}, which is left out, such as {first}"));
    }
}

/// Files without a package or a finding.
fn left_out(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let owners = &pair.old.inventory.owners;
    let mut tops: BTreeMap<NodeId, (u64, u64)> = BTreeMap::new();
    let (mut files, mut bytes) = (0_u64, 0_u64);
    for id in pair.lost.iter().copied().filter(|id| owners.of(*id).is_none()) {
        let node = pair.old.node(id);
        if ImagePair::is_bookkeeping(&node.path()) {
            continue;
        }
        // The topmost folder left out with it.
        let mut top = node;
        while pair.twin(top.parent().id()).is_none() {
            top = top.parent();
        }
        let sum = tops.entry(top.id()).or_default();
        *sum = (sum.0.saturating_add(node.bytes()), sum.1 + 1);
        files += 1;
        bytes = bytes.saturating_add(node.bytes());
    }
    let mut tops: Vec<_> = tops.into_iter().map(|(id, sum)| (sum, id)).collect();
    tops.sort_by_key(|(sum, id)| (std::cmp::Reverse(*sum), *id));
    let told = tops.iter().take(PATHS).map(|((_, count), id)| match pair.old.node(*id).kind() {
        NodeKind::Directory => format!("{} ({count})", pair.old.shown(*id)),
        _ => pair.old.shown(*id),
    });
    let list = told.collect::<Vec<_>>().join(", ");
    if files > 0 {
        let more = if tops.len() > PATHS {
            format!(" and {} more paths", tops.len() - PATHS)
        } else {
            String::new()
        };
        notes.unproven.add(format!(
            "{} ({}) not in the new image, in no package and no finding of the plan: {list}{more}",
            counted(files, "file"),
            human(bytes)
        ));
    }
}

/// Files that an upper layer deleted or replaced.
fn come_back(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let tell = |list: Vec<String>, what: &str, notes: &mut ProofNotes| {
        if !list.is_empty() {
            let more = list.len().saturating_sub(PATHS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let first = list.iter().take(PATHS).cloned().collect::<Vec<_>>().join(", ");
            notes.unproven.add(format!("{what}: {first}{more}"));
        }
    };
    let told = |path: &Vec<u8>| !ImagePair::is_bookkeeping(path);
    let back = pair.back.iter().map(|id| pair.new.node(*id).path()).filter(told);
    let back = back.map(|path| shown(&path)).collect();
    tell(back, "files removed by an upper layer reappear", notes);
    let changed = pair.changed.iter().map(|id| pair.old.node(*id).path()).filter(told);
    let changed = changed.map(|path| shown(&path)).collect();
    tell(changed, "files revert to a lower layer's version, or may differ", notes);
}

/// Links that are missing although their target exists, and links with another target.
fn links(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let owners = &pair.old.inventory.owners;
    let mut told: Vec<String> = Vec::new();
    for node in pair.old.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
        let goes = match pair.fate(node.id()) {
            FileDisposition::Stays => continue,
            FileDisposition::Changes => true,
            FileDisposition::Goes => {
                let target = pair.old.paths.lookup(&node.path());
                owners.of(node.id()).is_none() && target.is_some_and(|target| pair.twin(target).is_some())
            }
        };
        let path = node.path();
        if goes && !ImagePair::is_bookkeeping(&path) {
            told.push(shown(&path));
        }
    }
    if !told.is_empty() {
        let more = told.len().saturating_sub(PATHS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.truncate(PATHS);
        notes
            .unproven
            .add(format!("symbolic links are missing or have another target: {}{more}", told.join(", ")));
    }
}

/// Folders with a different owner or mode, and missing empty ones: a program may write there.
fn folders(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let rights = |side: &super::side::Side<'_>, id: NodeId| {
        let node = side.node(id);
        let index = side.rootfs.layer(node.layer());
        // A folder without an entry belongs to root, as created on unpacking.
        node.entry().map_or((0o755, (0, 0)), |entry| (index.mode(entry), index.owner(entry)))
    };
    for node in pair.old.rootfs.nodes().skip(1).filter(|node| node.kind() == NodeKind::Directory) {
        let path = || pair.old.shown(node.id());
        match pair.twin(node.id()) {
            Some(twin) => {
                let ((mode, owner), now) = (rights(&pair.old, node.id()), rights(&pair.new, twin));
                if (mode, owner) != now && pair.new.node(twin).kind() == NodeKind::Directory {
                    notes.unproven.say("folder rights", || {
                        format!(
                            "folder {} has a different owner or mode than before (owner {}:{}, mode {mode:o})",
                            path(),
                            owner.0,
                            owner.1
                        )
                    });
                }
            }
            None if node.files() == 0
                && pair.twin(node.parent().id()).is_some()
                && !is_quiet(&node.path()) =>
            {
                notes.unproven.say("empty folder", || format!("empty folder {} is left out", path()));
            }
            None => {}
        }
    }
}

/// Folders that services do not write to.
fn is_quiet(path: &[u8]) -> bool {
    const QUIET: [&[u8]; 6] = [b"/usr/", b"/lib", b"/bin", b"/sbin", b"/root/.cache", b"/var/cache/"];
    QUIET.iter().any(|start| path.starts_with(start)) || ImagePair::is_bookkeeping(path)
}
