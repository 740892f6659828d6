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
        let options = match window.options() {
            Ok(options) => options,
            Err(code) => return code,
        };
        let setup = cutaway::gui::Setup {
            image: window.image.clone(),
            compare: window.compare.clone(),
            options,
            renderer: window.renderer.clone(),
            exit_after_frames: window.exit_after_frames,
            settings: cutaway::settings::SettingsFile::of_user().ok(),
            overrides: window.choice.overrides(),
            ..Default::default()
        };
        return match cutaway::gui::run(setup) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => cli::without_window(window, &reason),
        };
    }
    arguments.run()
}
