//! Options of a written image.

use super::Encoding;
use crate::analysis::Analysis;

/// How an image is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is one choice of the user")]
pub struct SlimOptions {
    /// Leave the layers of the recognised base image alone, since other images on the node share them.
    pub keep_base: bool,
    /// The first layer, counted from 0 at the bottom, that becomes one with all layers above it.
    pub squash_from: Option<usize>,
    /// How rewritten layers are compressed.
    pub encoding: Encoding,
    /// Take packages of which no file is left out of the databases of package managers.
    pub forget_packages: bool,
    /// Carry over the other images of a multi-platform index.
    pub all_platforms: bool,
    /// Write the image even if a library is no longer found that was found before.
    pub force: bool,
}

/// Whether layers were read by their tables of contents: a rewritten image needs all bytes, so it must first be analysed
/// again with [`crate::analysis::Options::verify`].
pub fn needs_all_bytes(analysis: &Analysis) -> bool {
    analysis.layers.iter().any(|layer| layer.table.is_some())
}
