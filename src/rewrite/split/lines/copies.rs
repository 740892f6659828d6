//! Copies from the build stage.

use super::super::LITTLE;
use super::super::keep::FileDisposition;
use super::super::roots::{MOST_PATHS, MOST_PROGRAMS, Root};
use super::super::sources::is_within;
use super::super::words::{shell_word, word};
use super::{Division, Lines};
use crate::base::size::human;
use crate::base::text::{counted, escape, printable};
use crate::cuda::DevelopmentList;
use crate::cuda::links::{Object, Resolution, SearchStep, file_name, folder_of};
use crate::rootfs::{Node, NodeId, NodeKind};
use std::collections::BTreeSet;

impl Lines<'_, '_, '_, '_, '_> {
    /// Copies what the build stage created up to a step and the final stage needs.
    pub(super) fn copies(&mut self, at: usize) {
        let here: Vec<Root> =
            self.roots.list.iter().filter(|root| root.steps.last() == Some(&at)).cloned().collect();
        // Before the code, whose change would copy them again.
        if let Some(division) = self.division.clone().filter(|division| division.step == at)
            && self.owner_of(&division).is_none()
        {
            self.dependencies(&division);
        }
        for root in here {
            if !root.files.is_empty() || !self.copied_early.contains(&root.folder) {
                self.copy(&root, at);
            }
        }
    }

    /// The flag for the owner of a folder that a divided build stage fills. The user may be made after the dependencies.
    fn owner_of(&self, division: &Division) -> Option<String> {
        let root = self.roots.list.iter().find(|root| root.folder == division.folder)?;
        let first = root.steps.first().copied().unwrap_or_default();
        let path = self.keep.context.rootfs.node(division.folder).path();
        self.chown(first, &path).map(|owner| format!(" --chown={}", owner.spec))
    }

    /// Copies the dependencies of a divided build stage.
    fn dependencies(&mut self, division: &Division) {
        let Some(path) = word(&self.keep.context.rootfs.node(division.folder).path()) else { return };
        let flag = self.owner_of(division).unwrap_or_default();
        self.add(
            format!("{} --from={}{flag} {path} {path}", self.keyword("COPY"), division.source()),
            format!("{path}: dependencies in a separate layer, which a code change does not copy again."),
        );
    }

    /// Copies what the code adds to a folder that a divided build stage fills.
    pub(super) fn copy_divided(&mut self, root: &Root, division: &Division) {
        let context = self.keep.context;
        let owner = self.owner_of(division);
        if owner.is_some() {
            self.dependencies(division);
        }
        let flag = owner.unwrap_or_default();
        let (copy, build) = (self.keyword("COPY"), self.build);
        let collection = self.collection(division);
        if let Some(collection) = &collection {
            self.collected = Some(collection.command.clone());
            let at = &collection.target;
            self.add(
                format!("{copy} --from={build}{flag} {} {at}", collection.folder),
                format!("{at}: results of the build stage, whose names contain a version."),
            );
        }
        let is_collected =
            |folder: &NodeId| collection.as_ref().is_some_and(|one| one.folders.contains(folder));
        for (folder, files) in division.later.iter().filter(|(folder, _)| !is_collected(folder)) {
            let Some(at) = word(&context.rootfs.node(*folder).path()) else { continue };
            let names: Option<Vec<String>> =
                files.iter().map(|file| word(&context.rootfs.node(*file).path())).collect();
            let text = match names.unwrap_or_default().as_slice() {
                [] => format!("{copy} --from={build}{flag} {at} {at}"),
                [one] => format!("{copy} --from={build}{flag} {one} {one}"),
                many => format!("{copy} --from={build}{flag} {} {at}/", many.join(" ")),
            };
            self.add(text, format!("{at}: results of the build stage."));
        }
        self.cover_below(root.folder);
        division.compiled.iter().for_each(|node| {
            self.covered.remove(node);
        });
    }

    /// The owner of a folder, if a user other than root is in effect and owns it with all that is in it: `COPY` makes the
    /// folder itself for root, in which the user could then write nothing. By name where the folder is in the user's home,
    /// by which the number of the user is known.
    fn owner_in_effect(&self, folder: NodeId) -> Option<String> {
        let user = self.user.0.as_deref()?.split_whitespace().nth(1)?.split(':').next()?;
        if matches!(user, "root" | "0") {
            return None;
        }
        let context = self.keep.context;
        let top = context.rootfs.node(folder);
        let owner = self.owner_in_image(top).filter(|(user, _)| *user != 0)?;
        let mut open = vec![top];
        while let Some(node) = open.pop() {
            if self.owner_in_image(node).is_some_and(|one| one != owner) {
                return None;
            }
            open.extend(node.children());
        }
        let home = format!("/home/{user}");
        let of_home = context
            .paths
            .lookup(home.as_bytes())
            .and_then(|home| self.owner_in_image(context.rootfs.node(home)));
        let is_at_home = is_within(&top.path(), home.as_bytes()) && of_home == Some(owner);
        Some(match owner {
            // Without a group, that with the number of the user.
            (user_id, group) if is_at_home && user_id == group => user.to_owned(),
            (_, group) if is_at_home => format!("{user}:{group}"),
            (user_id, group) => format!("{user_id}:{group}"),
        })
    }

    pub(super) fn copy(&mut self, root: &Root, at: usize) {
        self.stored_again += root.stored_again;
        if let Some(division) =
            self.division.clone().filter(|division| division.folder == root.folder && root.files.is_empty())
        {
            let owner = self.chown(
                root.steps.first().copied().unwrap_or(at),
                &self.keep.context.rootfs.node(root.folder).path(),
            );
            if owner.is_some() {
                self.users(at);
            }
            self.copy_divided(root, &division);
            return;
        }
        let context = self.keep.context;
        let folder = context.rootfs.node(root.folder).path();
        let Some(path) = word(if folder.is_empty() { b"/" } else { &folder }) else {
            self.manual_steps.push(format!("copy {} from the build stage", escape(&folder)));
            return;
        };
        let first = root.steps.first().copied().unwrap_or(at);
        let owner = self.chown(first, &folder).map(|owner| owner.spec.clone());
        let owner = owner.or_else(|| self.owner_in_effect(root.folder).filter(|_| root.files.is_empty()));
        if owner.is_some() || self.is_in_home(&folder) {
            self.users(at);
        }
        let flag = owner.map(|owner| format!(" --chown={owner}")).unwrap_or_default();
        let copy = format!("{} --from={}{flag}", self.keyword("COPY"), self.build);
        if root.files.is_empty() {
            self.add(
                format!("{copy} {path} {path}"),
                format!("{path}: installed by the build stage, {}.", human(root.bytes)),
            );
            self.cover_below(root.folder);
            return;
        }
        let names: Vec<Option<String>> =
            root.files.iter().map(|node| word(&context.rootfs.node(*node).path())).collect();
        let Some(names) = names.into_iter().collect::<Option<Vec<String>>>() else {
            self.manual_steps.push(format!("copy the files of {} from the build stage", escape(&folder)));
            return;
        };
        let whose = self.needs(&root.files);
        let path = if path == "/" { String::new() } else { path };
        let most = if path == "/usr/local/bin" { MOST_PROGRAMS } else { MOST_PATHS };
        if names.len() > most {
            self.manual_steps.push(format!(
                "{} of {} are needed: collect them in a separate folder of the build stage, and copy that folder",
                counted(names.len() as u64, "file"),
                printable(&path)
            ));
            return;
        }
        let text = match names.as_slice() {
            [one] => format!("{copy} {one} {one}"),
            many if many.len() > MOST_PATHS => {
                let joint = format!(" {}\n    ", self.stage.file.escape);
                format!("{copy}{joint}{}{joint}{path}/", many.join(&joint))
            }
            many => format!("{copy} {} {path}/", many.join(" ")),
        };
        self.add(
            text,
            format!(
                "{}: {whose}, {}.",
                printable(if path.is_empty() { "/" } else { &path }),
                human(root.bytes)
            ),
        );
        self.covered.extend(root.files.iter().copied());
    }

    /// The reason for copied files: a kept file that loads one of them.
    pub(super) fn needs(&self, files: &[NodeId]) -> String {
        let links = &self.keep.context.input.inventory.links;
        let mut users = BTreeSet::new();
        for node in files {
            let Some(id) = self
                .keep
                .context
                .rootfs
                .node(*node)
                .content()
                .and_then(|inode| self.keep.context.objects.get(&inode))
            else {
                continue;
            };
            let object = links.object(*id);
            for other in object.needed_by.iter().chain(&object.opened_by) {
                let other = links.object(*other).node;
                if self.keep.fate(other) != FileDisposition::Gone && !files.contains(&other) {
                    users.insert(escape(&self.keep.context.rootfs.node(other).path()));
                }
            }
        }
        match users.into_iter().next() {
            Some(user) => format!("built in the build stage and loaded by {user}"),
            None => "built in the build stage".to_owned(),
        }
    }

    pub(super) fn cover_below(&mut self, folder: NodeId) {
        let of_division =
            self.division.iter().flat_map(|division| &division.without).flat_map(|(_, gone)| gone);
        let removed: Vec<Vec<u8>> =
            self.removed.iter().chain(of_division).map(|(path, _)| path.clone().into_bytes()).collect();
        let mut open = vec![self.keep.context.rootfs.node(folder)];
        while let Some(node) = open.pop() {
            if self.pruned_files.contains(&node.id()) {
                continue;
            }
            if !removed.is_empty() && removed.iter().any(|path| is_within(&node.path(), path)) {
                continue;
            }
            self.covered.insert(node.id());
            open.extend(node.children());
        }
    }

    /// Packages of npm for development that the plan removes from a copied folder: npm removes them after the build.
    pub(super) fn prune(&mut self) {
        let context = self.keep.context;
        let last = self.steps.list.get(self.last).map(|step| step.place);
        for found in &context.input.inventory.development {
            let DevelopmentList::Npm(packages) = &found.packages else { continue };
            if !found.can_prune {
                continue;
            }
            let above =
                std::iter::successors(Some(context.rootfs.node(found.folder)), |node| Some(node.parent()));
            let above: Vec<NodeId> =
                above.take_while(|node| node.id() != NodeId::ROOT).map(Node::id).collect();
            let is_copied = |root: &Root| root.files.is_empty() && above.contains(&root.folder);
            if !self.roots.list.iter().any(is_copied) {
                continue;
            }
            let files = packages.iter().flat_map(|package| package.files(context.rootfs));
            let files: Vec<NodeId> = files.collect();
            let gone: u64 = files.iter().map(|file| context.rootfs.node(*file).bytes()).sum();
            // What another finding keeps would be removed, too.
            let stays = files.iter().any(|file| !context.goes(context.rootfs.node(*file)));
            if stays || gone < LITTLE.min(context.input.merge.merged_bytes / 100).max(1) {
                continue;
            }
            let project = context.rootfs.node(found.folder).parent().path();
            let Some(folder) = shell_word(&project) else { continue };
            let is_there =
                last.and_then(|place| self.steps.tidying.absolute(place, ".")).as_deref() == Some(&*folder);
            let from = if is_there { String::new() } else { format!("cd {folder} && ") };
            self.pruned.push((format!("{from}npm prune --omit=dev"), gone));
            self.pruned_files.extend(files);
        }
    }

    /// Superfluous parts of copied folders: removed at the end of the build stage if they are large.
    pub(super) fn junk(&mut self) {
        let pruned = &self.pruned_files;
        let is_pruned = |node: Node<'_>| {
            let mut open = vec![node];
            while let Some(node) = open.pop() {
                if node.kind() == NodeKind::File && !pruned.contains(&node.id()) {
                    return false;
                }
                open.extend(node.children());
            }
            true
        };
        let rootfs = self.keep.context.rootfs;
        self.roots.junk.retain(|(node, _)| pruned.is_empty() || !is_pruned(rootfs.node(*node)));
        let merged = self.keep.context.input.merge.merged_bytes;
        let all: u64 = self.roots.junk.iter().map(|(_, bytes)| bytes).sum();
        if all < LITTLE.min(merged / 100).max(1) {
            return;
        }
        for (node, bytes) in self.roots.junk.iter().take(MOST_PATHS) {
            // Each must be worth an argument.
            if *bytes < LITTLE.min(merged / 100) {
                break;
            }
            if let Some(path) = shell_word(&self.keep.context.rootfs.node(*node).path()) {
                self.removed.push((path, *bytes));
            }
        }
    }

    /// Whether the new stage has a folder, as far as it is written.
    fn is_there(&self, folder: NodeId) -> bool {
        let rootfs = self.keep.context.rootfs;
        let mut open = vec![rootfs.node(folder)];
        while let Some(node) = open.pop() {
            let fate = self.keep.fate(node.id());
            if node.layer() < self.keep.base.layers
                || self.covered.contains(&node.id())
                || matches!(fate, FileDisposition::Base | FileDisposition::Installed)
            {
                return true;
            }
            open.extend(node.children());
        }
        false
    }

    /// Whether the loader finds a copied library by its cache, today or usually.
    fn has_cached_library(&self) -> bool {
        let links = &self.keep.context.input.inventory.links;
        let by_cache = |found: &Resolution| match found {
            Resolution::Found { object, step: SearchStep::Cache(_) } => {
                self.covered.contains(&links.object(*object).node)
            }
            _ => false,
        };
        let needs = |object: &Object| object.needs.iter().flat_map(|need| &need.found).any(by_cache);
        links
            .objects
            .iter()
            .any(|object| needs(object) || object.opens.iter().any(|open| by_cache(&open.found)))
            || self.covered.iter().any(|node| {
                // Links of alternatives come with packages, whose installation runs ldconfig.
                self.keep.fate(*node) == FileDisposition::Copied
                    && is_cached_library(&self.keep.context.rootfs.node(*node).path())
            })
    }

    /// Recreates links that a `COPY` would follow, and the loader cache.
    pub(super) fn loader(&mut self) {
        let mut commands = Vec::new();
        let links = std::mem::take(&mut self.roots.links);
        // Not to what stays in the build stage.
        let leads_away = |path: &[u8]| {
            let node = self.keep.context.paths.lookup(path);
            node.is_some_and(|node| match self.keep.context.rootfs.node(node).kind() {
                NodeKind::Directory => !self.is_there(node),
                _ => self.keep.fate(node) == FileDisposition::Gone && !self.covered.contains(&node),
            })
        };
        let links: Vec<_> = links.into_iter().filter(|(_, path, _)| !leads_away(path)).collect();
        if links.len() > MOST_PATHS {
            self.manual_steps.push(format!(
                "{} outside of copied folders: recreate those that are needed",
                counted(links.len() as u64, "symbolic link")
            ));
        }
        for (target, path, _) in links.iter().take(MOST_PATHS) {
            if let (Some(target), Some(link)) = (shell_word(target), shell_word(path)) {
                let folder = self.keep.context.paths.lookup(folder_of(path));
                if let Some(folder) = folder.filter(|folder| !self.is_there(*folder))
                    && let Some(path) = shell_word(&self.keep.context.rootfs.node(folder).path())
                {
                    commands.push(format!("mkdir -p {path}"));
                }
                commands.push(format!("ln -sfn {target} {link}"));
                let node = folder.and_then(|folder| self.keep.context.paths.child(folder, file_name(path)));
                self.covered.extend(node);
            }
        }
        let caches = self.has_cached_library();
        let calls = self.steps.programs().contains("ldconfig");
        let repeated = self.text.iter().any(|line| line.text.contains("ldconfig"));
        let caches_libraries = caches && self.keep.context.has_ldconfig() && (calls || !repeated);
        if caches_libraries {
            commands.push("ldconfig".to_owned());
        }
        if !commands.is_empty() {
            self.run_as_root();
            let joint = format!(" {}\n    && ", self.stage.file.escape);
            let text = format!("{} {}", self.keyword("RUN"), commands.join(&joint));
            let links = "COPY follows symbolic links, so they are created again";
            let cache = "ldconfig adds the copied libraries to the loader cache";
            let reason = match (caches_libraries, commands.len()) {
                (true, 1) => format!("{cache}."),
                (true, _) => format!("{links}; {cache}."),
                (false, _) => format!("{links}."),
            };
            self.add(text, reason);
        }
    }
}

/// Whether a library is in a folder that the loader usually finds by its cache.
fn is_cached_library(path: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 3] = [b"/usr/local/lib/", b"/usr/local/lib64/", b"/usr/lib64/"];
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let library = memchr::memmem::find(name, b".so").is_some();
    let folder = &path[..path.len() - name.len()];
    let of_system = folder.starts_with(b"/usr/lib/") && folder.ends_with(b"-linux-gnu/");
    library && (FOLDERS.contains(&folder) || of_system || folder.starts_with(b"/usr/local/cuda"))
}
