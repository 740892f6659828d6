//! The page of the manual about a rule.

use egui::text::LayoutJob;
use egui::{Frame, Label, Margin, RichText, Stroke, TextFormat, Ui};

use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::findings::{ManualBlock, ManualSpan};
use crate::gui::widgets::controls::{self, heading};

/// Lays the blocks of a page out.
pub(super) fn show(ui: &mut Ui, rule: &str, blocks: &[ManualBlock]) {
    for block in blocks {
        match block {
            ManualBlock::Heading(words) => {
                ui.add_space(space::M);
                heading(ui, words);
            }
            ManualBlock::Text(spans) => {
                paragraph(ui, "", spans);
                ui.add_space(space::XS);
            }
            ManualBlock::Point(spans) => paragraph(ui, "•  ", spans),
            ManualBlock::Code(lines) => code(ui, lines),
        }
    }
    ui.add_space(space::M);
    controls::weak(ui, format!("On the command line: cutaway explain {rule}"));
}

/// Words in a paragraph, those of files and shells in fixed width.
pub(super) fn paragraph(ui: &mut Ui, before: &str, spans: &[ManualSpan]) {
    let tokens = Tokens::of(ui);
    let mut job = LayoutJob::default();
    job.append(before, 0.0, TextFormat::simple(text::body(), tokens.text_weak));
    for span in spans {
        let font = if span.code { text::mono() } else { text::body() };
        job.append(&span.text, 0.0, TextFormat::simple(font, tokens.text));
    }
    ui.add(Label::new(job).wrap().selectable(true));
}

fn code(ui: &mut Ui, lines: &str) {
    let tokens = Tokens::of(ui);
    let frame = Frame::new().fill(tokens.raised).stroke(Stroke::new(1.0, tokens.border));
    frame.corner_radius(radius::S).inner_margin(Margin::symmetric(10, 6)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.add(Label::new(RichText::new(lines).font(text::mono())).wrap().selectable(true));
    });
    ui.add_space(space::XS);
}
