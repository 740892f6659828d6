//! Fixed vocabularies: enums with the name of each value in reports.

use std::borrow::Cow;

/// A word of a fixed vocabulary: borrowed if this program wrote it, owned if it was read from a report.
pub type Word = Cow<'static, str>;

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

/// Writes an enum with a fixed vocabulary to JSON by the name of its value, and lists the names in schemas.
macro_rules! json_words {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<&str> = Self::ALL.iter().map(|one| one.as_str()).collect();
                schemars::json_schema!({ "type": "string", "enum": words })
            }
        }
    };
}

pub(crate) use {json_words, words};
