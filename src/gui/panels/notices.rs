//! Notices above a view, which never move what is below the pointer.

use egui::{Align2, Area, Frame, Id, Order, Pos2, Rect, Stroke, Ui, UiBuilder};

use super::changed;
use super::problem::{self, fault_lines};
use crate::gui::app::Tab;
use crate::gui::design::{Tokens, radius};
use crate::gui::views::{Action, View};

/// Where the notices of a tab are. Their place above the view grows or shrinks only while the pointer is elsewhere, or
/// when another view comes to the front; until then a new notice floats above the edge that is away from the pointer.
#[derive(Default)]
pub(crate) struct NoticePlace {
    /// How many have a place above the view.
    placed: usize,
    /// The height of that place.
    height: f32,
    /// The edge at which the others float.
    edge: Option<Edge>,
    view: Option<View>,
}

#[derive(Clone, Copy, PartialEq)]
enum Edge {
    Top,
    Bottom,
}

/// Height of a notice that floats, about: whether the pointer is near.
const NEAR: f32 = 96.0;

/// Shows all notices about the image in front.
pub(crate) fn notices(ui: &mut Ui, tab: &mut Tab, actions: &mut Vec<Action>) {
    let area = ui.available_rect_before_wrap();
    let mut place = std::mem::take(&mut tab.notices);
    let count = fault_lines(tab) + usize::from(tab.file.changed);
    let pointer = ui.input(|input| input.pointer.hover_pos()).filter(|at| area.contains(*at));
    let fresh = place.view.replace(tab.view) != Some(tab.view);
    if pointer.is_none() || fresh {
        (place.placed, place.edge) = (count, None);
    }
    if place.placed == count {
        place.edge = None;
        let top = ui.next_widget_position().y;
        show(ui, tab, 0..count, actions);
        place.height = ui.next_widget_position().y - top;
    } else {
        // The place stays as large as it was.
        let rect = Rect::from_min_size(area.min, egui::vec2(area.width(), place.height));
        let mut above = ui.new_child(UiBuilder::new().max_rect(rect));
        show(&mut above, tab, 0..count.min(place.placed), actions);
        ui.add_space(place.height);
        if count > place.placed {
            let edge = *place.edge.get_or_insert_with(|| edge_away(area, pointer));
            float(ui, tab, (area, edge), place.placed..count, actions);
        }
    }
    tab.notices = place;
}

/// The edge of `area` that is away from the pointer.
fn edge_away(area: Rect, pointer: Option<Pos2>) -> Edge {
    if pointer.is_some_and(|at| at.y > area.bottom() - NEAR) { Edge::Top } else { Edge::Bottom }
}

/// Shows notices in front of the view.
fn float(
    ui: &Ui,
    tab: &Tab,
    (area, edge): (Rect, Edge),
    range: std::ops::Range<usize>,
    actions: &mut Vec<Action>,
) {
    let tokens = Tokens::of(ui);
    let (pivot, at) = match edge {
        Edge::Top => (Align2::CENTER_TOP, area.center_top() + egui::vec2(0.0, 8.0)),
        Edge::Bottom => (Align2::CENTER_BOTTOM, area.center_bottom() - egui::vec2(0.0, 8.0)),
    };
    Area::new(Id::unique("notices").with(tab.id)).order(Order::Middle).pivot(pivot).fixed_pos(at).show(
        ui.ctx(),
        |ui| {
            let frame = Frame::new().fill(tokens.panel).corner_radius(radius::M);
            frame.stroke(Stroke::new(1.0, tokens.border)).show(ui, |ui| {
                ui.set_width(area.width() - 32.0);
                show(ui, tab, range, actions);
            });
        },
    );
}

/// Some of the notices, in the order in which they usually come up.
fn show(ui: &mut Ui, tab: &Tab, range: std::ops::Range<usize>, actions: &mut Vec<Action>) {
    let faults = fault_lines(tab);
    problem::banner(ui, tab, range.start.min(faults)..range.end.min(faults), actions);
    if range.contains(&faults) {
        changed(ui, tab, actions);
    }
}
