//! An ELF file whose bytes pass once.

use std::ops::Range;

use super::super::binary::BinaryLimits;
use super::super::fatbin::{Summing, Walk};
use super::captured_ranges::CapturedRanges;
use super::parse::{self, Bytes, Parsed};
use super::stream_scanner::StreamScanner;
use super::{ElfFacts, ElfKind, MACHINE_CUDA, layout, sections};

/// Bytes before the section table that are kept: linkers put the section names there.
const NAMES_BEFORE_TABLE: u64 = 64 << 10;
/// Bytes before the end of the head in which a string may begin that ends behind it.
const OVERLAP: usize = 8 << 10;
/// Passes of the parser while the stream runs. Each may find that more is to be kept.
const PASSES: u32 = 16;

/// The scan; it keeps the head of the file, what its tables ask for, and where containers are.
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
    limits: BinaryLimits,
}

impl ElfScan {
    /// A scan of a file of `size` bytes, of which the first `head` are kept.
    pub(in crate::formats) fn new(size: u64, head: usize, name: &[u8], limits: &BinaryLimits) -> Self {
        let mut walk = Walk::new(limits);
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
            limits: limits.clone(),
        }
    }

    /// Takes the next bytes of the file.
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

    /// The facts; when bytes are missing, from what there was.
    pub(in crate::formats) fn finish(mut self) -> ElfFacts {
        if let Some(scanner) = &mut self.scanner {
            scanner.finish(self.walk.found().first(), &mut self.kept);
        }
        let mut parsed = self.parse();
        if self.at < self.size {
            parsed.problems.add(self.at, format!("file truncated: {} of {} bytes", self.at, self.size));
        }
        let places = std::mem::take(&mut parsed.places);
        let mut sum = Summing::new(&self.limits);
        sum.add_all(&places.regions, &self.walk);
        if let Some(at) = self.walk.found().whole_in(&places.unnamed) {
            parsed.problems.add(at, "GPU code omitted: section name not kept");
        }
        parsed.finish(sum)
    }

    /// Bytes that are treated alike.
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

    /// Keeps of `bytes` what was asked for; whether that completed a range. `inside` GPU code there are no
    /// names to look for.
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

    /// From here on, only what the headers ask for is kept.
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
        // A tool that rearranges files, BOLT, writes the program headers late: then the dynamic table is
        // picked up by its looks, and strings until it is known which are asked for.
        let programs = header.programs;
        let late = programs.count > 0 && programs.at.saturating_add(programs.bytes()) > self.head;
        let strings = if late { [0..programs.at, 0..0] } else { strings };
        let compat = if self.name.starts_with(b"libcuda.so") { self.limits.compat_bytes } else { 0 };
        let names_end = table.at.saturating_sub(NAMES_BEFORE_TABLE);
        let mut scanner = StreamScanner::new(strings, names_end, compat, late);
        if scanner.is_on(self.at) && header.machine != MACHINE_CUDA {
            let tail = self.kept.head_tail(OVERLAP).to_vec();
            scanner.feed(self.at.saturating_sub(tail.len() as u64), &tail, None, &mut self.kept);
            self.scanner = Some(scanner);
        }
    }

    /// Lets the parser say what it misses, and keeps that if it is still to come.
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
        // Kept bytes never fail to be read; an error would mean that there is nothing.
        parse::parse(&mut self.kept, self.size, &self.name, &self.limits)
            .unwrap_or_else(|_| Parsed::empty(self.size, &self.limits))
    }
}
