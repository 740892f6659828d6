//! Members of an archive as a page.

use crate::base::size::human;
use crate::base::text::{counted, escape};
use crate::formats::members::{ArchiveMember, ArchiveMembers};
use crate::report::page::{Block, Column, Line, Page, Part, Row, Section, Table, Tone};

/// One section with these blocks.
pub(super) fn page_of(blocks: Vec<Block>) -> Page {
    Page { sections: vec![Section { part: Part::Files, note: String::new(), blocks }], ..Page::default() }
}

/// A table of texts; `true` marks columns of numbers.
pub(super) fn table(columns: &[(&str, bool)], rows: Vec<Vec<Line>>) -> Block {
    let columns =
        columns.iter().map(|(title, number)| Column { title: (*title).to_owned(), number: *number });
    let rows = rows.into_iter().map(|cells| Row { cells, details: Vec::new() });
    Block::Table(Table { columns: columns.collect(), rows: rows.collect(), more: 0, noun: "rows" })
}

pub(super) fn members_page(found: &ArchiveMembers) -> Page {
    let row = |member: &ArchiveMember| {
        let link =
            if member.link.is_empty() { String::new() } else { format!(" → {}", escape(&member.link)) };
        vec![
            Line::plain(if member.kind == "file" { human(member.bytes) } else { String::new() }),
            Line::plain(member.kind),
            Line::code(format!("{}{link}", escape(&member.name))),
        ]
    };
    let count = counted(found.list.len() as u64, "member");
    let lead = if found.complete {
        Line::plain(format!("{}: {count}", found.form))
    } else {
        Line::plain(format!("{}: the first {count}; the rest was not read", found.form)).tone(Tone::Unsure)
    };
    let mut blocks = vec![Block::Line(lead)];
    if !found.list.is_empty() {
        let columns = [("Bytes", true), ("Kind", false), ("Name", false)];
        blocks.push(table(&columns, found.list.iter().map(row).collect()));
    }
    page_of(blocks)
}
