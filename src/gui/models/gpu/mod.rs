//! The GPU at hand: running and past checks; and on which machines the open image would run.

mod common;
mod describe;
mod judged;
mod machine;
mod needs;
mod query;
mod rows;
mod runs;
mod steps;
mod target;
mod verdict;
pub mod words;

pub use common::runs_line;
pub use describe::{DeviceItem, Fact, LaunchCost, copies, driver_facts};
pub use judged::{Judge, Judged, Judgements, stated_driver};
pub use machine::{Asked, Checker, Machine, MachineSetup};
pub use query::TargetQuery;
pub use rows::{Group, TargetRow, TargetRows};
pub use runs::{Run, RunItem};
pub use steps::{StepLine, StepState, Wanted};
pub use target::{Kind, TargetItem};
pub use verdict::{Headline, Tone, error_text, stage_title};
