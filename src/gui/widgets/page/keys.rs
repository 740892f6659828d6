//! The keyboard on a page: from piece to piece, into what can be opened, and by the height of the window.

use egui::{Id, Key, Modifiers, Response, Ui};

use super::item::{Item, ItemKind, resolve};
use super::layout::Layout;
use super::{PageOutput, PageShape, PageState};
use crate::gui::widgets::list;
use crate::report::page::Block;

/// Room that stays above and below the item with keyboard focus.
const AROUND: f32 = 48.0;

/// Carries out the keys that were pressed. Gives where the page is to be scrolled to.
pub(super) fn take(
    ui: &Ui,
    id: Id,
    response: &Response,
    shape: &PageShape<'_>,
    state: &mut PageState,
    height: f32,
    output: &mut PageOutput,
) -> Option<f32> {
    if !response.has_focus() {
        return None;
    }
    let mut offset = None;
    for (key, modifiers) in list::keys(ui, id) {
        let now = offset.unwrap_or(state.offset);
        let Some(layout) = &state.layout else { break };
        let at = state.cursor.and_then(|cursor| layout.stops().find(|item| item.key == Some(cursor)));
        let page = (height - AROUND).max(AROUND);
        let shift = modifiers == Modifiers::SHIFT;
        let mut toggle = None;
        match key {
            Key::ArrowDown | Key::J | Key::ArrowUp | Key::K => {
                let down = matches!(key, Key::ArrowDown | Key::J);
                let to = next(layout, at, down, now, height);
                // Where nothing can be stood on, the page moves.
                offset = Some(match to {
                    Some(item) => {
                        state.cursor = item.key;
                        reveal(item, now, height)
                    }
                    None if down => now + AROUND,
                    None => (now - AROUND).max(0.0),
                });
            }
            Key::PageDown => offset = Some(now + page),
            Key::PageUp => offset = Some((now - page).max(0.0)),
            Key::Home => offset = Some(0.0),
            Key::G if !shift => offset = Some(0.0),
            Key::End | Key::G => offset = Some(layout.height),
            Key::N => {
                let heading = section(layout, at, now, !shift);
                state.cursor = heading.map_or(state.cursor, |heading| heading.key);
                offset = heading.map(|heading| (heading.top - 8.0).max(0.0)).or(offset);
            }
            Key::Enter | Key::Space => toggle = at.filter(|item| item.opens),
            Key::ArrowRight | Key::L => toggle = at.filter(|item| item.opens && !is_open(state, item)),
            Key::ArrowLeft | Key::H => toggle = at.filter(|item| item.opens && is_open(state, item)),
            Key::C => output.copied = at.and_then(|item| code(shape, layout, item)),
            Key::Escape if state.cursor.take().is_none() => {
                ui.memory_mut(|memory| memory.surrender_focus(id));
            }
            _ => {}
        }
        if key == Key::Enter && toggle.is_none() {
            output.copied = at.and_then(|item| code(shape, layout, item));
        }
        if let Some(key) = toggle.and_then(|item| item.key) {
            state.toggle(key);
        }
        ui.ctx().request_repaint();
    }
    offset
}

fn is_open(state: &PageState, item: &Item) -> bool {
    item.key.is_some_and(|key| state.open.contains(&key))
}

/// The target of an arrow key: the neighbour, or the first visible piece.
fn next<'a>(layout: &'a Layout, at: Option<&Item>, down: bool, now: f32, height: f32) -> Option<&'a Item> {
    let near = |item: &&Item| item.top + item.height > now - height && item.top < now + 2.0 * height;
    match at.filter(near) {
        Some(at) if down => layout.stops().find(|item| item.top > at.top),
        Some(at) => layout.stops().rev().find(|item| item.top < at.top),
        None if down => layout.stops().find(|item| item.top >= now),
        None => layout.stops().rev().find(|item| item.top + item.height <= now + height),
    }
}

/// The offset that brings a piece into sight.
fn reveal(item: &Item, now: f32, height: f32) -> f32 {
    let around = AROUND.min(height / 4.0);
    if item.top - around < now {
        (item.top - around).max(0.0)
    } else if item.top + item.height + around > now + height {
        item.top + item.height + around - height
    } else {
        now
    }
}

/// The heading of the next section, or of the one before.
fn section<'a>(layout: &'a Layout, at: Option<&Item>, now: f32, forward: bool) -> Option<&'a Item> {
    let from = at.map_or(now, |item| item.top);
    let mut headings = layout.stops().filter(|item| matches!(item.what, ItemKind::Section(_)));
    if forward {
        headings.find(|item| item.top > from + 1.0)
    } else {
        headings.rev().find(|item| item.top < from - 1.0)
    }
}

/// The text of a code.
fn code(shape: &PageShape<'_>, layout: &Layout, item: &Item) -> Option<String> {
    let path = layout.lists.get(item.list).filter(|_| item.what == ItemKind::CodeHead)?;
    match resolve(shape.page, path).get(item.block)? {
        Block::Code(_, words) => Some(words.clone()),
        _ => None,
    }
}
