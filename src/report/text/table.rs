//! Tables in columns of characters.

use std::fmt::Write as _;

use super::{INDENT, TextStyle, paint};
use crate::base::text::{elide_end, elide_middle};
use crate::base::wrap::wrap;
use crate::report::page::{Block, Column, Line, Row, Table, Tone};

/// Between two columns.
const GAP: usize = 2;
/// Columns of words are not narrower than this while others give way, columns of paths and commands not than the next.
const READABLE: usize = 16;
const PATH: usize = 24;
/// No column is cut below this.
const LEAST: usize = 5;

/// A table; `below` is what stands below a row, from its details.
pub(super) fn write(table: &Table, style: TextStyle, below: &dyn Fn(&[Block]) -> Option<Line>) -> String {
    let mut out = String::new();
    let layout = Layout::new(table, style);
    let heads: Vec<Line> =
        table.columns.iter().map(|column| Line::plain(column.title.as_str()).tone(Tone::Weak)).collect();
    layout.row(&mut out, &heads, true);
    for one in &table.rows {
        layout.row(&mut out, &one.cells, false);
        if let Some(line) = below(&one.details) {
            // Below the second column, which names the row.
            let indent = INDENT + layout.widths.first().map_or(0, |width| width + GAP) + INDENT;
            for text in wrap(&line.text, style.width - indent) {
                let text = paint(style, Tone::Weak, &elide_end(&text, style.width - indent));
                writeln!(out, "{:indent$}{text}", "").ok();
            }
        }
    }
    if let Some(text) = table.left_out() {
        let text = if style.brief { text.replace(": see the JSON report.", ".") } else { text };
        writeln!(out, "{:INDENT$}{}", "", paint(style, Tone::Weak, &text)).ok();
    }
    out
}

/// The shown columns of a table, by index, and their widths.
struct Layout<'t> {
    columns: &'t [Column],
    shown: Vec<usize>,
    widths: Vec<usize>,
    style: TextStyle,
}

/// What a column contains, in the order in which columns give way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Words, which can be wrapped.
    Words,
    /// Paths and commands, of which the middle can be left out.
    Path,
    /// Names and figures, which mean nothing when they are cut.
    Whole,
}

impl<'t> Layout<'t> {
    /// Columns as wide as their widest cell. If that is too wide together, heads take two lines, columns without any
    /// bytes are left out, and then words, paths and at last names become narrower.
    fn new(table: &'t Table, style: TextStyle) -> Self {
        let columns = &table.columns;
        let cells = |column: usize| table.rows.iter().filter_map(move |row: &Row| row.cells.get(column));
        let length = |text: &str| text.chars().count();
        let body = |column: usize| cells(column).map(|cell| length(&cell.text)).max().unwrap_or(0);
        let word = |column: usize| columns[column].title.split(' ').map(length).max().unwrap_or(0);
        let kind = |column: usize| {
            let is_path = |cell: &Line| cell.code && cell.text.contains(['/', ' ']);
            match () {
                () if cells(column).any(is_path) => Kind::Path,
                () if columns[column].number || cells(column).any(|cell| cell.code) => Kind::Whole,
                () => Kind::Words,
            }
        };
        let room = |shown: &[usize]| style.width.saturating_sub(INDENT + shown.len().saturating_sub(1) * GAP);
        let mut shown: Vec<usize> = (0..columns.len()).collect();
        let mut widths: Vec<usize> =
            shown.iter().map(|one| body(*one).max(length(&columns[*one].title)).min(style.width)).collect();
        if widths.iter().sum::<usize>() > room(&shown) {
            let is_empty = |column: usize| {
                columns[column].number && cells(column).all(|cell| matches!(&*cell.text, "0 B" | "0" | "–"))
            };
            shown.retain(|one| !is_empty(*one));
            widths = shown.iter().map(|one| body(*one).max(word(*one)).min(style.width)).collect();
        }
        let room = room(&shown);
        let steps = [
            (Kind::Words, READABLE),
            (Kind::Path, PATH),
            (Kind::Words, LEAST),
            (Kind::Path, LEAST),
            (Kind::Whole, LEAST),
        ];
        for (of, least) in steps {
            while widths.iter().sum::<usize>() > room {
                let wide = |place: &usize| {
                    kind(shown[*place]) == of && widths[*place] > least.max(word(shown[*place]).min(READABLE))
                };
                let Some(place) = (0..shown.len()).filter(wide).max_by_key(|place| widths[*place]) else {
                    break;
                };
                widths[place] -= 1;
            }
        }
        Self { columns, shown, widths, style }
    }

    /// A row, on several lines if a cell is wrapped.
    fn row(&self, out: &mut String, cells: &[Line], is_head: bool) {
        let cells: Vec<(&Line, &Column, usize)> = (self.shown.iter().zip(&self.widths))
            .filter_map(|(column, width)| Some((cells.get(*column)?, self.columns.get(*column)?, *width)))
            .collect();
        let wrapped: Vec<Vec<String>> = cells
            .iter()
            .map(|(cell, column, width)| {
                if is_head {
                    wrap(&cell.text, *width).iter().map(|line| elide_end(line, *width)).collect()
                } else {
                    lines(cell, *width, column, self.style)
                }
            })
            .collect();
        let most = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        for number in 0..most {
            let mut line = " ".repeat(INDENT);
            // Padding is written only before a further cell, so that no line ends in blanks.
            let mut padding = 0;
            for (texts, (cell, column, width)) in wrapped.iter().zip(&cells) {
                // Heads stand on the line above the cells.
                let above = if is_head { most - texts.len() } else { 0 };
                let text = number.checked_sub(above).and_then(|at| texts.get(at)).map_or("", String::as_str);
                let blank = width.saturating_sub(text.chars().count());
                // Figures are aligned to the right; a version is text, also in a column of numbers.
                let is_right = column.number && !cell.code;
                let (before, after) = if is_right { (blank, 0) } else { (0, blank) };
                if text.is_empty() {
                    padding += width + GAP;
                    continue;
                }
                line += &" ".repeat(padding + before);
                line += &paint(self.style, cell.tone, text);
                padding = after + GAP;
            }
            *out += &line;
            out.push('\n');
        }
    }
}

fn lines(cell: &Line, width: usize, column: &Column, style: TextStyle) -> Vec<String> {
    if cell.code && !cell.text.contains(' ') {
        // The end of a path is the most specific, and the beginning of a command.
        return vec![elide_middle(&cell.text, width)];
    }
    if style.brief || cell.code || column.number {
        return vec![elide_end(&cell.text, width)];
    }
    wrap(&cell.text, width).iter().map(|line| elide_end(line, width)).collect()
}
