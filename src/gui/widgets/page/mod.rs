//! A report as a page: paragraphs, facts, charts, tables, folds and code, with a list of its sections beside it.
//! The layout is worked out when the page, its width or what is open changes; a frame costs what is
//! in sight.

mod chart;
mod code;
mod columns;
mod contents;
mod item;
mod keys;
mod layout;
mod paint;
pub mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Id, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use self::layout::Layout;
use crate::gui::design::{Tokens, radius, space};
use crate::report::page::{Line, Page, Part, Tone};

/// From this width on, the list of sections is beside the page.
const WIDE: f32 = 760.0;
/// Room of that list.
const CONTENTS: f32 = 168.0;
/// Lines longer than this are hard to read; tables take no more either.
const WIDEST: f32 = 1_160.0;

/// What is shown.
#[derive(Clone, Copy)]
pub struct PageShape<'a> {
    /// The name of the page for screen readers.
    pub name: &'a str,
    /// The page.
    pub page: &'a Arc<Page>,
    /// Whether its title, its facts and what to know first are shown.
    pub opening: bool,
    /// Whether sections have their headings.
    pub headings: bool,
}

/// What is open, where it is scrolled to, and the layout.
#[derive(Default)]
pub struct PageState {
    open: BTreeSet<u64>,
    /// Grows whenever `open` changes.
    revision: u64,
    /// The item with keyboard focus.
    cursor: Option<u64>,
    /// A section to bring to the top.
    jump: Option<Part>,
    layout: Option<Layout>,
    offset: f32,
}

/// The result of a frame.
#[derive(Debug, Default)]
pub struct PageOutput {
    /// Text to put on the clipboard.
    pub copied: Option<String>,
    /// How many pieces were painted.
    pub painted: usize,
    /// Of how many the page is made now.
    pub pieces: usize,
    /// What has the focus of the keyboard when the page has it.
    pub id: Option<Id>,
}

impl PageState {
    /// Brings a section to the top.
    pub fn jump(&mut self, part: Part) {
        self.jump = Some(part);
    }

    fn toggle(&mut self, key: u64) {
        if !self.open.remove(&key) {
            self.open.insert(key);
        }
        self.revision += 1;
    }
}

/// How a text is painted.
fn style(tokens: &Tokens, line: &Line) -> (egui::FontId, egui::Color32) {
    use crate::gui::design::text;
    let font = match (line.code, line.tone) {
        (true, _) => text::mono(),
        (false, Tone::Strong) => text::strong(),
        (false, _) => text::body(),
    };
    let color = match line.tone {
        Tone::Plain | Tone::Strong => tokens.text,
        Tone::Weak => tokens.text_weak,
        Tone::Good => tokens.success,
        Tone::Unsure => tokens.warning,
        Tone::Bad => tokens.error,
        Tone::Added => tokens.added,
        Tone::Removed => tokens.removed,
        Tone::Changed => tokens.changed,
    };
    (font, color)
}

/// Shows a page in the room that is left.
pub fn page(ui: &mut Ui, salt: &str, shape: &PageShape<'_>, state: &mut PageState) -> PageOutput {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(salt);
    let whole = ui.available_rect_before_wrap();
    let sections = shape.page.sections.len();
    let mut body = whole;
    let mut output = PageOutput { id: Some(id), ..PageOutput::default() };
    let listed = whole.width() >= WIDE && sections > 2 && shape.headings;
    if listed {
        let list = Rect::from_min_size(whole.min, vec2(CONTENTS, whole.height()));
        body.min.x = list.right();
        let mut beside = ui.new_child(UiBuilder::new().max_rect(list).id_salt((salt, "contents")));
        beside.set_clip_rect(list.intersect(ui.clip_rect()));
        contents::show(&mut beside, shape.page, state);
        ui.painter().vline(body.left(), whole.y_range(), Stroke::new(1.0, tokens.border));
    }
    // The page as one thing: it has the focus, what can be opened are its parts.
    let all = ui.interact(body, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::Document, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    let margin = space::L;
    let width = (body.width() - 2.0 * margin - 8.0).clamp(80.0, WIDEST).floor();
    Layout::update(ui, shape, state, width);
    let height = body.height();
    let mut target = keys::take(ui, id, &all, shape, state, height, &mut output);
    let part = state.jump.take();
    let top = |layout: &Layout, part| layout.top_of(part).map(|top| (top - space::S).max(0.0));
    target = part.and_then(|part| top(state.layout.as_ref()?, part)).or(target);
    let Some(layout) = state.layout.take() else { return output };
    let mut inner = ui.new_child(UiBuilder::new().max_rect(body).id_salt((salt, "body")));
    inner.set_clip_rect(body.intersect(ui.clip_rect()));
    inner.spacing_mut().item_spacing = egui::Vec2::ZERO;
    let mut area = ScrollArea::vertical().id_salt("page").auto_shrink(false);
    if let Some(offset) = target {
        area = area.vertical_scroll_offset(offset.clamp(0.0, (layout.height + margin - height).max(0.0)));
    }
    output.pieces = layout.pieces();
    let mut toggled = None;
    let scrolled = area.show_viewport(&mut inner, |ui, viewport| {
        ui.set_width(ui.available_width());
        ui.set_height(layout.height + margin);
        let origin = pos2(body.left() + margin, ui.min_rect().top());
        let mut painter = paint::Painting {
            page: shape.page,
            layout: &layout,
            id,
            cursor: state.cursor.filter(|_| all.has_focus()),
            open: &state.open,
            copied: None,
            toggled: None,
            chosen: None,
        };
        for item in layout.within(viewport.y_range()) {
            let at = pos2(origin.x + item.indent, origin.y + item.top);
            let rect = Rect::from_min_size(at, vec2(width - item.indent, item.height));
            painter.item(ui, item, rect);
            output.painted += 1;
        }
        toggled = painter.toggled;
        output.copied = painter.copied.take().or(output.copied.take());
        painter.chosen
    });
    state.layout = Some(layout);
    state.offset = scrolled.state.clamped_offset().y;
    if let Some(key) = toggled {
        state.toggle(key);
        state.cursor = Some(key);
        ui.memory_mut(|memory| memory.request_focus(id));
        ui.ctx().request_repaint();
    }
    if let Some(chosen) = scrolled.inner {
        ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(chosen.accesskit_id()));
    }
    if all.has_focus() {
        ui.painter().rect_stroke(body, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    output
}
