//! What users do to tables of groups, the same in all of them.

use std::collections::BTreeSet;

use egui::{Event, Ui};

use crate::gui::models::grouped::{GroupedRow, GroupedRows, RowGroup};
use crate::gui::widgets::list::{ListEvent, ListOutput};

/// Which groups are folded, and whether the keyboard is on one.
pub(super) struct Grouping<K> {
    pub(super) folded: BTreeSet<K>,
    /// The group with keyboard focus; else the chosen item has it.
    pub(super) at: Option<K>,
}

impl<K> Default for Grouping<K> {
    fn default() -> Self {
        Self { folded: BTreeSet::new(), at: None }
    }
}

/// What is left for the view to do.
pub(super) enum GroupedEvent<I> {
    /// Choose an item.
    Select(I),
    /// Enter on an item, or a double click.
    Activate(I),
    /// Tick the box of an item, or no longer.
    Toggle(I),
    /// Copy the chosen item.
    Copy,
    /// Make the rows again: others are folded, or the order is another one.
    Rows,
    /// Escape.
    Clear,
}

impl<K: Clone + Ord> Grouping<K> {
    /// The row with keyboard focus, where this item is chosen.
    pub(super) fn row<G: RowGroup<Key = K>, I: Copy + PartialEq>(
        &self,
        rows: &GroupedRows<G, I>,
        chosen: Option<I>,
    ) -> Option<usize> {
        match &self.at {
            Some(group) => rows.position_of(group),
            None => rows.position(chosen?),
        }
    }

    /// Folds and moves between groups; returns what is about items.
    pub(super) fn take<G: RowGroup<Key = K>, I: Copy + PartialEq>(
        &mut self,
        ui: &Ui,
        rows: &GroupedRows<G, I>,
        output: &ListOutput,
    ) -> Vec<GroupedEvent<I>> {
        let mut left = Vec::new();
        let item = |index: usize| match rows.rows.get(index) {
            Some(GroupedRow::Item(item)) => Some(*item),
            _ => None,
        };
        let group = |index: usize| rows.group(rows.rows.get(index)?).map(RowGroup::key);
        // A click anywhere on a group folds it; keys only pass over it.
        let folds = |event: &ListEvent| matches!(event, ListEvent::Open(_) | ListEvent::Close(_));
        let clicked = ui.input(|input| input.pointer.any_click()) && !output.events.iter().any(folds);
        for event in &output.events {
            match *event {
                ListEvent::Select(index) => {
                    left.extend(item(index).map(GroupedEvent::Select));
                    self.at = group(index);
                    if clicked && let Some(group) = group(index) {
                        self.fold(group, rows.is_open(index));
                        left.push(GroupedEvent::Rows);
                    }
                }
                ListEvent::Open(index) | ListEvent::Close(index) => {
                    if let Some(group) = group(index) {
                        self.fold(group, matches!(event, ListEvent::Close(_)));
                        left.push(GroupedEvent::Rows);
                    }
                }
                ListEvent::Parent(index) => {
                    self.at = rows.group_above(index).map(RowGroup::key).or(self.at.take());
                }
                ListEvent::Activate(index) => left.extend(item(index).map(GroupedEvent::Activate)),
                ListEvent::Toggle(index) => left.extend(item(index).map(GroupedEvent::Toggle)),
                ListEvent::Sort(_) => left.push(GroupedEvent::Rows),
                ListEvent::Clear => left.push(GroupedEvent::Clear),
                ListEvent::Step(_) | ListEvent::Mark(_) | ListEvent::Extend(_) => {}
            }
        }
        if output.focused && ui.input(|input| input.events.contains(&Event::Copy)) {
            left.push(GroupedEvent::Copy);
        }
        if !output.events.is_empty() {
            ui.ctx().request_repaint();
        }
        left
    }

    fn fold(&mut self, group: K, close: bool) {
        if close {
            self.folded.insert(group);
        } else {
            self.folded.remove(&group);
        }
    }
}
