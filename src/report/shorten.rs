//! Makes a page shorter: fewer rows, less evidence, shorter texts. What is left out is counted.

use super::page::{Block, Line, Page, Row, Section, Table, Tone};
use crate::base::size::grouped;
use crate::base::text::{elide_end, elide_middle};

/// What a page may be as HTML, in bytes as [`weight`] counts them: 2 MB less the style and a margin.
const MOST: usize = 1_700_000;

/// How much of a page stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Rows of a table.
    pub(super) rows: usize,
    /// Rows of a table that keep their evidence.
    pub(super) evidence: usize,
    /// Rows of a table within evidence.
    pub(super) inner: usize,
    /// Characters of a text.
    pub(super) text: usize,
    /// Characters of a block of code; the rest of it goes line by line.
    pub(super) code: usize,
}

/// From generous to what is left of any page.
const STEPS: [Limits; 5] = [
    Limits { rows: 150, evidence: 100, inner: 8, text: 700, code: 24_000 },
    Limits { rows: 100, evidence: 50, inner: 6, text: 500, code: 16_000 },
    Limits { rows: 60, evidence: 20, inner: 4, text: 300, code: 8_000 },
    Limits { rows: 30, evidence: 8, inner: 3, text: 200, code: 4_000 },
    Limits { rows: 15, evidence: 0, inner: 0, text: 120, code: 0 },
];

/// The page, shortened until its HTML stays under 2 MB.
pub(super) fn to_fit(page: Page) -> Page {
    if weight(&page) <= MOST {
        return page;
    }
    let shorter = STEPS.iter().map(|limits| shortened(&page, *limits)).find(|page| weight(page) <= MOST);
    shorter.unwrap_or_else(|| shortened(&page, STEPS[STEPS.len() - 1]))
}

/// A page within limits. Figures stay: only names and lists become shorter.
pub(super) fn shortened(page: &Page, limits: Limits) -> Page {
    let section = |section: &Section| Section {
        part: section.part,
        note: elide_end(&section.note, limits.text),
        blocks: blocks(&section.blocks, limits, false),
    };
    Page {
        title: elide_middle(&page.title, limits.text),
        generator: page.generator.clone(),
        facts: page.facts.iter().map(|fact| elide_end(fact, limits.text)).collect(),
        lead: page.lead.iter().map(|one| line(one, limits.text.max(300))).collect(),
        sections: page.sections.iter().map(section).collect(),
    }
}

fn blocks(list: &[Block], limits: Limits, inner: bool) -> Vec<Block> {
    let mut shorter = Vec::with_capacity(list.len());
    for block in list {
        match block {
            Block::Table(whole) => {
                let table = table(whole, limits, inner);
                let kept = table.rows.iter().filter(|row| !row.details.is_empty()).count();
                let had = whole.rows.iter().filter(|row| !row.details.is_empty()).count();
                shorter.push(Block::Table(table));
                if !inner && kept < had {
                    let (kept, had) = (grouped(kept as u64), grouped(had as u64));
                    let text = format!("Evidence of {kept} of {had} {} is left here.", whole.noun);
                    shorter.push(Block::Line(Line::plain(text).tone(Tone::Weak)));
                }
            }
            Block::Line(one) => shorter.push(Block::Line(line(one, limits.text))),
            Block::Heading(text) => shorter.push(Block::Heading(elide_end(text, limits.text))),
            Block::Facts(facts) => {
                let fact = |(name, value): &(String, Line)| (elide_end(name, limits.text), line(value, limits.text));
                shorter.push(Block::Facts(facts.iter().map(fact).collect()));
            }
            Block::Chart(chart) => shorter.push(Block::Chart(chart.clone())),
            Block::Fold(title, list) => {
                let list = blocks(list, limits, inner);
                if !list.is_empty() {
                    shorter.push(Block::Fold(elide_end(title, limits.text), list));
                }
            }
            Block::Code(_, _) if limits.code == 0 => {}
            Block::Code(language, text) => shorter.push(Block::Code(language, code(text, limits.code))),
        }
    }
    shorter
}

fn table(table: &Table, limits: Limits, inner: bool) -> Table {
    let most = if inner { limits.inner } else { limits.rows };
    let row = |(place, row): (usize, &Row)| Row {
        cells: row.cells.iter().map(|cell| line(cell, limits.text)).collect(),
        details: if inner || place >= limits.evidence {
            Vec::new()
        } else {
            blocks(&row.details, limits, true)
        },
    };
    Table {
        columns: table.columns.clone(),
        rows: table.rows.iter().take(most).enumerate().map(row).collect(),
        more: table.more.saturating_add(table.rows.len().saturating_sub(most) as u64),
        noun: table.noun,
    }
}

fn line(line: &Line, most: usize) -> Line {
    // The end of a path says which file it is.
    let text = if line.code { elide_middle(&line.text, most) } else { elide_end(&line.text, most) };
    Line { text, ..*line }
}

fn code(text: &str, most: usize) -> String {
    let mut shorter = String::new();
    let mut used = 0_usize;
    let all = text.lines().count();
    for (number, line) in text.lines().enumerate() {
        used = used.saturating_add(line.chars().count() + 1);
        if used > most {
            shorter += &format!("# {} more lines: the JSON report has the whole text\n", grouped((all - number) as u64));
            break;
        }
        shorter += line;
        shorter.push('\n');
    }
    shorter
}

/// About how many bytes a page is as HTML.
fn weight(page: &Page) -> usize {
    let sections = page.sections.iter().map(|section| 200 + of_text(&section.note) + of_blocks(&section.blocks));
    let lines = page.lead.iter().map(|line| 40 + of_text(&line.text));
    of_text(&page.title) * 2 + lines.chain(sections).fold(0, usize::saturating_add)
}

fn of_blocks(list: &[Block]) -> usize {
    list.iter().map(of_block).fold(0, usize::saturating_add)
}

fn of_block(block: &Block) -> usize {
    match block {
        Block::Line(line) => 40 + of_text(&line.text),
        Block::Heading(text) => 40 + of_text(text),
        Block::Facts(facts) => {
            facts.iter().map(|(name, line)| 80 + of_text(name) + of_text(&line.text)).fold(0, usize::saturating_add)
        }
        // A part is a piece of the bar, and a line of the legend with name, bytes and share.
        Block::Chart(chart) => chart.parts.iter().map(|part| 400 + 3 * of_text(&part.name)).sum(),
        Block::Table(table) => {
            let head = table.columns.iter().map(|column| 60 + of_text(&column.title));
            head.chain(table.rows.iter().map(of_row)).fold(0, usize::saturating_add)
        }
        Block::Fold(title, list) => 80 + of_text(title) + of_blocks(list),
        Block::Code(_, text) => 60 + of_text(text),
    }
}

fn of_row(row: &Row) -> usize {
    let cells = row.cells.iter().map(|cell| 60 + of_text(&cell.text)).fold(0, usize::saturating_add);
    let details = if row.details.is_empty() { 0 } else { 160 };
    20 + cells + details + of_blocks(&row.details)
}

/// A text with what has to be escaped in HTML.
fn of_text(text: &str) -> usize {
    let weight = |character: char| match character {
        '<' | '>' | '&' | '"' | '\'' | '/' | '`' | '=' => 6,
        other => other.len_utf8(),
    };
    text.chars().map(weight).sum()
}
