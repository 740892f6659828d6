//! Compares the new file with the old one, independent of what planned and wrote it.
//!
//! Both files are read once, side by side or one after the other. What must be equal is hashed piece by piece in both:
//! blocks outside containers, container headers, entries that stay. The new file's size fields and zeros are compared
//! directly, and its containers are located again by the ordinary reader.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::base::leading_zeros;
use crate::formats::binary::BinaryLimits;
use crate::formats::elf::GpuCodeLocator;
use crate::formats::fatbin::{GpuContainer, LocatedGpuCode, arch_name};

/// Bytes outside containers that are compared at once: the precision of the offset in an error.
const BLOCK: u64 = 64 << 10;

/// Where the new file is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the new file: {what}")]
pub struct PruneMismatch {
    /// Offset in the new file, in bytes: the start of what differs.
    pub at: u64,
    /// What was expected.
    pub what: String,
}

/// What a run of bytes must be.
#[derive(Clone, Debug)]
enum Must {
    /// The same as its counterpart.
    Equal(What),
    /// This number, little endian.
    Number(u64),
    /// Zeros.
    Zero,
    /// Anything: removed.
    Any,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Outside,
    Header,
    Entry(usize),
}

/// One of both files.
#[derive(Debug)]
struct Side {
    is_new: bool,
    at: u64,
    /// Index of the next container.
    next: usize,
    /// End of the last container.
    passed: u64,
    ahead: VecDeque<(u64, Must)>,
    hasher: blake3::Hasher,
    /// Bytes of a number so far.
    number: Vec<u8>,
    /// Start, content and digest of finished runs that are not compared yet.
    done: VecDeque<(u64, What, blake3::Hash)>,
    run_at: u64,
}

/// The comparison of one file with its pruned form.
#[derive(Debug)]
pub struct PruneCheck<'a> {
    code: &'a LocatedGpuCode,
    stays: &'a [bool],
    limits: BinaryLimits,
    old: Side,
    new: Side,
    head: Vec<u8>,
    again: Option<GpuCodeLocator>,
    failure: Option<PruneMismatch>,
}

impl<'a> PruneCheck<'a> {
    /// A check that the new file is the old one without the entries whose place in `stays` is false.
    pub fn new(code: &'a LocatedGpuCode, stays: &'a [bool], limits: &BinaryLimits) -> Self {
        let (old, new) = (Side::new(false), Side::new(true));
        let limits = limits.clone();
        Self { code, stays, limits, old, new, head: Vec::new(), again: None, failure: None }
    }

    /// The next bytes of the old file.
    pub fn push_old(&mut self, bytes: &[u8]) {
        self.push(bytes, false);
    }

    /// The next bytes of the new file.
    pub fn push_new(&mut self, bytes: &[u8]) {
        self.push(bytes, true);
        if let Some(again) = &mut self.again {
            return again.push(bytes);
        }
        self.head.extend_from_slice(bytes);
        if self.head.len() >= 4 {
            self.again = GpuCodeLocator::start(&self.head, self.code.file_bytes, &self.limits);
            if let Some(again) = &mut self.again {
                again.push(&self.head);
            }
            self.head = Vec::new();
        }
    }

    /// The result, after both files.
    ///
    /// # Errors
    /// The first difference.
    pub fn finish(mut self) -> Result<(), PruneMismatch> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let total = self.code.file_bytes;
        for (side, name) in [(&self.old, "old"), (&self.new, "new")] {
            if side.at != total {
                let what = format!("the {name} file has {} bytes instead of {total}", side.at);
                return Err(PruneMismatch { at: side.at.min(total), what });
            }
        }
        let again = self.again.take().map(GpuCodeLocator::finish).unwrap_or_default();
        self.same_containers(&again)
    }

    fn push(&mut self, bytes: &[u8], is_new: bool) {
        if self.failure.is_some() {
            return;
        }
        let side = if is_new { &mut self.new } else { &mut self.old };
        if let Err(failure) = side.push(bytes, self.code, self.stays) {
            self.failure = Some(failure);
            return;
        }
        while let (Some(old), Some(new)) = (self.old.done.front(), self.new.done.front()) {
            if old.2 != new.2 {
                let what = match new.1 {
                    What::Outside => "differs outside of containers".to_owned(),
                    What::Header => "the header of a container differs".to_owned(),
                    What::Entry(index) => {
                        let entry = self.code.entries.get(index);
                        let name = entry.map(|entry| arch_name(entry.kind, entry.arch, entry.suffix));
                        format!("entry {} from byte {} differs", name.unwrap_or_default(), old.0)
                    }
                };
                self.failure = Some(PruneMismatch { at: new.0, what });
                return;
            }
            self.old.done.pop_front();
            self.new.done.pop_front();
        }
    }

    /// Whether the containers of the new file are those expected, with the entries that stay and no others.
    fn same_containers(&self, again: &LocatedGpuCode) -> Result<(), PruneMismatch> {
        let mut found = again.containers.iter();
        for container in &self.code.containers {
            let wrong = |what: &str| PruneMismatch { at: container.at, what: what.to_owned() };
            let Some(new) = found.next() else { return Err(wrong("no container is found here")) };
            if (new.at, new.header_bytes) != (container.at, container.header_bytes) {
                return Err(wrong("another container is found instead"));
            }
            let old = container.entries.clone().zip(self.code.entries_of(container));
            let kept = old.filter(|(index, _)| stays(self.stays, *index)).map(|(_, entry)| entry);
            if !kept.eq(again.entries_of(new)) {
                return Err(wrong("the container has other entries than those that stay"));
            }
        }
        if let Some(more) = found.next() {
            let what = "a container that the old file does not have".to_owned();
            return Err(PruneMismatch { at: more.at, what });
        }
        // Tables that overlap GPU code may have changed with it.
        let mut sections = self.code.sections.iter().zip(&again.sections);
        sections.find(|(old, new)| old != new).map_or(Ok(()), |(old, _)| {
            Err(PruneMismatch { at: old.at, what: format!("section {} is another one", old.name) })
        })
    }
}

/// Takes the new file, so that a [`PiecesWriter`](crate::formats::pieces::PiecesWriter) writes to it. Never fails.
impl Write for PruneCheck<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push_new(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn stays(stays: &[bool], index: usize) -> bool {
    stays.get(index).copied().unwrap_or(true)
}

impl Side {
    fn new(is_new: bool) -> Self {
        Self {
            is_new,
            at: 0,
            next: 0,
            passed: 0,
            ahead: VecDeque::new(),
            hasher: blake3::Hasher::new(),
            number: Vec::new(),
            done: VecDeque::new(),
            run_at: 0,
        }
    }

    fn push(&mut self, mut bytes: &[u8], code: &LocatedGpuCode, stays: &[bool]) -> Result<(), PruneMismatch> {
        while !bytes.is_empty() {
            if self.ahead.is_empty() && !self.plan(code, stays) {
                let what = format!("the file is longer than {} bytes", code.file_bytes);
                return Err(PruneMismatch { at: self.at, what });
            }
            let Some((left, must)) = self.ahead.front_mut() else { continue };
            let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
            let (now, rest) = bytes.split_at(count);
            match must {
                Must::Equal(_) => {
                    self.hasher.update(now);
                }
                Must::Number(_) => self.number.extend_from_slice(now),
                Must::Zero => {
                    let zeros = leading_zeros(now);
                    if zeros < count {
                        let at = self.at.saturating_add(zeros as u64);
                        return Err(PruneMismatch {
                            at,
                            what: "a byte of a removed entry is not zero".to_owned(),
                        });
                    }
                }
                Must::Any => {}
            }
            *left -= count as u64;
            self.at = self.at.saturating_add(count as u64);
            bytes = rest;
            if *left == 0 {
                self.end_run()?;
            }
        }
        Ok(())
    }

    /// Finishes the first run.
    fn end_run(&mut self) -> Result<(), PruneMismatch> {
        let start = std::mem::replace(&mut self.run_at, self.at);
        match self.ahead.pop_front() {
            Some((_, Must::Equal(what))) => {
                self.done.push_back((start, what, self.hasher.finalize()));
                self.hasher.reset();
            }
            Some((_, Must::Number(wanted))) => {
                let read = self.number.first_chunk().map(|raw| u64::from_le_bytes(*raw));
                self.number.clear();
                if read != Some(wanted) {
                    let file = if self.is_new { "new" } else { "old" };
                    let what = format!("the size of a container in the {file} file is not {wanted}");
                    return Err(PruneMismatch { at: start, what });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Plans the runs up to the end of the next container, or of the file; false after that.
    fn plan(&mut self, code: &LocatedGpuCode, stays: &[bool]) -> bool {
        let container = code.containers.get(self.next);
        self.next = self.next.saturating_add(1);
        let edge = container.map_or(code.file_bytes, |container| container.at);
        let mut left = edge.saturating_sub(self.passed);
        // One call for each block would repeat the look-up; a gap of 1 GB has 16,000 blocks.
        while left > 0 {
            let now = left.min(BLOCK);
            self.ahead.push_back((now, Must::Equal(What::Outside)));
            left -= now;
        }
        self.passed = edge;
        if let Some(container) = container {
            self.plan_container(code, container, stays);
        }
        !self.ahead.is_empty()
    }

    fn plan_container(&mut self, code: &LocatedGpuCode, container: &GpuContainer, keep: &[bool]) {
        let all = || container.entries.clone().zip(code.entries_of(container));
        let kept: u64 = all().filter(|(index, _)| stays(keep, *index)).map(|(_, entry)| entry.bytes).sum();
        let size = if self.is_new { kept } else { container.entry_bytes };
        // Magic, version and header size; the size; the rest of a header longer than 16 bytes.
        self.ahead.push_back((8, Must::Equal(What::Header)));
        self.ahead.push_back((8, Must::Number(size)));
        if container.header_bytes > 16 {
            self.ahead.push_back((container.header_bytes - 16, Must::Equal(What::Header)));
        }
        for (index, entry) in all() {
            if stays(keep, index) {
                self.ahead.push_back((entry.bytes, Must::Equal(What::Entry(index))));
            } else if !self.is_new {
                self.ahead.push_back((entry.bytes, Must::Any));
            }
        }
        if self.is_new && kept < container.entry_bytes {
            self.ahead.push_back((container.entry_bytes - kept, Must::Zero));
        }
        self.passed = container.end();
    }
}
