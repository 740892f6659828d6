//! Builds the parts of a report that come from an inventory.

use super::cuda::{
    BasePart, ByHolder, ComponentLine, CudaPart, DuplicateLine, ForwardCompatPart, FrameworkLine,
    GpuCodeLine, GpuCodeSumLine, IdenticalLine, LibraryLine, PackageLine, PackageName, ResolvedLine,
    StackLine, ToolkitLine, UnresolvedLine, WeightLine,
};
use crate::analysis::Analysis;
use crate::base::text::escape;
use crate::cuda::links::{Links, ObjectId};
use crate::cuda::{
    BaseImage, GpuCode, Inventory, Library, Package, StackLevel, Use, arch_name, compression_name, kind_name,
};
use crate::rootfs::{NodeId, Rootfs};

/// The packages of an inventory.
pub(super) fn packages(inventory: &Inventory) -> Vec<PackageLine> {
    let line = |package: &Package| PackageLine {
        manager: package.manager.into(),
        name: package.name.clone(),
        version: package.version.clone(),
        bytes: package.bytes,
        files: package.files,
        layer: package.layer,
        root: package.root.as_deref().map(escape),
    };
    inventory.packages.iter().map(line).collect()
}

/// The base image of an inventory.
pub(super) fn base(base: &BaseImage) -> BasePart {
    BasePart {
        reference: base.reference.clone(),
        flavor: base.flavor.as_str().into(),
        cuda_version: base.cuda_version.clone(),
        cudnn_version: base.cudnn_version.clone(),
        distribution: base.distribution.clone(),
        layers: base.layers,
        evidence: base.evidence.clone(),
    }
}

/// The CUDA part; `None` without an inventory.
pub(super) fn cuda_part(analysis: &Analysis) -> Option<CudaPart> {
    let inventory = analysis.inventory.as_deref()?;
    let names = Names { inventory, rootfs: &analysis.merge.as_ref()?.rootfs };
    let toolkits: Vec<ToolkitLine> = inventory
        .toolkits
        .iter()
        .map(|toolkit| ToolkitLine {
            version: toolkit.version.clone(),
            flavor: toolkit.flavor.as_str().into(),
            root: escape(&toolkit.root),
            cudnn_version: toolkit.cudnn_version.clone(),
            evidence: toolkit.evidence.clone(),
        })
        .collect();
    Some(CudaPart {
        toolkit: inventory.toolkit.and_then(|place| toolkits.get(place).cloned()),
        toolkits,
        libraries: inventory.libraries.iter().map(|library| names.library(library)).collect(),
        components: inventory
            .components
            .iter()
            .map(|component| ComponentLine {
                name: component.name.to_string(),
                bytes: component.bytes,
                libraries: component.libraries,
                suppliers: component.suppliers.iter().map(|supplier| supplier.as_str().into()).collect(),
            })
            .collect(),
        gpu_code: inventory
            .gpu_code
            .iter()
            .map(|sum| GpuCodeSumLine {
                arch: arch_name(sum.kind, sum.arch, sum.suffix),
                kind: kind_name(sum.kind).into(),
                bytes: sum.bytes,
                uncompressed_bytes: sum.uncompressed_bytes,
                by_holder: ByHolder {
                    libraries: sum.libraries,
                    executables: sum.executables,
                    archives: sum.archives,
                    files: sum.files,
                },
            })
            .collect(),
        duplicates: names.duplicates(),
        identical: inventory
            .identical
            .iter()
            .map(|same| IdenticalLine {
                paths: same.nodes.iter().map(|node| names.path(*node)).collect(),
                bytes: same.bytes,
            })
            .collect(),
        frameworks: inventory
            .frameworks
            .iter()
            .map(|framework| FrameworkLine {
                name: framework.name.to_string(),
                version: framework.version.clone(),
                cuda_version: framework.cuda_version.clone(),
                strategy: framework.strategy.as_str().into(),
                evidence: framework.evidence.clone(),
                path: escape(&framework.path),
            })
            .collect(),
        stack: inventory.stack.iter().map(|level| names.level(level)).collect(),
        weights: inventory
            .weights
            .iter()
            .map(|weight| WeightLine {
                path: names.path(weight.node),
                format: weight.format.to_string(),
                bytes: weight.bytes,
            })
            .collect(),
        unresolved: names.unresolved(),
    })
}

struct Names<'a> {
    inventory: &'a Inventory,
    rootfs: &'a Rootfs,
}

impl Names<'_> {
    fn path(&self, node: NodeId) -> String {
        escape(&self.rootfs.node(node).path())
    }

    fn links(&self) -> &Links {
        &self.inventory.links
    }

    fn object(&self, object: ObjectId) -> String {
        self.path(self.links().object(object).node)
    }

    fn objects(&self, objects: &[ObjectId]) -> Vec<String> {
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

    fn duplicates(&self) -> Vec<DuplicateLine> {
        let library = |place: usize| self.path(self.inventory.libraries[place].node);
        self.inventory
            .duplicates
            .iter()
            .map(|duplicate| DuplicateLine {
                soname: duplicate.soname.clone(),
                paths: duplicate.libraries.iter().map(|place| library(*place)).collect(),
                identical: duplicate.identical,
                reclaimable_bytes: duplicate.reclaimable_bytes,
                resolved_by: duplicate
                    .picks
                    .iter()
                    .map(|pick| ResolvedLine {
                        path: library(pick.library),
                        loaded_by: self.objects(&pick.loaded_by),
                    })
                    .collect(),
            })
            .collect()
    }

    fn level(&self, level: &StackLevel) -> StackLine {
        StackLine {
            level: level.level.as_str().into(),
            name: level.names.join(", "),
            supplied_by: level.supplied_by.iter().map(|by| by.as_str()).collect::<Vec<_>>().join(", "),
            paths: level.nodes.iter().map(|node| self.path(*node)).collect(),
            note: level.note.clone(),
        }
    }

    fn unresolved(&self) -> Vec<UnresolvedLine> {
        let mut lines = Vec::new();
        for object in &self.links().objects {
            for need in &object.needs {
                if need.is_missing() {
                    lines.push(UnresolvedLine { path: self.path(object.node), name: need.name.clone() });
                }
            }
        }
        lines
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
