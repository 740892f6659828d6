//! Ownership of the files in a folder.

use crate::cuda::context::InventoryContext;
use crate::cuda::links::folder_of;
use crate::cuda::value::Toolkit;

/// Ownership of the files in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// Possibly the application's.
    Own,
    /// Python packages.
    Packages,
    /// The distribution's, except files without a system package.
    System,
    /// Excluded: Python's standard library, toolkits, repository metadata, generated files, irrelevant
    /// packages.
    Foreign,
    /// Cache of a package manager.
    Cache,
    /// Intermediate output of cargo, which only cargo reads.
    Built,
}

/// Whether a folder is intermediate output of cargo: `target/release/deps`, `target/TRIPLE/debug/build`.
pub(super) fn is_intermediate(context: &InventoryContext<'_>, path: &[u8], name: &[u8]) -> bool {
    if !matches!(name, b".fingerprint" | b"build" | b"deps" | b"incremental") {
        return false;
    }
    let profile = folder_of(path);
    let target = folder_of(profile);
    let has = |folder: &[u8], name: &[u8]| context.paths.lookup(&[folder, b"/", name].concat()).is_some();
    has(profile, b".fingerprint")
        && [target, folder_of(target)].iter().any(|folder| has(folder, b".rustc_info.json"))
}

/// Whether a folder has unpacked wheels of pip that virtualenv copies into environments, or modules of numpy that build
/// extensions: they name compilers and libraries of all systems.
fn is_for_building(path: &[u8]) -> bool {
    const WHEELS: [&[u8]; 2] = [b"/.cache/virtualenv/wheel/", b"/.local/share/virtualenv/wheel/"];
    path.ends_with(b"-packages/numpy/distutils")
        || path.ends_with(b"/image") && WHEELS.iter().any(|part| memchr::memmem::find(path, part).is_some())
}

/// Whether a folder is that of Python's standard library, a toolkit, or generated files that no program runs.
pub(super) fn is_foreign_folder(context: &InventoryContext<'_>, toolkits: &[Toolkit], path: &[u8]) -> bool {
    is_standard_library(path)
        || toolkits.iter().any(|toolkit| toolkit.root == path)
        || context.catalog.toolkit_root(path).is_some()
        || is_for_building(path)
        // What the registry of npm says of each package.
        || path.ends_with(b"/.yarn/berry/metadata")
        || is_manager_of_node(context, path)
        || has_sources(context, path)
        || is_made(&[path, b"/"].concat())
}

/// Whether a folder is npm, corepack or Yarn as images of Node have them beside `node`: they name all that an installation
/// of packages may run. What starts an installation says so.
fn is_manager_of_node(context: &InventoryContext<'_>, path: &[u8]) -> bool {
    const MANAGERS: [(&[u8], &[u8]); 2] = [
        (b"/lib/node_modules/npm", b"/bin/npm-cli.js"),
        (b"/lib/node_modules/corepack", b"/dist/corepack.js"),
    ];
    let has = |file: &[u8]| context.paths.lookup(&[path, file].concat()).is_some();
    MANAGERS.iter().any(|(folder, file)| path.ends_with(folder) && has(file))
        || path.starts_with(b"/opt/yarn-v") && folder_of(path) == b"/opt" && has(b"/bin/yarn.js")
}

/// Whether a program is Node itself, by what its archive has beside it. Too large to be searched, it starts what scripts
/// name, as other interpreters do.
pub(super) fn is_node(context: &InventoryContext<'_>, path: &[u8]) -> bool {
    const BESIDE: [&[u8]; 2] = [b"/include/node/node_version.h", b"/lib/node_modules/npm/bin/npm-cli.js"];
    let Some(top) = path.strip_suffix(b"/bin/node") else { return false };
    BESIDE.iter().any(|file| context.paths.lookup(&[top, file].concat()).is_some())
}

/// Whether a folder is the cache of cargo or Go: sources that only a build reads.
fn has_sources(context: &InventoryContext<'_>, path: &[u8]) -> bool {
    let rule = || context.catalog.is_devel_path(&[path, b"/x"].concat());
    [&b"/registry"[..], b"/git", b"/mod"].iter().any(|end| path.ends_with(end))
        && rule().is_some_and(|rule| matches!(rule.id.as_str(), "cache-cargo" | "cache-go"))
}

/// Whether a folder is the cache of a package manager that stores unpacked packages and hard-links them into
/// environments.
pub(super) fn is_cache(context: &InventoryContext<'_>, path: &[u8], name: &[u8]) -> bool {
    if !matches!(name, b"uv" | b"pkgs" | b"store" | b"cache") {
        return false;
    }
    let rule = context.catalog.is_devel_path(&[path, b"/x"].concat());
    rule.is_some_and(|rule| rule.category == "package-caches" && rule.id.starts_with("cache-"))
}

/// Whether a folder belongs to the distribution: files in it that a system package owns are not the
/// application's, others are. `/etc` is excluded, since it has the configuration of services.
pub(super) fn is_system(path: &[u8]) -> bool {
    const SYSTEM: [&[u8]; 9] = [
        b"/usr/share/",
        b"/usr/lib/",
        b"/usr/lib32/",
        b"/usr/lib64/",
        b"/lib/",
        b"/lib32/",
        b"/lib64/",
        b"/usr/libexec/",
        b"/var/lib/",
    ];
    let path = [path, b"/"].concat();
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Whether a folder contains files that no program runs, or that package managers and their scripts generate.
fn is_made(path: &[u8]) -> bool {
    const MADE: [&[u8]; 24] = [
        b"/etc/apk/",
        b"/usr/include/",
        b"/usr/lib/debug/",
        b"/usr/lib/locale/",
        b"/usr/lib/sysimage/",
        b"/lib/apk/",
        b"/usr/lib/apk/",
        b"/usr/share/applications/",
        b"/usr/share/doc/",
        b"/usr/share/fonts/",
        b"/usr/share/glib-2.0/",
        b"/usr/share/icons/",
        b"/usr/share/info/",
        b"/usr/share/licenses/",
        b"/usr/share/locale/",
        b"/usr/share/man/",
        b"/usr/share/mime/",
        b"/usr/share/zoneinfo/",
        b"/var/cache/",
        b"/var/log/",
        b"/var/spool/",
        b"/proc/",
        b"/sys/",
        b"/dev/",
    ];
    const STATES: [&[u8]; 26] = [
        b"alternatives",
        b"apk",
        b"apt",
        b"ca-certificates-java",
        b"command-not-found",
        b"dbus",
        b"dictionaries-common",
        b"dnf",
        b"dpkg",
        b"emacsen-common",
        b"ghc",
        b"initramfs-tools",
        b"man-db",
        b"misc",
        b"pam",
        b"polkit-1",
        b"python",
        b"rpm",
        b"rpm-state",
        b"sgml-base",
        b"systemd",
        b"texmf",
        b"ucf",
        b"xml-core",
        b"yum",
        b"zypp",
    ];
    let state = path.strip_prefix(b"/var/lib/").and_then(|rest| rest.split(|byte| *byte == b'/').next());
    path.starts_with(b"/run/")
        || MADE.iter().any(|folder| path.starts_with(folder))
        || state.is_some_and(|state| STATES.contains(&state))
}

/// Whether a folder is Python's `lib/python3.12`: its makefiles and settings refer to the compiler that built
/// it. Packages in it have a folder of their own.
fn is_standard_library(path: &[u8]) -> bool {
    let mut parts = path.rsplit(|byte| *byte == b'/');
    let version = parts.next().and_then(|name| name.strip_prefix(b"python")).and_then(<[u8]>::first);
    version.is_some_and(u8::is_ascii_digit) && matches!(parts.next(), Some(b"lib" | b"lib64"))
}
