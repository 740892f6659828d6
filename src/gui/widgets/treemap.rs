//! Paints a treemap and returns the cell under the pointer.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::emath::GuiRounding as _;
use egui::{Color32, Key, Mesh, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::gui::design::{Tokens, radius, text};
use crate::gui::models::treemap::{CellKind, Direction, Treemap, TreemapCell};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls;
use crate::gui::widgets::layer_chip::add_pattern;
use crate::gui::widgets::stops::{self, StopKind};
use crate::rootfs::PathId;

/// The name of a main treemap, for the keyboard.
pub const MAIN: &str = "Treemap";

/// What a cell looks like.
pub struct CellLook {
    /// Its fill.
    pub fill: Color32,
    /// Its pattern, see [`add_pattern`].
    pub pattern: u8,
    /// Its name, safe to show.
    pub name: String,
    /// Its size and group, for screen readers.
    pub value: String,
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreemapEvent {
    /// Chose a path.
    Select(PathId),
    /// Goes into a folder.
    Enter(PathId),
    /// Goes to the parent folder.
    Up,
    /// Asks for what can be done with a path.
    Menu(PathId),
}

/// A map as it is painted: made once and painted until something changes.
pub struct Picture {
    origin: egui::Pos2,
    pixels_per_point: f32,
    fills: Arc<Mesh>,
    labels: Vec<Label>,
    /// Name and value of each cell, for screen readers.
    spoken: Vec<(String, String)>,
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
        let (mut labels, mut spoken) = (Vec::new(), Vec::with_capacity(map.cells.len()));
        for cell in &map.cells {
            let rect = place(cell, origin).round_to_pixels(pixels);
            let look = look(cell);
            let name = match cell.kind {
                CellKind::Rest(_, count) => format!("{count} smaller in {}", look.name),
                CellKind::Whole(_) | CellKind::Folder(_) => look.name.clone(),
            };
            spoken.push((name, look.value.clone()));
            match cell.kind {
                CellKind::Folder(_) => {
                    fills.add_colored_rect(rect, tokens.border);
                    fills.add_colored_rect(rect.shrink(1.0), tokens.raised);
                    let head = Rect::from_min_size(rect.min, vec2(rect.width(), cell.head));
                    let rect = head.shrink2(vec2(4.0, 0.0));
                    labels.push(Label { rect, words: look.name, color: tokens.text, cut: Cut::Middle });
                }
                CellKind::Whole(_) => {
                    fills.add_colored_rect(rect, look.fill);
                    let labelled = rect.width() >= 64.0 && rect.height() >= 16.0;
                    // Lines through letters make them hard to read.
                    let below = if labelled && rect.height() >= 26.0 { 16.0 } else { 0.0 };
                    let area = rect.with_min_y(rect.top() + below);
                    add_pattern(&mut fills, area, look.pattern, tokens.pattern_on(look.fill));
                    if labelled {
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
        Self { origin, pixels_per_point: pixels, fills: Arc::new(fills), labels, spoken }
    }
}

/// A sample of a fill with its pattern, for a legend.
pub fn swatch(ui: &Ui, rect: Rect, fill: Color32, pattern: u8) {
    let mut mesh = Mesh::default();
    mesh.add_colored_rect(rect, fill);
    add_pattern(&mut mesh, rect, pattern, Tokens::of(ui).pattern_on(fill));
    ui.painter().add(Shape::mesh(mesh));
}

fn place(cell: &TreemapCell, origin: egui::Pos2) -> Rect {
    let area = cell.area;
    Rect::from_min_size(pos2(origin.x + area.x, origin.y + area.y), vec2(area.width, area.height))
}

/// Shows `map` in the room that is left; `main` for the map that the keyboard goes to when a view opens. `picture` is kept by the caller, who empties it when what `look`
/// says changes. Of `selected`, which goes from a path up to the root, the first that has a cell is marked.
#[expect(clippy::too_many_arguments, reason = "each is another part of the picture")]
pub fn treemap(
    ui: &mut Ui,
    name: &str,
    map: &Treemap,
    picture: &mut Option<Picture>,
    selected: &[PathId],
    main: bool,
    look: impl FnMut(&TreemapCell) -> CellLook,
    mut hover: impl FnMut(&mut Ui, &TreemapCell),
) -> Option<TreemapEvent> {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
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
    controls::paint_focus(ui, &response, radius::S);
    if main {
        stops::stop(ui, StopKind::List, MAIN, &response);
    }
    let mut event = keys(ui, &response, map, marked);
    if let Some(picture) = picture {
        event = event.or(spoken(ui, response.id, map, picture, marked));
    }
    if response.clicked() {
        response.request_focus();
    }
    if let Some(cell) = &pointed {
        if response.double_clicked() {
            event = Some(TreemapEvent::Enter(cell.path()));
        } else if response.clicked() {
            event = Some(TreemapEvent::Select(cell.path()));
        } else if response.secondary_clicked() {
            event = Some(TreemapEvent::Menu(cell.path()));
        }
        response.on_hover_ui_at_pointer(|ui| hover(ui, cell));
    }
    event
}

/// Arrows go to the next cell, Enter into a folder, Backspace out of it.
fn keys(
    ui: &Ui,
    response: &egui::Response,
    map: &Treemap,
    marked: Option<&TreemapCell>,
) -> Option<TreemapEvent> {
    if !response.has_focus() {
        return None;
    }
    let filter = egui::EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key) && input.modifiers.is_none());
    if pressed(Key::Backspace) {
        return Some(TreemapEvent::Up);
    }
    if let Some(cell) = marked.filter(|_| pressed(Key::Enter)) {
        return Some(TreemapEvent::Enter(cell.path()));
    }
    let steps = [
        (Key::ArrowLeft, Direction::Left),
        (Key::ArrowRight, Direction::Right),
        (Key::ArrowUp, Direction::Up),
        (Key::ArrowDown, Direction::Down),
    ];
    let (_, direction) = steps.into_iter().find(|(key, _)| pressed(*key))?;
    let next = map.next(marked.map(|cell| cell.area), direction)?;
    Some(TreemapEvent::Select(next.path()))
}

/// A node for each cell, as far as a screen reader is there; what it asks for.
fn spoken(
    ui: &Ui,
    id: egui::Id,
    map: &Treemap,
    picture: &Picture,
    marked: Option<&TreemapCell>,
) -> Option<TreemapEvent> {
    let mut event = None;
    for (place_of, (cell, (name, value))) in map.cells.iter().zip(&picture.spoken).enumerate() {
        let id = id.with(place_of);
        let rect = place(cell, picture.origin);
        let chosen = marked.is_some_and(|marked| marked == cell);
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_role(Role::GraphicsObject);
            node.set_label(name.as_str());
            node.set_value(value.as_str());
            node.set_selected(chosen);
            node.set_bounds(egui::accesskit::Rect {
                x0: rect.left().into(),
                y0: rect.top().into(),
                x1: rect.right().into(),
                y1: rect.bottom().into(),
            });
            node.add_action(egui::accesskit::Action::Click);
        })?;
        let asked =
            |input: &egui::InputState| input.has_accesskit_action_request(id, egui::accesskit::Action::Click);
        if ui.input(asked) {
            event = Some(TreemapEvent::Select(cell.path()));
        }
    }
    event
}

fn is(cell: &TreemapCell, path: PathId) -> bool {
    !matches!(cell.kind, CellKind::Rest(..)) && (cell.path() == path || cell.top == path)
}
