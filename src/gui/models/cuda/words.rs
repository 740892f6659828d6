//! Labels.

use crate::base::text::{escape, printable};
use crate::cuda::links::{Links, Object, ObjectId, SearchStep};
use crate::cuda::{HolderKind, VersionSource, kind_label};
use crate::formats::fatbin::{Compression, GpuKind, Suffix};
use crate::rootfs::{NodeId, Rootfs};

/// Placeholder for unknown values.
pub const UNKNOWN: &str = "–";

pub(super) const fn version_source(source: VersionSource) -> &'static str {
    match source {
        VersionSource::FileName => "from the file name",
        VersionSource::Link => "from a symbolic link",
        VersionSource::Package => "from the package",
        VersionSource::Note => "from an ELF note",
    }
}

pub(super) const fn holder(kind: HolderKind) -> &'static str {
    match kind {
        HolderKind::Library => "library",
        HolderKind::Executable => "executable",
        HolderKind::Archive => "static archive",
        HolderKind::File => "loose file",
    }
}

/// A kind of GPU code; of an unknown kind, its number.
pub fn kind(kind: GpuKind) -> String {
    match kind {
        GpuKind::Other(number) => format!("{} (kind {number})", kind_label(kind)),
        _ => kind_label(kind).to_owned(),
    }
}

/// An architecture without its kind: `90`, `90a`.
pub fn architecture(arch: u32, suffix: Option<Suffix>) -> String {
    let letter = match suffix {
        None => "",
        Some(Suffix::A) => "a",
        Some(Suffix::F) => "f",
    };
    format!("{arch}{letter}")
}

pub(super) const fn compression(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "not compressed",
        Compression::Lz4 => "LZ4",
        Compression::Zstd => "zstd",
        Compression::Other => "compressed",
    }
}

/// The last part of a path.
pub(super) fn file_name(rootfs: &Rootfs, node: NodeId) -> String {
    escape(rootfs.node(node).name())
}

/// The object with this id, when there is one.
pub(super) fn object(links: &Links, id: ObjectId) -> Option<&Object> {
    links.objects.get(id.0 as usize)
}

pub(super) fn object_name(links: &Links, rootfs: &Rootfs, id: ObjectId) -> String {
    object(links, id).map_or_else(|| UNKNOWN.to_owned(), |object| file_name(rootfs, object.node))
}

/// How the loader came to a file.
pub(super) fn step(step: &SearchStep, links: &Links, rootfs: &Rootfs) -> String {
    match step {
        SearchStep::Loaded => "already loaded in the process".to_owned(),
        SearchStep::Path => "absolute path".to_owned(),
        SearchStep::Rpath(of, folder) => {
            format!("RPATH of {}: {}", object_name(links, rootfs, *of), printable(folder))
        }
        SearchStep::LibraryPath(folder) => format!("LD_LIBRARY_PATH: {}", printable(folder)),
        SearchStep::Runpath(folder) => format!("RUNPATH: {}", printable(folder)),
        SearchStep::Cache(folder) => format!("ldconfig cache: {}", printable(folder)),
        SearchStep::Default(folder) => format!("default loader path: {}", printable(folder)),
        SearchStep::Table(says) => printable(says),
    }
}
