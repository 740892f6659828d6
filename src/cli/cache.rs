//! `cutaway cache`: folder, size and pruning of the index cache.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};

use super::defaults::defaults;
use super::output::{message, write};
use crate::base::size::{self, grouped, human};
use crate::base::text::{counted, printable};
use crate::cache::{Blobs, Cache, Settings, Usage};

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

/// Unrecognized files that are listed by name; the rest is counted.
const NAMED: usize = 5;

/// Prints the folder or the size of the cache, or prunes it.
pub(super) fn cache(command: &CacheArguments) -> anyhow::Result<ExitCode> {
    let settings = Settings::from_environment(defaults().cache_limit).context("index cache not available")?;
    let cache = Cache::new(settings.folder, settings.limit);
    let text = match command {
        // Raw bytes, for scripts: a path need not be UTF-8.
        CacheArguments::Dir => [cache.folder().as_os_str().as_bytes(), b"\n"].concat(),
        CacheArguments::Size => {
            let usage = cache.usage().with_context(|| unread(&cache))?;
            let entries = format!("{}, limit {}\n", told(usage, "entry"), sized(cache.limit()));
            (entries + &held_blobs(&cache)?).into_bytes()
        }
        CacheArguments::Prune(PruneArguments { all: true, .. }) => prune(&cache, 0)?.into_bytes(),
        CacheArguments::Prune(PruneArguments { max_size, .. }) => {
            prune(&cache, max_size.unwrap_or(cache.limit()))?.into_bytes()
        }
    };
    write(&text, None)?;
    if !matches!(command, CacheArguments::Dir) {
        // Explains why a cache is not used.
        cache.check();
        cache.take_notes().iter().for_each(|note| message(&format!("note: {note}")));
    }
    Ok(ExitCode::SUCCESS)
}

fn prune(cache: &Cache, limit: u64) -> anyhow::Result<String> {
    let removed = cache.prune(limit);
    let removed = removed.with_context(|| format!("cannot prune the index cache {}", place(cache)))?;
    // The blob limit is an option of the commands that fill the blob cache; a limit of 0 clears it too.
    let kept = blobs(cache);
    let removed_blobs = if limit == 0 { kept.clear() } else { kept.prune(u64::MAX) };
    let removed_blobs = removed_blobs.with_context(|| unread(cache))?;
    let left = cache.usage().with_context(|| unread(cache))?;
    let mut text = format!("removed {}\nleft    {}\n", told(removed, "entry"), told(left, "entry"));
    if removed_blobs.files > 0 {
        writeln!(text, "removed {}", told(removed_blobs, "cached blob"))?;
    }
    text.push_str(&held_blobs(cache)?);
    text.push_str(&unrecognized_files(&cache.others().with_context(|| unread(cache))?));
    Ok(text)
}

/// Usage of the blob cache; empty when it has no blobs.
fn held_blobs(cache: &Cache) -> anyhow::Result<String> {
    let usage = blobs(cache).usage().with_context(|| unread(cache))?;
    Ok(if usage.files > 0 { format!("blobs   {}\n", told(usage, "cached blob")) } else { String::new() })
}

fn blobs(cache: &Cache) -> Blobs {
    Blobs::new(cache.folder().to_owned(), 0)
}

/// Unrecognized files in the folder, which are never removed; empty when there are none.
fn unrecognized_files(others: &[PathBuf]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let named = others.iter().take(NAMED).map(|path| printable(&path.to_string_lossy()));
    let mut named: Vec<String> = named.collect();
    if let Some(more) = others.len().checked_sub(NAMED).filter(|more| *more > 0) {
        named.push(format!("{more} more"));
    }
    format!("skipped {}: not part of the cache\n", named.join(", "))
}

fn told(usage: Usage, what: &str) -> String {
    let bytes = match usage.bytes {
        // Already exact.
        bytes @ 0..1024 => human(bytes),
        bytes => format!("{}, {} bytes", human(bytes), grouped(bytes)),
    };
    format!("{} ({bytes})", counted(usage.files, what))
}

fn sized(bytes: u64) -> String {
    format!("{} ({} bytes)", human(bytes), grouped(bytes))
}

fn unread(cache: &Cache) -> String {
    format!("cannot read the index cache {}", place(cache))
}

fn place(cache: &Cache) -> String {
    printable(&cache.folder().to_string_lossy())
}
