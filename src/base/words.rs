//! Fixed vocabularies: an enum, and the word that reports use for each of its values.

/// Gives an enum `as_str`, the name of each value in reports, and `ALL`, all values in the order of the list. A value
/// that the list lacks does not compile.
macro_rules! words {
    ($type:ty { $($variant:ident = $name:literal,)* }) => {
        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

pub(crate) use words;
