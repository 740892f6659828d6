//! Registries and engines: queries and references.

mod images;
mod names;
mod tags;

use std::sync::Arc;

pub use images::{ImageRow, LocalImages};
pub use names::{is_loopback, login_host, registry_of, repository, with_tag};
pub use tags::{TagList, TagsState};

use crate::analysis::Failure;
use crate::jobs::{CancelToken, Progress};
use crate::source::engine::{self, Listing};
use crate::source::{Access, Reference, registry};

/// Lists the images of the engines of this machine; runs on its own thread.
pub type EngineLister = Arc<dyn Fn(&CancelToken) -> Listing + Send + Sync>;

/// Asks a registry for the tags of a repository; runs on its own thread.
pub type TagLister =
    Arc<dyn Fn(&Reference, &Access, &CancelToken, &Progress) -> Result<Vec<String>, Failure> + Send + Sync>;

/// How registries and engines are asked.
#[derive(Clone)]
pub struct RemoteSetup {
    /// Lists images of engines.
    pub engines: EngineLister,
    /// Lists tags.
    pub tags: TagLister,
    /// Whether images are listed without a thread, so that the same frames come on every machine: for tests.
    pub at_once: bool,
}

impl Default for RemoteSetup {
    fn default() -> Self {
        let tags: TagLister = Arc::new(|reference, access, cancel, progress| {
            registry::tags(reference, access, cancel, progress)
                .map(|list| list.tags)
                .map_err(|error| Failure::from(&error))
        });
        Self { engines: Arc::new(engine::list), tags, at_once: false }
    }
}
