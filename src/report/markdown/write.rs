//! Writes a page as Markdown: important parts are open, the rest is folded.

use std::fmt::{self, Write as _};

use super::escape::{code, escape, fenced, html_code};
use crate::base::size::{grouped, human};
use crate::report::page::{Block, Chart, Column, Line, Page, Row, Section, Table, Tone};

/// Rows of a table that stay open; a few more do too, because a fold for two rows saves nothing.
const OPEN_ROWS: usize = 10;
const SLACK: usize = 3;
/// Characters of a full bar.
const BAR: usize = 24;

/// The page; with `is_cut` it states that it was shortened.
pub(super) fn write(page: &Page, is_cut: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    write_all(&mut out, page, is_cut).ok();
    out
}

fn write_all(out: &mut String, page: &Page, is_cut: bool) -> fmt::Result {
    writeln!(out, "## {}\n", escape(&page.title))?;
    if !page.facts.is_empty() {
        let facts: Vec<String> = page.facts.iter().map(|fact| escape(fact)).collect();
        writeln!(out, "{}\n", facts.join(" · "))?;
    }
    page.lead.iter().try_for_each(|one| writeln!(out, "{}\n", line(one, Where::Text)))?;
    page.sections.iter().try_for_each(|one| section(out, one))?;
    let cut = if is_cut {
        " Shortened to fit a comment: lists are cut and evidence is omitted. The JSON report is complete."
    } else {
        ""
    };
    writeln!(out, "<sub>{}.{cut}</sub>", escape(&page.generator))
}

/// Context of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Text,
    Cell,
    /// The line of a fold, where no Markdown is read.
    Summary,
}

fn line(line: &Line, place: Where) -> String {
    if line.code {
        return match place {
            Where::Text => code(&line.text, false),
            Where::Cell => code(&line.text, true),
            Where::Summary => html_code(&line.text),
        };
    }
    let text = escape(&line.text);
    match line.tone {
        Tone::Strong | Tone::Bad if !text.is_empty() && place != Where::Summary => format!("**{text}**"),
        _ => text,
    }
}

fn section(out: &mut String, section: &Section) -> fmt::Result {
    let title = section.part.title();
    let note = if section.note.is_empty() { String::new() } else { format!(": {}", escape(&section.note)) };
    if section.part.is_first() {
        writeln!(out, "### {title}{note}\n")?;
        return blocks(out, &section.blocks, true);
    }
    fold(out, &format!("<b>{title}</b>{note}"), |out| blocks(out, &section.blocks, false))
}

/// A fold; its title is HTML.
fn fold(out: &mut String, title: &str, inside: impl FnOnce(&mut String) -> fmt::Result) -> fmt::Result {
    writeln!(out, "<details>\n<summary>{title}</summary>\n")?;
    inside(out)?;
    writeln!(out, "</details>\n")
}

fn blocks(out: &mut String, list: &[Block], is_open: bool) -> fmt::Result {
    list.iter().try_for_each(|block| match block {
        Block::Line(one) => writeln!(out, "{}\n", line(one, Where::Text)),
        Block::Heading(text) => writeln!(out, "#### {}\n", escape(text)),
        Block::Facts(list) => facts(out, list),
        Block::Chart(one) => chart(out, one),
        Block::Table(one) => table(out, one, is_open),
        Block::Fold(title, list) => fold(out, &escape(title), |out| blocks(out, list, false)),
        Block::Code(language, text) => writeln!(out, "{}", fenced(language, text)),
    })
}

/// A list; names that come several times in a row have one list of their own.
fn facts(out: &mut String, facts: &[(String, Line)]) -> fmt::Result {
    for group in facts.chunk_by(|one, next| one.0 == next.0) {
        match group {
            [(name, value)] => writeln!(out, "- **{}**: {}", escape(name), line(value, Where::Text))?,
            [(name, _), ..] => {
                writeln!(out, "- **{}**", escape(name))?;
                let mut values = group.iter().map(|(_, value)| line(value, Where::Text));
                values.try_for_each(|value| writeln!(out, "  - {value}"))?;
            }
            [] => {}
        }
    }
    writeln!(out)
}

fn chart(out: &mut String, chart: &Chart) -> fmt::Result {
    let total = chart.total();
    writeln!(out, "**{}**: {}\n", escape(&chart.title), human(total))?;
    writeln!(out, "| | Bytes | Share | |\n|---|---:|---:|---|")?;
    for part in chart.parts.iter().filter(|part| part.bytes > 0) {
        let (name, bytes, share) = (escape(&part.name), human(part.bytes), chart.share(part));
        writeln!(out, "| {name} | {} | {} | {} |", whole(&bytes), whole(&share), bar(part.bytes, total))?;
    }
    writeln!(out)
}

/// A figure and its unit stay on one line.
fn whole(figure: &str) -> String {
    figure.replace(' ', "\u{a0}")
}

/// A bar by eighths of a character.
fn bar(part: u64, whole: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let whole = u128::from(whole.max(1));
    let eighths = (u128::from(part) * (BAR as u128 * 8) + whole / 2) / whole;
    let length = usize::try_from(eighths).unwrap_or(BAR * 8).clamp(1, BAR * 8);
    format!("{}{}", "█".repeat(length / 8), EIGHTHS[length % 8])
}

fn table(out: &mut String, table: &Table, is_open: bool) -> fmt::Result {
    if let ([column], true) = (&table.columns[..], table.rows.iter().all(|row| row.details.is_empty())) {
        return list(out, column, table);
    }
    let shown = if is_open && table.rows.len() > OPEN_ROWS + SLACK { OPEN_ROWS } else { table.rows.len() };
    let (first, rest) = table.rows.split_at(shown);
    rows(out, &table.columns, first)?;
    let noun = escape(table.noun);
    if !rest.is_empty() {
        let title = format!("{} further {noun}", grouped(rest.len() as u64));
        fold(out, &title, |out| rows(out, &table.columns, rest))?;
    }
    left_out(out, table)?;
    let mut behind = table.rows.iter().filter(|row| !row.details.is_empty()).peekable();
    if behind.peek().is_none() {
        return Ok(());
    }
    fold(out, &format!("Details of the {noun}"), |out| {
        behind.try_for_each(|row| {
            fold(out, &named(&table.columns, row), |out| blocks(out, &row.details, false))
        })
    })
}

/// A table of one column is a list.
fn list(out: &mut String, column: &Column, table: &Table) -> fmt::Result {
    if !table.rows.is_empty() {
        writeln!(out, "{}:\n", escape(&column.title))?;
        let mut cells = table.rows.iter().filter_map(|row| row.cells.first());
        cells.try_for_each(|cell| writeln!(out, "- {}", line(cell, Where::Text)))?;
        writeln!(out)?;
    }
    left_out(out, table)
}

fn rows(out: &mut String, columns: &[Column], rows: &[Row]) -> fmt::Result {
    if rows.is_empty() || columns.is_empty() {
        return Ok(());
    }
    let titles: Vec<String> = columns.iter().map(|column| escape(&column.title)).collect();
    let rules: Vec<&str> = columns.iter().map(|column| if column.number { "---:" } else { "---" }).collect();
    writeln!(out, "| {} |\n|{}|", titles.join(" | "), rules.join("|"))?;
    for row in rows {
        // As many cells as there are columns, whatever the row has.
        let cell = |(place, column): (usize, &Column)| match row.cells.get(place) {
            Some(cell) if column.number => whole(&line(cell, Where::Cell)),
            Some(cell) => line(cell, Where::Cell),
            None => String::new(),
        };
        let cells: Vec<String> = columns.iter().enumerate().map(cell).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out)
}

fn left_out(out: &mut String, table: &Table) -> fmt::Result {
    table.left_out().map_or(Ok(()), |text| writeln!(out, "{}\n", escape(&text)))
}

/// What names a row: its first words, with the figure before them.
fn named(columns: &[Column], row: &Row) -> String {
    let named = columns.iter().position(|column| !column.number).unwrap_or(0);
    let cell = |place: usize| row.cells.get(place).filter(|cell| !cell.text.is_empty());
    let figure = cell(0).filter(|_| named > 0).map(|cell| format!("{}: ", escape(&cell.text)));
    let name = cell(named).map(|cell| line(cell, Where::Summary));
    figure.into_iter().chain(name).collect()
}
