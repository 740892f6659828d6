//! Commands about this machine's GPU.

use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};

fn when_idle(app: &App) -> Result<(), &'static str> {
    if app.machine.is_checking() { Err("A GPU check is already running") } else { Ok(()) }
}

fn while_checking(app: &App) -> Result<(), &'static str> {
    match (app.machine.is_checking(), app.machine.is_stopping()) {
        (true, false) => Ok(()),
        (true, true) => Err("The check is already stopping"),
        (false, _) => Err("No GPU check is running"),
    }
}

pub(super) const CHECK: Command = command!(
    "gpu.check",
    "Run GPU check",
    "Run a kernel on this machine's GPU, verify the results and time launches",
    Menu::View,
    4,
    [],
    when_idle,
    |app| app.check_machine()
);

pub(super) const STOP: Command = command!(
    "gpu.stop",
    "Stop GPU check",
    "Stop the check and keep the results so far",
    Menu::View,
    4,
    [],
    while_checking,
    |app| app.machine.stop()
);
