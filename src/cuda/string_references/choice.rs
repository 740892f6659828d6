//! Selection of the files to search.

mod owners;

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::archives::Runtimes;
use super::folders::{Folder, is_cache, is_foreign_folder, is_intermediate, is_system};
use super::order::{OwnFile, Part, Places, by_path};
use super::{FILES, add_first, packages};
use crate::base::convert::{index32, layer16};
use crate::cuda::context::{Inode, InventoryContext};
use crate::cuda::packages::Packages;
use crate::cuda::value::{Package, Searched, Toolkit};
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfKind;
use crate::formats::string_references::{Sort, StringReferences, UncertaintyReason};
use crate::jobs::both;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum total length of the paths of all candidate files, in bytes.
const PATH_BYTES: usize = 64 << 20;

/// The references of a file; the outer `None` if it was not searched.
#[allow(clippy::option_option, reason = "not distinguished: not searched, and nothing found")]
pub(super) fn searched<'a>(
    context: &InventoryContext<'a>,
    inode: Inode,
) -> Option<Option<&'a StringReferences>> {
    let read = context.layer(inode.0)?;
    if read.facts.was_streamed() {
        // The streamed content of a sparse file differs from the file.
        read.index.body_at(inode.1)?;
        return Some(read.facts.mentions(inode.1));
    }
    // Of a layer read by its table of contents, only some files were streamed.
    if read.facts.hash(inode.1).is_some() {
        return Some(read.facts.mentions(inode.1));
    }
    context.input.bodies.mentions.get(&inode).map(Some)
}

/// Programs of the package manager uv; `uvx` starts `uv`.
pub(super) const MANAGERS: [&str; 2] = ["uv", "uvx"];

/// Maximum depth of folders whose full path is checked; in real images folders are at most some thirty levels
/// deep.
const DEPTH: u16 = 128;

/// Selection of the files to search.
pub(super) struct Choice<'a> {
    pub(super) context: &'a InventoryContext<'a>,
    pub(super) packages: &'a Packages,
    pub(super) toolkits: &'a [Toolkit],
    pub(super) base_layers: usize,
    /// Whether the image has automatically installed packages, a compiler, Node.js or CUDA libraries; otherwise
    /// packages folders are not searched.
    pub(super) relevant: bool,
    /// Whether the image has git: then packages of the catalogue are searched for it.
    pub(super) has_git: bool,
    /// Packages of the application: installed from a folder or a repository, or started by the command.
    pub(super) own_packages: HashSet<usize>,
    /// Files named in the command: the application's, in any folder.
    pub(super) started: HashSet<NodeId>,
    pub(super) runtimes: Runtimes,
    /// Whether a system package manager with file lists exists.
    pub(super) has_database: bool,
}

impl<'a> Choice<'a> {
    /// Scripts, settings and programs of the application, sorted by path; then sources of Python packages
    /// that the catalogue does not know. Each inode once.
    pub(super) fn files(&self, searched: &mut Searched) -> Vec<OwnFile<'a>> {
        let context = self.context;
        let folders = self.folders();
        let layers = layer16(self.context.input.layers.len());
        let middle = self.context.rootfs.middle();
        let of = |layers: Range<u16>| {
            let mut searched = Searched::default();
            (self.files_of(layers, &folders, &mut searched), searched)
        };
        let (upper, (mut files, lower)) = both(|| of(middle..layers), || of(0..middle));
        files.extend(upper.0);
        for part in [lower, upper.1] {
            searched.files += part.files;
            searched.bytes += part.bytes;
            searched.known += part.known;
            searched.left_out += part.left_out;
            searched.programs_left_out += part.programs_left_out;
            part.programs.into_iter().for_each(|node| add_first(&mut searched.programs, node));
        }
        let too_long = leave_out_long(&folders, &mut files);
        searched.left_out += too_long;
        searched.programs_left_out += too_long;
        // Memory of all nodes: sorting is the peak of an analysis.
        drop(folders);
        by_path(context, &mut files);
        files.sort_by_key(|file| (file.part.is_of_package(), file.part == Part::Known));
        let mut seen = HashSet::new();
        let has_other_names = |inode: Inode| context.rootfs.names(inode.0, inode.1).len() > 1;
        files.retain(|file| !has_other_names(file.inode) || seen.insert(file.inode));
        files
    }

    /// The files of some layers to search, in memory order. `folders` are those of the merged view.
    fn files_of(
        &self,
        layers: Range<u16>,
        folders: &[(Folder, u32)],
        found: &mut Searched,
    ) -> Vec<OwnFile<'a>> {
        let context = self.context;
        let mut files: Vec<OwnFile<'a>> = Vec::new();
        let mut places = Places::new(context.rootfs);
        let mut known_owners: HashMap<(Option<usize>, bool), bool> = HashMap::new();
        // By archive of uv: whether an environment has a copy of it.
        let mut copies: HashMap<Vec<u8>, bool> = HashMap::new();
        let mut helpers: HashMap<(Option<usize>, Option<NodeId>), bool> = HashMap::new();
        let mut needed = None;
        let mut linked: HashMap<Inode, bool> = HashMap::new();
        let mut plain = 0;
        let may_be = |inode: Inode| usize::from(inode.0) >= self.base_layers && context.size(inode) > 0;
        for (inode, node) in
            context.files_of(layers, |inode, _| may_be(inode)).filter(|(inode, _)| may_be(*inode))
        {
            let (folder, name) = places.of(inode, node);
            let above = folders[folder.0 as usize].0;
            let started = !self.started.is_empty() && self.started.contains(&node.id());
            if above == Folder::Foreign && !started {
                continue;
            }
            // A package that is hard-linked from a cache does not belong to the application.
            if above == Folder::Cache && context.rootfs.names(inode.0, inode.1).len() > 1 {
                continue;
            }
            let built = above == Folder::Built && !started && !self.is_needed(name, &mut needed);
            // Cargo links what it built out of the folder. Another program in it may be what runs.
            if built {
                let has_other = || self.has_other_folder(inode, folders);
                if *linked.entry(inode).or_insert_with(has_other) {
                    continue;
                }
            }
            let built = built && (is_build_script(name) || !self.is_program(inode));
            if above == Folder::System && !started && self.is_of_system(inode) {
                continue;
            }
            // uv's archives are copies of what environments contain. The environments in its cache run themselves.
            let is_archive = || memchr::memmem::find(&context.path(node.id()), b"/archive-v").is_some();
            let archived = above == Folder::Cache && is_archive();
            if archived && self.is_copy(node.id(), &mut copies) {
                continue;
            }
            let in_packages = above == Folder::Packages || archived;
            let owner = self.packages.owners.of(node.id());
            let own = started || owner.is_some_and(|owner| self.own_packages.contains(&owner));
            let is_known_owner = || self.is_known_owner(owner, in_packages);
            let known = !own && *known_owners.entry((owner, in_packages)).or_insert_with(is_known_owner);
            if known {
                found.known += u64::from(in_packages && name.ends_with(b".py"));
                if !(self.has_git
                    && in_packages
                    && owner.is_some_and(|owner| self.is_searched_for_git(owner)))
                {
                    continue;
                }
            }
            // References in the application's own package count as the application's.
            let of_package = in_packages && !own;
            let is_idle = || packages::is_without_tools(self.packages, owner, node.parent().name(), name);
            if of_package && (!name.ends_with(b".py") || is_idle()) {
                leave_out_program(found, node.id(), name.ends_with(b".egg"));
                continue;
            }
            let Some(read) = context.layer(inode.0) else { continue };
            if is_paper(read.index.name(inode.1), read.index.dir_name(read.index.dir(inode.1))) {
                continue;
            }
            let Some(sort) = read.facts.search_kind(&read.index, inode.1) else {
                leave_out_program(found, node.id(), self.runtimes.run(context, folder, name));
                continue;
            };
            if sort == Sort::Binary && is_known(context, inode, name) {
                continue;
            }
            if sort == Sort::Plain && self.is_idle(node.id(), inode, built, (&mut plain, &mut *found)) {
                continue;
            }
            // Archives of uv have no owner.
            let archived = above == Folder::Cache && owner.is_none();
            let helper = (owner, archived.then_some(folder));
            let archive = || archived.then(|| context.path(node.id()));
            let is_helper = || packages::is_helper(self.packages, owner, archive().as_deref());
            let (of_distribution, is_automatic) = self.origin(owner);
            files.push(OwnFile {
                node: node.id(),
                folder,
                name,
                inode,
                sort,
                part: match of_package {
                    false if built => Part::Built,
                    false => Part::Application,
                    true if known => Part::Known,
                    true if *helpers.entry(helper).or_insert_with(is_helper) => Part::Helper,
                    true => Part::Package,
                },
                of_distribution,
                of_dependency: is_automatic && !started,
                started,
            });
        }
        files
    }

    /// Whether a file without a suffix needs no place in the list: one that was read and has no reference, as nearly all
    /// have, one in a cache, or one for which there is no room behind `listed` others.
    fn is_idle(
        &self,
        node: NodeId,
        inode: Inode,
        built: bool,
        (listed, found): (&mut u64, &mut Searched),
    ) -> bool {
        let context = self.context;
        let has_one_name = context.rootfs.names(inode.0, inode.1).len() <= 1;
        if !built && has_one_name && matches!(searched(context, inode), Some(None)) {
            found.files += 1;
            found.bytes += context.size(inode);
            return true;
        }
        if *listed >= FILES {
            found.left_out += 1;
            // So many files with a suffix that is not known are data.
            let mode = context.layer(inode.0).map_or(0, |read| read.index.mode(inode.1));
            if mode & 0o111 != 0 || !context.node(node).name().contains(&b'.') {
                found.programs_left_out += 1;
                add_first(&mut found.programs, node);
            }
            return true;
        }
        let is_in_cache = self.is_in_cache(node);
        *listed += u64::from(!is_in_cache);
        is_in_cache
    }

    /// Whether a program is a package manager by its content, or in the same folder as the one that it
    /// starts, and the image's command starts neither.
    pub(super) fn is_unused_manager(&self, file: &OwnFile<'_>) -> bool {
        let context = self.context;
        let manager = |node: NodeId| {
            let inode = context.node(node).content()?;
            let found = searched(context, inode).flatten()?;
            (found.habit == UncertaintyReason::PackageManager).then_some(node)
        };
        let is_one = file.sort == Sort::Binary && MANAGERS.iter().any(|name| name.as_bytes() == file.name);
        let of_folder = |name: &&str| context.paths.child(file.folder, name.as_bytes());
        is_one
            && context.paths.child(file.folder, b"uv").and_then(manager).is_some()
            && MANAGERS.iter().filter_map(of_folder).all(|node| !self.started.contains(&node))
    }

    /// Whether a system package owns a name of a file in a system folder. Without a database all files there
    /// are the system's.
    fn is_of_system(&self, inode: Inode) -> bool {
        let is_of_system = |owner: usize| self.packages.list.get(owner).is_some_and(Package::is_of_system);
        let mut names = self.context.rootfs.all_names(inode.0, inode.1);
        !self.has_database || names.any(|name| self.packages.owners.of(name).is_some_and(is_of_system))
    }

    fn is_program(&self, inode: Inode) -> bool {
        let facts = self.context.layer(inode.0).and_then(|read| read.facts.binary(inode.1));
        matches!(facts, Some(FileFacts::Elf(elf)) if elf.kind == ElfKind::Executable)
    }

    /// Whether a file has a name that is not in intermediate output of cargo.
    fn has_other_folder(&self, inode: Inode, folders: &[(Folder, u32)]) -> bool {
        let above = |node: NodeId| folders[self.context.node(node).parent().id().0 as usize].0;
        self.context.rootfs.all_names(inode.0, inode.1).any(|name| above(name) != Folder::Built)
    }

    /// Whether a program or library of the image needs a library of this name. `names` are those of all, once collected.
    fn is_needed(&self, name: &[u8], names: &mut Option<HashSet<&'a [u8]>>) -> bool {
        let collect = || {
            let elfs = self.context.binaries.iter().filter_map(|binary| match binary.facts {
                FileFacts::Elf(elf) => Some(elf),
                _ => None,
            });
            elfs.flat_map(|elf| elf.needed.iter().map(Vec::as_slice)).collect()
        };
        names.get_or_insert_with(collect).contains(name)
    }

    /// By node: ownership of the files in a folder, and the length of its path.
    fn folders(&self) -> Vec<(Folder, u32)> {
        let rootfs = self.context.rootfs;
        let mut folders = vec![(Folder::Own, 0_u32); rootfs.len()];
        let mut depths = vec![0_u16; rootfs.len()];
        // Folders precede their content.
        for node in rootfs.nodes().skip(1).filter(|node| node.kind() == NodeKind::Directory) {
            let (id, parent) = (node.id().0 as usize, node.parent().id().0 as usize);
            depths[id] = depths[parent].saturating_add(1);
            // Building all paths of nested folders has quadratic cost. Very deep ones count as the
            // application's.
            let path = if depths[id] > DEPTH { Vec::new() } else { node.path() };
            let (above, length) = folders[parent];
            let length = length.saturating_add(index32(1 + node.name().len()));
            folders[id] = (self.folder(above, &path, node.name()), length);
        }
        folders
    }

    /// Ownership of the files in a folder, given that of `above`. Packages may be in Python's own folder.
    fn folder(&self, above: Folder, path: &[u8], name: &[u8]) -> Folder {
        if above == Folder::Cache && name.starts_with(b"sdists-v") {
            // Sources that uv built packages from.
            return Folder::Foreign;
        }
        if above == Folder::Cache || is_cache(self.context, path, name) {
            return Folder::Cache;
        }
        // What build scripts write may be read when the service runs.
        if above == Folder::Built && name != b"out" || is_intermediate(self.context, path, name) {
            return Folder::Built;
        }
        let above = if above == Folder::Built { Folder::Own } else { above };
        // Tables of users.
        if matches!(path, b"/var/spool/cron" | b"/var/spool/cron/crontabs") {
            return Folder::Own;
        }
        let of_packages = matches!(name, b"site-packages" | b"dist-packages");
        if of_packages && self.relevant {
            Folder::Packages
        } else if of_packages || name == b".git" || is_foreign_folder(self.context, self.toolkits, path) {
            Folder::Foreign
        } else if above == Folder::Own && is_system(path) {
            Folder::System
        } else {
            above
        }
    }
}

/// Counts a program that is not searched, if it is one.
fn leave_out_program(found: &mut Searched, node: NodeId, is_one: bool) {
    if is_one {
        found.left_out += 1;
        found.programs_left_out += 1;
        add_first(&mut found.programs, node);
    }
}

/// Whether cargo compiled a program for the build itself.
pub(super) fn is_build_script(name: &[u8]) -> bool {
    name.starts_with(b"build-script-") || name.starts_with(b"build_script_")
}

/// If all paths together are too long, omits the last files in the order of the view. Returns the number of
/// omitted files.
fn leave_out_long(folders: &[(Folder, u32)], files: &mut Vec<OwnFile<'_>>) -> u64 {
    let length = |file: &OwnFile<'_>| folders[file.folder.0 as usize].1 as usize + 1 + file.name.len();
    if files.iter().map(length).sum::<usize>() <= PATH_BYTES {
        return 0;
    }
    files.sort_unstable_by_key(|file| file.node);
    let (before, mut bytes) = (files.len(), 0);
    files.retain(|file| {
        bytes += length(file);
        bytes <= PATH_BYTES
    });
    (before - files.len()) as u64
}

/// Whether string references to a file with this name matter: a compiler, git, Node.js or a part of CUDA.
pub(super) fn is_spoken_of(context: &InventoryContext<'_>, name: &[u8]) -> bool {
    matches!(name, b"nvcc" | b"cc1" | b"git" | b"node" | b"nodejs")
        || name.starts_with(b"libcu")
        || context.catalog.component_of(name).is_some()
}

/// Whether a program or library is known to the catalogue, in any folder: its dependencies are listed there.
fn is_known(context: &InventoryContext<'_>, inode: Inode, name: &[u8]) -> bool {
    let known = |name: &[u8]| context.catalog.component_of(name).is_some() || context.catalog.is_driver(name);
    let facts = context.layer(inode.0).and_then(|read| read.facts.binary(inode.1));
    let soname = match facts {
        Some(FileFacts::Elf(elf)) => elf.soname.as_deref(),
        _ => None,
    };
    known(name) || soname.is_some_and(known)
}

/// Whether a file only documents software: a licence, a list of requirements, metadata of a Python package, or
/// declarations of types. Licences in CUDA wheels list all libraries of the toolkit.
fn is_paper(name: &[u8], folder: &[u8]) -> bool {
    const PAPERS: [&[u8]; 5] = [b"license", b"licence", b"copying", b"notice", b"eula"];
    let starts =
        |paper: &[u8]| name.get(..paper.len()).is_some_and(|start| start.eq_ignore_ascii_case(paper));
    let ends = |end: &[u8]| {
        let start = name.len().checked_sub(end.len());
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(end))
    };
    folder.ends_with(b".dist-info")
        || starts(b"requirements") && ends(b".txt")
        || [&b".d.ts"[..], b".d.mts", b".d.cts"].into_iter().any(ends)
        || PAPERS.iter().any(|paper| starts(paper)) && !ends(b".py") && !ends(b".sh")
}
