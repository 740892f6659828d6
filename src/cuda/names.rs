//! The names that reports use for the values of an inventory.

use super::value::{Flavor, HolderKind, Level, Role, Strategy, SuppliedBy, Supplier, Use};
use crate::base::words::words;
use crate::formats::fatbin::{Compression, GpuKind, Suffix};

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

impl SuppliedBy {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Conda => "conda",
            Self::BaseImage => "base-image",
            Self::ByHand => "by-hand",
            Self::Static => "static",
            Self::Host => "host",
            Self::Missing => "missing",
            Self::NotUsed => "not-used",
            Self::Unknown => "unknown",
        }
    }
}

impl HolderKind {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Library => "libraries",
            Self::Executable => "executables",
            Self::Archive => "archives",
            Self::File => "files",
        }
    }
}

/// The name of how GPU code is stored.
pub const fn compression_name(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "none",
        Compression::Lz4 => "lz4",
        Compression::Zstd => "zstd",
        Compression::Other => "other",
    }
}

/// The name of a kind of GPU code.
pub const fn kind_name(kind: GpuKind) -> &'static str {
    match kind {
        GpuKind::Sass => "sass",
        GpuKind::Ptx => "ptx",
        GpuKind::Lto => "lto",
        GpuKind::Other(_) => "other",
    }
}

/// The name of an architecture with the kind of code for it: `sm_90a`, `compute_90`, `lto_90`.
pub fn arch_name(kind: GpuKind, arch: u32, suffix: Option<Suffix>) -> String {
    let prefix = match kind {
        GpuKind::Sass => "sm",
        GpuKind::Ptx => "compute",
        GpuKind::Lto => "lto",
        GpuKind::Other(_) => "other",
    };
    let suffix = match suffix {
        None => "",
        Some(Suffix::A) => "a",
        Some(Suffix::F) => "f",
    };
    format!("{prefix}_{arch}{suffix}")
}
