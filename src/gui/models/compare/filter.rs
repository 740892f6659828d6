//! The filter of the pages.

use regex::bytes::Regex;

use crate::base::labels::{self, CHANGES};
use crate::compare::Change;
use crate::gui::models::files::{FileQueryError, glob, size_range};

/// A filter: all terms must match. An empty filter matches everything.
#[derive(Clone, Debug, Default)]
pub struct CompareFilter {
    names: Vec<Regex>,
    paths: Vec<Regex>,
    sizes: Option<(u64, u64)>,
    change: Option<Change>,
}

impl CompareFilter {
    /// Reads a filter. Terms are separated by spaces: parts of a name, globs such as `*.so`, parts of a path where
    /// they have a `/`, `size:>10M` for what an image has, `is:added` and the like for the change of a file.
    ///
    /// # Errors
    /// When a term is invalid.
    pub fn parse(text: &str) -> Result<Self, FileQueryError> {
        let mut filter = Self::default();
        for term in text.split_whitespace() {
            if let Some(size) = term.strip_prefix("size:") {
                let (least, most) = size_range(size)?;
                let (low, high) = filter.sizes.unwrap_or((0, u64::MAX));
                filter.sizes = Some((low.max(least), high.min(most)));
            } else if let Some(state) = term.strip_prefix("is:") {
                // No row is about a file that is in neither image.
                let found = Change::from_label(state).filter(|change| *change != Change::Absent);
                filter.change = Some(found.ok_or_else(|| wrong_change(term))?);
            } else if term.contains('/') {
                filter.paths.push(glob(term, true)?);
            } else {
                filter.names.push(glob(term, false)?);
            }
        }
        Ok(filter)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty() && self.sizes.is_none() && self.change.is_none()
    }

    /// Whether it has path terms.
    pub(super) fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Whether it has terms that apply to files only.
    pub(super) fn is_about_files(&self) -> bool {
        self.sizes.is_some() || self.change.is_some() && self.names.is_empty() && self.paths.is_empty()
    }

    pub(super) fn fits_name(&self, name: &[u8]) -> bool {
        self.names.iter().all(|regex| regex.is_match(name))
    }

    pub(super) fn fits_path(&self, path: &[u8]) -> bool {
        self.paths.iter().all(|regex| regex.is_match(path))
    }

    pub(super) fn fits_size(&self, mut sizes: impl Iterator<Item = u64>) -> bool {
        self.sizes.is_none_or(|(least, most)| sizes.any(|size| (least..=most).contains(&size)))
    }

    pub(super) fn fits_change(&self, mut changes: impl Iterator<Item = Change>) -> bool {
        self.change.is_none_or(|wanted| changes.any(|change| change == wanted))
    }

    /// Whether a name that is no path fits.
    pub(super) fn fits_text(&self, text: &str) -> bool {
        self.fits_name(text.as_bytes()) && self.fits_path(text.as_bytes())
    }
}

fn wrong_change(term: &str) -> FileQueryError {
    let words = CHANGES.list.iter().filter(|label| label.value != Change::Absent.as_str());
    let expected = labels::expected(words.map(|label| format!("{}:{}", CHANGES.key, label.word())));
    FileQueryError::State(term.to_owned(), expected)
}

#[cfg(test)]
mod tests {
    use super::CompareFilter;

    #[test]
    fn labels_and_values_are_filters() {
        for filter in [
            "is:added",
            "is:removed",
            "is:changed",
            "is:not-compared",
            "is:unknown",
            "is:unchanged",
            "is:same",
        ] {
            assert!(CompareFilter::parse(filter).is_ok(), "{filter}");
        }
        let error = CompareFilter::parse("is:absent").unwrap_err().to_string();
        assert!(error.contains("is:changed, is:not-compared or is:unchanged"), "{error}");
    }
}
