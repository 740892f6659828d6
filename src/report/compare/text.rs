//! The page of a comparison for a terminal, in 80 columns. The last line is the verdict.

use std::fmt::{self, Write as _};

use super::model::CompareReport;
use super::page::page_of;
use super::rows::View;
use crate::base::text::{elide_end, elide_middle, printable};
use crate::report::page::{Block, Line, Table};
use crate::report::text::{WIDTH, wrap};

/// Images side by side; of more, the first and the last.
const MOST_IMAGES: usize = 4;
/// Columns then.
const ENDS: usize = 2;
/// Characters of the head of a column: a size with its sign has as many.
const TITLE_WIDTH: usize = 9;
/// Before a line of a section.
const INDENT: usize = 2;
/// Between two columns.
const GAP: usize = 1;
/// What a column is not cut below.
const LEAST: usize = 5;

/// A comparison as text. Nothing in it can steer a terminal.
pub fn compare_to_text(report: &CompareReport) -> String {
    let most = if report.images.len() > MOST_IMAGES { ENDS } else { MOST_IMAGES };
    let mut out = String::new();
    // Writing to a String cannot fail.
    write_all(&mut out, &View::new(report, most, TITLE_WIDTH)).ok();
    out
}

fn write_all(out: &mut String, view: &View<'_>) -> fmt::Result {
    let page = page_of(view);
    paragraph(out, &page.title, 0)?;
    paragraph(out, &page.facts.join("; "), 0)?;
    writeln!(out)?;
    page.lead.iter().try_for_each(|line| paragraph(out, &line.text, 0))?;
    for section in &page.sections {
        let note = if section.note.is_empty() { String::new() } else { format!(": {}", section.note) };
        writeln!(out, "\n{}", elide_end(&format!("{}{note}", section.part.title()), WIDTH))?;
        for (number, one) in section.blocks.iter().enumerate() {
            // Tables that follow each other need a line between them.
            if number > 0 && matches!(one, Block::Table(_)) {
                writeln!(out)?;
            }
            block(out, one)?;
        }
    }
    // The verdict stays whole: scripts read it.
    writeln!(out, "\n{}", printable(&view.report.verdict_line()))
}

/// Lines of at most 80 columns; a word that is longer is cut.
fn paragraph(out: &mut String, text: &str, indent: usize) -> fmt::Result {
    let lines = wrap(text, WIDTH - indent);
    lines.iter().try_for_each(|line| writeln!(out, "{:indent$}{}", "", elide_end(line, WIDTH - indent)))
}

fn block(out: &mut String, block: &Block) -> fmt::Result {
    match block {
        Block::Line(line) => paragraph(out, &line.text, INDENT),
        Block::Heading(text) | Block::Fold(text, _) | Block::Code(_, text) => paragraph(out, text, INDENT),
        Block::Facts(facts) => facts
            .iter()
            .try_for_each(|(name, line)| paragraph(out, &format!("{name}: {}", line.text), INDENT)),
        Block::Chart(_) => Ok(()),
        Block::Table(table) => write_table(out, table),
    }
}

fn write_table(out: &mut String, table: &Table) -> fmt::Result {
    let heads: Vec<Line> = table.columns.iter().map(|column| Line::plain(column.title.as_str())).collect();
    let rows: Vec<&[Line]> =
        std::iter::once(&heads[..]).chain(table.rows.iter().map(|row| &row.cells[..])).collect();
    let widths = widths(&rows, table.columns.len());
    for cells in rows {
        let mut line = " ".repeat(INDENT);
        for ((cell, width), column) in cells.iter().zip(&widths).zip(&table.columns) {
            let width = *width;
            // The end of a path and the beginning of a command are the most specific.
            let middle = cell.code && !cell.text.contains(' ');
            let text = if middle { elide_middle(&cell.text, width) } else { elide_end(&cell.text, width) };
            // A column of words is to the left, also where all words are versions.
            if column.number && !cell.code {
                write!(line, "{text:>width$}{:GAP$}", "")?;
            } else {
                write!(line, "{text:<width$}{:GAP$}", "")?;
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    if table.more > 0 {
        writeln!(out, "  and {} more {}", crate::base::size::grouped(table.more), table.noun)?;
    }
    Ok(())
}

/// As wide as the widest cell; while that is too wide together, the widest column is cut.
fn widths(rows: &[&[Line]], columns: usize) -> Vec<usize> {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|cells| cells.get(column));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0).min(WIDTH)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let room = (WIDTH - INDENT).saturating_sub(columns.saturating_sub(1) * GAP);
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            _ => break,
        }
    }
    widths
}
