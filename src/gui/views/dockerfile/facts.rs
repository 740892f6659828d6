//! What the image is with a proposal, what was proven of it, and what else helps.

use egui::{Align, Color32, Frame, Grid, Label, Layout, Margin, RichText, Stroke, Ui, vec2};

use super::{Action, DockerfileEvent};
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::{counted, printable};
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::dockerfile::{DockerfileModel, ProposalItem, words};
use crate::gui::widgets::alert;
use crate::gui::widgets::controls::{self, Mark, heading};

/// Lines of a hint that are shown; all of them can be copied.
const HINT_LINES: usize = 40;

/// Sizes of the image and of each stage.
pub(super) fn image(ui: &mut Ui, model: &DockerfileModel, proposal: &ProposalItem) {
    let tokens = Tokens::of(ui);
    let predicted = &proposal.predicted;
    heading(ui, "Image size");
    let rows = [
        ("Merged", "visible in the container", model.now.merged, predicted.merged_bytes),
        (
            "Content",
            "files in all layers, shadowed ones included",
            model.now.content,
            predicted.content_bytes,
        ),
    ];
    Grid::new("sizes").num_columns(4).spacing([space::L, space::XS]).show(ui, |ui| {
        for head in ["", "Now", "After", "Saves"] {
            number(ui, head, tokens.text_weak, text::small());
        }
        ui.end_row();
        for (name, about, now, then) in rows {
            ui.label(name).on_hover_text(about);
            for bytes in [now, then, now.saturating_sub(then)] {
                number(ui, &human(bytes), tokens.text, text::body());
            }
            ui.end_row();
        }
    });
    ui.add_space(space::M);
    heading(ui, "Stages");
    let last = predicted.stages.len().saturating_sub(1);
    for (place, stage) in predicted.stages.iter().enumerate() {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::L;
            number(ui, &human_or_dash(stage.merged_bytes), tokens.text, text::body());
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                ui.label(RichText::new(words::stage(stage, place == last)).font(text::strong()));
                let base = RichText::new(format!("from {}", printable(&stage.base)));
                ui.add(Label::new(base.font(text::small()).color(tokens.text_weak)).wrap());
            });
        });
        ui.add_space(space::XS);
    }
    if predicted.stages.is_empty() {
        controls::weak(ui, "Unknown.");
    } else if last > 0 {
        ui.add_space(space::XS);
        controls::weak(ui, "Only the final stage is shipped; the others stay on the build machine.");
    }
}

/// A number in a column of numbers.
fn number(ui: &mut Ui, words: &str, color: Color32, font: egui::FontId) {
    const WIDTH: f32 = 68.0;
    ui.allocate_ui_with_layout(vec2(WIDTH, 18.0), Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_width(WIDTH);
        ui.label(RichText::new(words).font(font).color(color));
    });
}

/// What was proven of the new image, and what not.
pub(super) fn proof(
    ui: &mut Ui,
    model: &DockerfileModel,
    proposal: &ProposalItem,
    events: &mut Vec<DockerfileEvent>,
) {
    let tokens = Tokens::of(ui);
    let closure = &proposal.closure;
    let looked = format!("{} of {}", counted(closure.links, "link"), counted(closure.objects, "ELF file"));
    if closure.resolved {
        let words = format!("All library links still resolve ({looked}).");
        marked(ui, Mark::Proven, tokens.success, &words);
    } else {
        let words = format!("Something that is needed today is missing ({looked}).");
        marked(ui, Mark::Error, tokens.error, &words);
    }
    for fault in &closure.faults {
        marked(ui, Mark::Close, tokens.error, fault);
    }
    if !closure.dlopen_known || !closure.unproven.is_empty() {
        ui.add_space(space::M);
        heading(ui, "Assumptions (not proven)");
        if !closure.dlopen_known {
            let words = "Some programs were not searched; they may open libraries by name (dlopen).";
            marked(ui, Mark::Question, tokens.warning, words);
        }
        for what in &closure.unproven {
            marked(ui, Mark::Question, tokens.warning, what);
        }
    }
    if !proposal.kept.is_empty() {
        ui.add_space(space::M);
        heading(ui, "Kept");
        for what in &proposal.kept {
            marked(ui, Mark::Keep, tokens.text_weak, what);
        }
    }
    notes(ui, model, events);
}

/// What could not be known of the original or of the way to the proposals.
pub(super) fn notes(ui: &mut Ui, model: &DockerfileModel, events: &mut Vec<DockerfileEvent>) {
    if model.notes.is_empty() && model.unknown.is_empty() {
        return;
    }
    let tokens = Tokens::of(ui);
    ui.add_space(space::M);
    heading(ui, "Unknown");
    for note in &model.notes {
        marked(ui, Mark::Question, tokens.text_weak, note);
    }
    for (line, what) in &model.unknown {
        alert::marked(ui, Mark::Question, tokens.text_weak, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.add(Label::new(what).wrap().selectable(true));
            if ui.link(format!("Line {line}")).clicked() {
                events.push(DockerfileEvent::Original(*line));
            }
        });
    }
}

/// What else helps, with lines to copy.
pub(super) fn hints(ui: &mut Ui, proposal: &ProposalItem, events: &mut Vec<DockerfileEvent>) {
    let tokens = Tokens::of(ui);
    for hint in &proposal.hints {
        let file = printable(&hint.file);
        ui.horizontal(|ui| {
            ui.label(RichText::new(&file).font(text::heading()));
            if let Some(bytes) = hint.bytes {
                controls::weak(ui, format!("saves {} of content", human(bytes)));
            }
        });
        ui.add(Label::new(printable(&hint.reason)).wrap());
        ui.add_space(space::XS);
        let frame = Frame::new().fill(tokens.raised).stroke(Stroke::new(1.0, tokens.border));
        frame.corner_radius(radius::S).inner_margin(Margin::symmetric(10, 6)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            let shown: Vec<String> = hint.lines.iter().take(HINT_LINES).map(|line| printable(line)).collect();
            ui.add(Label::new(RichText::new(shown.join("\n")).font(text::mono())).wrap().selectable(true));
            if let Some(more) = hint.lines.len().checked_sub(HINT_LINES).filter(|more| *more > 0) {
                controls::weak(ui, format!("and {} more lines", grouped(more as u64)));
            }
        });
        if ui.button(format!("Copy lines for {file}")).clicked() {
            events.push(DockerfileEvent::Window(Action::CopyText(hint.lines.join("\n") + "\n")));
        }
        ui.add_space(space::M);
    }
}

/// A sign, and beside it what it is about.
fn marked(ui: &mut Ui, mark: Mark, color: Color32, words: &str) {
    alert::marked(ui, mark, color, |ui| {
        ui.add(Label::new(words).wrap().selectable(true));
    });
}
