//! All rules, one file each; those about build content in one. A new rule is its file, its manual page
//! `assets/manual/rules/ID.md`, and its line in [`TABLE`].

mod base_past_support;
mod build_artifacts;
mod build_content;
mod common;
mod compat_on_loader_path;
mod cuda_requirement;
mod devel_base;
mod development_packages;
mod driver_capabilities;
mod driver_libraries;
mod duplicates;
mod metadata_copies;
mod missing_libraries;
mod missing_programs;
mod missing_ptx;
mod mixed_majors;
mod orphaned_packages;
mod overwritten;
mod package_caches;
mod pip_files;
mod reached;
mod secrets;
mod stubs_on_loader_path;
mod unused_gpu_code;
mod unused_installers;
mod unused_libraries;
mod unused_nodejs;
mod visible_devices;
mod weights_in_middle_layer;

use super::draft::Draft;
use super::facts::Facts;
use super::value::Rule;
use crate::jobs::{map_all, workers};

/// Finds what a rule is about.
type Find = fn(&Facts<'_>) -> Vec<Draft>;

/// Every rule, by category and id. Rules without a function are evaluated together, or from the drafts of others.
static TABLE: &[(&Rule, Option<Find>)] = &[
    (&package_caches::RULE, Some(package_caches::find)),
    (&build_artifacts::RULE, Some(build_artifacts::find)),
    (&build_content::STUBS, None),
    (&build_content::STATIC_LIBRARIES, None),
    (&build_content::HEADERS, None),
    (&build_content::PYTHON_BUILD_LEFTOVERS, None),
    (&build_content::PROFILERS, None),
    (&build_content::DEBUGGERS, None),
    (&build_content::COMPILERS, None),
    (&build_content::BUILD_METADATA, None),
    (&build_content::DOCS_SAMPLES, None),
    (&build_content::PYTHON_TESTS, None),
    (&build_content::BUILD_TOOLS, None),
    (&development_packages::RULE, Some(development_packages::find)),
    (&orphaned_packages::RULE, None),
    (&unused_installers::RULE, Some(unused_installers::find)),
    (&unused_nodejs::RULE, Some(unused_nodejs::find)),
    (&driver_libraries::RULE, Some(driver_libraries::find)),
    (&duplicates::RULE, Some(duplicates::find)),
    (&unused_libraries::RULE, None),
    (&metadata_copies::RULE, Some(metadata_copies::find)),
    (&overwritten::RULE, Some(overwritten::find)),
    (&unused_gpu_code::RULE, Some(unused_gpu_code::find)),
    (&weights_in_middle_layer::RULE, Some(weights_in_middle_layer::find)),
    (&secrets::RULE, Some(secrets::find)),
    (&base_past_support::RULE, Some(base_past_support::find)),
    (&compat_on_loader_path::RULE, Some(compat_on_loader_path::find)),
    (&cuda_requirement::RULE, Some(cuda_requirement::find)),
    (&devel_base::RULE, Some(devel_base::find)),
    (&driver_capabilities::RULE, Some(driver_capabilities::find)),
    (&missing_libraries::RULE, Some(missing_libraries::find)),
    (&missing_programs::RULE, Some(missing_programs::find)),
    (&missing_ptx::RULE, Some(missing_ptx::find)),
    (&mixed_majors::RULE, Some(mixed_majors::find)),
    (&stubs_on_loader_path::RULE, Some(stubs_on_loader_path::find)),
    (&visible_devices::RULE, Some(visible_devices::find)),
];

/// All rules, by category and id.
pub fn rules() -> impl ExactSizeIterator<Item = &'static Rule> {
    TABLE.iter().map(|(rule, _)| *rule)
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Runs all rules. A file found by several belongs to the first category.
pub(super) fn run(facts: &Facts<'_>) -> Vec<Draft> {
    let finds = TABLE.iter().filter_map(|(_, find)| *find);
    let finds: Vec<Find> = std::iter::once(build_content::find as Find).chain(finds).collect();
    map_all(finds, workers(), |find| find(facts)).concat()
}

type FindAfter = fn(&Facts<'_>, &[Draft]) -> Vec<Draft>;

/// Rules that depend on the drafts of others, in their order. A file must be in one draft at most.
pub(super) const AFTERWARDS: [FindAfter; 2] = [unused_libraries::find, orphaned_packages::find];

pub(super) use metadata_copies::metadata_only;
