//! What the search field of the CUDA view asks for.

use regex::bytes::Regex;

use super::libraries::LibraryItem;
use crate::base::labels::{SUPPLIERS, USES, slug};
use crate::cuda::{Supplier, Use};
use crate::gui::models::files::{FileQueryError, glob, size_range};

/// A filter over libraries: all terms must match.
#[derive(Clone, Debug, Default)]
pub struct LibraryQuery {
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
enum Term {
    Text(Regex, String),
    Path(Regex),
    Size(u64, u64),
    Supplier(Supplier),
    Use(Use),
    Layer(u16),
    Component(String),
    Code(String),
    Word(String),
}

/// Why a filter is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryQueryError {
    /// A size or a glob.
    #[error(transparent)]
    Plain(#[from] FileQueryError),
    /// Not a supplier.
    #[error("invalid filter {0}; expected {words}", words = SUPPLIERS.expected())]
    Supplier(String),
    /// Not a use.
    #[error("invalid filter {0}; expected {words}", words = USES.expected())]
    Use(String),
    /// Not a layer.
    #[error("invalid filter {0}; expected a layer number, such as layer:3")]
    Layer(String),
}

impl LibraryQuery {
    /// Reads a filter. Terms are separated by spaces: `size:>10M`, `supplier:wheel`, `use:unreferenced`,
    /// `layer:3`, `component:cublas`, `arch:sm_90`, `is:stub`; all others are globs over the file name or a
    /// part of name, soname, component, package or version; with a `/`, of the whole path.
    ///
    /// # Errors
    /// When a term is invalid.
    pub fn parse(text: &str) -> Result<Self, LibraryQueryError> {
        let terms = text.split_whitespace().map(term).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a file that is not a library matches: it has only a path and a size.
    pub fn fits_file(&self, raw: &[u8], bytes: u64) -> bool {
        let name = raw.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        self.terms.iter().all(|term| match term {
            Term::Text(regex, _) => regex.is_match(name),
            Term::Path(regex) => regex.is_match(raw),
            Term::Size(least, most) => (*least..=*most).contains(&bytes),
            _ => false,
        })
    }

    /// Whether a library matches.
    pub fn fits(&self, library: &LibraryItem) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Text(regex, part) => {
                let part = part.as_str();
                let holds = |text: &str| !part.is_empty() && text.to_lowercase().contains(part);
                let name = library.raw.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                regex.is_match(name)
                    || holds(&library.component)
                    || holds(&library.version)
                    || library.soname.as_deref().is_some_and(holds)
                    || library.package.as_deref().is_some_and(holds)
            }
            Term::Path(regex) => regex.is_match(&library.raw),
            Term::Size(least, most) => (*least..=*most).contains(&library.bytes),
            Term::Supplier(supplier) => library.supplier == *supplier,
            Term::Use(usage) => library.usage == *usage,
            Term::Layer(layer) => library.layer == *layer,
            Term::Component(name) => library.component.as_ref() == name,
            Term::Code(code) => library.codes.iter().any(|own| own == code || own.ends_with(code)),
            Term::Word(word) => library.words.iter().any(|own| slug(own) == *word),
        })
    }
}

fn term(text: &str) -> Result<Term, LibraryQueryError> {
    if let Some((key, value)) = text.split_once(':') {
        match key {
            "size" => return Ok(size_range(value).map(|(least, most)| Term::Size(least, most))?),
            "supplier" => {
                let found = Supplier::from_label(value);
                let wrong = || LibraryQueryError::Supplier(text.to_owned());
                return found.map(Term::Supplier).ok_or_else(wrong);
            }
            "use" => {
                return Use::from_label(value)
                    .map(Term::Use)
                    .ok_or_else(|| LibraryQueryError::Use(text.to_owned()));
            }
            "layer" => {
                let wrong = |_| LibraryQueryError::Layer(text.to_owned());
                return value.parse().map(Term::Layer).map_err(wrong);
            }
            "component" => return Ok(Term::Component(value.to_lowercase())),
            "arch" => {
                // `90` matches every kind of code for it.
                let bare = value.chars().next().is_some_and(|c| c.is_ascii_digit());
                return Ok(Term::Code(if bare { format!("_{value}") } else { value.to_lowercase() }));
            }
            "is" => return Ok(Term::Word(slug(value))),
            _ => {}
        }
    }
    if text.contains('/') {
        return Ok(Term::Path(glob(text, true)?));
    }
    let part = if text.contains(['*', '?', '[']) { String::new() } else { text.to_lowercase() };
    Ok(Term::Text(glob(text, false)?, part))
}

#[cfg(test)]
mod tests {
    use super::LibraryQuery;
    use crate::base::labels::{ROLES, SUPPLIERS, USES, slug};

    #[test]
    fn labels_and_values_are_filters() {
        for family in [SUPPLIERS, USES, ROLES] {
            for label in family.list {
                for word in [label.value.to_owned(), label.word(), slug(label.text)] {
                    let filter = format!("{}:{word}", family.key);
                    assert!(LibraryQuery::parse(&filter).is_ok(), "{filter}");
                }
            }
        }
        let error = LibraryQuery::parse("use:often").unwrap_err().to_string();
        assert!(error.ends_with(&USES.expected()), "{error}");
    }
}
