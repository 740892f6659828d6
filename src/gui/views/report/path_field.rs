//! Where the report goes: a path, the clipboard.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui::{Button, Key, Margin, RichText, Ui, WidgetInfo};

use super::{GAP, Proposing, ReportContext, ReportView};
use crate::gui::design::{Tokens, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::report::{ExportFormat, ReportOptions, default_path, with_extension};
use crate::gui::views::Action;
use crate::gui::views::path_bar::PathBar;
use crate::gui::widgets::controls::primary_button;
use crate::jobs::Waker;
use crate::report::Format;

/// The field for the path.
#[derive(Default)]
pub(super) struct PathField {
    pub(super) bar: PathBar,
    /// Whether the user has typed something else than what was offered.
    own: bool,
    /// The image, the choice and the Dockerfile that the offer was made for.
    offered: Option<(String, String, Option<PathBuf>)>,
}

impl PathField {
    /// Offers a path, while the user has typed none.
    pub(super) fn update(&mut self, context: &ReportContext<'_>, choice: &ReportOptions) {
        let offer = || (context.image.to_owned(), choice.ending(), context.beside.clone());
        if self.own || self.offered.as_ref().is_some_and(|known| *known == offer()) {
            return;
        }
        let place = default_path(context.image, choice, context.beside.as_deref());
        self.bar.typed = place.to_string_lossy().into_owned();
        self.offered = Some(offer());
        self.bar.changed();
    }

    /// Another format was chosen: a path of the user's ends as its files do.
    pub(super) fn follow(&mut self, before: &ReportOptions, after: &ReportOptions) {
        if let Some(typed) = with_extension(&self.bar.typed, before, after).filter(|_| self.own) {
            self.bar.typed = typed;
        }
        self.bar.changed();
    }

    pub(super) fn set(&mut self, path: &str) {
        (self.bar.typed, self.own) = (path.to_owned(), true);
        self.bar.changed();
    }

    pub(super) fn focus(&mut self) {
        self.bar.focus();
    }

    /// Shows an error; focus returns to the field.
    pub(super) fn show_message(&mut self, words: String) {
        self.bar.show_message(words);
    }
}

/// What was asked for.
enum PathAction {
    Nothing,
    Browse,
    Save,
    Copy,
    /// Another format, to go with the path.
    Form(ExportFormat),
}

pub(super) fn show(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>, waker: &Waker) {
    let ready = view.job.current(&view.choice).is_some() && !view.saving.is_busy();
    match bar(ui, &mut view.path_field, &view.choice, ready) {
        PathAction::Form(form) => {
            view.choice.form = form;
            ui.ctx().request_repaint();
        }
        PathAction::Nothing => {}
        PathAction::Browse => {
            let extension = view.choice.format().map_or("", |format| format.extension());
            context.actions.push(Action::Pick(Pick::SaveReport(extension)));
        }
        PathAction::Save => {
            let (path, replace) = (view.path_field.bar.path(), view.path_field.bar.replaces());
            view.path_field.bar.taken();
            view.save(path, replace, waker);
            ui.ctx().request_repaint();
        }
        PathAction::Copy => {
            view.copy = true;
            view.notice = None;
            ui.ctx().request_repaint();
        }
    }
    if view.copy && context.proposing == Proposing::Busy {
        let words = "Copied when the proposed Dockerfile is ready and included.";
        ui.label(RichText::new(words).color(Tokens::of(ui).text_weak));
        ui.add_space(GAP);
    }
}

fn bar(ui: &mut Ui, place: &mut PathField, choice: &ReportOptions, ready: bool) -> PathAction {
    let tokens = Tokens::of(ui);
    let mut asked = PathAction::Nothing;
    tokens.card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new("Save as").font(text::strong()));
            // Room of the buttons behind it.
            let behind = if place.bar.replaces() { 224.0 } else { 202.0 };
            let response = place.bar.edit(ui, "Save report as", "/path/to/report.html", behind);
            place.own |= response.changed();
            let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let choose = ui.button("Browse…").on_hover_text("Select a file and save");
            if choose.clicked() {
                asked = PathAction::Browse;
            }
            let fits = ready && !place.bar.typed.trim().is_empty();
            let title = if place.bar.replaces() { "Replace" } else { "Save" };
            let disabled_reason = if ready { "Enter a path first" } else { "The report is not ready" };
            let save = ui.add_enabled_ui(fits, |ui| primary_button(ui, title)).inner;
            let clicked = save.on_disabled_hover_text(disabled_reason).clicked();
            // Replacing a file takes more than one key too many.
            if fits && (clicked || entered && !place.bar.replaces()) {
                asked = PathAction::Save;
            }
            let copy = ui.add_enabled(ready, Button::new("Copy"));
            copy.widget_info(|| WidgetInfo::labeled(Role::Button, ready, "Copy report"));
            let about = "Copy the report to the clipboard";
            if copy.on_hover_text(about).on_disabled_hover_text(disabled_reason).clicked() {
                asked = PathAction::Copy;
            }
        });
        place.bar.message(ui);
        if let (Some(other), true) = (form_of(&place.bar.typed, choice), place.own) {
            ui.horizontal(|ui| {
                let (form, other_name) = (choice.form.title(), other.title());
                let words = format!("The report is {form}, the extension that of {other_name}.");
                ui.label(RichText::new(words).color(tokens.warning));
                if ui.button(format!("Save as {other_name}")).clicked() {
                    asked = PathAction::Form(other);
                }
            });
        }
    });
    ui.add_space(GAP);
    asked
}

/// The format whose extension a path has, if it is not the chosen one.
fn form_of(typed: &str, choice: &ReportOptions) -> Option<ExportFormat> {
    let of = |form: ExportFormat| ReportOptions { form, ..choice.clone() }.format().map(Format::extension);
    let own = of(choice.form)?;
    let (_, extension) = typed.trim().rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let others = ExportFormat::ALL.into_iter().filter(|form| of(*form).is_some_and(|end| end == extension));
    others.into_iter().next().filter(|_| extension != own)
}
