//! The manual, and what this program is.

use egui::{Label, RichText, ScrollArea, Ui};

use super::sheet::{sheet, title};
use crate::findings::{chapter, chapters};
use crate::gui::app::App;
use crate::gui::design::{Tokens, space};
use crate::gui::models::findings::blocks;
use crate::gui::views::Action;
use crate::gui::views::findings::manual_page;

/// A sheet of the Help menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelpSheet {
    Keys,
    /// A chapter of the manual, by its name.
    Manual(&'static str),
    About,
}

const VERSION: &str = concat!("Cutaway ", env!("CARGO_PKG_VERSION"));

/// What the rest of the window, the head and the buttons of the sheet need of its height.
const AROUND: f32 = 180.0;
/// Width of the names of chapters.
const NAMES: f32 = 160.0;

/// Shows the sheet that is open, but for the keys.
pub(crate) fn help(ui: &Ui, app: &mut App) {
    let closes = match &mut app.help {
        Some(HelpSheet::Manual(name)) => manual(ui, name),
        Some(HelpSheet::About) => about(ui, &mut app.actions),
        Some(HelpSheet::Keys) | None => false,
    };
    app.help.take_if(|_| closes);
}

/// The chapters, and the page of one; whether the sheet is to be closed.
fn manual(ui: &Ui, name: &mut &'static str) -> bool {
    let height = (ui.content_rect().height() - AROUND).max(160.0);
    let (closed, asked) = sheet(ui, "manual", 860.0, |ui| {
        title(ui, heading(name));
        ui.add_space(space::S);
        ui.horizontal_top(|ui| {
            let area =
                ScrollArea::vertical().id_salt("chapters").max_height(height).min_scrolled_height(height);
            area.show(ui, |ui| {
                ui.vertical(|ui| {
                    ui.set_width(NAMES);
                    for chapter in chapters() {
                        if ui.selectable_label(*name == chapter, heading(chapter)).clicked() {
                            *name = chapter;
                        }
                    }
                });
            });
            let area = ScrollArea::vertical().id_salt(*name).max_height(height).min_scrolled_height(height);
            area.auto_shrink(false).show(ui, |ui| {
                ui.vertical(|ui| manual_page(ui, name, &blocks(chapter(name).unwrap_or_default())));
            });
        });
        ui.add_space(space::S);
        ui.button("Close").clicked()
    });
    closed || asked
}

/// The heading of a chapter.
fn heading(name: &str) -> &'static str {
    chapter(name).and_then(|page| page.lines().next()).unwrap_or_default().trim_start_matches("# ")
}

/// Version and license; whether the sheet is to be closed.
fn about(ui: &Ui, actions: &mut Vec<Action>) -> bool {
    let (closed, asked) = sheet(ui, "about", 420.0, |ui| {
        title(ui, VERSION);
        let weak = Tokens::of(ui).text_weak;
        for line in [env!("CARGO_PKG_DESCRIPTION"), concat!("License: ", env!("CARGO_PKG_LICENSE"))] {
            ui.add(Label::new(RichText::new(line).color(weak)).wrap().selectable(true));
        }
        ui.add_space(space::M);
        ui.horizontal(|ui| {
            if ui.button("Copy version").clicked() {
                actions.push(Action::CopyText(VERSION.to_owned()));
            }
            ui.button("Close").clicked()
        })
        .inner
    });
    closed || asked
}
