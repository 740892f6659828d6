//! In: which device, how long it may take, the program to start again as a child.
//! Out: a [`Check`]: library, driver, devices, a kernel that was verified, launch costs, or what failed and why.
//! Must not know: images, the catalogue, or how a result is shown.
//!
//! # Design
//!
//! **A child process** loads the driver, never the process that shows results: a driver library is foreign
//! code that may crash, hang, print or leave threads. The child is this program (`/proc/self/exe gpu
//! --child`), so that there is no second file to ship. The parent (`gpu/parent`) waits with a limit, kills it
//! with SIGKILL on time-out and cancel, and reads what it can; the kernel kills the child when the thread
//! that started it exits, which therefore waits until the end.
//!
//! **The protocol** (`gpu/protocol`) is one line of JSON per message on the child's standard output, after
//! the name of the schema. The child reserves that pipe; driver output goes to standard error, whose end is
//! retained for crashes. A step is announced when it begins, so that a hanging step has a name. Lines, bytes,
//! devices and notes are bounded.
//!
//! **GPU code of an image** (`gpu/loads`) goes to another child, container by container over a pipe, because a
//! driver may crash or hang on it: that child is started again for the next container. What reads the image is not
//! known here.
//!
//! **libloading**, because the check has to find out whether there is a driver: a program linked against
//! `libcuda.so.1` does not start without it. Functions are loaded by the names behind the macros of `cuda.h`;
//! a function missing in an old driver is `None` and a note.
//!
//! **The kernel is handwritten PTX** (`gpu/kernel.ptx`), for `sm_30`: the driver compiles it for any GPU, so
//! that no toolkit is required, no code for new GPUs has to be added, and the JIT compiler is checked too.

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
mod images;
mod kernel;
mod launches;
mod library;
mod loads;
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
pub use loads::{
    FileLoads, LoadComparison, LoadOutcome, Loader, LoaderError, LoaderRequest, Loads, LostLoad,
    run_loader_child,
};
pub use parent::{CheckRequest, check};
pub use value::{
    Bandwidth, Check, Depth, Device, Driver, GpuError, Graph, KernelCheck, KernelVerdict, Nvml, SCHEMA,
    Stage, Step, TriedLibrary,
};
pub use work::ChildRequest;
