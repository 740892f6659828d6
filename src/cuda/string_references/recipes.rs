//! Files of build systems: their references show what the build used, not what runs.

use hashbrown::HashSet;

use crate::base::text::escape;
use crate::cuda::context::InventoryContext;
use crate::cuda::links::{file_name, folder_of};
use crate::cuda::value::StringReference;
use crate::formats::string_references::{
    BUILDING, CARGO_BUILDS, TREE_SCRIPTS, is_of_make, names_intermediate,
};
use crate::rootfs::NodeId;

/// Names of build systems; a reference means that one may be used.
const BUILDERS: [&str; 3] = ["cmake", "make", "ninja"];

/// Folders between a file and the top of its source tree.
const DEPTH: usize = 8;
/// Programs that compile sources in Go when the container starts, or when they change.
const RUNS_GO: [&str; 32] = [
    "CompileDaemon",
    "air",
    "bazel",
    "bee",
    "buffalo",
    "dlv",
    "encore",
    "fiber",
    "fresh",
    "gin",
    "ginkgo",
    "go",
    "go-task",
    "goconvey",
    "gomacro",
    "gonb",
    "gore",
    "gorun",
    "gotestsum",
    "gow",
    "mage",
    "modd",
    "realize",
    "reflex",
    "revel",
    "skaffold",
    "task",
    "wails",
    "wgo",
    "xcaddy",
    "xgo",
    "yaegi",
];
/// Programs that run cargo, besides its own ones (`cargo-watch`).
const RUNS_CARGO: [&str; 5] = ["bacon", "cargo", "cross", "dx", "trunk"];

/// Scripts that autotools and PHP put into source trees.
const SCRIPTS: [&[u8]; 16] = [
    b"ar-lib",
    b"autogen.sh",
    b"bootstrap",
    b"compile",
    b"config.guess",
    b"config.rpath",
    b"config.sub",
    b"configure",
    b"depcomp",
    b"install-sh",
    b"ltmain.sh",
    b"missing",
    b"mkinstalldirs",
    b"run-tests.php",
    b"shtool",
    b"test-driver",
];

/// Whether a file is metadata of a package: that of Python lists what it was built with, that of npm where its repository
/// is and how it is built and tested, and what pnpm keeps of the registry the same of all versions.
fn is_metadata(lived_in: &[Vec<u8>], path: &[u8]) -> bool {
    // The service itself may be installed like a package.
    if lives_beside(lived_in, path) {
        return false;
    }
    let has = |part: &[u8]| memchr::memmem::find(path, part).is_some();
    has(b".dist-info/")
        || path.ends_with(b"/package.json") && has(b"/node_modules/")
        || path.ends_with(b".json") && has(b"/pnpm/metadata")
}

/// Whether the service lives in the folder of a file, or below it.
fn lives_beside(lived_in: &[Vec<u8>], path: &[u8]) -> bool {
    let inside = [folder_of(path), b"/"].concat();
    lived_in.iter().any(|path| path == folder_of(&inside) || path.starts_with(&inside))
}

/// Whether a file belongs to a package that npm installed.
fn is_of_node(lived_in: &[Vec<u8>], path: &[u8]) -> bool {
    memchr::memmem::find(path, MODULES).is_some() && !lives_beside(lived_in, path)
}

const MODULES: &[u8] = b"/node_modules/";

/// The folder of the package in `node_modules` to which a file belongs, with the slash at its end.
fn package_of_node(path: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::rfind(path, MODULES)? + MODULES.len();
    let mut ends = path[start..].iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let scope = usize::from(path[start..].starts_with(b"@"));
    ends.nth(scope).map(|end| &path[..=start + end])
}

/// Whether a file is a test or a manual of a package in `node_modules`, which only its authors run.
fn is_beside_package(path: &[u8]) -> bool {
    const TESTS: [&[u8]; 3] = [b"__tests__", b"test", b"tests"];
    const MANUALS: [&[u8]; 3] = [b"doc", b"docs", b"man"];
    let Some(package) = package_of_node(path) else { return false };
    let mut parts = path[package.len()..].split(|byte| *byte == b'/');
    let is_source = || [&b".js"[..], b".cjs", b".mjs", b".ts"].iter().any(|end| path.ends_with(end));
    let folder = parts.next().unwrap_or_default();
    parts.next().is_some() && (TESTS.contains(&folder) || MANUALS.contains(&folder) && !is_source())
}

/// Whether a file is the script that fetches sources of a package in `node_modules` before they are built.
fn is_of_sources(path: &[u8]) -> bool {
    let rest = package_of_node(path).map(|package| &path[package.len()..]);
    rest == Some(b"deps/download.sh")
}

/// The packages in `node_modules` of which another file names a folder of tests; the empty name for the application.
fn naming_tests<'c>(context: &InventoryContext<'_>, mentions: &'c [StringReference]) -> HashSet<Vec<u8>> {
    let names =
        |mention: &&'c StringReference| mention.words.iter().any(|word| matches!(*word, "test/" | "tests/"));
    let paths = mentions.iter().filter(names).map(|mention| context.path(mention.node));
    let others = paths.filter(|path| !is_beside_package(path));
    others.map(|path| package_of_node(&path).unwrap_or_default().to_vec()).collect()
}

/// Whether a file is the script with which an installed gem built its extension: only an installation runs it, and what
/// installs gems says so itself.
fn is_of_gem(lived_in: &[Vec<u8>], path: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(path, part).is_some();
    file_name(path) == b"extconf.rb" && has(b"/gems/") && has(b"/ext/") && !lives_beside(lived_in, path)
}

/// Removes the references in files that only builds read. Those of a build system count if another file or the command
/// refers to a build system or to such scripts. What cargo and build services record never counts. Files that the command
/// starts always count.
pub(super) fn leave_out(
    context: &InventoryContext<'_>,
    started: &HashSet<NodeId>,
    mentions: &mut Vec<StringReference>,
) {
    let is_started = |mention: &StringReference| started.contains(&mention.node);
    let lived_in = lived_in(context, started);
    let naming_tests = naming_tests(context, mentions);
    // A source of the application, or another one of the package, may start them.
    let is_unnamed = |path: &[u8]| {
        let package = package_of_node(path).unwrap_or_default();
        !naming_tests.contains(package) && !naming_tests.contains(&b""[..])
    };
    let kind = |mention: &StringReference| {
        let path = context.path(mention.node);
        if is_program(context, mention.node) {
            Kind::Own
        } else if is_started(mention) {
            if is_recipe(&path) { Kind::OfTree } else { Kind::Own }
        } else if is_record_of_cargo(&path) || is_of_service(&path) || is_metadata(&lived_in, &path) {
            Kind::Record
        } else if is_of_node(&lived_in, &path)
            && (is_recipe(&path) || is_of_sources(&path) || is_beside_package(&path) && is_unnamed(&path))
        {
            // What builds packages of Node says so itself.
            Kind::Record
        } else if is_of_gem(&lived_in, &path) {
            Kind::Record
        } else if path.ends_with(b".go") && script_line(context, mention.node).is_none() {
            Kind::OfGo
        } else if is_of_crate(context, &lived_in, &path) {
            Kind::OfCrate
        } else if is_recipe(&path) || is_of_autotools(context, &lived_in, &path) {
            Kind::OfTree
        } else {
            Kind::Own
        }
    };
    let kinds: Vec<Kind> = mentions.iter().map(kind).collect();
    let names = |words: &[&str]| {
        let own = mentions.iter().zip(&kinds).filter(|(_, kind)| **kind == Kind::Own);
        let mut words_of_own = own.flat_map(|(mention, _)| &mention.words);
        words_of_own.any(|word| words.contains(word))
    };
    let builds = names(&BUILDERS) || names(&TREE_SCRIPTS) || in_command(context, is_of_build);
    let starts = |is_one: fn(&str) -> bool| {
        let own = mentions.iter().zip(&kinds).filter(|(_, kind)| **kind == Kind::Own);
        let mut names = own.flat_map(|(mention, _)| {
            mention.words.iter().copied().chain(mention.programs.iter().map(|name| &**name))
        });
        names.any(is_one) || in_settings(context, |text| parts(text).any(is_one))
    };
    let runs_go = builds || starts(is_of_go);
    let runs_cargo = builds || starts(is_of_cargo);
    let mut kinds = kinds.into_iter();
    mentions.retain_mut(|mention| {
        mention.words.retain(|word| !TREE_SCRIPTS.contains(word));
        // Packages of Node tell how to install them and others.
        let path = context.path(mention.node);
        if is_of_node(&lived_in, &path) && !is_started(mention) {
            // A plugin of webpack asks for the compilation under this name, as modules of Python do for theirs.
            let is_python = path.ends_with(b".py");
            mention.words.retain(|word| !BUILDING.contains(word) && (is_python || *word != "_compilation"));
            // Messages and tables.
            if path.ends_with(b".json") {
                mention.programs.clear();
            }
        }
        // It says how it builds when it is started, and not that it is.
        if file_name(&path) == b"setup.py" && !is_started(mention) {
            mention.words.retain(|word| !matches!(*word, "build_ext" | "ext_modules"));
        }
        let counts = match kinds.next() {
            Some(Kind::Record) => false,
            Some(Kind::OfTree) => builds,
            Some(Kind::OfGo) => runs_go,
            Some(Kind::OfCrate) => runs_cargo,
            Some(Kind::Own) | None => true,
        };
        counts && !(mention.words.is_empty() && mention.libraries.is_empty() && mention.programs.is_empty())
    });
}

/// Whether make starts when a file is: `#!/usr/bin/make -f`.
fn is_program(context: &InventoryContext<'_>, node: NodeId) -> bool {
    script_line(context, node).is_some_and(is_of_make)
}

/// The first line of a script, `#!` left out.
fn script_line<'c>(context: &'c InventoryContext<'_>, node: NodeId) -> Option<&'c [u8]> {
    let (layer, entry) = context.node(node).content()?;
    context.layer(layer)?.facts.script(entry)
}

/// What a file with references is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file of the application.
    Own,
    /// A record of cargo, a build service or a package.
    Record,
    /// A file of a build system, or a script of a source tree.
    OfTree,
    /// A source in Go: its program was compiled from it, and is searched itself.
    OfGo,
    /// A file of a crate that cargo vendored: what its authors keep beside the sources, cargo does not run.
    OfCrate,
}

/// Whether an argument of entrypoint or command is of a kind.
fn in_command(context: &InventoryContext<'_>, is_of_kind: impl Fn(&str) -> bool) -> bool {
    let config = context.input.image.run_config();
    let lists = config.map(|config| [config.entrypoint().as_ref(), config.cmd().as_ref()]);
    lists.into_iter().flatten().flatten().flatten().any(|text| is_of_kind(text))
}

/// Whether an argument of entrypoint or command, or a variable, is of a kind.
fn in_settings(context: &InventoryContext<'_>, is_of_kind: impl Fn(&str) -> bool) -> bool {
    let config = context.input.image.run_config();
    let variables = config.and_then(|config| config.env().as_ref()).into_iter().flatten();
    let mut values = variables.filter_map(|text| text.split_once('=')).filter(|(name, _)| *name != "PATH");
    values.any(|(_, value)| is_of_kind(value)) || in_command(context, is_of_kind)
}

/// Whether a program of this name compiles sources in Go: `go1.22`, `air`.
fn is_of_go(name: &str) -> bool {
    RUNS_GO.contains(&name.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.'))
}

/// Whether a program of this name runs cargo.
fn is_of_cargo(name: &str) -> bool {
    name.starts_with("cargo-") || RUNS_CARGO.contains(&name)
}

/// The words of a command, and the parts of paths in it.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$".contains(c));
    words.flat_map(|word| word.split('/'))
}

/// Whether a command contains the name of a build system or of a script of a source tree.
fn is_of_build(text: &str) -> bool {
    parts(text).any(|part| {
        BUILDERS.contains(&part)
            || SCRIPTS.contains(&part.as_bytes())
            || matches!(part, "config.status" | "test" | "tests")
    })
}

/// Whether a file describes or records a build of make, `CMake`, ninja, autotools or meson.
fn is_recipe(path: &[u8]) -> bool {
    const NAMES: [&str; 17] = [
        "BUILD.bazel",
        "CMakeCache.txt",
        "CMakeLists.txt",
        "GNUmakefile",
        "Makefile",
        "Makefile.am",
        "Makefile.in",
        "build.ninja",
        "compile_commands.json",
        "config.log",
        "config.nice",
        "config.status",
        "configure.ac",
        "install_manifest.txt",
        "libtool",
        "makefile",
        "meson.build",
    ];
    const ENDINGS: [&str; 4] = [".cmake", ".m4", ".mk", ".ninja"];
    let path = escape(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    // Other Makefiles: `Makefile.msc`
    let is_makefile = || name.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("makefile."));
    NAMES.contains(&name)
        || is_makefile()
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || path.contains("/CMakeFiles/")
        || path.contains("/autom4te.cache/")
}

/// Whether a file, a variable or the command names a folder with intermediate output of cargo.
pub(super) fn runs_intermediate(context: &InventoryContext<'_>, mentions: &[StringReference]) -> bool {
    let config = context.input.image.run_config();
    let variables = config.and_then(|config| config.env().as_ref()).into_iter().flatten();
    let folder = config.and_then(|config| config.working_dir().as_ref());
    let words = |mention: &StringReference| mention.words.iter().any(|word| CARGO_BUILDS.contains(word));
    mentions.iter().any(words)
        || variables.chain(folder).any(|text| names_intermediate(text.as_str()))
        || in_command(context, names_intermediate)
}

/// Whether a file or the command names cargo.
pub(super) fn may_run_cargo(context: &InventoryContext<'_>, mentions: &[StringReference]) -> bool {
    let mut names = mentions.iter().filter(|mention| mention.words.contains(&"cargo"));
    names.any(|mention| !is_of_crate(context, &[], &context.path(mention.node)))
        || mentions.iter().flat_map(|mention| &mention.programs).any(|name| is_of_cargo(name))
        || in_settings(context, |text| parts(text).any(is_of_cargo))
}

/// Whether a file describes builds for a service that runs them elsewhere.
fn is_of_service(path: &[u8]) -> bool {
    const FILES: [&[u8]; 7] = [
        b"/.appveyor.yml",
        b"/.cirrus.yml",
        b"/.gitlab-ci.yml",
        b"/.travis.yml",
        b"/appveyor.yml",
        b"/azure-pipelines.yml",
        b"/bitbucket-pipelines.yml",
    ];
    const FOLDERS: [&[u8]; 3] = [b"/.circleci/", b"/.github/", b"/.gitlab/"];
    let is_settings = path.ends_with(b".yml") || path.ends_with(b".yaml");
    FILES.iter().any(|file| path.ends_with(file))
        || is_settings && FOLDERS.iter().any(|folder| memchr::memmem::find(path, folder).is_some())
}

/// Whether cargo wrote a file to know what to build again.
fn is_record_of_cargo(path: &[u8]) -> bool {
    matches!(file_name(path), b".rustc_info.json" | b".crates.toml" | b".crates2.json")
        || path.ends_with(b".json") && memchr::memmem::find(path, b"/.fingerprint/").is_some()
}

/// Whether a file is part of a crate that cargo vendored: its list of checksums is in a folder above. The crate is not the
/// service's.
fn is_of_crate(context: &InventoryContext<'_>, lived_in: &[Vec<u8>], path: &[u8]) -> bool {
    let folders = std::iter::successors(Some(folder_of(path)), |folder| Some(folder_of(folder)));
    folders.take(DEPTH).take_while(|folder| !folder.is_empty()).any(|folder| {
        context.paths.lookup(&[folder, b"/.cargo-checksum.json"].concat()).is_some()
            && !lived_in.iter().any(|path| path == folder || path.starts_with(&[folder, b"/"].concat()))
    })
}

/// Paths that the command starts, and the working directory: a source tree with one of them is that of the service.
fn lived_in(context: &InventoryContext<'_>, started: &HashSet<NodeId>) -> Vec<Vec<u8>> {
    let folder = context.input.image.run_config().and_then(|config| config.working_dir().clone());
    let folder = folder.filter(|folder| !folder.trim_matches('/').is_empty()).map(String::into_bytes);
    started.iter().map(|node| context.path(*node)).chain(folder).collect()
}

/// Whether a file is one of the scripts that autotools put into every source tree, their input or their log being in
/// the same folder or the one above; or a test of a source tree that was configured. The tree is not the service's.
fn is_of_autotools(context: &InventoryContext<'_>, lived_in: &[Vec<u8>], path: &[u8]) -> bool {
    let is_tree = |top: &[u8], marks: &[&[u8]]| {
        let has = |mark: &&[u8]| context.paths.lookup(&[top, b"/", *mark].concat()).is_some();
        let inside = [top, b"/"].concat();
        marks.iter().any(has) && !lived_in.iter().any(|path| path == top || path.starts_with(&inside))
    };
    let folder = folder_of(path);
    if SCRIPTS.contains(&file_name(path)) {
        let marks: [&[u8]; 3] = [b"configure.ac", b"configure.in", b"config.status"];
        return is_tree(folder, &marks) || is_tree(folder_of(folder), &marks);
    }
    let folders = std::iter::successors(Some(folder), |folder| Some(folder_of(folder)));
    folders.take(DEPTH).take_while(|folder| !folder.is_empty()).any(|folder| {
        matches!(file_name(folder), b"test" | b"tests") && is_tree(folder_of(folder), &[b"config.status"])
    })
}
