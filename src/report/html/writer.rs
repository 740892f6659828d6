//! Converts a page for the template: with caps applied, and omissions counted.

use std::borrow::Cow;

use super::caps::{Caps, DEEPEST, LeftOut};
use super::chart::ChartView;
use super::view::{
    BlockView, CellView, ColumnView, Document, LONG, NUMBER, RowView, SectionView, TableView, TextView,
};
use crate::base::labels::is_label;
use crate::base::size::grouped;
use crate::base::text::{elide_end, is_unsafe, printable, printable_lines};
use crate::report::page::{Block, Chart, Line, Page, Row, Section, Table, Tone};

/// Tables wider than this many characters scroll in a box, even in a wide window. The page has room for 95 of the
/// widest common font in the narrowest window with contents at its side.
const MOST_BESIDE: usize = 90;
/// The space between columns, in characters.
const BETWEEN: usize = 2;
/// Longer numbers and verdicts are written as text, and their column may wrap.
const SHORT: usize = 28;

impl<'a> Document<'a> {
    /// A page limited by `caps`.
    pub(super) fn new(page: &'a Page, caps: Caps) -> Self {
        let mut writer =
            Writer { caps, left_out: LeftOut::default(), headings: 0, charts: 0, label: String::new() };
        let title = writer.text(&page.title);
        let generator = writer.text(&page.generator);
        let facts = writer.some(&page.facts).iter().map(|fact| writer.text(fact)).collect();
        let lead = writer.some(&page.lead).iter().map(|line| writer.line(line)).collect();
        let mut ids: Vec<String> = Vec::new();
        let sections = writer
            .some(&page.sections)
            .iter()
            .map(|section| {
                let id = free_id(&section.part.id(), &ids);
                ids.push(id.clone());
                writer.section(section, id)
            })
            .collect();
        Self { title, generator, facts, lead, sections, shortened: writer.left_out.sentence() }
    }
}

/// `name`, with a number appended if it is taken.
fn free_id(name: &str, taken: &[String]) -> String {
    let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|id| !taken.contains(id)).unwrap_or_default()
}

/// `text` without characters that affect their neighbours.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if text.contains(is_unsafe) { printable(text).into() } else { text.into() }
}

/// How many of a list are written, and how many are not.
fn split(all: usize, most: usize) -> (usize, u64) {
    (all.min(most), all.saturating_sub(most) as u64)
}

fn more(left_out: u64, noun: &str) -> BlockView<'static> {
    let named = match left_out {
        1 => "1 more is".to_owned(),
        count => format!("{} more {noun} are", grouped(count)),
    };
    BlockView::More { text: format!("{named} omitted; the JSON report is complete.") }
}

/// Whether a text is a label, such as `Runs after JIT compilation`, or another single word: it is drawn as a badge.
fn is_badge(text: &str) -> bool {
    const LONGEST: usize = 16;
    is_label(text) || text.len() <= LONGEST && !text.contains(' ')
}

fn is_short(text: &str) -> bool {
    text.chars().nth(SHORT).is_none()
}

struct Writer {
    caps: Caps,
    left_out: LeftOut,
    headings: usize,
    charts: usize,
    /// The id of the last heading.
    label: String,
}

impl Writer {
    fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        self.cut(harmless(text))
    }

    fn cut<'a>(&mut self, text: Cow<'a, str>) -> Cow<'a, str> {
        if text.len() <= self.caps.text || text.chars().nth(self.caps.text).is_none() {
            return text;
        }
        self.left_out.texts += 1;
        elide_end(&text, self.caps.text).into()
    }

    fn line<'a>(&mut self, line: &'a Line) -> TextView<'a> {
        let text = self.text(&line.text);
        let class = match line.tone {
            Tone::Plain | Tone::Strong => "",
            Tone::Weak => "weak",
            Tone::Good if is_badge(&text) => "badge good",
            Tone::Unsure if is_badge(&text) => "badge unsure",
            Tone::Bad if is_badge(&text) => "badge bad",
            Tone::Good => "good",
            Tone::Unsure => "unsure",
            Tone::Bad => "bad",
            Tone::Added => "added",
            Tone::Removed => "removed",
            Tone::Changed => "changed",
        };
        let tag = match line.tone {
            _ if line.code => "code",
            Tone::Plain => "",
            Tone::Strong => "strong",
            _ => "span",
        };
        TextView { text, tag, class: if line.code && line.tone == Tone::Strong { "strong" } else { class } }
    }

    /// As many of a list as there may be.
    fn some<'a, T>(&mut self, items: &'a [T]) -> &'a [T] {
        let (shown, rest) = items.split_at(items.len().min(self.caps.items));
        self.left_out.items += rest.len() as u64;
        shown
    }

    fn section<'a>(&mut self, section: &'a Section, id: String) -> SectionView<'a> {
        self.label = format!("{id}-title");
        let note = self.text(&section.note);
        let blocks = self.blocks(&section.blocks, 0);
        SectionView { id, title: section.part.title(), note, blocks }
    }

    fn blocks<'a>(&mut self, blocks: &'a [Block], depth: usize) -> Vec<BlockView<'a>> {
        if depth >= DEEPEST {
            self.left_out.items += blocks.len() as u64;
            return Vec::new();
        }
        self.some(blocks).iter().flat_map(|block| self.block(block, depth)).collect()
    }

    /// A block, and the line on what was left out of it. Nothing for a chart of nothing.
    fn block<'a>(&mut self, block: &'a Block, depth: usize) -> Vec<BlockView<'a>> {
        match block {
            Block::Line(line) => vec![BlockView::Line { line: self.line(line) }],
            Block::Heading(text) => vec![self.heading(text)],
            Block::Facts(facts) => {
                let facts = self.some(facts).iter().map(|(name, value)| (self.text(name), self.line(value)));
                vec![BlockView::Facts { facts: facts.collect() }]
            }
            Block::Chart(chart) => self.chart(chart),
            Block::Table(table) => self.table(table, depth),
            Block::Fold(summary, blocks) => {
                let summary = self.text(summary);
                vec![BlockView::Fold { summary, blocks: self.blocks(blocks, depth + 1) }]
            }
            Block::Code(language, text) => self.code(language, text),
        }
    }

    fn heading<'a>(&mut self, text: &'a str) -> BlockView<'a> {
        self.headings += 1;
        let id = format!("heading-{}", self.headings);
        self.label.clone_from(&id);
        BlockView::Heading { id, text: self.text(text) }
    }

    fn chart<'a>(&mut self, chart: &'a Chart) -> Vec<BlockView<'a>> {
        self.charts += 1;
        let id = format!("chart-{}", self.charts);
        let title = self.text(&chart.title);
        let names = self.some(&chart.parts).iter().map(|part| self.text(&part.name)).collect();
        let chart = ChartView::new(id, title, chart, names);
        if chart.parts.is_empty() { Vec::new() } else { vec![BlockView::Chart { chart }] }
    }

    fn table<'a>(&mut self, table: &'a Table, depth: usize) -> Vec<BlockView<'a>> {
        let (shown, left_out) = split(table.rows.len(), self.caps.rows);
        self.left_out.rows += left_out;
        let label = self.label.clone();
        let mut room = self.caps.details;
        let rows: Vec<RowView> =
            table.rows.iter().take(shown).map(|row| self.row(row, table, &mut room, depth)).collect();
        self.label.clone_from(&label);
        let columns: Vec<ColumnView> = self
            .some(&table.columns)
            .iter()
            .enumerate()
            .map(|(place, column)| {
                let cells = rows.iter().filter_map(|row| row.cells.get(place));
                ColumnView::new(self.text(&column.title), column.number, cells)
            })
            .collect();
        let opens = rows.iter().any(|row| !row.details.is_empty());
        let span = columns.len() + usize::from(opens);
        let fits = columns.iter().map(|column| column.width + BETWEEN).sum::<usize>() <= MOST_BESIDE;
        let fills = opens || columns.iter().any(|column| column.class == LONG);
        let left_out = left_out.saturating_add(table.more);
        let more = (left_out > 0).then(|| more(left_out, table.noun));
        let table = TableView { label, columns, rows, opens, span, fits, fills };
        std::iter::once(BlockView::Table { table }).chain(more).collect()
    }

    fn row<'a>(&mut self, row: &'a Row, table: &'a Table, room: &mut usize, depth: usize) -> RowView<'a> {
        let cells = row.cells.iter().zip(&table.columns).take(self.caps.items);
        let cells = cells.map(|(line, column)| {
            let text = self.line(line);
            let cell = match (is_short(&text.text), column.number) {
                (false, _) => LONG,
                (true, true) => NUMBER,
                (true, false) => "",
            };
            CellView { text, cell }
        });
        let cells = cells.collect();
        let details = match (row.details.is_empty(), room.checked_sub(1)) {
            (true, _) => Vec::new(),
            (false, None) => {
                self.left_out.details += 1;
                Vec::new()
            }
            (false, Some(rest)) => {
                *room = rest;
                self.blocks(&row.details, depth + 1)
            }
        };
        RowView { cells, details }
    }

    fn code<'a>(&mut self, language: &'static str, text: &'a str) -> Vec<BlockView<'a>> {
        let (shown, left_out) = split(text.lines().count(), self.caps.rows);
        self.left_out.rows += left_out;
        let lines = text.lines().take(shown).map(|line| {
            let class = if language == "diff" { of_diff(line) } else { "" };
            let tag = if class.is_empty() { "" } else { "span" };
            TextView { text: self.cut(printable_lines(line).into()), tag, class }
        });
        let code = BlockView::Code { language, lines: lines.collect() };
        let more = (left_out > 0).then(|| more(left_out, "lines"));
        std::iter::once(code).chain(more).collect()
    }
}

/// How a line of a diff is meant.
fn of_diff(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', ..] => "weak",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        _ => "",
    }
}
