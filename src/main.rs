//! The `cutaway` binary: parses arguments, opens the window or runs a command, returns an exit code.

use std::process::ExitCode;

use cutaway::cli;

fn main() -> ExitCode {
    let plan = match cli::parse() {
        Ok(plan) => plan,
        Err(code) => return code,
    };
    #[cfg(feature = "gui")]
    if let cli::Plan::Window(window) = &plan {
        let catalog = match cli::catalog(&window.catalog) {
            Ok(catalog) => catalog,
            Err(code) => return code,
        };
        let options = cutaway::gui::WindowOptions {
            catalog,
            image: window.image.clone(),
            compare: window.compare.clone(),
            platform: window.platform.clone(),
            cache: window.cache.clone(),
            access: window.access.clone(),
            renderer: window.renderer.clone(),
            exit_after_frames: window.exit_after_frames,
        };
        return match cutaway::gui::run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => cli::without_window(window, &reason),
        };
    }
    cli::run(&plan)
}
