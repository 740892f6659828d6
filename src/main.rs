//! The `cutaway` binary: parses arguments, opens the window or runs a command, returns an exit code.

use std::process::ExitCode;

use cutaway::cli;

fn main() -> ExitCode {
    let arguments = match cli::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    #[cfg(feature = "gui")]
    if let Some(window) = arguments.window() {
        let catalog = match cli::catalog(&window.choice.catalog) {
            Ok(catalog) => catalog,
            Err(code) => return code,
        };
        let setup = cutaway::gui::Setup {
            image: window.image.clone(),
            compare: window.compare.clone(),
            options: cutaway::analysis::Options {
                catalog,
                platform: window.choice.platform.clone(),
                cache: window.choice.cache(),
                access: window.choice.access(),
                today: cutaway::base::clock::today(),
                ..Default::default()
            },
            renderer: window.renderer.clone(),
            exit_after_frames: window.exit_after_frames,
            ..Default::default()
        };
        return match cutaway::gui::run(setup) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => cli::without_window(window, &reason),
        };
    }
    arguments.run()
}
