//! In: nothing.
//! Out: the small types that all modules share: digests, sizes, limits, warnings, escaped text.
//! Must not know: images, layers, the command line or the window; it uses no other module.

pub mod clock;
pub mod convert;
pub mod digest;
pub mod identity;
pub mod labels;
pub mod limits;
pub mod platform;
pub mod read_at;
pub mod redact;
pub mod save;
pub mod size;
pub mod text;
pub mod warning;
pub(crate) mod words;
pub mod wrap;
mod zeros;

pub use digest::{Digest, Hasher};
pub use identity::FileIdentity;
pub use limits::Limits;
pub use platform::Platform;
pub use read_at::{ReadAt, Section};
pub use warning::{Warning, WarningCode};
pub use zeros::leading_zeros;
