//! The largest savings, each a link to its finding.

use egui::accesskit::Role;
use egui::{Rect, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{section, tables};
use crate::base::convert::fraction;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::findings::{SavingItem, Savings};
use crate::gui::views::{Action, View, findings};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls;

const SIZE: f32 = 84.0;
/// The mark of a verdict, and the most that its column takes with it.
const MARK: f32 = 18.0;
const VERDICT: f32 = 148.0;

/// Shows the savings, or why there are none yet.
/// `done`: nothing more will come; `incomplete`: part of the image was not read.
pub(super) fn show(
    ui: &mut Ui,
    savings: Option<&Savings>,
    (done, incomplete): (bool, bool),
    actions: &mut Vec<Action>,
) {
    section(ui, "Largest savings", "bytes saved in layers");
    let Some(savings) = savings else {
        let words =
            if done { "Unknown: the analysis stopped before this step" } else { "Waiting for findings" };
        tables::nothing(ui, words);
        return;
    };
    if savings.items.is_empty() {
        let words = if incomplete {
            "No removable content found in the part that was read."
        } else {
            "No removable content found."
        };
        tables::nothing(ui, words);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let whole = savings.items.first().map_or(0, |item| item.bytes);
    // No wider than the verdicts that are there: titles need the room.
    let widths = savings.items.iter().map(|item| {
        let label = item.label().to_owned();
        ui.painter().layout_no_wrap(label, text::body(), Tokens::of(ui).text_weak).size().x
    });
    let verdict = (MARK + widths.fold(0.0, f32::max) + 2.0).min(VERDICT);
    for item in &savings.items {
        if line(ui, item, whole, verdict) {
            actions.push(Action::SelectFinding(item.id.clone()));
        }
    }
    ui.spacing_mut().item_spacing.y = space::XS;
    if savings.findings > 0 {
        ui.add_space(space::XS);
        let all = match savings.findings {
            1 => "1 finding".to_owned(),
            findings if findings == savings.choosable => format!("All {}", counted(findings, "finding")),
            findings => {
                let choosable = grouped(savings.choosable as u64);
                format!("All {} ({choosable} selectable)", counted(findings, "finding"))
            }
        };
        if ui.link(all).clicked() {
            actions.push(Action::ShowView(View::Findings));
        }
    }
}

fn line(ui: &mut Ui, item: &SavingItem, whole: u64, verdict_width: f32) -> bool {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Link, true, item.spoken()));
    if !ui.is_rect_visible(rect) {
        return response.clicked();
    }
    let painter = ui.painter();
    if response.hovered() {
        painter.rect_filled(rect, radius::S, tokens.hovered);
    }
    let size = Rect::from_x_y_ranges(rect.left() + 8.0..=rect.left() + SIZE, rect.y_range());
    let bar = size.expand2(vec2(4.0, -4.0));
    let filled = (bar.width() * fraction(item.bytes, whole)).max(1.0);
    painter.rect_filled(
        Rect::from_min_size(bar.min, vec2(filled, bar.height())),
        2.0,
        tokens.wash(tokens.accent),
    );
    cell::right(painter, size, &human(item.bytes), &text::body(), tokens.text);
    let (mark, color) = findings::sign(tokens, item.verdict);
    let left = size.right() + space::L;
    controls::paint_mark(painter, mark, pos2(left + 6.0, rect.center().y), 12.0, color);
    let verdict = Rect::from_x_y_ranges(left + MARK..=left + verdict_width, rect.y_range());
    cell::left(painter, verdict, item.label(), &text::body(), tokens.text_weak, Cut::End);
    let title = Rect::from_x_y_ranges(verdict.right() + space::M..=rect.right() - 8.0, rect.y_range());
    let color = if response.hovered() { tokens.accent } else { tokens.text };
    cell::left(painter, title, &item.title, &text::body(), color, Cut::Prose);
    controls::paint_focus(ui, &response, radius::S);
    response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}
