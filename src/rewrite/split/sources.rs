//! Build-only files: sources, and files that compilers and build systems write next to them.

mod outputs;

use std::collections::BTreeSet;

use hashbrown::HashSet;
use outputs::Outputs;

use super::context::SplitContext;
use super::operands::operands;
use super::shell::{COMPILERS, Work};
use super::steps::{Kind, Steps};
use crate::cuda::links::folder_of;
use crate::findings::{Answer, Category, Verdict};
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfKind;
use crate::rewrite::tidy::Call;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Files that mark the top of a source tree.
const MARKS: [&[u8]; 12] = [
    b"CMakeLists.txt",
    b"Makefile",
    b"makefile",
    b"GNUmakefile",
    b"configure",
    b"configure.ac",
    b"meson.build",
    b"setup.py",
    b"Cargo.toml",
    b"go.mod",
    b"pom.xml",
    b"build.gradle",
];

/// Extensions of compiled languages, and of compiler output.
const SOURCES: [&[u8]; 26] = [
    b".c", b".cc", b".cpp", b".cxx", b".cu", b".cuh", b".h", b".hh", b".hpp", b".hxx", b".inl", b".f",
    b".f90", b".s", b".S", b".rs", b".go", b".java", b".m4", b".am", b".ac", b".in", b".cmake", b".ninja",
    b".pc.in", b".d",
];
const LEFT_BY_COMPILERS: [&[u8]; 7] = [b".o", b".lo", b".la", b".a", b".obj", b".gch", b".tlog"];
const LEFT_BY_SYSTEMS: [&[u8]; 9] = [
    b"CMakeCache.txt",
    b"compile_commands.json",
    b"install_manifest.txt",
    b".ninja_log",
    b".ninja_deps",
    b"config.log",
    b"config.status",
    b"cmake_install.cmake",
    b"CTestTestfile.cmake",
];

/// Folders for sources.
const FOR_SOURCES: [&[u8]; 5] = [b"/build", b"/src", b"/tmp", b"/usr/src", b"/var/tmp"];

/// Where builds install what only other builds read.
const INSTALLED: [&[u8]; 6] = [
    b"/usr/local/include",
    b"/usr/local/lib/cmake",
    b"/usr/local/lib/pkgconfig",
    b"/usr/local/share/cmake",
    b"/usr/local/share/aclocal",
    b"/usr/local/share/pkgconfig",
];

/// Build-only files in the user's layers. Empty when nothing is compiled.
///
/// What a building step installs for other builds counts, unless something compiles at run time. A source tree that nothing names at run
/// time counts as a whole. In one that the image runs in, or if the command starts what its own files list, files count one
/// by one. CUDA, C and C++ sources stay if something compiles them at run time.
pub(super) fn build_only(context: &SplitContext<'_>, steps: &Steps<'_, '_>) -> HashSet<NodeId> {
    let mut found = HashSet::new();
    if !steps.list.iter().any(|step| step.compiles) {
        return found;
    }
    let named = context.named_paths();
    found.extend(unpacked(context, steps).into_iter().filter(|node| {
        let path = context.rootfs.node(*node).path();
        !named.iter().any(|one| is_within(&path, one))
    }));
    let input = context.input;
    let compiles_later = input.findings.list.iter().any(|finding| {
        let is_used =
            finding.verdict == Verdict::Needed || input.plan.answer(&finding.id) == Some(Answer::Used);
        finding.category == Category::Compilers && is_used
    });
    if !compiles_later {
        found.extend(installed(context, steps).filter(|node| {
            let path = context.rootfs.node(*node).path();
            !named.iter().any(|one| is_within(one, &path) || is_within(&path, one))
        }));
    }
    found.extend(unused_uv(context, steps));
    if !compiles_later {
        // Not beside what the image runs, which may read them.
        let lived_in: Vec<&[u8]> = named
            .iter()
            .map(|one| {
                let node = context.paths.lookup(one).map(|node| context.rootfs.node(node));
                let is_folder = node.is_some_and(|node| node.kind() == NodeKind::Directory);
                if is_folder { one } else { folder_of(one) }
            })
            .filter(|one| !matches!(*one, b"" | b"/"))
            .collect();
        let is_lived_in = |path: &[u8]| lived_in.iter().any(|folder| is_within(path, folder));
        found.extend(compiled(context, steps).into_iter().filter(|node| {
            let path = context.rootfs.node(*node).path();
            // Elsewhere, what was compiled may read its own source by its path.
            FOR_SOURCES.iter().any(|folder| is_within(&path, folder))
                && !is_lived_in(&path)
                && !named.iter().any(|one| is_within(&path, one))
        }));
    }
    let mut outputs = Outputs::new(context, &named, compiles_later);
    let starts_others = context.starts_others();
    let builds_here = folders_of_builds(context, &named);
    for top in trees(context) {
        let path = context.rootfs.node(top).path();
        if builds_here.iter().any(|folder| is_within(folder, &path) || is_within(&path, folder)) {
            continue;
        }
        let runs_here =
            starts_others || named.iter().any(|one| is_within(one, &path) || is_within(&path, one));
        // A setting that names the top names no file in it.
        let inside = || named.iter().filter(|one| is_within(one, &path) && one.len() > path.len());
        let mut open = vec![context.rootfs.node(top)];
        while let Some(node) = open.pop() {
            if node.kind() == NodeKind::Directory {
                open.extend(node.children());
                continue;
            }
            let is_users = context.is_users(node) && context.system_owner(node.id()).is_none();
            let mut is_for_builds = || {
                is_build_file(context, node, compiles_later)
                    || !inside().any(|one| is_within(&node.path(), one)) && outputs.is_for_builds(node)
            };
            if is_users && (!runs_here || is_for_builds()) {
                found.insert(node.id());
            }
        }
    }
    found
}

/// Folders in which something starts a build when the service runs: those of scripts that the command runs, and of files of
/// the application for which a build tool stays because of an open question, and the working directory.
fn folders_of_builds(context: &SplitContext<'_>, named: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let is_builder = |name: &str| COMPILERS.contains(&name);
    let is_tool = |node: NodeId| matches!(context.rootfs.node(node).name(), b"make" | b"gmake" | b"ninja");
    let is_open = context.input.findings.list.iter().any(|finding| {
        finding.verdict == Verdict::Unsure
            && finding.category == Category::BuildTools
            && context.input.plan.answer(&finding.id) != Some(Answer::Unused)
            && finding.items.iter().filter_map(|item| item.node).any(is_tool)
    });
    let makes = |name: &str| matches!(name, "make" | "ninja");
    let mut found = Vec::new();
    for mention in &context.input.inventory.mentions {
        let starts = mention.programs.iter().any(|name| is_builder(name))
            || mention.words.iter().any(|name| is_builder(name));
        let node = context.rootfs.node(mention.node);
        let path = node.path();
        // Programs such as uv name compilers for what others ask of them.
        let is_script =
            node.kind() == NodeKind::File && !MARKS.contains(&node.name()) && !is_elf(context, node);
        let keeps_tool = is_open
            && !mention.of_package
            && context.system_owner(node.id()).is_none()
            && mention.words.iter().any(|name| makes(name));
        if is_script && (starts && named.contains(&path) || keeps_tool) {
            found.push(folder_of(&path).to_vec());
            let config = context.input.image.run_config();
            found.extend(config.and_then(|config| config.working_dir().clone()).map(String::into_bytes));
        }
    }
    found.retain(|folder| !matches!(folder.as_slice(), b"" | b"/"));
    found
}

/// The files of uv, installed with pip, if an instruction runs it and no file, setting or command of the image does.
fn unused_uv<'c>(context: &'c SplitContext<'_>, steps: &Steps<'_, '_>) -> impl Iterator<Item = NodeId> + 'c {
    const PROGRAMS: [&str; 2] = ["uv", "uvx"];
    let input = context.input;
    let is_one = |text: &str| {
        let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],".contains(c));
        words.filter_map(|word| word.rsplit('/').next()).any(|name| PROGRAMS.contains(&name))
    };
    let packages = &input.inventory.packages;
    let own = packages.iter().position(|package| package.manager == "pip" && package.name == "uv");
    let is_own = |node: NodeId| own.is_some() && input.inventory.owners.of(node) == own;
    let config = input.image.run_config();
    let lists = config.map(|config| [config.entrypoint(), config.cmd(), config.env()]);
    let in_config = lists.into_iter().flatten().flatten().flatten().any(|text| is_one(text));
    let in_files = input.inventory.mentions.iter().filter(|mention| !is_own(mention.node)).any(|mention| {
        mention.words.iter().any(|word| PROGRAMS.contains(word))
            || mention.programs.iter().any(|name| PROGRAMS.contains(&&**name))
    });
    let in_checks = input.image.health_check.iter().any(|text| is_one(text));
    let in_packages = packages.iter().any(|package| package.depends.iter().any(|name| name == "uv"));
    // What cannot be searched may name it.
    let is_searched = input.inventory.searched.programs_left_out == 0;
    let is_unused = is_searched
        && !in_checks
        && !in_packages
        && !in_config
        && !in_files
        && steps.programs().iter().any(|name| PROGRAMS.contains(name));
    let files = own.filter(|_| is_unused).and_then(|own| context.files_of.get(&own));
    files.into_iter().flatten().copied().filter(|node| context.is_users(context.rootfs.node(*node)))
}

/// Files that compiling steps wrote to the folders of headers and of descriptions for build systems.
fn installed<'c>(
    context: &'c SplitContext<'_>,
    steps: &'c Steps<'_, '_>,
) -> impl Iterator<Item = NodeId> + 'c {
    // Not where a link leads.
    let own = |folder: &&[u8]| {
        context.paths.lookup(folder).filter(|node| context.rootfs.node(*node).path() == *folder)
    };
    let tops = INSTALLED.iter().filter_map(own);
    let mut open: Vec<NodeId> = tops.collect();
    std::iter::from_fn(move || {
        loop {
            let node = context.rootfs.node(open.pop()?);
            if node.kind() == NodeKind::Directory {
                open.extend(node.children().map(Node::id));
                continue;
            }
            let is_free = || context.input.inventory.owners.of(node.id()).is_none();
            let compiled = || steps.origin(node).is_some_and(|step| steps.list[step].compiles);
            if context.is_users(node) && is_free() && compiled() {
                return Some(node.id());
            }
        }
    })
}

/// Sources of the build context that a compiler is given by their paths: `gcc -o tool /usr/src/tool.c`.
fn compiled(context: &SplitContext<'_>, steps: &Steps<'_, '_>) -> Vec<NodeId> {
    let mut found = Vec::new();
    for (at, step) in steps.list.iter().enumerate().filter(|(_, step)| step.compiles) {
        let (Some(run), Kind::Run(works)) = (steps.run(at), &step.kind) else { continue };
        let commands = run.commands.iter().zip(works).zip(operands(steps, at));
        for ((command, _), named) in commands.filter(|((_, work), _)| **work == Work::Compile) {
            let is_source = |text: &str| SOURCES.iter().any(|end| text.as_bytes().ends_with(end));
            let texts = command.words.iter().map(|word| word.text.as_str()).filter(|text| is_source(text));
            found.extend(texts.filter_map(|text| given(context, steps, at, named.folder.as_deref(), text)));
        }
    }
    found
}

/// Archives of the build context that a later building `RUN` unpacks: the stage has what came of them.
fn unpacked(context: &SplitContext<'_>, steps: &Steps<'_, '_>) -> Vec<NodeId> {
    const ENDINGS: [&str; 9] =
        [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".zip"];
    let mut found = Vec::new();
    for (at, _) in steps.list.iter().enumerate().filter(|(_, step)| step.makes()) {
        let Some(run) = steps.run(at) else { continue };
        for (command, named) in run.commands.iter().zip(operands(steps, at)) {
            let call = Call::of(command).filter(unpacks);
            let words = call.iter().flat_map(|call| call.words).map(|word| word.text.as_str());
            let archives = words.filter(|word| ENDINGS.iter().any(|ending| word.ends_with(ending)));
            found
                .extend(archives.filter_map(|word| given(context, steps, at, named.folder.as_deref(), word)));
        }
    }
    found
}

/// The file that an instruction before a step copies from the build context to the path that a word of the step names.
fn given(
    context: &SplitContext<'_>,
    steps: &Steps<'_, '_>,
    at: usize,
    folder: Option<&str>,
    word: &str,
) -> Option<NodeId> {
    let written = match folder {
        _ if word.starts_with('/') => word.to_owned(),
        Some(folder) => format!("{folder}/{word}"),
        None => return None,
    };
    let path = steps.tidying.absolute(steps.list[at].place, &written)?;
    let node = context.paths.lookup(path.as_bytes())?;
    let origin = steps.origin(context.rootfs.node(node))?;
    (origin < at && steps.list[origin].kind == Kind::Context).then_some(node)
}

/// Whether a call unpacks an archive: it neither makes nor lists one.
fn unpacks(call: &Call<'_>) -> bool {
    let mut words = call.words.iter().map(|word| word.text.as_str());
    match call.program {
        "tar" | "bsdtar" => words.enumerate().any(|(place, word)| match word.strip_prefix('-') {
            Some(_) if word.starts_with("--") => matches!(word, "--extract" | "--get"),
            Some(letters) => letters.contains('x'),
            None => place == 0 && word.starts_with('x'),
        }),
        "unzip" => !words.any(|word| word.starts_with(['-']) && word.contains(['l', 't', 'v', 'Z', 'z'])),
        _ => false,
    }
}

/// Tops of source trees: the topmost folders of the user's layers with a mark of a build system.
fn trees(context: &SplitContext<'_>) -> Vec<NodeId> {
    let mut tops: BTreeSet<(Vec<u8>, NodeId)> = BTreeSet::new();
    for node in context.rootfs.nodes() {
        let is_mark = node.kind() == NodeKind::File
            && MARKS.contains(&node.name())
            && context.is_users(node)
            && context.input.inventory.owners.of(node.id()).is_none();
        let folder = node.parent();
        let path = || folder.path();
        // Language packages contain such files too.
        if is_mark && folder.id() != NodeId::ROOT && !is_installed(&path()) {
            tops.insert((path(), folder.id()));
        }
    }
    let mut list: Vec<(Vec<u8>, NodeId)> = Vec::new();
    for (path, id) in tops {
        if !list.iter().any(|(top, _)| is_within(&path, top)) {
            list.push((path, id));
        }
    }
    list.into_iter().map(|(_, id)| id).collect()
}

/// Whether a folder belongs to an installed package.
fn is_installed(path: &[u8]) -> bool {
    const PARTS: [&[u8]; 8] = [
        b"/site-packages",
        b"/dist-packages",
        b"/node_modules",
        b"/lib/python",
        b"/share/",
        b"/usr/lib/",
        b"/include/",
        b"/.git/",
    ];
    let folder = [path, b"/"].concat();
    PARTS.iter().any(|part| memchr::memmem::find(&folder, part).is_some())
        || folder.starts_with(b"/usr/local/cuda")
}

fn is_build_file(context: &SplitContext<'_>, node: Node<'_>, compiles_later: bool) -> bool {
    let name = node.name();
    let ends = |list: &[&[u8]]| list.iter().any(|end| name.ends_with(end) && name.len() > end.len());
    let path = node.path();
    if memchr::memmem::find(&path, b"/CMakeFiles/").is_some() || LEFT_BY_SYSTEMS.contains(&name) {
        return true;
    }
    if is_elf(context, node) {
        return ends(&LEFT_BY_COMPILERS);
    }
    let is_source = ends(&SOURCES) && !compiles_later;
    let is_mark = MARKS.contains(&name) && name != b"setup.py" || matches!(name, b"Cargo.lock" | b"go.sum");
    let is_paper = [&b"README"[..], b"LICENSE", b"Dockerfile", b".dockerignore", b".gitignore"]
        .iter()
        .any(|start| name.starts_with(start));
    is_source || is_mark || is_paper || ends(&LEFT_BY_COMPILERS)
}

/// Whether a file is an ELF program or shared library.
pub(super) fn is_elf(context: &SplitContext<'_>, node: Node<'_>) -> bool {
    let Some((layer, entry)) = node.content() else { return false };
    let read = context.input.layers.get(usize::from(layer)).and_then(Option::as_ref);
    matches!(
        read.and_then(|read| read.facts.binary(entry)),
        Some(FileFacts::Elf(elf)) if matches!(elf.kind, ElfKind::Executable | ElfKind::SharedObject)
    )
}

/// Whether a path is a folder or is below it.
pub(super) fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
