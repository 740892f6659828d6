//! Names and labels of inventory values in reports.

use super::value::{Class, Flavor, HolderKind, Level, Role, Strategy, SuppliedBy, Supplier, Use};
use crate::base::labels::{GPU_CODE, labelled};
use crate::base::words::words;
use crate::formats::fatbin::{Compression, GpuKind};

words!(Flavor {
    Base = "base",
    Runtime = "runtime",
    Devel = "devel",
    None = "none",
});

words!(Role {
    Runtime = "runtime",
    Stub = "stub",
    Compat = "compat",
});

words!(Supplier {
    Wheel = "wheel",
    Conda = "conda",
    Toolkit = "toolkit",
    Distro = "distro",
    Application = "application",
});

words!(Use {
    Needed = "needed",
    Dlopen = "dlopen",
    Unreferenced = "unreferenced",
});

words!(Strategy {
    WheelBundled = "wheel-bundled",
    BaseImage = "base-image",
    ByHand = "by-hand",
    Mixed = "mixed",
    None = "none",
    Unknown = "unknown",
});

words!(Level {
    Server = "server",
    Model = "model",
    Framework = "framework",
    Kernels = "kernels",
    Libraries = "libraries",
    Runtime = "runtime",
    Driver = "driver",
    KernelDriver = "kernel-driver",
    System = "system",
    Gpu = "gpu",
});

words!(SuppliedBy {
    Wheel = "wheel",
    Conda = "conda",
    BaseImage = "base-image",
    ByHand = "by-hand",
    Static = "static",
    Host = "host",
    Missing = "missing",
    NotUsed = "not-used",
    Unknown = "unknown",
});

labelled!(Class: CLASSES);
labelled!(Flavor: FLAVORS);
labelled!(Level: LEVELS);
labelled!(Role: ROLES);
labelled!(Strategy: STRATEGIES);
labelled!(SuppliedBy: STACK_SUPPLIERS);
labelled!(Supplier: SUPPLIERS);
labelled!(Use: USES);

impl HolderKind {
    /// Name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Library => "libraries",
            Self::Executable => "executables",
            Self::Archive => "archives",
            Self::File => "files",
        }
    }
}

/// Name of a compression in reports.
pub const fn compression_name(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "none",
        Compression::Lz4 => "lz4",
        Compression::Zstd => "zstd",
        Compression::Other => "other",
    }
}

/// Name of a kind of GPU code in reports.
pub const fn kind_name(kind: GpuKind) -> &'static str {
    match kind {
        GpuKind::Sass => "sass",
        GpuKind::Ptx => "ptx",
        GpuKind::Lto => "lto",
        GpuKind::Other(_) => "other",
    }
}

/// Names of all kinds of GPU code.
pub const CODE_KINDS: [&str; 4] = [
    kind_name(GpuKind::Sass),
    kind_name(GpuKind::Ptx),
    kind_name(GpuKind::Lto),
    kind_name(GpuKind::Other(0)),
];

/// Names of package managers.
pub const MANAGERS: [&str; 5] = ["dpkg", "rpm", "apk", "pip", "conda"];

/// Label of a kind of GPU code.
pub const fn kind_label(kind: GpuKind) -> &'static str {
    GPU_CODE.text(kind_name(kind))
}
