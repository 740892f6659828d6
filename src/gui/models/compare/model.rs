//! A comparison, and what follows from it once a baseline is chosen.

use std::sync::Arc;

use super::line::CompareLine;
use super::result::ComparisonResult;
use super::{layers, packages, settings, summary};
use crate::base::convert::index32;
use crate::compare::{Change, FileSums, RowId};
use crate::jobs::{CancelToken, Cancelled};

/// The pages of the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ComparePage {
    /// Totals, components, GPU code, verdicts, findings.
    #[default]
    Summary,
    /// Each layer once.
    Layers,
    /// One tree over all images.
    Files,
    /// Packages and their versions.
    Packages,
    /// Environment, command, labels.
    Settings,
}

impl ComparePage {
    /// All of them in order.
    pub const ALL: [Self; 5] = [Self::Summary, Self::Layers, Self::Files, Self::Packages, Self::Settings];

    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::Layers => "Layers",
            Self::Files => "Files",
            Self::Packages => "Packages",
            Self::Settings => "Settings",
        }
    }
}

/// A comparison seen from one of its images.
pub struct CompareModel {
    /// The comparison.
    pub compared: Arc<ComparisonResult>,
    /// The baseline image.
    pub baseline: usize,
    /// The change of every path, for each image except the baseline.
    pub changes: Vec<Vec<Change>>,
    /// Sums over files, for each image.
    pub sums: Vec<FileSums>,
    /// Whether an image differs from the baseline at a path, or may.
    differs: Vec<bool>,
    /// Paths that differ, folders with something in them aside.
    differing: usize,
    summary: Vec<CompareLine>,
    layers: Vec<CompareLine>,
    packages: Vec<CompareLine>,
    settings: Vec<CompareLine>,
    /// The result in one sentence; nothing while a size is unknown.
    pub sentence: Option<String>,
}

impl CompareModel {
    /// Holds the images against `baseline`. Takes time with many files.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        compared: Arc<ComparisonResult>,
        baseline: usize,
        cancel: &CancelToken,
    ) -> Result<Self, Cancelled> {
        let count = compared.comparison.images.len();
        let tree = &compared.comparison.tree;
        let mut changes = Vec::with_capacity(count);
        let mut sums = Vec::with_capacity(count);
        for image in 0..count {
            cancel.check()?;
            let apart = image != baseline;
            changes.push(if apart { tree.changes(image, baseline) } else { Vec::new() });
            sums.push(if apart { tree.files(image, baseline) } else { FileSums::default() });
        }
        let mut differs = vec![false; tree.len()];
        for changes in &changes {
            for (differs, change) in differs.iter_mut().zip(changes) {
                *differs |= !matches!(change, Change::Same | Change::Absent);
            }
        }
        cancel.check()?;
        let leaf = |at: usize| tree.row(RowId(index32(at))).children().len() == 0;
        let differing = differs.iter().enumerate().filter(|(at, differs)| **differs && leaf(*at)).count();
        Ok(Self {
            differs,
            differing,
            summary: summary::lines(&compared, baseline, &sums),
            layers: layers::lines(&compared, baseline),
            packages: packages::lines(&compared, baseline),
            settings: settings::lines(&compared, baseline),
            sentence: summary::sentence(&compared, baseline),
            compared,
            baseline,
            changes,
            sums,
        })
    }

    /// How many images there are.
    pub fn images(&self) -> usize {
        self.compared.comparison.images.len()
    }

    /// Whether an image differs from the baseline at a path, by [`crate::compare::RowId`], or may.
    pub fn differs(&self, row: usize) -> bool {
        self.differs.get(row).copied().unwrap_or(false)
    }

    /// The lines of a page; none for the files.
    pub fn lines(&self, page: ComparePage) -> &[CompareLine] {
        match page {
            ComparePage::Summary => &self.summary,
            ComparePage::Layers => &self.layers,
            ComparePage::Packages => &self.packages,
            ComparePage::Settings => &self.settings,
            ComparePage::Files => &[],
        }
    }

    /// How many things of a page differ; of files, paths but for folders with something
    /// in them.
    pub fn differing(&self, page: ComparePage) -> usize {
        match page {
            ComparePage::Files => self.differing,
            page => self.lines(page).iter().filter(|line| line.differs).count(),
        }
    }
}
