//! In: bytes, pushed or pulled through small traits.
//! Out: facts: tar members, compression, the window of a zstd frame.
//! Must not know: where bytes come from, layers, catalogues; facts never depend on a rule that may change.

pub mod compression;
pub mod input;
pub mod pax;
pub mod tar;
