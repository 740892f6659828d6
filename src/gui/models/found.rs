//! What an image has by a name: findings, libraries and files, for the palette.

use crate::analysis::Analysis;
use crate::base::size::human;
use crate::base::text::{escape, printable};
use crate::jobs::{CancelToken, Cancelled};
use crate::rootfs::{Node, NodeKind};

/// How many of each kind are given.
const MOST: usize = 6;
/// Fewer letters would find nearly everything.
pub const LETTERS: usize = 3;

/// Where something that was found is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundAt {
    /// A finding, by its id.
    Finding(String),
    /// A library of the CUDA view, by its path.
    Library(Vec<u8>),
    /// A file or folder, by its path.
    Path(Vec<u8>),
}

/// Something that was found; safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundItem {
    /// Its name.
    pub title: String,
    /// What it is, and where.
    pub about: String,
    /// Where it is shown.
    pub at: FoundAt,
}

/// What has all words of `typed` in its title or name, in whatever case: findings first, then libraries, then files, of
/// each the best. Nothing for fewer than three letters.
///
/// # Errors
/// When cancelled.
pub fn find(analysis: &Analysis, typed: &str, cancel: &CancelToken) -> Result<Vec<FoundItem>, Cancelled> {
    let typed = typed.trim().to_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    if typed.chars().count() < LETTERS {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let findings = analysis.findings.iter().flat_map(|findings| &findings.list);
    let fits = |title: &str| words.iter().all(|word| title.to_lowercase().contains(word));
    found.extend(findings.filter(|one| fits(&one.title)).take(MOST).map(|one| FoundItem {
        title: printable(&one.title),
        about: format!("Finding, {}, {}", one.verdict.label().to_lowercase(), human(one.bytes)),
        at: FoundAt::Finding(one.id.clone()),
    }));
    // Names have no spaces that anyone types.
    let ([word], Some(merge)) = (&words[..], &analysis.merge) else { return Ok(found) };
    let item = |node: Node<'_>, kind: &str, at: fn(Vec<u8>) -> FoundAt| {
        let raw = node.path();
        FoundItem {
            title: escape(node.name()),
            about: format!("{kind}, {}, {}", human(node.bytes()), escape(&raw)),
            at: at(raw),
        }
    };
    let libraries = analysis.inventory.iter().flat_map(|inventory| &inventory.libraries);
    let libraries = libraries.map(|library| merge.rootfs.node(library.node));
    let libraries = best(libraries, word, cancel)?;
    found.extend(libraries.iter().map(|node| item(*node, "Library", FoundAt::Library)));
    for node in best(merge.rootfs.nodes(), word, cancel)? {
        if !libraries.iter().any(|library| library.id() == node.id()) {
            let kind = if node.kind() == NodeKind::Directory { "Folder" } else { "File" };
            found.push(item(node, kind, FoundAt::Path));
        }
    }
    Ok(found)
}

/// Of the paths whose names have `word` within, those where it is the name first, then the largest.
fn best<'a>(
    nodes: impl Iterator<Item = Node<'a>>,
    word: &str,
    cancel: &CancelToken,
) -> Result<Vec<Node<'a>>, Cancelled> {
    let mut best: Vec<((u8, u64), Node<'a>)> = Vec::new();
    for (count, node) in nodes.enumerate() {
        if count % 4_096 == 0 {
            cancel.check()?;
        }
        let Some(rank) = rank(node.name(), word.as_bytes()) else { continue };
        let key = (rank, u64::MAX - node.bytes());
        let place = best.partition_point(|(known, _)| *known <= key);
        if place < MOST {
            best.insert(place, (key, node));
            best.truncate(MOST);
        }
    }
    Ok(best.into_iter().map(|(_, node)| node).collect())
}

/// How well a name fits, 0 best; `word` is in lower case.
fn rank(name: &[u8], word: &[u8]) -> Option<u8> {
    let at =
        |from: usize| name.get(from..from + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word));
    let last = name.len().checked_sub(word.len())?;
    (0..=last).any(at).then_some(u8::from(last > 0))
}
