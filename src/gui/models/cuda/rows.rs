//! The rows of the table of libraries: filtered, ordered, in groups that fold.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::libraries::LibraryItem;
use super::query::CudaFiles;
use crate::cuda::Supplier;
use crate::gui::models::filter::Filter;
use crate::gui::models::grouped::{GroupedRow, GroupedRows, RowGroup, Sorting};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryColumn {
    /// File name; of a group, the component.
    Library,
    /// Version.
    Version,
    /// Who brought it.
    Supplier,
    /// The layer that contains it.
    Layer,
    /// Bytes.
    Size,
    /// Bytes of GPU code.
    GpuCode,
    /// Whether something that runs reaches it.
    Use,
    /// How many need it.
    NeededBy,
}

/// The order of the rows.
pub type LibrarySort = Sorting<LibraryColumn>;

impl Default for LibrarySort {
    fn default() -> Self {
        Self { column: LibraryColumn::Size, descending: true }
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
            let order = compare(&libraries[*one], &libraries[*other], sorting.column);
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
        let order = match sorting.column {
            LibraryColumn::Library => one.name.cmp(&other.name),
            LibraryColumn::Size => one.bytes.cmp(&other.bytes),
            LibraryColumn::GpuCode => one.gpu_bytes.cmp(&other.gpu_bytes),
            // Its first library speaks for it.
            column => match (one.libraries.first(), other.libraries.first()) {
                (Some(one), Some(other)) => compare(&libraries[*one], &libraries[*other], column),
                _ => Ordering::Equal,
            },
        };
        let order = if sorting.descending { order.reverse() } else { order };
        order.then_with(|| one.name.cmp(&other.name))
    });
    groups
}

fn compare(one: &LibraryItem, other: &LibraryItem, column: LibraryColumn) -> Ordering {
    match column {
        LibraryColumn::Library => one.name.cmp(&other.name),
        LibraryColumn::Version => numbers(&one.version).cmp(&numbers(&other.version)),
        LibraryColumn::Supplier => one.supplier.cmp(&other.supplier),
        LibraryColumn::Layer => one.layer.cmp(&other.layer),
        LibraryColumn::Size => one.bytes.cmp(&other.bytes),
        LibraryColumn::GpuCode => one.gpu_bytes.cmp(&other.gpu_bytes),
        LibraryColumn::Use => one.usage.cmp(&other.usage),
        LibraryColumn::NeededBy => one.needed_by.cmp(&other.needed_by),
    }
}

/// The numbers of a version, so that 9 comes before 13.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}
