//! Generated files: written by package managers and their scripts, and files that no image should contain.

/// The kind of a generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// User and group tables.
    Users,
    /// Written whenever packages are installed.
    Packages,
    /// The metadata of the package with this name.
    PackagePapers(String),
    /// Compiled from a file next to it.
    Compiled,
    /// Disposable: caches, logs, temporary files.
    Lost,
}

/// Folders and files written by package installation and user creation, without a package that owns them.
const BY_PACKAGES: &[&str] = &[
    "/etc/alternatives/",
    "/etc/ca-certificates.conf",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mailcap",
    "/etc/networks",
    "/etc/pam.d/",
    "/etc/python3/",
    "/etc/rc0.d/",
    "/etc/rc1.d/",
    "/etc/rc2.d/",
    "/etc/rc3.d/",
    "/etc/rc4.d/",
    "/etc/rc5.d/",
    "/etc/rc6.d/",
    "/etc/rcS.d/",
    "/etc/shells",
    "/etc/ssl/certs/",
    "/etc/systemd/",
    "/etc/timezone",
    "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache",
    "/usr/share/glib-2.0/schemas/gschemas.compiled",
    "/usr/share/info/dir",
    "/usr/share/mime/",
    "/usr/sbin/policy-rc.d",
    "/var/lib/binfmts/",
    "/var/lib/dpkg/",
    "/var/lib/pam/",
    "/var/lib/python/",
    "/var/lib/rpm/",
    "/var/lib/systemd/",
    "/var/lib/ucf/",
    "/var/lib/dbus/",
    "/var/lib/dnf/",
];

/// User and group tables.
const USERS: &[&str] = &[
    "/etc/.pwd.lock",
    "/etc/group",
    "/etc/group-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/passwd",
    "/etc/passwd-",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/subgid",
    "/etc/subgid-",
    "/etc/subuid",
    "/etc/subuid-",
];

/// Files that are not carried over.
const LOST: &[&str] = &[
    "/.dockerenv",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/mtab",
    "/etc/resolv.conf",
    "/dev/",
    "/proc/",
    "/root/.cargo/.package-cache",
    "/run/",
    "/sys/",
    "/tmp/",
    "/usr/local/cargo/.crates.toml",
    "/usr/local/cargo/.crates2.json",
    "/usr/local/cargo/.global-cache",
    "/usr/local/cargo/.package-cache",
    "/usr/local/cargo/.package-cache-mutate",
    "/var/backups/",
    "/var/cache/",
    "/var/lib/apt/",
    "/var/log/",
    "/var/run/",
    "/var/tmp/",
];

/// Names of caches written by package scripts.
const CACHES: [&str; 7] = [
    "gconv-modules.cache",
    "giomodule.cache",
    "gschemas.compiled",
    "icon-theme.cache",
    "immodules.cache",
    "loaders.cache",
    "mimeinfo.cache",
];

/// The kind of a generated file; `None` for other content.
pub(super) fn state(path: &[u8]) -> Option<State> {
    let first = path.get(1);
    let fits = |list: &[&str]| {
        // Most are in other folders, which the first letter tells.
        list.iter().filter(|one| one.as_bytes().get(1) == first).any(|one| {
            if one.ends_with('/') { path.starts_with(one.as_bytes()) } else { path == one.as_bytes() }
        })
    };
    if let Some(name) = path.strip_prefix(b"/var/lib/dpkg/info/") {
        let end = name.iter().rposition(|byte| *byte == b'.').unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..end]);
        return Some(State::PackagePapers(name.split(':').next().unwrap_or_default().to_owned()));
    }
    if fits(LOST) {
        return Some(State::Lost);
    }
    if fits(USERS) {
        return Some(State::Users);
    }
    if fits(BY_PACKAGES) {
        return Some(State::Packages);
    }
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    // Earlier versions of settings, which dpkg and ucf leave.
    let leavings = [".dpkg-bak", ".dpkg-dist", ".dpkg-new", ".dpkg-old", ".ucf-dist", ".ucf-old"];
    if path.starts_with(b"/etc/") && leavings.iter().any(|end| name.ends_with(end.as_bytes())) {
        return Some(State::Packages);
    }
    if path.starts_with(b"/usr/") && CACHES.iter().any(|cache| name == cache.as_bytes()) {
        return Some(State::Packages);
    }
    let of_packages = path.starts_with(b"/usr/lib/python3") || path.starts_with(b"/usr/share/");
    (of_packages && source_of(path).is_some()).then_some(State::Compiled)
}

/// `/a/b.py` of `/a/__pycache__/b.cpython-311.pyc`.
pub(in crate::rewrite) fn source_of(path: &[u8]) -> Option<Vec<u8>> {
    let marker = b"/__pycache__/";
    let at = memchr::memmem::rfind(path, marker)?;
    let name = path.get(at + marker.len()..)?;
    let stem = name.split(|byte| *byte == b'.').next().filter(|stem| !stem.is_empty())?;
    Some([&path[..at], b"/", stem, b".py"].concat())
}
