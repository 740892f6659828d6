//! All integration tests in one binary, so that the crate and its dependencies are linked once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test may stop at the first surprise; clippy.toml spares `#[test]` functions, not their helpers"
)]

mod architecture;
mod cli;
#[path = "../../fixtures/mod.rs"]
mod fixtures;
#[cfg(feature = "gui")]
mod journeys;
mod merge;
#[cfg(feature = "gui")]
mod models;
mod oracle;
#[cfg(feature = "gui")]
mod pictures;
mod regressions;
mod samples;
mod sources;
mod support;
mod tools;
mod traps;
#[cfg(feature = "gui")]
mod views;
#[cfg(feature = "gui")]
mod window;
