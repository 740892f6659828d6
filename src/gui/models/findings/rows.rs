//! The rows of the list: filtered, in groups, ordered within each.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::item::FindingItem;
use super::query::FindingList;
use crate::findings::{Category, Verdict};
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

/// The order of the rows of one group.
pub type FindingSort = Sorting<FindingColumn>;

impl Default for FindingSort {
    fn default() -> Self {
        Self { column: FindingColumn::Saving, descending: true }
    }
}

/// A group of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingGroup {
    /// What is removable.
    Removable,
    /// What needs review and is no question of bytes: missing libraries, secrets, a base image past support.
    Problems,
    /// What needs review, for its bytes.
    Review,
    /// What is required at run time.
    Required,
}

impl FindingGroup {
    /// All of them, in order.
    const ALL: [Self; 4] = [Self::Removable, Self::Problems, Self::Review, Self::Required];

    /// The group of a finding.
    pub fn of(item: &FindingItem) -> Self {
        match item.verdict {
            Verdict::Safe => Self::Removable,
            Verdict::Unsure if matches!(item.category, Category::Secrets | Category::Configuration) => {
                Self::Problems
            }
            Verdict::Unsure => Self::Review,
            Verdict::Needed => Self::Required,
        }
    }

    /// The verdict of its findings.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Removable => Verdict::Safe,
            Self::Problems | Self::Review => Verdict::Unsure,
            Self::Required => Verdict::Needed,
        }
    }

    /// Its name in the list.
    pub fn label(self) -> &'static str {
        if self == Self::Problems { "Problems" } else { self.verdict().label() }
    }
}

/// The findings of one group that the filter keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictGroup {
    /// Which group.
    pub group: FindingGroup,
    /// Its findings, in order.
    pub findings: Vec<usize>,
    /// What the layers lose without them.
    pub bytes: u64,
    /// What the unpacked image loses without them.
    pub merged_bytes: u64,
}

impl RowGroup for VerdictGroup {
    type Key = FindingGroup;

    fn key(&self) -> FindingGroup {
        self.group
    }
}

/// What the list shows: findings by their place in the model.
pub type FindingRows = GroupedRows<VerdictGroup>;

impl FindingRows {
    /// Makes the rows. `folded` names the groups whose findings are left out.
    pub fn new(
        items: &[FindingItem],
        filter: &str,
        sorting: FindingSort,
        folded: &BTreeSet<FindingGroup>,
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
        for group in FindingGroup::ALL {
            let is_in = |place: &usize| FindingGroup::of(&items[*place]) == group;
            let mut findings: Vec<usize> = kept.iter().copied().filter(is_in).collect();
            if findings.is_empty() {
                continue;
            }
            // Problems save nothing.
            let saves = group != FindingGroup::Problems || sorting.column != FindingColumn::Saving;
            let column = if saves { sorting.column } else { FindingColumn::Severity };
            // The order of the analysis decides between equals: sorting is stable.
            findings.sort_by(|one, other| {
                let order = compare(&items[*one], &items[*other], column);
                if sorting.descending { order.reverse() } else { order }
            });
            let (bytes, merged_bytes) =
                (sum(&findings, |item| item.bytes), sum(&findings, |item| item.merged_bytes));
            let group = VerdictGroup { group, findings: findings.clone(), bytes, merged_bytes };
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
        FindingColumn::Saving => one.saving().cmp(&other.saving()),
        FindingColumn::Unpacked => one.merged_bytes.cmp(&other.merged_bytes),
        FindingColumn::Layers => one.layers.cmp(&other.layers),
    }
}
