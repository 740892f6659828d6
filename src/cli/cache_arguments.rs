//! The arguments of `cutaway cache`.

use clap::{Args, Subcommand};

use crate::base::size;

#[derive(Subcommand)]
pub(super) enum CacheArguments {
    /// Print the folder
    Dir,
    /// Print how much it holds
    Size,
    /// Remove what was used longest ago, until the cache is within its limit
    Prune(PruneArguments),
}

#[derive(Args)]
pub(super) struct PruneArguments {
    /// Remove all
    #[arg(long, conflicts_with = "max_size")]
    all: bool,
    /// Leave at most SIZE, such as 500MB or 1GiB [default: the limit of the cache]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    max_size: Option<u64>,
}

/// What to do with the index cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePlan {
    /// Print its folder.
    Dir,
    /// Print how much it holds.
    Size,
    /// Remove records until at most so many bytes are left; `None` for as many as the limit says.
    Prune(Option<u64>),
}

impl CacheArguments {
    pub(super) fn plan(self) -> CachePlan {
        match self {
            Self::Dir => CachePlan::Dir,
            Self::Size => CachePlan::Size,
            Self::Prune(arguments) => {
                CachePlan::Prune(if arguments.all { Some(0) } else { arguments.max_size })
            }
        }
    }
}
