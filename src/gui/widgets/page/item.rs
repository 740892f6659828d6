//! The pieces of a page, and access to their content.

use std::ops::Range;

use crate::report::page::{Block, Page};

/// A step on the way from a page to a list of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PageStep {
    /// To the blocks of a section.
    Section(usize),
    /// To what is behind a fold.
    Fold(usize),
    /// To what is behind a row of a table.
    Row(usize, usize),
}

/// What a piece is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ItemKind {
    /// The title of the page.
    Title,
    /// What made it.
    Generator,
    /// What it is about in a few words.
    Facts,
    /// What to know first, by its place.
    Lead(usize),
    /// The heading of a section.
    Section(usize),
    /// A paragraph.
    Line,
    /// A heading below that of the section.
    Heading,
    /// A name and a value, by their place; the width of the names.
    Fact(usize, f32),
    /// A bar and its legend.
    Chart,
    /// The heads of a table.
    Heads(usize),
    /// A row of a table.
    Row(usize, usize),
    /// A cell that its row has no room for: row, column.
    Cell(usize, usize),
    /// What is left out of a table.
    More,
    /// The line of a fold.
    Fold,
    /// What a code is written in, and the button that copies it.
    CodeHead,
    /// A line of code, or a part of one that is too long.
    Code(Range<usize>, bool),
}

/// A piece of a page.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) top: f32,
    pub(super) height: f32,
    pub(super) indent: f32,
    /// Which list of blocks it belongs to, and which of them it is.
    pub(super) list: usize,
    pub(super) block: usize,
    pub(super) what: ItemKind,
    /// Its unique ID, where it can take keyboard focus.
    pub(super) key: Option<u64>,
    /// Whether there is something behind it.
    pub(super) opens: bool,
}

/// The blocks that a path leads to.
pub(super) fn resolve<'a>(page: &'a Page, path: &[PageStep]) -> &'a [Block] {
    let mut blocks: &[Block] = &[];
    for step in path {
        blocks = match *step {
            PageStep::Section(section) => page.sections.get(section).map_or(&[], |one| &one.blocks),
            PageStep::Fold(block) => match blocks.get(block) {
                Some(Block::Fold(_, inner)) => inner,
                _ => &[],
            },
            PageStep::Row(block, row) => match blocks.get(block) {
                Some(Block::Table(table)) => table.rows.get(row).map_or(&[], |row| &row.details),
                _ => &[],
            },
        };
    }
    blocks
}
