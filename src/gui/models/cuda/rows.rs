//! The rows of the table of libraries: filtered, ordered, in groups that fold.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::libraries::LibraryItem;
use super::query::CudaFiles;
use crate::cuda::Supplier;
use crate::gui::models::filter::Filter;
use crate::gui::models::grouped::{GroupedRow, GroupedRows, RowGroup, Sorting};

/// Compares two values of a kind.
type Compare<T> = fn(&T, &T) -> Ordering;

/// How a column of the table orders its rows.
#[derive(Clone, Copy, Debug)]
pub struct LibraryColumn {
    title: &'static str,
    libraries: Compare<LibraryItem>,
    groups: Option<Compare<LibraryGroup>>,
}

impl PartialEq for LibraryColumn {
    fn eq(&self, other: &Self) -> bool {
        self.title == other.title
    }
}

impl Eq for LibraryColumn {}

impl LibraryColumn {
    /// File name; of a group, the component.
    pub const LIBRARY: Self = Self {
        groups: Some(|one, other| one.name.cmp(&other.name)),
        ..Self::by("Library", |one, other| one.name.cmp(&other.name))
    };
    /// Version, by its numbers.
    pub const VERSION: Self =
        Self::by("Version", |one, other| numbers(&one.version).cmp(&numbers(&other.version)));
    /// Bytes.
    pub const SIZE: Self = Self {
        groups: Some(|one, other| one.bytes.cmp(&other.bytes)),
        ..Self::by("Size", |one, other| one.bytes.cmp(&other.bytes))
    };
    /// Bytes of GPU code.
    pub const GPU_CODE: Self = Self {
        groups: Some(|one, other| one.gpu_bytes.cmp(&other.gpu_bytes)),
        ..Self::by("GPU code", |one, other| one.gpu_bytes.cmp(&other.gpu_bytes))
    };

    /// The column with this title, in which the first library of a group speaks for it.
    pub const fn by(title: &'static str, libraries: fn(&LibraryItem, &LibraryItem) -> Ordering) -> Self {
        Self { title, libraries, groups: None }
    }
}

/// The order of the rows.
pub type LibrarySort = Sorting<LibraryColumn>;

impl Default for LibrarySort {
    fn default() -> Self {
        Self { column: LibraryColumn::SIZE, descending: true }
    }
}

/// The libraries of one component that the filter keeps.
#[derive(Clone, Debug)]
pub struct LibraryGroup {
    /// The component.
    pub name: Arc<str>,
    /// Its libraries, in order.
    pub libraries: Vec<usize>,
    /// Their bytes, each file once.
    pub bytes: u64,
    /// Bytes of GPU code, each file once.
    pub gpu_bytes: u64,
    /// Who brought them.
    pub suppliers: Vec<Supplier>,
}

impl RowGroup for LibraryGroup {
    type Key = Arc<str>;

    fn key(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }
}

/// What the table shows: libraries by their place in the model. Bytes of a file count once.
pub type LibraryRows = GroupedRows<LibraryGroup>;

impl LibraryRows {
    /// Makes the rows. `folded` names the components whose libraries are left out.
    pub fn new(
        libraries: &[LibraryItem],
        filter: &str,
        sorting: LibrarySort,
        grouped: bool,
        folded: &BTreeSet<Arc<str>>,
    ) -> Self {
        let (query, error) = Filter::<CudaFiles>::typed(filter);
        let mut kept: Vec<usize> =
            (0..libraries.len()).filter(|place| query.fits(&(&libraries[*place]).into())).collect();
        kept.sort_by(|one, other| {
            let order = (sorting.column.libraries)(&libraries[*one], &libraries[*other]);
            let order = if sorting.descending { order.reverse() } else { order };
            order.then_with(|| libraries[*one].raw.cmp(&libraries[*other].raw))
        });
        let mut shown = Self {
            found: kept.len(),
            bytes: kept.iter().map(|place| libraries[*place].counted).sum(),
            filtered: !query.is_empty(),
            error,
            ..Self::default()
        };
        if !grouped {
            shown.rows = kept.into_iter().map(GroupedRow::Item).collect();
            return shown;
        }
        // What a filter found is shown.
        let none = BTreeSet::new();
        let folded = if shown.filtered { &none } else { folded };
        for group in groups(libraries, &kept, sorting) {
            let libraries = group.libraries.clone();
            shown.push(group, folded, libraries);
        }
        shown
    }
}

fn groups(libraries: &[LibraryItem], kept: &[usize], sorting: LibrarySort) -> Vec<LibraryGroup> {
    let mut by_name: BTreeMap<&Arc<str>, Vec<usize>> = BTreeMap::new();
    for place in kept {
        by_name.entry(&libraries[*place].component).or_default().push(*place);
    }
    let mut groups: Vec<LibraryGroup> = by_name
        .into_iter()
        .map(|(name, places)| {
            let each =
                |part: fn(&LibraryItem) -> u64| places.iter().map(|place| part(&libraries[*place])).sum();
            let mut suppliers: Vec<Supplier> =
                places.iter().map(|place| libraries[*place].supplier).collect();
            suppliers.sort_unstable();
            suppliers.dedup();
            LibraryGroup {
                name: Arc::clone(name),
                bytes: each(|library| library.counted),
                gpu_bytes: each(|library| if library.counted == 0 { 0 } else { library.gpu_bytes }),
                suppliers,
                libraries: places,
            }
        })
        .collect();
    groups.sort_by(|one, other| {
        let order = match (sorting.column.groups, one.libraries.first(), other.libraries.first()) {
            (Some(compare), ..) => compare(one, other),
            (None, Some(one), Some(other)) => {
                (sorting.column.libraries)(&libraries[*one], &libraries[*other])
            }
            _ => Ordering::Equal,
        };
        let order = if sorting.descending { order.reverse() } else { order };
        order.then_with(|| one.name.cmp(&other.name))
    });
    groups
}

/// The numbers of a version, so that 9 comes before 13.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}
