//! Libraries opened at run time, from the dlopen table.

use std::collections::BTreeSet;

use std::rc::Rc;

use hashbrown::HashSet;

use super::OpenRule;
use super::names::{NameId, NumberMap};
use super::paths::site_root;
use super::process::{Fallback, OpenedFile, Process};
use super::record::Opened;
use super::resolver_state::Step;
use super::roots::RootEntry;
use super::usage::Run;
use crate::cuda::Use;
use crate::formats::glob::glob_match;
use crate::rootfs::NodeId;

/// Maximum number of files that match one pattern of the dlopen table; real ones match a few dozen.
const MATCHES: usize = 256;
/// Maximum number of folders that match one pattern for packages' libraries.
const PRELOAD_FOLDERS: usize = 256;

impl Run<'_, '_> {
    /// Opens the names of a rule in a process.
    pub(super) fn apply(
        &mut self,
        process: &mut Process,
        caller: usize,
        rule: &OpenRule,
        root: &RootEntry,
        owner: usize,
    ) {
        let object = process.loaded[caller].place.object;
        let site = match site_root(&self.state.binary(object).path) {
            Some((site, _)) => Some(self.state.names.id(site)),
            None => root.package.map(|package| package.0),
        };
        // The opener's own folder, and the packages' library folders: searched before the loader's search
        // path if the opener passes full paths, otherwise after it.
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if rule.same_folder {
            before.push(process.loaded[caller].place.folder);
            before.push(self.state.paths.parent(self.state.binary(object).node));
        }
        if let Some(site) = site {
            let list = if rule.packages_first { &mut before } else { &mut after };
            list.extend(self.site_folders(site).iter());
        }
        for name in &rule.names {
            for name in self.concrete(process, caller, name.as_bytes(), &before, &after) {
                if self.state.exhausted() {
                    return;
                }
                let id = self.state.names.id(&name);
                let found = self
                    .in_table(process, &before, id, &rule.source)
                    .or_else(|| process.find(&mut self.state, caller, id))
                    .or_else(|| self.in_table(process, &after, id, &rule.source));
                if let Some(place) = found {
                    let (first, done) = (process.loaded.len(), process.resolved.len());
                    process.open(&self.state, caller, id, place);
                    process.run(&mut self.state);
                    self.record.resolutions(process.resolved[done..].iter());
                    self.record.mapped(process, first, owner, Use::Dlopen);
                }
                let found = found.map(|place| (place.object, place.step));
                let (optional, source) = (rule.optional, rule.source.clone());
                self.record.opened(object, Opened { name, found, optional, source });
            }
        }
    }

    fn in_table(
        &mut self,
        process: &Process,
        folders: &[NodeId],
        name: NameId,
        source: &str,
    ) -> Option<OpenedFile> {
        let folder_and_object = folders.iter().find_map(|folder| {
            let object = self.state.object_in(*folder, name)?;
            process.takes(&self.state, object).then_some((*folder, object))
        });
        let (folder, object) = folder_and_object?;
        Some(OpenedFile { object, folder, step: Step::Table(self.state.names.id(source.as_bytes())) })
    }

    /// Names that match a pattern among the files of the searched folders; the pattern itself if no file
    /// matches or if it contains no `*`. If files in the preferred folders match, the others are not
    /// searched.
    fn concrete(
        &mut self,
        process: &Process,
        caller: usize,
        name: &[u8],
        before: &[NodeId],
        after: &[NodeId],
    ) -> Vec<Vec<u8>> {
        if !name.contains(&b'*') {
            return vec![name.to_vec()];
        }
        let mut names = self.fitting(name, before.iter().copied());
        if names.is_empty() {
            let folders = process.folders(&mut self.state, caller);
            names = self.fitting(name, folders.into_iter().chain(after.iter().copied()));
        }
        if names.is_empty() {
            names.insert(name.to_vec());
        }
        names.into_iter().take(MATCHES).collect()
    }

    /// Names of the files in `folders` that match a pattern.
    fn fitting(&mut self, name: &[u8], folders: impl Iterator<Item = NodeId>) -> BTreeSet<Vec<u8>> {
        let mut seen = HashSet::new();
        let mut names = BTreeSet::new();
        for folder in folders {
            if !seen.insert(folder) || names.len() >= MATCHES || self.state.exhausted() {
                continue;
            }
            for child in self.state.paths.rootfs().node(folder).children() {
                self.state.steps_left = self.state.steps_left.saturating_sub(1);
                if glob_match(name, child.name()) {
                    names.insert(child.name().to_vec());
                }
            }
        }
        names
    }

    /// Folders below a packages folder with libraries for other packages.
    fn site_folders(&mut self, site: NameId) -> Rc<[NodeId]> {
        if let Some(known) = self.site_folders.get(&site) {
            return Rc::clone(known);
        }
        let paths = self.state.paths;
        let mut found = Vec::new();
        for pattern in &self.preload_folders {
            let mut folders: Vec<NodeId> = paths.lookup(self.state.names.get(site)).into_iter().collect();
            for part in pattern.as_bytes().split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
                let mut next = Vec::new();
                for folder in folders {
                    if part.contains(&b'*') {
                        let names =
                            paths.children(folder).into_iter().map(|id| paths.rootfs().node(id).name());
                        let fitting = names.filter(|name| glob_match(part, name));
                        next.extend(fitting.filter_map(|name| paths.folder_from(folder, name)));
                    } else {
                        next.extend(paths.folder_from(folder, part));
                    }
                    next.truncate(PRELOAD_FOLDERS);
                }
                folders = next;
            }
            found.extend(folders);
        }
        let found: Rc<[NodeId]> = found.into();
        self.site_folders.insert(site, Rc::clone(&found));
        found
    }

    /// Libraries that a package loads before its modules, from the dlopen table.
    pub(super) fn table(&mut self, package: (NameId, NameId)) -> Fallback {
        if let Some(known) = self.tables.get(&package) {
            return Rc::clone(known);
        }
        let mut table = NumberMap::default();
        let rules = self.rules.package_opens(self.state.names.get(package.1));
        for rule in &rules {
            for (name, place) in self.libraries_of(package.0, rule) {
                table.entry(name).or_insert(place);
            }
        }
        let table = Rc::new(table);
        self.tables.insert(package, Rc::clone(&table));
        table
    }

    /// The libraries below a packages folder that match a rule, with their file names.
    pub(super) fn libraries_of(&mut self, site: NameId, rule: &OpenRule) -> Vec<(NameId, OpenedFile)> {
        let mut found = Vec::new();
        let step = Step::Table(self.state.names.id(rule.source.as_bytes()));
        for folder in self.site_folders(site).iter() {
            for child in self.state.paths.children(*folder) {
                let name = self.state.paths.rootfs().node(child).name();
                if !rule.names.iter().any(|pattern| glob_match(pattern.as_bytes(), name)) {
                    continue;
                }
                let id = self.state.names.id(name);
                let Some(object) = self.state.object_in(*folder, id) else { continue };
                found.push((id, OpenedFile { object, folder: *folder, step }));
            }
        }
        found
    }
}
