//! Fixed vocabularies: enums with the name of each value in reports.

/// Gives an enum `as_str`, the name of each value in reports, and `ALL`, all values in the order of the list. Fails to
/// compile if the list lacks a value.
macro_rules! words {
    ($type:ty { $($variant:ident = $name:literal,)* }) => {
        impl $type {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in reports.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

pub(crate) use words;
