//! All rules, one file each: name, manual text and, for rules that need more than path and package, their detection.
//! Rules about build content are evaluated together, in [`super::verdict`].

mod base_past_support;
mod build_artifacts;
mod build_metadata;
mod build_tools;
mod common;
mod compat_on_loader_path;
mod compilers;
mod cuda_requirement;
mod debuggers;
mod devel_base;
mod docs_samples;
mod driver_capabilities;
mod driver_libraries;
mod duplicates;
mod headers;
mod metadata_copies;
mod missing_libraries;
mod missing_ptx;
mod mixed_majors;
mod orphaned_packages;
mod overwritten;
mod package_caches;
mod profilers;
mod python_build_leftovers;
mod python_tests;
mod secrets;
mod static_libraries;
mod stubs;
mod stubs_on_loader_path;
mod unused_gpu_code;
mod unused_libraries;
mod visible_devices;
mod weights_in_middle_layer;

use super::classification::{By, ClassifiedFile};
use super::facts::Facts;
use super::finish::Draft;
use super::rule::Rule;
use super::value::Category;
use super::verdict::{self, FindingLocation};
use crate::cuda::catalog::Evidence;
use crate::jobs::both;

/// Every rule, by category and id.
pub(super) static ALL: &[&Rule] = &[
    &package_caches::RULE,
    &build_artifacts::RULE,
    &stubs::RULE,
    &static_libraries::RULE,
    &headers::RULE,
    &python_build_leftovers::RULE,
    &profilers::RULE,
    &debuggers::RULE,
    &compilers::RULE,
    &build_metadata::RULE,
    &docs_samples::RULE,
    &python_tests::RULE,
    &build_tools::RULE,
    &orphaned_packages::RULE,
    &driver_libraries::RULE,
    &duplicates::RULE,
    &unused_libraries::RULE,
    &metadata_copies::RULE,
    &overwritten::RULE,
    &unused_gpu_code::RULE,
    &weights_in_middle_layer::RULE,
    &secrets::RULE,
    &base_past_support::RULE,
    &compat_on_loader_path::RULE,
    &cuda_requirement::RULE,
    &devel_base::RULE,
    &driver_capabilities::RULE,
    &missing_libraries::RULE,
    &missing_ptx::RULE,
    &mixed_majors::RULE,
    &stubs_on_loader_path::RULE,
    &visible_devices::RULE,
];

/// Runs all rules. A file found by several belongs to the first category.
pub(super) fn run(facts: &Facts<'_>) -> Vec<Draft> {
    let (of_image, mut drafts) = both(|| of_image(facts), || of_builds(facts));
    drafts.extend(of_image);
    drafts
}

/// Rules that depend on the drafts of others. A file must be in one draft at most.
pub(super) fn run_on(facts: &Facts<'_>, drafts: &[Draft]) -> Vec<Draft> {
    orphaned_packages::find(facts, drafts)
}

/// Rules about build content, caches and artifacts.
fn of_builds(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = verdict::devel(facts);
    drafts.extend(package_caches::find(facts));
    drafts.extend(build_artifacts::find(facts));
    drafts
}

/// All other rules.
fn of_image(facts: &Facts<'_>) -> Vec<Draft> {
    let mut drafts = driver_libraries::find(facts);
    drafts.extend(duplicates::find(facts));
    drafts.extend(unused_libraries::find(facts));
    drafts.extend(metadata_copies::find(facts));
    drafts.extend(overwritten::find(facts));
    drafts.extend(unused_gpu_code::find(facts));
    drafts.extend(weights_in_middle_layer::find(facts));
    drafts.extend(secrets::find(facts));
    drafts.extend(base_past_support::find(facts));
    drafts.extend(compat_on_loader_path::find(facts));
    drafts.extend(cuda_requirement::find(facts));
    drafts.extend(devel_base::find(facts));
    drafts.extend(driver_capabilities::find(facts));
    drafts.extend(missing_libraries::find(facts));
    drafts.extend(missing_ptx::find(facts));
    drafts.extend(mixed_majors::find(facts));
    drafts.extend(stubs_on_loader_path::find(facts));
    drafts.extend(visible_devices::find(facts));
    drafts
}

pub(super) use common::{extension, searched};

/// By layer: of the bytes that it shadows, those whose new content is the same, if known.
pub(super) fn metadata_only(facts: &Facts<'_>) -> Vec<Option<u64>> {
    metadata_copies::metadata_only(facts)
}

/// The build content rule for a classified file.
pub(super) fn of_file(file: &ClassifiedFile<'_>, place: &FindingLocation) -> &'static Rule {
    if matches!(file.by, By::Path(rule) if rule.evidence == Some(Evidence::Test)) {
        return &python_tests::RULE;
    }
    match (file.category, place) {
        (
            Category::Headers | Category::StaticLibraries,
            FindingLocation::Python(_) | FindingLocation::Packages(_),
        ) => &python_build_leftovers::RULE,
        (Category::Stubs, _) => &stubs::RULE,
        (Category::StaticLibraries, _) => &static_libraries::RULE,
        (Category::Headers, _) => &headers::RULE,
        (Category::Profilers, _) => &profilers::RULE,
        (Category::Debuggers, _) => &debuggers::RULE,
        (Category::Compilers, _) => &compilers::RULE,
        (Category::BuildMetadata, _) => &build_metadata::RULE,
        (Category::DocsSamples, _) => &docs_samples::RULE,
        _ => &build_tools::RULE,
    }
}
