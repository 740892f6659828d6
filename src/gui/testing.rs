//! The window for tests: without a display, without dialogs, the same on every machine.

use std::path::PathBuf;
use std::sync::Arc;

use super::app::{App, Setup};

/// A window as the program opens it, with a picker that gives `answer`, and nothing remembered.
pub fn app(context: &egui::Context, answer: Option<PathBuf>) -> App {
    let picker = Arc::new(move |_| {
        // As if somebody had clicked: an answer at once counts as no dialog at all.
        std::thread::sleep(std::time::Duration::from_millis(200));
        answer.clone()
    });
    let mut app = App::new(context, None, Setup { picker, ..Setup::default() });
    app.set_theme(true);
    app
}
