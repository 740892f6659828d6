//! Builds the parts of a report that come from an inventory.

use super::cuda::{
    BasePart, ByHolder, ComponentLine, CudaPart, DuplicateLine, FrameworkLine, GpuCodeSumLine, IdenticalLine,
    PackageLine, ResolvedLine, StackLine, ToolkitLine, UnresolvedLine, WeightLine,
};
use super::library::{Names, library_lines};
use crate::analysis::Analysis;
use crate::base::text::escape;
use crate::cuda::{BaseImage, Inventory, Package, StackLevel, arch_name, kind_name};

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
        libraries: library_lines(inventory, names.rootfs).collect(),
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

impl Names<'_> {
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
