//! In: analyses as they are published.
//! Out: the window.
//! Must not know: the command line, or how bytes are read.

pub mod app;
pub mod design;
pub mod dialogs;
pub mod models;
mod panels;
mod settings;
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
