//! In: the state of the window.
//! Out: its parts around the views: menu bar, tabs, rail, status bar, log, start screen, machine, palette, key sheet,
//! the sheet for dropped files.
//! Must not know: what a view shows.

mod keys;
mod log;
mod machine;
mod menu;
mod offer;
mod palette;
mod problem;
mod rail;
mod start;
mod status;
mod tabs;

pub(super) use keys::key_sheet;
pub(super) use log::log_view;
pub(super) use machine::machine;
pub(super) use menu::menu_bar;
pub(super) use offer::offer;
pub(super) use palette::{Palette, palette};
pub(super) use problem::{banner, no_image};
pub(super) use rail::rail;
pub(super) use start::{StartScreen, start_screen};
pub(super) use status::status_bar;
pub(super) use tabs::tab_strip;
