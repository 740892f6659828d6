//! Evidence beyond the path that a file is what the catalogue classifies it as.
//!
//! A path alone is enough only in caches and toolkits. Elsewhere the content of a file, its name, or the package that
//! lists it must agree.

use super::super::common::extension;
use crate::cuda::catalog::{DevelPath, Evidence, PathScope};
use crate::findings::classification::{By, ClassifiedFile};
use crate::findings::facts::Facts;
use crate::findings::value::Category;
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfKind;
use crate::rootfs::NodeId;

/// Whether the evidence confirms the path rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Agreement {
    /// Content, owner or a toolkit agree with the path.
    Agrees,
    /// Only the path matches.
    Doubtful(Doubt),
    /// It is not what its path suggests.
    Denies,
}

/// Why a file that its path classifies as build content may be something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// No package lists it.
    Unowned,
    /// The package that lists it is not a build package.
    Foreign,
    /// Its name or content does not match the kind.
    Kind,
    /// It is a test, which other modules may import.
    Test,
    /// A setting of the image names a folder above it.
    Folder,
    /// Only the name of its package matches.
    PackageName,
    /// A package that is not a build package depends on the one that lists it.
    Dependent,
}

/// File extensions in header folders. C++ headers may have none.
const HEADERS: [&[u8]; 22] = [
    b"h",
    b"hh",
    b"hpp",
    b"hxx",
    b"h++",
    b"hip",
    b"cuh",
    b"inc",
    b"inl",
    b"ipp",
    b"tcc",
    b"tpp",
    b"def",
    b"td",
    b"proto",
    b"mod",
    b"modulemap",
    b"c",
    b"cc",
    b"cpp",
    b"cxx",
    b"cu",
];

/// File extensions of documentation; manual sections are numbers.
const DOCUMENTS: [&[u8]; 21] = [
    b"gz", b"bz2", b"xz", b"zst", b"txt", b"md", b"rst", b"html", b"htm", b"css", b"pdf", b"ps", b"png",
    b"svg", b"jpg", b"gif", b"info", b"tex", b"changes", b"dox", b"adoc",
];

/// File extensions of build system metadata.
const METADATA: [&[u8]; 4] = [b"pc", b"cmake", b"m4", b"la"];

/// File extensions of interface descriptions in development packages.
const DESCRIPTIONS: [&[u8]; 7] = [b"gir", b"vapi", b"deps", b"pri", b"prl", b"mk", b"in"];

/// Whether a file matches the rule for its path or its package.
pub(super) fn agreement(facts: &Facts<'_>, file: &ClassifiedFile<'_>, path: &[u8]) -> Agreement {
    match required_package(facts, file) {
        Some(_) => Agreement::Doubtful(Doubt::Dependent),
        None => own_agreement(facts, file, path),
    }
}

/// The package of a file, if others depend on it that may use the file.
pub(super) fn required_package(facts: &Facts<'_>, file: &ClassifiedFile<'_>) -> Option<usize> {
    let owner = file.item.node.and_then(|node| facts.owner(node));
    owner.filter(|place| file.category != Category::DocsSamples && facts.is_required(*place))
}

/// Whether a file matches the rule for its path or its package, whatever depends on that package.
pub(super) fn own_agreement(facts: &Facts<'_>, file: &ClassifiedFile<'_>, path: &[u8]) -> Agreement {
    let Some(node) = file.item.node else { return Agreement::Agrees };
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let binary = facts.binary((file.item.layer, file.item.entry));
    let By::Path(rule) = file.by else { return by_package(facts, file, (node, name), binary) };
    let of_builds = owner(facts, node) == Owner::ForBuilding;
    if rule.id.starts_with("conda-") && !is_in_conda(facts, node) {
        return Agreement::Denies;
    }
    let if_named = |fits: bool| match (fits || of_builds, rule.scope) {
        (true, _) => Agreement::Agrees,
        (false, PathScope::System) => Agreement::Doubtful(Doubt::Kind),
        (false, _) => Agreement::Denies,
    };
    match evidence(rule) {
        Evidence::Path => Agreement::Agrees,
        Evidence::Owner => match owner(facts, node) {
            Owner::ForBuilding => Agreement::Agrees,
            Owner::Other => Agreement::Doubtful(Doubt::Foreign),
            Owner::None => Agreement::Doubtful(Doubt::Unowned),
        },
        // Linker scripts and empty archives are recognised by their package.
        Evidence::Archive => match binary {
            Some(FileFacts::Archive(_)) => Agreement::Agrees,
            Some(FileFacts::Elf(elf)) if elf.kind == ElfKind::Relocatable => Agreement::Agrees,
            _ if of_builds => Agreement::Agrees,
            None if name.ends_with(b".la") => Agreement::Agrees,
            _ => Agreement::Denies,
        },
        Evidence::Header => {
            let elf = matches!(binary, Some(FileFacts::Elf(_)));
            let plain = !name.contains(&b'.') || HEADERS.contains(&extension(name));
            if elf && !of_builds { Agreement::Denies } else { if_named(plain) }
        }
        Evidence::Metadata => if_named(METADATA.contains(&extension(name))),
        Evidence::Document => document(facts, node, name, binary),
        Evidence::Test => test(facts, node),
    }
}

/// A file classified by its package.
fn by_package(
    facts: &Facts<'_>,
    file: &ClassifiedFile<'_>,
    (node, name): (NodeId, &[u8]),
    binary: Option<&FileFacts>,
) -> Agreement {
    let rule = facts.owner(node).and_then(|place| facts.devel_rule(place));
    let is_program = matches!(binary, Some(FileFacts::Elf(elf)) if elf.kind != ElfKind::Relocatable);
    let extension = extension(name);
    let plain = || {
        matches!(binary, Some(FileFacts::Archive(_) | FileFacts::Elf(_)))
            || [&HEADERS[..], &METADATA, &DOCUMENTS, &DESCRIPTIONS]
                .iter()
                .any(|list| list.contains(&extension))
            || memchr::memmem::find(&facts.path(node), b"/include/").is_some()
            || facts.path(node).starts_with(b"/usr/share/lintian/")
    };
    match rule {
        // Programs among samples, such as trtexec.
        _ if is_program && file.category == Category::DocsSamples => Agreement::Doubtful(Doubt::PackageName),
        Some(rule) if rule.id == "generic-headers" && !plain() => Agreement::Doubtful(Doubt::PackageName),
        _ => Agreement::Agrees,
    }
}

/// The evidence that a path needs: that of its rule, else the default of its category.
fn evidence(rule: &DevelPath) -> Evidence {
    if let Some(evidence) = rule.evidence {
        return evidence;
    }
    match (rule.scope, Category::named(&rule.category)) {
        (PathScope::System | PathScope::Python, Some(Category::StaticLibraries)) => Evidence::Archive,
        (PathScope::System | PathScope::Python, Some(Category::Headers)) => Evidence::Header,
        (PathScope::System | PathScope::Python, Some(Category::BuildMetadata)) => Evidence::Metadata,
        (PathScope::System, Some(Category::DocsSamples)) => Evidence::Document,
        (
            PathScope::System,
            Some(Category::Profilers | Category::Debuggers | Category::Compilers | Category::BuildTools),
        ) => Evidence::Owner,
        _ => Evidence::Path,
    }
}

fn document(facts: &Facts<'_>, node: NodeId, name: &[u8], binary: Option<&FileFacts>) -> Agreement {
    let runs = matches!(
        binary,
        Some(FileFacts::Elf(elf)) if matches!(elf.kind, ElfKind::Executable | ElfKind::SharedObject)
    );
    if facts.named.folder(facts, node).is_some() {
        return Agreement::Doubtful(Doubt::Folder);
    }
    let owner = facts.owner(node).and_then(|place| facts.inventory.packages.get(place));
    // Debian and Fedora require that packages work without their documentation.
    let of_system = owner.is_some_and(|package| !matches!(package.manager, "pip" | "conda"));
    let extension = extension(name);
    let section = extension.first().is_some_and(u8::is_ascii_digit) && extension.len() < 8;
    let plain = !name.contains(&b'.') || section || DOCUMENTS.contains(&extension);
    if !runs && (of_system || plain) { Agreement::Agrees } else { Agreement::Doubtful(Doubt::Kind) }
}

/// A test must belong to an installed package or to Python's standard library.
fn test(facts: &Facts<'_>, node: NodeId) -> Agreement {
    let path = facts.path(node);
    // The standard library folder contains `os.py`.
    let of_python = crate::cuda::links::site_root(&path).is_none() && {
        let mut folder = facts.paths.parent(node);
        loop {
            if facts.paths.child(folder, b"os.py").is_some() {
                break true;
            }
            if folder == NodeId::ROOT {
                break false;
            }
            folder = facts.paths.parent(folder);
        }
    };
    let listed = facts.owner(node).is_some();
    if of_python || listed { Agreement::Doubtful(Doubt::Test) } else { Agreement::Denies }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A build package.
    ForBuilding,
    Other,
    None,
}

fn owner(facts: &Facts<'_>, node: NodeId) -> Owner {
    match facts.owner(node) {
        Some(place) if facts.devel_rule(place).is_some() => Owner::ForBuilding,
        Some(_) => Owner::Other,
        None => Owner::None,
    }
}

/// Whether a path is in a conda prefix, which contains `conda-meta`, or in a conda package.
fn is_in_conda(facts: &Facts<'_>, node: NodeId) -> bool {
    let owner = facts.owner(node).and_then(|place| facts.inventory.packages.get(place));
    if owner.is_some_and(|package| package.manager == "conda") {
        return true;
    }
    let mut folder = facts.paths.parent(node);
    while folder != NodeId::ROOT {
        if facts.paths.child(folder, b"conda-meta").is_some() {
            return true;
        }
        folder = facts.paths.parent(folder);
    }
    false
}
