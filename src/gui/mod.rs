//! In: analyses as they are published.
//! Out: the window.
//! Must not know: the command line, or how bytes are read.
//!
//! # Design
//!
//! Commands are one table (`gui/app/commands`): menu, shortcuts, tooltips, the palette and the key sheet are
//! generated from it. Panels never act; they emit requests and actions that `logic` executes after the frame.
//! A tab has its job, its newest analysis and the state of its views; view state is never stored in nodes.
//! The GPU check belongs to the machine: one state in the app (`gui/models/gpu/machine`), the same in every
//! tab and without one; verdicts belong to the tab and are computed in the background. A slim image is written by the
//! window too (`gui/app/slim`), one at a time: it outlives its tab, and not the window. The rendering backend
//! is glow, falling back to wgpu (feature `wgpu`), or the reverse with `--renderer`: an empty window on wgpu takes about four
//! times the memory. File dialogs run on a separate thread and are never the only way.

pub mod app;
pub mod design;
pub mod dialogs;
pub mod models;
mod panels;
mod remembered;
pub mod testing;
pub mod views;
pub mod widgets;
mod window;

pub use app::Setup;

/// Shows the window until it is closed.
///
/// # Errors
/// Why there can be no window.
pub fn run(setup: Setup) -> Result<(), String> {
    window::run(setup)
}
