//! List caps of a page, and what was omitted.

use crate::base::size::grouped;
use crate::report::page::{Block, Line, Page, Row, Table};

/// What no file has more of, however small each of it is: browsers become slow.
const MOST_ROWS: usize = 5000;
/// Blocks within blocks beyond this are left out; ours have three levels.
pub(super) const DEEPEST: usize = 8;

/// Caps of each list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caps {
    /// Rows of a table, lines of a code.
    pub(super) rows: usize,
    /// Rows of a table that keep their details.
    pub(super) details: usize,
    /// Anything else of which there are many: blocks, columns, sections.
    pub(super) items: usize,
    /// Characters of a text.
    pub(super) text: usize,
}

impl Caps {
    /// From all that is sensible to nearly nothing: rows go first, then details, then texts, then all else.
    pub(super) fn steps() -> impl Iterator<Item = Self> {
        let all = Self { rows: MOST_ROWS, details: MOST_ROWS, items: 2000, text: 20_000 };
        let rows = [5000, 2000, 1000, 500, 200, 100].map(|rows| Self { rows, ..all });
        let details = [100, 50, 20, 10, 0].map(|details| Self { rows: 100, details, ..all });
        let texts = [2000, 500, 200].map(|text| Self { rows: 50, details: 0, text, ..all });
        let items = [500, 100, 20].map(|items| Self { rows: 20, details: 0, items, text: 200 });
        rows.into_iter().chain(details).chain(texts).chain(items)
    }

    /// Bytes that the file has at least: what needs more than there may be is not worth a try. Stops counting soon
    /// after that, so that a page of any size costs little.
    pub(super) fn least_bytes(self, page: &Page) -> usize {
        let sections = page.sections.iter().take(self.items);
        let blocks = sections.flat_map(|section| section.blocks.iter().take(self.items));
        sum(blocks.map(|block| self.of_block(block, 0)))
    }

    fn of_block(self, block: &Block, depth: usize) -> usize {
        match block {
            _ if depth >= DEEPEST => 0,
            Block::Line(line) => self.of_line(line),
            Block::Heading(text) => self.of_text(text),
            Block::Facts(facts) => sum(facts
                .iter()
                .take(self.items)
                .map(|(name, value)| self.of_text(name).saturating_add(self.of_line(value)))),
            Block::Chart(chart) => chart.parts.len().min(self.items).saturating_mul(100),
            Block::Table(table) => self.of_table(table, depth),
            Block::Fold(_, blocks) => self.of_blocks(blocks, depth),
            Block::Code(_, text) => sum(text.lines().take(self.rows).map(|line| self.of_text(line))),
        }
    }

    fn of_blocks(self, blocks: &[Block], depth: usize) -> usize {
        sum(blocks.iter().take(self.items).map(|block| self.of_block(block, depth + 1)))
    }

    fn of_table(self, table: &Table, depth: usize) -> usize {
        /// Around a row, its first cell included.
        const TAGS: usize = "<tr><th scope=\"row\"></th></tr>\n".len();
        let cells = |row: &Row| TAGS + sum(row.cells.iter().take(self.items).map(|cell| self.of_line(cell)));
        let rows = table.rows.iter().take(self.rows);
        let details = table.rows.iter().filter(|row| !row.details.is_empty()).take(self.details);
        sum(rows.map(cells)).saturating_add(sum(details.map(|row| self.of_blocks(&row.details, depth))))
    }

    fn of_line(self, line: &Line) -> usize {
        let code = if line.code { "<code></code>".len() } else { 0 };
        self.of_text(&line.text) + code
    }

    /// With the tags that any text has around it.
    fn of_text(self, text: &str) -> usize {
        text.len().min(self.text) + "<p></p>\n".len()
    }
}

/// The sum, which is exact up to what a file may have.
fn sum(sizes: impl Iterator<Item = usize>) -> usize {
    let mut sum = 0_usize;
    for size in sizes {
        sum = sum.saturating_add(size);
        if sum > super::MOST_BYTES {
            break;
        }
    }
    sum
}

/// Contents of the page that are not in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Rows of tables, lines of code.
    pub(super) rows: u64,
    /// Rows without their details.
    pub(super) details: u64,
    /// Texts that were cut.
    pub(super) texts: u64,
    /// Blocks, columns, sections.
    pub(super) items: u64,
}

impl LeftOut {
    /// A sentence on it, if there is anything.
    pub(super) fn sentence(self) -> Option<String> {
        let parts = [
            (self.rows, "row", "rows"),
            (self.details, "details of a row", "details of rows"),
            (self.texts, "text cut short", "texts cut short"),
            (self.items, "other part", "other parts"),
        ];
        let named: Vec<String> = parts
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| format!("{} {}", grouped(count), if count == 1 { one } else { many }))
            .collect();
        (!named.is_empty()).then(|| {
            format!(
                "Shortened to limit the file size; omitted: {}. The JSON report is complete.",
                named.join(", ")
            )
        })
    }
}
