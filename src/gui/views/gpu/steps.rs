//! The steps of a check as a list.

use egui::accesskit::Role;
use egui::{Rect, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::gui::design::{Tokens, row, text};
use crate::gui::models::gpu::{StepLine, StepState, words};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{Mark, paint_mark};

const SIGN: f32 = 22.0;
const WORD: f32 = 54.0;
const TIME: f32 = 58.0;
/// With this much room a detail is cut rather than left out.
const ENOUGH: f32 = 110.0;

pub(super) fn show(ui: &mut Ui, lines: &[StepLine]) {
    ui.spacing_mut().item_spacing.y = 0.0;
    // Titles of one GPU are short; with its number before them they need more.
    let title = lines.iter().map(|line| line.title.chars().count()).max().unwrap_or(0);
    let title = (title as f32 * 6.8).clamp(96.0, 170.0);
    for line in lines {
        show_line(ui, line, title);
    }
    ui.spacing_mut().item_spacing.y = 4.0;
}

fn show_line(ui: &mut Ui, line: &StepLine, title: f32) {
    let tokens = Tokens::of(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), row::DENSE + 2.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, line.spoken()));
    if !ui.is_rect_visible(rect) {
        return;
    }
    let painter = ui.painter();
    let (color, weak) = match line.state {
        StepState::Passed => (tokens.success, tokens.text_weak),
        StepState::Failed => (tokens.error, tokens.error),
        StepState::Running => (tokens.accent, tokens.accent),
        StepState::Waiting => (tokens.text_disabled, tokens.text_disabled),
    };
    let center = pos2(rect.left() + 7.0, rect.center().y);
    match line.state {
        StepState::Passed => paint_mark(painter, Mark::Tick, center, 9.0, color),
        StepState::Failed => paint_mark(painter, Mark::Error, center, 13.0, color),
        StepState::Running => {
            painter.circle_stroke(center, 5.5, Stroke::new(1.5, color));
            painter.circle_filled(center, 2.5, color);
        }
        StepState::Waiting => {
            painter.circle_stroke(center, 4.0, Stroke::new(1.0, color));
        }
    }
    let at = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to, rect.y_range());
    let text_color = match line.state {
        StepState::Waiting => tokens.text_disabled,
        StepState::Failed => tokens.error,
        StepState::Passed | StepState::Running => tokens.text,
    };
    let titled = at(rect.left() + SIGN, rect.left() + SIGN + title);
    cell::left(painter, titled, &line.title, &text::body(), text_color, Cut::End);
    let timed = at(rect.right() - TIME, rect.right());
    if let Some(us) = line.us {
        cell::right(painter, timed, &words::time(us), &text::body(), tokens.text);
    }
    let word = at(timed.left() - WORD, timed.left() - 4.0);
    cell::right(painter, word, line.state.word(), &text::small(), weak);
    let detail = at(titled.right() + 8.0, word.left() - 4.0);
    // A few letters of a path are useless; the tooltip has all of it.
    let galley = painter.layout_no_wrap(line.detail.clone(), text::small(), tokens.text_weak);
    if galley.size().x <= detail.width() || detail.width() >= ENOUGH {
        cell::left(painter, detail, &line.detail, &text::small(), tokens.text_weak, Cut::Middle);
    }
    if !line.detail.is_empty() {
        response.on_hover_text(&line.detail);
    }
}
