//! This machine: what is known of its GPU, the check, and the result.

use egui::text::{LayoutJob, TextFormat};
use egui::{ComboBox, Frame, Label, Margin, RichText, ScrollArea, Sense, Ui, vec2};

use super::{error, results, runs, steps};
use crate::base::text::printable;
use crate::gpu::Check;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::format::utc;
use crate::gui::models::gpu::{Headline, Machine, StepLine, StepState, Tone};
use crate::gui::views::Action;
use crate::gui::views::waker;
use crate::gui::widgets::controls::{
    Mark, check_box, heading, paint_mark, primary_button, progress_bar, weak,
};
use crate::gui::widgets::fold::fold;
use crate::jobs::Waker;

/// What one place that shows the machine remembers.
#[derive(Default)]
pub struct MachineView {
    /// Whether it asks if earlier runs are really to be forgotten.
    pub(super) confirm_forget: bool,
}

/// Shows the machine in the remaining space. Searches for the driver library once; all else runs on request.
pub(in crate::gui) fn show(
    ui: &mut Ui,
    machine: &mut Machine,
    view: &mut MachineView,
    actions: &mut Vec<Action>,
) {
    let waker = waker(ui);
    machine.look(&waker);
    ScrollArea::vertical().id_salt("machine").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(14, 12)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            heading(ui, "This machine");
            library(ui, machine);
            ui.add_space(space::S);
            controls(ui, machine, &waker);
            outcome(ui, machine, actions);
            runs::show(ui, machine, view);
        });
    });
}

/// A sign, and words beside it.
pub(super) fn marked_line(ui: &mut Ui, (mark, color): (Mark, egui::Color32), add: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 18.0), Sense::hover());
        let size = if mark == Mark::Tick { 9.0 } else { 13.0 };
        paint_mark(ui.painter(), mark, rect.center(), size, color);
        ui.vertical(add);
    });
}

/// A sentence of the check; backticks mark commands.
pub(super) fn prose(ui: &mut Ui, words: &str, color: egui::Color32) {
    let words = crate::base::text::sentence(&printable(words));
    let mut job = LayoutJob::default();
    for (place, part) in words.split('`').enumerate() {
        let font = if place % 2 == 1 { text::mono() } else { text::body() };
        job.append(part, 0.0, TextFormat::simple(font, color));
    }
    ui.add(Label::new(job).wrap().selectable(true));
}

/// Whether the driver's library is there.
fn library(ui: &mut Ui, machine: &Machine) {
    let tokens = Tokens::of(ui);
    let Some(check) = machine.library() else {
        weak(ui, "Searching for libcuda.so.1…");
        return;
    };
    let path = check.driver.as_ref().and_then(|driver| driver.library_path.as_deref());
    match (path, &check.error) {
        (Some(path), _) => marked_line(ui, (Mark::Proven, tokens.success), |ui| {
            let words = format!("libcuda.so.1 found: {}", printable(path));
            ui.add(Label::new(words).wrap().selectable(true));
        }),
        // A failure is shown below after the check.
        (None, Some(error)) if !machine.is_known() => marked_line(ui, (Mark::Error, tokens.error), |ui| {
            ui.add(
                Label::new(crate::base::text::sentence(&printable(&error.message))).wrap().selectable(true),
            );
            if let Some(hint) = &error.hint {
                prose(ui, hint, tokens.text_weak);
            }
        }),
        (None, _) => {}
    }
    // After the check, its own list is shown with the results.
    if path.is_none() && machine.shown().is_none() && !machine.is_checking() {
        places(ui, check);
    }
}

/// Where the library was looked for.
fn places(ui: &mut Ui, check: &Check) {
    if check.tried.is_empty() {
        return;
    }
    let tokens = Tokens::of(ui);
    let note = crate::base::text::counted(check.tried.len(), "path");
    fold(ui, "Driver search", &note, false, |ui| {
        for tried in &check.tried {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = space::S;
                ui.add_space(16.0);
                ui.add(Label::new(RichText::new(printable(&tried.path)).font(text::mono())).selectable(true));
                ui.label(RichText::new(printable(&tried.outcome)).color(tokens.text_weak));
            });
        }
    });
}

/// The button, and what the check is to do.
fn controls(ui: &mut Ui, machine: &mut Machine, waker: &Waker) {
    ui.horizontal_wrapped(|ui| {
        if machine.is_checking() {
            let stopping = machine.is_stopping();
            let label = if stopping { "Stopping…" } else { "Stop" };
            ui.add_enabled_ui(!stopping, |ui| {
                if ui.button(label).on_hover_text("Stop the check and keep the results so far").clicked() {
                    machine.stop();
                }
            });
        } else {
            let label = if machine.shown().is_some() { "Run check again" } else { "Run check" };
            let about = "Initialize the driver, compile a kernel, verify the results and time launches";
            if primary_button(ui, label).on_hover_text(about).clicked() {
                machine.run(waker);
            }
        }
        let idle = !machine.is_checking();
        let response =
            ui.add_enabled_ui(idle, |ui| check_box(ui, machine.asked.bandwidth, "Measure bandwidth"));
        let about = "Time copies to, from and on the GPU; takes a second";
        if response.inner.on_hover_text(about).clicked() {
            machine.asked.bandwidth = !machine.asked.bandwidth;
        }
        ui.add_enabled_ui(idle, |ui| choice(ui, machine));
    });
}

/// Which GPU, where there are several.
fn choice(ui: &mut Ui, machine: &mut Machine) {
    let choices = machine.choices();
    if choices.len() < 2 {
        return;
    }
    let all = format!("All {} GPUs", choices.len());
    let title = |(index, name): &(u32, String)| format!("GPU {index}: {name}");
    let chosen = choices.iter().find(|(index, _)| machine.asked.device == Some(*index)).map(title);
    let combo = ComboBox::from_id_salt("device")
        .selected_text(chosen.unwrap_or_else(|| all.clone()))
        .width(150.0)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut machine.asked.device, None, &all);
            for choice in &choices {
                ui.selectable_value(&mut machine.asked.device, Some(choice.0), title(choice));
            }
        });
    combo.response.on_hover_text("GPU to check");
}

/// The check under way, or the last result.
fn outcome(ui: &mut Ui, machine: &mut Machine, actions: &mut Vec<Action>) {
    if let Some((check, requested)) = machine.running() {
        let lines = StepLine::all(check, Some(requested));
        let done = lines.iter().filter(|line| line.us.is_some()).count();
        ui.add_space(space::M);
        ui.label(RichText::new("Checking…").font(text::heading()));
        let share = crate::base::convert::fraction(done as u64, lines.len() as u64);
        let width = ui.available_width();
        progress_bar(ui, "Check progress", Some(share), vec2(width, 6.0));
        ui.add_space(space::S);
        steps::show(ui, &lines);
        return;
    }
    if let Some(run) = machine.past() {
        let when = utc(i64::try_from(run.unix_seconds).unwrap_or(i64::MAX));
        ui.add_space(space::S);
        let mut back = false;
        ui.horizontal_wrapped(|ui| {
            weak(ui, format!("Run of {when}"));
            back = ui.link("Show latest run").clicked();
        });
        if back {
            machine.show_past(None);
        }
    }
    let Some(check) = machine.shown() else { return };
    let headline = if machine.was_stopped() {
        Headline { tone: Tone::Mixed, text: "Check cancelled.".to_owned() }
    } else {
        Headline::new(check)
    };
    ui.add_space(space::M);
    show_headline(ui, &headline);
    if !machine.was_stopped() {
        error::show(ui, check, actions);
    }
    results::show(ui, check);
    let lines = StepLine::all(check, None);
    let passed = lines.iter().filter(|line| line.state == StepState::Passed).count();
    let note = format!(
        "{passed} of {} passed in {}",
        lines.len(),
        crate::gui::models::gpu::words::time(check.total_us)
    );
    ui.add_space(space::M);
    fold(ui, "Steps", &note, true, |ui| steps::show(ui, &lines));
    if !check.notes.is_empty() {
        ui.add_space(space::M);
        heading(ui, "Notes");
        for note in &check.notes {
            prose(ui, note, Tokens::of(ui).text);
        }
    }
    if !check.tried.is_empty() {
        ui.add_space(space::XS);
        places(ui, check);
    }
}

/// The sign of a tone, with its colour.
pub(super) fn tone(tokens: &Tokens, tone: Tone) -> (Mark, egui::Color32) {
    match tone {
        Tone::Good => (Mark::Proven, tokens.success),
        Tone::Mixed => (Mark::Warning, tokens.warning),
        Tone::Bad => (Mark::Error, tokens.error),
    }
}

fn show_headline(ui: &mut Ui, headline: &Headline) {
    let tokens = Tokens::of(ui);
    let (mark, color) = tone(tokens, headline.tone);
    Frame::new()
        .fill(tokens.wash(color))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(10, 8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            marked_line(ui, (mark, color), |ui| {
                let words = RichText::new(&headline.text).font(text::strong()).color(tokens.text);
                ui.add(Label::new(words).wrap().selectable(true));
            });
        });
}
