//! What filters see of a comparison: the paths of the tree, and the lines of the other pages.

use super::line::CompareLine;
use super::model::CompareModel;
use crate::base::labels::CHANGES;
use crate::compare::Row;
use crate::gui::models::filter::{Field, FilterView, Word};

/// All changes but that of a path in neither image: no row is about one.
const SHOWN_CHANGES: &[&str] = &["added", "removed", "changed", "unknown", "same"];

/// The tree over all images.
pub struct ComparedPaths;

/// A path of the tree.
pub struct ComparedPath<'a> {
    pub(super) model: &'a CompareModel,
    pub(super) row: Row<'a>,
    /// The whole path; empty where no word is about it.
    pub(super) path: &'a [u8],
}

impl FilterView for ComparedPaths {
    type Row<'a> = ComparedPath<'a>;

    const FIELDS: &'static [Field<Self>] = &[
        Field::size(|path, range| {
            let mut sizes = (0..path.model.images()).filter_map(|image| path.row.bytes(image));
            sizes.any(|size| range.contains(&size))
        }),
        Field::label_of(CHANGES, SHOWN_CHANGES, |path, value| {
            let at = path.row.id().0 as usize;
            let mut changes = path.model.changes.iter().filter_map(|changes| changes.get(at));
            changes.any(|change| change.as_str() == value)
        }),
    ];

    fn has_word(path: &ComparedPath<'_>, word: &Word) -> bool {
        word.is_match(path.row.name(), path.path)
    }
}

/// The lines of a page.
pub struct ComparedLines;

impl FilterView for ComparedLines {
    type Row<'a> = &'a CompareLine;

    const FIELDS: &'static [Field<Self>] = &[
        Field::size(|line, range| range.contains(&line.size)),
        Field::label_of(CHANGES, SHOWN_CHANGES, |line, value| {
            line.cells.iter().filter_map(|cell| cell.change).any(|change| change.as_str() == value)
        }),
    ];

    fn has_word(line: &&CompareLine, word: &Word) -> bool {
        let text = format!("{} {}", line.name, line.note);
        word.is_match(text.as_bytes(), text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{ComparedLines, ComparedPaths};
    use crate::gui::models::filter::Filter;

    #[test]
    fn labels_and_values_are_filters() {
        for word in ["added", "removed", "changed", "not-compared", "unknown", "unchanged", "same"] {
            let filter = format!("is:{word}");
            assert!(Filter::<ComparedPaths>::parse(&filter).is_ok(), "{filter}");
            assert!(Filter::<ComparedLines>::parse(&filter).is_ok(), "{filter}");
        }
        let error = Filter::<ComparedPaths>::parse("is:absent").unwrap_err().to_string();
        assert!(error.contains("is:changed, is:not-compared or is:unchanged"), "{error}");
    }
}
