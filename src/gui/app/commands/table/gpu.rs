//! Commands about this machine's GPU.

use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};

fn when_idle(app: &App) -> Result<(), &'static str> {
    if app.machine.is_checking() { Err("It is being checked already") } else { Ok(()) }
}

fn while_checking(app: &App) -> Result<(), &'static str> {
    match (app.machine.is_checking(), app.machine.is_stopping()) {
        (true, false) => Ok(()),
        (true, true) => Err("It is being stopped already"),
        (false, _) => Err("No GPU is being checked"),
    }
}

pub(super) const CHECK: Command = command!(
    "gpu.check",
    "Check this machine's GPU",
    "Run a kernel on it, compare what it computes, and time launches",
    Menu::View,
    4,
    [],
    when_idle,
    |app| app.check_machine()
);

pub(super) const STOP: Command = command!(
    "gpu.stop",
    "Stop the GPU check",
    "End the check; what was found stays",
    Menu::View,
    4,
    [],
    while_checking,
    |app| app.machine.stop()
);
