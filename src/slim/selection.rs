//! Which entries of which layer stay, and what becomes of each layer. Pure: a dry run and the window use it too.
//!
//! - A file that the plan removes goes with all of its names. A path that an upper layer replaced or removed goes from
//!   the lower layers, so nothing older reappears. Folders of the merged view stay.
//! - A layer that would lose no byte is left alone, with its names that have no effect. Whiteouts go where nothing
//!   below needs them.
//! - A hard link whose target goes takes over the content: the member is written where the target is, under the name
//!   of the link. Links across layers keep their target.
//! - Entries without effect (a name twice in one layer, a path out of the root, a link to nothing) stay as they are.
//!
//! Before anything is written, the layers that result are merged, and the merged view must be that of the image
//! without the removed files.

mod draft;
mod ghosts;
mod outputs;
mod predict;
mod sizes;

use std::collections::BTreeMap;

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use self::draft::Draft;
pub(super) use self::outputs::named;
use self::outputs::{action, outputs, readable};
use super::bits::Bits;
use super::compare::{Difference, Inode, compare};
use super::forgotten::{ForgottenPackage, Rest, forget};
use super::platforms::{OtherPlatform, others};
use super::pruned::Pruned;
use super::replacement::Replacement;
use super::{SlimError, SlimOptions};
use crate::analysis::Analysis;
use crate::base::Limits;
use crate::base::text::escape;
use crate::base::words::words;
use crate::findings::Plan;
use crate::formats::tar::edit::Facts;
use crate::layer::{EntryId, LayerIndex};
use crate::rootfs::{Merge, merge};

/// What becomes of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its blob stays byte for byte.
    Kept,
    /// It loses entries.
    Rewritten,
    /// Nothing of it is left.
    Dropped,
    /// It becomes one layer with its neighbours.
    Merged,
}

words!(Action {
    Kept = "kept",
    Rewritten = "rewritten",
    Dropped = "dropped",
    Merged = "merged",
});

/// One layer of the image, as it is and as it will be.
#[derive(Clone, Debug)]
pub struct SelectedLayer {
    /// What becomes of it.
    pub action: Action,
    /// Regular files that it loses.
    pub removed_files: u64,
    /// Bytes of these files.
    pub removed_bytes: u64,
    /// Bytes that files which stay lose.
    pub pruned_bytes: u64,
    /// Bytes of its blob, as stored; `None` if unknown.
    pub compressed_bytes: Option<u64>,
    /// Expected bytes of what is left of it.
    pub compressed_bytes_after: Option<u64>,
}

/// Layers that become one, or one layer.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) layers: Range<usize>,
    pub(super) action: Action,
}

impl Output {
    pub(super) fn is_kept(&self) -> bool {
        self.action == Action::Kept
    }
}

/// What changes in an entry that stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    /// Another path, absolute.
    pub(super) path: Option<Vec<u8>>,
    /// Another target of a hard link, absolute.
    pub(super) link: Option<Vec<u8>>,
    pub(super) facts: Option<Facts>,
    /// Another content.
    pub(super) content: Option<Arc<Replacement>>,
}

impl Change {
    fn is_none(&self) -> bool {
        self.path.is_none() && self.link.is_none() && self.facts.is_none() && self.content.is_none()
    }
}

/// What happens to an entry.
pub(super) enum Step<'a> {
    Leave,
    Keep,
    Change(&'a Change),
}

/// Sizes of an image, as in reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the blobs; `None` if unknown. An estimate before the image is written.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Bytes of the regular files of the merged view, each once.
    pub merged_bytes: u64,
}

/// A path of a file that the plan removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The path, escaped.
    pub path: String,
    /// Bytes of the file; 0 for its further names.
    pub bytes: u64,
    /// The layer that has it.
    pub layer: u16,
    /// Whether an upper layer deletes or replaces it.
    pub shadowed: bool,
    /// Id of the finding; [`FORGET`] for a file of a package database.
    pub finding: String,
}

/// What stands for a finding at the files of forgotten packages in a package database.
pub const FORGET: &str = "forget-packages";

/// The entries that stay.
#[derive(Clone, Debug)]
pub struct Selection {
    /// By layer, bottom first.
    pub layers: Vec<SelectedLayer>,
    /// Sizes of the image.
    pub before: Sizes,
    /// Sizes of the result; `compressed_bytes` is an estimate.
    pub after: Sizes,
    /// Ids of the findings that are removed.
    pub findings: Vec<String>,
    /// Number of the lowest layers that are left alone for other images on the node.
    pub base_layers: usize,
    /// Bytes in them that would otherwise go.
    pub base_bytes: u64,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Packages that the databases of the result do not list, by manager and name.
    pub forgotten: Vec<ForgottenPackage>,
    /// The images for other platforms that are carried over.
    pub platforms: Vec<OtherPlatform>,
    /// GPU code that is taken out; `None` if none is.
    pub pruned: Option<Pruned>,
    pub(super) outputs: Vec<Output>,
    /// Files that are removed, with the number of the finding; without one they are of forgotten packages.
    items: Vec<(u16, EntryId, Option<u32>)>,
    /// Nodes of the merged view that are removed.
    pub(super) gone: Bits,
    kept: Vec<Bits>,
    changes: Vec<BTreeMap<EntryId, Change>>,
}

impl Selection {
    /// What a plan leaves of an image.
    ///
    /// # Errors
    /// The image was not read completely, or the result would not be the image without the removed files.
    pub fn new(analysis: &Analysis, plan: &Plan, options: &SlimOptions) -> Result<Self, SlimError> {
        let (Some(before), Some(findings)) = (&analysis.merge, &analysis.findings) else {
            return Err(SlimError::refused("the image", "it was not analysed completely"));
        };
        let layers = readable(analysis)?;
        let known = analysis.inventory.as_ref().and_then(|inventory| inventory.base.as_ref());
        let mut warnings = Vec::new();
        let mut base = 0;
        if options.keep_base {
            base = known.map_or(0, |base| base.layers.min(layers.len()));
            if base == 0 {
                warnings.push("no base image is recognised; no layer is left alone for it".to_owned());
            }
        }
        let mut outputs = outputs(layers.len(), options.squash_from.map(|from| from.max(base)));
        let none = || layers.iter().map(|layer| Bits::none(layer.len())).collect::<Vec<_>>();
        let nothing = none();
        // Without removals first: they depend on what other layers have at the same path.
        let draft = Draft::new(&layers, &outputs, base, &nothing);
        let mut gone = none();
        let mut nodes = Bits::none(before.rootfs.len());
        let (mut items, mut base_bytes, mut base_files) = (Vec::new(), 0_u64, 0_u64);
        for (number, finding) in findings.list.iter().enumerate().filter(|(_, one)| plan.contains(&one.id)) {
            for item in &finding.items {
                let names = draft.all_names((item.layer, item.entry));
                let in_base = |name: &(u16, EntryId)| usize::from(name.0) < base || draft.is_over_base(*name);
                if base > 0 && names.iter().any(in_base) {
                    if item.node.is_some() {
                        base_bytes = base_bytes.saturating_add(item.bytes);
                        base_files += 1;
                    }
                    continue;
                }
                items.push((item.layer, item.entry, Some(crate::base::convert::index32(number))));
                for name in &names {
                    gone[usize::from(name.0)].set(name.1.0, true);
                }
                for node in before.rootfs.all_names(item.layer, item.entry) {
                    nodes.set(node.0, true);
                }
            }
        }
        let is_base = |inode: Inode| usize::from(inode.0) < base;
        let is_over_base = |inode: Inode| is_base(inode) || (base > 0 && draft.is_over_base(inode));
        let rest = Rest { gone: &nodes, is_base: &is_base, is_over_base: &is_over_base };
        let forgotten = forget(analysis, before, &rest).if_asked(options.forget_packages);
        let files = forgotten.remove(&before.rootfs, &mut gone, &mut nodes);
        items.extend(files.into_iter().map(|(layer, entry)| (layer, entry, None)));
        warnings.extend(forgotten.notes);
        let platforms = others(&analysis.image, options, &mut warnings);
        drop(draft);
        let draft = Draft::new(&layers, &outputs, base, &gone);
        let mut chosen = draft.choose().map_err(|layer| {
            let reason = "a file that the result must not show cannot be removed from it";
            SlimError::refused(named(analysis, usize::from(layer)), reason)
        })?;
        drop(draft);
        for hidden in before.rootfs.hidden().iter().filter(|hidden| usize::from(hidden.layer) < base) {
            base_bytes = base_bytes.saturating_add(before.rootfs.layer(hidden.layer).size(hidden.entry));
            base_files += 1;
        }
        if base_files > 0 {
            warnings.push(format!(
                "the layers of the base image keep {base_files} files of {} that would otherwise go",
                crate::base::size::human(base_bytes)
            ));
        }
        for ((layer, entry), content) in forgotten.contents {
            chosen.changes[usize::from(layer)].entry(entry).or_default().content = Some(content);
        }
        for output in &mut outputs {
            output.action = action(output, &layers, &chosen.kept, &chosen.changes, analysis);
        }
        let totals = analysis.totals();
        let sizes = Sizes {
            compressed_bytes: totals.and_then(|totals| totals.compressed_bytes),
            content_bytes: totals.map_or(0, |totals| totals.content_bytes),
            merged_bytes: before.merged_bytes,
        };
        let mut selection = Self {
            layers: Vec::new(),
            before: sizes,
            after: sizes,
            findings: plan.ids(findings).into_iter().map(str::to_owned).collect(),
            base_layers: base,
            base_bytes,
            warnings,
            forgotten: forgotten.packages,
            platforms,
            pruned: None,
            outputs,
            items,
            gone: nodes,
            kept: chosen.kept,
            changes: chosen.changes,
        };
        selection.count(analysis, &layers);
        selection.check(before, &layers)?;
        Ok(selection)
    }

    /// Takes GPU code out of files that stay, and decides again what becomes of the layers.
    ///
    /// # Errors
    /// The result would not be the image with these changes.
    pub(super) fn prune(&mut self, analysis: &Analysis, pruned: Pruned) -> Result<(), SlimError> {
        for file in &pruned.files {
            if let Some(changes) = self.changes.get_mut(usize::from(file.layer)) {
                changes.entry(file.entry).or_default().content = Some(Arc::clone(&file.content));
            }
        }
        self.pruned = Some(pruned);
        self.decide(analysis)
    }

    /// Leaves a file as it was; returns its path.
    ///
    /// # Errors
    /// The result would not be the image with the other changes.
    pub(super) fn leave_whole(
        &mut self,
        analysis: &Analysis,
        (layer, entry): Inode,
    ) -> Result<Option<Vec<u8>>, SlimError> {
        let files = self.pruned.as_mut().map(|pruned| &mut pruned.files);
        let file = files.and_then(|files| {
            let place = files.iter().position(|file| (file.layer, file.entry) == (layer, entry))?;
            Some(files.remove(place))
        });
        if let Some(changes) = self.changes.get_mut(usize::from(layer))
            && let Some(change) = changes.get_mut(&entry)
        {
            change.content = None;
            if change.is_none() {
                changes.remove(&entry);
            }
        }
        self.decide(analysis)?;
        Ok(file.map(|file| file.path))
    }

    /// Decides again what becomes of the layers.
    fn decide(&mut self, analysis: &Analysis) -> Result<(), SlimError> {
        let Some(before) = &analysis.merge else {
            return Err(SlimError::refused("the image", "it was not analysed completely"));
        };
        let layers = readable(analysis)?;
        for output in &mut self.outputs {
            output.action = action(output, &layers, &self.kept, &self.changes, analysis);
        }
        self.count(analysis, &layers);
        self.check(before, &layers)
    }

    /// Sizes of files with new contents.
    pub(super) fn new_sizes(&self) -> HashMap<Inode, u64> {
        let all = self.changes.iter().enumerate().flat_map(|(layer, changes)| {
            let layer = crate::base::convert::layer16(layer);
            changes.iter().filter_map(move |(entry, change)| {
                Some(((layer, *entry), change.content.as_ref()?.pieces.len()))
            })
        });
        all.collect()
    }

    /// The files that are removed, by layer and entry, with all of their names.
    pub fn removed<'a>(&'a self, analysis: &'a Analysis) -> impl Iterator<Item = Removed> + 'a {
        let rootfs = analysis.merge.as_ref().map(|merge| &merge.rootfs);
        let findings = analysis.findings.as_deref().map_or(&[][..], |findings| &findings.list);
        let files = self.items.iter().filter_map(move |(layer, entry, finding)| {
            let rootfs = rootfs?;
            let finding = match finding {
                Some(number) => findings.get(*number as usize)?.id.as_str(),
                None => FORGET,
            };
            let mut nodes: Vec<_> =
                rootfs.all_names(*layer, *entry).map(|node| rootfs.node(node).path()).collect();
            nodes.sort();
            let shadowed = nodes.is_empty();
            if shadowed {
                nodes.push(rootfs.layer(*layer).path(*entry));
            }
            let size = rootfs.layer(*layer).size(*entry);
            Some(nodes.into_iter().enumerate().map(move |(place, path)| Removed {
                path: escape(&path),
                bytes: if place == 0 { size } else { 0 },
                layer: *layer,
                shadowed,
                finding: finding.to_owned(),
            }))
        });
        files.flatten()
    }

    /// Whether the result is the image as it is.
    pub fn is_unchanged(&self) -> bool {
        self.outputs.iter().all(Output::is_kept)
    }

    /// The outputs that are layers of the result.
    pub(super) fn written(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| output.action != Action::Dropped)
    }

    pub(super) fn step(&self, layer: usize, entry: EntryId) -> Step<'_> {
        if !self.kept.get(layer).is_some_and(|kept| kept.has(entry.0)) {
            return Step::Leave;
        }
        match self.changes.get(layer).and_then(|changes| changes.get(&entry)) {
            Some(change) => Step::Change(change),
            None => Step::Keep,
        }
    }

    /// How many entries of a layer stay.
    pub(super) fn entries(&self, layer: usize) -> usize {
        self.kept.get(layer).map_or(0, Bits::count)
    }

    /// Compares the merged view of the result with that of the image.
    fn check(&mut self, before: &Merge, layers: &[Arc<LayerIndex>]) -> Result<(), SlimError> {
        let unsound = |reason: String| SlimError::refused("the layers of the result", reason);
        let predicted =
            predict::predict(self, layers, &Limits::default()).map_err(|full| unsound(full.to_string()))?;
        self.after.content_bytes = predicted.iter().map(|layer| layer.counts().content_bytes).sum();
        let after = merge(&predicted, &[], 0);
        self.after.merged_bytes = after.merged_bytes;
        compare(&before.rootfs, &self.gone, &self.new_sizes(), &after.rootfs, &mut |_, _| true)
            .map_err(|Difference { path, what }| unsound(format!("{path}: {what}")))
    }
}
