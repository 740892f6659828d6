//! The filter language of all views.
//!
//! A filter consists of terms separated by spaces; all of them must match. `key:value` is about a [`Field`] of the view,
//! any other term is a [`Word`]. A view describes its rows with [`FilterView`]: a new field is one entry of its table.

mod pattern;

use std::fmt;
use std::ops::RangeInclusive;

pub use self::pattern::{Word, folder_term};
use crate::base::labels::{Family, expected};

/// What a filter can ask of the rows of a view.
pub trait FilterView: Sized + 'static {
    /// A row.
    type Row<'a>;
    /// The fields. Those with the same key are alternatives: the first that understands a value takes it.
    const FIELDS: &'static [Field<Self>];
    /// Whether words are globs, and paths where they contain a `/`; else parts of a text.
    const GLOBS: bool = true;

    /// Whether a row matches a term without a key.
    fn has_word(row: &Self::Row<'_>, word: &Word) -> bool;
}

/// A field of a view: its key, its values, and how a row answers.
pub struct Field<V: FilterView> {
    key: &'static str,
    kind: FieldKind<V>,
}

type Row<'a, V> = <V as FilterView>::Row<'a>;

/// The values of a field, and whether a row has a value.
enum FieldKind<V: FilterView> {
    Size(fn(&Row<'_, V>, &RangeInclusive<u64>) -> bool),
    Layer(fn(&Row<'_, V>, u16) -> bool),
    /// Values of a family, by JSON value, label or filter word.
    Label(Family, &'static [&'static str], fn(&Row<'_, V>, &str) -> bool),
    Flag(&'static str, fn(&Row<'_, V>) -> bool),
    /// What it is, an example, which texts are known, and whether a row has one, in lower case.
    Text(&'static str, &'static str, fn(&str) -> bool, fn(&Row<'_, V>, &str) -> bool),
}

impl<V: FilterView> Field<V> {
    /// Bytes: `size:>10M`.
    pub const fn size(fits: fn(&Row<'_, V>, &RangeInclusive<u64>) -> bool) -> Self {
        Self { key: "size", kind: FieldKind::Size(fits) }
    }

    /// The number of a layer: `layer:3`.
    pub const fn layer(fits: fn(&Row<'_, V>, u16) -> bool) -> Self {
        Self { key: "layer", kind: FieldKind::Layer(fits) }
    }

    /// A value of a family: `verdict:removable`. `fits` is given the JSON value.
    pub const fn label(family: Family, fits: fn(&Row<'_, V>, &str) -> bool) -> Self {
        Self::label_of(family, &[], fits)
    }

    /// One of these values of a family.
    pub const fn label_of(
        family: Family,
        values: &'static [&'static str],
        fits: fn(&Row<'_, V>, &str) -> bool,
    ) -> Self {
        Self { key: family.key, kind: FieldKind::Label(family, values, fits) }
    }

    /// A state: `is:shadowed`.
    pub const fn flag(word: &'static str, fits: fn(&Row<'_, V>) -> bool) -> Self {
        Self { key: "is", kind: FieldKind::Flag(word, fits) }
    }

    /// Any text, with an example: `component:cublas`. `fits` is given it in lower case.
    pub const fn text(key: &'static str, example: &'static str, fits: fn(&Row<'_, V>, &str) -> bool) -> Self {
        Self { key, kind: FieldKind::Text("a text", example, |_| true, fits) }
    }

    /// A text that something has to contain; `about` says what.
    pub const fn part(
        key: &'static str,
        (about, example): (&'static str, &'static str),
        known: fn(&str) -> bool,
        fits: fn(&Row<'_, V>, &str) -> bool,
    ) -> Self {
        Self { key, kind: FieldKind::Text(about, example, known, fits) }
    }
}

/// Why a filter is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// A term, and what is expected in its place.
    #[error("invalid filter {0}; expected {1}")]
    Term(String, String),
    /// Not a regular expression.
    #[error("invalid regular expression: {0}")]
    Regex(String),
}

/// A term that was read.
enum Term<V: FilterView> {
    Word(Word),
    Size(RangeInclusive<u64>, fn(&Row<'_, V>, &RangeInclusive<u64>) -> bool),
    Layer(u16, fn(&Row<'_, V>, u16) -> bool),
    Label(&'static str, fn(&Row<'_, V>, &str) -> bool),
    Flag(fn(&Row<'_, V>) -> bool),
    Text(String, fn(&Row<'_, V>, &str) -> bool),
}

/// A filter over the rows of a view. An empty one matches every row.
pub struct Filter<V: FilterView> {
    terms: Vec<Term<V>>,
}

impl<V: FilterView> Default for Filter<V> {
    fn default() -> Self {
        Self { terms: Vec::new() }
    }
}

impl<V: FilterView> fmt::Debug for Filter<V> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "a filter of {} terms", self.terms.len())
    }
}

impl<V: FilterView> Filter<V> {
    /// Reads a filter.
    ///
    /// # Errors
    /// When a term is invalid.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        Self::parse_as(text, false)
    }

    /// Reads a filter. With `regex`, all that is no field is one regular expression over the whole path.
    ///
    /// # Errors
    /// When a term is invalid.
    pub fn parse_as(text: &str, regex: bool) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        let mut rest = Vec::new();
        for term in text.split_whitespace() {
            if let Some(field) = field(term)? {
                filter.add(field);
            } else if regex {
                rest.push(term);
            } else {
                filter.terms.push(Term::Word(Word::new(term, V::GLOBS)?));
            }
        }
        if !rest.is_empty() {
            filter.terms.push(Term::Word(Word::regex(&rest.join(" "))?));
        }
        Ok(filter)
    }

    /// Reads a filter as it is typed: while it is invalid, it leaves nothing out.
    pub fn typed(text: &str) -> (Self, Option<FilterError>) {
        match Self::parse(text) {
            Ok(filter) => (filter, None),
            Err(error) => (Self::default(), Some(error)),
        }
    }

    /// Adds a field. Two ranges of sizes are one: of several sizes of a row, one has to be in both.
    fn add(&mut self, field: Term<V>) {
        if let Term::Size(range, _) = &field
            && let Some(known) = self.terms.iter_mut().find_map(|term| match term {
                Term::Size(known, _) => Some(known),
                _ => None,
            })
        {
            *known = *known.start().max(range.start())..=*known.end().min(range.end());
            return;
        }
        self.terms.push(field);
    }

    /// Whether it matches every row.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a word is about the whole path.
    pub fn has_paths(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Word(word) if word.is_path()))
    }

    /// Whether no folder can match: folders have no size of their own, and a state alone would match all folders above.
    pub fn is_about_files(&self) -> bool {
        let has_word = self.terms.iter().any(|term| matches!(term, Term::Word(_)));
        !has_word || self.terms.iter().any(|term| matches!(term, Term::Size(..)))
    }

    /// Whether a row matches.
    pub fn fits(&self, row: &Row<'_, V>) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Word(word) => V::has_word(row, word),
            Term::Size(range, fits) => fits(row, range),
            Term::Layer(layer, fits) => fits(row, *layer),
            Term::Label(value, fits) => fits(row, value),
            Term::Flag(fits) => fits(row),
            Term::Text(text, fits) => fits(row, text),
        })
    }
}

/// What the filter of a view understands, for its tooltip.
pub fn help<V: FilterView>() -> String {
    let words = if V::GLOBS { "Part of a name, glob (lib*.so), path (with a /)" } else { "Any text" };
    let mut keys: Vec<String> = V::FIELDS.iter().flat_map(Field::examples).collect();
    keys.insert(0, words.to_owned());
    format!("{}. All terms must match.", expected(keys.into_iter()))
}

impl<V: FilterView> Field<V> {
    /// The terms that it understands, or an example of them.
    fn examples(&self) -> Vec<String> {
        let key = self.key;
        match &self.kind {
            FieldKind::Size(_) => vec![format!("{key}:>10M")],
            FieldKind::Layer(_) => vec![format!("{key}:3")],
            FieldKind::Label(family, values, _) => {
                let all = family.list.iter().map(|label| label.value);
                let values = if values.is_empty() { all.collect() } else { values.to_vec() };
                values.into_iter().map(|value| family.term(value)).collect()
            }
            FieldKind::Flag(word, _) => vec![format!("{key}:{word}")],
            FieldKind::Text(_, example, ..) => vec![format!("{key}:{example}")],
        }
    }

    /// What an error names in the place of a term.
    fn expected(&self) -> Vec<String> {
        match &self.kind {
            FieldKind::Size(_) => vec!["a size, such as size:>10M, size:<4k or size:>=1.5G".to_owned()],
            FieldKind::Layer(_) => vec!["a layer number, such as layer:3".to_owned()],
            FieldKind::Text(about, example, ..) => vec![format!("{about}, such as {}:{example}", self.key)],
            FieldKind::Label(..) | FieldKind::Flag(..) => self.examples(),
        }
    }

    fn read(&self, value: &str) -> Option<Term<V>> {
        match &self.kind {
            FieldKind::Size(fits) => Some(Term::Size(pattern::sizes(value)?, *fits)),
            FieldKind::Layer(fits) => Some(Term::Layer(value.parse().ok()?, *fits)),
            FieldKind::Label(family, values, fits) => {
                let label =
                    family.named(value).filter(|label| values.is_empty() || values.contains(&label.value))?;
                Some(Term::Label(label.value, *fits))
            }
            FieldKind::Flag(word, fits) => value.eq_ignore_ascii_case(word).then_some(Term::Flag(*fits)),
            FieldKind::Text(_, _, known, fits) => {
                Some(value.to_lowercase()).filter(|text| known(text)).map(|text| Term::Text(text, *fits))
            }
        }
    }
}

/// A term with a key of the view; `None` for a word.
fn field<V: FilterView>(term: &str) -> Result<Option<Term<V>>, FilterError> {
    let Some((key, value)) = term.split_once(':') else { return Ok(None) };
    let fields = || V::FIELDS.iter().filter(|field| field.key.eq_ignore_ascii_case(key));
    if fields().next().is_none() {
        return Ok(None);
    }
    let found = fields().find_map(|field| field.read(value));
    let wrong = || FilterError::Term(term.to_owned(), expected(fields().flat_map(Field::expected)));
    found.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
pub(in crate::gui::models) mod tests {
    use super::{Filter, FilterView};
    use crate::base::labels::{Family, slug};

    /// All labels, values and filter words of these families are understood; other words name those expected.
    pub(in crate::gui::models) fn understands<V: FilterView>(families: &[Family]) {
        for family in families {
            for label in family.list {
                for word in [label.value.to_owned(), label.word(), slug(label.text)] {
                    let filter = format!("{}:{word}", family.key);
                    assert!(Filter::<V>::parse(&filter).is_ok(), "{filter}");
                }
            }
        }
        let error = Filter::<V>::parse(&format!("{}:maybe", families[0].key)).unwrap_err().to_string();
        assert!(error.ends_with(&families[0].expected()), "{error}");
    }
}
