//! An entry of a catalogue table, and why a file is rejected.

/// Why a catalogue file was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The file exceeds [`FILE_BYTES`](super::FILE_BYTES).
    #[error("cannot read the catalog {file}: {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// File name.
        file: String,
        /// File size, in bytes.
        bytes: usize,
        /// Maximum size, in bytes.
        limit: usize,
    },
    /// Invalid TOML, or an unknown or missing key.
    #[error("invalid {file}, line {line}, column {column}: {message}")]
    Syntax {
        /// File name.
        file: String,
        /// Line, starting at 1.
        line: usize,
        /// Column in characters, starting at 1.
        column: usize,
        /// Message of the TOML parser.
        message: String,
    },
    /// An entry is invalid.
    #[error("cannot use {table} {key:?} of the catalog {file}: {message}")]
    CatalogEntry {
        /// File name.
        file: String,
        /// Name of the table.
        table: &'static str,
        /// Key of the entry.
        key: String,
        /// Reason.
        message: String,
    },
    /// The patterns of a table exceed the size limit when compiled together.
    #[error("cannot compile the patterns of {table} in the catalog: {message}")]
    Patterns {
        /// Name of the table.
        table: &'static str,
        /// Message of the regex compiler.
        message: String,
    },
}

impl CatalogError {
    pub(super) fn patterns(table: &'static str) -> impl Fn(regex::Error) -> Self {
        move |error| Self::Patterns { table, message: error.to_string() }
    }
}

/// An entry of a catalogue table.
pub(super) trait CatalogEntry {
    /// Unique key within the table.
    fn key(&self) -> String;
    /// Source of the facts; never empty.
    fn source(&self) -> &str;
    /// Regular expressions of the entry.
    fn patterns(&self) -> Vec<&str> {
        Vec::new()
    }
    /// Globs of the entry.
    fn globs(&self) -> Vec<&str> {
        Vec::new()
    }
    /// Why the values of the entry are invalid.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// Implements [`CatalogEntry`] with the given key, patterns and globs.
macro_rules! entry {
    ($entry:ty, $key:expr $(, $list:ident: $texts:expr)*) => {
        impl CatalogEntry for $entry {
            fn key(&self) -> String {
                let key: fn(&Self) -> String = $key;
                key(self)
            }
            fn source(&self) -> &str {
                &self.source
            }
            $(fn $list(&self) -> Vec<&str> {
                let texts: fn(&Self) -> Vec<&str> = $texts;
                texts(self)
            })*
        }
    };
}

pub(super) use entry;

/// The items as string slices.
pub(super) fn texts<'a>(list: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    list.into_iter().map(String::as_str).collect()
}
