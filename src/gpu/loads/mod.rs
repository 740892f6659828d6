//! Hands containers of GPU code to the driver, in a child process that is started again after a crash or a time-out.

mod child;
mod parent;
mod protocol;
mod value;

pub use child::run as run_loader_child;
pub use parent::{Loader, LoaderError, LoaderRequest};
pub use value::{FileLoads, LoadComparison, LoadOutcome, Loads, LostLoad};
