//! In: the state of the window.
//! Out: its parts around the views: menu bar, tabs, rail, status bar, log, start screen, machine, palette, key sheet, manual,
//! the sheet for dropped files, the dialogs about registries.
//! Must not know: what a view shows.

mod changed;
mod contact;
mod engines;
mod help;
mod inspector;
mod keys;
mod log;
mod login;
mod machine;
mod menu;
mod notices;
mod offer;
mod palette;
mod path_menu;
mod problem;
mod rail;
mod settings;
mod sheet;
mod slim;
mod start;
mod status;
mod tabs;
mod tags;

pub(super) use changed::changed;
pub(super) use contact::remote;
pub(super) use help::{HelpSheet, help};
pub(super) use inspector::inspector;
pub(super) use keys::key_sheet;
pub(super) use log::log_view;
pub(super) use login::{Login, Secret};
pub(super) use machine::machine;
pub(super) use menu::menu_bar;
pub(super) use notices::{NoticePlace, notices};
pub(super) use offer::offer;
pub(super) use palette::{Palette, palette};
pub(super) use path_menu::{path_menu, row_menu};
pub(super) use problem::no_image;
pub(super) use rail::rail;
pub(super) use settings::{SettingsPage, settings_page};
pub(super) use slim::slim;
pub(super) use start::{StartScreen, start_screen};
pub(super) use status::status_bar;
pub(super) use tabs::tab_strip;
