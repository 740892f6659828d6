//! The layout of a page.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use egui::{FontId, Rangef, Ui};

use super::columns::TableColumns;
use super::item::{Item, ItemKind, PageStep};
use super::{PageShape, PageState, chart, code, style};
use crate::gui::design::{Tokens, row, space, text};
use crate::report::page::{Block, Line, Page, Part, Table};

/// Indent of nested content.
const INDENT: f32 = 18.0;
/// Width of a column head when its cell is below the row.
pub(super) const CELL_NAME: f32 = 140.0;

/// All pieces.
pub(super) struct Layout {
    page: Arc<Page>,
    width: f32,
    revision: u64,
    shape: (bool, bool),
    items: Vec<Item>,
    pub(super) lists: Vec<Vec<PageStep>>,
    pub(super) tables: Vec<TableColumns>,
    /// Tables by the steps to them, whose cells were looked at already.
    measured: HashMap<(Vec<PageStep>, usize), usize>,
    sections: Vec<(Part, f32)>,
    pub(super) height: f32,
}

impl Layout {
    /// Works out the layout, when something changed.
    pub(super) fn update(ui: &Ui, shape: &PageShape<'_>, state: &mut PageState, width: f32) {
        let flags = (shape.opening, shape.headings);
        let known = state.layout.take();
        let same = |known: &Self| Arc::ptr_eq(&known.page, shape.page) && known.shape == flags;
        let (tables, measured) = match known {
            Some(known)
                if same(&known) && (known.width - width).abs() < 0.5 && known.revision == state.revision =>
            {
                state.layout = Some(known);
                return;
            }
            Some(known) if Arc::ptr_eq(&known.page, shape.page) => (known.tables, known.measured),
            _ => (Vec::new(), HashMap::new()),
        };
        let layout = Self {
            page: Arc::clone(shape.page),
            width,
            revision: state.revision,
            shape: flags,
            items: Vec::new(),
            lists: vec![Vec::new()],
            tables,
            measured,
            sections: Vec::new(),
            height: space::M,
        };
        let mut making = LayoutBuilder { ui, state, layout, path: Vec::new(), indent: 0.0, part: None };
        making.page(shape);
        let layout = making.layout;
        state.layout = Some(layout);
    }

    /// How many pieces there are.
    pub(super) fn pieces(&self) -> usize {
        self.items.len()
    }

    /// The pieces in a range of points.
    pub(super) fn within(&self, range: Rangef) -> &[Item] {
        let first = self.items.partition_point(|item| item.top + item.height < range.min);
        let last = self.items.partition_point(|item| item.top <= range.max);
        self.items.get(first..last).unwrap_or_default()
    }

    /// What the lines of a code take, with its head.
    pub(super) fn code_height(&self, head: &Item) -> f32 {
        let after = self.items.partition_point(|item| item.top <= head.top);
        let same = |item: &&Item| (item.list, item.block) == (head.list, head.block);
        let lines = self.items.get(after..).unwrap_or_default().iter().take_while(same);
        head.height + lines.map(|item| item.height).sum::<f32>()
    }

    /// Where a section begins.
    pub(super) fn top_of(&self, part: Part) -> Option<f32> {
        self.sections.iter().find(|section| section.0 == part).map(|section| section.1)
    }

    /// The section at a height.
    pub(super) fn section_at(&self, offset: f32) -> Option<Part> {
        let before = self.sections.partition_point(|section| section.1 <= offset);
        self.sections.get(before.saturating_sub(1)).map(|section| section.0)
    }

    /// Pieces that can take keyboard focus.
    pub(super) fn stops(&self) -> impl DoubleEndedIterator<Item = &Item> {
        self.items.iter().filter(|item| item.key.is_some())
    }
}

/// A layout while it is made.
struct LayoutBuilder<'a> {
    ui: &'a Ui,
    state: &'a PageState,
    layout: Layout,
    path: Vec<PageStep>,
    indent: f32,
    part: Option<Part>,
}

impl LayoutBuilder<'_> {
    fn push(&mut self, list: usize, block: usize, height: f32, what: ItemKind) -> &mut Item {
        let item = Item {
            top: self.layout.height,
            height,
            indent: self.indent,
            list,
            block,
            what,
            key: None,
            opens: false,
        };
        self.layout.height += height;
        self.layout.items.push(item);
        // It was pushed just now.
        let newest = self.layout.items.len() - 1;
        &mut self.layout.items[newest]
    }

    fn gap(&mut self, points: f32) {
        self.layout.height += points;
    }

    fn height(&self, words: &str, font: FontId, width: f32) -> f32 {
        let color = Tokens::of(self.ui).text;
        let galley = self.ui.painter().layout(words.to_owned(), font, color, width.max(40.0));
        galley.size().y.ceil()
    }

    fn line_height(&self, line: &Line, width: f32) -> f32 {
        let (font, _) = style(Tokens::of(self.ui), line);
        self.height(&line.text, font, width)
    }

    /// A unique key of an expandable item on the page.
    fn key(&self, what: &str, text: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.part, &self.path, what, text).hash(&mut hasher);
        hasher.finish()
    }

    fn page(&mut self, shape: &PageShape<'_>) {
        let page = Arc::clone(shape.page);
        let width = self.layout.width;
        if shape.opening {
            let height = self.height(&page.title, text::title(), width);
            self.push(0, 0, height, ItemKind::Title);
            self.gap(2.0);
            if !page.generator.is_empty() {
                self.push(0, 0, 18.0, ItemKind::Generator);
            }
            if !page.facts.is_empty() {
                let height = self.height(&page.facts.join("  ·  "), text::body(), width);
                self.push(0, 0, height, ItemKind::Facts);
            }
            self.gap(space::S);
            for (place, line) in page.lead.iter().enumerate() {
                let height = self.line_height(line, width);
                self.push(0, 0, height, ItemKind::Lead(place));
                self.gap(space::XS);
            }
        }
        for (place, section) in page.sections.iter().enumerate() {
            self.part = Some(section.part);
            self.gap(if self.layout.items.is_empty() { 0.0 } else { space::L });
            self.layout.sections.push((section.part, self.layout.height));
            if shape.headings {
                let key = self.key("section", &section.part.id());
                self.push(0, 0, 26.0, ItemKind::Section(place)).key = Some(key);
                self.gap(space::S);
            }
            self.path = vec![PageStep::Section(place)];
            self.blocks(&section.blocks);
            self.path.clear();
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        let list = self.layout.lists.len();
        self.layout.lists.push(self.path.clone());
        let width = self.layout.width - self.indent;
        for (at, block) in blocks.iter().enumerate() {
            match block {
                Block::Line(line) => {
                    let height = self.line_height(line, width);
                    self.push(list, at, height, ItemKind::Line);
                    self.gap(6.0);
                }
                Block::Heading(words) => {
                    self.gap(space::XS);
                    let height = self.height(words, text::strong(), width);
                    self.push(list, at, height, ItemKind::Heading);
                    self.gap(space::XS);
                }
                Block::Facts(facts) => {
                    let names = self.names(facts, width);
                    for (place, (_, value)) in facts.iter().enumerate() {
                        let height = self.line_height(value, width - names).max(18.0);
                        self.push(list, at, height, ItemKind::Fact(place, names));
                        self.gap(2.0);
                    }
                    self.gap(6.0);
                }
                Block::Chart(chart) => {
                    self.push(list, at, chart::height(chart, width), ItemKind::Chart);
                    self.gap(space::S);
                }
                Block::Table(table) => self.table(list, at, table, width),
                Block::Fold(title, inner) => {
                    let key = self.key("fold", title);
                    let head = self.push(list, at, row::NORMAL, ItemKind::Fold);
                    (head.key, head.opens) = (Some(key), true);
                    if self.state.open.contains(&key) {
                        self.inside(PageStep::Fold(at), inner);
                    }
                    self.gap(2.0);
                }
                Block::Code(_, words) => {
                    let key = self.key("code", &at.to_string());
                    self.push(list, at, 24.0, ItemKind::CodeHead).key = Some(key);
                    for (range, whole) in code::rows(self.ui, words, width) {
                        self.push(list, at, code::ROW, ItemKind::Code(range, whole));
                    }
                    self.gap(space::S + code::PAD);
                }
            }
        }
    }

    /// Indented blocks.
    fn inside(&mut self, step: PageStep, blocks: &[Block]) {
        self.path.push(step);
        self.indent += INDENT;
        self.gap(space::XS);
        self.blocks(blocks);
        self.indent -= INDENT;
        self.path.pop();
    }

    /// Room of the names of facts.
    fn names(&self, facts: &[(String, Line)], width: f32) -> f32 {
        let color = Tokens::of(self.ui).text;
        let longest = facts.iter().map(|(name, _)| name).max_by_key(|name| name.len());
        let size = |name: &String| {
            let name: String = name.chars().take(80).collect();
            self.ui.painter().layout_no_wrap(name, text::body(), color).size().x
        };
        (longest.map_or(0.0, size) * 1.08 + 20.0).clamp(96.0, (width * 0.4).max(96.0)).ceil()
    }

    fn table(&mut self, list: usize, at: usize, table: &Table, width: f32) {
        let place = self.layout.measured.get(&(self.path.clone(), at)).copied();
        let place = place.unwrap_or_else(|| {
            self.layout.tables.push(TableColumns::new(self.ui, table));
            let place = self.layout.tables.len() - 1;
            self.layout.measured.insert((self.path.clone(), at), place);
            place
        });
        let Some(columns) = self.layout.tables.get_mut(place) else { return };
        columns.fit(width);
        let left_out: Vec<usize> = columns.left_out().collect();
        self.push(list, at, row::NORMAL, ItemKind::Heads(place));
        for (number, line) in table.rows.iter().enumerate() {
            let name = line.cells.first().map_or("", |cell| cell.text.as_str());
            // Rows with the same name differ by position.
            let key = self.key(&format!("row {number}"), name);
            let opens = !line.details.is_empty() || !left_out.is_empty();
            let head = self.push(list, at, row::NORMAL, ItemKind::Row(place, number));
            (head.key, head.opens) = (Some(key), opens);
            if !opens || !self.state.open.contains(&key) {
                continue;
            }
            self.indent += INDENT;
            self.gap(space::XS);
            for column in &left_out {
                let Some(cell) = line.cells.get(*column).filter(|cell| !cell.text.is_empty()) else {
                    continue;
                };
                let height = self.line_height(cell, width - INDENT - CELL_NAME).max(18.0);
                self.push(list, at, height, ItemKind::Cell(number, *column));
            }
            self.indent -= INDENT;
            self.inside(PageStep::Row(at, number), &line.details);
            self.gap(space::XS);
        }
        if table.more > 0 {
            self.push(list, at, row::NORMAL, ItemKind::More);
        }
        self.gap(space::S);
    }
}
