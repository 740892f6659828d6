//! A tree of any size with columns: only the rows in sight are asked for and painted.

use egui::accesskit::Role;
use egui::{
    Align2, Color32, Event, EventFilter, Id, Key, Modifiers, Rect, Response, ScrollArea, Sense, Stroke,
    StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use crate::gui::design::{Tokens, radius, row, text};
use crate::gui::widgets::cell::{self, Cut, Direction};

/// A row as it is painted. Made only for rows in sight.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is one sign of the row")]
pub struct TreeRow {
    /// Tells the row from all others, whatever is open.
    pub key: u64,
    /// The name, safe to show.
    pub name: String,
    /// Depth.
    pub depth: usize,
    /// Whether it can be opened.
    pub folder: bool,
    /// Whether it is open.
    pub open: bool,
    /// Signs before the name, with their colours.
    pub signs: [Option<(&'static str, Color32)>; 2],
    /// The colour of the name.
    pub color: Color32,
    /// Whether the name is struck out.
    pub struck: bool,
    /// Whether it matches the filter; other rows are shown as parents.
    pub strong: bool,
    /// The share of the bar behind the first number, 0 to 1.
    pub share: f32,
    /// Numbers, one for each column after the name.
    pub numbers: [String; 2],
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TreeColumn {
    /// Its head.
    pub title: &'static str,
    /// Its width; the name takes what is left.
    pub width: f32,
}

/// What is shown.
pub struct TreeShape<'a> {
    /// The name of the tree for screen readers.
    pub name: &'a str,
    /// How many rows there are.
    pub rows: usize,
    /// The head of the first column.
    pub title: &'static str,
    /// The columns after it.
    pub columns: [TreeColumn; 2],
    /// The column that orders the rows, 0 for the name, and whether the largest comes first.
    pub sort: (usize, bool),
    /// The chosen row.
    pub selected: Option<usize>,
    /// A row to bring into sight.
    pub reveal: Option<usize>,
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeEvent {
    /// Chose a row.
    Select(usize),
    /// Opens a folder.
    Open(usize),
    /// Closes a folder.
    Close(usize),
    /// Goes to the folder that a row is in.
    Parent(usize),
    /// Clicked the head of a column.
    Sort(usize),
    /// Enter on a row.
    Activate(usize),
}

/// The result.
#[derive(Debug, Default)]
pub struct TreeOutput {
    /// What the user did, at most one thing a frame but for quick typing.
    pub events: Vec<TreeEvent>,
    /// How many rows were made and painted.
    pub painted: usize,
    /// Whether the keyboard acts on the tree.
    pub focused: bool,
}

const HEAD: f32 = 24.0;
const SIGN: f32 = 13.0;
const INDENT: f32 = 14.0;
const ARROW: f32 = 16.0;
const END: f32 = 10.0;

/// Column positions.
struct Places {
    name: f32,
    first: egui::Rangef,
    second: egui::Rangef,
}

impl Places {
    fn new(shape: &TreeShape<'_>, rect: Rect) -> Self {
        let right = rect.right() - END;
        let second = egui::Rangef::new(right - shape.columns[1].width, right);
        let first = egui::Rangef::new(second.min - shape.columns[0].width, second.min - 8.0);
        Self { name: first.min - 8.0, first, second }
    }
}

/// Shows a tree in the room that is left. `row_at` makes a row; it is called for rows in sight only.
/// `spoken_at` returns the screen reader text of a row; it is called only when a screen reader is active.
pub fn tree(
    ui: &mut Ui,
    salt: &str,
    shape: &TreeShape<'_>,
    mut row_at: impl FnMut(usize) -> TreeRow,
    spoken_at: impl Fn(usize) -> String,
) -> TreeOutput {
    let tokens = Tokens::of(ui);
    let mut output = TreeOutput::default();
    let id = ui.make_persistent_id(salt);
    let whole = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(whole.min, vec2(whole.width(), HEAD));
    let body = Rect::from_min_max(pos2(whole.left(), head.bottom()), whole.max);
    // The tree as one thing: it has the focus, the rows are its parts.
    let all = ui.interact(body, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::Tree, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    heads(ui, id, shape, head, &mut output);
    output.focused = all.has_focus();
    let mut reveal = shape.reveal;
    let page = ((body.height() / row::DENSE).floor() - 1.0).max(1.0);
    if output.focused {
        let lock = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, lock));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rows on a screen")]
        keys(ui, shape, page as usize, &mut row_at, &mut output);
        for event in &output.events {
            if let TreeEvent::Select(row) = event {
                reveal = Some(*row);
            }
        }
    }
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(salt));
    inner.spacing_mut().item_spacing = egui::Vec2::ZERO;
    let mut area = ScrollArea::vertical().id_salt("rows").auto_shrink(false);
    if let Some(offset) = offset_for(&inner, id, reveal, body.height()) {
        area = area.vertical_scroll_offset(offset);
    }
    let scrolled = area.show_rows(&mut inner, row::DENSE, shape.rows, |ui, range| {
        let mut chosen = None;
        for index in range {
            let row = row_at(index);
            output.painted += 1;
            let size = vec2(ui.available_width(), row::DENSE);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let row_id = id.with(row.key);
            let response = ui.interact(rect, row_id, Sense::CLICK);
            let selected = shape.selected == Some(index);
            speak(ui, &response, &row, selected, || spoken_at(index));
            paint(ui, shape, rect, &row, index, selected, output.focused, response.hovered());
            if selected {
                chosen = Some(row_id);
            }
            if response.clicked() || response.double_clicked() {
                ui.memory_mut(|memory| memory.request_focus(id));
                let arrow = rect.left() + 2.0 * SIGN + row.depth as f32 * INDENT + ARROW + 4.0;
                let at_arrow = response.interact_pointer_pos().is_some_and(|at| at.x < arrow);
                let toggle = row.folder && (at_arrow || response.double_clicked());
                output.events.push(TreeEvent::Select(index));
                if toggle {
                    output.events.push(if row.open {
                        TreeEvent::Close(index)
                    } else {
                        TreeEvent::Open(index)
                    });
                }
            }
        }
        chosen
    });
    ui.data_mut(|data| data.insert_temp(id, scrolled.state.clamped_offset().y));
    if let Some(chosen) = scrolled.inner {
        ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(chosen.accesskit_id()));
    }
    if output.focused {
        ui.painter().rect_stroke(whole, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    output
}

/// The offset that brings a row into sight; `None` where it is, or nothing is asked for.
fn offset_for(ui: &Ui, id: Id, reveal: Option<usize>, height: f32) -> Option<f32> {
    let row = reveal?;
    let now: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let (top, bottom) = (row as f32 * row::DENSE, (row + 1) as f32 * row::DENSE);
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

fn heads(ui: &mut Ui, id: Id, shape: &TreeShape<'_>, rect: Rect, output: &mut TreeOutput) {
    let tokens = Tokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, tokens.raised);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    let places = Places::new(shape, rect);
    let columns = [
        (shape.title, egui::Rangef::new(rect.left(), places.name), false),
        (shape.columns[0].title, places.first, true),
        (shape.columns[1].title, places.second, true),
    ];
    for (index, (title, x, number)) in columns.into_iter().enumerate() {
        let rect = Rect::from_x_y_ranges(x, rect.y_range());
        let response = ui.interact(rect, id.with(("head", index)), Sense::click());
        let sorted = (shape.sort.0 == index).then_some(shape.sort.1);
        response.widget_info(|| {
            let order = match sorted {
                Some(true) => ", largest first",
                Some(false) => ", smallest first",
                None => "",
            };
            WidgetInfo::labeled(Role::ColumnHeader, true, format!("Sort by {}{order}", title.to_lowercase()))
        });
        let color = if response.hovered() || sorted.is_some() { tokens.text } else { tokens.text_weak };
        let (at, align) = if number {
            (pos2(rect.right(), rect.center().y), Align2::RIGHT_CENTER)
        } else {
            (pos2(rect.left() + 2.0 * SIGN + ARROW, rect.center().y), Align2::LEFT_CENTER)
        };
        let written = ui.painter().text(at, align, title, text::small(), color);
        if let Some(descending) = sorted {
            let direction = if descending { Direction::Down } else { Direction::Up };
            let x = if number { written.left() - 9.0 } else { written.right() + 9.0 };
            cell::triangle(ui.painter(), pos2(x, rect.center().y), 7.0, direction, tokens.text);
        }
        if response.has_focus() {
            ui.painter().rect_stroke(rect, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
        }
        if response.clicked() {
            output.events.push(TreeEvent::Sort(index));
        }
    }
}

fn speak(ui: &Ui, response: &Response, row: &TreeRow, selected: bool, spoken: impl Fn() -> String) {
    response.widget_info(|| WidgetInfo::labeled(Role::TreeItem, ui.is_enabled(), spoken()));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_level(row.depth);
        node.set_selected(selected);
        if row.folder {
            node.set_expanded(row.open);
        }
    });
}

#[allow(clippy::too_many_arguments, reason = "all of it is one row")]
fn paint(
    ui: &Ui,
    shape: &TreeShape<'_>,
    rect: Rect,
    row: &TreeRow,
    index: usize,
    selected: bool,
    focused: bool,
    hovered: bool,
) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    if selected {
        painter.rect_filled(rect, 0.0, tokens.selection);
        if focused {
            painter.rect_filled(Rect::from_min_size(rect.min, vec2(3.0, rect.height())), 0.0, tokens.accent);
        }
    } else if hovered {
        painter.rect_filled(rect, 0.0, tokens.hovered);
    } else if index % 2 == 1 {
        painter.rect_filled(rect, 0.0, tokens.stripe);
    }
    let places = Places::new(shape, rect);
    let mut x = rect.left() + 4.0;
    for sign in &row.signs {
        if let Some((sign, color)) = sign {
            painter.text(
                pos2(x + SIGN / 2.0, rect.center().y),
                Align2::CENTER_CENTER,
                *sign,
                text::mono(),
                *color,
            );
        }
        x += SIGN;
    }
    x += row.depth as f32 * INDENT;
    if row.folder {
        let direction = if row.open { Direction::Down } else { Direction::Right };
        let at = pos2(x + ARROW / 2.0 - 2.0, rect.center().y);
        cell::triangle(painter, at, 7.0, direction, tokens.text_weak);
    }
    x += ARROW;
    let room = Rect::from_x_y_ranges(x..=places.name.max(x + 8.0), rect.y_range());
    let font = if row.strong { text::strong() } else { text::body() };
    let written = cell::left(painter, room, &row.name, &font, row.color, Cut::Middle);
    if row.struck {
        painter.hline(written.x_range(), rect.center().y + 0.5, Stroke::new(1.0, row.color));
    }
    let first = Rect::from_x_y_ranges(places.first, rect.y_range());
    if row.share > 0.0 {
        let bar = first.expand2(vec2(4.0, -3.0));
        let width = (bar.width() * row.share.clamp(0.0, 1.0)).max(1.0);
        let filled = Rect::from_min_size(bar.min, vec2(width, bar.height()));
        painter.rect_filled(filled, 2.0, tokens.wash(tokens.accent));
    }
    cell::right(painter, first, &row.numbers[0], &text::body(), row.color);
    let second = Rect::from_x_y_ranges(places.second, rect.y_range());
    cell::right(painter, second, &row.numbers[1], &text::body(), tokens.text_weak);
}

/// Arrows and vim keys, Home and End, pages, Enter.
fn keys(
    ui: &Ui,
    shape: &TreeShape<'_>,
    page: usize,
    row_at: &mut impl FnMut(usize) -> TreeRow,
    output: &mut TreeOutput,
) {
    if shape.rows == 0 {
        return;
    }
    let last = shape.rows - 1;
    let mut at = shape.selected;
    let events = ui.input(|input| {
        input.filtered_events(&EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        })
    });
    for event in events {
        let Event::Key { key, pressed: true, modifiers, .. } = event else { continue };
        if modifiers.command || modifiers.alt {
            continue;
        }
        let go = |to: usize| Some(to.min(last));
        let moved = match key {
            Key::ArrowDown | Key::J => go(at.map_or(0, |at| at + 1)),
            Key::ArrowUp | Key::K => go(at.map_or(0, |at| at.saturating_sub(1))),
            Key::PageDown => go(at.map_or(page, |at| at + page)),
            Key::PageUp => go(at.map_or(0, |at| at.saturating_sub(page))),
            Key::Home => go(0),
            Key::End => go(last),
            Key::G if modifiers == Modifiers::SHIFT => go(last),
            Key::G => go(0),
            _ => None,
        };
        if let Some(to) = moved {
            at = Some(to);
            output.events.push(TreeEvent::Select(to));
            continue;
        }
        let Some(now) = at else { continue };
        let row = row_at(now);
        match key {
            Key::ArrowRight | Key::L if row.folder && !row.open => output.events.push(TreeEvent::Open(now)),
            Key::ArrowRight | Key::L if row.folder && now < last => {
                at = Some(now + 1);
                output.events.push(TreeEvent::Select(now + 1));
            }
            Key::ArrowLeft | Key::H if row.folder && row.open => output.events.push(TreeEvent::Close(now)),
            Key::ArrowLeft | Key::H => output.events.push(TreeEvent::Parent(now)),
            Key::Enter | Key::Space if row.folder => {
                output.events.push(if row.open { TreeEvent::Close(now) } else { TreeEvent::Open(now) });
            }
            Key::Enter | Key::Space => output.events.push(TreeEvent::Activate(now)),
            _ => {}
        }
    }
}
