//! Paints a treemap and returns the cell under the pointer.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::emath::GuiRounding as _;
use egui::{Color32, Mesh, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::gui::design::{Tokens, text};
use crate::gui::models::treemap::{CellKind, Treemap, TreemapCell};
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

/// A map as it is painted: made once and painted until something changes.
pub struct Picture {
    origin: egui::Pos2,
    pixels_per_point: f32,
    fills: Arc<Mesh>,
    labels: Vec<Label>,
}

struct Label {
    rect: Rect,
    words: String,
    color: Color32,
    cut: Cut,
}

impl Picture {
    /// Paints `map` with its corner at `origin`. `look` is asked once for each cell.
    fn new(
        map: &Treemap,
        tokens: &Tokens,
        origin: egui::Pos2,
        pixels: f32,
        mut look: impl FnMut(&TreemapCell) -> CellLook,
    ) -> Self {
        let mut fills = Mesh::default();
        let mut labels = Vec::new();
        for cell in &map.cells {
            let rect = place(cell, origin).round_to_pixels(pixels);
            match cell.kind {
                CellKind::Folder(_) => {
                    fills.add_colored_rect(rect, tokens.border);
                    fills.add_colored_rect(rect.shrink(1.0), tokens.raised);
                    let head = Rect::from_min_size(rect.min, vec2(rect.width(), cell.head));
                    let rect = head.shrink2(vec2(4.0, 0.0));
                    labels.push(Label { rect, words: look(cell).name, color: tokens.text, cut: Cut::Middle });
                }
                CellKind::Whole(_) => {
                    let look = look(cell);
                    fills.add_colored_rect(rect, look.fill);
                    if rect.width() >= 64.0 && rect.height() >= 16.0 {
                        let line = Rect::from_min_size(rect.min, vec2(rect.width(), 16.0));
                        let rect = line.shrink2(vec2(4.0, 0.0));
                        let color = tokens.text_on(look.fill);
                        labels.push(Label { rect, words: look.name, color, cut: Cut::Middle });
                    }
                }
                CellKind::Rest(_, count) => {
                    fills.add_colored_rect(rect, tokens.border);
                    if rect.width() >= 64.0 && rect.height() >= 16.0 {
                        let words = format!("{count} smaller");
                        let rect =
                            Rect::from_min_size(rect.min, vec2(rect.width(), 16.0)).shrink2(vec2(4.0, 0.0));
                        labels.push(Label { rect, words, color: tokens.text_weak, cut: Cut::End });
                    }
                }
            }
        }
        Self { origin, pixels_per_point: pixels, fills: Arc::new(fills), labels }
    }
}

fn place(cell: &TreemapCell, origin: egui::Pos2) -> Rect {
    let area = cell.area;
    Rect::from_min_size(pos2(origin.x + area.x, origin.y + area.y), vec2(area.width, area.height))
}

/// Shows `map` in the room that is left. `picture` is kept by the caller, who empties it when what `look`
/// says changes. Of `selected`, which goes from a path up to the root, the first that has a cell is marked.
pub fn treemap(
    ui: &mut Ui,
    name: &str,
    map: &Treemap,
    picture: &mut Option<Picture>,
    selected: &[PathId],
    look: impl FnMut(&TreemapCell) -> CellLook,
    mut hover: impl FnMut(&mut Ui, &TreemapCell),
) -> Option<TreemapEvent> {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, ui.is_enabled(), name));
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let pixels = ui.pixels_per_point();
    let current =
        |known: &Picture| known.origin == rect.min && known.pixels_per_point.to_bits() == pixels.to_bits();
    if !picture.as_ref().is_some_and(current) {
        *picture = Some(Picture::new(map, tokens, rect.min, pixels, look));
    }
    painter.rect_filled(rect, 0.0, tokens.panel);
    if let Some(picture) = picture {
        painter.add(Shape::mesh(Arc::clone(&picture.fills)));
        for label in &picture.labels {
            cell::left(&painter, label.rect, &label.words, &text::small(), label.color, label.cut);
        }
    }
    let pointed = response.hover_pos().and_then(|at| map.at(at.x - rect.left(), at.y - rect.top())).copied();
    if let Some(cell) = &pointed {
        let stroke = Stroke::new(1.5, tokens.text);
        painter.rect_stroke(place(cell, rect.min), 1.0, stroke, StrokeKind::Inside);
    }
    let marked = selected.iter().find_map(|path| map.cells.iter().rev().find(|cell| is(cell, *path)));
    if let Some(cell) = marked {
        let place = place(cell, rect.min);
        painter.rect_stroke(place, 1.0, Stroke::new(3.0, tokens.background), StrokeKind::Outside);
        painter.rect_stroke(place, 1.0, Stroke::new(2.0, tokens.accent), StrokeKind::Inside);
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

fn is(cell: &TreemapCell, path: PathId) -> bool {
    !matches!(cell.kind, CellKind::Rest(..)) && (cell.path() == path || cell.top == path)
}
