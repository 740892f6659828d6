//! What filters see of the files of the CUDA view.

use super::libraries::LibraryItem;
use crate::base::labels::{SUPPLIERS, USES, slug};
use crate::gui::models::filter::{Field, FilterView, Word};

/// Libraries and other files with GPU code.
pub struct CudaFiles;

/// A file, and what is known of it where it is a library.
pub struct CudaFile<'a> {
    /// The library.
    pub library: Option<&'a LibraryItem>,
    /// Absolute path, any bytes.
    pub raw: &'a [u8],
    /// Its size.
    pub bytes: u64,
}

impl<'a> From<&'a LibraryItem> for CudaFile<'a> {
    fn from(library: &'a LibraryItem) -> Self {
        Self { library: Some(library), raw: &library.raw, bytes: library.bytes }
    }
}

impl CudaFile<'_> {
    /// Whether it is a library of which this holds.
    fn is(&self, holds: impl Fn(&LibraryItem) -> bool) -> bool {
        self.library.is_some_and(holds)
    }
}

impl FilterView for CudaFiles {
    type Row<'a> = CudaFile<'a>;

    const FIELDS: &'static [Field<Self>] = &[
        Field::size(|file, range| range.contains(&file.bytes)),
        Field::label(SUPPLIERS, |file, value| file.is(|one| one.supplier.as_str() == value)),
        Field::label(USES, |file, value| file.is(|one| one.usage.as_str() == value)),
        Field::layer(|file, layer| file.is(|one| one.layer == layer)),
        Field::text("component", "cublas", |file, name| file.is(|one| *one.component == *name)),
        Field::text("arch", "sm_90", |file, typed| {
            // `90` matches every kind of code for it.
            let bare = typed.starts_with(|letter: char| letter.is_ascii_digit());
            let has =
                |code: &String| code.strip_suffix(typed).is_some_and(|kind| !bare || kind.ends_with('_'));
            file.is(|one| one.codes.iter().any(has))
        }),
        Field::text("is", "stub", |file, word| {
            let is = |one: &LibraryItem| {
                one.words.iter().any(|own| slug(own) == word) || slug(one.use_label()) == word
            };
            file.is(is)
        }),
    ];

    fn has_word(file: &CudaFile<'_>, word: &Word) -> bool {
        let name = file.raw.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let texts = |one: &LibraryItem| {
            let known = [Some(&*one.component), Some(&one.version)];
            let package = one.line.package.as_ref().map(|package| package.name.as_str());
            let more = [one.line.soname.as_deref(), package];
            known.into_iter().chain(more).flatten().any(|text| word.is_within(text))
        };
        word.is_match(name, file.raw) || !word.is_path() && file.is(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::CudaFiles;
    use crate::base::labels::{ROLES, SUPPLIERS, USES};
    use crate::gui::models::filter::{Filter, tests::understands};

    #[test]
    fn labels_and_values_are_filters() {
        understands::<CudaFiles>(&[USES, SUPPLIERS]);
        for label in ROLES.list {
            assert!(Filter::<CudaFiles>::parse(&format!("is:{}", label.word())).is_ok());
        }
    }
}
