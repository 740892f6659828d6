//! The rows of the list: filtered, by verdict, ordered within each.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::item::FindingItem;
use super::query::FindingList;
use crate::findings::Verdict;
use crate::gui::models::filter::{Filter, FilterError};

/// A column of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingColumn {
    /// What and where.
    Title,
    /// How much it matters.
    Severity,
    /// What kind of thing it is.
    Category,
    /// What the layers lose.
    Saving,
    /// What the unpacked image loses.
    Unpacked,
    /// Its path.
    Layers,
}

impl FindingColumn {
    /// All of them, in the order of the list.
    pub const ALL: [Self; 6] =
        [Self::Title, Self::Severity, Self::Category, Self::Saving, Self::Unpacked, Self::Layers];

    /// Whether its largest value is what one looks for first.
    const fn is_largest_first(self) -> bool {
        matches!(self, Self::Severity | Self::Saving | Self::Unpacked)
    }
}

/// The order of the rows of one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingSort {
    /// By which column.
    pub column: FindingColumn,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Default for FindingSort {
    fn default() -> Self {
        Self { column: FindingColumn::Saving, descending: true }
    }
}

impl FindingSort {
    /// What a click on the head of a column makes of it.
    pub fn clicked(self, column: FindingColumn) -> Self {
        let descending = if self.column == column { !self.descending } else { column.is_largest_first() };
        Self { column, descending }
    }
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingRow {
    /// A verdict, by its place in [`FindingRows::groups`].
    Group(usize),
    /// A finding, by its place in the model.
    Finding(usize),
}

/// The findings of one verdict that the filter keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictGroup {
    /// The verdict.
    pub verdict: Verdict,
    /// Its findings, in order.
    pub findings: Vec<usize>,
    /// What the layers lose without them.
    pub bytes: u64,
    /// What the unpacked image loses without them.
    pub merged_bytes: u64,
    /// Whether its findings are shown.
    pub open: bool,
}

/// What the list shows.
#[derive(Clone, Debug, Default)]
pub struct FindingRows {
    /// The rows from top to bottom.
    pub rows: Vec<FindingRow>,
    /// The verdicts that have findings.
    pub groups: Vec<VerdictGroup>,
    /// How many findings the filter keeps.
    pub found: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Whether a filter is in force.
    pub filtered: bool,
    /// Why the filter cannot be understood; then nothing is left out.
    pub error: Option<FilterError>,
}

impl FindingRows {
    /// Makes the rows. `folded` names the verdicts whose findings are left out.
    pub fn new(
        items: &[FindingItem],
        filter: &str,
        sorting: FindingSort,
        folded: &BTreeSet<Verdict>,
    ) -> Self {
        let (query, error) = Filter::<FindingList>::typed(filter);
        let kept: Vec<usize> = (0..items.len()).filter(|place| query.fits(&&items[*place])).collect();
        let sum =
            |places: &[usize], part: fn(&FindingItem) -> u64| places.iter().map(|at| part(&items[*at])).sum();
        let mut shown = Self {
            found: kept.len(),
            bytes: sum(&kept, |item| item.bytes),
            filtered: !query.is_empty(),
            error,
            ..Self::default()
        };
        for verdict in Verdict::ALL {
            let mut findings: Vec<usize> =
                kept.iter().copied().filter(|place| items[*place].verdict == verdict).collect();
            if findings.is_empty() {
                continue;
            }
            // The order of the analysis decides between equals: sorting is stable.
            findings.sort_by(|one, other| {
                let order = compare(&items[*one], &items[*other], sorting.column);
                if sorting.descending { order.reverse() } else { order }
            });
            // What a filter found is shown.
            let open = shown.filtered || !folded.contains(&verdict);
            shown.rows.push(FindingRow::Group(shown.groups.len()));
            if open {
                shown.rows.extend(findings.iter().copied().map(FindingRow::Finding));
            }
            let (bytes, merged_bytes) =
                (sum(&findings, |item| item.bytes), sum(&findings, |item| item.merged_bytes));
            shown.groups.push(VerdictGroup { verdict, findings, bytes, merged_bytes, open });
        }
        shown
    }

    /// The row of a finding.
    pub fn position(&self, finding: usize) -> Option<usize> {
        self.rows.iter().position(|row| *row == FindingRow::Finding(finding))
    }

    /// The row of a verdict.
    pub fn position_of(&self, verdict: Verdict) -> Option<usize> {
        let group = self.groups.iter().position(|group| group.verdict == verdict)?;
        self.rows.iter().position(|row| *row == FindingRow::Group(group))
    }
}

fn compare(one: &FindingItem, other: &FindingItem, column: FindingColumn) -> Ordering {
    match column {
        FindingColumn::Title => one.title.cmp(&other.title),
        // The most severe is the first of the enum.
        FindingColumn::Severity => other.severity.cmp(&one.severity),
        FindingColumn::Category => one.category.cmp(&other.category),
        FindingColumn::Saving => one.bytes.cmp(&other.bytes),
        FindingColumn::Unpacked => one.merged_bytes.cmp(&other.merged_bytes),
        FindingColumn::Layers => one.layers.cmp(&other.layers),
    }
}
