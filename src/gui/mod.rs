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

use std::sync::Arc;

use crate::base::Platform;
use crate::cache::Cache;
use crate::cuda::catalog::Catalog;
use crate::source::Access;

/// How to open the window.
#[derive(Clone, Debug, Default)]
pub struct WindowOptions {
    /// The image to open at once.
    pub image: Option<String>,
    /// Images to open beside it.
    pub compare: Vec<String>,
    /// The platform to choose from an index.
    pub platform: Option<Platform>,
    /// Rules that are data; `None` for those that are built in.
    pub catalog: Option<Arc<Catalog>>,
    /// The layer cache; `None` disables it.
    pub cache: Option<Cache>,
    /// How registries and engines are reached.
    pub access: Access,
    /// `glow` or `wgpu`, whichever is to be tried first.
    pub renderer: Option<String>,
    /// Close after this many frames, for tests.
    pub exit_after_frames: Option<u64>,
}

/// Shows the window until it is closed.
///
/// # Errors
/// Why there can be no window.
pub fn run(options: &WindowOptions) -> Result<(), String> {
    window::run(options)
}
