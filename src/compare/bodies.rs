//! Reads files whose equality only their bytes can decide.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::contents::{Content, Contents, NONE, Scratch};
use super::union::Arena;
use crate::analysis::{Analysis, Body};
use crate::jobs::{CancelToken, Cancelled, Progress, run_all, workers};
use crate::layer::{ContentHash, EntryId};
use crate::rootfs::NodeId;

/// Rows that a worker takes at once.
const STRETCH: usize = 64;
/// Linux opens no longer path.
const LONGEST_PATH: usize = 4096;

/// Renumbers the contents of `unproven` rows, after reading what is readable.
pub(super) fn settle(
    images: &[Arc<Analysis>],
    contents: &Contents<'_>,
    arena: &mut Arena,
    unproven: &[u32],
    cancel: &CancelToken,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let reader = Reader { images, contents, arena, cancel, progress, hashes: Mutex::default() };
    let found: Mutex<Vec<(u32, Vec<u16>)>> = Mutex::default();
    run_all(unproven.chunks(STRETCH).collect(), workers(), |rows| {
        let mut scratch = Scratch::default();
        for row in rows {
            let mut numbers = Vec::new();
            // Cancellation is reported below.
            let Ok(_) = reader.number(*row, &mut scratch, &mut numbers) else { return };
            if numbers != arena.numbers(*row) {
                found.lock().unwrap_or_else(PoisonError::into_inner).push((*row, numbers));
            }
        }
    });
    cancel.check()?;
    for (row, numbers) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let start = row as usize * arena.images;
        arena.numbers[start..start + numbers.len()].copy_from_slice(&numbers);
    }
    Ok(())
}

struct Reader<'a> {
    images: &'a [Arc<Analysis>],
    contents: &'a Contents<'a>,
    arena: &'a Arena,
    cancel: &'a CancelToken,
    progress: &'a Progress,
    /// Of files with several names, each of which is a row.
    hashes: Mutex<HashMap<(u32, EntryId), Option<ContentHash>>>,
}

impl<'a> Reader<'a> {
    fn number(&self, row: u32, scratch: &mut Scratch<'a>, numbers: &mut Vec<u16>) -> Result<bool, Cancelled> {
        self.contents.number(self.arena.nodes(row), scratch, numbers, |all, class, proofs| {
            self.prove(row, all, class, proofs)
        })
    }

    fn prove(
        &self,
        row: u32,
        all: &[Content<'a>],
        class: &[usize],
        proofs: &mut Vec<Option<ContentHash>>,
    ) -> Result<(), Cancelled> {
        self.cancel.check()?;
        proofs.extend(class.iter().map(|place| self.contents.hash(&all[*place])));
        // One readable file among unreadable ones proves nothing.
        let can = |place: &usize| self.body(row, &all[*place]);
        let bodies: Vec<Option<Body>> = class
            .iter()
            .zip(&*proofs)
            .map(|(place, known)| if known.is_some() { None } else { can(place) })
            .collect();
        let known = proofs.iter().flatten().count();
        if known + bodies.iter().flatten().count() < 2 {
            return Ok(());
        }
        // A sample proves nothing for a file of which only the hash is known.
        let samples: Vec<Option<ContentHash>> =
            bodies.iter().map(|body| body.as_ref().filter(|_| known == 0).and_then(Body::sample)).collect();
        for (at, body) in bodies.into_iter().enumerate() {
            let Some(body) = body else { continue };
            let alike = samples.iter().filter(|sample| **sample == samples[at]).count();
            proofs[at] = match samples[at] {
                // Different from all others: the mark of its sample equals no content hash.
                Some(sample) if alike == 1 => Some(sample),
                // Where others gave a sample, this one cannot be read.
                None if samples.iter().any(Option::is_some) => None,
                _ => self.hash(&all[class[at]], body)?,
            };
        }
        Ok(())
    }

    fn hash(&self, content: &Content<'_>, body: Body) -> Result<Option<ContentHash>, Cancelled> {
        let hashes = || self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = if content.has_other_names { hashes().get(&content.key).copied() } else { None };
        if let Some(known) = known {
            return Ok(known);
        }
        let hash = body.hash(self.cancel)?;
        if content.has_other_names {
            hashes().insert(content.key, hash);
        }
        Ok(hash)
    }

    /// Opens a file by any image that has the very same one.
    fn body(&self, row: u32, content: &Content<'_>) -> Option<Body> {
        self.arena.nodes(row).iter().enumerate().find_map(|(image, node)| {
            let same = self.contents.content(image, *node).filter(|other| other.key == content.key)?;
            self.images.get(image)?.body(same.inode, || self.path(row), self.progress)
        })
    }

    /// The path of a row, unless it is too long to be opened.
    fn path(&self, row: u32) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        let (mut at, mut length) = (row, 0);
        while at != 0 {
            let (image, node) = self.arena.nodes(at).iter().enumerate().find(|(_, node)| **node != NONE)?;
            let name = self.contents.rootfs(image)?.node(NodeId(*node)).name();
            length += name.len() + 1;
            if length >= LONGEST_PATH {
                return None;
            }
            names.push(name);
            at = *self.arena.parents.get(at as usize)?;
        }
        let mut path = Vec::with_capacity(length);
        for name in names.into_iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        Some(path)
    }
}
