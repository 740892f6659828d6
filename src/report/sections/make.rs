//! Building blocks of all sections: safe bounded texts, tables with caps, figures.

use crate::base::labels::{Family, Label};
use crate::base::size::grouped;
use crate::base::text::{counted, elide_end, elide_middle, printable};
use crate::report::page::{Block, Column, Line, Part, Row, Section, Table, Tone};

/// In place of a figure that is not known: never zero.
pub(in crate::report) const UNKNOWN: &str = "–";

/// Characters of names and other words of a cell: a digest with its algorithm has 71.
const NAME: usize = 80;
/// Maximum characters of a path; the end of a longer one is kept.
const PATH: usize = 160;
/// Characters of a sentence: the longest fixes and reasons that the rules write fit in.
const PROSE: usize = 700;
/// Names in a line, before the rest is counted.
const NAMED: usize = 6;

/// A name, safe to show.
pub(in crate::report) fn name(text: &str) -> String {
    // Shortened twice: before, because untrusted text may be long; after, because escapes lengthen it.
    elide_end(&printable(&elide_end(text, NAME)), NAME)
}

/// A sentence or more, safe to show.
pub(in crate::report) fn prose(text: &str) -> String {
    elide_end(&printable(&elide_end(text, PROSE)), PROSE)
}

/// Texts of several lines in one, safe to show and of at most so many characters.
pub(in crate::report) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    elide_end(&printable(&elide_end(&words.join(" "), most)), most)
}

/// A path, shortened in the middle with more of its end.
pub(in crate::report) fn path(text: &str) -> Line {
    Line::code(elide_middle(&printable(&elide_middle(text, PATH)), PATH))
}

/// A name of fixed spelling: an id, a version, a variable.
pub(in crate::report) fn code(text: &str) -> Line {
    Line::code(name(text))
}

/// A cell with a name.
pub(in crate::report) fn cell(text: &str) -> Line {
    Line::plain(name(text))
}

/// A cell that may not be known.
pub(in crate::report) fn cell_or_dash(text: Option<&str>) -> Line {
    text.map_or_else(|| Line::plain(UNKNOWN), cell)
}

/// The label of a JSON value. A value without a label, from a report of another version, is shown with spaces for `-`.
pub(in crate::report) fn label(family: &Family, value: &str) -> String {
    family.get(value).map_or_else(|| words(value), |label| label.text.to_owned())
}

/// A value with spaces for `-`.
pub(in crate::report) fn words(value: &str) -> String {
    name(value).replace('-', " ")
}

/// The label of a JSON value with its meaning.
pub(in crate::report) fn described(family: &Family, value: &str) -> String {
    family.get(value).map_or_else(|| label(family, value), Label::described)
}

/// A count that may not be known.
pub(in crate::report) fn count_or_dash(count: Option<u64>) -> String {
    count.map_or_else(|| UNKNOWN.to_owned(), grouped)
}

/// Names in a line: `a, b and 3 more`.
pub(in crate::report) fn some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let all = names.len();
    let mut text = names.take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    if all > NAMED {
        text = format!("{text} and {} more", grouped((all - NAMED) as u64));
    }
    text
}

/// Saturating sum of bytes: a saved report may have any.
pub(in crate::report) fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// A fact.
pub(in crate::report) fn fact(name: &str, value: impl Into<String>) -> (String, Line) {
    (name.to_owned(), Line::plain(value))
}

/// That there are more of what a fact lists, if there are.
pub(in crate::report) fn more(name: &str, all: usize, most: usize, noun: &str) -> Option<(String, Line)> {
    let rest = all.checked_sub(most).filter(|rest| *rest > 0)?;
    Some(fact(name, format!("and {}", counted(rest, noun).replacen(' ', " more ", 1))))
}

/// A column of words.
pub(in crate::report) fn text(title: &str) -> Column {
    Column { title: title.to_owned(), number: false }
}

/// A column of numbers.
pub(in crate::report) fn number(title: &str) -> Column {
    Column { title: title.to_owned(), number: true }
}

/// A table of at most so many rows of a list.
pub(in crate::report) fn table<T>(
    columns: impl Into<Vec<Column>>,
    noun: &'static str,
    (list, most): (&[T], usize),
    row: impl Fn(&T) -> Row,
) -> Block {
    Block::Table(Table {
        columns: columns.into(),
        rows: list.iter().take(most).map(row).collect(),
        more: list.len().saturating_sub(most) as u64,
        noun,
    })
}

/// A table below its heading; nothing for an empty list.
pub(in crate::report) fn headed<T>(
    heading: &str,
    columns: impl Into<Vec<Column>>,
    noun: &'static str,
    (list, most): (&[T], usize),
    row: impl Fn(&T) -> Row,
) -> Vec<Block> {
    if list.is_empty() {
        return Vec::new();
    }
    vec![Block::Heading(heading.to_owned()), table(columns, noun, (list, most), row)]
}

/// Note and blocks of a section; none if it has no contents.
pub(in crate::report) type Content = (String, Vec<Block>);

/// A section of which nothing is known, and why.
pub(in crate::report) fn unknown(why: &str) -> Content {
    ("unknown".to_owned(), vec![paragraph(why)])
}

/// The sections that have contents.
pub(in crate::report) fn sections(made: impl IntoIterator<Item = (Part, Content)>) -> Vec<Section> {
    let section = |(part, (note, blocks)): (Part, Content)| Section { part, note, blocks };
    made.into_iter().map(section).filter(|section| !section.blocks.is_empty()).collect()
}

/// A list of paths, folded away or in the evidence.
pub(in crate::report) fn paths(
    title: &str,
    noun: &'static str,
    list: &[String],
    most: usize,
) -> Option<Block> {
    let row = |one: &String| Row { cells: vec![path(one)], details: Vec::new() };
    (!list.is_empty()).then(|| table([text(title)], noun, (list, most), row))
}

/// A row without evidence.
pub(in crate::report) fn row(cells: impl Into<Vec<Line>>) -> Row {
    Row { cells: cells.into(), details: Vec::new() }
}

/// A paragraph beside the point.
pub(in crate::report) fn weak(text: impl Into<String>) -> Block {
    Block::Line(Line::plain(text).tone(Tone::Weak))
}

/// A paragraph.
pub(in crate::report) fn paragraph(text: impl Into<String>) -> Block {
    Block::Line(Line::plain(text))
}
