//! All rules: name, manual text and detection, one file each; those about build content in one.
//! Rules about build content are evaluated together, in [`super::verdict`].

mod base_past_support;
mod build_artifacts;
mod build_content;
mod common;
mod compat_on_loader_path;
mod cuda_requirement;
mod devel_base;
mod driver_capabilities;
mod driver_libraries;
mod duplicates;
mod metadata_copies;
mod missing_libraries;
mod missing_ptx;
mod mixed_majors;
mod orphaned_packages;
mod overwritten;
mod package_caches;
mod secrets;
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
    &build_content::STUBS,
    &build_content::STATIC_LIBRARIES,
    &build_content::HEADERS,
    &build_content::PYTHON_BUILD_LEFTOVERS,
    &build_content::PROFILERS,
    &build_content::DEBUGGERS,
    &build_content::COMPILERS,
    &build_content::BUILD_METADATA,
    &build_content::DOCS_SAMPLES,
    &build_content::PYTHON_TESTS,
    &build_content::BUILD_TOOLS,
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
        return &build_content::PYTHON_TESTS;
    }
    match (file.category, place) {
        (
            Category::Headers | Category::StaticLibraries,
            FindingLocation::Python(_) | FindingLocation::Packages(_),
        ) => &build_content::PYTHON_BUILD_LEFTOVERS,
        (Category::Stubs, _) => &build_content::STUBS,
        (Category::StaticLibraries, _) => &build_content::STATIC_LIBRARIES,
        (Category::Headers, _) => &build_content::HEADERS,
        (Category::Profilers, _) => &build_content::PROFILERS,
        (Category::Debuggers, _) => &build_content::DEBUGGERS,
        (Category::Compilers, _) => &build_content::COMPILERS,
        (Category::BuildMetadata, _) => &build_content::BUILD_METADATA,
        (Category::DocsSamples, _) => &build_content::DOCS_SAMPLES,
        _ => &build_content::BUILD_TOOLS,
    }
}
