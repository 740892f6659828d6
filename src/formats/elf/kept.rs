//! What a stream has kept of an ELF file: its head, ranges that were asked for, and strings and windows that
//! were picked up on the way.

use std::collections::BTreeMap;
use std::io;

use super::parse::Bytes;

/// Ranges that are kept of one file: tables, notes, strings. Real files need a handful.
const CAPTURES_MAX: usize = 64;
/// Ranges asked for in one pass of the parser, before neighbours are joined.
const WANTS_MAX: usize = 16_384;
/// Windows around names that are remembered, the last ones: section names come late in a file.
const WINDOWS_MAX: usize = 2_048;

/// A range that is kept as it passes.
#[derive(Debug)]
struct Capture {
    at: u64,
    end: u64,
    bytes: Vec<u8>,
    /// Whether the parser asked for it, and may want more when it is there.
    asked: bool,
}

impl Capture {
    fn next(&self) -> u64 {
        self.at.saturating_add(self.bytes.len() as u64)
    }
}

/// The bytes kept so far.
#[derive(Debug)]
pub(super) struct Kept {
    head: Vec<u8>,
    captures: Vec<Capture>,
    wants: Vec<(u64, u64)>,
    strings: BTreeMap<u64, Vec<u8>>,
    windows: BTreeMap<u64, Vec<u8>>,
    capture_room: u64,
    string_room: usize,
}

impl Kept {
    /// Nothing yet; `captured` and `strings` are the most bytes kept besides the head.
    pub(super) fn new(captured: usize, strings: usize) -> Self {
        Self {
            head: Vec::new(),
            captures: Vec::new(),
            wants: Vec::new(),
            strings: BTreeMap::new(),
            windows: BTreeMap::new(),
            capture_room: captured as u64,
            string_room: strings,
        }
    }

    /// Adds to the head.
    pub(super) fn extend_head(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(bytes);
    }

    /// The last bytes of the head, at most `most`.
    pub(super) fn head_tail(&self, most: usize) -> &[u8] {
        self.head.get(self.head.len().saturating_sub(most)..).unwrap_or(&[])
    }

    /// How many bytes from `at` on are treated alike: up to where a range begins or ends.
    pub(super) fn run(&self, at: u64) -> u64 {
        let edges = self.captures.iter().flat_map(|capture| [capture.at, capture.end]);
        edges.filter(|edge| *edge > at).min().map_or(u64::MAX, |edge| edge - at)
    }

    /// Keeps what was asked for of the bytes at `at`; whether a range that was asked for was completed.
    pub(super) fn pass(&mut self, at: u64, bytes: &[u8]) -> bool {
        let mut completed = false;
        for capture in &mut self.captures {
            if capture.next() == at && at < capture.end {
                let room = usize::try_from(capture.end - at).unwrap_or(usize::MAX);
                capture.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
                completed |= capture.asked && capture.next() >= capture.end;
            }
        }
        completed
    }

    /// Starts to keep what was wanted, as far as it lies behind `position`, where the stream is.
    pub(super) fn settle(&mut self, position: u64) {
        let mut wants = std::mem::take(&mut self.wants);
        wants.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (at, end) in wants {
            match joined.last_mut() {
                Some(last) if at <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((at, end)),
            }
        }
        for (at, end) in joined {
            let head = self.head.len() as u64;
            if end <= position || self.captures.iter().any(|known| known.at <= at && end <= known.end) {
                continue;
            }
            // What begins in the head goes on from there when the stream is at its end.
            let at = if at < position && position != head { position } else { at };
            let known = usize::try_from(at).ok().and_then(|start| self.head.get(start..));
            let seed = known.unwrap_or(&[]).to_vec();
            self.capture(at, end, seed, true);
        }
    }

    /// Keeps `at..end`, of which `seed` is the beginning.
    pub(super) fn capture(&mut self, at: u64, end: u64, seed: Vec<u8>, asked: bool) {
        let end = end.min(at.saturating_add(self.capture_room));
        if self.captures.len() < CAPTURES_MAX && at < end {
            self.capture_room -= end - at;
            self.captures.push(Capture { at, end, bytes: seed, asked });
        }
    }

    /// Adds a string, its ending zero byte included.
    pub(super) fn add_string(&mut self, at: u64, text: &[u8]) {
        if let Some(room) = self.string_room.checked_sub(text.len())
            && !self.strings.contains_key(&at)
        {
            self.string_room = room;
            self.strings.insert(at, text.to_vec());
        }
    }

    /// Adds the surroundings of a name.
    pub(super) fn add_window(&mut self, at: u64, bytes: &[u8]) {
        self.windows.insert(at, bytes.to_vec());
        if self.windows.len() > WINDOWS_MAX {
            self.windows.pop_first();
        }
    }

    /// All kept bytes from `at` on that lie side by side in one part.
    fn parts(&self, at: u64) -> impl Iterator<Item = &[u8]> {
        let head = std::iter::once((0, &self.head));
        let captures = self.captures.iter().map(|capture| (capture.at, &capture.bytes));
        let near = [&self.strings, &self.windows];
        let near = near.into_iter().filter_map(move |map| map.range(..=at).next_back());
        let all = head.chain(captures).chain(near.map(|(start, bytes)| (*start, bytes)));
        all.filter_map(move |(start, bytes)| {
            let inside = usize::try_from(at.checked_sub(start)?).ok()?;
            bytes.get(inside..).filter(|rest| !rest.is_empty())
        })
    }
}

impl Bytes for Kept {
    fn want(&mut self, at: u64, bytes: u64) {
        if bytes > 0 && self.wants.len() < WANTS_MAX {
            self.wants.push((at, at.saturating_add(bytes)));
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
