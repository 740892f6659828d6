//! The arguments of `cutaway cache`.

use clap::{Args, Subcommand};

use crate::base::size;

#[derive(Subcommand)]
pub(super) enum CacheArguments {
    /// Print the cache folder
    Dir,
    /// Print the size of the cache
    Size,
    /// Remove the least recently used entries until the cache is within its limit
    Prune(PruneArguments),
}

#[derive(Args)]
pub(super) struct PruneArguments {
    /// Remove all entries
    #[arg(long, conflicts_with = "max_size")]
    all: bool,
    /// Prune down to SIZE, such as 500MB or 1GiB [default: the limit of the cache]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    max_size: Option<u64>,
}

/// What to do with the index cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePlan {
    /// Print the folder.
    Dir,
    /// Print the size.
    Size,
    /// Prune to this many bytes; `None` for the limit of the cache.
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
