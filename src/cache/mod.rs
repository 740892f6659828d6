//! In: keys that were verified, and bytes to keep under them.
//! Out: the same bytes in a later run, unharmed, or nothing.
//! Must not know: what the bytes mean.

mod store;

pub use store::{Cache, Found, Key, Usage};
