//! The core of every list: virtual rows of one height, one of them chosen; focus, keyboard, scrolling, and rows for
//! screen readers. Table, tree, matrices, sides and the list of layers say what a row is and paint it.
//!
//! It is our own rather than `egui_table` or `egui_extras`, because lists here have a million rows, one focus for
//! the whole list with an active row for screen readers, arrows and vim keys, and rows that fold: neither crate has
//! the last three, so that all of this file would remain beside them.

mod keys;
mod look;

use egui::accesskit::Role;
use egui::{Id, Rangef, Rect, Response, ScrollArea, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use self::keys::folded;
pub(super) use self::keys::keys;
pub use self::look::ListSort;
pub(super) use self::look::{ListHead, RowLook, focus_frame, head_back, share_bar};
use super::stops::{self, StopKind};

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEvent {
    /// Chose a row.
    Select(usize),
    /// Shows what belongs to a row.
    Open(usize),
    /// Hides what belongs to a row.
    Close(usize),
    /// Goes to the row that this one belongs to.
    Parent(usize),
    /// Clicked the head of a column.
    Sort(usize),
    /// Enter on a row, or a double click.
    Activate(usize),
    /// Clicked the box of a row, or pressed Space on it.
    Toggle(usize),
    /// Adds a row to those that are chosen together, or takes it from them.
    Mark(usize),
    /// Chooses all rows from the one where that began to this one.
    Extend(usize),
    /// N: to the next change, or with Shift the one before.
    Step(bool),
    /// Escape.
    Clear,
}

/// The result of a frame.
#[derive(Debug, Default)]
pub struct ListOutput {
    /// What has the focus of the keyboard when the list has it.
    pub id: Option<Id>,
    /// What the user did, in order.
    pub events: Vec<ListEvent>,
    /// How many rows were made and painted.
    pub painted: usize,
    /// Whether the keyboard acts on the list.
    pub focused: bool,
    /// The row below the pointer, to hang a tooltip on.
    pub hovered: Option<(usize, Response)>,
}

/// What keys do apart from moving the choice.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ListKeys {
    /// Arrows open and close rows; Escape leaves the list.
    Tree,
    /// The same, with several rows chosen together: with Shift or Ctrl, and Space on a row that does not fold.
    Several,
    /// Arrows open and close rows, with Shift they scroll sideways by so much.
    Table(f32),
    /// Arrows scroll sideways by so much.
    Sideways(f32),
}

/// A list.
pub(super) struct List<'a> {
    pub(super) salt: &'a str,
    /// Its name for screen readers.
    pub(super) name: &'a str,
    /// What it is, and what its rows are.
    pub(super) roles: (Role, Role),
    /// The height of what is above the rows and stays there.
    pub(super) head: f32,
    pub(super) rows: usize,
    pub(super) row_height: f32,
    /// The width of a row, where it is more than the room and scrolls.
    pub(super) width: Option<f32>,
    /// The chosen row.
    pub(super) selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub(super) reveal: bool,
    /// Whether to bring it to the middle then, even if it is in sight.
    pub(super) middle: bool,
    pub(super) keys: ListKeys,
}

/// What the list must know of a row.
#[derive(Default)]
pub(super) struct ListNode {
    /// Tells the row from all others, whatever is folded.
    pub(super) key: u64,
    /// Its depth, where screen readers are told.
    pub(super) level: Option<usize>,
    /// Whether what belongs to it is shown; `None` for a row that does not fold.
    pub(super) fold: Option<bool>,
    /// Whether its box is ticked; `None` for a row without one.
    pub(super) ticked: Option<bool>,
    /// Whether it is one of several that are chosen together.
    pub(super) marked: bool,
    /// Where the sign that folds it ends, from the left.
    pub(super) arrow: f32,
}

/// Where a row is, and how it stands out.
pub(super) struct ListPlace {
    pub(super) index: usize,
    pub(super) id: Id,
    /// The part in sight.
    pub(super) rect: Rect,
    /// How far all rows are scrolled sideways.
    pub(super) sideways: f32,
    pub(super) look: RowLook,
}

/// A list that has its place, but no rows yet: heads come between the two.
pub(super) struct ListFrame {
    pub(super) id: Id,
    pub(super) whole: Rect,
    /// Above the rows.
    pub(super) head: Rect,
    /// The rows.
    pub(super) body: Rect,
    /// How far it is scrolled sideways; known when the rows are painted, and before them where it begins.
    pub(super) sideways: f32,
    pub(super) output: ListOutput,
}

impl List<'_> {
    /// Takes the room that is left. The list is one thing that has the focus; the rows are its parts.
    pub(super) fn begin(&self, ui: &Ui) -> ListFrame {
        let id = ui.make_persistent_id(self.salt);
        let whole = ui.available_rect_before_wrap();
        let head = Rect::from_min_size(whole.min, vec2(whole.width(), self.head));
        let body = Rect::from_min_max(pos2(whole.left(), head.bottom()), whole.max);
        let all = ui.interact(body, id, Sense::click());
        all.widget_info(|| WidgetInfo::labeled(self.roles.0, ui.is_enabled(), self.name));
        if all.clicked() {
            all.request_focus();
        }
        if self.keys == ListKeys::Several {
            ui.ctx().accesskit_node_builder(id, egui::accesskit::Node::set_multiselectable);
        }
        stops::stop(ui, StopKind::List, self.name, &all);
        stops::leave(ui, &all);
        let output = ListOutput { id: Some(id), focused: all.has_focus(), ..ListOutput::default() };
        ListFrame { id, whole, head, body, sideways: 0.0, output }
    }

    /// Shows the rows in sight. `row_at` makes a row, for those and the one that keys act on; `spoken` returns its
    /// screen reader text.
    pub(super) fn show<R>(
        &self,
        ui: &mut Ui,
        frame: &mut ListFrame,
        mut row_at: impl FnMut(usize) -> R,
        node: impl Fn(usize, &R) -> ListNode,
        spoken: impl Fn(usize, &R) -> String,
        mut paint: impl FnMut(&Ui, &ListPlace, &R),
    ) {
        let (id, body) = (frame.id, frame.body);
        let output = &mut frame.output;
        let known: Option<Vec2> = ui.data(|data| data.get_temp(id));
        let before = known.unwrap_or_default();
        let mut area = ScrollArea::new([self.width.is_some(), true]).id_salt("rows").auto_shrink(false);
        if known.is_none() && frame.sideways > 0.0 {
            let most = (self.width.unwrap_or(0.0) - body.width()).max(0.0);
            area = area.horizontal_scroll_offset(frame.sideways.min(most));
        }
        let mut reveal = self.selected.filter(|_| self.reveal);
        if output.focused {
            if stops::has_found(ui.ctx(), id) {
                output.events.extend(self.first_found(|index| node(index, &row_at(index)).fold.is_none()));
            }
            let across = self.take_keys(ui, id, body.height(), output, |index| node(index, &row_at(index)));
            if across != 0.0 {
                let most = (self.width.unwrap_or(0.0) - body.width()).max(0.0);
                area = area.horizontal_scroll_offset((before.x + across).clamp(0.0, most));
            }
            let moved = output.events.iter().rev().find_map(|event| match event {
                ListEvent::Select(row) | ListEvent::Extend(row) => Some(*row),
                _ => None,
            });
            reveal = moved.or(reveal);
        }
        let asked = self.reveal && reveal == self.selected;
        if let Some(offset) = reveal.and_then(|row| self.offset_for(before.y, row, body.height(), asked)) {
            area = area.vertical_scroll_offset(offset);
        }
        let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(self.salt));
        inner.spacing_mut().item_spacing = Vec2::ZERO;
        let scrolled = area.show_viewport(&mut inner, |ui, viewport| {
            if let Some(width) = self.width {
                ui.set_width(width);
            }
            ui.set_height(self.rows as f32 * self.row_height);
            let origin = ui.max_rect().min;
            frame.sideways = viewport.left();
            let mut active = None;
            for index in visible(viewport.y_range(), self.row_height, self.rows) {
                let row = row_at(index);
                output.painted += 1;
                let at = pos2(origin.x + viewport.left(), origin.y + index as f32 * self.row_height);
                let rect = Rect::from_min_size(at, vec2(viewport.width(), self.row_height));
                let node = node(index, &row);
                let row_id = id.with(node.key);
                let response = ui.interact(rect, row_id, Sense::CLICK);
                let selected = self.selected == Some(index);
                self.speak(ui, &response, &node, selected, || spoken(index, &row));
                if selected {
                    active = Some(row_id);
                }
                let (focused, hovered) = (output.focused, response.hovered());
                let look = RowLook { selected, marked: node.marked, focused, hovered, odd: index % 2 == 1 };
                paint(ui, &ListPlace { index, id: row_id, rect, sideways: viewport.left(), look }, &row);
                if response.clicked() || response.double_clicked() {
                    ui.memory_mut(|memory| memory.request_focus(id));
                    let modifiers = ui.input(|input| input.modifiers);
                    if self.keys == ListKeys::Several && (modifiers.command || modifiers.shift) {
                        let mark = ListEvent::Mark(index);
                        output.events.push(if modifiers.shift { ListEvent::Extend(index) } else { mark });
                        continue;
                    }
                    output.events.push(ListEvent::Select(index));
                    let at_arrow =
                        response.interact_pointer_pos().is_some_and(|at| at.x < rect.left() + node.arrow);
                    match node.fold {
                        Some(open) if at_arrow || response.double_clicked() => {
                            output.events.push(folded(open, index));
                        }
                        None if response.double_clicked() => output.events.push(ListEvent::Activate(index)),
                        _ => {}
                    }
                }
                if hovered {
                    output.hovered = Some((index, response));
                }
            }
            active
        });
        ui.data_mut(|data| data.insert_temp(id, scrolled.state.clamped_offset()));
        if let Some(active) = scrolled.inner {
            ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(active.accesskit_id()));
        }
    }

    fn speak(
        &self,
        ui: &Ui,
        response: &Response,
        row: &ListNode,
        selected: bool,
        spoken: impl Fn() -> String,
    ) {
        response.widget_info(|| WidgetInfo::labeled(self.roles.1, ui.is_enabled(), spoken()));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_selected(selected || row.marked);
            if let Some(level) = row.level {
                node.set_level(level);
            }
            if let Some(open) = row.fold {
                node.set_expanded(open);
            }
            if let Some(on) = row.ticked {
                node.set_toggled(on.into());
            }
        });
    }

    /// The offset that brings a row into sight from offset `now`; `None` where it is. A row that was asked for from
    /// elsewhere comes to the middle, as does a distant one; a near one to the edge.
    fn offset_for(&self, now: f32, row: usize, height: f32, asked: bool) -> Option<f32> {
        let (top, bottom) = (row as f32 * self.row_height, (row + 1) as f32 * self.row_height);
        if asked && self.middle {
            return Some((f32::midpoint(top, bottom) - height / 2.0).max(0.0));
        }
        if top >= now && bottom <= now + height {
            return None;
        }
        let far = bottom > now + height * 2.0;
        Some(match (asked || far, top < now) {
            (true, _) => (top - height / 2.0).max(0.0),
            (false, true) => top,
            (false, false) => bottom - height,
        })
    }
}

impl ListFrame {
    /// The frame around a list that has the focus; the room is taken.
    pub(super) fn end(self, ui: &mut Ui) -> ListOutput {
        if self.output.focused {
            focus_frame(ui, self.whole);
        }
        ui.advance_cursor_after_rect(self.whole);
        self.output
    }
}

/// The rows of this height in a range of points.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
pub(super) fn visible(range: Rangef, row: f32, rows: usize) -> std::ops::Range<usize> {
    let first = (range.min / row).floor().max(0.0) as usize;
    let last = (range.max / row).ceil().max(0.0) as usize;
    first.min(rows)..last.min(rows)
}
