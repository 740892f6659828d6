//! Which rows of a page are shown, and in which order.

use super::filter::ComparedLines;
use super::line::CompareLine;
use crate::gui::models::filter::{Filter, FilterError};

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CompareSort {
    /// As they come: layers from the bottom up.
    Order,
    /// By how much images differ, most first.
    #[default]
    Difference,
    /// By the largest size that an image has, largest first.
    Size,
    /// By name.
    Name,
}

impl CompareSort {
    /// A word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Order => "Order",
            Self::Difference => "Difference",
            Self::Size => "Size",
            Self::Name => "Name",
        }
    }
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRow {
    /// A section heading, by its first line.
    Head(usize),
    /// A line.
    Line(usize),
}

/// The rows of a page.
#[derive(Clone, Debug, Default)]
pub struct LineRows {
    /// Them, top to bottom.
    pub rows: Vec<LineRow>,
    /// Lines that are hidden because all images have the same.
    pub hidden: usize,
    /// Lines that fit the filter, hidden ones included.
    pub found: usize,
    /// What is wrong with the filter; it leaves nothing out then.
    pub error: Option<FilterError>,
}

impl LineRows {
    /// The rows of `lines` that fit `filter`; with `only`, of them those that differ.
    pub fn new(lines: &[CompareLine], filter: &str, only: bool, sort: CompareSort) -> Self {
        let (parsed, error) = Filter::<ComparedLines>::typed(filter);
        let fits = |line: &CompareLine| parsed.fits(&line);
        let found: Vec<usize> = (0..lines.len()).filter(|at| lines.get(*at).is_some_and(fits)).collect();
        let shown = |at: &usize| lines.get(*at).is_some_and(|line| !only || line.differs || line.always);
        let kept: Vec<usize> = found.iter().copied().filter(shown).collect();
        let mut rows = Vec::with_capacity(kept.len() + 8);
        for part in kept.chunk_by(|one, other| section(lines, *one) == section(lines, *other)) {
            let mut part = part.to_vec();
            if part.first().and_then(|at| lines.get(*at)).is_some_and(|line| !line.always) {
                order(&mut part, lines, sort);
            }
            if let Some(first) = part.first().copied().filter(|at| !section(lines, *at).is_empty()) {
                rows.push(LineRow::Head(first));
            }
            rows.extend(part.into_iter().map(LineRow::Line));
        }
        Self { rows, hidden: found.len() - kept.len(), found: found.len(), error }
    }

    /// The row of the line with this [`CompareLine::key`].
    pub fn position(&self, lines: &[CompareLine], key: &str) -> Option<usize> {
        self.rows.iter().position(|row| match row {
            LineRow::Line(at) => lines.get(*at).is_some_and(|line| line.key() == key),
            LineRow::Head(_) => false,
        })
    }
}

fn section(lines: &[CompareLine], at: usize) -> &'static str {
    lines.get(at).map_or("", |line| line.section)
}

fn order(part: &mut [usize], lines: &[CompareLine], sort: CompareSort) {
    let line = |at: &usize| lines.get(*at);
    let name = |at: &usize| line(at).map(|line| line.name.as_str());
    // What compares equal stays in its order.
    match sort {
        CompareSort::Order => {}
        CompareSort::Difference => part.sort_by_key(|at| {
            let of = line(at).map(|line| (line.differs, line.difference, line.size));
            std::cmp::Reverse(of)
        }),
        CompareSort::Size => part.sort_by_key(|at| std::cmp::Reverse(line(at).map(|line| line.size))),
        CompareSort::Name => part.sort_by(|one, other| name(one).cmp(&name(other))),
    }
}
