//! Reader of a seekable ELF file.

use std::io;

use super::super::binary::BinaryLimits;
use super::super::fatbin::{Summing, Walk, drive};
use super::ElfFacts;
use super::gpu_code::is_changeable;
use super::parse::{self, Bytes, Parsed, Places};
use crate::base::Section;
use crate::jobs::CancelToken;

/// Small reads use cached blocks of this many bytes. The header, the dynamic table, its strings, the section table and
/// the names have one or two blocks each.
const BLOCK: u64 = 4 << 10;
const BLOCKS: usize = 16;

/// The most recently used blocks of the file.
struct Ranges<'a> {
    file: &'a Section,
    blocks: Vec<(u64, Vec<u8>)>,
    oldest: usize,
}

impl Ranges<'_> {
    /// The bytes from `at` to the end of its block; empty at the end of the file.
    fn block(&mut self, at: u64) -> io::Result<&[u8]> {
        let start = at - at % BLOCK;
        let known = self.blocks.iter().position(|block| block.0 == start);
        let place = match known {
            Some(place) => place,
            None => self.load(start)?,
        };
        let inside = usize::try_from(at - start).unwrap_or(usize::MAX);
        Ok(self.blocks.get(place).and_then(|block| block.1.get(inside..)).unwrap_or(&[]))
    }

    fn load(&mut self, start: u64) -> io::Result<usize> {
        let mut bytes = vec![0; usize::try_from(BLOCK).unwrap_or(0)];
        let count = self.file.read_full_at(&mut bytes, start)?;
        bytes.truncate(count);
        if self.blocks.len() < BLOCKS {
            self.blocks.push((start, bytes));
            return Ok(self.blocks.len() - 1);
        }
        let place = self.oldest % BLOCKS;
        self.oldest = self.oldest.wrapping_add(1);
        if let Some(block) = self.blocks.get_mut(place) {
            *block = (start, bytes);
        }
        Ok(place)
    }
}

impl Bytes for Ranges<'_> {
    fn want(&mut self, _at: u64, _bytes: u64) {}

    fn want_string(&mut self, _at: u64, _bytes: u64) {}

    fn read(&mut self, mut at: u64, mut buffer: &mut [u8]) -> io::Result<bool> {
        while !buffer.is_empty() {
            let block = self.block(at)?;
            let count = block.len().min(buffer.len());
            if count == 0 {
                return Ok(false);
            }
            let (filled, rest) = buffer.split_at_mut(count);
            filled.copy_from_slice(block.get(..count).unwrap_or(&[]));
            buffer = rest;
            at = at.saturating_add(count as u64);
        }
        Ok(true)
    }

    fn string(&mut self, mut at: u64, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        loop {
            let block = self.block(at)?;
            let end = memchr::memchr(0, block);
            let part = block.get(..end.unwrap_or(block.len())).unwrap_or(&[]);
            if text.len() + part.len() > most || block.is_empty() {
                return Ok(None);
            }
            text.extend_from_slice(part);
            if end.is_some() {
                return Ok(Some(text));
            }
            at = at.saturating_add(part.len() as u64);
        }
    }
}

/// The parsed headers of `file`, and the possible locations of GPU code.
///
/// # Errors
/// Read errors.
pub(super) fn parse(file: &Section, name: &[u8], limits: &BinaryLimits) -> io::Result<(Parsed, Places)> {
    let mut bytes = Ranges { file, blocks: Vec::new(), oldest: 0 };
    let mut parsed = parse::parse(&mut bytes, file.len(), name, limits)?;
    let places = std::mem::take(&mut parsed.places);
    Ok((parsed, places))
}

/// The facts of the ELF file `file`. Reads only headers, tables, strings and notes, and in sections of GPU code only
/// its headers; other sections that may contain some are deferred.
///
/// # Errors
/// Read errors and cancellation.
pub(in crate::formats) fn read(
    file: &Section,
    name: &[u8],
    limits: &BinaryLimits,
    cancel: &CancelToken,
) -> io::Result<ElfFacts> {
    let (parsed, places) = parse(file, name, limits)?;
    let mut sum = Summing::new(limits);
    sum.set_changeable(is_changeable(&parsed, &places));
    let Places { regions, .. } = places;
    let mut walk = Walk::with_samples(limits);
    let mut budget = limits.search_bytes;
    let (exclusive, others): (Vec<_>, Vec<_>) = regions.into_iter().partition(|region| region.exclusive);
    for region in &exclusive {
        drive(&mut walk, file, region.at..region.end(), &mut budget, cancel)?;
    }
    sum.add_all(&exclusive, &walk);
    sum.give_up(budget);
    for region in others {
        sum.defer(region);
    }
    Ok(parsed.finish(sum))
}
