//! Collects what is known about a path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::folder::{below, folder};
use super::history::{kind_name, layer, versions};
use super::loading::{loading, object_of};
use super::path::PathName;
use super::without::Users;
use super::{SCHEMA, WhyFinding, WhyImage, WhyPackage, WhyReference, WhyReport};
use crate::analysis::{Analysis, Layer};
use crate::base::text::{escape, printable};
use crate::contents::{LookupError, find};
use crate::cuda::links::{ObjectId, Paths, file_name};
use crate::cuda::{Inode, Inventory};
use crate::findings::{Finding, Item};
use crate::layer::LayerIndex;
use crate::report::findings::user_name;
use crate::report::library::PackageName;
use crate::report::options::{GENERATOR, Options};
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs, Timeline, Version};
use crate::source::redacted;

/// Files whose text names the path, and users of a finding.
const MOST: usize = 50;
/// Statements of the proof of a finding.
const PROOF: usize = 20;

/// What the parts are made from.
struct Source<'a> {
    analysis: &'a Analysis,
    rootfs: &'a Rootfs,
    inventory: Option<&'a Inventory>,
    options: &'a Options,
    timeline: &'a Timeline,
}

impl WhyReport {
    /// Why a path is in the image, links not followed; `None` until the layers are merged. A path that an upper layer
    /// removed is explained by its last version.
    ///
    /// # Errors
    /// No layer has the path.
    pub fn new(analysis: &Analysis, path: &[u8], options: &Options) -> Option<Result<Self, LookupError>> {
        analysis.merge.as_ref()?;
        Self::with_timeline(analysis, &Self::timeline(analysis), path, options)
    }

    /// All versions of all paths, for several calls of [`Self::with_timeline`]. Layers that were not read have none.
    pub fn timeline(analysis: &Analysis) -> Timeline {
        let index =
            |layer: &Layer| layer.read.as_ref().map(|read| Arc::clone(&read.index)).unwrap_or_default();
        let indexes: Vec<Arc<LayerIndex>> = analysis.layers.iter().map(index).collect();
        Timeline::new(&indexes)
    }

    /// The same as [`Self::new`], with the versions of all paths.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_timeline(
        analysis: &Analysis,
        timeline: &Timeline,
        path: &[u8],
        options: &Options,
    ) -> Option<Result<Self, LookupError>> {
        let rootfs = &analysis.merge.as_ref()?.rootfs;
        let inventory = analysis.inventory.as_deref();
        let source = Source { analysis, rootfs, inventory, options, timeline };
        Some(match find(analysis, rootfs, path, false) {
            Ok(node) => Ok(source.visible(rootfs.node(node))),
            Err(error) => source.removed(path).ok_or(error),
        })
    }
}

impl Source<'_> {
    fn image(&self) -> WhyImage {
        let image = &self.analysis.image;
        WhyImage {
            reference: redacted(&image.reference),
            manifest_digest: image.manifest_digest.clone(),
            complete: self.analysis.totals().is_some_and(|totals| totals.complete),
        }
    }

    fn visible(&self, node: Node<'_>) -> WhyReport {
        let (rootfs, raw) = (self.rootfs, node.path());
        let is_folder = node.kind() == NodeKind::Directory;
        let nodes = below(rootfs, node.id());
        let names = if is_folder { Vec::new() } else { other_names(node, rootfs) };
        let link = node.index_entry().filter(|_| node.kind() == NodeKind::Symlink);
        let link = link.and_then(|(index, entry)| index.link(entry)).map(escape);
        let link_target = link.as_ref().and_then(|_| Paths::new(rootfs).lookup(&raw));
        let inodes: BTreeSet<Inode> = nodes.iter().filter_map(|id| rootfs.node(*id).content()).collect();
        let findings = self.findings(|item| {
            inodes.contains(&(item.layer, item.entry)) || (item.node.is_none() && self.is_within(item, &raw))
        });
        let objects = self.objects(node, &nodes);
        let references = self.references(node);
        let settings = self.settings(node);
        let path = self.timeline.find(&raw);
        let versions =
            path.map(|path| versions(self.analysis, self.timeline, path, self.options)).unwrap_or_default();
        let kept_elsewhere = !names.is_empty();
        let layer_bytes: u64 = if kept_elsewhere {
            0
        } else {
            inodes.iter().map(|inode| node.size_of(*inode)).fold(0, u64::saturating_add)
        };
        let users = Users {
            links: self.inventory.map(|inventory| (&inventory.links, rootfs)),
            objects: objects.clone(),
            target: link_target.map(|target| {
                let object = self.inventory.and_then(|found| object_of(&found.links, rootfs, target));
                (escape(&rootfs.node(target).path()), object)
            }),
            settings: &settings,
            references: &references,
            findings: &findings,
            name: node.name(),
            visible: true,
            complete: self.analysis.totals().is_some_and(|totals| totals.complete)
                && self.analysis.findings.is_some(),
            other_names: names.len(),
        };
        let merged = if kept_elsewhere { 0 } else { node.bytes() };
        let without = users.without(merged, layer_bytes);
        let own = if is_folder { None } else { objects.first().copied() };
        WhyReport {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            image: self.image(),
            path: PathName(raw),
            kind: kind_name(node.kind()).into(),
            visible: true,
            bytes: match node.kind() {
                NodeKind::File => node.content().map(|inode| node.size_of(inode)),
                NodeKind::Directory => Some(node.bytes()),
                _ => None,
            },
            files: u64::from(node.files()),
            link,
            link_target: link_target.map(|target| PathName(rootfs.node(target).path())),
            other_names: names,
            layer: node.entry().map(|_| {
                let number = node.content().map_or_else(|| node.layer(), |inode| inode.0);
                layer(self.analysis, number, self.options)
            }),
            versions,
            package: self.package(node),
            loading: self
                .inventory
                .zip(own)
                .map(|(inventory, id)| loading(&inventory.links, rootfs, id, self.copies(inventory, id))),
            settings,
            references,
            findings,
            without,
            folder: is_folder.then(|| folder(self.analysis, rootfs, &nodes)),
        }
    }

    /// A path that a layer has and the merged view has not.
    fn removed(&self, path: &[u8]) -> Option<WhyReport> {
        let id = self.timeline.find(path)?;
        let last: Version = self.timeline.versions(id).next_back()?;
        let raw = self.timeline.full_path(id);
        let findings = self.findings(|item| item.node.is_none() && self.is_within(item, &raw));
        let users = Users {
            links: None,
            objects: Vec::new(),
            target: None,
            settings: &[],
            references: &[],
            findings: &findings,
            name: raw.rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
            visible: false,
            complete: self.analysis.totals().is_some_and(|totals| totals.complete),
            other_names: 0,
        };
        let is_file = last.kind == NodeKind::File;
        let bytes = is_file.then(|| self.timeline.bytes(&last));
        let stored = self.timeline.versions(id).map(|version| self.timeline.bytes(&version));
        let without = users.without(0, stored.fold(0, u64::saturating_add));
        let index = self.timeline.layer(last.layer);
        let link = last.entry.filter(|_| last.kind == NodeKind::Symlink).and_then(|entry| index.link(entry));
        Some(WhyReport {
            schema: SCHEMA.into(),
            generator: GENERATOR,
            image: self.image(),
            path: PathName(raw),
            kind: kind_name(last.kind).into(),
            visible: false,
            bytes,
            files: u64::from(is_file),
            link: link.map(escape),
            link_target: None,
            other_names: Vec::new(),
            layer: last.entry.map(|_| layer(self.analysis, last.layer, self.options)),
            versions: versions(self.analysis, self.timeline, id, self.options),
            package: None,
            loading: None,
            settings: Vec::new(),
            references: Vec::new(),
            findings,
            without,
            folder: None,
        })
    }

    /// Whether a file that no container sees is at or below a path.
    fn is_within(&self, item: &Item, path: &[u8]) -> bool {
        let full = self.rootfs.layer(item.layer).path(item.entry);
        let rest = if path == b"/" { Some(&full[..]) } else { full.strip_prefix(path) };
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    fn package(&self, node: Node<'_>) -> Option<WhyPackage> {
        let inventory = self.inventory?;
        let package = inventory.packages.get(inventory.owners.of(node.id())?)?;
        Some(WhyPackage {
            name: PackageName {
                manager: package.manager.into(),
                name: package.name.clone(),
                version: package.version.clone(),
            },
            layer: package.layer,
            files: package.files,
            bytes: package.bytes,
            automatic: package.automatic.map(Into::into),
        })
    }

    /// Programs and libraries at or below a node.
    fn objects(&self, node: Node<'_>, nodes: &BTreeSet<NodeId>) -> Vec<ObjectId> {
        let Some(inventory) = self.inventory else { return Vec::new() };
        if node.kind() != NodeKind::Directory {
            return object_of(&inventory.links, self.rootfs, node.id()).into_iter().collect();
        }
        let links = &inventory.links;
        links.ids().filter(|id| nodes.contains(&links.object(*id).node)).collect()
    }

    /// Other libraries with the soname of an object.
    fn copies(&self, inventory: &Inventory, id: ObjectId) -> Vec<PathName> {
        let place = inventory.libraries.iter().position(|library| library.object == id);
        let same = place.and_then(|place| {
            let duplicate = inventory.duplicates.iter().find(|one| one.libraries.contains(&place))?;
            Some((place, duplicate))
        });
        let Some((place, duplicate)) = same else { return Vec::new() };
        let others = duplicate.libraries.iter().filter(|other| **other != place);
        let path = |library: &usize| {
            Some(PathName(self.rootfs.node(inventory.libraries.get(*library)?.node).path()))
        };
        others.filter_map(path).collect()
    }

    /// Files of the application that name a file.
    fn references(&self, node: Node<'_>) -> Vec<WhyReference> {
        let Some(inventory) = self.inventory.filter(|_| node.kind() != NodeKind::Directory) else {
            return Vec::new();
        };
        let name = escape(node.name());
        let object = object_of(&inventory.links, self.rootfs, node.id());
        let soname = object
            .and_then(|id| inventory.libraries.iter().find(|library| library.object == id)?.soname.clone());
        let is_it = |text: &str| text == name || soname.as_deref() == Some(text);
        let mut found: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        for reference in inventory.mentions.iter().filter(|reference| reference.node != node.id()) {
            let libraries = reference.libraries.iter().map(String::as_str);
            let names: Vec<String> = libraries
                .chain(reference.words.iter().copied())
                .filter(|text| is_it(text))
                .map(printable)
                .collect();
            if !names.is_empty() {
                found.insert(reference.node, names);
            }
        }
        let line = |(node, names): (NodeId, Vec<String>)| WhyReference {
            path: PathName(self.rootfs.node(node).path()),
            names,
        };
        found.into_iter().take(MOST).map(line).collect()
    }

    /// Settings whose words lead to a node or, for folders, below it.
    fn settings(&self, node: Node<'_>) -> Vec<String> {
        let Some(config) = self.analysis.image.run_config().filter(|_| node.id() != NodeId::ROOT) else {
            return Vec::new();
        };
        let paths = Paths::new(self.rootfs);
        let work = config.working_dir().as_deref().filter(|dir| !dir.is_empty()).unwrap_or("/");
        let work = paths.lookup(work.as_bytes()).unwrap_or(NodeId::ROOT);
        // A link that leads to the file is as necessary as the file.
        let own = paths.lookup(&node.path());
        let search: Vec<NodeId> = self
            .analysis
            .image
            .search_path()
            .split(':')
            .filter_map(|dir| paths.lookup(dir.as_bytes()))
            .collect();
        let is_it = |found: NodeId| Some(found) == own || found == node.id() || self.is_above(node, found);
        let leads = |word: &str, program: bool| {
            let by_path = || search.iter().find_map(|dir| paths.lookup_from(*dir, word.as_bytes()));
            let found = if program && !word.contains('/') {
                by_path()
            } else {
                paths.lookup_from(work, word.as_bytes())
            };
            found.is_some_and(is_it)
        };
        let mut named = Vec::new();
        let mut program = true;
        for (name, words) in [("ENTRYPOINT", config.entrypoint()), ("CMD", config.cmd())] {
            let words = words.as_deref().unwrap_or_default();
            for word in words {
                // Commands in shell form are one word.
                let parts = word.split(|c: char| c.is_whitespace() || "'\"();&|".contains(c));
                let mut hit = false;
                for part in parts.filter(|part| !part.is_empty()) {
                    hit |= leads(part, std::mem::replace(&mut program, false));
                }
                if hit && !named.iter().any(|known| known == name) {
                    named.push(name.to_owned());
                }
            }
        }
        if config.working_dir().as_deref().is_some_and(|dir| paths.lookup(dir.as_bytes()).is_some_and(is_it))
        {
            named.push("WORKDIR".to_owned());
        }
        for pair in self.analysis.image.environment() {
            let Some((name, value)) = pair.split_once('=') else { continue };
            let hit = value.split(':').filter(|part| part.starts_with('/')).any(|part| {
                // Search paths name folders of which many are not used: only the folder itself counts.
                paths.lookup(part.as_bytes()).is_some_and(|found| found == node.id() || Some(found) == own)
            });
            if hit {
                named.push(format!("ENV {}", printable(name)));
            }
        }
        named
    }

    /// Whether a folder is above a node.
    fn is_above(&self, folder: Node<'_>, node: NodeId) -> bool {
        let mut at = self.rootfs.node(node);
        while at.id() != NodeId::ROOT {
            at = at.parent();
            if at.id() == folder.id() {
                return true;
            }
        }
        false
    }

    fn findings(&self, is_part: impl Fn(&Item) -> bool) -> Vec<WhyFinding> {
        let Some(findings) = self.analysis.findings.as_deref() else { return Vec::new() };
        let part = |finding: &Finding| {
            let mut sum = (0_u64, 0_u64);
            for item in finding.items.iter().filter(|item| is_part(item)) {
                sum = (sum.0 + 1, sum.1.saturating_add(item.bytes));
            }
            (sum.0 > 0).then_some(sum)
        };
        let mut lines: Vec<WhyFinding> = findings
            .list
            .iter()
            .filter_map(|finding| Some((finding, part(finding)?)))
            .map(|(finding, (files, bytes))| WhyFinding {
                id: finding.id.clone(),
                rule: finding.rule.id.into(),
                title: printable(&finding.title),
                verdict: finding.verdict.as_str().into(),
                category: finding.category.as_str().into(),
                files,
                bytes,
                finding_bytes: finding.bytes,
                shadowed: finding.items.iter().filter(|item| is_part(item)).all(|item| item.node.is_none()),
                reason: printable(&finding.reason),
                question: finding.question.as_deref().map(printable),
                proof: finding.proof.iter().take(PROOF).map(|text| printable(text)).collect(),
                used_by: finding
                    .users
                    .iter()
                    .take(MOST)
                    .map(|user| printable(&user_name(self.analysis, self.rootfs, user)))
                    .collect(),
            })
            .collect();
        lines.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.id.cmp(&b.id)));
        lines
    }
}

/// Further names of a file, sorted.
fn other_names(node: Node<'_>, rootfs: &Rootfs) -> Vec<PathName> {
    let Some((layer, entry)) = node.content() else { return Vec::new() };
    let others = rootfs.all_names(layer, entry).filter(|name| *name != node.id());
    let mut names: Vec<PathName> = others.map(|name| PathName(rootfs.node(name).path())).collect();
    names.sort_unstable();
    names
}

/// The last part of a path, escaped.
pub(super) fn shown_name(path: &PathName) -> String {
    match file_name(&path.0) {
        b"" => "/".to_owned(),
        name => escape(name),
    }
}
