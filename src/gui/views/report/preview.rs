//! The report as it will be written: a page for people, the exact text for programs.

use std::sync::Arc;

use egui::{Align, Frame, Label, Layout, Margin, Panel, RichText, Ui, vec2};

use super::{Proposing, ReportContext, ReportView};
use crate::base::size::{grouped, human};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::report::{ExportFormat, Preview};
use crate::gui::views::Action;
use crate::gui::widgets::alert::error_box;
use crate::gui::widgets::controls::progress_bar;
use crate::gui::widgets::page::text::{TextShape, text_view};
use crate::gui::widgets::page::{PageShape, page};
use crate::gui::widgets::pane::empty;

pub(super) fn show(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>) {
    let tokens = Tokens::of(ui);
    Panel::top("report preview head")
        .frame(Frame::new().fill(tokens.raised).inner_margin(Margin::symmetric(12, 4)))
        .exact_size(30.0)
        .resizable(false)
        .show(ui, |ui| head(ui, view, context));
    egui::CentralPanel::no_frame().show(ui, |ui| body(ui, view, context));
}

fn head(ui: &mut Ui, view: &ReportView, context: &ReportContext<'_>) {
    let tokens = Tokens::of(ui);
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.label(RichText::new("Preview").font(text::strong()));
        let weak = |words: String| Label::new(RichText::new(words).color(tokens.text_weak)).truncate();
        if let Some(preview) = view.job.current(&view.choice) {
            let mut facts = format!("{}, {}", view.choice.form.title(), human(preview.text.len() as u64));
            if preview.page.is_none() {
                facts = format!("{facts}, {} lines", grouped(preview.lines.count() as u64));
            }
            ui.add(weak(facts));
        } else if view.job.is_busy() {
            working(ui, &format!("Creating {}…", view.choice.form.title()));
        }
        match &context.proposing {
            Proposing::Busy => working(ui, "Computing proposals; not included yet…"),
            Proposing::Failed(why) => {
                ui.add(weak(format!("No proposed Dockerfile included: {why}"))).on_hover_text(why);
            }
            Proposing::Done => {}
        }
    });
}

fn working(ui: &mut Ui, words: &str) {
    progress_bar(ui, words, None, vec2(48.0, 6.0));
    ui.add(Label::new(RichText::new(words).color(Tokens::of(ui).text_weak)).truncate());
    ui.ctx().request_repaint_after(std::time::Duration::from_millis(50));
}

fn body(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>) {
    if let Some(problem) = view.job.problem().map(str::to_owned) {
        let waiting = view.choice.form == ExportFormat::Dockerfile && context.proposing == Proposing::Busy;
        if waiting {
            empty(ui, "Computing proposals…", "The best proposal appears here.");
        } else {
            failed(ui, view, &problem);
        }
        return;
    }
    let Some(preview) = view.job.preview().map(Arc::clone) else {
        empty(ui, "Creating report…", "");
        return;
    };
    // What was chosen last is shown until what is chosen now is made.
    match &preview.page {
        Some(made) => {
            let shape = PageShape { name: "Preview", page: made, opening: true, headings: true };
            let output = page(ui, "report preview", &shape, &mut view.page);
            (view.painted, view.pieces) = (output.painted, output.pieces);
            context.actions.extend(output.copied.map(Action::CopyText));
        }
        None => lines(ui, view, &preview),
    }
}

fn lines(ui: &mut Ui, view: &mut ReportView, preview: &Preview) {
    if preview.text.is_empty() {
        empty(ui, "Empty report", "");
        return;
    }
    let form = preview.choice.form.title();
    let name = format!("Preview of {form}");
    let shape = TextShape {
        name: &name,
        lines: preview.lines.count(),
        widest: preview.lines.widest(),
        numbers: true,
        marked: None,
        reveal: false,
    };
    let salt = format!("report text {form}");
    view.painted = text_view(ui, &salt, &shape, |place| preview.lines.shown(&preview.text, place));
}

fn failed(ui: &mut Ui, view: &mut ReportView, problem: &str) {
    let title = match view.choice.form {
        ExportFormat::Dockerfile => "No proposed Dockerfile",
        _ => "Cannot create report",
    };
    Frame::new().inner_margin(Margin::same(16)).show(ui, |ui| {
        error_box(ui, |ui| {
            ui.add(Label::new(RichText::new(title).font(text::strong())).wrap());
            ui.add(Label::new(problem).wrap().selectable(true));
            ui.add_space(space::XS);
            if ui.button("Try again").on_hover_text("Create the report again").clicked() {
                view.job.retry();
                ui.ctx().request_repaint();
            }
        });
    });
}
