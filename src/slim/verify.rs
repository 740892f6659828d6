//! Opens the written image with the ordinary reader and compares it with what was predicted.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::SlimError;
use super::compare::{Difference, Inode, compare};
use super::documents::WrittenLayer;
use super::selection::Selection;
use super::write::Hashes;
use crate::analysis::{Analysis, Depth, Options, analyze};
use crate::base::text::escape;
use crate::cuda::links::{DEFAULT_PATH, ObjectId, Paths, Resolution};
use crate::formats::binary::FileFacts;
use crate::jobs::{CancelToken, Progress};
use crate::layer::ContentHash;
use crate::rootfs::NodeId;
use crate::source::{Access, Reference};

/// What was proven by opening the written image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Paths of the merged view that were compared.
    pub paths: u64,
    /// Dependencies of programs and libraries that resolve as before.
    pub links: u64,
    /// Dependencies that no longer resolve, if that was accepted.
    pub lost: Vec<String>,
}

/// Opens `reference` and compares it with the image of `selection`.
#[allow(clippy::too_many_arguments, reason = "everything that was known before writing")]
pub(super) fn verify(
    before: &Analysis,
    selection: &Selection,
    layers: &[WrittenLayer],
    hashes: &Hashes,
    force: bool,
    reference: &str,
    opened: &Options,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<Verified, SlimError> {
    let differs = |path: &str, what: String| SlimError::Differs { path: path.to_owned(), what };
    let image = |what: String| differs("the image", what);
    // Every byte is read from the destination, and nothing of it is stored here.
    let options = Options {
        platform: before.image.platform.clone().or_else(|| opened.platform.clone()),
        verify: true,
        cache: None,
        depth: Depth::Full,
        access: Access { blobs: None, ..opened.access.clone() },
        ..opened.clone()
    };
    let parsed = Reference::parse(reference).map_err(|error| image(error.to_string()))?;
    // Counted apart: the progress of writing is complete.
    let scratch = Progress::default();
    progress.tell("Comparing the written image");
    let after = analyze(&parsed, &options, cancel, &scratch, &|_| {}).map_err(|error| {
        if error.is_cancelled() { SlimError::Cancelled } else { image(error.to_string()) }
    })?;
    if !after.image.intact {
        return Err(image("its manifest or config is damaged".to_owned()));
    }
    if after.layers.len() != layers.len() {
        return Err(image(format!("it has {} layers, not {}", after.layers.len(), layers.len())));
    }
    for (number, (found, written)) in after.layers.iter().zip(layers).enumerate() {
        let read = found.read.as_ref().filter(|_| found.is_complete());
        let diff_id = read.and_then(|read| read.diff_id.as_deref());
        if diff_id != Some(written.diff_id.as_ref()) {
            return Err(differs(
                &format!("layer {number}"),
                "it cannot be read back as it was written".to_owned(),
            ));
        }
    }
    let (Some(was), Some(is)) = (&before.merge, &after.merge) else {
        return Err(image("its layers were not merged".to_owned()));
    };
    let kept: Vec<usize> =
        selection.written().filter(|one| one.is_kept()).map(|one| one.layers.start).collect();
    let content = |analysis: &Analysis, (layer, entry): Inode| -> Option<ContentHash> {
        analysis.layers.get(usize::from(layer))?.read.as_ref()?.facts.hash(entry).copied()
    };
    let mut same = |one: Inode, other: Inode| {
        // The digest of an untouched layer proves its files.
        if kept.contains(&usize::from(one.0)) {
            return true;
        }
        let index = after.layers.get(usize::from(other.0)).and_then(|layer| layer.read.as_ref());
        let Some(index) = index.map(|read| &read.index) else { return false };
        let expected = hashes.get(&one).copied().or_else(|| content(before, one));
        match (expected, content(&after, other)) {
            (Some(expected), Some(found)) => expected == found,
            // Sparse files have no hash, and neither have empty ones; the digest of the layer proves them.
            (_, None) => index.size(other.1) == 0 || index.body_at(other.1).is_none(),
            (None, Some(_)) => false,
        }
    };
    compare(&was.rootfs, &selection.gone, &selection.new_sizes(), &is.rootfs, &mut same)
        .map_err(|Difference { path, what }| differs(&path, what))?;
    let mut verified = Verified { paths: is.rootfs.len() as u64, ..Verified::default() };
    let lost = links(before, selection, &after, &mut verified).into_iter().chain(programs(before, &after));
    for (path, what) in lost {
        if !force {
            return Err(differs(&path, what));
        }
        verified.lost.push(format!("{path}: {what}"));
    }
    Ok(verified)
}

type Lost = (String, String);

/// Names that resolved before and do not now.
fn links(before: &Analysis, selection: &Selection, after: &Analysis, verified: &mut Verified) -> Vec<Lost> {
    let (Some(old), Some(new)) = (&before.inventory, &after.inventory) else { return Vec::new() };
    let (Some(was), Some(is)) = (&before.merge, &after.merge) else { return Vec::new() };
    let by_path: HashMap<Vec<u8>, ObjectId> =
        new.links.ids().map(|id| (is.rootfs.node(new.links.object(id).node).path(), id)).collect();
    let mut lost = Vec::new();
    let missing = |found: Option<&Resolution>| found == Some(&Resolution::Missing);
    for object in
        old.links.ids().map(|id| old.links.object(id)).filter(|object| !selection.gone.has(object.node.0))
    {
        let path = was.rootfs.node(object.node).path();
        let Some(now) = by_path.get(&path).map(|id| new.links.object(*id)) else { continue };
        let path = escape(&path);
        for (need, now) in object.needs.iter().zip(&now.needs) {
            if need.found.is_empty() || missing(need.found.first()) {
                continue;
            }
            // The first process is that of the strongest root: the command, if it loads this.
            if missing(now.found.first()) {
                lost.push((path.clone(), format!("it needs {}, which is no longer found", need.name)));
            } else {
                verified.links += 1;
            }
        }
        for open in object.opens.iter().filter(|open| !open.optional && open.found != Resolution::Missing) {
            let again = now.opens.iter().find(|now| now.name == open.name && now.source == open.source);
            match again.map(|now| &now.found) {
                Some(Resolution::Missing) => {
                    lost.push((path.clone(), format!("it opens {}, which is no longer found", open.name)));
                }
                Some(_) => verified.links += 1,
                None => {}
            }
        }
    }
    lost
}

/// The command, and the interpreters of programs and scripts, that were there before and are not now.
fn programs(before: &Analysis, after: &Analysis) -> Vec<Lost> {
    let (Some(was), Some(is)) = (&before.merge, &after.merge) else { return Vec::new() };
    let (old, new) = (Paths::new(&was.rootfs), Paths::new(&is.rootfs));
    let mut lost = Vec::new();
    let config = before.image.config.as_ref().and_then(|config| config.config().as_ref());
    let first = |words: &Option<Vec<String>>| words.as_ref().and_then(|words| words.first()).cloned();
    let commands =
        config.into_iter().flat_map(|config| [first(config.entrypoint()), first(config.cmd())]).flatten();
    let env = config.and_then(|config| config.env().as_ref());
    let search = env.into_iter().flatten().rev().find_map(|pair| pair.strip_prefix("PATH="));
    let folders: Vec<&[u8]> = match search {
        Some(folders) => folders.as_bytes().split(|byte| *byte == b':').collect(),
        None => DEFAULT_PATH.into_iter().collect(),
    };
    let work = config.and_then(|config| config.working_dir().as_ref());
    let find = |paths: &Paths<'_>, name: &[u8]| -> Option<NodeId> {
        if name.contains(&b'/') {
            let folder = work.and_then(|work| paths.lookup(work.as_bytes())).unwrap_or(NodeId::ROOT);
            return paths.lookup_from(folder, name);
        }
        folders.iter().find_map(|folder| paths.lookup(&[folder, b"/".as_slice(), name].concat()))
    };
    let mut needed: BTreeSet<Vec<u8>> = BTreeSet::new();
    for command in commands {
        let found = find(&new, command.as_bytes());
        if found.is_none() && find(&old, command.as_bytes()).is_some() {
            lost.push((escape(command.as_bytes()), "the command is no longer there".to_owned()));
        }
        let script = found.and_then(|node| new.inode(node)).and_then(|(layer, entry)| {
            let line = after.layers.get(usize::from(layer))?.read.as_ref()?.facts.script(entry)?;
            line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())
        });
        needed.extend(script.map(<[u8]>::to_vec));
    }
    for layer in after.layers.iter().filter_map(|layer| layer.read.as_deref()) {
        for (_, facts) in layer.facts.binaries() {
            if let FileFacts::Elf(elf) = facts {
                needed.extend(elf.interpreter.clone());
            }
        }
    }
    for path in needed {
        if old.lookup(&path).is_some() && new.lookup(&path).is_none() {
            lost.push((
                escape(&path),
                "a program needs this interpreter, which is no longer there".to_owned(),
            ));
        }
    }
    lost
}
