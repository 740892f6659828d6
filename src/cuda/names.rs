//! The names that reports use for the values of an inventory.

use super::value::{Flavor, HolderKind, Level, Role, Strategy, SuppliedBy, Supplier, Use};
use crate::formats::fatbin::{Compression, GpuKind, Suffix};

impl Flavor {
    /// The name in reports and in the tags of NVIDIA's images.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Runtime => "runtime",
            Self::Devel => "devel",
            Self::None => "none",
        }
    }
}

impl Role {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Stub => "stub",
            Self::Compat => "compat",
        }
    }
}

impl Supplier {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Conda => "conda",
            Self::Toolkit => "toolkit",
            Self::Distro => "distro",
            Self::Application => "application",
        }
    }
}

impl Use {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::Dlopen => "dlopen",
            Self::Unreferenced => "unreferenced",
        }
    }
}

impl Strategy {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WheelBundled => "wheel-bundled",
            Self::BaseImage => "base-image",
            Self::ByHand => "by-hand",
            Self::Mixed => "mixed",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

impl Level {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Model => "model",
            Self::Framework => "framework",
            Self::Kernels => "kernels",
            Self::Libraries => "libraries",
            Self::Runtime => "runtime",
            Self::Driver => "driver",
            Self::KernelDriver => "kernel-driver",
            Self::System => "system",
            Self::Gpu => "gpu",
        }
    }
}

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
