//! The Dockerfile that is changed: the user's own, or one rebuilt from the image's history; and which layer each
//! of its instructions made.

use super::propose::{Input, RewriteError};
use crate::formats::dockerfile::Dockerfile;

/// Where a recipe comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user gave it; what it is called.
    Given(String),
    /// From the image's history.
    Rebuilt,
}

/// A Dockerfile with its ties to the image.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The file.
    pub file: Dockerfile,
    /// Where it comes from.
    pub origin: Origin,
    /// One for each instruction of the file.
    pub ties: Vec<Tie>,
    /// Layers from the bottom that come with the base image of the final stage; `None` when the history does not
    /// say.
    pub base_layers: Option<usize>,
    /// What could not be known, in sentences; each with the line of the file.
    pub unknown: Vec<(u32, String)>,
}

/// What an instruction made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tie {
    /// Entries of the image's history, counted from 0; none when the instruction is not of the final image (of an
    /// earlier stage), or leaves no trace.
    pub history: Vec<usize>,
    /// Layers, counted from 0 at the bottom.
    pub layers: Vec<u16>,
    /// Bytes of the regular files in these layers; `None` when a layer was not read.
    pub content_bytes: Option<u64>,
}

/// Reads or rebuilds the recipe of an image.
///
/// # Errors
/// The given file is no Dockerfile, or does not belong to the image.
pub(super) fn recipe(input: &Input<'_>) -> Result<Recipe, RewriteError> {
    let _ = input;
    Err(RewriteError::Foreign { name: String::new(), why: "not built yet".to_owned() })
}
