//! Libraries that scripts may open by bare names, such as `find_library("portaudio")`, without any file name.

use std::collections::BTreeSet;

use super::removal::Removal;
use crate::cuda::Package;
use crate::cuda::links::file_name;
use crate::rootfs::NodeKind;

/// Prefixes of names of interpreters whose programs open libraries by bare names. Perl is in every Debian
/// image and needs a module for that, so it is not listed.
const INTERPRETERS: [&str; 12] = [
    "python3", "python", "pypy", "node", "ruby", "lua", "php", "Rscript", "java", "dotnet", "julia", "guile",
];
/// Files of interpreters that may have no program of their own, and the Perl module for opening libraries.
const PARTS: [&[u8]; 4] = [b"libjvm.so", b"libcoreclr.so", b"Platypus.pm", b"libnode.so"];
/// Prefixes of development packages that belong to compilers, as do the libraries that they depend on.
const OF_COMPILERS: [&str; 6] =
    ["libc6-dev", "libc-dev", "libgcc-", "libstdc++", "linux-libc-dev", "libcrypt-dev"];

/// Unneeded packages that were installed with a development package, which the user installed by name; empty
/// unless an interpreter stays. The development package is a common way to install the library for a Python
/// package.
pub(super) fn by_bare_names(removal: &Removal<'_, '_>) -> BTreeSet<usize> {
    let is_removed = |place: usize| removal.removed.get(place) == Some(&true);
    let named = |package: &Package| package.automatic.is_none() && is_devel(package);
    let mut open: Vec<usize> = (0..removal.removed.len())
        .filter(|place| is_removed(*place) && removal.package(*place).is_some_and(named))
        .collect();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    let mut found = BTreeSet::new();
    while let Some(at) = open.pop() {
        for next in removal.graph.keeps(at).iter().copied() {
            if removal.is_unneeded(next) {
                found.insert(next);
            } else if is_removed(next) && removal.package(next).is_some_and(is_devel) && seen.insert(next) {
                open.push(next);
            }
        }
    }
    if found.is_empty() || !has_interpreter(removal) { BTreeSet::new() } else { found }
}

fn is_devel(package: &Package) -> bool {
    let name = &package.name;
    (name.ends_with("-dev") || name.ends_with("-devel"))
        && !OF_COMPILERS.iter().any(|start| name.starts_with(start))
}

/// Whether an interpreter stays in the image: no removed or unneeded package owns it.
fn has_interpreter(removal: &Removal<'_, '_>) -> bool {
    let goes = |place: usize| removal.is_unneeded(place) || removal.removed.get(place) == Some(&true);
    removal.facts.rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory).any(|node| {
        let name = node.name();
        let is_named = || {
            let name = str::from_utf8(name).unwrap_or_default();
            INTERPRETERS.iter().any(|start| {
                let rest = name.strip_prefix(start);
                rest.is_some_and(|rest| {
                    rest.bytes().all(|byte| byte.is_ascii_digit() || b".-_jit".contains(&byte))
                })
            })
        };
        let is_program = || file_name(&node.parent().path()) == b"bin";
        (PARTS.contains(&name) || is_named() && is_program())
            && !removal.facts.owner(node.id()).is_some_and(goes)
    })
}
