//! Collects candidates from a stream before the tables that reference them: library names and search paths, names of
//! sections with GPU code, and the note of a compatibility package.

use std::ops::Range;

use memchr::memmem::Finder;

use super::captured_ranges::CapturedRanges;
use super::notes::COMPAT_OWNER;
use super::sections::NAME_MAX;

/// Bytes available on either side of a match: the maximum stored string.
const REACH: usize = 4 << 10;
/// Bytes searched in one step.
const BLOCK: usize = 64 << 10;

/// In every dynamic table of a 64-bit little-endian file: `DT_SYMENT` (11) with a symbol size of 24 bytes.
const DYNAMIC: &[u8; 16] = b"\x0b\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0";
/// Maximum stored matches of it.
const DYNAMIC_MAX: usize = 16;

/// Maximum stored notes of that owner. A library has one.
const NOTES_MAX: usize = 16;
/// Bytes stored after a match: further matches in them need no window of their own.
const WINDOW: usize = 3 * NAME_MAX;

/// Bytes before the owner's name in a note.
const NOTE_FIELDS: usize = 12;

/// The search. Its blocks begin where relevant bytes begin, independent of the chunks that are fed.
#[derive(Debug)]
pub(super) struct StreamScanner {
    block: Vec<u8>,
    /// Offset of the first byte of the block.
    at: u64,
    /// Searched bytes of the block.
    searched: usize,
    strings: Vec<Finder<'static>>,
    names: Vec<Finder<'static>>,
    note: Option<Finder<'static>>,
    dynamic: Option<Finder<'static>>,
    dynamic_room: usize,
    note_room: usize,
    early: [Range<u64>; 2],
    names_end: u64,
    compat_bytes: usize,
}

impl StreamScanner {
    /// Searches for strings in the ranges `early`, for section names up to `names_end`, and, unless `compat_bytes` is
    /// 0, for the note, of which at most that many bytes are stored. With `dynamic`, also for the dynamic table, in the
    /// same ranges as strings.
    pub(super) fn new(early: [Range<u64>; 2], names_end: u64, compat_bytes: usize, dynamic: bool) -> Self {
        let finders = |needles: &[&'static [u8]]| needles.iter().map(|needle| Finder::new(*needle)).collect();
        let mut names: Vec<&'static [u8]> = vec![b"fatbin", b"cask"];
        if compat_bytes > 0 {
            names.push(b"fwd_compat");
        }
        Self {
            block: Vec::new(),
            at: 0,
            searched: 0,
            strings: finders(&[b".so", b"ORIGIN", b"\0/"]),
            names: finders(&names),
            note: (compat_bytes > 0).then(|| Finder::new(COMPAT_OWNER)),
            dynamic: dynamic.then(|| Finder::new(DYNAMIC)),
            dynamic_room: DYNAMIC_MAX,
            note_room: NOTES_MAX,
            early,
            names_end,
            compat_bytes,
        }
    }

    /// Whether bytes from `at` on are searched.
    pub(super) fn is_on(&self, at: u64) -> bool {
        at < self.names_end || self.note.is_some() || self.early.iter().any(|range| at < range.end)
    }

    /// Remaining space of the block; never 0.
    pub(super) fn room(&self) -> usize {
        (BLOCK + 2 * REACH).saturating_sub(self.block.len())
    }

    /// Feeds at most [`Self::room`] bytes, located at `at`. If they do not follow the previous ones, the previous block
    /// is finished. `gpu` is the end of the first container header: without one, section names are not needed.
    pub(super) fn feed(&mut self, at: u64, bytes: &[u8], gpu: Option<u64>, kept: &mut CapturedRanges) {
        if at != self.at.saturating_add(self.block.len() as u64) {
            self.finish(gpu, kept);
            self.block.clear();
            (self.at, self.searched) = (at, 0);
        }
        self.block.extend_from_slice(bytes);
        if self.room() == 0 {
            self.search(self.block.len() - REACH, gpu, kept);
            let passed = self.searched.saturating_sub(REACH);
            self.block.drain(..passed);
            self.at = self.at.saturating_add(passed as u64);
            self.searched -= passed;
        }
    }

    /// Searches the rest of the block.
    pub(super) fn finish(&mut self, gpu: Option<u64>, kept: &mut CapturedRanges) {
        self.search(self.block.len(), gpu, kept);
    }

    /// Searches for matches that begin between `searched` and `to`.
    fn search(&mut self, to: usize, gpu: Option<u64>, kept: &mut CapturedRanges) {
        let from = std::mem::replace(&mut self.searched, to);
        let start = self.at.saturating_add(from as u64);
        let finds = |finder: &Finder<'static>| -> Vec<usize> {
            let end = (to + finder.needle().len() - 1).min(self.block.len());
            let part = self.block.get(from..end).unwrap_or(&[]);
            finder.find_iter(part).map(|place| place + from).collect()
        };
        let end = self.at.saturating_add(self.block.len() as u64);
        if self.early.iter().any(|range| start < range.end && range.start < end) {
            for finder in &self.strings {
                let mut next = from;
                while let Some(place) = self.find(finder, next, to) {
                    // `\0/` begins with the terminator of the previous string.
                    let inside = place + usize::from(finder.needle().starts_with(&[0]));
                    next = self.keep_string(inside, kept).max(place + 1);
                }
            }
        }
        if start < self.names_end && (self.note.is_some() || gpu.is_some_and(|gpu| gpu <= end)) {
            for finder in &self.names {
                let mut next = from;
                while let Some(place) = self.find(finder, next, to) {
                    // Names of matches before this offset end within the window.
                    next = place + WINDOW - NAME_MAX;
                    let window = place.saturating_sub(NAME_MAX)..(place + WINDOW).min(self.block.len());
                    let at = self.at.saturating_add(window.start as u64);
                    kept.add_window(at, self.block.get(window).unwrap_or(&[]));
                }
            }
        }
        if let Some(finder) = &self.dynamic {
            for place in finds(finder) {
                if !self.looks_dynamic(place) {
                    continue;
                }
                let window = place.saturating_sub(REACH)..(place + REACH).min(self.block.len());
                if let Some(room) = self.dynamic_room.checked_sub(1) {
                    self.dynamic_room = room;
                    let at = self.at.saturating_add(window.start as u64);
                    let seed = self.block.get(window).unwrap_or(&[]);
                    kept.capture(at, at.saturating_add(seed.len() as u64), seed, false);
                }
            }
        }
        for place in self.note.iter().flat_map(finds) {
            let Some(note) = place.checked_sub(NOTE_FIELDS) else { continue };
            let Some(seed) = self.block.get(note..) else { continue };
            // The length of the owner's name distinguishes the note from the same words in a text.
            if seed.starts_with(&19_u32.to_le_bytes()) {
                let Some(room) = self.note_room.checked_sub(1) else { break };
                self.note_room = room;
                let at = self.at.saturating_add(note as u64);
                let size = seed.get(4..8).and_then(|raw| raw.first_chunk());
                let size = size.map_or(0, |raw| u32::from_le_bytes(*raw) as usize).min(self.compat_bytes);
                let whole = NOTE_FIELDS + COMPAT_OWNER.len() + 1 + size;
                let seed = seed.get(..whole).unwrap_or(seed);
                kept.capture(at, at.saturating_add(whole as u64), seed, false);
            }
        }
    }

    /// The first match that begins in `from..to`.
    fn find(&self, finder: &Finder<'static>, from: usize, to: usize) -> Option<usize> {
        let end = (to + finder.needle().len() - 1).min(self.block.len());
        finder.find(self.block.get(from..end)?).map(|place| place + from)
    }

    /// Whether the bytes around `place` look like entries of a dynamic table: they begin with a small tag.
    fn looks_dynamic(&self, place: usize) -> bool {
        let tag = |at: Option<usize>| {
            let raw = self.block.get(at?..)?.first_chunk()?;
            Some(u64::from_le_bytes(*raw)).filter(|tag| (1..0x8000_0000).contains(tag))
        };
        let aligned = self.at.saturating_add(place as u64).is_multiple_of(8);
        aligned && tag(place.checked_sub(16)).is_some() && tag(place.checked_add(16)).is_some()
    }

    /// Stores the string around `place` if it could be a name; returns its end, or the offset up to which it has none:
    /// searching again for each match would take quadratic time.
    fn keep_string(&self, place: usize, kept: &mut CapturedRanges) -> usize {
        let before = self.block.get(place.saturating_sub(REACH)..place).unwrap_or(&[]);
        let after = self.block.get(place..(place + REACH).min(self.block.len())).unwrap_or(&[]);
        let start = memchr::memrchr(0, before).map_or(before.len(), |zero| before.len() - zero - 1);
        let Some(end) = memchr::memchr(0, after) else { return place + after.len() };
        let (start, end) = (place - start, place + end);
        let text = self.block.get(start..=end).unwrap_or(&[]);
        let printable = text.iter().all(|byte| *byte == 0 || (0x20..0x7f).contains(byte));
        if printable && text.len() > 2 {
            kept.add_string(self.at.saturating_add(start as u64), text);
        }
        end
    }
}
