//! What the report is written as, and which parts of it.

use egui::{Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::{ReportContext, ReportView};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::report::{ExportFormat, TABLES, table_title};
use crate::gui::views::{Action, View};
use crate::gui::widgets::controls::{check_box, heading};
use crate::gui::widgets::radio::radio;
use crate::report::page::Part;

pub(super) fn show(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>) {
    ScrollArea::vertical().id_salt("report options").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(12, 10)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 0.0;
            heading(ui, "Format");
            ui.add_space(space::XS);
            formats(ui, view);
            ui.add_space(space::M);
            parts(ui, view);
            ui.add_space(space::M);
            notes(ui, context);
        });
    });
}

fn formats(ui: &mut Ui, view: &mut ReportView) {
    for form in ExportFormat::ALL {
        let chosen = view.choice.form == form;
        if radio(ui, chosen, form.title(), 0.0).on_hover_text(form.about()).clicked() {
            view.choice.form = form;
        }
        if form != ExportFormat::Csv || !chosen {
            continue;
        }
        for table in TABLES {
            let name = table_title(table);
            if radio(ui, view.choice.table == table, name, 22.0).clicked() {
                view.choice.table = table;
            }
        }
    }
}

fn parts(ui: &mut Ui, view: &mut ReportView) {
    let whole = view.choice.form.whole();
    ui.horizontal(|ui| {
        heading(ui, "Sections");
        if whole.is_none() && !view.choice.left_out.is_empty() {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if ui.link("All").on_hover_text("Include all sections").clicked() {
                    view.choice.left_out.clear();
                }
            });
        }
    });
    ui.add_space(space::XS);
    if let Some(why) = whole {
        let note = RichText::new(format!("{why}.")).font(text::small()).color(Tokens::of(ui).text_weak);
        ui.add(Label::new(note).wrap());
        ui.add_space(space::XS);
    }
    let has = view.job.preview().map(|preview| preview.has.clone());
    for part in Part::ALL {
        let nothing = has.as_ref().is_some_and(|has| !has.contains(&part));
        let why = whole.or(nothing.then_some("The report has no data for this section"));
        let on = view.choice.includes(part) && !nothing;
        let response = ui.add_enabled_ui(why.is_none(), |ui| check_box(ui, on, part.title())).inner;
        let response = response.on_disabled_hover_text(why.unwrap_or_default());
        if response.clicked() && !view.choice.left_out.remove(&part) {
            view.choice.left_out.insert(part);
        }
    }
}

fn notes(ui: &mut Ui, context: &mut ReportContext<'_>) {
    let tokens = Tokens::of(ui);
    let small =
        |words: &str| Label::new(RichText::new(words).font(text::small()).color(tokens.text_weak)).wrap();
    if !context.plan.is_empty() {
        heading(ui, "Plan");
        ui.add_space(space::XS);
        ui.add(small(&context.plan));
        ui.add_space(2.0);
        if ui.link(RichText::new("Edit in Findings").font(text::small())).clicked() {
            context.actions.push(Action::ShowView(View::Findings));
        }
        ui.add_space(space::M);
    }
    heading(ui, "Secrets");
    ui.add_space(space::XS);
    ui.add(small(
        "Likely secrets are redacted in every format. The Dockerfile view saves your own Dockerfile \
         with its original values.",
    ));
}
