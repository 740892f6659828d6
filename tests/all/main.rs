//! All integration tests in one binary, so that the crate and its dependencies are linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test may stop at the first surprise; clippy.toml spares `#[test]` functions, not their helpers"
)]

mod architecture;
mod cache_command;
mod cache_store;
mod check;
mod cli;
mod cold_start;
mod compare;
mod compare_command;
#[cfg(feature = "gui")]
mod compare_view;
mod compatibility;
mod contents_command;
mod counts;
mod cuda_inventory;
#[cfg(feature = "gui")]
mod cuda_view;
mod deletion;
mod deploy;
mod deployment_view;
mod development_packages;
mod dockerfile;
#[cfg(feature = "gui")]
mod dockerfile_view;
mod engine;
mod findings_bytes;
mod findings_configuration;
mod findings_real;
#[cfg(feature = "gui")]
mod findings_view;
#[path = "../../fixtures/mod.rs"]
mod fixtures;
mod fuzz_corpus;
#[cfg(feature = "gpu")]
mod gpu_check;
#[cfg(feature = "gui")]
mod gpu_view;
#[cfg(feature = "gui")]
mod inflate;
mod inspector_view;
mod invalid;
mod jobs;
#[cfg(feature = "gui")]
mod journeys;
mod journeys_details;
mod journeys_keyboard;
mod journeys_loading;
mod journeys_names;
mod journeys_partial;
mod journeys_paths;
mod kept_blobs;
mod loader;
mod manual;
mod merge;
mod missing_programs;
#[cfg(feature = "gui")]
mod models;
mod offline;
mod oracle;
mod orphaned_packages;
mod packages;
mod packaging;
#[cfg(feature = "gui")]
mod pictures;
mod pipelines;
mod plan_command;
mod pruning;
mod recipe;
mod registry;
mod regressions;
#[cfg(feature = "gui")]
mod remote_view;
mod rendered;
mod report_formats;
mod report_page;
#[cfg(feature = "gui")]
mod report_view;
mod restart_points;
mod rewrite_built;
mod rewrite_command;
mod rpm;
mod samples;
mod schema;
mod second_opening;
mod settings;
#[cfg(feature = "gui")]
mod settings_view;
mod shrink;
mod slim;
mod slim_command;
mod slim_destinations;
mod slim_gpu;
mod slim_view;
mod sources;
mod stages;
mod stored_layers;
mod support;
mod table_view;
mod tables;
mod tidy;
mod tools;
mod traps;
mod treemap_view;
mod unused_installers;
mod unused_nodejs;
mod verdicts;
#[cfg(feature = "gui")]
mod view_stage;
#[cfg(feature = "gui")]
mod views;
mod wheels;
#[cfg(feature = "gui")]
mod window;
mod zstd;
