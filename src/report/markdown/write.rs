//! Writes a page out as Markdown: what is wanted first stays open, all else is folded.

use super::escape::{code, escape, fenced, html_code};
use crate::base::size::{grouped, human};
use crate::report::page::{Block, Chart, Column, Line, Page, Part, Row, Section, Table, Tone};

/// Rows of a table that stand open; a few more do too, since a fold for two rows saves nothing.
const OPEN_ROWS: usize = 10;
const SLACK: usize = 3;
/// Characters of a full bar.
const BAR: usize = 24;

/// The page as it is; with `is_cut` it says that it was made shorter.
pub(super) fn write(page: &Page, is_cut: bool) -> String {
    let mut out = String::new();
    out += &format!("## {}\n\n", escape(&page.title));
    if !page.facts.is_empty() {
        let facts: Vec<String> = page.facts.iter().map(|fact| escape(fact)).collect();
        out += &format!("{}\n\n", facts.join(" · "));
    }
    for one in &page.lead {
        out += &format!("{}\n\n", line(one, Where::Text));
    }
    for one in &page.sections {
        section(&mut out, one);
    }
    let cut = if is_cut {
        " It was cut to fit a comment: lists end early, and evidence is left out. The JSON report has all."
    } else {
        ""
    };
    out += &format!("<sub>{}.{cut}</sub>\n", escape(&page.generator));
    out
}

/// Where a text stands.
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

/// What is read without a click: what it weighs, what to do, and what went wrong.
const fn is_open(part: Part) -> bool {
    matches!(part, Part::Sizes | Part::Findings | Part::Plan | Part::Compatibility | Part::Warnings)
}

fn section(out: &mut String, section: &Section) {
    let title = escape(section.part.title());
    let note = escape(&section.note);
    if is_open(section.part) {
        let note = if note.is_empty() { note } else { format!(": {note}") };
        *out += &format!("### {title}{note}\n\n");
        blocks(out, &section.blocks, true);
        return;
    }
    let note = if note.is_empty() { note } else { format!(": {note}") };
    open(out, &format!("<b>{title}</b>{note}"));
    blocks(out, &section.blocks, false);
    close(out);
}

/// A fold; its title is HTML.
fn open(out: &mut String, title: &str) {
    *out += &format!("<details>\n<summary>{title}</summary>\n\n");
}

fn close(out: &mut String) {
    *out += "</details>\n\n";
}

fn blocks(out: &mut String, list: &[Block], is_open: bool) {
    for block in list {
        match block {
            Block::Line(one) => *out += &format!("{}\n\n", line(one, Where::Text)),
            Block::Heading(text) => *out += &format!("#### {}\n\n", escape(text)),
            Block::Facts(list) => facts(out, list),
            Block::Chart(one) => chart(out, one),
            Block::Table(one) => table(out, one, is_open),
            Block::Fold(title, list) => {
                open(out, &escape(title));
                blocks(out, list, false);
                close(out);
            }
            Block::Code(language, text) => *out += &format!("{}\n", fenced(language, text)),
        }
    }
}

/// A list; names that come several times in a row have one list of their own.
fn facts(out: &mut String, facts: &[(String, Line)]) {
    for group in facts.chunk_by(|one, next| one.0 == next.0) {
        match group {
            [(name, value)] => *out += &format!("- **{}**: {}\n", escape(name), line(value, Where::Text)),
            [(name, _), ..] => {
                *out += &format!("- **{}**\n", escape(name));
                group.iter().for_each(|(_, value)| *out += &format!("  - {}\n", line(value, Where::Text)));
            }
            [] => {}
        }
    }
    *out += "\n";
}

fn chart(out: &mut String, chart: &Chart) {
    let total = chart.total();
    *out += &format!("**{}**: {}\n\n", escape(&chart.title), human(total));
    *out += "| | bytes | share | |\n|---|---:|---:|---|\n";
    for part in chart.parts.iter().filter(|part| part.bytes > 0) {
        let (name, share) = (escape(&part.name), chart.share(part));
        *out += &format!("| {name} | {} | {share} | {} |\n", human(part.bytes), bar(part.bytes, total));
    }
    *out += "\n";
}

/// A bar by eighths of a character.
fn bar(part: u64, whole: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let length = (part as f64 / whole.max(1) as f64 * (BAR * 8) as f64).round().max(1.0) as usize;
    format!("{}{}", "█".repeat(length / 8), EIGHTHS[length % 8])
}

fn table(out: &mut String, table: &Table, is_open: bool) {
    if let ([_], true) = (&table.columns[..], table.rows.iter().all(|row| row.details.is_empty())) {
        list(out, table);
        return;
    }
    let shown = if is_open && table.rows.len() > OPEN_ROWS + SLACK { OPEN_ROWS } else { table.rows.len() };
    let (first, rest) = table.rows.split_at(shown);
    rows(out, &table.columns, first);
    if !rest.is_empty() {
        open(out, &format!("{} further {}", grouped(rest.len() as u64), escape(table.noun)));
        rows(out, &table.columns, rest);
        close(out);
    }
    more(out, table);
    if table.rows.iter().any(|row| !row.details.is_empty()) {
        open(out, &format!("Details of the {}", escape(table.noun)));
        table.rows.iter().for_each(|row| details(out, &table.columns, row));
        close(out);
    }
}

fn list(out: &mut String, table: &Table) {
    if let Some(column) = table.columns.first().filter(|_| !table.rows.is_empty()) {
        *out += &format!("{}:\n\n", escape(&column.title));
    }
    for cell in table.rows.iter().filter_map(|row| row.cells.first()) {
        *out += &format!("- {}\n", line(cell, Where::Text));
    }
    *out += if table.rows.is_empty() { "" } else { "\n" };
    more(out, table);
}

fn rows(out: &mut String, columns: &[Column], rows: &[Row]) {
    if rows.is_empty() || columns.is_empty() {
        return;
    }
    let titles: Vec<String> = columns.iter().map(|column| escape(&column.title)).collect();
    let rules: Vec<&str> = columns.iter().map(|column| if column.number { "---:" } else { "---" }).collect();
    *out += &format!("| {} |\n|{}|\n", titles.join(" | "), rules.join("|"));
    for row in rows {
        // As many cells as there are columns, whatever the row has.
        let cell = |place: usize| row.cells.get(place).map_or_else(String::new, |cell| line(cell, Where::Cell));
        let cells: Vec<String> = (0..columns.len()).map(cell).collect();
        *out += &format!("| {} |\n", cells.join(" | "));
    }
    *out += "\n";
}

fn more(out: &mut String, table: &Table) {
    if table.more > 0 {
        let (more, noun) = (grouped(table.more), escape(table.noun));
        *out += &format!("And {more} more {noun}: the JSON report has them all.\n\n");
    }
}

/// What stands behind a row, under what names it: its first words, with the figure before them.
fn details(out: &mut String, columns: &[Column], row: &Row) {
    if row.details.is_empty() {
        return;
    }
    let named = columns.iter().position(|column| !column.number).unwrap_or(0);
    let cell = |place: usize| row.cells.get(place).filter(|cell| !cell.text.is_empty());
    let figure = cell(0).filter(|_| named > 0).map_or_else(String::new, |cell| format!("{}: ", escape(&cell.text)));
    let name = cell(named).map_or_else(String::new, |cell| line(cell, Where::Summary));
    open(out, &format!("{figure}{name}"));
    blocks(out, &row.details, false);
    close(out);
}
