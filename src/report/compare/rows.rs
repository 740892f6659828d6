//! Building blocks of the sections: a column for each image, the difference of the last to the first, and omitted equal
//! rows.

use super::model::{CompareReport, CompareWarning};
use super::titles::titles;
use crate::base::labels::CLASSES;
use crate::base::size::{grouped, human};
use crate::compare::{Change, Judgement, Polarity};
use crate::report::page::{Block, Column, Line, Row, Tone};
use crate::report::sections::make::{Content, UNKNOWN, label, number, table, text, weak};

/// The shown images and their titles.
pub(super) struct View<'a> {
    pub(super) report: &'a CompareReport,
    /// Places in the report, in order: the first image and, where there are too many, the newest of the others.
    pub(super) shown: Vec<usize>,
    /// One for each image of the report.
    pub(super) titles: Vec<String>,
}

impl<'a> View<'a> {
    /// Whether files of some layer of an image are unknown. Those of layers that were not read on request are known by
    /// their tables of contents.
    pub(super) fn is_partial(&self, image: usize) -> bool {
        let faulty = |one: &CompareWarning| one.image == image && one.warning.code != "not-read";
        self.report.images.get(image).is_some_and(|image| !image.complete)
            && self.report.warnings.iter().any(faulty)
    }

    /// Shows at most so many images, by names of at most `width` characters.
    pub(super) fn new(report: &'a CompareReport, most: usize, width: usize) -> Self {
        let count = report.images.len();
        let later = most.saturating_sub(1).max(1);
        let shown = (0..count).filter(|place| *place == 0 || place + later >= count).collect();
        Self { report, shown, titles: titles(report, width) }
    }

    pub(super) fn title(&self, image: usize) -> &str {
        self.titles.get(image).map_or("", String::as_str)
    }

    /// What the first image is called.
    pub(super) fn first(&self) -> &str {
        self.title(0)
    }

    /// What the last image is called.
    pub(super) fn last(&self) -> &str {
        self.titles.last().map_or("", String::as_str)
    }

    /// A column of names, one for each image, and the difference.
    pub(super) fn columns(&self, names: &str) -> Vec<Column> {
        let images = self.shown.iter().map(|place| number(self.title(*place)));
        std::iter::once(text(names)).chain(images).chain([number("Change")]).collect()
    }

    /// The values of the images that are shown; `None` beyond the end of a list that is too short.
    pub(super) fn of<'v, T>(&self, values: &'v [T]) -> impl Iterator<Item = Option<&'v T>> {
        self.shown.iter().map(|place| values.get(*place))
    }

    /// Whether two images that are shown have different values.
    pub(super) fn differs<T: PartialEq>(&self, values: &[T]) -> bool {
        let mut of = self.of(values);
        let first = of.next();
        of.any(|value| Some(value) != first)
    }

    /// Largest difference between two shown images; determines the order.
    pub(super) fn spread(&self, bytes: &[Option<u64>]) -> u64 {
        let known = || self.of(bytes).map(|bytes| bytes.copied().flatten().unwrap_or(0));
        known().max().unwrap_or(0) - known().min().unwrap_or(0)
    }

    /// A row of sizes.
    pub(super) fn sizes(&self, name: Line, bytes: &[Option<u64>], polarity: Polarity) -> Row {
        let cells = self.of(bytes).map(|bytes| size(bytes.copied().flatten()));
        self.row(name, cells, change(ends(bytes), human, polarity))
    }

    /// A row of counts.
    pub(super) fn counts(&self, name: Line, counts: &[Option<u64>]) -> Row {
        let cells = self.of(counts).map(|count| {
            count.copied().flatten().map_or_else(|| Line::plain(UNKNOWN), |count| Line::plain(grouped(count)))
        });
        self.row(name, cells, change(ends(counts), grouped, Polarity::Neutral))
    }

    pub(super) fn row(&self, name: Line, cells: impl Iterator<Item = Line>, change: Line) -> Row {
        let cells = std::iter::once(name).chain(cells.take(self.shown.len())).chain([change]).collect();
        Row { cells, details: Vec::new() }
    }

    /// A table of those rows that differ, most first, and a line that counts the others; the note counts those that
    /// differ.
    pub(super) fn differing<T>(
        &self,
        (names, noun): (&str, &'static str),
        (list, most): (&[T], usize),
        differs: impl Fn(&T) -> bool,
        row: impl Fn(&T) -> Row,
        spread: impl Fn(&T) -> u64,
    ) -> Content {
        let mut rows: Vec<&T> = list.iter().filter(|one| differs(one)).collect();
        rows.sort_by_key(|one| std::cmp::Reverse(spread(one)));
        let same = self.same(list.len() - rows.len(), rows.is_empty(), noun);
        let listed =
            (!rows.is_empty()).then(|| table(self.columns(names), noun, (&rows, most), |one| row(one)));
        (noted(rows.len(), "differ"), listed.into_iter().chain(same).collect())
    }

    /// A line that counts equal entries.
    pub(super) fn same(&self, count: usize, all: bool, noun: &str) -> Option<Block> {
        let number = grouped(count as u64);
        let both = if self.shown.len() == 2 { "both" } else { "all" };
        let shown = if self.shown.len() == self.titles.len() { "" } else { " shown" };
        match count {
            0 => None,
            1 if all => Some(weak(format!("{noun}: the only one is the same in {both} images{shown}."))),
            _ if all => Some(weak(format!("All {number} {noun} are the same in {both} images{shown}."))),
            _ => {
                Some(weak(format!("{noun}: {number} more {} the same in {both} images{shown}.", are(count))))
            }
        }
    }
}

/// A count with its noun, for notes.
pub(super) fn noted(count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!("{} {what}", grouped(count as u64)) }
}

pub(super) const fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A size that may not be known.
pub(super) fn size(bytes: Option<u64>) -> Line {
    Line::plain(bytes.map_or_else(|| UNKNOWN.to_owned(), human))
}

/// The values of the first and the last image.
pub(super) fn ends<T: Copy>(values: &[Option<T>]) -> Option<(T, T)> {
    values.first().copied().flatten().zip(values.last().copied().flatten())
}

/// A difference with its sign; nothing where there is none, and a dash where it is not known.
pub(super) fn change(ends: Option<(u64, u64)>, show: impl Fn(u64) -> String, polarity: Polarity) -> Line {
    match ends {
        None => Line::plain(UNKNOWN).tone(Tone::Weak),
        Some((first, last)) if last > first => {
            Line::plain(format!("+{}", show(last - first))).tone(tone(polarity, Change::Added))
        }
        Some((first, last)) if last < first => {
            Line::plain(format!("−{}", show(first - last))).tone(tone(polarity, Change::Removed))
        }
        Some(_) => Line::default(),
    }
}

/// How a difference is meant: by what it means for the image, not by its sign.
pub(super) const fn tone(polarity: Polarity, change: Change) -> Tone {
    match polarity.judge(change) {
        Some(Judgement::Better) => Tone::Good,
        Some(Judgement::Worse) => Tone::Bad,
        None => Tone::Plain,
    }
}

/// What a class is called for people.
pub(super) fn class_title(class: &str) -> String {
    label(&CLASSES, class)
}
