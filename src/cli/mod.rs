//! In: arguments.
//! Out: the window to open, or a command that is run: results on stdout, messages on stderr, an exit code.
//! Must not know: the window.

mod arguments;
mod cache;
mod calibrate;
mod cat;
mod check;
mod compare;
mod defaults;
mod deploy;
mod dockerfile;
mod explain;
mod extract;
mod formats;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_image;
#[cfg(feature = "gpu")]
mod gpu_text;
mod host;
mod network;
mod output;
mod package_files;
mod plan;
mod profile;
mod progress;
mod reading;
mod report;
mod schema;
mod settings;
mod slim;
#[cfg(feature = "gpu")]
mod slim_gpu;
mod tags;
mod terminal;
mod why;

pub use arguments::{Cli, WindowArguments, parse, without_window};
pub use reading::Choice;
