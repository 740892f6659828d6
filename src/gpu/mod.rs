//! In: which device, how long it may take, the program to start again as a child.
//! Out: a [`Check`]: library, driver, devices, a kernel that was verified, launch costs, or what failed and why.
//! Must not know: images, the catalogue, or how a result is shown.

mod absent;
mod advice;
mod api;
mod bandwidth;
mod child;
mod codes;
mod device;
mod ending;
mod fault;
mod graphs;
mod history;
mod kernel;
mod launches;
mod library;
mod machine;
mod merge;
mod nvml;
mod parent;
mod protocol;
mod reader;
mod resources;
mod value;
mod work;

pub use child::run as run_child;
pub use history::{History, Run};
pub use parent::{CheckRequest, check};
pub use value::{
    Bandwidth, Check, Depth, Device, Driver, GpuError, Graph, KernelCheck, KernelVerdict, Nvml, SCHEMA,
    Stage, Step, TriedLibrary,
};
pub use work::ChildRequest;
