//! Options of an analysis, and why one fails.

use std::sync::Arc;

use crate::base::{Limits, Platform};
use crate::cache::Cache;
use crate::cuda::catalog::Catalog;
use crate::findings::TargetGpu;
use crate::jobs::Cancelled;
use crate::layer::FolderError;
use crate::source::{Access, SourceError};

/// How much of an image to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Manifest and config only.
    Manifest,
    /// Also tables of contents, for layers that have one; no layer is fetched.
    Toc,
    /// All layers: those with a table of contents by it and the files that the inventory needs, the others completely.
    #[default]
    Full,
}

/// Options of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The platform to choose from an index; `None` for Linux on this machine's architecture.
    pub platform: Option<Platform>,
    /// Read and hash every byte, including diff ids.
    pub verify: bool,
    /// Limits for untrusted input.
    pub limits: Limits,
    /// Catalogue of components, frameworks and targets; `None` for the built-in one.
    pub catalog: Option<Arc<Catalog>>,
    /// Target GPUs; empty for the default targets of the catalogue.
    pub targets: Vec<TargetGpu>,
    /// Today in days since 1970, for support periods; `None` to skip these rules.
    pub today: Option<u32>,
    /// Index cache; `None` to read everything again.
    pub cache: Option<Cache>,
    /// Access to registries and engines.
    pub access: Access,
    /// How much of the image to read.
    pub depth: Depth,
}

impl Options {
    /// The catalogue: the given one, else the built-in one.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.as_deref().unwrap_or_else(|| Catalog::builtin())
    }
}

/// Why an analysis failed. Faults of single layers are warnings of the analysis instead.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The image cannot be opened.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The folder given as root filesystem cannot be read.
    #[error("cannot read folder {path}: {source}")]
    Folder {
        /// The folder.
        path: String,
        /// Why it cannot be read.
        source: FolderError,
    },
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl AnalysisError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(error) => error.hint(),
            Self::Folder { .. } | Self::Cancelled(_) => None,
        }
    }

    /// Whether the job was cancelled rather than failed.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled(_) | Self::Source(SourceError::Cancelled(_)))
            || matches!(self, Self::Folder { source: FolderError::Cancelled(_), .. })
    }
}
