//! What keys do in a list.

use egui::{Event, EventFilter, Id, Key, Modifiers, Ui};

use super::{List, ListEvent, ListKeys, ListNode, ListOutput};
use crate::gui::widgets::stops;

impl List<'_> {
    /// Chooses the first row that does not fold, unless one is chosen.
    pub(super) fn first_found(&self, mut is_leaf: impl FnMut(usize) -> bool) -> Option<ListEvent> {
        /// Folders and groups above the first leaf; beyond, the search would take too long for a frame.
        const MOST: usize = 200;
        if self.rows == 0 || self.selected.is_some_and(|row| row < self.rows && is_leaf(row)) {
            return None;
        }
        Some(ListEvent::Select((0..self.rows.min(MOST)).find(|row| is_leaf(*row)).unwrap_or(0)))
    }

    /// What keys do; how far they scroll sideways. Arrows stay with the list.
    pub(super) fn take_keys(
        &self,
        ui: &Ui,
        id: Id,
        height: f32,
        output: &mut ListOutput,
        mut node_at: impl FnMut(usize) -> ListNode,
    ) -> f32 {
        let (mut at, mut across) = (self.selected, 0.0);
        let several = self.keys == ListKeys::Several;
        if several && ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Space)) {
            output.events.extend(at.filter(|at| *at < self.rows).map(ListEvent::Mark));
        }
        for (key, modifiers) in keys(ui, id) {
            let arrow = match key {
                Key::ArrowRight | Key::L => 1.0,
                Key::ArrowLeft | Key::H => -1.0,
                _ => 0.0,
            };
            match self.keys {
                ListKeys::Sideways(step) if arrow != 0.0 => {
                    across += arrow * step;
                    continue;
                }
                ListKeys::Table(step) if arrow != 0.0 && step > 0.0 && modifiers == Modifiers::SHIFT => {
                    across += arrow * step;
                    continue;
                }
                _ => {}
            }
            match key {
                Key::Escape if matches!(self.keys, ListKeys::Tree | ListKeys::Several) => {
                    stops::escape(ui.ctx());
                }
                Key::Escape => output.events.push(ListEvent::Clear),
                Key::N => output.events.push(ListEvent::Step(modifiers != Modifiers::SHIFT)),
                _ => {}
            }
            let Some(last) = self.rows.checked_sub(1) else { continue };
            if let Some(to) = self.moved(key, modifiers, at, height) {
                at = Some(to.min(last));
                let extends = several && modifiers == Modifiers::SHIFT && key != Key::G;
                let to = to.min(last);
                output.events.push(if extends { ListEvent::Extend(to) } else { ListEvent::Select(to) });
                continue;
            }
            let Some(now) = at.filter(|at| *at <= last) else { continue };
            let node = node_at(now);
            output.events.push(match (key, node.fold) {
                (Key::ArrowRight | Key::L | Key::Space, Some(false)) => ListEvent::Open(now),
                (Key::ArrowLeft | Key::H | Key::Space, Some(true)) => ListEvent::Close(now),
                (Key::ArrowRight | Key::L, Some(true)) if now < last => {
                    at = Some(now + 1);
                    ListEvent::Select(now + 1)
                }
                (Key::Enter, Some(open)) => folded(open, now),
                (Key::Enter, None) => ListEvent::Activate(now),
                (Key::Space, None) if several => ListEvent::Mark(now),
                (Key::Space, None) if node.ticked.is_some() => ListEvent::Toggle(now),
                (Key::ArrowLeft | Key::H, _) => ListEvent::Parent(now),
                _ => continue,
            });
        }
        across
    }

    /// The target row of a key, at most past the end; `None` for other keys.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rows on a screen")]
    fn moved(&self, key: Key, modifiers: Modifiers, at: Option<usize>, height: f32) -> Option<usize> {
        let page = ((height / self.row_height).floor() - 1.0).max(1.0) as usize;
        Some(match key {
            Key::ArrowDown | Key::J => at.map_or(0, |at| at + 1),
            Key::ArrowUp | Key::K => at.map_or(0, |at| at.saturating_sub(1)),
            Key::PageDown => at.map_or(page, |at| at + page),
            Key::PageUp => at.map_or(0, |at| at.saturating_sub(page)),
            Key::End => self.rows,
            Key::G if modifiers == Modifiers::SHIFT => self.rows,
            Key::Home | Key::G => 0,
            _ => return None,
        })
    }
}

/// Keys that were pressed on what has this id and the focus; arrows and Escape stay with it.
pub(in crate::gui::widgets) fn keys(ui: &Ui, id: Id) -> Vec<(Key, Modifiers)> {
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        escape: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let events = ui.input(|input| input.filtered_events(&filter));
    let pressed = events.into_iter().filter_map(|event| match event {
        Event::Key { key, pressed: true, modifiers, .. } if !modifiers.command && !modifiers.alt => {
            Some((key, modifiers))
        }
        _ => None,
    });
    pressed.collect()
}

pub(super) fn folded(open: bool, row: usize) -> ListEvent {
    if open { ListEvent::Close(row) } else { ListEvent::Open(row) }
}
