//! All keys on one sheet.

use egui::{Grid, ScrollArea, Ui};

use super::help::HelpSheet;
use super::sheet::{sheet, title};
use crate::gui::app::App;
use crate::gui::design::space;
use crate::gui::views::commands::keys_text;
use crate::gui::views::{Command, Menu};
use crate::gui::widgets::controls::{heading, key_cap};

/// Keys that are no commands.
const OTHERS: &[(&str, &[&str])] = &[
    ("Move in a list or tree", &["Up", "Down"]),
    ("Expand or collapse a folder", &["Right", "Left"]),
    ("Select", &["Enter"]),
    ("Select several files", &["Shift+Up", "Shift+Down", "Ctrl+Space"]),
    ("Next or previous control", &["Tab", "Shift+Tab"]),
    ("Filter the view", &["/"]),
    ("From the filter to its list", &["Down", "Enter", "Tab"]),
    ("From a list to its details", &["Tab"]),
    ("Choose the columns of a table", &["Shift+F10", "Menu"]),
    ("Move a focused divider", &["Left", "Right", "Up", "Down"]),
    ("Close popup", &["Esc"]),
];

/// Shows the sheet when it is open.
pub(crate) fn key_sheet(ui: &Ui, app: &mut App) {
    if app.help != Some(HelpSheet::Keys) {
        return;
    }
    let size = ui.content_rect().size();
    let (closed, asked) = sheet(ui, "key sheet", 860.0, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        title(ui, "Keyboard shortcuts");
        ui.add_space(space::S);
        // A column with three keys in a row needs half of this.
        let wide = ui.available_width() >= 840.0;
        let height = (size.y - 180.0).max(160.0);
        let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
        // Its bar is at the edge of the dialog, however short the lines.
        area.auto_shrink([false, true]).show(ui, |ui| {
            if wide {
                ui.columns(2, |columns| {
                    group(&mut columns[0], Menu::File);
                    group(&mut columns[0], Menu::Image);
                    group(&mut columns[0], Menu::Help);
                    group(&mut columns[1], Menu::View);
                    others(&mut columns[1]);
                });
            } else {
                for menu in Menu::ALL {
                    group(ui, menu);
                }
                others(ui);
            }
        });
        ui.add_space(space::S);
        ui.button("Close").clicked()
    });
    app.help.take_if(|_| closed || asked);
}

fn group(ui: &mut Ui, menu: Menu) {
    heading(ui, menu.title());
    Grid::new(("keys", menu.title())).num_columns(2).min_col_width(168.0).show(ui, |ui| {
        for command in menu.commands().map(Command::info).filter(|command| !command.keys.is_empty()) {
            ui.label(command.title);
            let keys: Vec<String> = command.keys.iter().map(|keys| keys_text(ui.ctx(), *keys)).collect();
            caps(ui, keys.iter().map(String::as_str));
            ui.end_row();
        }
    });
    ui.add_space(space::M);
}

fn others(ui: &mut Ui) {
    heading(ui, "General");
    Grid::new("other keys").num_columns(2).min_col_width(168.0).show(ui, |ui| {
        for (what, keys) in OTHERS {
            ui.label(*what);
            caps(ui, keys.iter().copied());
            ui.end_row();
        }
    });
}

fn caps<'a>(ui: &mut Ui, keys: impl Iterator<Item = &'a str>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for keys in keys {
            key_cap(ui, keys);
        }
    });
}
