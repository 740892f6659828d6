//! Kinds of package files by how another program may use them.

use crate::cuda::links::{file_name, folder_of};

/// Content of a package that may be used without a dependency on it, the kind hardest to rule out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Interpreter modules: any script may load them.
    Modules,
    /// Programs, which are run by name.
    Programs,
    /// Libraries in loader folders: their users need them or open them by name.
    Libraries,
    /// Data files, which are opened by path.
    Data,
    /// Only documents and translations, or no files.
    Nothing,
}

/// Folders of interpreter modules, as path parts.
const MODULES: [&[u8]; 14] = [
    b"/perl5/",
    b"/perl/",
    b"/perl-base/",
    b"/python3",
    b"/python2",
    b"/site-packages/",
    b"/dist-packages/",
    b"/ruby/",
    b"/rubygems-integration/",
    b"/nodejs/",
    b"/node_modules/",
    b"/lua/",
    b"/tcltk/",
    b"/R/",
];

/// Folders whose files do not affect programs.
const IDLE: [&[u8]; 13] = [
    b"/usr/share/doc/",
    b"/usr/share/doc-base/",
    b"/usr/share/man/",
    b"/usr/share/info/",
    b"/usr/share/locale/",
    b"/usr/share/licenses/",
    b"/usr/share/lintian/",
    b"/usr/share/bug/",
    b"/usr/share/apport/",
    b"/usr/share/bash-completion/",
    b"/usr/share/zsh/",
    b"/usr/share/fish/",
    b"/usr/share/gdb/",
];

/// Whether a file is a document, a translation or a shell completion.
pub(super) fn is_idle(path: &[u8]) -> bool {
    IDLE.iter().any(|folder| path.starts_with(folder))
}

/// Whether a path is directly in a program folder.
pub(super) fn is_program(path: &[u8], search_path: &[Vec<u8>]) -> bool {
    const PROGRAMS: [&[u8]; 8] = [
        b"/bin",
        b"/sbin",
        b"/usr/bin",
        b"/usr/sbin",
        b"/usr/local/bin",
        b"/usr/local/sbin",
        b"/usr/games",
        b"/usr/libexec",
    ];
    let folder = folder_of(path);
    PROGRAMS.contains(&folder) || search_path.iter().any(|known| known == folder)
}

/// Whether a path is a library in a default loader folder. Name service modules are excluded: `/etc/nsswitch.conf`
/// opens them by name.
pub(super) fn is_library(path: &[u8]) -> bool {
    let name = file_name(path);
    let folder = folder_of(path);
    let folder = folder.strip_prefix(b"/usr").unwrap_or(folder);
    let parts: Vec<&[u8]> = folder.split(|byte| *byte == b'/').skip(1).collect();
    let is_machine = |part: &[u8]| part.windows(7).any(|part| part == b"-linux-");
    let in_folder = match parts[..] {
        [b"lib" | b"lib32" | b"lib64" | b"libx32"] => true,
        [b"lib", machine] => is_machine(machine),
        _ => false,
    };
    in_folder && memchr::memmem::find(name, b".so").is_some() && !name.starts_with(b"libnss_")
}

/// The kind of a file.
pub(super) fn kind(path: &[u8], search_path: &[Vec<u8>]) -> Kind {
    if is_idle(path) {
        Kind::Nothing
    } else if MODULES.iter().any(|part| memchr::memmem::find(path, part).is_some()) {
        Kind::Modules
    } else if is_program(path, search_path) {
        Kind::Programs
    } else if is_library(path) {
        Kind::Libraries
    } else {
        Kind::Data
    }
}
