//! In: an image reference and options.
//! Out: an [`Analysis`], published stage by stage: manifest and config, each layer, merged view, inventory.
//! Must not know: the command line, the window, or how results are written.
//!
//! # Performance
//!
//! 1. **One pass, nothing extracted.** A layer is read once, straight through hashing, decompression and the
//!    tar walk; no file is extracted and no temporary copy is written. One thread reads and hashes the blob,
//!    another decompresses and walks it, with a short bounded queue between them; layers are processed in
//!    parallel, largest first.
//! 2. **Skip what is not needed.** A seekable plain layer is walked from header to header with `pread`. Of
//!    bodies, only relevant parts are read: 64 bytes that identify a binary, the tables of an ELF file,
//!    headers of GPU code, package databases. Such a layer is therefore not verified, unless `--verify` is
//!    given.
//! 3. **A compressed archive is read once too.** `docker save | gzip` writes its manifest last. Instead of
//!    spooling the archive to disk, every member that looks like a layer is indexed as it streams past, small
//!    members are retained, and everything is joined when the manifest arrives. `source` must not use
//!    `layer`, so it passes each member to a sink, which `analysis` implements.
//! 4. **Flat memory.** A `LayerIndex` is parallel arrays over one name arena, with a table of folders per
//!    layer, so that a path is one small number. A `Rootfs` is an arena of nodes, siblings adjacent, sizes
//!    summed once. No path is a separate string, no folder has a map, and view state is stored in the view.
//!    Passes over all files go layer by layer, in the memory order of names, and compute folder properties
//!    once per folder: cache misses cost more than all other work on a file. Independent passes run in
//!    parallel (`jobs::both`).
//! 5. **Stages are values.** An `Analysis` is immutable behind an `Arc`. A newer one replaces an older one in
//!    a slot; the window shows the current one.
//! 6. **The window paints only what is visible.** Rows of a tree are created for the visible part; filters,
//!    sorts and layer switches of large images run in the background while the previous rows stay on screen.
//!    A frame over a million files costs the same as one over a thousand (`benches/frames`;
//!    `tests/all/models.rs` counts rows).
//!
//! Decompression dominates: gzip by the own decoder (pure Rust, so that a build requires only cargo and a C
//! linker), with any number of members; zstd by the zstd crate. The blob digest proves the content, so
//! decompressed bytes are hashed only with `--verify`.

mod blob_cache;
mod bodies;
mod body;
mod job;
mod layer_cache;
mod options;
mod outcome;
mod packed;
mod pipeline;
mod single;
mod streamed;
mod tables;
mod toc_cache;
mod value;
mod wanted_cache;

pub use bodies::Body;
pub use job::{AnalysisJob, Failure, JobState};
pub use options::{AnalysisError, Depth, Options};
pub use packed::PackedBodies;
pub use pipeline::analyze;
pub use value::{Analysis, Layer, Totals};
