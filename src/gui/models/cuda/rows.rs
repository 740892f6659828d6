//! The rows of the table of libraries: filtered, ordered, in groups that fold.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::libraries::LibraryItem;
use super::query::CudaFiles;
use crate::cuda::Supplier;
use crate::gui::models::filter::{Filter, FilterError};

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

impl LibraryColumn {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 8] = [
        Self::Library,
        Self::Version,
        Self::Supplier,
        Self::Layer,
        Self::Size,
        Self::GpuCode,
        Self::Use,
        Self::NeededBy,
    ];

    /// Whether its largest value is what one looks for first.
    const fn is_largest_first(self) -> bool {
        matches!(self, Self::Size | Self::GpuCode | Self::NeededBy)
    }
}

/// The order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibrarySort {
    /// By which column.
    pub column: LibraryColumn,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Default for LibrarySort {
    fn default() -> Self {
        Self { column: LibraryColumn::Size, descending: true }
    }
}

impl LibrarySort {
    /// What a click on the head of a column makes of it.
    pub fn clicked(self, column: LibraryColumn) -> Self {
        let descending = if self.column == column { !self.descending } else { column.is_largest_first() };
        Self { column, descending }
    }
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryRow {
    /// A component, by its place in [`LibraryRows::groups`].
    Group(usize),
    /// A library, by its place in the model.
    Library(usize),
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
    /// Whether its libraries are shown.
    pub open: bool,
}

/// What the table shows.
#[derive(Clone, Debug, Default)]
pub struct LibraryRows {
    /// The rows from top to bottom.
    pub rows: Vec<LibraryRow>,
    /// The groups, in order; empty where they are not asked for.
    pub groups: Vec<LibraryGroup>,
    /// How many libraries the filter keeps.
    pub found: usize,
    /// Their bytes, each file once.
    pub bytes: u64,
    /// Whether a filter is in force.
    pub filtered: bool,
    /// Why the filter cannot be understood; then nothing is left out.
    pub error: Option<FilterError>,
}

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
            shown.rows = kept.into_iter().map(LibraryRow::Library).collect();
            return shown;
        }
        shown.groups = groups(libraries, &kept, sorting);
        for (place, group) in shown.groups.iter_mut().enumerate() {
            // What a filter found is shown.
            group.open = shown.filtered || !folded.contains(&group.name);
            shown.rows.push(LibraryRow::Group(place));
            if group.open {
                shown.rows.extend(group.libraries.iter().copied().map(LibraryRow::Library));
            }
        }
        shown
    }

    /// The row of a library.
    pub fn position(&self, library: usize) -> Option<usize> {
        self.rows.iter().position(|row| *row == LibraryRow::Library(library))
    }

    /// The group row of a library row.
    pub fn parent(&self, row: usize) -> Option<usize> {
        let above = self.rows.get(..row)?;
        above.iter().rposition(|row| matches!(row, LibraryRow::Group(_)))
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
                open: true,
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
