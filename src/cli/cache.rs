//! The index cache as a user looks at it and clears it.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::cache_arguments::CachePlan;
use super::output::write;
use super::run::message;
use crate::base::size::{grouped, human};
use crate::base::text::{counted, printable};
use crate::cache::{Cache, Settings, Usage};

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
            format!("{}, of at most {}\n", told(usage, "record"), sized(cache.limit())).into_bytes()
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
    let left = cache.usage().with_context(|| unread(cache))?;
    let mut text = format!("removed {}\nleft    {}\n", told(removed, "file"), told(left, "record"));
    text.push_str(&strangers(&cache.others().with_context(|| unread(cache))?));
    Ok(text)
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
