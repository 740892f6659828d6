//! Commands of the view that compares images.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::ctrl_shift;
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};
use crate::gui::views::{CompareView, View};

fn with_image(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) => View::Compare.unavailable(tab.content()).map_or(Ok(()), Err),
        None => Err("Open an image first"),
    }
}

fn with_columns(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.compare.columns().len() > 1 => Ok(()),
        Some(_) => Err("No other image to compare with"),
        None => Err("Open an image first"),
    }
}

fn with_comparison(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.compare.model().is_some() => Ok(()),
        Some(_) => Err("No comparison is open"),
        None => Err("Open an image first"),
    }
}

/// Switches to the view and acts on it.
fn show(app: &mut App, act: impl FnOnce(&mut CompareView)) {
    app.show_view(View::Compare);
    if let Some(tab) = app.front_tab_mut() {
        act(&mut tab.compare);
    }
}

pub(super) const ADD: Command = command!(
    "compare.add",
    "Compare with…",
    "Compare this image with another",
    Menu::Image,
    4,
    [ctrl_shift(Key::B)],
    with_image,
    |app| show(app, CompareView::ask_for_image)
);

pub(super) const BASELINE: Command = command!(
    "compare.baseline",
    "Next baseline",
    "Use the next compared image as the baseline",
    Menu::Image,
    4,
    [KeyboardShortcut::new(Modifiers::NONE, Key::F8)],
    with_columns,
    |app| show(app, CompareView::next_baseline)
);

pub(super) const ONLY: Command = Command {
    id: "compare.only-differences",
    title: "Only differences",
    about: "Hide what is identical in all images",
    menu: Menu::Image,
    group: 4,
    keys: &[],
    when: with_columns,
    run: |app| show(app, |view| view.set_only_differences(!view.only_differences())),
    chosen: Some(|app| app.front_tab().is_some_and(|tab| tab.compare.only_differences())),
};

pub(super) const COPY: Command = command!(
    "compare.copy",
    "Copy comparison",
    "Copy the comparison to the clipboard as Markdown",
    Menu::Image,
    4,
    [],
    with_comparison,
    |app| {
        let waker = app.waker();
        show(app, |view| view.copy(&waker));
    }
);

pub(super) const SAVE: Command = command!(
    "compare.save",
    "Save comparison as…",
    "Save the comparison as HTML, Markdown, JSON, CSV or text",
    Menu::Image,
    4,
    [],
    with_comparison,
    |app| show(app, CompareView::ask_where)
);

pub(super) const ALONE: Command = command!(
    "compare.clear",
    "Clear comparison",
    "Remove the other images from the comparison; their tabs stay open",
    Menu::Image,
    4,
    [],
    with_columns,
    |app| show(app, CompareView::remove_all)
);
