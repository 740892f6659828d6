//! What scripts and settings name, and what Python compiles from the base.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::causes::Cause;
use super::{FileDisposition, Keep};
use crate::rewrite::split::packages::is_searched;
use crate::rewrite::split::state::source_of;
use crate::rootfs::{Node, NodeId, NodeKind, PathBuffer};

/// A package that reads or runs what it only recommends.
#[derive(Clone, Copy)]
enum Reader {
    /// By its name.
    Exactly(&'static str),
    /// By the start of its name, behind which a version follows: `libpoppler126`, not `libpoppler-dev`.
    Versions(&'static str),
}

impl Reader {
    fn is(self, package: &str) -> bool {
        match self {
            Self::Exactly(name) => package == name,
            Self::Versions(start) => package.strip_prefix(start).is_some_and(|version| {
                version.starts_with(|first: char| first.is_ascii_digit()) && !version.ends_with("-extra")
            }),
        }
    }
}

/// What a package does with another one.
#[derive(Clone, Copy)]
enum How {
    Read,
    Run,
}

impl Keep<'_, '_> {
    /// Leaves out what Python compiled from modules of the base. Images of Python have no compiled modules, so that each
    /// `RUN` that starts Python as root leaves some, in all folders of its library.
    pub(super) fn caches_of_base(&mut self) {
        let context = self.context;
        let mut paths = PathBuffer::default();
        for node in context.rootfs.nodes() {
            if self.fate(node.id()) != FileDisposition::Copied {
                continue;
            }
            let path = paths.of(node);
            let source = source_of(path).filter(|_| path.ends_with(b".pyc"));
            let source = source.and_then(|path| context.paths.lookup(&path));
            if source.is_some_and(|source| self.fate(source) == FileDisposition::Base) {
                self.fates[node.id().0 as usize] = FileDisposition::Gone;
                self.recompiled.push(node.id());
            }
        }
    }

    /// Keeps packages with plugins for what stays: programs such as `GStreamer` and `ImageMagick` load all that is in a folder
    /// of their own, and packages for more formats, made of the same source, come as recommendations.
    pub(super) fn plugins(&mut self) {
        /// Interpreters and servers load modules that a source or a setting names.
        const BY_NAME: [&[u8]; 9] =
            [b"/R/", b"/apache2/", b"/erlang/", b"/lua", b"/nginx/", b"/perl", b"/php", b"/python", b"/ruby"];
        /// Video drivers of graphics cards of Intel and AMD, which their library recommends.
        const OF_GRAPHICS: [&str; 2] = ["mesa-va-drivers", "mesa-vdpau-drivers"];
        let context = self.context;
        let is_by_name = |path: &[u8]| BY_NAME.iter().any(|part| memchr::memmem::find(path, part).is_some());
        let folder_of = |node: NodeId| {
            let record = context.rootfs.node(node);
            let is_object = record.content().is_some_and(|inode| context.objects.contains_key(&inode));
            let is_plugin = is_object
                && memchr::memmem::find(record.name(), b".so").is_some()
                && !is_searched(record.parent())
                && !is_by_name(&record.path());
            is_plugin.then(|| record.parent().id())
        };
        let files_of = |package: usize| context.files_of.get(&package).into_iter().flatten().copied();
        let packages = &context.input.inventory.packages;
        let source = |place: usize| packages[place].source.as_deref().unwrap_or(&packages[place].name);
        let hosts = self.installed.iter().flat_map(|package| {
            files_of(*package).filter_map(folder_of).map(|folder| ((folder, source(*package)), *package))
        });
        let hosts: HashMap<(NodeId, &str), usize> = hosts.collect();
        let host_of = |node: NodeId, place: usize| {
            let host = folder_of(node).and_then(|folder| hosts.get(&(folder, source(place))));
            host.copied().filter(|_| !context.goes(context.rootfs.node(node)))
        };
        let plugins = packages.iter().enumerate().filter_map(|(place, package)| {
            let may_be_one = package.is_of_system()
                && !OF_GRAPHICS.contains(&package.name.as_str())
                && (package.name != "libsasl2-modules" || self.negotiates())
                && !context.is_builders(&package.name)
                && !self.installed.contains(&place)
                && !self.base.packages.contains(&place)
                && package.layer >= self.base.layers;
            let host = files_of(place).filter(|_| may_be_one).find_map(|node| host_of(node, place))?;
            Some((place, host))
        });
        for (place, host) in plugins.collect::<Vec<_>>() {
            self.install(place, Cause::Modules(host));
        }
    }

    /// Keeps packages that another one reads or runs and only recommends: without Poppler's data, texts in Chinese, Japanese
    /// and Korean are lost; `ImageMagick` writes no text and reads no PDF; git reaches no host by ssh; LaTeX finds no
    /// font that a document names.
    pub(super) fn recommended(&mut self) {
        use Reader::{Exactly, Versions};
        const READ: [(&str, Reader, How); 6] = [
            ("ghostscript", Versions("libmagickcore-"), How::Run),
            ("gsfonts", Versions("libmagickcore-"), How::Read),
            ("lmodern", Exactly("texlive-base"), How::Read),
            ("openssh-client", Exactly("git"), How::Run),
            ("poppler-data", Versions("libpoppler"), How::Read),
            ("tex-gyre", Exactly("texlive-fonts-recommended"), How::Read),
        ];
        for (name, reader, how) in READ {
            let packages = &self.context.input.inventory.packages;
            let reads = |place: &&usize| reader.is(&packages[**place].name);
            let reader = self.installed.iter().find(reads).copied();
            let package = self.context.by_name.get(name).copied();
            if let (Some(reader), Some(package)) = (reader, package)
                && !self.base.packages.contains(&package)
            {
                let cause = match how {
                    How::Run => Cause::Runs(reader),
                    How::Read => Cause::Data(reader),
                };
                self.install(package, cause);
            }
        }
        self.recommended_modules();
    }

    /// Keeps packages with modules of an interpreter that packages which stay recommend: no link, and no name that is
    /// searched for, tells whether the application imports them.
    fn recommended_modules(&mut self) {
        const FOLDERS: [&[u8]; 6] = [
            b"/usr/lib/python3/dist-packages/",
            b"/usr/lib/ruby/",
            b"/usr/share/nodejs/",
            b"/usr/share/perl5/",
            b"/usr/share/php/",
            b"/usr/share/rubygems-integration/",
        ];
        let context = self.context;
        let packages = &context.input.inventory.packages;
        let is_kept = |keep: &Self, place: usize| keep.installed.contains(&place) || keep.is_in_base(place);
        let has_modules = |place: usize| {
            let files = context.files_of.get(&place).into_iter().flatten();
            files.clone().any(|node| {
                let path = context.rootfs.node(*node).path();
                FOLDERS.iter().any(|folder| path.starts_with(folder))
            })
        };
        let mut open: Vec<usize> = self.installed.iter().copied().collect();
        while let Some(host) = open.pop() {
            let package = &packages[host];
            if package.manager != "dpkg" || context.is_builders(&package.name) {
                continue;
            }
            for other in
                package.recommends.iter().filter_map(|name| context.by_name.get(name.as_str()).copied())
            {
                if !is_kept(self, other) && !context.is_builders(&packages[other].name) && has_modules(other)
                {
                    let before = self.installed.clone();
                    self.install(other, Cause::Modules(host));
                    // What it depends on recommends more.
                    open.extend(self.installed.difference(&before));
                }
            }
        }
    }

    /// Whether what stays may negotiate with SASL: something besides the LDAP client of curl and `PostgreSQL`, which log in by
    /// themselves.
    fn negotiates(&self) -> bool {
        let links = &self.context.input.inventory.links;
        let users = |library: &'static [u8], but: &'static [&'static [u8]]| {
            let objects = links
                .objects
                .iter()
                .filter(move |object| self.context.rootfs.node(object.node).name().starts_with(library));
            let users = objects.flat_map(|object| object.needed_by.iter().chain(&object.opened_by));
            users.map(|user| links.object(*user).node).any(|node| {
                let name = self.context.rootfs.node(node).name();
                self.fate(node) != FileDisposition::Gone && !but.iter().any(|known| name.starts_with(known))
            })
        };
        users(b"libsasl2.so", &[b"libldap"])
            || users(b"libldap", &[b"libcurl", b"libldap", b"libpq.so", b"dirmngr_ldap"])
    }

    /// Keeps the programs of system packages that texts of the application start by name, such as `unzip`: no link
    /// or dependency leads to many of them. Build tools are left to the findings.
    pub(super) fn started_programs(&mut self) {
        let context = self.context;
        let mut names: BTreeMap<&str, NodeId> = BTreeMap::new();
        for mention in &context.input.inventory.mentions {
            if self.fate(mention.node) != FileDisposition::Gone {
                let found = mention.programs.iter().map(String::as_str);
                // tar starts what unpacks an archive, by its name or content.
                let found = found.flat_map(|name| match name {
                    "tar" => [Some("tar"), Some("bzip2"), Some("xz")],
                    _ => [Some(name), None, None],
                });
                found.flatten().for_each(|name| _ = names.entry(name).or_insert(mention.node));
            }
        }
        // Scripts of the application that are started by their paths.
        let is_of_package = |path: &[u8]| {
            [&b"/node_modules/"[..], b"/site-packages/", b"/dist-packages/"]
                .iter()
                .any(|part| memchr::memmem::find(path, part).is_some())
        };
        let copied = context.rootfs.nodes().filter(|node| self.fate(node.id()) == FileDisposition::Copied);
        for node in copied {
            let Some(program) = node.content().and_then(|inode| context.interpreter(inode)) else { continue };
            let name =
                ["perl", "python3"].into_iter().find(|name| program.ends_with(format!("/{name}").as_bytes()));
            if let Some(name) = name.filter(|_| !is_of_package(&node.path())) {
                names.entry(name).or_insert(node.id());
            }
        }
        // Debian's smallest package of an interpreter has few of its modules.
        for (name, package) in [("perl", "perl"), ("python", "python3"), ("python3", "python3")] {
            let Some((starter, package)) = names.get(name).zip(context.by_name.get(package)) else {
                continue;
            };
            let program = context.program(name).and_then(|path| context.paths.lookup(&path));
            let is_of_system = program.is_some_and(|program| context.system_owner(program).is_some());
            if is_of_system && !self.is_in_base(*package) {
                self.install(*package, Cause::Starts(*starter, name));
            }
        }
        for (name, starter) in names {
            let Some(path) = context.program(name) else { continue };
            // The name, and what it leads to: both may belong to packages.
            for node in [context.paths.entry_at(&path), context.paths.lookup(&path)].into_iter().flatten() {
                let Some(package) = context.system_owner(node) else {
                    // Python in its own image is of no package.
                    let node_of_base = context.rootfs.node(node);
                    if !context.is_users(node_of_base) && !context.goes(node_of_base) {
                        self.require(node, b"", Cause::Starts(starter, name));
                    }
                    continue;
                };
                let (built, all) = context.share(package, &context.built);
                let is_of_build =
                    context.is_builders(&context.input.inventory.packages[package].name) || built * 2 > all;
                if !is_of_build && !context.goes(context.rootfs.node(node)) {
                    self.require(node, b"", Cause::Starts(starter, name));
                }
            }
        }
    }

    /// Keeps modules that settings make a server load, such as `extension=dom.so`: packages that came as recommendations
    /// have some. Also libraries that scripts open: Ruby by the name without a version, which only a package for
    /// building has, Python by any version.
    pub(super) fn modules(&mut self) {
        let context = self.context;
        let mut exact: HashMap<&[u8], Cause<'_>> = HashMap::new();
        let mut versioned: HashMap<&[u8], Cause<'_>> = HashMap::new();
        let (mut of_php, mut of_others): (HashSet<&[u8]>, HashSet<&[u8]>) = Default::default();
        for mention in &context.input.inventory.mentions {
            if !matches!(self.fate(mention.node), FileDisposition::Copied | FileDisposition::Installed) {
                continue;
            }
            let script = context.rootfs.node(mention.node).name();
            let is_of_php = || {
                let path = context.rootfs.node(mention.node).path();
                path.ends_with(b".ini") && memchr::memmem::find(&path, b"/php").is_some()
            };
            for name in &mention.libraries {
                let is_plain = name.strip_suffix(".so").is_some();
                let list = if is_of_php() { &mut of_php } else { &mut of_others };
                list.insert(name.as_bytes());
                let cause = Cause::Names(mention.node, name);
                if !name.starts_with("lib") || is_plain && script.ends_with(b".rb") {
                    exact.entry(name.as_bytes()).or_insert(cause);
                } else if is_plain && script.ends_with(b".py") {
                    versioned.entry(name.as_bytes()).or_insert(cause);
                }
            }
        }
        let cause_of = |name: &[u8]| {
            // Not `libc.so.6-gdb.py`.
            let is_version = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
            let end = memchr::memmem::find(name, b".so.").map(|at| at + 3);
            let stem = end.filter(|end| is_version(&name[*end..])).and_then(|end| name.get(..end));
            exact.get(name).or_else(|| stem.and_then(|stem| versioned.get(stem))).copied()
        };
        let is_one = |node: &Node<'_>| node.kind() != NodeKind::Directory && cause_of(node.name()).is_some();
        if exact.is_empty() && versioned.is_empty() {
            return;
        }
        let mut found: BTreeMap<&[u8], Vec<Node<'_>>> = BTreeMap::new();
        for node in context.rootfs.nodes().filter(is_one) {
            found.entry(node.name()).or_default().push(node);
        }
        for (name, mut nodes) in found {
            let Some(cause) = cause_of(name) else { continue };
            // Not in the source tree that they were installed from.
            let bytes = |node: &Node<'_>| {
                let target = context.paths.lookup(&node.path());
                target.map(|target| context.rootfs.node(target).bytes())
            };
            let apart = nodes.iter().filter(|node| !self.build_only.contains(&node.id()));
            let installed: HashSet<Option<u64>> = apart.map(bytes).collect();
            nodes.retain(|node| !self.build_only.contains(&node.id()) || !installed.contains(&bytes(node)));
            // PHP loads its extensions from its own folder, not the modules of these names that Perl has.
            if of_php.contains(name) && !of_others.contains(name) {
                retain_if_any(&mut nodes, |node| !self.build_only.contains(&node.id()));
                retain_if_any(&mut nodes, |node| memchr::memmem::find(&node.path(), b"/php").is_some());
            }
            for node in nodes {
                self.require(node.id(), b"", cause);
            }
        }
    }
}

/// Keeps only the nodes that are of a kind, if some are.
fn retain_if_any(nodes: &mut Vec<Node<'_>>, is_of_kind: impl Fn(&Node<'_>) -> bool) {
    if nodes.iter().any(&is_of_kind) {
        nodes.retain(is_of_kind);
    }
}
