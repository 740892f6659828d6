//! The table itself.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::{Command, Menu};
use crate::gui::app::App;
use crate::gui::models::findings::PlanChange;
use crate::gui::settings::ThemeChoice;
use crate::gui::views::View;

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

#[expect(clippy::unnecessary_wraps, reason = "one of several answers to the same question")]
fn always(_: &App) -> Result<(), &'static str> {
    Ok(())
}

/// Why what acts on an image cannot be done in a tab with a saved report.
const NEEDS_IMAGE: &str = "Not available in a saved report: open the image";

fn with_image(app: &App) -> Result<(), &'static str> {
    app.front_tab().map(drop).ok_or("Open an image first")
}

fn with_tabs(app: &App) -> Result<(), &'static str> {
    if app.tabs.is_empty() { Err("Open an image first") } else { Ok(()) }
}

fn when_searchable(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.analysis.is_some() => Ok(()),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("Nothing to search yet"),
        None => Err("Open an image first"),
    }
}

fn with_findings(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.plan.prediction().is_some() => Ok(()),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("Findings are not ready yet"),
        None => Err("Open an image first"),
    }
}

fn can_show(app: &App, view: View) -> Result<(), &'static str> {
    match view.unavailable(app.content()) {
        Some(reason) => Err(reason),
        None => with_image(app),
    }
}

macro_rules! view {
    ($id:literal, $view:expr, $key:expr) => {
        Command {
            id: $id,
            title: $view.title(),
            about: $view.description(),
            menu: Menu::View,
            group: 0,
            keys: &[ctrl($key)],
            when: |app| can_show(app, $view),
            run: |app| app.show_view($view),
            chosen: Some(|app| app.front_tab().is_some_and(|tab| tab.view == $view)),
        }
    };
}

macro_rules! theme {
    ($id:literal, $title:literal, $choice:expr) => {
        Command {
            id: $id,
            title: $title,
            about: "Color theme of the window",
            menu: Menu::View,
            group: 2,
            keys: &[],
            when: always,
            run: |app| {
                app.settings.theme = $choice;
                app.apply_settings();
            },
            chosen: Some(|app| app.settings.theme == $choice),
        }
    };
}

macro_rules! command {
    ($id:literal, $title:literal, $about:literal, $menu:expr, $group:literal, $keys:expr, $when:expr, $run:expr) => {
        Command {
            id: $id,
            title: $title,
            about: $about,
            menu: $menu,
            group: $group,
            keys: &$keys,
            when: $when,
            run: $run,
            chosen: None,
        }
    };
}

mod compare;
mod dockerfile;
mod file;
mod gpu;
mod image;
mod plan;
mod registry;
mod report;

/// All of them, in the order of the menus.
pub static COMMANDS: &[Command] = &[
    file::NEW_TAB,
    file::OPEN_ARCHIVE,
    file::OPEN_FOLDER,
    file::SAMPLE_DEVEL,
    file::SAMPLE_RUNTIME,
    registry::TAGS,
    registry::ENGINES,
    registry::LOGIN,
    registry::FORGET_LOGINS,
    registry::FORGET_HOSTS,
    file::FORGET_RECENT,
    file::CLOSE,
    file::QUIT,
    view!("view.overview", View::Overview, Key::Num1),
    view!("view.layers", View::Layers, Key::Num2),
    view!("view.cuda", View::Cuda, Key::Num3),
    view!("view.findings", View::Findings, Key::Num4),
    view!("view.dockerfile", View::Dockerfile, Key::Num5),
    view!("view.compare", View::Compare, Key::Num6),
    view!("view.gpu", View::Gpu, Key::Num7),
    view!("view.report", View::Report, Key::Num8),
    command!(
        "view.find",
        "Find in view",
        "Focus the filter of this view",
        Menu::View,
        1,
        [ctrl(Key::F)],
        when_searchable,
        |app| app.find()
    ),
    Command {
        id: "view.log",
        title: "Log",
        about: "Warnings and errors from all images",
        menu: Menu::View,
        group: 1,
        keys: &[ctrl(Key::J)],
        when: always,
        run: |app| app.log_open = !app.log_open,
        chosen: Some(|app| app.log_open),
    },
    theme!("view.theme-system", "System theme", ThemeChoice::System),
    theme!("view.theme-light", "Light theme", ThemeChoice::Light),
    theme!("view.theme-dark", "Dark theme", ThemeChoice::Dark),
    command!(
        "view.zoom-in",
        "Zoom in",
        "Increase text size",
        Menu::View,
        3,
        [ctrl(Key::Plus), ctrl(Key::Equals)],
        |app| if app.settings.zoom_percent < 300 { Ok(()) } else { Err("Maximum zoom") },
        |app| app.zoom(app.settings.zoom_percent.saturating_add(10))
    ),
    command!(
        "view.zoom-out",
        "Zoom out",
        "Decrease text size",
        Menu::View,
        3,
        [ctrl(Key::Minus)],
        |app| if app.settings.zoom_percent > 50 { Ok(()) } else { Err("Minimum zoom") },
        |app| app.zoom(app.settings.zoom_percent.saturating_sub(10))
    ),
    command!(
        "view.zoom-reset",
        "Reset zoom",
        "Show text at 100 %",
        Menu::View,
        3,
        [ctrl(Key::Num0)],
        always,
        |app| app.zoom(100)
    ),
    image::AGAIN,
    image::CANCEL,
    image::COPY_REFERENCE,
    command!(
        "plan.all-safe",
        "Select all removable findings",
        "Select removable findings only",
        Menu::Image,
        2,
        [],
        with_findings,
        |app| app.change_plan(PlanChange::AllSafe)
    ),
    command!(
        "plan.none",
        "Clear selection",
        "Remove all findings from the plan",
        Menu::Image,
        2,
        [],
        with_findings,
        |app| app.change_plan(PlanChange::Clear)
    ),
    command!(
        "plan.copy",
        "Copy plan",
        "Copy the selected findings to the clipboard as text",
        Menu::Image,
        2,
        [],
        with_findings,
        |app| {
            if let Some(text) = app.front_tab().and_then(|tab| tab.plan.text()) {
                app.context.copy_text(text);
            }
        }
    ),
    plan::SAVE,
    plan::OPEN,
    dockerfile::COPY,
    dockerfile::SAVE,
    dockerfile::SAVE_PATCH,
    dockerfile::OPEN,
    dockerfile::FORGET,
    dockerfile::NEXT,
    dockerfile::PREVIOUS,
    gpu::CHECK,
    gpu::STOP,
    compare::ADD,
    compare::BASELINE,
    compare::ONLY,
    compare::COPY,
    compare::SAVE,
    compare::ALONE,
    report::SAVE,
    report::COPY,
    command!(
        "image.next",
        "Next image",
        "Switch to the next tab",
        Menu::Image,
        6,
        [KeyboardShortcut::new(Modifiers::CTRL, Key::Tab), ctrl(Key::PageDown)],
        with_tabs,
        |app| app.step_tab(1)
    ),
    command!(
        "image.previous",
        "Previous image",
        "Switch to the previous tab",
        Menu::Image,
        6,
        [KeyboardShortcut::new(Modifiers::CTRL.plus(Modifiers::SHIFT), Key::Tab), ctrl(Key::PageUp)],
        with_tabs,
        |app| app.step_tab(-1)
    ),
    command!(
        "help.palette",
        "Command palette",
        "Search all commands",
        Menu::Help,
        0,
        [ctrl(Key::K), ctrl_shift(Key::P)],
        always,
        |app| app.palette.toggle()
    ),
    command!(
        "help.keys",
        "Keyboard shortcuts",
        "List all keyboard shortcuts",
        Menu::Help,
        0,
        [plain(Key::F1)],
        always,
        |app| app.keys_open = !app.keys_open
    ),
];
