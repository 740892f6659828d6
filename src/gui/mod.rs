//! In: analyses as they are published.
//! Out: the window.
//! Must not know: the command line, or how bytes are read.

use crate::base::Platform;

/// How to open the window.
#[derive(Clone, Debug, Default)]
pub struct WindowOptions {
    /// The image to open at once.
    pub image: Option<String>,
    /// The platform to choose from an index.
    pub platform: Option<Platform>,
    /// Close after this many frames, for tests.
    pub exit_after_frames: Option<u64>,
}

/// Shows the window until it is closed.
///
/// # Errors
/// Why there can be no window.
pub fn run(options: WindowOptions) -> Result<(), String> {
    Err(format!("not yet {options:?}"))
}
