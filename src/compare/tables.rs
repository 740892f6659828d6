//! Components, GPU code, packages and findings side by side.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::value::{ComponentRow, FindingRow, GpuCodeRow, PackageRow};
use crate::analysis::Analysis;
use crate::cuda::{Inventory, arch_name, kind_name};
use crate::findings::Verdict;

/// Components, by the most bytes that an image has of them, then by name.
pub(super) fn components(images: &[Arc<Analysis>]) -> Vec<ComponentRow> {
    let found = table(images, |inventory: &Inventory| {
        inventory.components.iter().map(|one| (one.name.to_string(), one.bytes)).collect()
    });
    let row = |(name, bytes): (String, Vec<Option<u64>>)| {
        let versions = images.iter().map(|image| versions(image, &name)).collect();
        ComponentRow { name, bytes, versions }
    };
    let mut rows: Vec<ComponentRow> = found.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row.bytes.iter().max().copied()));
    rows
}

/// Versions of the libraries of a component.
fn versions(image: &Analysis, component: &str) -> Option<String> {
    let libraries = &image.inventory.as_ref()?.libraries;
    let of_it = libraries.iter().filter(|library| *library.component == *component);
    joined(of_it.filter_map(|library| library.version.as_ref()).map(|(version, _)| version.as_str()))
}

/// GPU code, by the most bytes that an image has of it, then by name.
pub(super) fn gpu_code(images: &[Arc<Analysis>]) -> Vec<GpuCodeRow> {
    let found = table(images, |inventory: &Inventory| {
        let sums = inventory.gpu_code.iter();
        sums.map(|sum| ((arch_name(sum.kind, sum.arch, sum.suffix), kind_name(sum.kind)), sum.bytes))
            .collect()
    });
    let mut rows: Vec<GpuCodeRow> = found
        .into_iter()
        .map(|((arch, kind), bytes)| GpuCodeRow { arch, kind: kind.into(), bytes })
        .collect();
    rows.sort_by_key(|row| Reverse(row.bytes.iter().max().copied()));
    rows
}

/// One row for each name that some image has, with the bytes in each: 0 where an image is known to have none.
fn table<K: Clone + Ord>(
    images: &[Arc<Analysis>],
    of: impl Fn(&Inventory) -> Vec<(K, u64)>,
) -> BTreeMap<K, Vec<Option<u64>>> {
    let none: Vec<Option<u64>> = images
        .iter()
        // Pending parts may have it.
        .map(|image| image.inventory.as_ref().filter(|inventory| inventory.waits_for.is_none()).map(|_| 0))
        .collect();
    let mut rows: BTreeMap<K, Vec<Option<u64>>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate() {
        for (name, bytes) in image.inventory.as_deref().map(&of).unwrap_or_default() {
            let sum = &mut rows.entry(name).or_insert_with(|| none.clone())[place];
            *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
        }
    }
    rows
}

/// Packages, by manager and name.
pub(super) fn packages(images: &[Arc<Analysis>]) -> Vec<PackageRow> {
    #[derive(Clone, Default)]
    struct Installed<'a> {
        versions: BTreeSet<&'a str>,
        bytes: Option<u64>,
    }
    let mut rows: BTreeMap<(&'static str, &str), Vec<Option<Installed<'_>>>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate() {
        let Some(inventory) = &image.inventory else { continue };
        for package in &inventory.packages {
            let row =
                rows.entry((package.manager, &package.name)).or_insert_with(|| vec![None; images.len()]);
            let bytes = match &row[place] {
                None => package.bytes,
                Some(known) => known.bytes.zip(package.bytes).map(|(one, other)| one.saturating_add(other)),
            };
            let known = row[place].get_or_insert_default();
            known.versions.insert(&package.version);
            known.bytes = bytes;
        }
    }
    let row = |((manager, name), images): ((&'static str, &str), Vec<Option<Installed<'_>>>)| PackageRow {
        manager: manager.into(),
        name: name.to_owned(),
        versions: images
            .iter()
            .map(|one| one.as_ref().map(|one| joined(one.versions.iter().copied()).unwrap_or_default()))
            .collect(),
        bytes: images.iter().map(|one| one.as_ref()?.bytes).collect(),
    };
    rows.into_iter().map(row).collect()
}

/// What the rules found that is not needed, by rule: most bytes of any image first, then by name.
pub(super) fn findings(images: &[Arc<Analysis>]) -> Vec<FindingRow> {
    let none: Vec<Option<u64>> = images.iter().map(|image| image.findings.as_ref().map(|_| 0)).collect();
    let mut rows: BTreeMap<&'static str, FindingRow> = BTreeMap::new();
    for (place, image) in images.iter().enumerate() {
        let list = image.findings.iter().flat_map(|findings| &findings.list);
        for finding in list.filter(|finding| finding.verdict != Verdict::Needed) {
            let rule = finding.rule.id;
            let row = rows.entry(rule).or_insert_with(|| FindingRow {
                rule: rule.into(),
                bytes: none.clone(),
                counts: none.clone(),
            });
            let add = |sum: &mut Option<u64>, more: u64| *sum = Some(sum.unwrap_or(0).saturating_add(more));
            add(&mut row.bytes[place], finding.bytes);
            add(&mut row.counts[place], 1);
        }
    }
    let mut rows: Vec<FindingRow> = rows.into_values().collect();
    rows.sort_by_key(|row| Reverse(row.bytes.iter().max().copied()));
    rows
}

/// Versions, each once, as people order them; `None` of none.
fn joined<'a>(versions: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut versions: Vec<&str> = versions.collect();
    versions.sort_by(|one, other| natural(one).cmp(natural(other)).then(one.cmp(other)));
    versions.dedup();
    (!versions.is_empty()).then(|| versions.join(", "))
}

/// The parts of a version; numbers count as such: fewer digits are less.
fn natural(version: &str) -> impl Iterator<Item = (usize, &str)> {
    version.split(['.', '-', '+', '~', ':', '_']).map(|part| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let zeros = part.bytes().take_while(|byte| *byte == b'0').count().min(digits);
        (digits - zeros, &part[zeros..])
    })
}
