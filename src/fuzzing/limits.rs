//! Limits for fuzzed inputs.

use crate::base::Limits;

/// Limits low enough that small inputs reach them and no input takes long.
pub(super) fn limits() -> Limits {
    Limits {
        json_bytes: 64 << 10,
        index_depth: 3,
        documents_bytes: 128 << 10,
        index_descriptors: 40,
        layers: 12,
        archive_members: 60,
        archive_name_bytes: 8 << 10,
        archive_json_total: 64 << 10,
        layer_entries: 100,
        image_entries: 300,
        path_bytes: 300,
        pax_bytes: 4 << 10,
        sparse_blocks: 4,
        sparse_file_bytes: 1 << 30,
        inflated_bytes: 1 << 20,
        zstd_window_log: 20,
        table_bytes: 1 << 20,
        table_json_bytes: 1 << 20,
        database_bytes: 64 << 10,
        document_bytes: 16 << 10,
        document_head_bytes: 1 << 10,
        documents_total: 64 << 10,
        facts_total: 128 << 10,
        layer_binaries: 20,
        warnings_per_code: 3,
    }
}
