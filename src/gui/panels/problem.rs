//! In the place of a view: what is going on while nothing is known, and what went wrong.

use std::ops::Range;

use egui::{Align, Button, Frame, Label, Layout, Margin, RichText, ScrollArea, Ui, vec2};

use super::sheet::{self, FailureAnswer};
use crate::analysis::Failure;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::printable;
use crate::gui::app::{Phase, Tab};
use crate::gui::design::{Tokens, space, text};
use crate::gui::views::Action;
use crate::gui::widgets::controls::{Mark, paint_mark, primary_button, progress_bar};

/// Width of the column in the middle.
const COLUMN: f32 = 560.0;

/// The whole place of a view, while nothing of the image is known.
pub(crate) fn no_image(ui: &mut Ui, tab: &Tab, actions: &mut Vec<Action>) {
    let column = COLUMN.min(ui.available_width() - 2.0 * space::L);
    let left = (ui.available_width() - column) / 2.0;
    ui.add_space((ui.available_height() * 0.18).min(120.0));
    let area = ScrollArea::vertical().auto_shrink(false);
    area.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.add_space(left);
            ui.vertical(|ui| {
                ui.set_width(column);
                match &tab.phase {
                    Phase::Asking => asking(ui, tab, actions),
                    Phase::Failed(failure) => failed(ui, tab, failure, actions),
                    Phase::Cancelled => cancelled(ui, tab, actions),
                    Phase::Running | Phase::Stopping | Phase::Done => opening(ui, tab, actions),
                }
                ui.add_space(space::XL);
            });
        })
    });
}

fn asking(ui: &mut Ui, tab: &Tab, actions: &mut Vec<Action>) {
    sheet::title(ui, "Waiting for permission");
    reference(ui, tab);
    ui.add_space(space::S);
    let host = printable(tab.host.as_deref().unwrap_or_default());
    ui.label(format!("Cutaway connects to {host} only if you allow it."));
    ui.add_space(space::M);
    if ui.button("Close").clicked() {
        actions.push(Action::CloseTab(tab.id));
    }
}

fn opening(ui: &mut Ui, tab: &Tab, actions: &mut Vec<Action>) {
    let stopping = tab.phase == Phase::Stopping;
    sheet::title(ui, if stopping { "Stopping…" } else { "Opening image" });
    reference(ui, tab);
    ui.add_space(space::L);
    let progress = tab.progress();
    let width = ui.available_width();
    progress_bar(ui, "Progress", progress.fraction(), vec2(width, 8.0));
    ui.add_space(space::XS);
    let bytes = match (progress.bytes_passed, progress.bytes_total) {
        (0, _) => "Reading manifest and config".to_owned(),
        (passed, 0) => format!("{} read; searching for the manifest", human(passed)),
        (passed, total) => format!("{} of {}", human(passed), human(total)),
    };
    let rate = tab.rate().filter(|rate| *rate > 0).map(|rate| format!("  ·  {}/s", human(rate)));
    let left = tab.time_left().map(|left| format!("  ·  {left}"));
    let line = bytes + &rate.unwrap_or_default() + &left.unwrap_or_default();
    ui.label(RichText::new(line).color(Tokens::of(ui).text_weak));
    if let Some(message) = tab.message() {
        ui.add(Label::new(RichText::new(sheet::sentence(message)).color(Tokens::of(ui).text_weak)).wrap());
    }
    ui.add_space(space::M);
    ui.add_enabled_ui(!stopping, |ui| {
        if ui.button("Cancel").clicked() {
            actions.push(Action::CancelTab(tab.id));
        }
    });
}

fn failed(ui: &mut Ui, tab: &Tab, failure: &Failure, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(22.0, 24.0), egui::Sense::hover());
        paint_mark(ui.painter(), Mark::Error, rect.center(), 20.0, tokens.error);
        let what = if tab.is_report { "report" } else { "image" };
        sheet::title(ui, &format!("Cannot open {what}"));
    });
    reference(ui, tab);
    ui.add_space(space::M);
    sheet::failure(ui, failure);
    ui.add_space(space::M);
    // A reference with a secret is not shown.
    let edit = crate::source::redacted(&tab.text) == tab.text;
    actions.extend(sheet::failure_buttons(ui, failure, edit).map(|answer| match answer {
        FailureAnswer::Edit => Action::EditReference(tab.id),
        FailureAnswer::LogIn(_) => Action::LogIn(tab.id),
        FailureAnswer::Again => Action::Again(tab.id),
        FailureAnswer::Copy(text) => Action::CopyText(text),
        FailureAnswer::Close => Action::CloseTab(tab.id),
    }));
}

fn cancelled(ui: &mut Ui, tab: &Tab, actions: &mut Vec<Action>) {
    sheet::title(ui, "Cancelled");
    reference(ui, tab);
    ui.add_space(space::S);
    ui.label("Cancelled before the manifest was read.");
    ui.add_space(space::M);
    ui.horizontal(|ui| {
        if primary_button(ui, "Reload").clicked() {
            actions.push(Action::Again(tab.id));
        }
        if ui.button("Close").clicked() {
            actions.push(Action::CloseTab(tab.id));
        }
    });
}

/// Above a view of which only a part is known: the work ended early, or a part of the image could not be read.
/// `shown` are those of its [`fault_lines`].
pub(crate) fn banner(ui: &mut Ui, tab: &Tab, shown: Range<usize>, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let done = tab.analysis.as_ref().map_or(0, |analysis| analysis.layers_done());
    let layers = tab.analysis.as_ref().map_or(0, |analysis| analysis.layers.len());
    let ended = match &tab.phase {
        Phase::Failed(failure) => Some((Mark::Error, tokens.error, sheet::sentence(&failure.message))),
        Phase::Cancelled => Some((
            Mark::Warning,
            tokens.warning,
            format!(
                "Cancelled after {} of {}. Showing partial results.",
                grouped(done as u64),
                counted(layers, "layer")
            ),
        )),
        Phase::Asking | Phase::Running | Phase::Stopping | Phase::Done => None,
    };
    let faults_at = usize::from(ended.is_some());
    if let Some((mark, color, message)) = ended.filter(|_| shown.contains(&0)) {
        line(ui, mark, color, &message, |ui| {
            if ui.add(Button::new("Reload")).clicked() {
                actions.push(Action::Again(tab.id));
            }
        });
    }
    if let Some(faults) = tab.faults.as_ref().filter(|_| shown.contains(&faults_at)) {
        line(ui, Mark::Warning, tokens.warning, &faults.words, |ui| {
            if ui.button("Show in log").clicked() {
                actions.push(Action::ShowLog);
            }
        });
    }
}

/// How many lines the banner has.
pub(crate) fn fault_lines(tab: &Tab) -> usize {
    let ended = matches!(tab.phase, Phase::Failed(_) | Phase::Cancelled);
    usize::from(ended) + usize::from(tab.faults.is_some())
}

/// A line of the banner, with buttons at its right.
fn line(ui: &mut Ui, mark: Mark, color: egui::Color32, message: &str, buttons: impl FnOnce(&mut Ui)) {
    let tokens = Tokens::of(ui);
    Frame::new().fill(tokens.wash(color)).inner_margin(Margin::symmetric(16, 6)).show(ui, |ui| {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(vec2(16.0, 24.0), egui::Sense::hover());
            paint_mark(ui.painter(), mark, rect.center(), 14.0, color);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                buttons(ui);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(message).truncate()).on_hover_text(message);
                });
            });
        });
    });
}

fn reference(ui: &mut Ui, tab: &Tab) {
    let shown = RichText::new(&tab.shown).font(text::mono()).color(Tokens::of(ui).text_weak);
    ui.add(Label::new(shown).wrap().selectable(true));
}
