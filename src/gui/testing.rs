//! The window for tests: without a display, without dialogs, the same on every machine.

use std::path::PathBuf;
use std::sync::Arc;

use super::app::{App, Setup};
use super::dialogs::Picker;
use super::models::gpu::MachineSetup;
use super::models::remote::RemoteSetup;
use super::views::Command;
use crate::analysis::Failure;
use crate::gpu::Check;
use crate::source::engine::Listing;

/// A window in the dark theme, with nothing remembered.
pub fn app(context: &egui::Context, setup: Setup) -> App {
    let mut app = App::new(context, None, setup);
    app.run(Command::ThemeDark);
    app
}

/// A window that depends on nothing of the machine it runs on, with a picker that gives nothing.
pub fn setup() -> Setup {
    Setup {
        picker: picker(None),
        opener: Arc::new(|_| Err("no programs in tests".to_owned())),
        machine: no_machine(),
        remote: no_remote(),
        ..Setup::default()
    }
}

/// A file dialog that gives `answer`.
pub fn picker(answer: Option<PathBuf>) -> Picker {
    Arc::new(move |_| {
        // As if somebody had clicked: an answer at once counts as no dialog at all.
        std::thread::sleep(std::time::Duration::from_millis(200));
        answer.clone()
    })
}

/// A machine of which nothing is found out: no test depends on the GPU of the machine that it runs on.
pub fn no_machine() -> MachineSetup {
    MachineSetup { checker: Arc::new(|_, _, _| Check::default()), ..MachineSetup::default() }
}

/// No engine answers, and no registry gives tags: no test depends on the sockets of the machine that it runs on.
pub fn no_remote() -> RemoteSetup {
    RemoteSetup {
        engines: Arc::new(|_| Listing::default()),
        tags: Arc::new(|_, _, _, _| Err(Failure::new("no registry access in tests"))),
        at_once: true,
    }
}
