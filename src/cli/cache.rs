//! The index cache as a user looks at it and clears it.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::cache_arguments::CachePlan;
use super::output::write;
use super::run::message;
use crate::base::size::{grouped, human};
use crate::base::text::{counted, printable};
use crate::cache::{Blobs, Cache, Settings, Usage};

/// Strangers in the folder that are named; more are counted.
const NAMED: usize = 5;

/// Prints where the cache lies or what it holds, or removes from it.
pub(super) fn cache(plan: CachePlan) -> anyhow::Result<ExitCode> {
    let settings = Settings::from_environment().context("the index cache cannot be looked at")?;
    let cache = Cache::new(settings.folder, settings.limit);
    let text = match plan {
        // As it is, for scripts: a name may be anything.
        CachePlan::Dir => [cache.folder().as_os_str().as_bytes(), b"\n"].concat(),
        CachePlan::Size => {
            let usage = cache.usage().with_context(|| unread(&cache))?;
            let records = format!("{}, of at most {}\n", told(usage, "record"), sized(cache.limit()));
            (records + &held_blobs(&cache)?).into_bytes()
        }
        CachePlan::Prune(limit) => prune(&cache, limit.unwrap_or(cache.limit()))?.into_bytes(),
    };
    write(&text, None)?;
    if plan != CachePlan::Dir {
        // Whoever looks here wonders why runs read everything.
        cache.check();
        cache.take_notes().iter().for_each(|note| message(&format!("note: {note}")));
    }
    Ok(ExitCode::SUCCESS)
}

fn prune(cache: &Cache, limit: u64) -> anyhow::Result<String> {
    let removed = cache.prune(limit);
    let removed = removed.with_context(|| format!("cannot clear the index cache {}", place(cache)))?;
    // How many blobs may stay is said where they are kept; whoever wants nothing left means them too.
    let kept = blobs(cache);
    let removed_blobs = if limit == 0 { kept.clear() } else { kept.prune(u64::MAX) };
    let removed_blobs = removed_blobs.with_context(|| unread(cache))?;
    let left = cache.usage().with_context(|| unread(cache))?;
    let mut text = format!("removed {}\nleft    {}\n", told(removed, "file"), told(left, "record"));
    if removed_blobs.files > 0 {
        writeln!(text, "removed {}", told(removed_blobs, "kept layer"))?;
    }
    text.push_str(&held_blobs(cache)?);
    text.push_str(&strangers(&cache.others().with_context(|| unread(cache))?));
    Ok(text)
}

/// Layers that were kept as they came; nothing when there are none.
fn held_blobs(cache: &Cache) -> anyhow::Result<String> {
    let usage = blobs(cache).usage().with_context(|| unread(cache))?;
    Ok(if usage.files > 0 { format!("and     {}\n", told(usage, "kept layer")) } else { String::new() })
}

fn blobs(cache: &Cache) -> Blobs {
    Blobs::new(cache.folder().to_owned(), 0)
}

/// What lies in the folder and was not looked at; nothing when there is nothing else.
fn strangers(others: &[PathBuf]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let named = others.iter().take(NAMED).map(|path| printable(&path.to_string_lossy()));
    let mut named: Vec<String> = named.collect();
    if let Some(more) = others.len().checked_sub(NAMED).filter(|more| *more > 0) {
        named.push(format!("{more} more"));
    }
    format!("kept    {}: no part of the index cache\n", named.join(", "))
}

fn told(usage: Usage, what: &str) -> String {
    format!("{} in {}", sized(usage.bytes), counted(usage.files, what))
}

fn sized(bytes: u64) -> String {
    format!("{} ({} bytes)", human(bytes), grouped(bytes))
}

fn unread(cache: &Cache) -> String {
    format!("cannot list the index cache {}", place(cache))
}

fn place(cache: &Cache) -> String {
    printable(&cache.folder().to_string_lossy())
}
