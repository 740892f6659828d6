//! Columns of a table: what each one is, where it is, and how people change that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{
    Align, CursorIcon, Id, Key, Layout, Modifiers, Popup, PopupAnchor, PopupCloseBehavior, PopupKind, Rangef,
    Rect, Sense, SetOpenCommand, Ui, WidgetInfo, containers::menu::menu_style,
};

use super::{END, GAP, START, TableCell};
use crate::gui::design::Tokens;
use crate::gui::models::grouped::Sorting;
use crate::gui::widgets::list::{ListFrame, ListHead, head_back};

/// The least width that is left to a column.
const LEAST: f32 = 24.0;
/// The same of one that takes the room of all others, and is not the first.
const LEAST_GROWING: f32 = 96.0;

/// A column of rows that are made from an `R`, which may order them by a `C`. All that a view says about a column is
/// one of these.
pub struct TableColumn<R, C = ()> {
    pub(super) title: &'static str,
    pub(super) width: f32,
    pub(super) number: bool,
    pub(super) cell: fn(&R, &Tokens) -> TableCell,
    pub(super) order: Option<(C, bool)>,
    rank: u8,
    grows: bool,
    filter: Option<&'static str>,
}

impl<R, C> TableColumn<R, C> {
    /// A column of text: its head, its width, and what is written in a row. Of the first column, the width is the least
    /// that is left to it.
    pub fn text(title: &'static str, width: f32, cell: fn(&R, &Tokens) -> TableCell) -> Self {
        Self { title, width, number: false, cell, order: None, rank: 0, grows: false, filter: None }
    }

    /// A column of numbers, right-aligned.
    pub fn number(title: &'static str, width: f32, cell: fn(&R, &Tokens) -> TableCell) -> Self {
        Self { number: true, ..Self::text(title, width, cell) }
    }

    /// Left out where there is little room: the largest number first.
    #[must_use]
    pub fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Orders the rows, the smallest first until it is clicked again.
    #[must_use]
    pub fn order(self, column: C) -> Self {
        Self { order: Some((column, false)), ..self }
    }

    /// The same, the largest first.
    #[must_use]
    pub fn largest_first(self, column: C) -> Self {
        Self { order: Some((column, true)), ..self }
    }

    /// The key that the filter of the view has for it.
    #[must_use]
    pub fn filter(self, key: &'static str) -> Self {
        Self { filter: Some(key), ..self }
    }

    /// Takes the room that the others leave, in place of the first column.
    #[must_use]
    pub fn grows(self) -> Self {
        Self { grows: true, ..self }
    }
}

/// What the user made of the columns of a table, until the window is closed.
#[derive(Clone, Default)]
struct Choice {
    widths: BTreeMap<&'static str, f32>,
    hidden: BTreeSet<&'static str>,
}

/// Where the columns are.
pub(super) struct Places {
    id: Id,
    choice: Arc<Choice>,
    /// The column that takes the room of all others.
    growing: usize,
    /// `None` for a column that is left out.
    pub(super) columns: Vec<Option<Rangef>>,
}

impl Places {
    /// The places in a table with this name.
    pub(super) fn new<R, C>(ui: &Ui, name: &str, columns: &[TableColumn<R, C>], rect: Rect) -> Self {
        let id = Id::unique(("columns", name));
        let choice: Arc<Choice> = ui.data(|data| data.get_temp(id)).unwrap_or_default();
        let mut widths: Vec<Option<f32>> = columns
            .iter()
            .map(|column| {
                let width = choice.widths.get(column.title).copied().unwrap_or(column.width);
                (!choice.hidden.contains(column.title)).then_some(width)
            })
            .collect();
        let room = rect.width() - START - END + GAP;
        let taken = |widths: &[Option<f32>]| widths.iter().flatten().map(|width| width + GAP).sum::<f32>();
        while taken(&widths) > room {
            let droppable = (1..columns.len()).filter(|at| widths[*at].is_some() && columns[*at].rank > 0);
            let Some(at) = droppable.max_by_key(|at| columns[*at].rank) else { break };
            widths[at] = None;
        }
        let growing = (1..columns.len()).find(|at| columns[*at].grows && widths[*at].is_some()).unwrap_or(0);
        if growing > 0 {
            let left = room - taken(&widths) + widths[growing].unwrap_or_default();
            let lacking = (LEAST_GROWING - left).max(0.0);
            widths[0] = widths[0].map(|width| (width - lacking).max(LEAST));
        }
        let mut places = vec![None; columns.len()];
        let (mut left, mut right) = (rect.left() + START, rect.right() - END);
        for at in (growing + 1..columns.len()).rev() {
            let Some(width) = widths[at] else { continue };
            places[at] = Some(Rangef::new(right - width, right));
            right -= width + GAP;
        }
        for at in 0..growing {
            let Some(width) = widths[at] else { continue };
            places[at] = Some(Rangef::new(left, left + width));
            left += width + GAP;
        }
        if let Some(place) = places.get_mut(growing) {
            *place = Some(Rangef::new(left, right.max(left + LEAST)));
        }
        Self { id, choice, growing, columns: places }
    }

    /// The heads, which order rows, and the borders between them, which are dragged.
    pub(super) fn heads<R, C: Copy + PartialEq>(
        mut self,
        ui: &Ui,
        columns: &[TableColumn<R, C>],
        sorting: Option<Sorting<C>>,
        frame: &mut ListFrame,
    ) -> Vec<Option<Rangef>> {
        head_back(ui, frame.head);
        for (index, (column, place)) in columns.iter().zip(&self.columns).enumerate() {
            let Some(place) = *place else { continue };
            let rect = Rect::from_x_y_ranges(place.expand(GAP / 2.0), frame.head.y_range());
            let text = if column.number { place.max } else { place.min };
            let head = ListHead { title: column.title, rect, text, number: column.number };
            // The place of the column that orders the rows is this one's, or none.
            let sort = sorting.zip(column.order).map(|(sorting, (order, _))| {
                (if sorting.column == order { index } else { usize::MAX }, sorting.descending)
            });
            let response = frame.head(ui, index, &head, sort);
            if let Some(key) = column.filter {
                response.on_hover_text(format!("Filter with {key}:"));
            }
        }
        for index in 0..columns.len() {
            self.border(ui, index, columns, frame);
        }
        self.menu(ui, columns, frame);
        self.columns
    }

    /// The border of a column that is towards the growing one: it follows the pointer.
    fn border<R, C>(&mut self, ui: &Ui, index: usize, columns: &[TableColumn<R, C>], frame: &ListFrame) {
        // Dragging leaves no column out.
        let (column, least) = (&columns[index], columns[self.growing].width);
        let growing = self.columns.get(self.growing).copied().flatten();
        let (Some(place), Some(growing)) = (self.columns[index], growing) else { return };
        if index == self.growing {
            return;
        }
        let before = index < self.growing;
        let x = if before { place.max + GAP / 2.0 } else { place.min - GAP / 2.0 };
        let rect = Rect::from_x_y_ranges(Rangef::point(x).expand(4.0), frame.head.y_range());
        // Not a stop of the Tab key: there would be one for each column.
        let response = ui.interact(rect, frame.id.with(("border", column.title)), Sense::CLICK | Sense::DRAG);
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Splitter, true, format!("Width of {}", column.title.to_lowercase()))
        });
        if response.double_clicked() {
            self.change(ui, |choice| choice.widths.remove(column.title));
        } else if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged()) {
            let most = place.span() + (growing.span() - least).max(0.0);
            let dragged =
                if before { pointer.x - GAP / 2.0 - place.min } else { place.max - pointer.x - GAP / 2.0 };
            self.change(ui, |choice| {
                choice.widths.insert(column.title, dragged.clamp(LEAST, most.max(LEAST)))
            });
        }
        if response.hovered() || response.dragged() {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeColumn);
            ui.painter().vline(x, frame.head.y_range(), (1.0, Tokens::of(ui).accent));
        }
    }

    /// Which columns are shown: a menu of the head.
    fn menu<R, C>(&mut self, ui: &Ui, columns: &[TableColumn<R, C>], frame: &ListFrame) {
        let clicked =
            ui.input(|input| input.pointer.secondary_clicked()) && ui.rect_contains_pointer(frame.head);
        let asked = clicked
            || frame.output.focused
                && ui.input_mut(|input| {
                    input.consume_key(Modifiers::NONE, Key::Menu)
                        || input.consume_key(Modifiers::SHIFT, Key::F10)
                });
        let id = frame.id.with("columns");
        let at = if clicked { ui.ctx().pointer_interact_pos() } else { None };
        if asked {
            ui.data_mut(|data| data.insert_temp(id, at.unwrap_or(frame.head.left_bottom())));
        }
        let at = ui.data(|data| data.get_temp(id)).unwrap_or(frame.head.left_bottom());
        Popup::new(id, ui.ctx().clone(), PopupAnchor::Position(at), ui.layer_id())
            .kind(PopupKind::Menu)
            .layout(Layout::top_down_justified(Align::Min))
            .style(menu_style)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .open_memory(asked.then_some(SetOpenCommand::Bool(true)))
            .show(|ui| {
                // The first column says what a row is.
                for (index, column) in columns.iter().enumerate().skip(1) {
                    let mut shown = !self.choice.hidden.contains(column.title);
                    // Chosen, and left out all the same: the table is too narrow for it.
                    let no_room = shown && self.columns[index].is_none();
                    let label =
                        if no_room { format!("{} (no room)", column.title) } else { column.title.to_owned() };
                    let response = ui.checkbox(&mut shown, label);
                    if asked && index == 1 {
                        response.request_focus();
                    }
                    if response.changed() {
                        self.change(ui, |choice| {
                            if shown {
                                choice.hidden.remove(column.title)
                            } else {
                                choice.hidden.insert(column.title)
                            }
                        });
                    }
                }
                if ui.button("Default columns").clicked() {
                    self.change(ui, |choice| *choice = Choice::default());
                    ui.close();
                }
                if ui.input(|input| input.key_pressed(Key::Escape)) {
                    ui.memory_mut(|memory| memory.request_focus(frame.id));
                }
            });
    }

    fn change<T>(&mut self, ui: &Ui, change: impl FnOnce(&mut Choice) -> T) {
        change(Arc::make_mut(&mut self.choice));
        ui.data_mut(|data| data.insert_temp(self.id, Arc::clone(&self.choice)));
        ui.ctx().request_repaint();
    }
}
