//! How rows and heads of lists look.

use egui::accesskit::Role;
use egui::{Align2, Color32, Painter, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{ListEvent, ListFrame};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::cell::{self, Direction};

/// How a row stands out.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each is one side of how the row looks")]
pub(in crate::gui::widgets) struct RowLook {
    pub(in crate::gui::widgets) selected: bool,
    /// Whether it is one of several that are chosen together.
    pub(in crate::gui::widgets) marked: bool,
    pub(in crate::gui::widgets) focused: bool,
    pub(in crate::gui::widgets) hovered: bool,
    pub(in crate::gui::widgets) odd: bool,
}

impl RowLook {
    /// What is behind the row.
    pub(in crate::gui::widgets) fn fill(self, tokens: &Tokens) -> Color32 {
        match self {
            Self { selected: true, .. } | Self { marked: true, .. } => tokens.selection,
            Self { hovered: true, .. } => tokens.hovered,
            Self { odd: true, .. } => tokens.stripe,
            _ => tokens.background,
        }
    }

    /// The sign of the row that keys act on.
    pub(in crate::gui::widgets) fn paint_bar(self, painter: &Painter, tokens: &Tokens, rect: Rect) {
        if self.selected && self.focused {
            painter.rect_filled(Rect::from_min_size(rect.min, vec2(3.0, rect.height())), 0.0, tokens.accent);
        }
    }

    /// What is behind the row, and the sign.
    pub(in crate::gui::widgets) fn paint(self, painter: &Painter, tokens: &Tokens, rect: Rect) {
        if self.selected || self.marked || self.hovered || self.odd {
            painter.rect_filled(rect, 0.0, self.fill(tokens));
        }
        self.paint_bar(painter, tokens, rect);
    }
}

/// Around what has the focus of the keyboard.
pub(in crate::gui::widgets) fn focus_frame(ui: &Ui, rect: Rect) {
    let stroke = Stroke::new(1.5, Tokens::of(ui).accent);
    ui.painter().rect_stroke(rect, radius::S, stroke, StrokeKind::Inside);
}

/// What is behind heads, with a line below.
pub(in crate::gui::widgets) fn head_back(ui: &Ui, rect: Rect) {
    let tokens = Tokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, tokens.raised);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
}

/// The part of a bar that is filled, behind a number.
pub(in crate::gui::widgets) fn share_bar(painter: &Painter, tokens: &Tokens, bar: Rect, share: f32) {
    if share > 0.0 {
        let width = (bar.width() * share.clamp(0.0, 1.0)).max(1.0);
        let filled = Rect::from_min_size(bar.min, vec2(width, bar.height()));
        painter.rect_filled(filled, 2.0, tokens.wash(tokens.accent));
    }
}

/// The order of rows: the column, and whether the largest comes first.
pub type ListSort = (usize, bool);

/// The head of a column that may sort.
pub(in crate::gui::widgets) struct ListHead<'a> {
    pub(in crate::gui::widgets) title: &'a str,
    /// The place that is clicked.
    pub(in crate::gui::widgets) rect: Rect,
    /// Where its text begins, or ends where it is right-aligned.
    pub(in crate::gui::widgets) text: f32,
    pub(in crate::gui::widgets) number: bool,
}

impl ListFrame {
    /// Shows the head of a column; `None` for the order where heads do not sort.
    pub(in crate::gui::widgets) fn head(
        &mut self,
        ui: &Ui,
        index: usize,
        head: &ListHead<'_>,
        sort: Option<ListSort>,
    ) -> Response {
        let tokens = Tokens::of(ui);
        let sense = if sort.is_some() { Sense::click() } else { Sense::hover() };
        let response = ui.interact(head.rect, self.id.with(("head", index)), sense);
        let sorted = sort.filter(|sort| sort.0 == index).map(|sort| sort.1);
        response.widget_info(|| {
            let order = match sorted {
                Some(true) => ", largest first",
                Some(false) => ", smallest first",
                None => "",
            };
            let words = match sort {
                Some(_) => format!("Sort by {}{order}", head.title.to_lowercase()),
                None => head.title.to_owned(),
            };
            WidgetInfo::labeled(Role::ColumnHeader, true, words)
        });
        let lit = response.hovered() && sort.is_some() || sorted.is_some();
        let color = if lit { tokens.text } else { tokens.text_weak };
        let align = if head.number { Align2::RIGHT_CENTER } else { Align2::LEFT_CENTER };
        let middle = head.rect.center().y;
        let written = ui.painter().text(pos2(head.text, middle), align, head.title, text::small(), color);
        if let Some(descending) = sorted {
            let direction = if descending { Direction::Down } else { Direction::Up };
            let x = if head.number { written.left() - 9.0 } else { written.right() + 9.0 };
            cell::triangle(ui.painter(), pos2(x, middle), 7.0, direction, tokens.text);
        }
        if response.has_focus() {
            focus_frame(ui, head.rect);
        }
        if response.clicked() {
            self.output.events.push(ListEvent::Sort(index));
        }
        response
    }
}
