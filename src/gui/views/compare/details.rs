//! What each image has of the chosen row.

use egui::{Align, Grid, Label, Layout, RichText, ScrollArea, Sense, Ui, pos2, vec2};

use super::lines::color;
use super::{Action, CompareContext, CompareEvent, ComparePage};
use crate::base::text::elide_middle;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::compare::{ColumnFacts, CompareDetails, CompareModel, ImageColumns};
use crate::gui::models::inspector::PathTarget;
use crate::gui::widgets::matrix::letter as paint_letter;

/// The least width of an image where several are compared.
const SIDE: f32 = 230.0;

pub(super) fn show(
    ui: &mut Ui,
    details: &CompareDetails,
    (page, columns): (ComparePage, &ImageColumns),
    model: &CompareModel,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    let tokens = Tokens::of(ui);
    let margin = egui::Margin::symmetric(12, 10);
    ScrollArea::vertical().id_salt("what each image has").auto_shrink(false).show(ui, |ui| {
        egui::Frame::new().inner_margin(margin).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_top(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if let Some(path) = &details.path {
                        let shown = format!("{}{}", details.about, details.title);
                        if ui.button("Copy path").clicked() {
                            events.push(CompareEvent::Window(Action::CopyText(shown)));
                        }
                        let leads = page != ComparePage::Files;
                        if leads
                            && ui
                                .button("Show in Files")
                                .on_hover_text("Show in the combined file tree")
                                .clicked()
                        {
                            events.push(CompareEvent::Path(path.clone()));
                        }
                    }
                    ui.with_layout(Layout::top_down(Align::Min), |ui| {
                        let title = RichText::new(elide_middle(&details.title, 90)).font(text::heading());
                        ui.add(Label::new(title).wrap());
                        if !details.about.is_empty() {
                            let about = RichText::new(elide_middle(&details.about, 400)).font(text::mono());
                            ui.add(Label::new(about.color(tokens.text_weak)).wrap().selectable(true));
                        }
                    });
                });
            });
            ui.add_space(space::S);
            let count = details.columns.len();
            if count > 0 && ui.available_width() / count as f32 >= SIDE {
                ui.columns(count, |sides| {
                    for ((place, column), ui) in details.columns.iter().enumerate().zip(sides) {
                        one(ui, (place, column), columns, details, model, around, events);
                    }
                });
            } else {
                for (place, column) in details.columns.iter().enumerate() {
                    one(ui, (place, column), columns, details, model, around, events);
                    ui.add_space(space::M);
                }
            }
        });
    });
}

fn one(
    ui: &mut Ui,
    (place, column): (usize, &ColumnFacts),
    columns: &ImageColumns,
    details: &CompareDetails,
    model: &CompareModel,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    let tokens = Tokens::of(ui);
    let id = model.compared.ids.get(place).copied().unwrap_or_default();
    let open = around.image(id);
    let letter = columns.letter(id);
    let title = open.map(|image| image.title.clone());
    let title = title.or_else(|| model.compared.titles.get(place).cloned()).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (rect, _) = ui.allocate_exact_size(vec2(18.0, 20.0), Sense::hover());
        paint_letter(
            ui.painter(),
            tokens,
            pos2(rect.left(), rect.center().y),
            &letter,
            place == model.baseline,
        );
        let head = RichText::new(elide_middle(&title, 44)).font(text::strong()).color(tokens.text);
        ui.add(Label::new(head).truncate()).on_hover_text(&title);
    });
    if !column.verdict.is_empty() {
        ui.label(RichText::new(&column.verdict).color(color(tokens, details.polarity, column.change)));
    }
    Grid::new(("facts of", place)).num_columns(2).spacing([space::S, 2.0]).show(ui, |ui| {
        for (name, value) in &column.facts {
            ui.label(RichText::new(*name).color(tokens.text_weak));
            ui.add(Label::new(RichText::new(value)).wrap().selectable(true));
            ui.end_row();
        }
    });
    let target = match (&details.path, column.layer) {
        (Some(path), _) if column.has_path => Some(Action::ShowPathIn(id, path.clone())),
        (_, Some(layer)) => Some(Action::ShowLayerIn(id, layer)),
        _ => None,
    };
    if let Some(action) = target {
        let label = format!("Show in Layers of {}", elide_middle(&title, 28));
        let response = ui.add_enabled(open.is_some(), egui::Button::new(label));
        let response = response.on_disabled_hover_text("The tab is closed");
        response.widget_info(|| {
            let name = format!("Show in Layers of {letter} {title}");
            egui::WidgetInfo::labeled(egui::accesskit::Role::Button, open.is_some(), name)
        });
        if let Some(path) = details.path.as_ref().filter(|_| column.has_path && response.secondary_clicked())
        {
            let target = PathTarget::of(path.clone());
            events.push(CompareEvent::Window(Action::PathMenuIn(id, target)));
        }
        if response.clicked() {
            events.push(CompareEvent::Window(action));
        }
    }
}
