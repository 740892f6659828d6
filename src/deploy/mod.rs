//! In: an analysis, a plan, and a platform of the catalogue.
//! Out: seconds of a cold start as intervals, before and after the plan; advice; rates of this machine.
//! Must not know: how a report or the window shows them.
//!
//! # Design
//!
//! **The model** (`deploy/model.rs`) is arithmetic on sizes and rates, evaluated at both ends and in the middle of all
//! rates. Every rate is data of the catalogue with its source, or measured by `cutaway calibrate`.
//!
//! **Sizes** are those of the analysis. A layer of unknown size makes the pull unknown, never zero.
//!
//! **What start-up reads** (`deploy/startup.rs`) follows from links and inventory; no byte of the image is read.
//!
//! **Findings and advice** are differences of the same model: with and without.
//!
//! **Files** (`deploy/files`) are parsed to documents with positions, whatever their format, and judged by name, or by an
//! image that was read. **Lines to paste** (`deploy/snippets`) are written from facts that are safe to write. **CUDA
//! Graphs** (`deploy/graphs`) are rules over catalogue, frameworks and settings.

mod advice;
mod calibrate;
mod estimate;
pub mod files;
pub mod graphs;
mod layers;
mod model;
mod profile;
mod rates;
pub mod snippets;
mod startup;

pub use advice::Advice;
pub use calibrate::{
    Calibration, CalibrationError, Effort, FILE_VARIABLE, Measured, SCHEMA as CALIBRATION_SCHEMA, calibrate,
    rates_file,
};
pub use estimate::{ColdStart, ColdStartInput, Phases, Scenario, cold_start};
pub use layers::StoredLayer;
pub use model::{LayerSize, Pull, ReadSize, Seconds, arrivals, lazy, pull, span, unpack};
pub use profile::{
    DEFAULT_PROFILE, MachineVerdict, PlatformVerdict, Profile, ProfileError, find_profile, judged_targets,
};
pub use rates::{Assumption, End, Rates, RatesAt};
pub use startup::{StartupRead, startup};
