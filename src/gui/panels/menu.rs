//! The menu bar: every command, in its menu.

use egui::{Align, Button, Layout, MenuBar, Response, RichText, ScrollArea, Ui};

use crate::gui::app::App;
use crate::gui::design::{Tokens, radius, text};
use crate::gui::views::{Action, Command, Menu};
use crate::gui::widgets::controls::paint_focus;

/// The bar at the top.
pub(crate) fn menu_bar(ui: &mut Ui, app: &mut App) {
    MenuBar::new().ui(ui, |ui| {
        for menu in Menu::ALL {
            let title = ui.menu_button(menu.title(), |ui| show_menu(ui, app, menu));
            // Menus have no lines, so that their fill alone would show the focus.
            paint_focus(ui, &title.response, radius::S);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| palette_button(ui, app));
    });
}

/// What a menu has around its entries, and the menu bar above it.
const AROUND: f32 = 64.0;

/// The entries of a menu, which scroll where they are higher than the window.
fn scrolled(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let most = (ui.content_rect().height() - AROUND).max(80.0);
    // A menu opens in the room that it had before: its entries decide.
    ScrollArea::vertical().max_height(most).min_scrolled_height(most).show(ui, add);
}

/// An entry that the keyboard reaches comes into sight, with a ring.
fn in_sight(ui: &Ui, response: Response) -> Response {
    paint_focus(ui, &response, radius::S);
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    response
}

fn show_menu(ui: &mut Ui, app: &mut App, menu: Menu) {
    ui.set_min_width(240.0);
    scrolled(ui, |ui| entries(ui, app, menu));
}

fn entries(ui: &mut Ui, app: &mut App, menu: Menu) {
    ui.spacing_mut().button_padding = egui::vec2(8.0, 2.0);
    let mut group = None;
    for command in menu.commands() {
        let info = command.info();
        if group.is_some_and(|group| group != info.group) {
            if menu == Menu::File && info.group == 3 {
                recent(ui, app);
            }
            ui.separator();
        }
        group = Some(info.group);
        item(ui, app, command);
    }
}

fn item(ui: &mut Ui, app: &mut App, command: Command) {
    let keys = command.info().keys_text(ui.ctx());
    let mut button = Button::new(command.info().title).selected(app.is_chosen(command));
    if !keys.is_empty() {
        let weak = Tokens::of(ui).text_weak;
        button = button.right_text(RichText::new(keys).font(text::small()).color(weak));
    }
    let tooltip = app.tooltip(command);
    let response = ui.add_enabled(app.check(command).is_ok(), button);
    let response = in_sight(ui, response);
    let response = response.on_hover_text(tooltip).on_disabled_hover_text(tooltip);
    if response.clicked() {
        app.actions.push(Action::Run(command));
        ui.close();
    }
}

fn recent(ui: &mut Ui, app: &mut App) {
    if app.remembered.recent.is_empty() {
        return;
    }
    ui.separator();
    let App { remembered, actions, .. } = app;
    let menu = ui.menu_button("Recent images", |ui| {
        scrolled(ui, |ui| {
            for reference in &remembered.recent {
                let shown = crate::base::text::elide_middle(&crate::base::text::printable(reference), 60);
                let entry = ui.button(shown);
                if in_sight(ui, entry).clicked() {
                    actions.push(Action::OpenImage(reference.clone()));
                    ui.close();
                }
            }
        });
    });
    in_sight(ui, menu.response);
}

fn palette_button(ui: &mut Ui, app: &mut App) {
    let info = Command::Palette.info();
    let weak = Tokens::of(ui).text_weak;
    let keys = RichText::new(info.keys_text(ui.ctx())).font(text::small()).color(weak);
    let button = Button::new(RichText::new("Search commands").color(weak)).right_text(keys);
    let tokens = Tokens::of(ui);
    let line = egui::Stroke::new(1.0, tokens.border);
    let button = button.min_size(egui::vec2(220.0, 24.0)).fill(tokens.field).stroke(line);
    ui.spacing_mut().button_padding = egui::vec2(10.0, 3.0);
    let response = ui.add(button).on_hover_text(info.about);
    paint_focus(ui, &response, radius::S);
    if response.clicked() {
        app.actions.push(Action::Run(Command::Palette));
    }
}
