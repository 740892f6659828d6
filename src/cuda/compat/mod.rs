//! Whether an image runs on a machine: requirements of the image ([`Needs`]), properties of the machine
//! ([`TargetGpu`]), and the verdict with its reasons ([`Judgement`]).

mod judge;
mod needs;
mod parse;
pub(crate) mod require;
mod requires;
mod targets;
mod value;
mod versions;

pub use judge::{Judge, judge};
pub use needs::needs;
pub use parse::{parse_target, parse_targets};
pub use requires::{Requires, requires};
pub use targets::{
    DriverFrom, HostDevice, HostTargets, TargetDriver, TargetError, TargetGpu, default_targets,
};
pub use value::{
    CodeFile, CompatDriver, CudaNeed, CudaVersion, Judgement, LoaderFolder, Needs, NeedsInput, OwnDriver,
    Reason, RuleId, RunVerdict, UsedCudnn, Weight,
};
