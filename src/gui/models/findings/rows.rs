//! The rows of the list: filtered, by verdict, ordered within each.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::item::FindingItem;
use super::query::FindingList;
use crate::findings::Verdict;
use crate::gui::models::filter::Filter;
use crate::gui::models::grouped::{GroupedRows, RowGroup, Sorting};

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

/// The order of the rows of one verdict.
pub type FindingSort = Sorting<FindingColumn>;

impl Default for FindingSort {
    fn default() -> Self {
        Self { column: FindingColumn::Saving, descending: true }
    }
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
}

impl RowGroup for VerdictGroup {
    type Key = Verdict;

    fn key(&self) -> Verdict {
        self.verdict
    }
}

/// What the list shows: findings by their place in the model.
pub type FindingRows = GroupedRows<VerdictGroup>;

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
        // What a filter found is shown.
        let none = BTreeSet::new();
        let folded = if shown.filtered { &none } else { folded };
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
            let (bytes, merged_bytes) =
                (sum(&findings, |item| item.bytes), sum(&findings, |item| item.merged_bytes));
            let group = VerdictGroup { verdict, findings: findings.clone(), bytes, merged_bytes };
            shown.push(group, folded, findings);
        }
        shown
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
