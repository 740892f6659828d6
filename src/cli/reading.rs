//! Arguments of all commands that read images.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::network::Network;
use crate::analysis::Depth;
use crate::base::{Platform, redact};
use crate::cache::Cache;
use crate::findings::policy::Date;
use crate::source::Access;

#[derive(Args, Clone)]
pub(super) struct Choice {
    /// Platform to choose from an index [default: linux and this machine's architecture]
    #[arg(long, value_name = "OS/ARCH[/VARIANT]")]
    pub(super) platform: Option<Platform>,
    /// Further rules on components, frameworks, targets, in the form of assets/catalog/*.toml
    #[arg(long, value_name = "FILE")]
    pub(super) catalog: Vec<PathBuf>,
    /// Read everything anew, and keep nothing of it for the next run
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    network: Network,
}

impl Choice {
    /// Where layers that were read before are kept.
    pub(super) fn cache(&self) -> Option<Cache> {
        if self.no_cache { None } else { Cache::of_user() }
    }

    /// How registries and engines are reached.
    pub(super) fn access(&self) -> Access {
        self.network.access()
    }
}

/// What is read, and how: the same for all commands that read one image.
#[derive(Args)]
pub(super) struct Reading {
    /// Image to read, see `cutaway --help`
    image: String,
    #[command(flatten)]
    how: How,
}

/// How images are read.
#[derive(Args)]
pub(super) struct How {
    #[command(flatten)]
    choice: Choice,
    /// A GPU that the image is meant for, such as gpu:a100-80 or cc=8.6 [default: five that are common]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Read and hash every byte: diff ids too, and layers that are only walked otherwise
    #[arg(long)]
    verify: bool,
    /// How much of an image at a registry is read: its documents, also tables of contents, or all that is needed
    #[arg(long, value_enum, default_value = "whole")]
    depth: DepthName,
    /// Say on stderr what is done and how much was read
    #[arg(short, long)]
    verbose: bool,
    /// The day to judge by, instead of the clock's (for tests)
    #[arg(long, hide = true, value_name = "YYYY-MM-DD")]
    today: Option<Date>,
}

/// How much of an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DepthName {
    /// Manifest and config: what layers there are, and how large
    Documents,
    /// Also the tables of contents of layers that have one (eStargz, zstd:chunked)
    Tables,
    /// All layers
    Whole,
}

impl From<DepthName> for Depth {
    fn from(name: DepthName) -> Self {
        match name {
            DepthName::Documents => Self::Documents,
            DepthName::Tables => Self::Tables,
            DepthName::Whole => Self::Whole,
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
    /// Where layers that were read before are kept.
    pub(super) cache: Option<Cache>,
    pub(super) access: Access,
    pub(super) depth: Depth,
}

impl ReadPlan {
    /// The image as messages name it: without user info.
    pub(super) fn shown(&self) -> String {
        redact::reference(&self.image)
    }

    /// Why there is nothing to look at: of an image whose layers were left out.
    pub(super) fn unread(&self) -> String {
        format!("the layers of {} were not read, since --depth leaves them out", self.shown())
    }
}

impl Reading {
    pub(super) fn plan(self) -> ReadPlan {
        self.how.plan(self.image)
    }
}

impl How {
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
