//! Arguments of all commands that access registries.

use std::path::PathBuf;

use clap::Args;

use super::defaults::defaults;
use super::output::message;
use crate::base::size;
use crate::cache::{Blobs, Settings};
use crate::settings::Overrides;
use crate::source::Access;

#[derive(Args, Clone, Default)]
pub(super) struct Network {
    /// Trust these CA certificates (PEM) in addition to the system's
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Use plain HTTP for registries
    #[arg(long)]
    plain_http: bool,
    /// Cache compressed layers from registries, up to SIZE, such as 20GiB [default: off]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, env = "CUTAWAY_BLOB_CACHE")]
    blob_cache: Option<u64>,
}

impl Network {
    /// Which settings have no effect because of options.
    pub(super) fn overrides(&self) -> Overrides {
        let (blob_limit, ca_file) = (self.blob_cache.is_some(), self.ca_file.is_some());
        Overrides { blob_limit, ca_file, ..Overrides::default() }
    }

    /// Access to registries and engines.
    pub(super) fn access(&self) -> Access {
        let folder = || Settings::from_environment(None).map(|settings| settings.folder);
        let limit = self.blob_cache.unwrap_or(defaults().blob_limit);
        let limit = Some(limit).filter(|limit| *limit > 0);
        Access {
            plain_http: self.plain_http,
            ca_file: self.ca_file.clone().or_else(|| defaults().ca_file.clone()),
            blobs: limit.and_then(|limit| match folder() {
                Ok(folder) => Some(Blobs::new(folder, limit)),
                Err(error) => {
                    message(&format!("blob cache not available: {error}"));
                    None
                }
            }),
            ..Access::default()
        }
    }
}
