//! String references in application files: build tools, CUDA headers, shared libraries.

mod archives;
mod choice;
mod folders;
mod order;
mod packages;
mod recipes;
mod started;

use archives::{Runtimes, runs_archives};
use choice::{Choice, MANAGERS, is_build_script, is_spoken_of, searched};
use folders::is_node;
use order::{OwnFile, Part};
use started::started;

use super::context::{Inode, InventoryContext};
use super::packages::Packages;
use super::value::{Package, Searched, StringReference, Toolkit};
use crate::base::text::escape;
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfFacts;
use crate::formats::string_references::{STARTS, Sort, StringReferences, UncertaintyReason, is_wrapper};
use crate::rootfs::NodeId;

pub use packages::NODEJS;

/// Maximum number of searched files; applications have some hundred.
const FILES: u64 = 20_000;
/// Maximum total size of searched files, in bytes; the second pass reads them in about a second.
const BYTES: u64 = 256 << 20;
/// Factor of both limits for sources of Python packages.
const PACKAGED: u64 = 4;
/// Maximum number of library names for all files; applications have some thousand.
const NAMES: usize = 100_000;
/// References found, and files that need the second pass.
#[derive(Default)]
pub(super) struct StringReferenceScan {
    pub(super) mentions: Vec<StringReference>,
    pub(super) searched: Searched,
    pub(super) wanted: Vec<Inode>,
    /// Whether the image has programs or libraries of CUDA.
    has_cuda: bool,
}

impl StringReferenceScan {
    /// Whether it matters what a file starts: of a distribution's programs, only names of CUDA's tools count, unless it is
    /// the service.
    fn counts(&self, file: &OwnFile<'_>) -> bool {
        !file.of_distribution || self.has_cuda || file.started
    }

    fn leave_out_program(&mut self, file: &OwnFile<'_>) {
        if self.counts(file) {
            self.searched.programs_left_out += 1;
            add_first(&mut self.searched.programs, file.node);
        }
    }
}

/// Maximum files of one kind that are named in questions and proofs.
const NAMED: usize = 8;

fn add_first(list: &mut Vec<NodeId>, node: NodeId) {
    if list.len() < NAMED {
        list.push(node);
    }
}

/// Collects the string references of all application files. Selection and limits do not depend on how the
/// layers are stored.
pub(super) fn gather(
    context: &InventoryContext<'_>,
    packages: &Packages,
    toolkits: &[Toolkit],
    base_layers: usize,
) -> StringReferenceScan {
    let mut room = (FILES, BYTES);
    // Automatic packages may be reported as orphaned, for which references matter too.
    let names = || context.binaries.iter().map(|binary| context.node(binary.node).name());
    let relevant = packages.list.iter().any(|package| package.automatic.is_some())
        || names().any(|name| is_spoken_of(context, name));
    let has_cuda = !toolkits.is_empty() || names().any(|name| context.catalog.component_of(name).is_some());
    let mut heard = StringReferenceScan { has_cuda, ..StringReferenceScan::default() };
    let has_git = names().any(|name| name == b"git");
    let (mut lost, mut names, mut programs) = (0_u64, 0, 0);
    for layer in context.input.layers.iter().flatten() {
        lost = lost.saturating_add(layer.facts.lost_string_references());
    }
    heard.searched.left_out = lost;
    heard.searched.programs_left_out = u64::from(runs_archives(context));
    let (own_packages, started) = started(context, packages);
    let runtimes = Runtimes::of(context);
    let has_database = packages.list.iter().any(|package| package.is_of_system() && package.files.is_some());
    let choice = Choice {
        context,
        packages,
        toolkits,
        base_layers,
        relevant,
        has_git,
        own_packages,
        started,
        runtimes,
        has_database,
    };
    let mut room_of_packages = (PACKAGED * room.0, PACKAGED * room.1);
    let mut room_of_plain = room;
    let mut search = |heard: &mut StringReferenceScan, file: &OwnFile<'_>| {
        let size = context.size(file.inode);
        let room = match file.sort {
            Sort::Plain => &mut room_of_plain,
            _ if file.part.is_of_package() => &mut room_of_packages,
            _ => &mut room,
        };
        let is_large = size > file.sort.most();
        if is_large || room.0 == 0 || size > room.1 {
            heard.searched.left_out += 1;
            // Text files of this size are data; programs, and all that there is no room for, may refer to anything.
            let is_data = is_large && matches!(file.sort, Sort::Text | Sort::Source | Sort::Plain);
            if !is_data && !is_node(context, &context.path(file.node)) {
                heard.leave_out_program(file);
            }
            return;
        }
        *room = (room.0 - 1, room.1 - size);
        let Some(mentions) = searched(context, file.inode) else {
            heard.searched.left_out += 1;
            heard.leave_out_program(file);
            heard.wanted.push(file.inode);
            return;
        };
        // What was searched for git alone does not count as searched.
        if file.part != Part::Known {
            heard.searched.files += 1;
            heard.searched.bytes += size;
        }
        if let Some(mentions) = mentions {
            let room = NAMES.saturating_sub(names);
            let cut = mentions.cut || mentions.libraries.len() > room;
            let unbounded = is_unbounded(context, file.inode, mentions.habit)
                || starts_by_instructions(context, file.inode, mentions.habit)
                    && starts_unseen(context, packages, file);
            heard.searched.left_out += u64::from(cut || unbounded);
            // A Python archive, or a script with more references than are read.
            if unbounded || mentions.cut && matches!(file.sort, Sort::Script | Sort::Python | Sort::Plain) {
                heard.leave_out_program(file);
            }
            let library = mentions.habit == UncertaintyReason::Library && !is_of_interpreter(file.name);
            if library && heard.counts(file) {
                heard.searched.libraries_left_out += 1;
                add_first(&mut heard.searched.libraries, file.node);
            }
            let found = mention(context, file, mentions, [room, NAMES.saturating_sub(programs)]);
            names += found.as_ref().map_or(0, |found| found.libraries.len());
            programs += found.as_ref().map_or(0, |found| found.programs.len());
            heard.mentions.extend(found);
        }
    };
    let mut files = choice.files(&mut heard.searched);
    // In place: two new lists would be as long as the first.
    let managers: Vec<_> = files.extract_if(.., |file| choice.is_unused_manager(file)).collect();
    let built: Vec<_> = files.extract_if(.., |file| file.part == Part::Built).collect();
    for file in &files {
        search(&mut heard, file);
    }
    // A package manager that no file starts builds no packages.
    let starts = |mention: &StringReference| mention.words.iter().any(|word| MANAGERS.contains(word));
    if heard.mentions.iter().any(starts) {
        for file in &managers {
            search(&mut heard, file);
        }
    }
    if recipes::runs_intermediate(context, &heard.mentions) {
        // Build scripts are run by cargo alone.
        let runs_cargo = recipes::may_run_cargo(context, &heard.mentions);
        for file in built.iter().filter(|file| runs_cargo || !is_build_script(file.name)) {
            search(&mut heard, file);
        }
    }
    recipes::leave_out(context, &choice.started, &mut heard.mentions);
    heard
}

/// Whether a program may start other programs with names that do not occur in it.
fn is_unbounded(context: &InventoryContext<'_>, inode: Inode, habit: UncertaintyReason) -> bool {
    matches!(habit, UncertaintyReason::Unbounded | UncertaintyReason::PackageManager)
        || habit == UncertaintyReason::Rust && is_static(context, inode)
}

/// Whether a program starts others, with names that may be part of its instructions.
fn starts_by_instructions(context: &InventoryContext<'_>, inode: Inode, habit: UncertaintyReason) -> bool {
    habit == UncertaintyReason::Instructions
        || matches!(habit, UncertaintyReason::Shell | UncertaintyReason::Library) && is_static(context, inode)
}

fn is_static(context: &InventoryContext<'_>, inode: Inode) -> bool {
    let facts = context.layer(inode.0).and_then(|read| read.facts.binary(inode.1));
    let is_one =
        |elf: &ElfFacts| elf.is_static || elf.pie && elf.interpreter.is_none() && elf.needed.is_empty();
    matches!(facts, Some(FileFacts::Elf(elf)) if is_one(elf))
}

/// Whether a compiled program that starts others is the application's own. What an interpreter, a launcher or a server
/// starts is named in scripts, commands and settings; they are in a folder of programs, or at the root.
fn starts_unseen(context: &InventoryContext<'_>, packages: &Packages, file: &OwnFile<'_>) -> bool {
    const FOLDERS: [&[u8]; 6] = [b"", b"bin", b"driver", b"lib", b"libexec", b"sbin"];
    const INTERPRETERS: [&[u8]; 34] = [
        b"R",
        b"Rscript",
        b"bash",
        b"beam.smp",
        b"bun",
        b"busybox",
        b"dash",
        b"deno",
        b"erl_child_setup",
        b"erlexec",
        b"gawk",
        b"httpd",
        b"java",
        b"jspawnhelper",
        b"julia",
        b"lua",
        b"luajit",
        b"mawk",
        b"nginx",
        b"node",
        b"nodejs",
        b"perl",
        b"php",
        b"php-cgi",
        b"php-fpm",
        b"phpdbg",
        b"pypy",
        b"python",
        b"ruby",
        b"sh",
        b"tclsh",
        b"uwsgi",
        b"wish",
        b"zsh",
    ];
    let end = file.name.iter().rposition(|byte| !byte.is_ascii_digit() && !b".-".contains(byte));
    let name = &file.name[..end.map_or(0, |last| last + 1)];
    let owner = packages.owners.of(file.node).and_then(|owner| packages.list.get(owner));
    let is_in_place = FOLDERS.contains(&context.node(file.folder).name());
    file.part == Part::Application
        && !owner.is_some_and(Package::is_of_system)
        && !(is_in_place && (INTERPRETERS.contains(&name) || is_wrapper(file.name)))
}

/// Whether a library belongs to an interpreter: the programs that it starts are named in scripts.
fn is_of_interpreter(name: &[u8]) -> bool {
    const INTERPRETERS: [&[u8]; 10] = [
        b"libpython",
        b"libperl",
        b"libruby",
        b"libphp",
        b"libR.",
        b"libtcl",
        b"liblua",
        b"libnode",
        b"libjvm",
        b"libjli",
    ];
    INTERPRETERS.iter().any(|start| name.starts_with(start))
}

fn mention(
    context: &InventoryContext<'_>,
    file: &OwnFile<'_>,
    mentions: &StringReferences,
    [room, room_of_programs]: [usize; 2],
) -> Option<StringReference> {
    let facts = context.layer(file.inode.0).and_then(|read| read.facts.binary(file.inode.1));
    let of_links = |name: &Vec<u8>| match facts {
        Some(FileFacts::Elf(elf)) => elf.needed.contains(name) || elf.soname.as_ref() == Some(name),
        _ => false,
    };
    let is_known = file.part == Part::Known;
    let names = mentions.libraries.iter().filter(|name| !is_known && !of_links(name));
    let libraries: Vec<String> = names.take(room).map(|name| escape(name)).collect();
    let is_told = |word: &&&'static str| match (file.of_distribution, file.part) {
        (_, Part::Known) => **word == "git",
        (true, _) => packages::OF_PACKAGES.contains(*word),
        (false, Part::Package | Part::Helper) => {
            packages::counts(word, &mentions.words, file.part == Part::Helper)
        }
        // A module that compiles, besides.
        (false, Part::Application | Part::Built) => **word == "ccompiler" || !STARTS.contains(*word),
    };
    let words: Vec<&'static str> = mentions.words.iter().filter(is_told).copied().collect();
    let of_application =
        matches!(file.part, Part::Application | Part::Built) && !file.of_distribution && !file.of_dependency;
    // Which other programs a package starts is the matter of its dependencies.
    let is_counted = |name: &&Vec<u8>| of_application || packages::is_of_nodejs(name);
    let programs = mentions.programs.iter().filter(is_counted).take(room_of_programs);
    let programs: Vec<String> = programs.map(|name| escape(name)).collect();
    let found = !words.is_empty() || !libraries.is_empty() || !programs.is_empty();
    found.then_some(StringReference {
        node: file.node,
        words,
        libraries,
        programs,
        of_package: file.part.is_of_package(),
    })
}
