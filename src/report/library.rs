//! A CUDA library: its fields in JSON, which are the columns of the CSV table, and where each comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary;
use super::words::Word;
use crate::base::text::escape;
use crate::cuda::links::{Links, ObjectId};
use crate::cuda::{GpuCode, Inventory, Library, Use, arch_name, compression_name, kind_name};
use crate::rootfs::{NodeId, Rootfs};

/// A CUDA library, or a library with GPU code.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LibraryLine {
    /// Absolute path, escaped.
    pub path: String,
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// Component.
    pub component: String,
    /// Version, if known.
    pub version: Option<String>,
    /// CUDA major version it belongs to, if known.
    pub cuda_major: Option<u32>,
    /// runtime, stub or compat.
    #[schemars(transform = vocabulary::role)]
    pub role: Word,
    /// Logical bytes.
    pub bytes: u64,
    /// Layer of the file.
    pub layer: u16,
    /// The first name of the same inode.
    pub hardlink_of: Option<String>,
    /// wheel, conda, toolkit, distro or application.
    #[schemars(transform = vocabulary::supplier)]
    pub supplier: Word,
    /// Owning package.
    pub package: Option<PackageName>,
    /// Architecture, if it is not the image's.
    pub foreign: Option<String>,
    /// Driver versions that a forward-compatibility driver supports, from its note.
    pub forward_compat: Option<ForwardCompatPart>,
    /// Files whose NEEDED entries resolve to it, and files that open it.
    pub needed_by: Vec<String>,
    /// needed, dlopen or unreferenced.
    #[schemars(transform = vocabulary::usage)]
    #[serde(rename = "use")]
    pub usage: Word,
    /// Chain from this file to the started one, if it is reachable.
    pub chain: Vec<String>,
    /// GPU code in it.
    pub gpu_code: Vec<GpuCodeLine>,
    /// Container headers and padding.
    pub overhead_bytes: u64,
    /// Bytes of the sections with GPU code, from the section table.
    pub gpu_section_bytes: u64,
}

/// A package by name.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PackageName {
    /// dpkg, rpm, apk, pip or conda.
    #[schemars(transform = vocabulary::manager)]
    pub manager: Word,
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
}

/// Note of a forward-compatibility driver.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ForwardCompatPart {
    /// CUDA version it provides.
    pub cuda_version: Option<String>,
    /// Supported branches of the host's driver.
    pub drivers: Vec<u32>,
    /// Device classes, as numbered by NVML.
    pub devices: Vec<u32>,
}

/// GPU code of one file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GpuCodeLine {
    /// `sm_90a`, `compute_90`, `lto_90`.
    pub arch: String,
    /// sass, ptx, lto or other.
    #[schemars(transform = vocabulary::code_kind)]
    pub kind: Word,
    /// PTX instruction set version.
    pub isa: Option<String>,
    /// none, lz4, zstd or other.
    #[schemars(transform = vocabulary::code_compression)]
    pub compression: Word,
    /// Number of entries.
    pub entries: u64,
    /// Stored bytes.
    pub bytes: u64,
    /// Decompressed bytes.
    pub uncompressed_bytes: u64,
}

/// The libraries of an inventory, in its order.
pub fn library_lines<'a>(
    inventory: &'a Inventory,
    rootfs: &'a Rootfs,
) -> impl Iterator<Item = LibraryLine> + 'a {
    let names = Names { inventory, rootfs };
    inventory.libraries.iter().map(move |library| names.library(library))
}

/// Names of what an inventory refers to.
pub(super) struct Names<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) rootfs: &'a Rootfs,
}

impl Names<'_> {
    pub(super) fn path(&self, node: NodeId) -> String {
        escape(&self.rootfs.node(node).path())
    }

    pub(super) fn links(&self) -> &Links {
        &self.inventory.links
    }

    pub(super) fn object(&self, object: ObjectId) -> String {
        self.path(self.links().object(object).node)
    }

    pub(super) fn objects(&self, objects: &[ObjectId]) -> Vec<String> {
        objects.iter().map(|object| self.object(*object)).collect()
    }

    fn library(&self, library: &Library) -> LibraryLine {
        let object = self.links().object(library.object);
        let mut needed_by: Vec<ObjectId> = object.needed_by.clone();
        needed_by.extend(&object.opened_by);
        needed_by.sort_unstable();
        needed_by.dedup();
        let package = library.package.map(|place| &self.inventory.packages[place]);
        let chain = if object.usage == Use::Unreferenced {
            Vec::new()
        } else {
            self.objects(&self.links().chain(library.object))
        };
        LibraryLine {
            path: self.path(library.node),
            soname: library.soname.clone(),
            component: library.component.to_string(),
            version: library.version.as_ref().map(|(version, _)| version.clone()),
            cuda_major: library.cuda_major.as_ref().map(|(major, _)| *major),
            role: library.role.as_str().into(),
            bytes: library.bytes,
            layer: library.layer,
            hardlink_of: library.hard_link_of.map(|node| self.path(node)),
            supplier: library.supplier.as_str().into(),
            package: package.map(|package| PackageName {
                manager: package.manager.into(),
                name: package.name.clone(),
                version: package.version.clone(),
            }),
            foreign: library.foreign.clone(),
            forward_compat: library.forward_compat.as_ref().map(|note| ForwardCompatPart {
                cuda_version: note.cuda_version.clone(),
                drivers: note.driver.clone(),
                devices: note.device.clone(),
            }),
            needed_by: self.objects(&needed_by),
            usage: object.usage.as_str().into(),
            chain,
            gpu_code: library.gpu_code.iter().map(code_line).collect(),
            overhead_bytes: library.overhead_bytes,
            gpu_section_bytes: library.gpu_section_bytes,
        }
    }
}

fn code_line(code: &GpuCode) -> GpuCodeLine {
    GpuCodeLine {
        arch: arch_name(code.kind, code.arch, code.suffix),
        kind: kind_name(code.kind).into(),
        isa: code.isa.map(|(major, minor)| format!("{major}.{minor}")),
        compression: compression_name(code.compression).into(),
        entries: code.entries,
        bytes: code.bytes,
        uncompressed_bytes: code.uncompressed_bytes,
    }
}
