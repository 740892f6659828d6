//! Pages of the manual.

use egui::text::LayoutJob;
use egui::{Frame, Grid, Label, Margin, RichText, Stroke, TextFormat, Ui};

use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::findings::{ManualBlock, ManualSpan};
use crate::gui::widgets::controls::{self, heading};

/// Lays the blocks of a page out; `name` is that of its rule or chapter.
pub(in crate::gui) fn show(ui: &mut Ui, name: &str, blocks: &[ManualBlock]) {
    for (place, block) in blocks.iter().enumerate() {
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
            ManualBlock::Table(rows) => table(ui, place, rows),
        }
    }
    ui.add_space(space::M);
    controls::weak(ui, format!("On the command line: cutaway explain {name}"));
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

/// All columns but the last as wide as they must be, up to a share of the room.
fn table(ui: &mut Ui, place: usize, rows: &[Vec<Vec<ManualSpan>>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1);
    let most = ui.available_width() / columns as f32 - space::M;
    let grid = Grid::new(("table", place)).num_columns(columns).max_col_width(most).striped(true);
    grid.spacing([space::M, space::XS]).show(ui, |ui| {
        for (row, cells) in rows.iter().enumerate() {
            for cell in cells {
                match (row, cell.as_slice()) {
                    (0, [head]) => {
                        ui.label(RichText::new(&head.text).font(text::strong()));
                    }
                    _ => paragraph(ui, "", cell),
                }
            }
            ui.end_row();
        }
    });
    ui.add_space(space::S);
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
