//! Engines as sources: podman's own service, and sockets of the tests that answer as engines do, or fail as they may.

mod failures;
mod forms;
mod library;
mod listing;
pub mod podman;
pub mod scene;
mod socket;
