//! Small files of an image that are stored completely, recognised by path: package databases, metadata of Python and
//! conda packages, loader configuration, versions.

/// Kind of a stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentKind {
    /// `/var/lib/dpkg/status`.
    DpkgStatus,
    /// A file of `/var/lib/dpkg/status.d`, one package each, as in distroless images.
    DpkgStatusPart,
    /// `NAME.md5sums` in `status.d`: the files of such a package.
    DpkgSums,
    /// `/var/lib/dpkg/info/NAME.list`: the files of a package.
    DpkgList,
    /// `/var/lib/dpkg/diversions`: files that were moved for those of other packages.
    DpkgDiversions,
    /// An rpm database of any of the three kinds.
    Rpm,
    /// Write-ahead log of an rpm database.
    RpmJournal,
    /// The database of apk.
    Apk,
    /// `/var/lib/apt/extended_states`: which packages apt installed as dependencies.
    AptStates,
    /// `/etc/apt/apt.conf`, or a file of `/etc/apt/apt.conf.d`.
    AptConf,
    /// `/etc/apk/world`: the packages requested by the user.
    ApkWorld,
    /// `packages.toml` of dnf5: the reason why each package is installed.
    DnfReasons,
    /// `groups.toml` of dnf5: the packages of installed groups.
    DnfGroups,
    /// `history.sqlite` of dnf4: its transactions.
    DnfHistory,
    /// Write-ahead log of the dnf4 history.
    DnfJournal,
    /// `METADATA` or `PKG-INFO` of a Python package.
    PipMetadata,
    /// `RECORD` of a Python package.
    PipRecord,
    /// `WHEEL` of a Python package: the platforms it was built for.
    PipWheel,
    /// `direct_url.json` of a Python package that is not from an index: a repository, an archive or a folder (PEP 610).
    PipOrigin,
    /// `pyvenv.cfg` of a Python virtual environment, in any folder.
    PythonEnvironment,
    /// `pyproject.toml` of a Python project, in any folder.
    PythonProject,
    /// `node_modules/.package-lock.json`: what npm installed there.
    NpmInstalled,
    /// `package.json` of a project, not of an installed package.
    NpmProject,
    /// `torch/version.py`.
    TorchVersion,
    /// A file of `conda-meta`.
    CondaMeta,
    /// `/etc/ld.so.conf`, or a file of `/etc/ld.so.conf.d`.
    LoaderConf,
    /// `/etc/ld.so.preload`.
    LoaderPreload,
    /// `/etc/ld-musl-ARCH.path`.
    MuslPath,
    /// `version.json` or `version.txt` of a CUDA toolkit.
    CudaVersion,
    /// `os-release`.
    OsRelease,
}

/// How much of a document is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All of it; nothing if it exceeds the size limit of documents.
    Whole,
    /// As [`Self::Whole`], with the larger limit for databases.
    Database,
    /// The head only.
    Head,
}

impl DocumentKind {
    /// How much of a document of this kind is stored.
    pub const fn keep(self) -> Keep {
        match self {
            Self::Rpm | Self::DpkgStatus | Self::Apk | Self::DnfHistory | Self::DnfJournal => Keep::Database,
            // The description of a package follows its head and may be very long.
            Self::PipMetadata | Self::RpmJournal => Keep::Head,
            _ => Keep::Whole,
        }
    }
}

/// A folder of documents, recognised by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// `/var/lib/dpkg`.
    Dpkg,
    /// `/var/lib/dpkg/status.d`.
    DpkgParts,
    /// `/var/lib/dpkg/info`.
    DpkgInfo,
    /// `/var/lib/rpm`, or `/usr/lib/sysimage/rpm` on newer systems.
    Rpm,
    /// `/lib/apk/db`.
    Apk,
    /// `/var/lib/apt`.
    AptState,
    /// `/etc/apt`.
    Apt,
    /// `/etc/apt/apt.conf.d`.
    AptConf,
    /// `/etc/apk`.
    ApkEtc,
    /// `/usr/lib/sysimage/libdnf5`.
    Dnf5,
    /// `/var/lib/dnf`.
    Dnf,
    /// `NAME.dist-info` or `NAME.egg-info`.
    PythonPackage,
    /// `torch`.
    Torch,
    /// `conda-meta`.
    CondaMeta,
    /// `/etc`.
    Etc,
    /// `/usr/lib`.
    UsrLib,
    /// `/etc/ld.so.conf.d`.
    LoaderConf,
    /// Below a `node_modules`.
    NodeModules,
    /// Possible root of a CUDA toolkit, see [`may_be_toolkit`].
    Cuda,
}

impl Folder {
    /// The folder with this absolute path; `None` for nearly all.
    pub fn of(path: &[u8]) -> Option<Self> {
        let mut parts = path.rsplit(|byte| *byte == b'/');
        let (name, parent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        Some(match path {
            b"/var/lib/dpkg" => Self::Dpkg,
            b"/var/lib/dpkg/status.d" => Self::DpkgParts,
            b"/var/lib/dpkg/info" => Self::DpkgInfo,
            b"/var/lib/rpm" | b"/usr/lib/sysimage/rpm" => Self::Rpm,
            b"/lib/apk/db" | b"/usr/lib/apk/db" => Self::Apk,
            b"/var/lib/apt" => Self::AptState,
            b"/etc/apt" => Self::Apt,
            b"/etc/apt/apt.conf.d" => Self::AptConf,
            b"/etc/apk" => Self::ApkEtc,
            b"/usr/lib/sysimage/libdnf5" => Self::Dnf5,
            b"/var/lib/dnf" => Self::Dnf,
            b"/etc" => Self::Etc,
            b"/usr/lib" => Self::UsrLib,
            b"/etc/ld.so.conf.d" => Self::LoaderConf,
            _ if name == b"torch" => Self::Torch,
            _ if name == b"conda-meta" => Self::CondaMeta,
            _ if name.ends_with(b".dist-info") || name.ends_with(b".egg-info") => Self::PythonPackage,
            _ if may_be_toolkit(parent, name) => Self::Cuda,
            _ if memchr::memmem::find(path, b"/node_modules/").is_some() => Self::NodeModules,
            _ => return None,
        })
    }

    /// Kind of the file `name` in a folder, or in one of no kind; `None` if it is not stored.
    pub fn document(folder: Option<Self>, name: &[u8]) -> Option<DocumentKind> {
        match name {
            b"pyvenv.cfg" => return Some(DocumentKind::PythonEnvironment),
            b"pyproject.toml" => return Some(DocumentKind::PythonProject),
            b".package-lock.json" => return Some(DocumentKind::NpmInstalled),
            b"package.json" if folder != Some(Self::NodeModules) => return Some(DocumentKind::NpmProject),
            _ => {}
        }
        Some(match (folder?, name) {
            (Self::Dpkg, b"status") => DocumentKind::DpkgStatus,
            (Self::Dpkg, b"diversions") => DocumentKind::DpkgDiversions,
            (Self::DpkgParts, _) if name.ends_with(b".md5sums") => DocumentKind::DpkgSums,
            (Self::DpkgParts, _) => DocumentKind::DpkgStatusPart,
            (Self::DpkgInfo, _) if name.ends_with(b".list") => DocumentKind::DpkgList,
            (Self::Rpm, b"Packages" | b"Packages.db" | b"rpmdb.sqlite") => DocumentKind::Rpm,
            (Self::Rpm, b"rpmdb.sqlite-wal") => DocumentKind::RpmJournal,
            (Self::Apk, b"installed") => DocumentKind::Apk,
            (Self::AptState, b"extended_states") => DocumentKind::AptStates,
            (Self::Apt, b"apt.conf") => DocumentKind::AptConf,
            (Self::AptConf, _) if is_apt_conf(name) => DocumentKind::AptConf,
            (Self::ApkEtc, b"world") => DocumentKind::ApkWorld,
            (Self::Dnf5, b"packages.toml") => DocumentKind::DnfReasons,
            (Self::Dnf5, b"groups.toml") => DocumentKind::DnfGroups,
            (Self::Dnf, b"history.sqlite") => DocumentKind::DnfHistory,
            (Self::Dnf, b"history.sqlite-wal") => DocumentKind::DnfJournal,
            (Self::PythonPackage, b"METADATA" | b"PKG-INFO") => DocumentKind::PipMetadata,
            (Self::PythonPackage, b"RECORD") => DocumentKind::PipRecord,
            (Self::PythonPackage, b"WHEEL") => DocumentKind::PipWheel,
            (Self::PythonPackage, b"direct_url.json") => DocumentKind::PipOrigin,
            (Self::Torch, b"version.py") => DocumentKind::TorchVersion,
            (Self::CondaMeta, _) if name.ends_with(b".json") => DocumentKind::CondaMeta,
            (Self::Etc, b"ld.so.conf") => DocumentKind::LoaderConf,
            (Self::Etc, b"ld.so.preload") => DocumentKind::LoaderPreload,
            (Self::Etc, _) if name.starts_with(b"ld-musl-") => DocumentKind::MuslPath,
            (Self::Etc | Self::UsrLib, b"os-release") => DocumentKind::OsRelease,
            (Self::LoaderConf, _) if name.ends_with(b".conf") => DocumentKind::LoaderConf,
            (Self::Cuda, b"version.json" | b"version.txt") => DocumentKind::CudaVersion,
            _ => return None,
        })
    }
}

/// Whether apt reads a file of `apt.conf.d`: no extension or `.conf`, and letters, digits, `-`, `_`, `.`
/// (apt.conf(5)).
fn is_apt_conf(name: &[u8]) -> bool {
    let stem = name.strip_suffix(b".conf").unwrap_or(name);
    !stem.is_empty() && stem.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
}

/// Whether a folder may be the root of a CUDA toolkit, by its own name and that of the folder above: `cuda-13.0`,
/// `nvidia-cuda-toolkit` of Debian, `cuda/12.4` of NVIDIA's HPC SDK.
pub fn may_be_toolkit(parent: &[u8], name: &[u8]) -> bool {
    name.windows(4).any(|part| part == b"cuda")
        || parent == b"cuda" && name.first().is_some_and(u8::is_ascii_digit)
}
