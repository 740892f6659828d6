//! The platform, and what the lines are for.

use egui::{Frame, Label, Margin, ScrollArea, Ui};

use super::DeploymentView;
use crate::deploy::snippets::SnippetFormat;
use crate::gui::design::space;
use crate::gui::models::deployment::{GivenFile, profile_choices};
use crate::gui::views::{Action, Command, ViewContext};
use crate::gui::widgets::controls::heading;
use crate::gui::widgets::radio::radio;

pub(super) fn show(ui: &mut Ui, view: &mut DeploymentView, context: &mut ViewContext<'_>) {
    ScrollArea::vertical().id_salt("deployment choice").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 0.0;
            file(ui, view, context);
            heading(ui, "Platform");
            ui.add_space(space::XS);
            for choice in profile_choices(context.analysis.known_rules()) {
                if radio(ui, view.profile == choice.id, &choice.name, 0.0).clicked() {
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

/// The platform's file: what is checked against the image.
fn file(ui: &mut Ui, view: &mut DeploymentView, context: &mut ViewContext<'_>) {
    heading(ui, "Platform file");
    ui.add_space(space::XS);
    let name = view.file.as_ref().map(GivenFile::name);
    if let Some(name) = &name {
        ui.add(Label::new(name).truncate()).on_hover_text(name);
        ui.add_space(space::XS);
    }
    ui.horizontal(|ui| {
        let label = if name.is_some() { "Open another…" } else { "Open file…" };
        let about = "cerebrium.toml, Azure ML YAML or Kubernetes manifests, checked against this image";
        if ui.button(label).on_hover_text(about).clicked() {
            context.actions.push(Action::Run(Command::OpenPlatformFile));
        }
        if name.is_some() && ui.button("Close").on_hover_text("Close the platform file").clicked() {
            view.close_file();
        }
    });
    ui.add_space(space::M);
}
