//! Paints a treemap and says what was pointed at.

use egui::accesskit::Role;
use egui::{Color32, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::gui::design::{Tokens, text};
use crate::gui::models::treemap::{Cell, CellKind, Treemap};
use crate::gui::widgets::cell::{self, Cut};
use crate::rootfs::PathId;

/// What a cell looks like.
pub struct CellLook {
    /// Its fill.
    pub fill: Color32,
    /// Its name, safe to show.
    pub name: String,
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreemapEvent {
    /// Chose a path.
    Select(PathId),
    /// Goes into a folder.
    Enter(PathId),
}

/// Shows `map` in the room that is left. `look` is asked for the cells that show a fill or a name.
pub fn treemap(
    ui: &mut Ui,
    name: &str,
    map: &Treemap,
    selected: Option<PathId>,
    mut look: impl FnMut(&Cell) -> CellLook,
    mut hover: impl FnMut(&mut Ui, &Cell),
) -> Option<TreemapEvent> {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, ui.is_enabled(), name));
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.rect_filled(rect, 0.0, tokens.panel);
    let place = |cell: &Cell| {
        let area = cell.area;
        Rect::from_min_size(pos2(rect.left() + area.x, rect.top() + area.y), vec2(area.width, area.height))
    };
    let pointed = response.hover_pos().and_then(|at| map.at(at.x - rect.left(), at.y - rect.top())).copied();
    for cell in &map.cells {
        paint(&painter, tokens, cell, place(cell), &mut look);
    }
    if let Some(cell) = &pointed {
        painter.rect_stroke(place(cell), 1.0, Stroke::new(1.5, tokens.text), StrokeKind::Inside);
    }
    if let Some(cell) = selected.and_then(|selected| map.cells.iter().rev().find(|cell| is(cell, selected))) {
        painter.rect_stroke(place(cell), 1.0, Stroke::new(3.0, tokens.background), StrokeKind::Outside);
        painter.rect_stroke(place(cell), 1.0, Stroke::new(2.0, tokens.accent), StrokeKind::Inside);
    }
    let mut event = None;
    if let Some(cell) = &pointed {
        if response.double_clicked() {
            event = Some(TreemapEvent::Enter(cell.path()));
        } else if response.clicked() {
            event = Some(TreemapEvent::Select(cell.path()));
        }
        response.on_hover_ui_at_pointer(|ui| hover(ui, cell));
    }
    event
}

fn is(cell: &Cell, path: PathId) -> bool {
    !matches!(cell.kind, CellKind::Rest(..)) && cell.path() == path
}

fn paint(
    painter: &egui::Painter,
    tokens: &Tokens,
    cell: &Cell,
    rect: Rect,
    look: &mut impl FnMut(&Cell) -> CellLook,
) {
    match cell.kind {
        CellKind::Folder(_) => {
            let look = look(cell);
            painter.rect_filled(rect, 1.0, tokens.raised);
            painter.rect_stroke(rect, 1.0, Stroke::new(1.0, tokens.border), StrokeKind::Inside);
            let head = Rect::from_min_size(rect.min, vec2(rect.width(), cell.head)).shrink2(vec2(4.0, 0.0));
            cell::left(painter, head, &look.name, &text::small(), tokens.text, Cut::Middle);
        }
        CellKind::Whole(_) => {
            let look = look(cell);
            painter.rect_filled(rect, 1.0, look.fill);
            if rect.width() >= 64.0 && rect.height() >= 16.0 {
                let line = Rect::from_min_size(rect.min, vec2(rect.width(), 16.0)).shrink2(vec2(4.0, 0.0));
                let color = tokens.text_on(look.fill);
                cell::left(painter, line, &look.name, &text::small(), color, Cut::Middle);
            }
        }
        CellKind::Rest(_, count) => {
            painter.rect_filled(rect, 1.0, tokens.border);
            if rect.width() >= 60.0 && rect.height() >= 16.0 {
                let words = format!("{count} smaller");
                cell::center(painter, rect.shrink(2.0), &words, &text::small(), tokens.text_weak);
            }
        }
    }
}
