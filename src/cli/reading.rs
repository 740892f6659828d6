//! Arguments of all commands that read images.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::network::Network;
use crate::analysis::Depth;
use crate::base::Platform;
use crate::cache::Cache;
use crate::findings::policy::Date;
use crate::source::{Access, redacted};

#[derive(Args, Clone)]
pub(super) struct Choice {
    /// Platform to choose from an image index [default: linux on this machine's architecture]
    #[arg(long, value_name = "OS/ARCH[/VARIANT]")]
    pub(super) platform: Option<Platform>,
    /// Extend the catalog of components, frameworks and targets (format of assets/catalog/*.toml)
    #[arg(long, value_name = "FILE")]
    pub(super) catalog: Vec<PathBuf>,
    /// Do not read or write the cache
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    network: Network,
}

impl Choice {
    /// Index cache; `None` with `--no-cache`.
    pub(super) fn cache(&self) -> Option<Cache> {
        if self.no_cache { None } else { Cache::of_user() }
    }

    /// Access to registries and engines.
    pub(super) fn access(&self) -> Access {
        self.network.access()
    }
}

/// Arguments of all commands that read one image.
#[derive(Args)]
pub(super) struct Reading {
    /// Image to read, see `cutaway --help`
    image: String,
    #[command(flatten)]
    how: ReadOptions,
}

/// How images are read.
#[derive(Args)]
pub(super) struct ReadOptions {
    #[command(flatten)]
    choice: Choice,
    /// Target GPU or machine, such as gpu:a100-80 or cc=8.6 [default: five common data center GPUs; compatibility also uses this machine's]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Read every byte and verify all digests and diff IDs
    #[arg(long)]
    verify: bool,
    /// How much of an image to read; less means less traffic at a registry
    #[arg(long, value_enum, default_value = "full")]
    depth: DepthName,
    /// Verbose output
    #[arg(short, long)]
    verbose: bool,
    /// Date to use instead of today (for tests)
    #[arg(long, hide = true, value_name = "YYYY-MM-DD")]
    today: Option<Date>,
}

/// How much of an image to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DepthName {
    /// Manifest and config only
    Manifest,
    /// Also tables of contents of layers that have one (eStargz, zstd:chunked)
    Toc,
    /// All layers
    Full,
}

impl From<DepthName> for Depth {
    fn from(name: DepthName) -> Self {
        match name {
            DepthName::Manifest => Self::Manifest,
            DepthName::Toc => Self::Toc,
            DepthName::Full => Self::Full,
        }
    }
}

/// An image to read.
#[derive(Clone, Default)]
pub(super) struct ReadPlan {
    pub(super) image: String,
    pub(super) platform: Option<Platform>,
    pub(super) catalog: Vec<PathBuf>,
    pub(super) targets: Vec<String>,
    pub(super) verify: bool,
    pub(super) verbose: bool,
    pub(super) today: Option<Date>,
    /// Index cache; `None` with `--no-cache`.
    pub(super) cache: Option<Cache>,
    pub(super) access: Access,
    pub(super) depth: Depth,
}

impl ReadPlan {
    /// The reference for messages, without user info.
    pub(super) fn shown(&self) -> String {
        redacted(&self.image)
    }

    /// Why there is no result when the layers were not read.
    pub(super) fn unread(&self) -> String {
        format!("layers of {} not read because of --depth", self.shown())
    }
}

impl Reading {
    pub(super) fn plan(self) -> ReadPlan {
        self.how.plan(self.image)
    }
}

impl ReadOptions {
    pub(super) fn plan(self, image: String) -> ReadPlan {
        ReadPlan {
            image,
            cache: self.choice.cache(),
            access: self.choice.access(),
            depth: self.depth.into(),
            platform: self.choice.platform,
            catalog: self.choice.catalog,
            targets: self.target,
            verify: self.verify,
            verbose: self.verbose,
            today: self.today,
        }
    }
}
