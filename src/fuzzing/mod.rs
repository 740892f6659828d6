//! In: any bytes.
//! Out: nothing, or a panic if an invariant of another module is violated.
//! Must not know: which fuzzer calls, and earlier findings.

mod documents;
mod images;
mod invariants;
mod layers;
mod limits;
mod pruning;
mod stored;
mod streams;
mod texts;

use crate::formats;

pub use documents::{mentions, packages_python, packages_system, rpm, rpm_sqlite, sniffing};
pub use images::{archive_members, image_archive, image_documents};
pub use layers::{gzip_layer, tar_walk, zstd_layer};
pub use pruning::gpu_code_pruning;
pub use stored::{body_facts, cache_file, layer_record};
pub use streams::gzip_points;
pub use texts::{platform_file, policy, reference, saved_report, secrets};

/// What a fuzzer calls.
pub type Target = fn(&[u8]);

/// Every target by the name of its binary and of its folders. The tests and the fuzzers read this table, so that
/// neither has what the other lacks.
pub const TARGETS: &[(&str, Target)] = &[
    ("archive", formats::ar::fuzz_archive),
    ("archive_members", archive_members),
    ("body_facts", body_facts),
    ("cache_file", cache_file),
    ("dockerfile", formats::dockerfile::fuzz_dockerfile),
    ("dockerfile_edits", crate::rewrite::fuzz_edits),
    ("elf", formats::elf::fuzz_elf),
    ("fatbin", formats::fatbin::fuzz_fatbin),
    ("gpu_code_pruning", gpu_code_pruning),
    ("gzip_layer", gzip_layer),
    ("gzip_points", gzip_points),
    ("image_archive", image_archive),
    ("image_documents", image_documents),
    ("layer_record", layer_record),
    ("loader_conf", formats::ld_so_conf::fuzz_ld_so_conf),
    ("mentions", mentions),
    ("packages_system", packages_system),
    ("packages_python", packages_python),
    ("platform_file", platform_file),
    ("policy", policy),
    ("reference", reference),
    ("rpm", rpm),
    ("rpm_sqlite", rpm_sqlite),
    ("saved_report", saved_report),
    ("secrets", secrets),
    ("shrunk_libraries", formats::elf::shrink::fuzz_shrink),
    ("sniffing", sniffing),
    ("tar_walk", tar_walk),
    ("zstd_layer", zstd_layer),
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}
