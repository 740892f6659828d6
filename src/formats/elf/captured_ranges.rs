//! Parts of an ELF file stored from a stream: its head, requested ranges, and candidate strings and name windows.

use std::collections::BTreeMap;
use std::io;

use super::parse::Bytes;

/// Maximum ranges of one file: tables, notes, strings. Real files need a handful; a file may name some thousand
/// separate strings. Their bytes are limited separately.
const RANGES_MAX: usize = 16_384;
/// Maximum ranges requested in one parser pass, before adjacent ones are joined.
const WANTS_MAX: usize = 16_384;
/// Maximum windows around names; the last ones are stored, because section names come late in a file.
const WINDOWS_MAX: usize = 2_048;

/// The end of a range that is not complete yet.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    end: u64,
    /// Whether the parser requested it, and may request more once it is complete.
    asked: bool,
}

/// The bytes stored so far.
#[derive(Debug)]
pub(super) struct CapturedRanges {
    head: Vec<u8>,
    /// By start offset, without overlap.
    ahead: BTreeMap<u64, Ahead>,
    /// Bytes stored from after the head, by offset; ranges neither overlap nor touch.
    ranges: BTreeMap<u64, Vec<u8>>,
    /// Start, end, and whether the parser may request more once the range is complete.
    wants: Vec<(u64, u64, bool)>,
    strings: BTreeMap<u64, Vec<u8>>,
    windows: BTreeMap<u64, Vec<u8>>,
    capture_room: u64,
    range_room: usize,
    string_room: usize,
}

impl CapturedRanges {
    /// An empty store; `captured` and `strings` limit the bytes stored besides the head.
    pub(super) fn new(captured: usize, strings: usize) -> Self {
        Self {
            head: Vec::new(),
            ahead: BTreeMap::new(),
            ranges: BTreeMap::new(),
            wants: Vec::new(),
            strings: BTreeMap::new(),
            windows: BTreeMap::new(),
            capture_room: captured as u64,
            range_room: RANGES_MAX,
            string_room: strings,
        }
    }

    /// Appends to the head.
    pub(super) fn extend_head(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(bytes);
    }

    /// The last bytes of the head, at most `most`.
    pub(super) fn head_tail(&self, most: usize) -> &[u8] {
        self.head.get(self.head.len().saturating_sub(most)..).unwrap_or(&[])
    }

    /// Number of bytes from `at` up to the next start or end of a range.
    pub(super) fn run(&self, at: u64) -> u64 {
        let Some((start, ahead)) = self.ahead.first_key_value() else { return u64::MAX };
        let edge = if *start > at { *start } else { ahead.end };
        edge.saturating_sub(at).max(1)
    }

    /// Stores the requested bytes of the chunk at `at`; returns whether a requested range was completed.
    pub(super) fn pass(&mut self, at: u64, bytes: &[u8]) -> bool {
        let passed = at.saturating_add(bytes.len() as u64);
        let mut completed = false;
        while let Some(first) = self.ahead.first_entry() {
            let (start, ahead) = ((*first.key()).max(at), *first.get());
            if start >= passed {
                break;
            }
            let end = ahead.end.min(passed);
            if ahead.end <= passed {
                first.remove();
                completed |= ahead.asked;
            }
            let place = |offset: u64| usize::try_from(offset.saturating_sub(at)).unwrap_or(usize::MAX);
            self.store(start, bytes.get(place(start)..place(end)).unwrap_or(&[]));
            if end == passed {
                break;
            }
        }
        completed
    }

    /// Adds bytes to the ranges, and joins ranges that then touch.
    fn store(&mut self, at: u64, bytes: &[u8]) {
        let mut joined = self.add_range(at, bytes);
        while let Some((start, end)) = joined {
            let next = self.ranges.range(start.saturating_add(1)..=end).next().map(|next| *next.0);
            let next = next.and_then(|next| self.ranges.remove_entry(&next));
            joined = next.and_then(|(next, bytes)| self.add_range(next, &bytes));
        }
    }

    /// Adds bytes to the adjacent range or as a new one; returns the start and end of that range.
    fn add_range(&mut self, at: u64, bytes: &[u8]) -> Option<(u64, u64)> {
        let end_of = |start: u64, bytes: &[u8]| start.saturating_add(bytes.len() as u64);
        let before = self.ranges.range_mut(..=at).next_back();
        let before = before.filter(|(start, known)| end_of(**start, known) >= at);
        if let Some((start, known)) = before {
            let shared = usize::try_from(end_of(*start, known) - at).unwrap_or(usize::MAX);
            known.extend_from_slice(bytes.get(shared..).unwrap_or(&[]));
            return Some((*start, end_of(*start, known)));
        }
        if bytes.is_empty() {
            return None;
        }
        self.ranges.insert(at, bytes.to_vec());
        Some((at, end_of(at, bytes)))
    }

    /// Starts to store the requested ranges, as far as they are after `position` in the stream.
    pub(super) fn settle(&mut self, position: u64) {
        let mut wants = std::mem::take(&mut self.wants);
        wants.sort_unstable();
        let mut joined: Vec<(u64, u64, bool)> = Vec::new();
        for (at, end, asked) in wants {
            match joined.last_mut() {
                Some(last) if at <= last.1 => (last.1, last.2) = (last.1.max(end), last.2 || asked),
                _ => joined.push((at, end, asked)),
            }
        }
        for (at, end, asked) in joined {
            let head = self.head.len() as u64;
            let known = self.ahead.range(..=at.max(position)).next_back();
            if end <= position || known.is_some_and(|(_, known)| end <= known.end) {
                continue;
            }
            // A range that begins in the head continues from there if the stream is at the head's end.
            let at = if at < position && position != head { position } else { at };
            let seed = usize::try_from(at).ok().and_then(|start| self.head.get(start..));
            let seed = seed.unwrap_or(&[]).to_vec();
            self.capture(at, end, &seed, asked);
        }
    }

    /// Stores `at..end`, whose first bytes are `seed`: as many as have been read.
    pub(super) fn capture(&mut self, at: u64, end: u64, seed: &[u8], asked: bool) {
        let end = end.min(at.saturating_add(self.capture_room));
        let Some(room) = self.range_room.checked_sub(1).filter(|_| at < end) else { return };
        self.range_room = room;
        self.capture_room -= end - at;
        let length = usize::try_from(end - at).unwrap_or(usize::MAX);
        let seed = seed.get(..length).unwrap_or(seed);
        self.store(at, seed);
        let (mut start, mut ahead) = (at.saturating_add(seed.len() as u64), Ahead { end, asked });
        while start < ahead.end {
            // Overlapping ranges are joined.
            let other = self.ahead.range(..ahead.end).next_back().filter(|(_, other)| other.end > start);
            let Some((other, known)) = other.map(|(other, known)| (*other, *known)) else {
                self.ahead.insert(start, ahead);
                return;
            };
            self.ahead.remove(&other);
            start = start.min(other);
            ahead = Ahead { end: ahead.end.max(known.end), asked: ahead.asked || known.asked };
        }
    }

    /// Adds a string, its terminating NUL included.
    pub(super) fn add_string(&mut self, at: u64, text: &[u8]) {
        if let Some(room) = self.string_room.checked_sub(text.len())
            && !self.strings.contains_key(&at)
        {
            self.string_room = room;
            self.strings.insert(at, text.to_vec());
        }
    }

    /// Adds the bytes around a name.
    pub(super) fn add_window(&mut self, at: u64, bytes: &[u8]) {
        self.windows.insert(at, bytes.to_vec());
        if self.windows.len() > WINDOWS_MAX {
            self.windows.pop_first();
        }
    }

    /// Bytes stored from after the head.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        [&self.ranges, &self.strings, &self.windows]
            .into_iter()
            .flat_map(BTreeMap::values)
            .map(Vec::len)
            .sum()
    }

    /// All stored bytes from `at` on that are contiguous within one part.
    fn parts(&self, at: u64) -> impl Iterator<Item = &[u8]> {
        let head = std::iter::once((0, &self.head));
        let near = [&self.ranges, &self.strings, &self.windows];
        let near = near.into_iter().filter_map(move |map| map.range(..=at).next_back());
        let all = head.chain(near.map(|(start, bytes)| (*start, bytes)));
        all.filter_map(move |(start, bytes)| {
            let inside = usize::try_from(at.checked_sub(start)?).ok()?;
            bytes.get(inside..).filter(|rest| !rest.is_empty())
        })
    }
}

impl Bytes for CapturedRanges {
    fn want(&mut self, at: u64, bytes: u64) {
        if bytes > 0 && self.wants.len() < WANTS_MAX {
            self.wants.push((at, at.saturating_add(bytes), true));
        }
    }

    fn want_string(&mut self, at: u64, bytes: u64) {
        if bytes > 0 && self.wants.len() < WANTS_MAX {
            self.wants.push((at, at.saturating_add(bytes), false));
        }
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<bool> {
        let found = self.parts(at).find_map(|part| part.get(..buffer.len()));
        if let Some(found) = found {
            buffer.copy_from_slice(found);
        }
        Ok(found.is_some())
    }

    fn string(&mut self, at: u64, most: usize) -> io::Result<Option<Vec<u8>>> {
        let found = self.parts(at).find_map(|part| {
            let end = memchr::memchr(0, part.get(..=most).unwrap_or(part))?;
            part.get(..end)
        });
        Ok(found.map(<[u8]>::to_vec))
    }
}
