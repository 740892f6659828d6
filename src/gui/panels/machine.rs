//! This machine's GPU, where no image is open.

use egui::{Rect, RichText, Ui, UiBuilder, pos2};

use crate::gui::app::App;
use crate::gui::design::{Tokens, space, text};
use crate::gui::views::gpu::show_machine;
use crate::gui::views::{Action, Command};
use crate::gui::widgets::pane::card;

const COLUMN: f32 = 680.0;

/// In the place of the start screen.
pub(crate) fn machine(ui: &mut Ui, app: &mut App) {
    let tokens = Tokens::of(ui);
    let whole = ui.available_rect_before_wrap();
    let side = ((whole.width() - COLUMN) / 2.0).max(space::L);
    let column = Rect::from_min_max(
        pos2(whole.left() + side, whole.top() + space::XL),
        pos2(whole.right() - side, whole.bottom() - space::L),
    );
    ui.scope_builder(UiBuilder::new().max_rect(column), |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("GPU").font(text::title()).color(tokens.text));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if ui.link("Open image").clicked() {
                    app.actions.push(Action::Run(Command::NewTab));
                }
            });
        });
        ui.add_space(space::S);
        let App { machine, machine_alone, actions, .. } = app;
        let view = machine_alone.get_or_insert_default();
        card(ui, |ui| show_machine(ui, machine, view, actions));
    });
}
