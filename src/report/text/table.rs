//! Tables in columns of characters.

use super::{INDENT, TextStyle, paint, wrap};
use crate::base::text::{elide_end, elide_middle};
use crate::report::page::{Block, Column, Line, Table, Tone};

/// Between two columns.
const GAP: usize = 2;
/// Columns of text that can be wrapped or cut are not narrower than this as long as others give way.
const READABLE: usize = 16;
/// No column is cut below this.
const LEAST: usize = 5;

/// A table; `below` is what stands below a row, from its details.
pub(super) fn write(table: &Table, style: TextStyle, below: &dyn Fn(&[Block]) -> Option<Line>) -> String {
    let mut out = String::new();
    let heads: Vec<Line> =
        table.columns.iter().map(|column| Line::plain(column.title.as_str()).tone(Tone::Weak)).collect();
    let widths = widths(table, &heads, style.width);
    row(&mut out, table, &heads, &widths, style);
    for one in &table.rows {
        row(&mut out, table, &one.cells, &widths, style);
        if let Some(line) = below(&one.details) {
            // Below the second column, which names the row.
            let indent = INDENT + widths.first().map_or(0, |width| width + GAP) + INDENT;
            for text in wrap(&line.text, style.width - indent) {
                let text = paint(style, Tone::Weak, &elide_end(&text, style.width - indent));
                out += &format!("{:indent$}{text}\n", "");
            }
        }
    }
    if let Some(text) = table.left_out() {
        let text = if style.brief { text.replace(": see the JSON report.", ".") } else { text };
        out += &format!("{:INDENT$}{}\n", "", paint(style, Tone::Weak, &text));
    }
    out
}

/// A row, on several lines if a cell is wrapped.
fn row(out: &mut String, table: &Table, cells: &[Line], widths: &[usize], style: TextStyle) {
    let wrapped: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .zip(&table.columns)
        .map(|((cell, width), column)| lines(cell, *width, column, style))
        .collect();
    let most = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    for number in 0..most {
        let mut line = " ".repeat(INDENT);
        // Padding is written only before a further cell, so that no line ends in blanks.
        let mut padding = 0;
        for ((texts, width), (cell, column)) in
            wrapped.iter().zip(widths).zip(cells.iter().zip(&table.columns))
        {
            let text = texts.get(number).map_or("", String::as_str);
            let blank = width.saturating_sub(text.chars().count());
            let (before, after) = if is_right(cell, column) { (blank, 0) } else { (0, blank) };
            if text.is_empty() {
                padding += width + GAP;
                continue;
            }
            line += &" ".repeat(padding + before);
            line += &paint(style, cell.tone, text);
            padding = after + GAP;
        }
        *out += &line;
        out.push('\n');
    }
}

/// Figures are aligned to the right; a version is text, also in a column of numbers.
fn is_right(cell: &Line, column: &Column) -> bool {
    column.number && !cell.code
}

fn lines(cell: &Line, width: usize, column: &Column, style: TextStyle) -> Vec<String> {
    let is_path = cell.code && !cell.text.contains(' ');
    if is_path {
        // The end of a path is the most specific, and the beginning of a command.
        return vec![elide_middle(&cell.text, width)];
    }
    if style.brief || cell.code || column.number {
        return vec![elide_end(&cell.text, width)];
    }
    wrap(&cell.text, width).iter().map(|line| elide_end(line, width)).collect()
}

/// As wide as the widest cell. While that is too wide together, the widest column of text gives way, then that of
/// paths and commands, figures last.
fn widths(table: &Table, heads: &[Line], width: usize) -> Vec<usize> {
    let rows = || std::iter::once(heads).chain(table.rows.iter().map(|row| &row.cells[..]));
    let widest = |column: usize| {
        let cells = rows().filter_map(|cells| cells.get(column));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0).min(width)
    };
    let is_text = |column: usize| {
        !table.columns[column].number
            && table.rows.iter().all(|row| row.cells.get(column).is_none_or(|cell| !cell.code))
    };
    let columns = table.columns.len();
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let room = width.saturating_sub(INDENT + columns.saturating_sub(1) * GAP);
    while widths.iter().sum::<usize>() > room {
        let place = |kind: &dyn Fn(usize) -> bool, least: usize| {
            (0..columns)
                .filter(|place| kind(*place) && widths[*place] > least)
                .max_by_key(|place| widths[*place])
        };
        let narrower = place(&is_text, READABLE)
            .or_else(|| place(&|column| !table.columns[column].number, READABLE))
            .or_else(|| place(&|column| !table.columns[column].number, LEAST))
            .or_else(|| place(&|_| true, LEAST));
        let Some(column) = narrower else { break };
        widths[column] -= 1;
    }
    widths
}
