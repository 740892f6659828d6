//! The GPU at hand: running and past checks; and on which machines the open image would run.

mod common;
mod describe;
mod machine;
mod needs;
mod query;
mod rows;
mod runs;
mod steps;
mod target;
mod verdict;
mod verdict_job;
pub mod words;

pub use common::runs_line;
pub use describe::{DeviceFact, DeviceItem, LaunchCost, copies, driver_facts};
pub use machine::{CheckOptions, Checker, Machine, MachineSetup};
pub use query::{TargetQuery, Targets};
pub use rows::{TargetGroup, TargetRows};
pub use runs::{Run, RunItem};
pub use steps::{RequestedCheck, StepLine, StepState};
pub use target::{TargetItem, TargetKind};
pub use verdict::{Headline, Tone, error_text, stage_title};
pub use verdict_job::{Judge, TargetVerdicts, VerdictJob, stated_driver};
