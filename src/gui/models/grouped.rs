//! Rows of a table in groups that fold, and their order.

use std::collections::BTreeSet;

use super::filter::FilterError;

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting<C> {
    /// By which column.
    pub column: C,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl<C: PartialEq> Sorting<C> {
    /// What a click on the head of a column makes of it; `largest_first` is how its order begins.
    #[must_use]
    pub fn clicked(self, column: C, largest_first: bool) -> Self {
        let descending = if self.column == column { !self.descending } else { largest_first };
        Self { column, descending }
    }
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupedRow<I = usize> {
    /// The head of a group, by its place in [`GroupedRows::groups`].
    Group(usize),
    /// What belongs to the group above.
    Item(I),
}

/// What items have in common.
pub trait RowGroup {
    /// Tells the group from all others, whatever the filter keeps.
    type Key: Clone + Ord;

    /// Its key.
    fn key(&self) -> Self::Key;
}

/// What a table shows.
#[derive(Clone, Debug)]
pub struct GroupedRows<G, I = usize> {
    /// The rows from top to bottom.
    pub rows: Vec<GroupedRow<I>>,
    /// The groups, in order; empty where they are not asked for.
    pub groups: Vec<G>,
    /// How many items the filter keeps.
    pub found: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Whether a filter is in force.
    pub filtered: bool,
    /// Why the filter cannot be understood; then nothing is left out.
    pub error: Option<FilterError>,
}

impl<G, I> Default for GroupedRows<G, I> {
    fn default() -> Self {
        Self { rows: Vec::new(), groups: Vec::new(), found: 0, bytes: 0, filtered: false, error: None }
    }
}

impl<G: RowGroup, I: Copy + PartialEq> GroupedRows<G, I> {
    /// Adds a group, and its items unless it is folded.
    pub(super) fn push(&mut self, group: G, folded: &BTreeSet<G::Key>, items: impl IntoIterator<Item = I>) {
        self.rows.push(GroupedRow::Group(self.groups.len()));
        if !folded.contains(&group.key()) {
            self.rows.extend(items.into_iter().map(GroupedRow::Item));
        }
        self.groups.push(group);
    }

    /// The row of an item.
    pub fn position(&self, item: I) -> Option<usize> {
        self.rows.iter().position(|row| *row == GroupedRow::Item(item))
    }

    /// The row of a group.
    pub fn position_of(&self, key: &G::Key) -> Option<usize> {
        let group = self.groups.iter().position(|group| group.key() == *key)?;
        self.rows.iter().position(|row| *row == GroupedRow::Group(group))
    }

    /// Whether what belongs to a group is shown, by the row of the group.
    pub fn is_open(&self, row: usize) -> bool {
        matches!(self.rows.get(row + 1), Some(GroupedRow::Item(_)))
    }

    /// The nearest group above a row.
    pub fn group_above(&self, row: usize) -> Option<&G> {
        self.rows.get(..row)?.iter().rev().find_map(|row| self.group(row))
    }

    /// The group of a row that is one.
    pub fn group(&self, row: &GroupedRow<I>) -> Option<&G> {
        match row {
            GroupedRow::Group(group) => self.groups.get(*group),
            GroupedRow::Item(_) => None,
        }
    }
}
