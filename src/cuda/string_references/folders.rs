//! Whose files a folder holds.

use crate::cuda::context::InventoryContext;
use crate::cuda::value::Toolkit;

/// Whose files a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// Maybe the application's.
    Own,
    /// Packages of Python.
    Packages,
    /// The distribution's, but for what none of its packages owns.
    System,
    /// Somebody else's.
    Foreign,
    /// Those of the cache of a package manager.
    Cache,
}

/// Whether a folder holds Python itself, a toolkit, or what is made from the system's packages and run by nobody.
pub(super) fn is_foreign_folder(context: &InventoryContext<'_>, toolkits: &[Toolkit], path: &[u8]) -> bool {
    is_standard_library(path)
        || toolkits.iter().any(|toolkit| toolkit.root == path)
        || context.catalog.toolkit_root(path).is_some()
        || is_made(&[path, b"/"].concat())
}

/// Whether a folder is the cache of a package manager that keeps packages unpacked, and hard-links them into
/// environments.
pub(super) fn is_cache(context: &InventoryContext<'_>, path: &[u8], name: &[u8]) -> bool {
    if !matches!(name, b"uv" | b"pkgs" | b"store" | b"cache") {
        return false;
    }
    let rule = context.catalog.is_devel_path(&[path, b"/x"].concat());
    rule.is_some_and(|rule| rule.category == "package-caches" && rule.id.starts_with("cache-"))
}

/// Whether a folder belongs to the distribution: what one of its packages owns there is not the application's, what
/// nobody owns is. Services are described in `/etc`, which is none of them.
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

/// Whether a folder holds what nobody starts, or what package managers and their scripts make.
fn is_made(path: &[u8]) -> bool {
    const MADE: [&[u8]; 23] = [
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

/// Whether a folder is `lib/python3.12` of some Python: its makefiles and settings name the compiler that made
/// it. The packages in it are told apart by their own folder.
fn is_standard_library(path: &[u8]) -> bool {
    let mut parts = path.rsplit(|byte| *byte == b'/');
    let version = parts.next().and_then(|name| name.strip_prefix(b"python")).and_then(<[u8]>::first);
    version.is_some_and(u8::is_ascii_digit) && matches!(parts.next(), Some(b"lib" | b"lib64"))
}
