//! In: an analysis, paths of its merged view.
//! Out: the nodes that these paths name, the bytes of files, files in a folder or in a tar archive.
//! Must not know: arguments, windows, or how what it returns is shown.
//!
//! # Design
//!
//! **Lookup** resolves symbolic links inside the image, as the kernel does in a container, and names what was found in
//! place of a path (`contents/lookup.rs`).
//!
//! **Bytes** come by range where a layer is seekable (plain tar, folder, table of contents), and otherwise from one pass
//! over each layer that has some of them (`contents/read.rs`, [`crate::slim::read_files`]).
//!
//! **Extraction** never resolves a path of the image with the machine's own links: every folder is opened relative to
//! the folder above it without following links, a file gets its name when it is complete, links are created and never
//! followed, and devices are left out (`contents/extract.rs`). An archive keeps the headers of the image; only names that
//! differ from the merged view are changed (`contents/archive.rs`).

mod archive;
mod error;
mod extract;
mod lookup;
mod output;
mod read;
mod save;

pub use archive::archive;
pub use error::{ContentsError, LookupError};
pub use extract::{ExtractOptions, extract};
pub use lookup::{find, select, unescape};
pub use output::{Extracted, LeftOut};
pub use read::{FileHead, read_head, read_into};
pub use save::{Opened, Work, save_archive, save_file};
