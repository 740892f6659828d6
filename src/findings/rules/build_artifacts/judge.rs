//! The verdict on one build artifact.

use super::super::common::{beside, extension, holds, is_loaded_from_outside, name_of, path_of, searched};
use super::sources::archive;
use crate::cuda::links::ObjectId;
use crate::findings::classification::ClassifiedFile;
use crate::findings::demand::Demand;
use crate::findings::facts::Facts;
use crate::findings::value::User;
use crate::formats::binary::FileFacts;
use crate::formats::elf::{ElfFacts, ElfKind};
use crate::rootfs::NodeId;

/// The reason for a verdict; files with the same reason form one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArtifactReason {
    Hidden,
    Loaded,
    /// Title suffix, reason, question and users.
    Asked {
        title: &'static str,
        reason: String,
        question: String,
        users: Vec<User>,
    },
    /// The statements that prove it.
    Free(Vec<String>),
}

impl ArtifactReason {
    /// Order of the reasons: a higher weight is a stronger reason to keep a file.
    fn weight(&self) -> u8 {
        match self {
            Self::Hidden | Self::Free(_) => 0,
            Self::Asked { .. } => 1,
            Self::Loaded => 2,
        }
    }
}

/// ELF machines whose object files a host linker reads: x86, ARM, x86-64, 64-bit ARM. Kernel programs (BPF) and GPU
/// programs are relocatable objects too, and are loaded at run time.
const HOSTS: [u16; 4] = [3, 40, 62, 183];

/// File extensions of build files.
const OF_BUILDS: [&[u8]; 52] = [
    b"o",
    b"obj",
    b"lo",
    b"la",
    b"a",
    b"d",
    b"rlib",
    b"rmeta",
    b"gch",
    b"pch",
    b"gcno",
    b"gcda",
    b"ii",
    b"cmake",
    b"make",
    b"txt",
    b"log",
    b"stamp",
    b"includecache",
    b"internal",
    b"marks",
    b"check_cache",
    b"check",
    b"timestamp",
    b"ts",
    b"json",
    b"ninja",
    b"c",
    b"cc",
    b"cpp",
    b"cxx",
    b"cu",
    b"h",
    b"hh",
    b"hpp",
    b"hxx",
    b"cuh",
    b"inl",
    b"ipp",
    b"tcc",
    b"in",
    b"am",
    b"ac",
    b"m4",
    b"md",
    b"rst",
    b"rsp",
    b"pc",
    b"rs",
    b"toml",
    b"bzl",
    b"cppm",
];

/// The kind of a file, the reason for its verdict, and its object if something loads it.
pub(super) type Judged = (&'static str, ArtifactReason, Option<ObjectId>);

/// The strongest reason to keep a file, over all of its names. `None` when one of the names is not that of a build
/// artifact.
pub(super) fn judge(facts: &Facts<'_>, file: &ClassifiedFile<'_>, of_git: &ArtifactReason) -> Option<Judged> {
    let mut worst: Option<Judged> = None;
    for name in facts.classification.names(file) {
        let other = judge_name(facts, name, of_git)?;
        if worst.as_ref().is_none_or(|(_, because, _)| other.1.weight() > because.weight()) {
            worst = Some(other);
        }
    }
    worst
}

fn judge_name(facts: &Facts<'_>, file: &ClassifiedFile<'_>, of_git: &ArtifactReason) -> Option<Judged> {
    let rule = file.rule()?;
    let (id, _) = super::KINDS.iter().find(|(id, _)| *id == rule)?;
    let inode = (file.item.layer, file.item.entry);
    let elf = match facts.binary(inode) {
        Some(FileFacts::Elf(elf)) => Some(&**elf),
        _ => None,
    };
    let path = path_of(facts, &file.item);
    if !is_what_its_name_says(facts, id, &path, elf, file) {
        return None;
    }
    if file.item.node.is_none() {
        return Some((id, ArtifactReason::Hidden, None));
    }
    if let Some((object, _)) = facts.object_of(inode)
        && is_loaded_from_outside(facts, object, &|_| false)
    {
        return Some((id, ArtifactReason::Loaded, Some(object)));
    }
    let setting = file.item.node.and_then(|node| facts.named.user(facts, node));
    let because = match *id {
        "artifact-git" => of_git.clone(),
        _ if matches!(setting, Some(User::Setting(_))) => ArtifactReason::Asked {
            title: ", named by the image's settings",
            reason: "A variable or the command of the image names these files.".to_owned(),
            question: "Does the service use them?".to_owned(),
            users: setting.into_iter().collect(),
        },
        _ if is_of_other_package(facts, file.item.node) => asked(
            ", owned by installed packages",
            "An installed package that is not a development package owns these files.".to_owned(),
            "Does one of these packages, or the service, read them?".to_owned(),
        ),
        "artifact-wheel" | "artifact-sdist" => archive(facts, id, file, &path),
        "artifact-core" => ArtifactReason::Free(vec!["its ELF header marks it as a core dump".to_owned()]),
        "artifact-objects" => object_file(facts, file),
        // Anything but an object was classified by its build folder.
        "artifact-cmake" | "artifact-cargo" if !is_of_build(facts, id, file) => object_file(facts, file),
        _ => tree(facts, id, &path, elf, setting.is_some()),
    };
    Some((id, because, None))
}

fn is_what_its_name_says(
    facts: &Facts<'_>,
    id: &str,
    path: &[u8],
    elf: Option<&ElfFacts>,
    file: &ClassifiedFile<'_>,
) -> bool {
    let name = name_of(path);
    let object = || elf.is_some_and(|elf| elf.kind == ElfKind::Relocatable && HOSTS.contains(&elf.machine));
    match id {
        "artifact-core" => elf.is_some_and(|elf| elf.kind == ElfKind::Core),
        "artifact-objects" if extension(name) == b"lo" => {
            let object = [name.get(..name.len().saturating_sub(2)).unwrap_or_default(), b"o"].concat();
            file.item.node.is_some_and(|node| beside(facts, node, b".libs") || beside(facts, node, &object))
        }
        "artifact-objects" => object(),
        "artifact-autotools" if name == b"config.log" => {
            file.item.node.is_some_and(|node| beside(facts, node, b"config.status"))
        }
        "artifact-autotools" => is_below(facts, file, b"autom4te.cache", &[b"configure.ac", b"configure.in"]),
        "artifact-cmake" | "artifact-cargo" => object() || is_of_build(facts, id, file),
        "artifact-ninja" => file.item.node.is_some_and(|node| {
            let others: [&[u8]; 3] = [b"build.ninja", b".ninja_log", b"CMakeCache.txt"];
            others.iter().filter(|other| **other != name).any(|other| beside(facts, node, other))
        }),
        _ => true,
    }
}

/// Whether a file is in a `CMake` or cargo build tree.
fn is_of_build(facts: &Facts<'_>, id: &str, file: &ClassifiedFile<'_>) -> bool {
    match id {
        "artifact-cmake" => is_below(facts, file, b"", &[b"CMakeCache.txt"]),
        _ => is_below(facts, file, b"target", &[b"target/.rustc_info.json", b"Cargo.toml"]),
    }
}

/// Whether one of the marker files `marks` exists: relative to the folder that contains the folder `name` on the way to
/// a file, or to any folder on the way when `name` is empty. Shadowed files are not checked.
pub(super) fn is_below(facts: &Facts<'_>, file: &ClassifiedFile<'_>, name: &[u8], marks: &[&[u8]]) -> bool {
    let Some(node) = file.item.node else { return true };
    let mut folder = facts.paths.parent(node);
    loop {
        let above = facts.paths.parent(folder);
        let from = if name.is_empty() { folder } else { above };
        if (name.is_empty() || facts.node(folder).name() == name)
            && marks.iter().any(|mark| facts.paths.lookup_from(from, mark).is_some())
        {
            return true;
        }
        if folder == NodeId::ROOT {
            return false;
        }
        folder = above;
    }
}

pub(super) fn asked(title: &'static str, reason: String, question: String) -> ArtifactReason {
    ArtifactReason::Asked { title, reason, question, users: Vec::new() }
}

/// Whether an installed package that is not a development package owns a file.
fn is_of_other_package(facts: &Facts<'_>, node: Option<NodeId>) -> bool {
    node.and_then(|node| facts.owner(node)).is_some_and(|place| facts.devel_rule(place).is_none())
}

fn object_file(facts: &Facts<'_>, file: &ClassifiedFile<'_>) -> ArtifactReason {
    let node = file.item.node;
    if node.is_some_and(|node| beside(facts, node, b"build.ninja")) && facts.demands.any("ninja") {
        return asked(
            " of run-time compiled extensions",
            "A build.ninja is in the same folder, and an installed component builds extensions at run time: it recompiles a missing object.".to_owned(),
            "Does the service load an extension that is built in this folder?".to_owned(),
        );
    }
    if let Some(reader) = reader(facts, "object-files") {
        return ArtifactReason::Asked {
            title: " that may be loaded",
            reason: format!("{} names object files.", reader.who),
            question: format!("Does {} load or link these object files at run time?", reader.who),
            users: vec![reader.user.clone()],
        };
    }
    if let Some(asked) = built_again(facts) {
        return asked;
    }
    // Compilers, linkers and instrumentation keep start-up code where libraries are: `/usr/local/lib/afl`.
    if is_in_library_folder(facts, file) {
        return asked(
            " in library folders",
            "Compilers and instrumentation tools keep object files in library folders, and link them into what they build.".to_owned(),
            "Does the service compile or link programs with these object files?".to_owned(),
        );
    }
    ArtifactReason::Free(vec![
        "relocatable by their ELF headers: only a linker reads them, the loader does not".to_owned(),
        "host CPU code: kernel programs (BPF) and GPU programs are not among them".to_owned(),
    ])
}

/// The first who is known to read something by a name of demands.
fn reader<'f>(facts: &'f Facts<'_>, name: &'static str) -> Option<&'f Demand> {
    facts.demands.on(name, None).find_map(|place| facts.demands.get(place))
}

/// Whether an object file is in a library folder, without its source next to it or a build folder above it.
fn is_in_library_folder(facts: &Facts<'_>, file: &ClassifiedFile<'_>) -> bool {
    const SOURCES: [&[u8]; 8] = [b"c", b"cc", b"cpp", b"cxx", b"cu", b"f90", b"S", b"s"];
    let path = path_of(facts, &file.item);
    let name = name_of(&path);
    let stem = name.get(..name.len() - extension(name).len()).unwrap_or_default();
    let has_source = file
        .item
        .node
        .is_some_and(|node| SOURCES.iter().any(|source| beside(facts, node, &[stem, source].concat())));
    let is_built = [&b"/obj.target/"[..], b"/obj/", b"/build/"].iter().any(|folder| holds(&path, folder));
    let is_library = [&b"/lib/"[..], b"/lib32/", b"/lib64/", b"/libexec/", b"/share/"];
    !has_source && !is_built && is_library.iter().any(|folder| holds(&path, folder))
}

/// Whether a tool that builds is installed or mentioned.
fn builds(facts: &Facts<'_>) -> bool {
    facts.demands.any("cmake")
}

/// A question when something builds at run time: it may reuse the last build.
fn built_again(facts: &Facts<'_>) -> Option<ArtifactReason> {
    builds(facts).then(|| {
        asked(
            ", possibly rebuilt at run time",
            "An installed or mentioned tool builds with CMake, make or cargo.".to_owned(),
            "Does the service build in this folder when it starts?".to_owned(),
        )
    })
}

/// The marker that identifies a file as part of a build.
fn of_build(id: &str) -> &'static str {
    match id {
        "artifact-cmake" => "a CMakeCache.txt marks the folder above them as a build tree",
        "artifact-cargo" => {
            "a Cargo.toml next to the target folder, or target/.rustc_info.json, marks a cargo build"
        }
        "artifact-ninja" => "a build.ninja, .ninja_log or CMakeCache.txt is in the same folder",
        "artifact-autotools" => {
            "config.status is next to each config.log, configure.ac next to each autom4te.cache"
        }
        "artifact-temp" => "they are in build/temp.*, the temporary folder of setuptools",
        _ => {
            "each belongs to a tool that regenerates its cache below node_modules/.cache (webpack, Babel, ESLint, …)"
        }
    }
}

/// Whether a file below `node_modules/.cache` belongs to a tool that regenerates its cache. Other tools keep downloads
/// there: browsers, database engines.
fn is_of_node_tool(path: &[u8]) -> bool {
    const FOLDER: &[u8] = b"/node_modules/.cache/";
    const TOOLS: [&[u8]; 22] = [
        b".eslintcache",
        b".prettiercache",
        b".stylelintcache",
        b"babel-loader",
        b"babel-webpack-plugin",
        b"css-minimizer-webpack-plugin",
        b"default-development",
        b"default-production",
        b"eslint-loader",
        b"eslint-webpack-plugin",
        b"fork-ts-checker-webpack-plugin",
        b"hard-source",
        b"jest",
        b"nyc",
        b"prettier",
        b"rpt2",
        b"swc",
        b"terser-webpack-plugin",
        b"ts-loader",
        b"uglifyjs-webpack-plugin",
        b"vue-loader",
        b"webpack",
    ];
    let Some(at) = memchr::memmem::rfind(path, FOLDER) else { return false };
    let below = path.get(at + FOLDER.len()..).unwrap_or_default();
    below.split(|byte| *byte == b'/').next().is_some_and(|tool| TOOLS.contains(&tool))
}

/// The proof that nothing uses a build script of cargo, or a macro, which is a library.
fn intermediate(facts: &Facts<'_>, path: &[u8], is_mentioned: bool) -> Option<Vec<String>> {
    const TARGET: &[u8] = b"/target/";
    let target = path.get(..memchr::memmem::rfind(path, TARGET)? + TARGET.len())?;
    let name = String::from_utf8_lossy(name_of(path));
    let is_script = name.starts_with("build-script-") || name.starts_with("build_script_");
    let is_macro = name.starts_with("lib") && name.ends_with(".so");
    // Build scripts put programs and libraries into `out` for the service.
    let is_one = !holds(path, b"/out/")
        && (is_script && holds(path, b"/build/") || is_macro && holds(path, b"/deps/"))
        && facts.paths.lookup(&[target, b".rustc_info.json"].concat()).is_some();
    let may_be_used = || {
        is_mentioned
            || facts.inventory.searched.programs_left_out > 0
            || facts.demands.any("cargo-output")
            || facts.names_cargo_output()
            || facts.is_needed(&name)
            || builds(facts)
    };
    (is_one && !may_be_used()).then(|| {
        vec![
            "target/.rustc_info.json marks a cargo build: cargo places final programs outside these folders"
                .to_owned(),
            "no program or library of the image needs a library of these names".to_owned(),
            searched(facts, "target/release/build, target/release/deps or one of these libraries"),
        ]
    })
}

/// A build folder: its own files are useless afterwards; programs and resources may be used.
fn tree(
    facts: &Facts<'_>,
    id: &str,
    path: &[u8],
    elf: Option<&ElfFacts>,
    is_mentioned: bool,
) -> ArtifactReason {
    if id == "artifact-node" && !is_of_node_tool(path) {
        return asked(
            " of unknown tools",
            "Some tools keep downloads in node_modules/.cache, such as browsers and database engines."
                .to_owned(),
            "Does the service read files below node_modules/.cache?".to_owned(),
        );
    }
    if id == "artifact-ninja" && facts.demands.any("ninja") {
        return asked(
            ", ninja used at run time",
            "An installed component builds extensions with ninja at run time.".to_owned(),
            "Does the service load an extension that is built in this folder?".to_owned(),
        );
    }
    let is_probe = holds(path, b"/CompilerId")
        || holds(path, b"/CMakeDetermineCompilerABI")
        || holds(path, b"/CMakeScratch/");
    let name = name_of(path);
    let plain = matches!(id, "artifact-ninja" | "artifact-autotools" | "artifact-node" | "artifact-temp");
    let known = !name.contains(&b'.') || OF_BUILDS.contains(&extension(name));
    // FetchContent and build scripts may put anything there; CMakeFiles contains CMake's own files.
    let mixed = holds(path, b"/_deps/") || id == "artifact-cargo" && holds(path, b"/out/");
    let runs = elf.is_some_and(|elf| matches!(elf.kind, ElfKind::Executable | ElfKind::SharedObject));
    // Whoever says that nothing is built there has not said that nothing is read there.
    let or_builds = if builds(facts) { ", or build there when it starts" } else { "" };
    if runs && !is_probe {
        if id == "artifact-cargo"
            && let Some(proof) = intermediate(facts, path, is_mentioned)
        {
            return ArtifactReason::Free(proof);
        }
        return asked(
            ", including programs and libraries",
            "Programs and libraries in a build folder. No known program loads them.".to_owned(),
            format!("Does the service run a program or load a library from the build folder{or_builds}?"),
        );
    }
    if mixed && !(known && name.contains(&b'.')) && !is_probe {
        let readers = facts.demands.on("cargo-output", None).filter_map(|place| facts.demands.get(place));
        let readers: Vec<_> = readers.filter(|_| id == "artifact-cargo").collect();
        // A program in the same tree tells more than one elsewhere.
        let tree = memchr::memmem::rfind(path, b"/target/").and_then(|at| path.get(..=at));
        let is_near = |who: &str| tree.is_some_and(|tree| who.as_bytes().starts_with(tree));
        let named = readers.iter().find(|reader| is_near(&reader.who)).or(readers.first());
        if let Some(reader) = named {
            let what = format!("{} {}.", reader.who, reader.why);
            return ArtifactReason::Asked {
                title: ", including resources",
                reason: format!("{what} Build scripts wrote these files there."),
                question: format!("Does the service read these files{or_builds}? {what}"),
                users: readers.iter().map(|reader| reader.user.clone()).collect(),
            };
        }
        return asked(
            ", including resources",
            "Files in a build folder that no compiler is known to read.".to_owned(),
            format!("Does the service read anything from the build folder{or_builds}?"),
        );
    }
    if let Some(asked) = built_again(facts) {
        return asked;
    }
    if matches!(name, b"CMakeCache.txt" | b"compile_commands.json" | b"config.log")
        && let Some(reader) = reader(facts, "build-records")
    {
        return ArtifactReason::Asked {
            title: ", records of the build",
            reason: format!("{} {}.", reader.who, reader.why),
            question: format!("Does {} read this record at run time?", reader.who),
            users: vec![reader.user.clone()],
        };
    }
    if plain || known || is_probe || elf.is_some() || !mixed {
        return ArtifactReason::Free(vec![
            of_build(id).to_owned(),
            "no reachable program loads a program or library among them".to_owned(),
        ]);
    }
    asked(", other files", "Purpose unknown.".to_owned(), "Does the service read them?".to_owned())
}
