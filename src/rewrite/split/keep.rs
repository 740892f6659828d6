//! The parts of the image that a smaller final stage has, and how they get there.

mod archives;
mod causes;
mod python;
mod scripts;
mod view;

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};

use self::causes::Cause;
use super::bases::{Base, is_of_tk};
use super::context::SplitContext;
use super::packages::is_searched;
use super::state::state;
use crate::base::convert::layer16;
use crate::cuda::links::{Resolution, RootKind};
use crate::cuda::{Flavor, Use};
use crate::rootfs::{Node, NodeId, NodeKind, PathBuffer};

/// Packages that programs use without a link or a dependency: certificates for TLS, types of files by their suffix, names
/// of ports and protocols, rules of time zones. They are kept if the image has them.
const USED_SILENTLY: [&str; 4] = ["ca-certificates", "media-types", "netbase", "tzdata"];

/// How a path of the current image gets into the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum FileDisposition {
    /// Not at all.
    #[default]
    Gone,
    /// With the base image.
    Base,
    /// By a COPY from the build stage.
    Copied,
    /// With a reinstalled package.
    Installed,
    /// Generated again when packages are installed or users added.
    Rewritten,
}

pub(super) struct Keep<'w, 'a> {
    pub(super) context: &'w SplitContext<'a>,
    pub(super) base: &'w Base,
    /// By node.
    pub(super) fates: Vec<FileDisposition>,
    /// Reinstalled system packages, dependencies included.
    pub(super) installed: BTreeSet<usize>,
    /// Of them: packages to install by name.
    pub(super) named: BTreeSet<usize>,
    /// Paths in the base, possibly in another version than in the current image.
    in_base: HashSet<NodeId>,
    /// Build-only files: sources, and files that compilers write next to them.
    build_only: &'w HashSet<NodeId>,
    /// Compiled modules of Python whose sources the base has: they are not copied.
    pub(super) recompiled: Vec<NodeId>,
    /// Packages that so far only those in [`SplitContext::opened`] depend on.
    with_opened: BTreeSet<usize>,
    /// By package of `named`.
    causes: HashMap<usize, Cause<'a>>,
    /// ELF files and scripts still to follow.
    open: Vec<NodeId>,
}

impl<'w, 'a> Keep<'w, 'a> {
    /// Computes what is kept. `wanted` are packages that stay among those that the user's instructions install.
    pub(super) fn of(
        context: &'w SplitContext<'a>,
        base: &'w Base,
        wanted: &[usize],
        build_only: &'w HashSet<NodeId>,
    ) -> Self {
        let mut keep = Self {
            context,
            base,
            fates: vec![FileDisposition::Gone; context.rootfs.len()],
            installed: BTreeSet::new(),
            named: BTreeSet::new(),
            in_base: in_base(context, base),
            build_only,
            recompiled: Vec::new(),
            with_opened: BTreeSet::new(),
            causes: HashMap::new(),
            open: Vec::new(),
        };
        let silent = USED_SILENTLY.into_iter().filter_map(|name| context.by_name.get(name).copied());
        for package in wanted.iter().copied().chain(silent) {
            keep.install(package, Cause::Silent);
        }
        let mut paths = PathBuffer::default();
        for node in context.rootfs.nodes() {
            keep.first(node, &mut paths);
        }
        keep.needs_of_archives();
        keep.caches_of_base();
        keep.roots();
        keep.follow();
        keep.libraries_of_kept_roots();
        keep.names_of_tools();
        keep.plugins();
        keep.recommended();
        // Last: what only an instruction calls needs no recommended packages.
        keep.tools();
        keep.follow();
        keep.states();
        keep
    }

    pub(super) fn fate(&self, node: NodeId) -> FileDisposition {
        self.fates[node.0 as usize]
    }

    /// Whether a file is build-only.
    pub(super) fn is_build_only(&self, node: NodeId) -> bool {
        self.build_only.contains(&node)
    }

    /// Whether files of this package are copied one by one: packages of NVIDIA's repository if the base image has no
    /// such repository, and those that the build installs from files.
    fn by_file(&self, package: usize) -> bool {
        self.context.archives.contains(&package)
            || self.context.is_cuda(package) && self.base.flavor == Flavor::None
    }

    fn first(&mut self, node: Node<'a>, paths: &mut PathBuffer) {
        if node.kind() == NodeKind::Directory {
            return;
        }
        if node.layer() < self.base.layers {
            self.fates[node.id().0 as usize] = FileDisposition::Base;
            return;
        }
        let inode = node.content();
        let has = |list: &HashSet<_>| inode.is_some_and(|inode| list.contains(&inode));
        let (gone, stays) = (self.context.goes(node), has(&self.context.stays));
        match self.context.system_owner(node.id()) {
            // The package contains its own version of the file; the user's version is copied over it.
            Some(package)
                if self.context.is_users(node)
                    && !gone
                    && self.context.is_changed(node, package)
                    && state(paths.of(node)).is_none() =>
            {
                self.copy(node.id());
            }
            Some(package) if self.base.packages.contains(&package) => {
                self.fates[node.id().0 as usize] = FileDisposition::Base;
            }
            Some(package) if !self.by_file(package) => {
                let package_is_kept = self.context.input.inventory.packages[package].manager == "dpkg";
                if stays && package_is_kept && self.context.is_built_for(package) {
                    self.install(package, Cause::Plan);
                }
            }
            None if !self.context.is_users(node)
                && self.base.local.iter().any(|folder| paths.of(node).starts_with(folder))
                && !(self.base.is_slim_python() && is_of_tk(node.name())) =>
            {
                self.fates[node.id().0 as usize] = FileDisposition::Base;
            }
            owner => {
                let users = self.context.is_users(node);
                // Links of alternatives belong to the packages they are for.
                let kept = if users {
                    !gone && !self.build_only.contains(&node.id()) && !self.is_alternative(node)
                } else {
                    stays
                };
                if kept && (owner.is_some() || !self.context.is_by_product(node, paths.of(node))) {
                    self.copy(node.id());
                }
            }
        }
    }

    /// Links created by package scripts: to alternatives, and in `/etc` to package files.
    fn is_alternative(&self, node: Node<'_>) -> bool {
        if node.kind() != NodeKind::Symlink {
            return false;
        }
        let path = node.path();
        let layer = node.layer();
        let link = node.entry().and_then(|entry| self.context.rootfs.layer(layer).link(entry));
        let to_alternative = link.is_some_and(|link| link.starts_with(b"/etc/alternatives/"));
        let to_package = || {
            let target = self.context.paths.lookup(&path);
            target.is_some_and(|target| self.context.system_owner(target).is_some())
        };
        // The user's own commands are repeated.
        let by_user = || {
            let tools = ["update-alternatives", "a2en", "enable-mod", "phpenmod"];
            let named = self.context.says(layer, &String::from_utf8_lossy(&path));
            named || tools.iter().any(|tool| self.context.says(layer, tool))
        };
        (to_alternative || path.starts_with(b"/etc/") && to_package())
            && self.context.installs(layer)
            && !by_user()
    }

    pub(super) fn copy(&mut self, node: NodeId) {
        let fate = &mut self.fates[node.0 as usize];
        if matches!(*fate, FileDisposition::Gone | FileDisposition::Installed) {
            *fate = FileDisposition::Copied;
            self.open.push(node);
        }
    }

    fn install(&mut self, package: usize, cause: Cause<'a>) {
        if self.installed.contains(&package) {
            if self.with_opened.remove(&package) {
                self.named.insert(package);
                self.causes.insert(package, cause);
            }
            return;
        }
        self.named.insert(package);
        self.causes.insert(package, cause);
        if self.context.opened.contains(&package) {
            let before = self.installed.clone();
            self.bring(vec![package]);
            self.with_opened.extend(self.installed.difference(&before).filter(|one| **one != package));
        } else {
            self.bring(vec![package]);
        }
    }

    /// Keeps packages that an instruction installs, with those that they depend on.
    pub(super) fn keep_installed(&mut self, packages: Vec<usize>) {
        self.bring(packages);
        self.follow();
        self.states();
    }

    fn bring(&mut self, mut open: Vec<usize>) {
        while let Some(package) = open.pop() {
            if !self.installed.insert(package) {
                continue;
            }
            open.extend(self.context.depends(package));
            for node in self.context.files_of.get(&package).into_iter().flatten() {
                let at = node.0 as usize;
                let above = self.context.rootfs.node(*node).layer() >= self.base.layers;
                if above && !self.base.packages.contains(&package) && self.fates[at] == FileDisposition::Gone
                {
                    self.fates[at] = FileDisposition::Installed;
                    self.open.push(*node);
                }
            }
        }
    }

    /// Keeps a file that something needs, under the name by which it is needed.
    fn require(&mut self, node: NodeId, name: &[u8], cause: Cause<'a>) {
        let node = self.lasting_name(node);
        let record = self.context.rootfs.node(node);
        if self.fate(node) == FileDisposition::Gone {
            match self.context.system_owner(node) {
                // The base contains its own version.
                Some(package) if !self.by_file(package) && self.in_base.contains(&node) => {}
                Some(package) if !self.by_file(package) => self.install(package, cause),
                None if !self.context.is_users(record) && state(&record.path()).is_some() => {
                    self.rewrite(record);
                }
                _ => self.copy(node),
            }
        }
        if self.fate(node) != FileDisposition::Copied || name.is_empty() || name.contains(&b'/') {
            return;
        }
        // The link that the loader opens is next to the file.
        if let Some(link) = self.context.paths.child(record.parent().id(), name).filter(|link| *link != node)
        {
            self.copy(link);
        }
    }

    /// A name of a file that is neither build-only nor in a cache that goes, if it has one: cargo links what it built out
    /// of its folder, uv what it installs out of its cache, whose folders have other names in each build.
    fn lasting_name(&self, node: NodeId) -> NodeId {
        let passes =
            |node: &NodeId| self.build_only.contains(node) || self.context.cached_links.contains(node);
        let Some((layer, entry)) = self.context.rootfs.node(node).content().filter(|_| passes(&node)) else {
            return node;
        };
        let mut names = self.context.rootfs.all_names(layer, entry);
        names.find(|name| !passes(name)).unwrap_or(node)
    }

    /// Marks a file generated by scripts of a base package as generated again; certificates require
    /// `ca-certificates`.
    fn rewrite(&mut self, node: Node<'_>) {
        if node.path().starts_with(b"/etc/ssl/certs/")
            && let Some(package) = self.context.by_name.get("ca-certificates")
        {
            self.install(*package, Cause::Silent);
        }
        self.fates[node.id().0 as usize] = FileDisposition::Rewritten;
    }

    fn roots(&mut self) {
        let links = &self.context.input.inventory.links;
        for object in &links.objects {
            let cause = match object.root.as_ref().map(|root| root.kind) {
                Some(RootKind::Entrypoint) if !self.context.is_banner(object.node) => Cause::Command,
                Some(RootKind::Preload) => Cause::Preloaded,
                _ => continue,
            };
            self.require(object.node, b"", cause);
        }
        // Programs that the command runs, including scripts.
        for path in self.context.command_paths() {
            if let Some(node) = self.context.paths.lookup(&path)
                && self.context.rootfs.node(node).kind() == NodeKind::File
            {
                self.require(node, b"", Cause::Command);
            }
        }
        self.pythons();
        self.modules();
        self.started_programs();
        let inventory = self.context.input.inventory;
        let of_system = self.libraries_of_system();
        for mention in &inventory.mentions {
            if !matches!(self.fate(mention.node), FileDisposition::Copied | FileDisposition::Installed) {
                continue;
            }
            for name in &mention.libraries {
                if let Some(node) = of_system.get(name.as_str()) {
                    self.require(*node, name.as_bytes(), Cause::Names(mention.node, name));
                }
            }
            let places =
                mention.libraries.iter().filter_map(|name| self.context.libraries.get(name)).flatten();
            for place in places {
                let library = &inventory.libraries[*place];
                if library.role == crate::cuda::Role::Runtime {
                    let soname = library.soname.clone().unwrap_or_default();
                    self.require(library.node, soname.as_bytes(), Cause::Loads(mention.node));
                }
            }
        }
    }

    /// Libraries of system packages that files name, by their names there. Links for linkers lead to them, too.
    fn libraries_of_system(&self) -> HashMap<&'a str, NodeId> {
        let inventory = self.context.input.inventory;
        let names = inventory.mentions.iter().flat_map(|mention| &mention.libraries).map(String::as_str);
        let names: HashSet<&str> = names.filter(|name| !self.context.libraries.contains_key(*name)).collect();
        let mut found = HashMap::new();
        if names.is_empty() {
            return found;
        }
        for node in self.context.rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory) {
            let name = std::str::from_utf8(node.name()).ok().and_then(|name| names.get(name));
            let Some(name) = name.filter(|_| is_searched(node.parent())) else { continue };
            let target = self.context.paths.lookup(&node.path());
            let is_library = |target: &NodeId| {
                let object = self.context.rootfs.node(*target).content();
                object.is_some_and(|inode| self.context.objects.contains_key(&inode))
            };
            if let Some(target) =
                target.filter(is_library).filter(|node| self.context.system_owner(*node).is_some())
            {
                found.entry(*name).or_insert(target);
            }
        }
        found
    }

    /// Follows the needs of kept files until nothing new is found.
    fn follow(&mut self) {
        let links = &self.context.input.inventory.links;
        while let Some(node) = self.open.pop() {
            let record = self.context.rootfs.node(node);
            if record.kind() == NodeKind::Symlink {
                self.follow_link(record);
                continue;
            }
            let Some(inode) = record.content() else { continue };
            // A reinstalled package depends on what its own scripts need.
            if self.fate(node) == FileDisposition::Copied
                && let Some(program) = self.context.interpreter(inode)
                && let Some(found) = self.context.paths.lookup(&program)
            {
                self.require(found, b"", Cause::Interprets(node));
            }
            let Some(id) = self.context.objects.get(&inode) else { continue };
            let object = links.object(*id);
            let needs =
                object.needs.iter().flat_map(|need| need.found.iter().map(|found| (&need.name, found)));
            let opens = object.opens.iter().map(|open| (&open.name, &open.found));
            let found: Vec<(NodeId, Vec<u8>)> = needs
                .chain(opens)
                .filter_map(|(name, found)| match found {
                    Resolution::Found { object, .. } => {
                        Some((links.object(*object).node, name.clone().into_bytes()))
                    }
                    _ => None,
                })
                .collect();
            for (library, name) in found {
                self.require(library, &name, Cause::Loads(node));
            }
        }
    }

    /// Keeps the target of a kept link, unless the user chose to remove it.
    fn follow_link(&mut self, link: Node<'a>) {
        let path = link.path();
        let Some(target) = self.context.paths.lookup(&path) else { return };
        // Documentation of a package shows styles and fonts of others, which it only recommends.
        if self.fate(link.id()) == FileDisposition::Installed && path.starts_with(b"/usr/share/doc/") {
            return;
        }
        let record = self.context.rootfs.node(target);
        if record.kind() == NodeKind::File && !self.context.goes(record) {
            self.require(target, b"", Cause::Link(link.id()));
        }
    }

    /// Libraries that kept files use without a NEEDED entry or dlopen, such as Python packages that load them.
    fn libraries_of_kept_roots(&mut self) {
        let inventory = self.context.input.inventory;
        for library in &inventory.libraries {
            if inventory.links.object(library.object).usage == Use::Unreferenced
                || self.fate(library.node) != FileDisposition::Gone
            {
                continue;
            }
            let chain = inventory.links.chain(library.object);
            let root = chain.last().map(|root| inventory.links.object(*root).node);
            let kept = |root: &NodeId| *root != library.node && self.fate(*root) != FileDisposition::Gone;
            if let Some(root) = root.filter(kept) {
                let soname = library.soname.clone().unwrap_or_default();
                self.require(library.node, soname.as_bytes(), Cause::Loads(root));
            }
        }
    }
}

fn in_base(context: &SplitContext<'_>, base: &Base) -> HashSet<NodeId> {
    let layers = base.layers.min(layer16(context.input.layers.len()));
    let entries =
        (0..layers).flat_map(|layer| context.rootfs.layer(layer).entries().map(move |entry| (layer, entry)));
    entries.filter_map(|(layer, entry)| context.rootfs.node_at(layer, entry)).collect()
}
