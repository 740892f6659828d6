//! The system folders, which every process searches last: the cache as written by `ldconfig`, and the default
//! folders.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::names::{NameId, NumberMap};
use super::resolver_state::{Dir, ResolverState, Target};
use crate::rootfs::{NodeId, NodeKind};

/// Maximum number of folders from `ld.so.conf`; real images have a few dozen.
const CONF_FOLDERS: usize = 512;

/// A library in the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cached {
    /// The library.
    pub(super) object: u32,
    /// Its folder.
    pub(super) dir: Dir,
    /// Whether `dir` is one of the default folders.
    pub(super) trusted: bool,
}

/// The system folders for files of one machine, class and byte order.
#[derive(Default)]
pub(super) struct System {
    /// Cached libraries, by soname or link name.
    pub(super) cache: NumberMap<NameId, Cached>,
    /// Objects by folder and soname or link name, after `ldconfig` has created its links.
    pub(super) made: NumberMap<(NodeId, NameId), u32>,
    /// Configured folders, then the default ones (`true`), without duplicates.
    pub(super) folders: Vec<(Dir, bool)>,
    /// The default folders.
    pub(super) default: Vec<Dir>,
    /// Value of `$LIB`.
    pub(super) lib: &'static [u8],
    /// Value of `$PLATFORM`.
    pub(super) platform: &'static [u8],
}

impl System {
    /// Reads the system folders for files of one format.
    pub(super) fn new(state: &mut ResolverState<'_>, target: Target, musl: bool) -> Self {
        let layout = Layout::of(target);
        let environment = state.environment;
        let conf = if musl { &environment.musl_folders } else { &environment.conf_folders };
        let conf: Vec<Dir> = conf.iter().take(CONF_FOLDERS).filter_map(|folder| state.dir(folder)).collect();
        if musl {
            let standard = ["/lib", "/usr/local/lib", "/usr/lib"];
            // The configuration file replaces the standard folders.
            let default = if environment.musl_folders.is_empty() {
                standard.iter().filter_map(|folder| state.dir(folder.as_bytes())).collect()
            } else {
                conf
            };
            let folders = unique(default.iter().map(|dir| (*dir, true)));
            return Self { folders, default, lib: b"lib", platform: layout.platform, ..Self::default() };
        }
        // Debian's loader searches the machine's multiarch folders instead of lib64.
        let multiarch: Vec<Dir> = layout.multiarch.iter().filter_map(|folder| state.dir(folder)).collect();
        let is_multiarch = !multiarch.is_empty();
        let mut default = multiarch;
        let more: &[&str] = match (target.1, is_multiarch) {
            (true, false) => &["/lib64", "/usr/lib64", "/lib", "/usr/lib"],
            _ => &["/lib", "/usr/lib"],
        };
        default.extend(more.iter().filter_map(|folder| state.dir(folder.as_bytes())));
        let trusted = |dir: &Dir| default.iter().any(|known| known.node == dir.node);
        let all = conf.iter().map(|dir| (*dir, trusted(dir))).chain(default.iter().map(|dir| (*dir, true)));
        let folders = unique(all);
        let (mut cache, mut made) = (NumberMap::default(), NumberMap::default());
        for (dir, trusted) in &folders {
            for (soname, object) in registered(state, *dir, target) {
                made.insert((dir.node, soname), object);
                cache.entry(soname).or_insert(Cached { object, dir: *dir, trusted: *trusted });
            }
        }
        let lib = match (is_multiarch, target.1) {
            (true, _) => layout.multiarch_lib,
            (false, true) => b"lib64",
            (false, false) => b"lib",
        };
        Self { cache, made, folders, default, lib, platform: layout.platform }
    }
}

/// Removes duplicate folders; the first one remains.
fn unique(folders: impl Iterator<Item = (Dir, bool)>) -> Vec<(Dir, bool)> {
    let mut list: Vec<(Dir, bool)> = Vec::new();
    for (dir, trusted) in folders {
        if !list.iter().any(|(known, _)| known.node == dir.node) {
            list.push((dir, trusted));
        }
    }
    list
}

/// Names of a machine's system folders.
struct Layout {
    multiarch: [&'static [u8]; 2],
    multiarch_lib: &'static [u8],
    platform: &'static [u8],
}

impl Layout {
    /// The layout of an `e_machine` value of the ELF specification: 62 is x86-64, 183 `AArch64`, 3 the 80386.
    fn of(target: Target) -> Self {
        match (target.0, target.1) {
            (62, true) => Self {
                multiarch: [b"/lib/x86_64-linux-gnu", b"/usr/lib/x86_64-linux-gnu"],
                multiarch_lib: b"lib/x86_64-linux-gnu",
                platform: b"x86_64",
            },
            (183, _) => Self {
                multiarch: [b"/lib/aarch64-linux-gnu", b"/usr/lib/aarch64-linux-gnu"],
                multiarch_lib: b"lib/aarch64-linux-gnu",
                platform: b"aarch64",
            },
            (3, _) => Self {
                multiarch: [b"/lib/i386-linux-gnu", b"/usr/lib/i386-linux-gnu"],
                multiarch_lib: b"lib/i386-linux-gnu",
                platform: b"i686",
            },
            _ => Self { multiarch: [b"", b""], multiarch_lib: b"lib", platform: b"" },
        }
    }
}

/// The libraries of a folder as `ldconfig` registers them (`search_dir` of its source): by soname, for which
/// it creates a missing link, and by the names of links to them.
fn registered(state: &mut ResolverState<'_>, dir: Dir, target: Target) -> Vec<(NameId, u32)> {
    struct Entry {
        file: Vec<u8>,
        is_link: bool,
        object: u32,
    }
    let mut entries: BTreeMap<NameId, Entry> = BTreeMap::new();
    for child in state.paths.children(dir.node) {
        state.steps_left = state.steps_left.saturating_sub(1);
        let node = state.paths.rootfs().node(child);
        let name = node.name();
        if !is_library_name(name) {
            continue;
        }
        let file = state.names.id(name);
        let Some(object) = state.object_in(dir.node, file) else { continue };
        if state.target(object) != target {
            continue;
        }
        let soname = state.sonames[object as usize].unwrap_or(file);
        let mut is_link = node.kind() == NodeKind::Symlink;
        if is_link && soname != file {
            // Only a linker's link (`libx.so` for `libx.so.1`) is registered under its own name.
            is_link = name.ends_with(b".so") && state.names.get(soname).starts_with(name);
        }
        let key = if is_link { file } else { soname };
        let better = entries.get(&key).is_none_or(|known| {
            let newer = || is_link == known.is_link && compare_names(&known.file, name) == Ordering::Less;
            (!is_link && known.is_link) || newer()
        });
        if better {
            entries.insert(key, Entry { file: name.to_vec(), is_link, object });
        }
    }
    let mut registered = Vec::new();
    for (soname, entry) in entries {
        let name = state.names.get(soname);
        // A soname with a slash is never found.
        if name.contains(&b'/') {
            continue;
        }
        // The cache contains the link for the soname. An existing regular file is not replaced.
        let kind = |child| state.paths.rootfs().node(child).kind();
        let in_place = state.paths.child(dir.node, name).filter(|child| kind(*child) == NodeKind::File);
        let object = if in_place.is_some() { state.object_in(dir.node, soname) } else { Some(entry.object) };
        registered
            .extend(object.filter(|object| state.target(*object) == target).map(|object| (soname, object)));
    }
    registered
}

/// Whether `ldconfig` treats a file as a library, by its name.
fn is_library_name(name: &[u8]) -> bool {
    (name.starts_with(b"lib") || name.starts_with(b"ld-")) && name.windows(3).any(|part| part == b".so")
}

/// Compares names by version: digits compare as numbers and sort after other characters (`_dl_cache_libcmp`
/// of glibc).
fn compare_names(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let (Some(first), Some(second)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        match (first.is_ascii_digit(), second.is_ascii_digit()) {
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => {
                if first != second {
                    return first.cmp(second);
                }
                (a, b) = (&a[1..], &b[1..]);
            }
            (true, true) => {
                let (left, after_left) = number(a);
                let (right, after_right) = number(b);
                if left != right {
                    // Without leading zeros, the longer number is larger.
                    return left.len().cmp(&right.len()).then_with(|| left.cmp(right));
                }
                (a, b) = (after_left, after_right);
            }
        }
    }
}

/// The digits at the start of a name without leading zeros, and the rest.
fn number(name: &[u8]) -> (&[u8], &[u8]) {
    let end = name.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(name.len());
    let (digits, rest) = name.split_at(end);
    let zeros = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    (&digits[zeros..], rest)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{compare_names, is_library_name};

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(compare_names(b"libx.so.1.9", b"libx.so.1.10"), Ordering::Less);
        assert_eq!(compare_names(b"libx.so.2", b"libx.so.10"), Ordering::Less);
        assert_eq!(compare_names(b"libx.so.1", b"libx.so.a"), Ordering::Greater);
        assert_eq!(compare_names(b"libx.so.1", b"libx.so.1"), Ordering::Equal);
        assert_eq!(compare_names(b"libx.so.1.0", b"libx.so.1"), Ordering::Greater);
        assert_eq!(compare_names(b"libx.so.01", b"libx.so.1"), Ordering::Equal);
    }

    #[test]
    fn only_libraries_are_registered() {
        assert!(is_library_name(b"libx.so.1") && is_library_name(b"ld-linux-x86-64.so.2"));
        assert!(!is_library_name(b"x.so") && !is_library_name(b"libx.a"));
    }
}
