//! Arguments of all commands that may talk to registries.

use std::path::PathBuf;

use clap::Args;

use super::run::message;
use crate::base::size;
use crate::cache::{Blobs, Settings};
use crate::source::Access;

#[derive(Args, Clone)]
pub(super) struct Network {
    /// Certificates (PEM) to trust beside those of the system, for registries
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Talk plain HTTP to registries
    #[arg(long)]
    plain_http: bool,
    /// Keep layers from registries as they come, at most SIZE of them, such as 20GiB [default: none are kept]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, env = "CUTAWAY_KEEP_BLOBS")]
    keep_blobs: Option<u64>,
}

impl Network {
    /// How registries and engines are reached.
    pub(super) fn access(&self) -> Access {
        let folder = || Settings::from_environment().map(|settings| settings.folder);
        let limit = self.keep_blobs.filter(|limit| *limit > 0);
        Access {
            plain_http: self.plain_http,
            ca_file: self.ca_file.clone(),
            blobs: limit.and_then(|limit| match folder() {
                Ok(folder) => Some(Blobs::new(folder, limit)),
                Err(error) => {
                    message(&format!("no layer is kept: {error}"));
                    None
                }
            }),
            ..Access::default()
        }
    }
}
