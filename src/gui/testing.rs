//! The window for tests: without a display, without dialogs, the same on every machine.

use std::path::PathBuf;
use std::sync::Arc;

use super::app::{App, Setup};
use super::models::gpu::MachineSetup;
use super::models::remote::RemoteSetup;
use crate::analysis::Failure;
use crate::gpu::Check;
use crate::source::Access;
use crate::source::engine::Listing;

/// A window as the program opens it, with a picker that gives `answer`, and nothing remembered.
pub fn app(context: &egui::Context, answer: Option<PathBuf>) -> App {
    app_on(context, answer, no_machine())
}

/// The same with an image that is open, and others beside it.
pub fn app_comparing(context: &egui::Context, image: String, compare: Vec<String>) -> App {
    let picker = Arc::new(|_| None);
    let setup = Setup {
        image: Some(image),
        compare,
        picker,
        machine: no_machine(),
        remote: no_remote(),
        ..Setup::default()
    };
    let mut app = App::new(context, None, setup);
    app.set_theme(true);
    app
}

/// A machine of which nothing is found out: no test depends on the GPU of the machine that it runs on.
fn no_machine() -> MachineSetup {
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

/// A window with default settings; `remote` queries registries and engines, and `access` reaches them.
pub fn app_remote(context: &egui::Context, remote: RemoteSetup, access: Access) -> App {
    let (picker, machine) = (Arc::new(|_| None), no_machine());
    let mut app = App::new(context, None, Setup { access, picker, machine, remote, ..Setup::default() });
    app.set_theme(true);
    app
}

/// A window with a picker that gives `answer`; `machine` says how its GPU is checked.
pub fn app_on(context: &egui::Context, answer: Option<PathBuf>, machine: MachineSetup) -> App {
    let picker = Arc::new(move |_| {
        // As if somebody had clicked: an answer at once counts as no dialog at all.
        std::thread::sleep(std::time::Duration::from_millis(200));
        answer.clone()
    });
    let mut app = App::new(context, None, Setup { picker, machine, remote: no_remote(), ..Setup::default() });
    app.set_theme(true);
    app
}
