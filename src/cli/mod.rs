//! In: arguments.
//! Out: a plan (the window, or a command that is run), results on stdout, messages on stderr, an exit code.
//! Must not know: the window.

mod arguments;
mod cache;
mod cache_arguments;
mod check;
mod compare;
mod dockerfile;
mod explain;
mod formats;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_arguments;
#[cfg(feature = "gpu")]
mod gpu_text;
mod host;
mod network;
mod output;
mod plan;
mod progress;
mod reading;
mod run;
mod saved;
mod schema;
mod tags;
mod terminal;

pub use arguments::{Plan, WindowPlan, parse};
pub use run::{catalog, run, without_window};
