//! A pane beside what a view shows, or above or below it where the view is narrow, with a divider that moves.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use egui::accesskit::{Action, Orientation, Role};
use egui::{
    Context, CursorIcon, Frame, Id, Key, Margin, Panel, Rangef, Rect, Response, Sense, Stroke, Ui, Vec2,
    WidgetInfo,
};

use super::list;
use super::pane::height_in_sight;
use crate::gui::design::Tokens;

/// Between a pane and the rest: the place of the divider.
const GAP: i8 = 8;
/// How far a key moves the divider.
const STEP: f32 = 16.0;

/// Height that the rest of a view keeps above or below a pane, where it is a list and little more.
pub const LIST_REST: f32 = 150.0;
/// A pane with less room than this is folded into a line.
const LEAST_PANE: f32 = 72.0;
/// The height of that line, with the gap beside it.
pub const LINE: f32 = 28.0;
/// The gap between that line and the rest.
const LINE_GAP: i8 = 4;

/// The size of a pane with its gap, and its least and largest, for a view of this size.
pub type PaneSize = fn(f32) -> (f32, RangeInclusive<f32>);

/// The sizes that users gave to panes, by name: beside the rest, and above or below it.
pub type PaneSizes = BTreeMap<String, [Option<f32>; 2]>;

/// A pane and its divider.
pub struct Split {
    /// The name of the pane, which its size is remembered by.
    pub name: &'static str,
    /// From this width of the view on, the pane is beside the rest.
    pub wide: f32,
    /// Whether it comes first: at the left, or above.
    pub first: bool,
    /// Its width beside the rest.
    pub beside: PaneSize,
    /// Its height above or below the rest.
    pub stacked: PaneSize,
    /// The height that the rest keeps then; with less room the pane is folded into a line.
    pub rest: f32,
}

impl Split {
    /// Whether there is room for the pane beside the rest.
    pub fn is_wide(&self, ui: &Ui) -> bool {
        ui.available_width() >= self.wide
    }

    /// Whether only a line is shown of the pane, in a view with so much in use above.
    pub fn is_folded(&self, ui: &Ui, above: f32) -> bool {
        self.folds(ui, above) && !self.is_unfolded(ui)
    }

    fn folds(&self, ui: &Ui, above: f32) -> bool {
        !self.is_wide(ui) && height_in_sight(ui) - above - self.rest < LEAST_PANE
    }

    fn is_unfolded(&self, ui: &Ui) -> bool {
        ui.data(|data| data.get_temp(self.unfolded())).unwrap_or_default()
    }

    fn unfolded(&self) -> Id {
        Id::unique((self.name, "unfolded"))
    }

    /// Shows the pane; the rest of the view is what room is left.
    pub fn show(&self, ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
        self.show_in(ui, ui.available_size(), add);
    }

    /// The same, in a view of this size that has other panes.
    pub fn show_in(&self, ui: &mut Ui, view: Vec2, add: impl FnOnce(&mut Ui)) {
        let axis = usize::from(view.x < self.wide);
        let room = ui.available_height() - self.rest;
        let in_sight = height_in_sight(ui) - self.rest;
        if axis == 1 && in_sight < LEAST_PANE && !self.unfolds(ui) {
            return;
        }
        let (size, range) = if axis == 0 { (self.beside)(view.x) } else { (self.stacked)(view.y) };
        let range = Rangef::new(*range.start(), range.end().max(*range.start()));
        let id = Id::unique((self.name, axis));
        let own = sizes(ui.ctx()).get(self.name).and_then(|sizes| sizes[axis]);
        // As high as at first: what opens above takes its room from the rest. As wide as the window asks for.
        let usual =
            if axis == 0 { size } else { ui.data_mut(|data| *data.get_temp_mut_or_insert_with(id, || size)) };
        let (panel, gap) = match (axis, self.first) {
            (0, true) => (Panel::left(id), Margin { right: GAP, ..Margin::ZERO }),
            (0, false) => (Panel::right(id), Margin { left: GAP, ..Margin::ZERO }),
            (_, true) => (Panel::top(id), Margin { bottom: GAP, ..Margin::ZERO }),
            (_, false) => (Panel::bottom(id), Margin { top: GAP, ..Margin::ZERO }),
        };
        let panel = panel.frame(Frame::new().inner_margin(gap)).show_separator_line(false).resizable(false);
        let size = range.clamp(own.unwrap_or(usual));
        let size = if axis == 0 { size } else { size.min(room.max(LEAST_PANE)) };
        let shown = panel.exact_size(size).show(ui, add);
        self.divider(ui, id, axis, shown.response.rect, range);
    }

    /// In a view with room for one pane only, a line in the place of this one; whether it is unfolded.
    fn unfolds(&self, ui: &mut Ui) -> bool {
        let id = self.unfolded();
        let mut open = self.is_unfolded(ui);
        let (line, gap) = if self.first {
            (Panel::top(id), Margin { bottom: LINE_GAP, ..Margin::ZERO })
        } else {
            (Panel::bottom(id), Margin { top: LINE_GAP, ..Margin::ZERO })
        };
        let line = line.frame(Frame::new().inner_margin(gap)).show_separator_line(false).resizable(false);
        line.exact_size(LINE).show(ui, |ui| {
            let words = format!("{} {}", if open { "Hide" } else { "Show" }, self.name);
            if ui.button(words).clicked() {
                open = !open;
                ui.data_mut(|data| data.insert_temp(id, open));
                ui.ctx().request_repaint();
            }
        });
        open
    }

    /// The divider in the gap: it follows the pointer and the keys of its axis.
    fn divider(&self, ui: &Ui, id: Id, axis: usize, pane: Rect, range: Rangef) {
        let mut place = pane;
        if self.first {
            place.min[axis] = pane.max[axis] - f32::from(GAP);
        } else {
            place.max[axis] = pane.min[axis] + f32::from(GAP);
        }
        let size = pane.size()[axis];
        let response = ui.interact(place, id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo {
            value: Some(size.into()),
            ..WidgetInfo::labeled(Role::Splitter, true, format!("Resize {}", self.name))
        });
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_orientation(if axis == 0 { Orientation::Vertical } else { Orientation::Horizontal });
            node.set_min_numeric_value(range.min.into());
            node.set_max_numeric_value(range.max.into());
            node.add_action(Action::Increment);
            node.add_action(Action::Decrement);
        });
        // A double click gives the size back that the pane has by itself.
        if response.double_clicked() {
            ui.data_mut(|data| data.remove::<f32>(id));
            remember(ui, self.name, axis, None);
        } else if let Some(to) = self.moved(ui, &response, axis, pane, range) {
            remember(ui, self.name, axis, Some(range.clamp(to)));
        }
        let under_pointer = response.hovered() || response.dragged();
        if under_pointer {
            ui.set_cursor_icon([CursorIcon::ResizeHorizontal, CursorIcon::ResizeVertical][axis]);
        }
        if under_pointer || response.has_focus() {
            let stroke = Stroke::new(2.0, Tokens::of(ui).accent);
            if axis == 0 {
                ui.painter().vline(place.center().x, place.y_range(), stroke);
            } else {
                ui.painter().hline(place.x_range(), place.center().y, stroke);
            }
        }
    }

    /// The size that the user asks for, by pointer, keys, or a screen reader.
    fn moved(&self, ui: &Ui, divider: &Response, axis: usize, pane: Rect, range: Rangef) -> Option<f32> {
        if let Some(pointer) = divider.interact_pointer_pos().filter(|_| divider.dragged()) {
            let edge =
                if self.first { pointer[axis] - pane.min[axis] } else { pane.max[axis] - pointer[axis] };
            return Some(edge + f32::from(GAP) / 2.0);
        }
        let asked = |action| ui.input(|input| input.num_accesskit_action_requests(divider.id, action)) as f32;
        let mut steps = asked(Action::Increment) - asked(Action::Decrement);
        let outward = if self.first { 1.0 } else { -1.0 };
        let keys = if divider.has_focus() { list::keys(ui, divider.id) } else { Vec::new() };
        for (key, _) in keys {
            match (key, axis) {
                (Key::ArrowRight | Key::L, 0) | (Key::ArrowDown | Key::J, 1) => steps += outward,
                (Key::ArrowLeft | Key::H, 0) | (Key::ArrowUp | Key::K, 1) => steps -= outward,
                (Key::Home, _) => return Some(range.min),
                (Key::End, _) => return Some(range.max),
                (Key::Escape, _) => divider.surrender_focus(),
                _ => {}
            }
        }
        (steps != 0.0).then(|| pane.size()[axis] + steps * STEP)
    }
}

const REMEMBERED: &str = "sizes of panes";

fn sizes(context: &Context) -> Arc<PaneSizes> {
    context.data(|data| data.get_temp(Id::unique(REMEMBERED))).unwrap_or_default()
}

fn remember(ui: &Ui, name: &str, axis: usize, size: Option<f32>) {
    let mut sizes = sizes(ui.ctx());
    Arc::make_mut(&mut sizes).entry(name.to_owned()).or_default()[axis] = size;
    ui.data_mut(|data| data.insert_temp(Id::unique(REMEMBERED), sizes));
    ui.ctx().request_repaint();
}

/// The sizes of panes, to be remembered.
pub fn pane_sizes(context: &Context) -> PaneSizes {
    PaneSizes::clone(&sizes(context))
}

/// Takes the sizes of panes that were remembered.
pub fn set_pane_sizes(context: &Context, sizes: &PaneSizes) {
    let usable = |size: &Option<f32>| size.is_none_or(f32::is_finite);
    let sizes: PaneSizes =
        sizes.iter().filter(|(_, of)| of.iter().all(usable)).map(|(name, of)| (name.clone(), *of)).collect();
    context.data_mut(|data| data.insert_temp(Id::unique(REMEMBERED), Arc::new(sizes)));
}
