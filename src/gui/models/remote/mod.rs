//! Registries and engines: what the window asks of them, and what it knows of references to them.

mod images;
mod names;
mod tags;

use std::sync::Arc;

pub use images::{ImageRow, LocalImages};
pub use names::{is_loopback, login_host, registry_of, repository, with_tag};
pub use tags::{TagList, Tagged};

use crate::analysis::Failure;
use crate::jobs::{CancelToken, Progress};
use crate::source::engine::{self, Listing};
use crate::source::{Access, Reference, registry};

/// Asks the engines of this machine what they hold; runs on a thread of its own.
pub type Engines = Arc<dyn Fn(&CancelToken) -> Listing + Send + Sync>;

/// Asks a registry for the tags of a repository; runs on a thread of its own.
pub type Tags =
    Arc<dyn Fn(&Reference, &Access, &CancelToken, &Progress) -> Result<Vec<String>, Failure> + Send + Sync>;

/// How registries and engines are asked.
#[derive(Clone)]
pub struct RemoteSetup {
    /// Lists images of engines.
    pub engines: Engines,
    /// Lists tags.
    pub tags: Tags,
    /// Whether images are listed without a thread, so that the same frames come on every machine: for tests.
    pub at_once: bool,
}

impl Default for RemoteSetup {
    fn default() -> Self {
        let tags: Tags = Arc::new(|reference, access, cancel, progress| {
            registry::tags(reference, access, cancel, progress)
                .map(|list| list.tags)
                .map_err(|error| Failure::from(&error))
        });
        Self { engines: Arc::new(engine::list), tags, at_once: false }
    }
}
