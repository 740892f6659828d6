//! What the template prints: a page as texts and classes of the style sheet.

use std::borrow::Cow;

use serde::Serialize;

use super::chart::ChartView;

/// What a column with long texts needs, in characters, as the style sheet has it.
const LEAST_LONG: usize = 28;

/// The class of columns and cells with numbers.
pub(super) const NUMBER: &str = "n";
/// The class of columns with long texts, and of those texts.
pub(super) const LONG: &str = "w";

/// The whole file.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) title: Cow<'a, str>,
    pub(super) generator: Cow<'a, str>,
    pub(super) facts: Vec<Cow<'a, str>>,
    pub(super) lead: Vec<TextView<'a>>,
    pub(super) sections: Vec<SectionView<'a>>,
    /// What was left out, in a sentence.
    pub(super) shortened: Option<String>,
}

#[derive(Serialize)]
pub(super) struct SectionView<'a> {
    pub(super) id: String,
    pub(super) title: &'static str,
    pub(super) note: Cow<'a, str>,
    pub(super) blocks: Vec<BlockView<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum BlockView<'a> {
    Line { line: TextView<'a> },
    Heading { id: String, text: Cow<'a, str> },
    Facts { facts: Vec<(Cow<'a, str>, TextView<'a>)> },
    Chart { chart: ChartView<'a> },
    Table { table: TableView<'a> },
    Fold { summary: Cow<'a, str>, blocks: Vec<BlockView<'a>> },
    Code { language: &'static str, lines: Vec<TextView<'a>> },
    More { text: String },
}

/// A text within a semantic element; without one if `tag` is empty.
#[derive(Serialize)]
pub(super) struct TextView<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) tag: &'static str,
    pub(super) class: &'static str,
}

#[derive(Serialize)]
pub(super) struct TableView<'a> {
    /// The id of the heading above it, which is its name.
    pub(super) label: String,
    pub(super) columns: Vec<ColumnView<'a>>,
    pub(super) rows: Vec<RowView<'a>>,
    /// Whether any row has details, which are opened from a column of their own.
    pub(super) opens: bool,
    /// Columns, that one included.
    pub(super) span: usize,
    /// Whether it fits beside the table of contents.
    pub(super) fits: bool,
    /// Whether it needs the full width; the columns of others would drift apart.
    pub(super) fills: bool,
}

#[derive(Serialize)]
pub(super) struct ColumnView<'a> {
    pub(super) title: Cow<'a, str>,
    pub(super) class: &'static str,
    /// Characters that it needs.
    #[serde(skip)]
    pub(super) width: usize,
}

#[derive(Serialize)]
pub(super) struct RowView<'a> {
    pub(super) cells: Vec<CellView<'a>>,
    pub(super) details: Vec<BlockView<'a>>,
}

#[derive(Serialize)]
pub(super) struct CellView<'a> {
    #[serde(flatten)]
    pub(super) text: TextView<'a>,
    pub(super) cell: &'static str,
}

impl<'a> ColumnView<'a> {
    pub(super) fn new<'c>(
        title: Cow<'a, str>,
        is_number: bool,
        cells: impl Iterator<Item = &'c CellView<'c>>,
    ) -> Self {
        let word = title.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        let (mut width, mut long) = (word, false);
        for cell in cells {
            long |= cell.cell == LONG;
            width = width.max(if cell.cell == LONG { LEAST_LONG } else { cell.text.text.chars().count() });
        }
        let class = match (is_number, long) {
            (true, _) => NUMBER,
            (false, true) => LONG,
            (false, false) => "",
        };
        Self { title, class, width }
    }
}
