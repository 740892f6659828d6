//! In: the bytes of a static library (`ar` archive), as a stream or as ranges.
//! Out: the number of members, and the GPU code of those that are ELF objects.
//! Must not know: the other contents of members. Member names are not stored.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::binary::{BinaryLimits, Problem, Problems};
use super::elf::{self, ElfFacts, ElfScan};
use super::fatbin::{GpuFacts, Summing};
use crate::base::Section;
use crate::jobs::CancelToken;

/// The first bytes of a static library.
pub(super) const MAGIC: &[u8; 8] = b"!<arch>\n";
/// The first bytes of a thin archive, which refers to its members without containing them.
pub(super) const THIN: &[u8; 8] = b"!<thin>\n";

/// Bytes of the header of a member.
const HEADER: usize = 60;

/// Facts about a static library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFacts {
    /// Members, without symbol tables and the table of long names.
    pub members: u64,
    /// The GPU code of all members; sections are summed by name.
    pub gpu: GpuFacts,
    /// Format violations and reached limits.
    pub problems: Vec<Problem>,
}

impl ArchiveFacts {
    /// Approximate size of these facts in memory, in bytes.
    pub(super) fn kept_bytes(&self) -> usize {
        size_of::<Self>()
            + self.gpu.kept_bytes()
            + self.problems.iter().map(Problem::kept_bytes).sum::<usize>()
    }
}

/// One member.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    /// Location of its content in the archive.
    body: Range<u64>,
    /// Offset of the next header.
    next: u64,
    /// Whether it is a regular member: not a symbol table, not the table of long names.
    counts: bool,
}

/// The member whose header `raw` is at `at`.
fn member(raw: &[u8], at: u64, thin: bool) -> Option<Member> {
    let name = raw.get(..16)?.trim_ascii_end();
    let size: u64 = std::str::from_utf8(raw.get(48..58)?).ok()?.trim_ascii().parse().ok()?;
    if raw.get(58..60)? != b"`\n" {
        return None;
    }
    // The symbol tables of GNU (32 and 64 bits wide) and its table of long names; the symbol table of BSD.
    let table = matches!(name, b"/" | b"//" | b"/SYM64/") || name.starts_with(b"__.SYMDEF");
    let start = at.checked_add(HEADER as u64)?;
    let end = if thin && !table { start } else { start.checked_add(size)? };
    // BSD writes long names in front of the content.
    let long = name.strip_prefix(b"#1/").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let body = start.checked_add(long.unwrap_or(0))?.min(end)..end;
    Some(Member { body, next: end.checked_next_multiple_of(2)?, counts: !table })
}

/// The sums of both readers.
#[derive(Debug)]
struct Total {
    members: u64,
    sum: Summing,
    problems: Problems,
    most: u64,
}

impl Total {
    fn new(limits: &BinaryLimits) -> Self {
        Self {
            members: 0,
            sum: Summing::new(limits),
            problems: Problems::new(limits.problems),
            most: limits.members,
        }
    }

    /// Records the member at `at`; `None` if the walk ends there.
    fn open(&mut self, raw: &[u8], at: u64, size: u64, thin: bool) -> Option<Member> {
        let Some(member) = member(raw, at, thin) else {
            self.problems.add(at, "invalid header of an archive member: the rest is omitted");
            return None;
        };
        if self.members >= self.most {
            self.problems.add(at, "too many archive members: the rest is omitted");
            return None;
        }
        if member.body.end > size {
            self.problems.add(at, "an archive member extends beyond the end of the file");
        }
        self.members += u64::from(member.counts);
        Some(member)
    }

    fn add(&mut self, at: u64, facts: ElfFacts) {
        let mut problems = facts.problems;
        for problem in &mut problems {
            problem.what.insert_str(0, "in a member: ");
        }
        self.problems.take(problems, at);
        if let Some(gpu) = facts.gpu {
            self.sum.merge(*gpu, at, true);
        }
    }

    fn finish(self) -> ArchiveFacts {
        let gpu = self.sum.finish().unwrap_or_default();
        ArchiveFacts { members: self.members, gpu, problems: self.problems.finish() }
    }
}

/// State of a stream.
#[derive(Debug)]
enum StreamState {
    /// Within a header, or just before it.
    Header,
    /// Before or within the content of a member whose first bytes are not complete yet.
    Start(Member),
    /// Within an ELF file.
    Elf(Member, Box<ElfScan>),
    /// Within something else, up to this offset.
    Skip(u64),
    /// After the last valid member.
    End,
}

/// A static library read as a stream.
#[derive(Debug)]
pub(super) struct ArchiveScan {
    state: StreamState,
    held: Vec<u8>,
    at: u64,
    size: u64,
    thin: bool,
    total: Total,
    limits: BinaryLimits,
}

impl ArchiveScan {
    pub(super) fn new(size: u64, thin: bool, limits: &BinaryLimits) -> Self {
        Self {
            state: StreamState::Skip(MAGIC.len() as u64),
            held: Vec::new(),
            at: 0,
            size,
            thin,
            total: Total::new(limits),
            limits: BinaryLimits {
                head_bytes: limits.member_head_bytes,
                data_sections: false,
                ..limits.clone()
            },
        }
    }

    /// Takes the next bytes of the file.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = self.step(bytes).min(bytes.len());
            self.at = self.at.saturating_add(count as u64);
            bytes = bytes.get(count..).unwrap_or(&[]);
        }
    }

    /// The facts; from the available bytes if the stream ended early.
    pub(super) fn finish(mut self) -> ArchiveFacts {
        match std::mem::replace(&mut self.state, StreamState::End) {
            StreamState::Elf(member, scan) => self.total.add(member.body.start, scan.finish()),
            StreamState::Header if self.at < self.size || !self.held.is_empty() => {
                let at = self.at.saturating_sub(self.held.len() as u64);
                self.total.problems.add(at, "invalid header of an archive member: the rest is omitted");
            }
            _ => {}
        }
        if self.at < self.size {
            let what = format!("file truncated: {} of {} bytes", self.at, self.size);
            self.total.problems.add(self.at, what);
        }
        self.total.finish()
    }

    /// Consumes bytes from the start of `bytes` and returns their number.
    fn step(&mut self, bytes: &[u8]) -> usize {
        let upto =
            |end: u64| usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(bytes.len());
        match std::mem::replace(&mut self.state, StreamState::End) {
            StreamState::End => bytes.len(),
            StreamState::Skip(end) => {
                let count = upto(end);
                let there = self.at.saturating_add(count as u64) >= end;
                self.state = if there { StreamState::Header } else { StreamState::Skip(end) };
                count
            }
            StreamState::Header => {
                let count = (HEADER - self.held.len().min(HEADER)).min(bytes.len());
                self.held.extend_from_slice(bytes.get(..count).unwrap_or(bytes));
                self.state = StreamState::Header;
                if self.held.len() == HEADER {
                    let at = self.at.saturating_add(count as u64).saturating_sub(HEADER as u64);
                    let member = self.total.open(&self.held, at, self.size, self.thin);
                    self.state = member.map_or(StreamState::End, |member| after_header(member, self.size));
                    self.held.clear();
                }
                count
            }
            StreamState::Start(member) => {
                let (count, state) = self.start(member, bytes);
                self.state = state;
                count
            }
            StreamState::Elf(member, mut scan) => {
                let count = upto(member.body.end);
                scan.push(bytes.get(..count).unwrap_or(bytes));
                if self.at.saturating_add(count as u64) >= member.body.end {
                    self.total.add(member.body.start, scan.finish());
                    self.state = StreamState::Skip(member.next);
                } else {
                    self.state = StreamState::Elf(member, scan);
                }
                count
            }
        }
    }

    /// Skips a long name, then collects the first bytes of the content, which identify it.
    fn start(&mut self, member: Member, bytes: &[u8]) -> (usize, StreamState) {
        if self.at < member.body.start {
            let rest = usize::try_from(member.body.start - self.at).unwrap_or(usize::MAX);
            return (rest.min(bytes.len()), StreamState::Start(member));
        }
        let count = (elf::MAGIC.len() - self.held.len().min(elf::MAGIC.len())).min(bytes.len());
        self.held.extend_from_slice(bytes.get(..count).unwrap_or(bytes));
        if self.held.len() < elf::MAGIC.len() {
            return (count, StreamState::Start(member));
        }
        let first = std::mem::take(&mut self.held);
        if first != elf::MAGIC {
            return (count, StreamState::Skip(member.next));
        }
        let size = member.body.end - member.body.start;
        let mut scan = Box::new(ElfScan::new(size, self.limits.member_head_bytes, b"", &self.limits));
        scan.push(&first);
        (
            count,
            if size > first.len() as u64 {
                StreamState::Elf(member, scan)
            } else {
                StreamState::Skip(member.next)
            },
        )
    }
}

/// State after a header.
fn after_header(mut member: Member, size: u64) -> StreamState {
    // A member that exceeds the end of the file is cut there, as for a range reader.
    member.body.end = member.body.end.min(size);
    let length = member.body.end.saturating_sub(member.body.start);
    if length > elf::MAGIC.len() as u64 { StreamState::Start(member) } else { StreamState::Skip(member.next) }
}

/// The facts of the static library `file`. Only headers and tables of members are read.
///
/// # Errors
/// Read errors and cancellation.
pub(super) fn read(
    file: &Section,
    thin: bool,
    limits: &BinaryLimits,
    cancel: &CancelToken,
) -> io::Result<ArchiveFacts> {
    let mut total = Total::new(limits);
    let mut limits = limits.clone();
    limits.head_bytes = limits.member_head_bytes;
    limits.data_sections = false;
    let mut at = MAGIC.len() as u64;
    while at < file.len() {
        cancel.check()?;
        // With the first bytes of the content, which identify it.
        let mut raw = [0; HEADER + elf::MAGIC.len()];
        let count = file.read_full_at(&mut raw, at)?;
        let (header, mut first) = raw.get(..count).unwrap_or(&[]).split_at(count.min(HEADER));
        let Some(member) = total.open(header, at, file.len(), thin) else { break };
        let mut start = [0; elf::MAGIC.len()];
        if member.body.start != at.saturating_add(HEADER as u64) {
            let count = file.read_full_at(&mut start, member.body.start)?;
            first = start.get(..count).unwrap_or(&[]);
        }
        let body = file.part(member.body.start, member.body.end.saturating_sub(member.body.start));
        if body.len() > elf::MAGIC.len() as u64 && first == elf::MAGIC {
            total.add(member.body.start, elf::read(&body, b"", &limits, cancel)?);
        }
        at = member.next;
    }
    Ok(total.finish())
}

/// Body of a fuzz target: must never panic, and the parts of the file must add up.
#[cfg(feature = "fuzzing")]
pub fn fuzz_archive(data: &[u8]) {
    super::binary::fuzz_file(&[MAGIC.as_slice(), data].concat(), b"lib.a");
    super::binary::fuzz_file(&[THIN.as_slice(), data].concat(), b"lib.a");
}

#[cfg(test)]
mod tests;
