//! The platform, and what the lines are for.

use egui::{Frame, Margin, ScrollArea, Ui};

use super::DeploymentView;
use crate::deploy::snippets::SnippetFormat;
use crate::gui::design::space;
use crate::gui::models::deployment::profile_choices;
use crate::gui::views::ViewContext;
use crate::gui::widgets::controls::heading;
use crate::gui::widgets::radio::radio;

pub(super) fn show(ui: &mut Ui, view: &mut DeploymentView, context: &ViewContext<'_>) {
    ScrollArea::vertical().id_salt("deployment choice").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 0.0;
            heading(ui, "Platform");
            ui.add_space(space::XS);
            for choice in profile_choices(context.analysis.known_rules()) {
                let response = radio(ui, view.profile == choice.id, &choice.name, 0.0);
                if response.on_hover_text(&choice.name).clicked() {
                    view.format = SnippetFormat::of_profile(&choice.id);
                    view.profile = choice.id;
                }
            }
            ui.add_space(space::M);
            heading(ui, "Lines to paste");
            ui.add_space(space::XS);
            for format in SnippetFormat::ALL {
                if radio(ui, view.format == *format, format.title(), 0.0).clicked() {
                    view.format = *format;
                }
            }
        });
    });
}
