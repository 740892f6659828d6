//! Reader of a streamed ELF file.

use std::ops::Range;

use super::super::binary::BinaryLimits;
use super::super::fatbin::{Summing, Walk};
use super::captured_ranges::CapturedRanges;
use super::gpu_code::is_changeable;
use super::parse::{self, Bytes, Parsed, Places};
use super::stream_scanner::StreamScanner;
use super::{ElfFacts, ElfKind, MACHINE_CUDA, layout, sections};

/// Bytes stored before the section table: linkers put the section names there.
const NAMES_BEFORE_TABLE: u64 = 64 << 10;
/// Maximum length before the end of the head of a string that continues after it.
const OVERLAP: usize = 8 << 10;
/// The problem of containers in a section whose name was not stored.
pub(super) const UNNAMED: &str = "GPU code omitted: section name not kept";
/// Maximum parser passes during the stream. Each may request more bytes.
const PASSES: u32 = 16;

/// The reader; stores the head of the file, the requested ranges, and the locations of containers.
#[derive(Debug)]
pub(in crate::formats) struct ElfScan {
    kept: CapturedRanges,
    scanner: Option<StreamScanner>,
    walk: Walk,
    size: u64,
    at: u64,
    head: u64,
    passes: u32,
    name: Vec<u8>,
    /// Whether names and search paths are searched for.
    wants_strings: bool,
    limits: BinaryLimits,
}

impl ElfScan {
    /// A reader for a file of `size` bytes, of which the first `head` are stored.
    pub(in crate::formats) fn new(size: u64, head: usize, name: &[u8], limits: &BinaryLimits) -> Self {
        let mut walk = Walk::with_samples(limits);
        walk.enter(0, size);
        Self {
            kept: CapturedRanges::new(limits.capture_bytes, limits.candidate_bytes),
            scanner: None,
            walk,
            size,
            at: 0,
            head: (head as u64).min(size),
            passes: 0,
            name: name.to_vec(),
            wants_strings: true,
            limits: limits.clone(),
        }
    }

    /// Feeds the next bytes of the file.
    pub(in crate::formats) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.at < self.size {
            let edge = if self.at < self.head { self.head } else { self.size };
            let run = self.kept.run(self.at).min(edge - self.at);
            let count = usize::try_from(run).unwrap_or(usize::MAX).min(bytes.len());
            let (now, rest) = bytes.split_at(count);
            bytes = rest;
            self.pass(now);
        }
    }

    /// A reader that only locates GPU code, and skips the search for strings.
    pub(super) fn of_gpu_code(size: u64, limits: &BinaryLimits) -> Self {
        let mut walk = Walk::new(limits);
        walk.enter(0, size);
        Self { wants_strings: false, walk, ..Self::new(size, limits.head_bytes, &[], limits) }
    }

    /// The facts; from the available bytes if the stream ended early.
    pub(in crate::formats) fn finish(self) -> ElfFacts {
        let limits = self.limits.clone();
        let is_whole = self.at >= self.size;
        let (mut parsed, places, walk) = self.end();
        let mut sum = Summing::new(&limits);
        sum.set_changeable(is_whole && is_changeable(&parsed, &places));
        sum.add_all(&places.regions, &walk);
        if let Some(at) = walk.found().whole_in(&places.unnamed) {
            parsed.problems.add(at, UNNAMED);
        }
        parsed.finish(sum)
    }

    /// The parsed headers, the possible locations of GPU code, and the walk over the whole file.
    pub(super) fn end(mut self) -> (Parsed, Places, Walk) {
        if let Some(scanner) = &mut self.scanner {
            scanner.finish(self.walk.found().first(), &mut self.kept);
        }
        let mut parsed = self.parse();
        if self.at < self.size {
            parsed.problems.add(self.at, format!("file truncated: {} of {} bytes", self.at, self.size));
        }
        let places = std::mem::take(&mut parsed.places);
        (parsed, places, self.walk)
    }

    /// Processes bytes within one range.
    fn pass(&mut self, bytes: &[u8]) {
        let in_head = self.at < self.head;
        if in_head {
            self.kept.extend_head(bytes);
        }
        let mut completed = false;
        let mut left = bytes;
        while !left.is_empty() {
            let (count, inside) = self.walk.step(self.at, left);
            let (now, rest) = left.split_at(count.min(left.len()));
            completed |= self.keep(now, inside);
            left = rest;
        }
        if in_head && self.at == self.head {
            self.at_end_of_head();
        } else if completed {
            self.plan();
        }
    }

    /// Stores the requested part of `bytes`; returns whether that completed a range. `inside` GPU code there are no
    /// names to search for.
    fn keep(&mut self, mut bytes: &[u8], inside: bool) -> bool {
        let mut completed = false;
        while !bytes.is_empty() {
            let scanner = self.scanner.as_mut().filter(|scanner| !inside && scanner.is_on(self.at));
            let room = scanner.as_ref().map_or(bytes.len(), |scanner| scanner.room().min(bytes.len()));
            let (now, rest) = bytes.split_at(room);
            completed |= self.kept.pass(self.at, now);
            if let Some(scanner) = scanner {
                scanner.feed(self.at, now, self.walk.found().first(), &mut self.kept);
            }
            self.at = self.at.saturating_add(now.len() as u64);
            bytes = rest;
        }
        completed
    }

    /// From here on, only requested ranges are stored.
    fn at_end_of_head(&mut self) {
        if self.at >= self.size {
            return;
        }
        let mut raw = [0; 64];
        let length = raw.len().min(usize::try_from(self.size).unwrap_or(64));
        let raw = raw.get_mut(..length).unwrap_or_default();
        let Ok(true) = self.kept.read(0, raw) else { return };
        let Ok(header) = layout::header(raw) else { return self.walk.enter(self.size, self.size) };
        if header.machine == MACHINE_CUDA || header.kind == ElfKind::Core {
            self.walk.enter(self.size, self.size);
        }
        let table = header.sections;
        if table.at > 0 && header.machine != MACHINE_CUDA {
            let before = table.at.min(NAMES_BEFORE_TABLE);
            self.kept.want(table.at - before, before);
            self.kept.want(table.at, sections::wanted(&table, self.size, &self.limits));
        }
        let strings = self.plan();
        // BOLT writes the program headers late: then the dynamic table is detected by its pattern, and candidate
        // strings are stored until the table is known.
        let programs = header.programs;
        let late = programs.count > 0 && programs.at.saturating_add(programs.bytes()) > self.head;
        let late = late && self.wants_strings;
        let strings = match (late, self.wants_strings) {
            (true, _) => [0..programs.at, 0..0],
            (_, true) => strings,
            _ => [0..0, 0..0],
        };
        let compat = if self.name.starts_with(b"libcuda.so") { self.limits.compat_bytes } else { 0 };
        let names_end = table.at.saturating_sub(NAMES_BEFORE_TABLE);
        let mut scanner = StreamScanner::new(strings, names_end, compat, late);
        if scanner.is_on(self.at) && header.machine != MACHINE_CUDA {
            let tail = self.kept.head_tail(OVERLAP).to_vec();
            scanner.feed(self.at.saturating_sub(tail.len() as u64), &tail, None, &mut self.kept);
            self.scanner = Some(scanner);
        }
    }

    /// Runs the parser to request missing bytes, and stores those that are still to come.
    fn plan(&mut self) -> [Range<u64>; 2] {
        if self.passes >= PASSES {
            return [0..0, 0..0];
        }
        self.passes += 1;
        let parsed = self.parse();
        self.kept.settle(self.at);
        parsed.early
    }

    fn parse(&mut self) -> Parsed {
        // Stored bytes are always readable; an error means that nothing is available.
        parse::parse(&mut self.kept, self.size, &self.name, &self.limits)
            .unwrap_or_else(|_| Parsed::empty(self.size, &self.limits))
    }
}
