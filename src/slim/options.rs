//! Options of a written image.

use super::Encoding;

/// How an image is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlimOptions {
    /// Leave the layers of the recognised base image alone, since other images on the node share them.
    pub keep_base: bool,
    /// The first layer, counted from 0 at the bottom, that becomes one with all layers above it.
    pub squash_from: Option<usize>,
    /// How rewritten layers are compressed.
    pub encoding: Encoding,
    /// Write the image even if a library is no longer found that was found before.
    pub force: bool,
}
