//! What lists of rows have in common: keys, and bringing a row into sight.

use egui::{Event, EventFilter, Id, Key, Modifiers, Ui};

/// Keys that were pressed on the list with this id, which has the focus; arrows stay with it.
pub(super) fn keys(ui: &Ui, id: Id) -> Vec<(Key, Modifiers)> {
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

/// The target row of a key; `None` for other keys.
pub(super) fn moved(
    (key, modifiers): (Key, Modifiers),
    at: Option<usize>,
    page: usize,
    last: usize,
) -> Option<usize> {
    let to = match key {
        Key::ArrowDown | Key::J => at.map_or(0, |at| at + 1),
        Key::ArrowUp | Key::K => at.map_or(0, |at| at.saturating_sub(1)),
        Key::PageDown => at.map_or(page, |at| at + page),
        Key::PageUp => at.map_or(0, |at| at.saturating_sub(page)),
        Key::Home => 0,
        Key::End => last,
        Key::G if modifiers == Modifiers::SHIFT => last,
        Key::G => 0,
        _ => return None,
    };
    Some(to.min(last))
}

/// How many rows of this height fit into a page.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rows on a screen")]
pub(super) fn page(height: f32, row: f32) -> usize {
    ((height / row).floor() - 1.0).max(1.0) as usize
}

/// The rows of this height in a range of points.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
pub(super) fn visible(range: egui::Rangef, row: f32, rows: usize) -> std::ops::Range<usize> {
    let first = (range.min / row).floor().max(0.0) as usize;
    let last = (range.max / row).ceil().max(0.0) as usize;
    first.min(rows)..last.min(rows)
}

/// The offset that brings a row into sight from offset `now`; `None` where it is.
pub(super) fn offset_for(now: f32, row: usize, row_height: f32, height: f32) -> Option<f32> {
    let (top, bottom) = (row as f32 * row_height, (row + 1) as f32 * row_height);
    if top < now {
        Some(top)
    } else if bottom > now + height {
        // Centre a distant row; scroll a near one to the edge.
        let far = bottom > now + height * 2.0;
        Some(if far { (top - height / 2.0).max(0.0) } else { bottom - height })
    } else {
        None
    }
}
