//! Files that are left out, reappear or change, beyond those that something loads.

use std::collections::{BTreeMap, HashMap};

use super::said::{Said, counted};
use super::side::shown;
use super::sides::{Both, Fate};
use crate::base::convert::layer16;
use crate::base::size::human;
use crate::cuda::links::{file_name, is_assignment};
use crate::layer::EntryKind;
use crate::rewrite::select::Selection;
use crate::rootfs::{NodeId, NodeKind};

/// Most paths listed in one sentence.
const PATHS: usize = 8;

/// Runs all checks of this module.
pub(super) fn files(both: &Both<'_>, selection: &Selection, said: &mut Said) {
    second_names(both, selection, said);
    weights(both, said);
    scripts(both, said);
    left_out(both, said);
    links(both, said);
    come_back(both, said);
    folders(both, said);
}

/// Hard links kept without the entry that stores their bytes.
fn second_names(both: &Both<'_>, selection: &Selection, said: &mut Said) {
    for layer in 0..layer16(both.input.layers.len()) {
        let index = both.old.rootfs.layer(layer);
        if index.counts().hardlinks == 0 {
            continue;
        }
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::HardLink) {
            let Some(node) = both.old.rootfs.node_showing(layer, entry) else { continue };
            if !selection.has(layer, entry) || both.fate(node) == Fate::Stays {
                continue;
            }
            let (name, target) = (both.old.shown(node), shown(index.link(entry).unwrap_or_default()));
            said.faults.say("second name", || {
                format!("{name} is a hard link to {target}, which is left out: it has no content")
            });
        }
    }
}

/// Models that are left out.
fn weights(both: &Both<'_>, said: &mut Said) {
    let is_planned = |node: NodeId| both.old.node(node).content().is_some_and(|inode| both.is_planned(inode));
    for weights in &both.old.inventory.weights {
        if both.fate(weights.node) == Fate::Goes && !is_planned(weights.node) {
            let (path, bytes) = (both.old.shown(weights.node), human(weights.bytes));
            said.faults.add(format!("model file {path} ({bytes}) is left out without a finding in the plan"));
        }
    }
}

/// Scripts that stay without their interpreter.
fn scripts(both: &Both<'_>, said: &mut Said) {
    let mut known: HashMap<&[u8], Option<Vec<u8>>> = HashMap::new();
    let mut lost: BTreeMap<Vec<u8>, (u64, NodeId)> = BTreeMap::new();
    for node in both.new.rootfs.nodes() {
        let Some(line) = node.content().and_then(|inode| both.script(inode)) else { continue };
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
            let is_lost = both.old.program(program).is_some() && both.new.program(program).is_none();
            is_lost.then(|| program.to_vec())
        });
        if let Some(program) = missing.as_ref().filter(|_| !node.path().starts_with(b"/usr/share/doc/")) {
            lost.entry(program.clone()).or_insert((0, node.id())).0 += 1;
        }
    }
    for (program, (count, first)) in lost {
        let (program, first) = (shown(&program), both.new.shown(first));
        let scripts = counted(count, "script");
        said.unproven
            .add(format!("{scripts} with interpreter {program}, which is left out, such as {first}"));
    }
}

/// Files without a package or a finding.
fn left_out(both: &Both<'_>, said: &mut Said) {
    let owners = &both.old.inventory.owners;
    let mut tops: BTreeMap<NodeId, (u64, u64)> = BTreeMap::new();
    let (mut files, mut bytes) = (0_u64, 0_u64);
    for id in both.lost.iter().copied().filter(|id| owners.of(*id).is_none()) {
        let node = both.old.node(id);
        if Both::is_bookkeeping(&node.path()) {
            continue;
        }
        // The topmost folder left out with it.
        let mut top = node;
        while both.twin(top.parent().id()).is_none() {
            top = top.parent();
        }
        let sum = tops.entry(top.id()).or_default();
        *sum = (sum.0.saturating_add(node.bytes()), sum.1 + 1);
        files += 1;
        bytes = bytes.saturating_add(node.bytes());
    }
    let mut tops: Vec<_> = tops.into_iter().map(|(id, sum)| (sum, id)).collect();
    tops.sort_by_key(|(sum, id)| (std::cmp::Reverse(*sum), *id));
    let told = tops.iter().take(PATHS).map(|((_, count), id)| match both.old.node(*id).kind() {
        NodeKind::Directory => format!("{} ({count})", both.old.shown(*id)),
        _ => both.old.shown(*id),
    });
    let list = told.collect::<Vec<_>>().join(", ");
    if files > 0 {
        let more = if tops.len() > PATHS {
            format!(" and {} more paths", tops.len() - PATHS)
        } else {
            String::new()
        };
        said.unproven.add(format!(
            "{} ({}) left out without a package or a finding in the plan: {list}{more}",
            counted(files, "file"),
            human(bytes)
        ));
    }
}

/// Files that an upper layer deleted or replaced.
fn come_back(both: &Both<'_>, said: &mut Said) {
    let tell = |list: Vec<String>, what: &str, said: &mut Said| {
        if !list.is_empty() {
            let more = list.len().saturating_sub(PATHS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let first = list.iter().take(PATHS).cloned().collect::<Vec<_>>().join(", ");
            said.unproven.add(format!("{what}: {first}{more}"));
        }
    };
    let told = |path: &Vec<u8>| !Both::is_bookkeeping(path);
    let back = both.back.iter().map(|id| both.new.node(*id).path()).filter(told);
    let back = back.map(|path| shown(&path)).collect();
    tell(back, "files removed by an upper layer reappear", said);
    let changed = both.changed.iter().map(|id| both.old.node(*id).path()).filter(told);
    let changed = changed.map(|path| shown(&path)).collect();
    tell(changed, "files revert to a lower layer's version, or may differ", said);
}

/// Links that are missing although their target exists, and links with another target.
fn links(both: &Both<'_>, said: &mut Said) {
    let owners = &both.old.inventory.owners;
    let mut told: Vec<String> = Vec::new();
    for node in both.old.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
        let goes = match both.fate(node.id()) {
            Fate::Stays => continue,
            Fate::Changes => true,
            Fate::Goes => {
                let target = both.old.paths.lookup(&node.path());
                owners.of(node.id()).is_none() && target.is_some_and(|target| both.twin(target).is_some())
            }
        };
        let path = node.path();
        if goes && !Both::is_bookkeeping(&path) {
            told.push(shown(&path));
        }
    }
    if !told.is_empty() {
        let more = told.len().saturating_sub(PATHS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.truncate(PATHS);
        said.unproven
            .add(format!("symbolic links are missing or have another target: {}{more}", told.join(", ")));
    }
}

/// Folders with a different owner or mode, and missing empty ones: a program may write there.
fn folders(both: &Both<'_>, said: &mut Said) {
    let rights = |side: &super::side::Side<'_>, id: NodeId| {
        let node = side.node(id);
        let index = side.rootfs.layer(node.layer());
        // A folder without an entry belongs to root, as created on unpacking.
        node.entry().map_or((0o755, (0, 0)), |entry| (index.mode(entry), index.owner(entry)))
    };
    for node in both.old.rootfs.nodes().skip(1).filter(|node| node.kind() == NodeKind::Directory) {
        let path = || both.old.shown(node.id());
        match both.twin(node.id()) {
            Some(twin) => {
                let ((mode, owner), now) = (rights(&both.old, node.id()), rights(&both.new, twin));
                if (mode, owner) != now && both.new.node(twin).kind() == NodeKind::Directory {
                    said.unproven.say("folder rights", || {
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
                && both.twin(node.parent().id()).is_some()
                && !is_quiet(&node.path()) =>
            {
                said.unproven.say("empty folder", || format!("empty folder {} is left out", path()));
            }
            None => {}
        }
    }
}

/// Folders that services do not write to.
fn is_quiet(path: &[u8]) -> bool {
    const QUIET: [&[u8]; 6] = [b"/usr/", b"/lib", b"/bin", b"/sbin", b"/root/.cache", b"/var/cache/"];
    QUIET.iter().any(|start| path.starts_with(start)) || Both::is_bookkeeping(path)
}
