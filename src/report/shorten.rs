//! Shortens a page: fewer rows, less evidence, shorter texts. Omissions are counted.

use std::fmt::Write as _;

use super::page::{Block, Chart, Line, Page, Row, Section, Slice, Table, Tone};
use crate::base::size::grouped;
use crate::base::text::{elide_end, elide_middle};

/// Limits of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Rows of a table in the parts that are read first, and how many of them keep their evidence.
    pub(super) first: (usize, usize),
    /// The same in the other parts.
    pub(super) others: (usize, usize),
    /// Rows of a table within evidence.
    pub(super) inner: usize,
    /// Characters of a text.
    pub(super) text: usize,
    /// Characters of a block of code.
    pub(super) code: usize,
}

/// A page within limits. Figures stay: only names and lists become shorter.
pub(super) fn shortened(page: &Page, limits: Limits) -> Page {
    let section = |section: &Section| {
        let (rows, evidence) = if section.part.is_first() { limits.first } else { limits.others };
        let truncator = Truncator { rows, evidence, limits };
        Section {
            part: section.part,
            note: elide_end(&section.note, limits.text),
            blocks: truncator.blocks(&section.blocks),
        }
    };
    Page {
        title: elide_middle(&page.title, limits.text),
        generator: elide_end(&page.generator, limits.text),
        facts: page.facts.iter().map(|fact| elide_end(fact, limits.text)).collect(),
        // What to know first is known whole.
        lead: page.lead.iter().map(|one| line(one, limits.text.max(300))).collect(),
        sections: page.sections.iter().map(section).collect(),
    }
}

/// Cuts the blocks of one section.
#[derive(Clone, Copy)]
struct Truncator {
    rows: usize,
    evidence: usize,
    limits: Limits,
}

impl Truncator {
    fn blocks(self, list: &[Block]) -> Vec<Block> {
        let mut shorter = Vec::with_capacity(list.len());
        for block in list {
            shorter.extend(self.block(block));
            if let (Block::Table(whole), Some(Block::Table(cut))) = (block, shorter.last()) {
                shorter.extend(missing_evidence(whole, cut));
            }
        }
        shorter
    }

    fn block(self, block: &Block) -> Option<Block> {
        let most = self.limits.text;
        Some(match block {
            Block::Line(one) => Block::Line(line(one, most)),
            Block::Heading(text) => Block::Heading(elide_end(text, most)),
            Block::Facts(facts) => Block::Facts(self.facts(facts)),
            Block::Chart(chart) => Block::Chart(self.chart(chart)),
            Block::Table(table) => Block::Table(self.table(table)),
            Block::Fold(title, list) => {
                let list = self.blocks(list);
                return (!list.is_empty()).then(|| Block::Fold(elide_end(title, most), list));
            }
            Block::Code(_, _) if self.limits.code == 0 => return None,
            Block::Code(language, text) => Block::Code(language, code(text, self.limits.code)),
        })
    }

    fn facts(self, facts: &[(String, Line)]) -> Vec<(String, Line)> {
        // Evidence has at most about twenty facts, whatever the limit.
        let most = self.rows.max(20);
        let fact = |(name, value): &(String, Line)| {
            (elide_end(name, self.limits.text), line(value, self.limits.text))
        };
        let mut shorter: Vec<_> = facts.iter().take(most).map(fact).collect();
        if let Some(more @ 1..) = facts.len().checked_sub(most) {
            shorter.push(("And".to_owned(), Line::plain(format!("{} more", grouped(more as u64)))));
        }
        shorter
    }

    /// Joins the smallest parts, so that the whole is unchanged.
    fn chart(self, chart: &Chart) -> Chart {
        let most = self.rows.max(8);
        let part = |part: &Slice| Slice { name: elide_end(&part.name, self.limits.text), ..part.clone() };
        let mut parts: Vec<Slice> = chart.parts.iter().take(most).map(part).collect();
        let rest = chart.parts.get(most..).unwrap_or_default();
        if !rest.is_empty() {
            let bytes = rest.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes));
            parts.push(Slice {
                name: format!("{} others", grouped(rest.len() as u64)),
                bytes,
                colour: "other",
            });
        }
        Chart { title: elide_end(&chart.title, self.limits.text), parts }
    }

    fn table(self, table: &Table) -> Table {
        let row = |(place, row): (usize, &Row)| Row {
            cells: row.cells.iter().map(|cell| line(cell, self.limits.text)).collect(),
            details: if place < self.evidence { self.within().blocks(&row.details) } else { Vec::new() },
        };
        Table {
            columns: table.columns.clone(),
            rows: table.rows.iter().take(self.rows).enumerate().map(row).collect(),
            more: table.more.saturating_add(table.rows.len().saturating_sub(self.rows) as u64),
            noun: table.noun,
        }
    }

    /// The same for the details of a row.
    fn within(self) -> Self {
        Self { rows: self.limits.inner, evidence: 0, ..self }
    }
}

fn missing_evidence(whole: &Table, cut: &Table) -> Option<Block> {
    let with = |table: &Table| table.rows.iter().filter(|row| !row.details.is_empty()).count();
    let (kept, had) = (with(cut), with(whole));
    let text = || {
        let (kept, had) = (grouped(kept as u64), grouped(had as u64));
        format!("Details of the first {kept} of {had} {}; the JSON report is complete.", whole.noun)
    };
    (kept > 0 && kept < had).then(|| Block::Line(Line::plain(text()).tone(Tone::Weak)))
}

fn line(line: &Line, most: usize) -> Line {
    // The end of a path is the most specific.
    let text = if line.code { elide_middle(&line.text, most) } else { elide_end(&line.text, most) };
    Line { text, ..*line }
}

/// Whole lines of a text, as many as fit; the last one counts the omitted lines.
pub(super) fn code(text: &str, most: usize) -> String {
    let mut shorter = String::new();
    let mut used = 0_usize;
    let all = text.lines().count();
    for (number, line) in text.lines().enumerate() {
        used = used.saturating_add(line.chars().count() + 1);
        if used > most {
            let (left, verb) = match all - number {
                1 => ("1 line".to_owned(), "is"),
                left => (format!("{} lines", grouped(left as u64)), "are"),
            };
            // Writing to a String cannot fail.
            writeln!(shorter, "# {left} {verb} omitted; the JSON report is complete").ok();
            break;
        }
        shorter += line;
        shorter.push('\n');
    }
    shorter
}
