//! How pieces of a page look.

use std::collections::BTreeSet;

use egui::accesskit::Role;
use egui::{
    Align2, Id, Label, Rangef, Rect, Response, RichText, Sense, Stroke, StrokeKind, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};

use super::item::{Item, ItemKind, resolve};
use super::layout::{CELL_NAME, Layout};
use super::{chart, code, style};
use crate::base::size::grouped;
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::cell::{self, Cut, Direction};
use crate::gui::widgets::controls::line_of_text;
use crate::report::page::{Block, Line, Page, Row, Section, Table};

/// A page while it is painted.
pub(super) struct Painting<'a> {
    pub(super) page: &'a Page,
    pub(super) layout: &'a Layout,
    pub(super) id: Id,
    /// The item with keyboard focus.
    pub(super) cursor: Option<u64>,
    pub(super) open: &'a BTreeSet<u64>,
    pub(super) copied: Option<String>,
    /// What was opened or closed.
    pub(super) toggled: Option<u64>,
    /// The keyboard focus, for screen readers.
    pub(super) chosen: Option<Id>,
}

impl Painting<'_> {
    /// Paints a piece into its place.
    pub(super) fn item(&mut self, ui: &mut Ui, item: &Item, rect: Rect) {
        let tokens = Tokens::of(ui);
        let page = self.page;
        match &item.what {
            ItemKind::Title => {
                words(ui, (item, rect), RichText::new(&page.title).font(text::title()).color(tokens.text));
            }
            ItemKind::Generator => {
                words(
                    ui,
                    (item, rect),
                    RichText::new(&page.generator).font(text::small()).color(tokens.text_weak),
                );
            }
            ItemKind::Facts => {
                words(ui, (item, rect), RichText::new(page.facts.join("  ·  ")).color(tokens.text_weak));
            }
            ItemKind::Lead(place) => {
                if let Some(line) = page.lead.get(*place) {
                    paragraph(ui, (item, rect), line);
                }
            }
            ItemKind::Section(place) => {
                if let Some(section) = page.sections.get(*place) {
                    self.section(ui, item, rect, section);
                }
            }
            _ => self.part(ui, item, rect),
        }
    }

    fn part(&mut self, ui: &mut Ui, item: &Item, rect: Rect) {
        let tokens = Tokens::of(ui);
        let path = self.layout.lists.get(item.list).map_or(&[][..], Vec::as_slice);
        let page = self.page;
        let Some(block) = resolve(page, path).get(item.block) else { return };
        match (&item.what, block) {
            (ItemKind::Line, Block::Line(line)) => paragraph(ui, (item, rect), line),
            (ItemKind::Heading, Block::Heading(title)) => {
                words(ui, (item, rect), RichText::new(title).font(text::strong()).color(tokens.text));
            }
            (ItemKind::Fact(place, names), Block::Facts(facts)) => {
                if let Some((name, value)) = facts.get(*place) {
                    fact(ui, (item, rect), *names, name, value);
                }
            }
            (ItemKind::Chart, Block::Chart(one)) => chart::show(ui, one, rect, (item.list, item.block)),
            (ItemKind::Heads(place), Block::Table(table)) => self.heads(ui, item, rect, *place, table),
            (ItemKind::Row(place, number), Block::Table(table)) => {
                if let Some(row) = table.rows.get(*number) {
                    self.row(ui, item, rect, (*place, *number), table, row);
                }
            }
            (ItemKind::Cell(number, column), Block::Table(table)) => {
                let line = table.rows.get(*number).and_then(|row| row.cells.get(*column));
                if let Some((line, head)) = line.zip(table.columns.get(*column)) {
                    fact(ui, (item, rect), CELL_NAME, &head.title, line);
                }
            }
            (ItemKind::More, Block::Table(table)) => {
                let count = grouped(table.more);
                let words = format!("and {count} more {}; see the JSON report for all", table.noun);
                line_of_text(ui, rect.shrink2(vec2(8.0, 0.0)), &words, text::small(), tokens.text_weak);
                announce(ui, self.id.with(("more", item.list, item.block)), rect, &words);
            }
            (ItemKind::Fold, Block::Fold(title, _)) => self.fold(ui, item, rect, title),
            (ItemKind::CodeHead, Block::Code(language, words)) => {
                self.code_head(ui, item, rect, language, words);
            }
            (ItemKind::Code(range, whole), Block::Code(language, words)) => {
                let part = words.get(range.clone()).unwrap_or_default();
                code_line(ui, rect, language, part, *whole);
                announce(ui, self.id.with(("code", item.list, item.block, range.start)), rect, part);
            }
            _ => {}
        }
    }

    /// A focusable, expandable item: its response, painted below its text.
    fn stop(&mut self, ui: &Ui, item: &Item, rect: Rect, role: Role, spoken: &str) -> Option<Response> {
        let key = item.key?;
        let id = self.id.with(key);
        let response = ui.interact(rect, id, if item.opens { Sense::CLICK } else { Sense::hover() });
        response.widget_info(|| WidgetInfo::labeled(role, ui.is_enabled(), spoken));
        let open = self.open.contains(&key);
        let chosen = self.cursor == Some(key);
        ui.ctx().accesskit_node_builder(id, |node| {
            if item.opens {
                node.set_expanded(open);
            }
            node.set_selected(chosen);
        });
        if chosen {
            self.chosen = Some(id);
        }
        if response.clicked() {
            self.toggled = Some(key);
        }
        Some(response)
    }

    fn is_open(&self, item: &Item) -> bool {
        item.key.is_some_and(|key| self.open.contains(&key))
    }

    fn section(&mut self, ui: &Ui, item: &Item, rect: Rect, section: &Section) {
        let tokens = Tokens::of(ui);
        let title = section.part.title();
        let spoken =
            if section.note.is_empty() { title.to_owned() } else { format!("{title}, {}", section.note) };
        if let Some(response) = self.stop(ui, item, rect, Role::Heading, &spoken) {
            cursor(ui, self.cursor == item.key, &response);
        }
        let font = egui::FontId { size: 16.0, ..text::heading() };
        let written = cell::left(ui.painter(), rect, title, &font, tokens.text, Cut::End);
        let note = Rect::from_x_y_ranges(written.right() + 10.0..=rect.right(), rect.y_range());
        cell::left(ui.painter(), note, &section.note, &text::body(), tokens.text_weak, Cut::End);
        let line = rect.bottom() + 2.0;
        ui.painter().hline(rect.x_range(), line, Stroke::new(1.0, tokens.border));
    }

    fn fold(&mut self, ui: &Ui, item: &Item, rect: Rect, title: &str) {
        let tokens = Tokens::of(ui);
        let Some(response) = self.stop(ui, item, rect, Role::Button, title) else { return };
        if response.hovered() {
            ui.painter().rect_filled(rect, radius::S, tokens.hovered);
        }
        cursor(ui, self.cursor == item.key, &response);
        triangle(ui, rect, self.is_open(item));
        let room = Rect::from_min_max(pos2(rect.left() + 20.0, rect.top()), rect.max);
        line_of_text(ui, room, title, text::body(), tokens.text);
    }

    fn heads(&self, ui: &Ui, item: &Item, rect: Rect, place: usize, table: &Table) {
        let tokens = Tokens::of(ui);
        let painter = ui.painter();
        painter.rect_filled(rect, 0.0, tokens.raised);
        painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
        let Some(columns) = self.layout.tables.get(place) else { return };
        for (at, (column, place)) in table.columns.iter().zip(&columns.places).enumerate() {
            let Some(place) = *place else { continue };
            let room = within(rect, place);
            let id = self.id.with(("head", item.list, item.block, at));
            ui.interact(room, id, Sense::hover())
                .widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, &column.title));
            let color = tokens.text_weak;
            if column.number {
                cell::right(painter, room, &column.title, &text::small(), color);
            } else {
                cell::left(painter, room, &column.title, &text::small(), color, Cut::End);
            }
        }
    }

    fn row(
        &mut self,
        ui: &Ui,
        item: &Item,
        rect: Rect,
        (place, number): (usize, usize),
        table: &Table,
        row: &Row,
    ) {
        let tokens = Tokens::of(ui);
        let spoken = spoken(table, row);
        let Some(response) = self.stop(ui, item, rect, Role::Row, &spoken) else { return };
        let open = self.is_open(item);
        let painter = ui.painter();
        if response.hovered() && item.opens {
            painter.rect_filled(rect, 0.0, tokens.hovered);
        } else if number % 2 == 1 {
            painter.rect_filled(rect, 0.0, tokens.stripe);
        }
        cursor(ui, self.cursor == item.key, &response);
        if item.opens {
            triangle(ui, rect, open);
        }
        let Some(columns) = self.layout.tables.get(place) else { return };
        let hover = response.hover_pos();
        for ((line, place), column) in row.cells.iter().zip(&columns.places).zip(&table.columns) {
            let Some(place) = *place else { continue };
            let room = within(rect, place);
            let (font, color) = style(tokens, line);
            if column.number {
                cell::right(painter, room, &line.text, &font, color);
                continue;
            }
            // The end of a path is the most specific part, of a command its beginning.
            let path = line.code && !line.text.contains(' ');
            let cut = if path { Cut::Middle } else { Cut::End };
            let galley = cell::fit(painter, &line.text, &font, color, room.width(), cut);
            let elided = galley.text() != line.text;
            let at = pos2(room.left(), room.center().y - galley.size().y / 2.0);
            painter.galley(at, galley, color);
            if elided && hover.is_some_and(|at| room.contains(at)) {
                response.clone().on_hover_text_at_pointer(&line.text);
            }
        }
    }

    fn code_head(&mut self, ui: &mut Ui, item: &Item, rect: Rect, language: &str, words: &str) {
        let tokens = Tokens::of(ui);
        let Some(response) = self.stop(ui, item, rect, Role::Group, language) else { return };
        let height = self.layout.code_height(item) + code::PAD / 2.0;
        let frame = Rect::from_min_size(rect.min, vec2(rect.width(), height));
        ui.painter().rect(
            frame,
            radius::S,
            tokens.raised,
            Stroke::new(1.0, tokens.border),
            StrokeKind::Inside,
        );
        cursor(ui, self.cursor == item.key, &response);
        let room = rect.shrink2(vec2(code::PAD, 0.0));
        cell::left(ui.painter(), room, language, &text::small(), tokens.text_weak, Cut::End);
        let button = Rect::from_min_max(pos2(rect.right() - 60.0, rect.top() + 2.0), rect.right_bottom());
        let name = format!("Copy {language}");
        let mut child = ui.new_child(
            UiBuilder::new()
                .max_rect(button)
                .id_salt(("copy", item.list, item.block))
                .layout(egui::Layout::right_to_left(egui::Align::Center)),
        );
        child.add_space(4.0);
        let label = RichText::new("Copy").font(text::small());
        let copy = child.add(egui::Button::new(label).small());
        copy.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        if copy.on_hover_text("Copy to the clipboard").clicked() {
            self.copied = Some(words.to_owned());
        }
    }
}

/// Screen reader text of a row.
fn spoken(table: &Table, row: &Row) -> String {
    let cells = row.cells.iter().zip(&table.columns).filter(|(cell, _)| !cell.text.is_empty());
    let spoken_cells = cells.enumerate().map(|(place, (cell, column))| match place {
        0 if !column.number => cell.text.clone(),
        _ => format!("{} {}", column.title, cell.text),
    });
    spoken_cells.collect::<Vec<_>>().join(", ")
}

fn within(rect: Rect, place: Rangef) -> Rect {
    Rect::from_x_y_ranges(rect.left() + place.min..=rect.left() + place.max, rect.y_range())
}

/// Tells a screen reader what is painted here.
fn announce(ui: &Ui, id: Id, rect: Rect, words: &str) {
    let response = ui.interact(rect, id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
}

/// The item with keyboard focus.
fn cursor(ui: &Ui, is: bool, response: &Response) {
    if is {
        let tokens = Tokens::of(ui);
        ui.painter().rect_filled(response.rect, radius::S, tokens.selection);
        let bar = Rect::from_min_size(response.rect.min, vec2(3.0, response.rect.height()));
        ui.painter().rect_filled(bar, 0.0, tokens.accent);
    }
}

fn triangle(ui: &Ui, rect: Rect, open: bool) {
    let direction = if open { Direction::Down } else { Direction::Right };
    let at = pos2(rect.left() + 11.0, rect.center().y);
    cell::triangle(ui.painter(), at, 7.0, direction, Tokens::of(ui).text_weak);
}

/// Text that wraps and can be selected.
fn words(ui: &mut Ui, (item, rect): (&Item, Rect), words: impl Into<egui::WidgetText>) {
    let mut child = ui.new_child(UiBuilder::new().max_rect(rect).id_salt(("words", item.top.to_bits())));
    child.add(Label::new(words).wrap().selectable(true));
}

fn paragraph(ui: &mut Ui, place: (&Item, Rect), line: &Line) {
    let (font, color) = style(Tokens::of(ui), line);
    words(ui, place, RichText::new(&line.text).font(font).color(color));
}

/// A name and a value.
fn fact(ui: &mut Ui, (item, rect): (&Item, Rect), names: f32, name: &str, value: &Line) {
    let tokens = Tokens::of(ui);
    let room = Rect::from_min_size(rect.min, vec2(names - 12.0, 18.0));
    let galley = cell::fit(ui.painter(), name, &text::body(), tokens.text_weak, room.width(), Cut::End);
    let at = Align2::LEFT_TOP.align_size_within_rect(galley.size(), room).min;
    ui.painter().galley(at, galley, tokens.text_weak);
    let id = ui.unique_id().with(("fact", item.top.to_bits()));
    announce(ui, id, Rect::from_min_size(rect.min, vec2(names, rect.height())), name);
    let room = Rect::from_min_max(pos2(rect.left() + names, rect.top()), rect.max);
    paragraph(ui, (item, room), value);
}

fn code_line(ui: &Ui, rect: Rect, language: &str, part: &str, whole: bool) {
    let tokens = Tokens::of(ui);
    let color = match (language, part.as_bytes().first()) {
        ("diff", _) if part.starts_with("---") || part.starts_with("+++") => tokens.text_weak,
        ("diff", Some(b'+')) if whole => tokens.added,
        ("diff", Some(b'-')) if whole => tokens.removed,
        ("diff", Some(b'@')) if whole => tokens.text_weak,
        ("dockerfile", Some(b'#')) if whole => tokens.text_weak,
        _ => tokens.text,
    };
    // The head with its frame may be far above.
    ui.painter().rect_filled(rect, 0.0, tokens.raised);
    let edge = Stroke::new(1.0, tokens.border);
    ui.painter().vline(rect.left() + 0.5, rect.y_range(), edge);
    ui.painter().vline(rect.right() - 0.5, rect.y_range(), edge);
    let room = rect.shrink2(vec2(code::PAD, 0.0));
    let galley = ui.painter().layout_no_wrap(code::shown(part), text::mono(), color);
    let at = pos2(room.left(), room.center().y - galley.size().y / 2.0);
    ui.painter().with_clip_rect(rect.intersect(ui.clip_rect())).galley(at, galley, color);
}
