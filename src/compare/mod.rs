//! In: finished analyses of images, in the order given.
//! Out: a [`Comparison`]: shared and different content, with one column for each image.
//! Must not know: how it is shown or written, or which differences matter.
//!
//! # Design
//!
//! **Layers** are matched by digest, else by diff id, else by content: the same paths, kinds, owners, modes,
//! links and contents in any order, so that a layer that differs only in timestamps is recognised as one that
//! a reproducible build would share. Position is irrelevant. For the pull size, a blob counts as present if
//! the first image has its digest, or the same diff ids from the bottom up to it, which is how containerd and
//! Docker recognise an unpacked layer.
//!
//! **Files** are one tree over the merged views of all images (`compare/tree`), built by walking them in
//! parallel, children sorted by name: an arena of rows with a node for each image. Any image can be the
//! baseline, because a row stores which images have the same content. Equality of two files is proven: the
//! same entry of the same layer, the same BLAKE3 hash, or bodies read and compared. Timestamps prove nothing.
//! Unreadable means unknown.

mod bodies;
mod contents;
mod identity;
mod layers;
mod polarity;
mod settings;
mod signature;
mod tables;
mod tree;
mod union;
mod value;

pub use polarity::{Judgement, Polarity, SHARE, countermove};
pub use tree::{Row, RowId, Tree};
pub use value::{
    Change, ComponentRow, FileSums, FindingRow, GpuCodeRow, LayerMatch, LayerRow, PackageRow, SettingRow,
};

use std::sync::Arc;

use crate::analysis::Analysis;
use crate::jobs::{CancelToken, Cancelled, Progress};
use contents::Contents;

/// Several images side by side.
#[derive(Clone)]
pub struct Comparison {
    /// The images, in the order in which they were given; at least one.
    pub images: Vec<Arc<Analysis>>,
    /// All layers, each once: those of the first image bottom first, then what the next ones add.
    pub layers: Vec<LayerRow>,
    /// Bytes that a node with the first image pulls for each: compressed blobs. The first is 0.
    ///
    /// A layer is not pulled if the first image has the same blob, or the same tar streams from the bottom up to it
    /// (the chain id by which containerd and Docker recognise an unpacked layer).
    pub pull_bytes: Vec<Option<u64>>,
    /// CUDA components, largest first.
    pub components: Vec<ComponentRow>,
    /// GPU code by architecture and kind, largest first.
    pub gpu_code: Vec<GpuCodeRow>,
    /// Packages by manager and name.
    pub packages: Vec<PackageRow>,
    /// Environment by name. Values are as they are in the images: redact them before they are shown.
    pub environment: Vec<SettingRow>,
    /// Entrypoint, command, user, working folder, ports, platform, base image; then labels by name. Redact them too.
    pub settings: Vec<SettingRow>,
    /// What the rules found, by rule: most bytes first.
    pub findings: Vec<FindingRow>,
    /// All paths of the merged views.
    pub tree: Tree,
}

/// Compares images whose layers are merged. Reads bodies only where the equality of files of one size cannot be decided
/// otherwise, and counts these bytes as compared in `progress`.
///
/// # Errors
/// Cancelled.
pub fn compare(
    images: &[Arc<Analysis>],
    cancel: &CancelToken,
    progress: &Progress,
) -> Result<Comparison, Cancelled> {
    cancel.check()?;
    let ids = identity::of(images);
    let contents = Contents::new(images, &ids);
    let (mut arena, unproven) = union::build(&contents, cancel)?;
    bodies::settle(images, &contents, &mut arena, &unproven, cancel, progress)?;
    let layers = layers::rows(images, &ids, cancel)?;
    Ok(Comparison {
        layers,
        pull_bytes: layers::pull_bytes(images, &ids),
        components: tables::components(images),
        gpu_code: tables::gpu_code(images),
        packages: tables::packages(images),
        environment: settings::environment(images),
        settings: settings::settings(images),
        findings: tables::findings(images),
        tree: Tree::new(images, arena),
        images: images.to_vec(),
    })
}
