//! Why dnf installed packages, from the state of dnf5 and the history of dnf4.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::Bounds;
use super::rpm::rows;

/// Names of packages with their architectures, `NAME.ARCH`.
pub type Names = HashSet<String>;

/// The used parts of `packages.toml` and `groups.toml`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct InstalledState {
    packages: HashMap<String, Reason>,
    groups: HashMap<String, Group>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reason {
    reason: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Group {
    packages: Vec<String>,
}

fn state(bytes: &[u8]) -> InstalledState {
    str::from_utf8(bytes).ok().and_then(|text| toml::from_str(text).ok()).unwrap_or_default()
}

/// Parses `packages.toml` of dnf5: the packages installed as dependencies, strong or weak.
pub fn read_reasons(bytes: &[u8]) -> Names {
    let is_dependency = |reason: &str| matches!(reason, "dependency" | "weak dependency" | "weak-dependency");
    let packages = state(bytes).packages.into_iter();
    packages
        .filter(|(_, state)| is_dependency(state.reason.to_ascii_lowercase().as_str()))
        .map(|(name, _)| name)
        .take(Bounds::USUAL.packages)
        .collect()
}

/// Parses `groups.toml` of dnf5: names, without architectures, of packages in installed groups.
pub fn read_groups(bytes: &[u8]) -> HashSet<String> {
    let groups = state(bytes).groups.into_values();
    groups.flat_map(|group| group.packages).take(Bounds::USUAL.packages).collect()
}

/// `TransactionItemReason` of libdnf.
const DEPENDENCY: i64 = 1;
const WEAK_DEPENDENCY: i64 = 4;

/// Reads `history.sqlite` of dnf4 and its write-ahead log, which is empty if there is none: the packages installed as
/// dependencies by their last transaction. Empty if the database cannot be read completely.
pub fn read_history(bytes: &[u8], journal: &[u8]) -> Names {
    let names = if journal.is_empty() { read_tables(bytes) } else { read_tables(&replay(bytes, journal)) };
    names.unwrap_or_default()
}

/// The header of a write-ahead log, and that of each page in it (`SQLite`, file format, 4).
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A database with the committed pages of its write-ahead log applied. Checksums are not verified.
fn replay(bytes: &[u8], journal: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize| {
        let four = bytes.get(at..).and_then(<[u8]>::first_chunk);
        four.copied().map_or(0, u32::from_be_bytes) as usize
    };
    let mut database = bytes.to_vec();
    let page = word(journal, 8);
    if !page.is_power_of_two() || !(512..=65536).contains(&page) {
        return database;
    }
    // No page number exceeds the total size of both.
    let most = bytes.len().saturating_add(journal.len()) / page;
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    let frames = journal.get(LOG_HEADER..).unwrap_or_default();
    for frame in frames.chunks_exact(FRAME_HEADER + page) {
        let (number, size) = (word(frame, 0), word(frame, 4));
        // Frames with other salts belong to an earlier log.
        if frame.get(8..16) != journal.get(16..24) || number == 0 || number > most || size > most {
            break;
        }
        open.push((number - 1, frame.get(FRAME_HEADER..).unwrap_or_default()));
        if size > 0 {
            database.resize(size.saturating_mul(page), 0);
            for (number, content) in open.drain(..) {
                let start = number.saturating_mul(page);
                if let Some(target) = database.get_mut(start..start.saturating_add(page)) {
                    target.copy_from_slice(content);
                }
            }
        }
    }
    database
}

fn read_tables(bytes: &[u8]) -> Option<Names> {
    let most = Bounds::USUAL.packages;
    // Tables are read one by one: the cost of a join would depend on the document.
    let mut packages: HashMap<i64, String> = HashMap::new();
    rows(bytes, "rpm", ["item_id", "name", "arch"], most, |row| {
        let (name, arch): (String, String) = (row.get(1)?, row.get(2)?);
        packages.insert(row.get(0)?, format!("{name}.{arch}"));
        Ok(())
    })?;
    let mut last: HashMap<String, (i64, i64)> = HashMap::new();
    rows(bytes, "trans_item", ["id", "item_id", "reason"], most.saturating_mul(10), |row| {
        let (id, item, reason): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let Some(name) = packages.get(&item) else { return Ok(()) };
        let known = last.entry(name.clone()).or_insert((id, reason));
        if known.0 <= id {
            *known = (id, reason);
        }
        Ok(())
    })?;
    let is_dependency = |reason: i64| matches!(reason, DEPENDENCY | WEAK_DEPENDENCY);
    Some(last.into_iter().filter(|(_, (_, reason))| is_dependency(*reason)).map(|(name, _)| name).collect())
}
