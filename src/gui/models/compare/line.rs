//! A row of a page: a name, and what each image has of it.

use super::words::{delta, per_mille, plain, points};
use crate::base::size::human;
use crate::compare::{Change, Judgement, Polarity};

/// What an image has of something, ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareCell {
    /// What it has, safe to show; `–` for nothing, `unknown` where it is not known.
    pub text: String,
    /// The signed difference of a number from the baseline; otherwise a note after the text.
    pub note: String,
    /// The change relative to the baseline, for sign and colour; `None` for the baseline itself.
    pub change: Option<Change>,
    /// Whether it is a number.
    pub number: bool,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineSubject {
    /// Only its own figures.
    Figures,
    /// A path of the images.
    Path(Vec<u8>),
    /// A layer, by its place in the comparison.
    Layer(usize),
    /// A package, by its place.
    Package(usize),
    /// A CUDA component, by its place.
    Component(usize),
    /// A variable, by its place.
    Variable(usize),
    /// Another setting, by its place.
    Setting(usize),
    /// The reason why it runs or not, by image.
    Reasons(Vec<String>),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareLine {
    /// Its section heading; empty on a page without sections.
    pub section: &'static str,
    /// Its name, safe to show.
    pub name: String,
    /// A note after the name.
    pub note: String,
    /// One for each image.
    pub cells: Vec<CompareCell>,
    /// Whether an image differs from the baseline, or may.
    pub differs: bool,
    /// Whether it is shown in any case.
    pub always: bool,
    /// By how much images differ at most.
    pub difference: u64,
    /// The largest number that an image has.
    pub size: u64,
    /// What it is about.
    pub about: LineSubject,
    /// Which direction is an improvement; `None` for files, whose changes have colours of their own.
    pub polarity: Option<Polarity>,
}

/// What numbers mean.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Bytes,
    Count,
    /// Tenths of a percent.
    PerMille,
}

impl Unit {
    pub(super) fn write(self, number: u64) -> String {
        match self {
            Self::Bytes => human(number),
            Self::Count => plain(number),
            Self::PerMille => per_mille(number),
        }
    }

    /// Writes a difference.
    fn writer(self) -> fn(u64) -> String {
        match self {
            Self::Bytes => human,
            Self::Count => plain,
            Self::PerMille => points,
        }
    }
}

/// What is written for what is not known, and for what is not there.
pub(super) const UNKNOWN: &str = "unknown";
pub(super) const NOTHING: &str = "–";
pub(super) const NOT_THERE: &str = "absent";

impl CompareLine {
    /// A row of numbers, each against that of the baseline.
    pub(super) fn numbers(
        section: &'static str,
        name: impl Into<String>,
        unit: Unit,
        values: &[Option<u64>],
        baseline: usize,
    ) -> Self {
        let base = values.get(baseline).copied().flatten();
        let cell = |(place, value): (usize, &Option<u64>)| {
            let (note, change) = delta(*value, base, unit.writer());
            let known = value.map_or_else(|| UNKNOWN.to_owned(), |value| unit.write(value));
            let apart = place != baseline;
            CompareCell {
                text: known,
                note: if apart { note } else { String::new() },
                change: apart.then_some(change),
                number: true,
            }
        };
        let cells: Vec<CompareCell> = values.iter().enumerate().map(cell).collect();
        let known = || values.iter().flatten();
        Self {
            differs: cells.iter().any(CompareCell::differs),
            difference: known().map(|value| value.abs_diff(base.unwrap_or(0))).max().unwrap_or(0),
            size: known().copied().max().unwrap_or(0),
            ..Self::new(section, name, cells)
        }
    }

    /// A row of words. `same` says whether an image has the same as the baseline, whatever is shown of it.
    pub(super) fn texts(
        section: &'static str,
        name: impl Into<String>,
        values: Vec<Option<String>>,
        baseline: usize,
        same: impl Fn(usize) -> bool,
    ) -> Self {
        let base = values.get(baseline).cloned().flatten();
        let cell = |(place, value): (usize, Option<String>)| {
            let change = match (&value, &base) {
                _ if place == baseline => None,
                (None, None) => Some(Change::Absent),
                (Some(_), None) => Some(Change::Added),
                (None, Some(_)) => Some(Change::Removed),
                (Some(_), Some(_)) if same(place) => Some(Change::Same),
                (Some(_), Some(_)) => Some(Change::Changed),
            };
            // Two redacted values look the same: the note marks the difference.
            let hidden = change == Some(Change::Changed) && value == base;
            let note = if hidden { "differs".to_owned() } else { String::new() };
            let gone = if change == Some(Change::Removed) { NOT_THERE } else { NOTHING };
            CompareCell { text: value.unwrap_or_else(|| gone.to_owned()), note, change, number: false }
        };
        let cells: Vec<CompareCell> = values.into_iter().enumerate().map(cell).collect();
        let differs = cells.iter().any(CompareCell::differs);
        Self { differs, difference: u64::from(differs), ..Self::new(section, name, cells) }
    }

    pub(super) fn new(section: &'static str, name: impl Into<String>, cells: Vec<CompareCell>) -> Self {
        Self {
            section,
            name: name.into(),
            note: String::new(),
            cells,
            differs: false,
            always: false,
            difference: 0,
            size: 0,
            about: LineSubject::Figures,
            polarity: Some(Polarity::Neutral),
        }
    }

    pub(super) fn about(self, about: LineSubject) -> Self {
        Self { about, ..self }
    }

    pub(super) fn polarity(self, polarity: Option<Polarity>) -> Self {
        Self { polarity, ..self }
    }

    pub(super) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Tells it from all others of its page, over another comparison too.
    pub fn key(&self) -> String {
        format!("{}\n{}\n{}", self.section, self.name, self.note)
    }

    /// What the difference of a cell means for its image.
    pub fn judge(&self, cell: &CompareCell) -> Option<Judgement> {
        self.polarity?.judge(cell.change.filter(|_| cell.number)?)
    }

    /// Screen reader text; `letters` names the images.
    pub fn spoken(&self, letters: &[String]) -> String {
        let mut text = self.name.clone();
        if !self.note.is_empty() {
            text = format!("{text}, {}", self.note);
        }
        for (cell, letter) in self.cells.iter().zip(letters) {
            let what = match cell.text.as_str() {
                NOTHING => "nothing",
                text => text,
            };
            text = format!("{text}; {letter} {what}");
            if !cell.note.is_empty() {
                text = format!("{text} {}", cell.note);
            }
            if let Some(judged) = self.judge(cell) {
                text = format!("{text}, {}", judged.label());
            }
            if let Some(change) =
                cell.change.filter(|_| !cell.number && cell.text != NOT_THERE && cell.differs())
            {
                text = format!("{text}, {}", change.label());
            }
        }
        text
    }
}

impl CompareCell {
    /// Whether it differs from the baseline, or may.
    pub fn differs(&self) -> bool {
        self.change.is_some_and(|change| !matches!(change, Change::Same | Change::Absent))
    }
}
