//! Walks from header to header over pushed bytes, and requests the next ones. A stream pushes all bytes; a range reader
//! pushes only requested ones. Both give equal results.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::super::binary::BinaryLimits;
use super::Compression;
use super::found::{Findings, Found};
use super::header;
use super::samples::{Sample, Sampler};
use crate::base::leading_zeros;

/// The first bytes of every container.
pub(in crate::formats) const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(&MAGIC));

/// Containers start at multiples of this many bytes, counted from the start of the file.
const ALIGN: u64 = 8;
const GROUP: usize = 8;

/// Bytes requested at the end of a container: the headers of the next one.
const FIRST_PIECE: usize = header::CONTAINER + header::ENTRY;
/// Maximum bytes requested at once in a search.
const LARGEST_PIECE: usize = 256 << 10;

#[derive(Clone, Copy, Debug)]
enum WalkState {
    /// Searching for the magic of a container.
    Search,
    /// Counting zeros after a container.
    Zeros,
    /// At the header of a container.
    Container,
    /// At the header of an entry of the last container.
    Entry,
    /// A limit was reached.
    Full,
}

/// The walk; one per file. Its memory grows with the results only.
#[derive(Debug)]
pub(in crate::formats) struct Walk {
    state: WalkState,
    /// Bytes buffered until a header is complete, and the offset of the first of them.
    held: Vec<u8>,
    held_at: u64,
    end: u64,
    piece: usize,
    found: Findings,
    most_containers: usize,
    most_entries: usize,
    /// `None` if payloads are not sampled.
    sampler: Option<Sampler>,
}

impl Walk {
    /// A walk that requests nothing until it enters a range.
    pub(in crate::formats) fn new(limits: &BinaryLimits) -> Self {
        Self {
            state: WalkState::Search,
            held: Vec::new(),
            held_at: 0,
            end: 0,
            piece: FIRST_PIECE,
            found: Findings::default(),
            most_containers: limits.containers,
            most_entries: limits.entries,
            sampler: None,
        }
    }

    /// The same, and samples how the payloads compress.
    pub(in crate::formats) fn with_samples(limits: &BinaryLimits) -> Self {
        Self { sampler: Some(Sampler::new()), ..Self::new(limits) }
    }

    /// Starts a search in `at..end`. Earlier results remain.
    pub(in crate::formats) fn enter(&mut self, at: u64, end: u64) {
        self.held.clear();
        self.sampler.iter_mut().for_each(Sampler::leave);
        self.end = end;
        self.piece = FIRST_PIECE;
        if self.found.full_at.is_none() {
            self.search_from(at);
        }
    }

    /// The next requested byte and the minimum useful length; `None` at the end.
    pub(in crate::formats) fn wants(&self) -> Option<(u64, usize)> {
        if matches!(self.state, WalkState::Full) {
            return None;
        }
        if let Some(sample) = self.sampler.as_ref().and_then(Sampler::wants) {
            return Some(sample);
        }
        let next = self.next();
        let length = match self.state {
            WalkState::Full => return None,
            WalkState::Search | WalkState::Zeros => self.piece,
            WalkState::Container => FIRST_PIECE.saturating_sub(self.held.len()),
            WalkState::Entry => header::ENTRY.saturating_sub(self.held.len()),
        };
        let room = usize::try_from(self.end.checked_sub(next)?).unwrap_or(usize::MAX);
        (room > 0).then_some((next, length.min(room)))
    }

    /// Consumes bytes from the start of `bytes`, located at `at`; returns their number, and whether they were skipped
    /// as the inside of an entry. `at` must not be after the next requested byte.
    pub(in crate::formats) fn step(&mut self, at: u64, bytes: &[u8]) -> (usize, bool) {
        let next = self.next();
        if matches!(self.state, WalkState::Full) || at >= self.end {
            return (bytes.len(), false);
        }
        if next > at {
            let count = usize::try_from(next - at).unwrap_or(usize::MAX).min(bytes.len());
            if let Some(sampler) = &mut self.sampler {
                sampler.pass(at, bytes.get(..count).unwrap_or(&[]));
            }
            return (count, true);
        }
        let room = usize::try_from(self.end - at).unwrap_or(usize::MAX);
        (self.take(bytes.get(..room).unwrap_or(bytes)), false)
    }

    /// Consumes all of `bytes`, located at `at`.
    pub(in crate::formats) fn push_all(&mut self, mut at: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (count, _) = self.step(at, bytes);
            at = at.saturating_add(count as u64);
            bytes = bytes.get(count..).unwrap_or(&[]);
        }
    }

    /// The results.
    pub(in crate::formats) fn found(&self) -> &Findings {
        &self.found
    }

    /// Samples of the entries, in their order.
    pub(super) fn samples(&self) -> &[Sample] {
        self.sampler.as_ref().map_or(&[], Sampler::taken)
    }

    /// The results, at the end.
    pub(in crate::formats) fn into_found(self) -> Findings {
        self.found
    }

    fn next(&self) -> u64 {
        self.held_at.saturating_add(self.held.len() as u64)
    }

    fn take(&mut self, bytes: &[u8]) -> usize {
        let need = match self.state {
            WalkState::Full => return bytes.len(),
            WalkState::Zeros => return self.count_zeros(bytes),
            WalkState::Search if self.held.is_empty() && bytes.len() >= GROUP => return self.search(bytes),
            WalkState::Search => GROUP,
            WalkState::Container => header::CONTAINER,
            WalkState::Entry => header::ENTRY,
        };
        let count = need.saturating_sub(self.held.len()).min(bytes.len());
        self.held.extend_from_slice(&bytes[..count]);
        self.settle();
        count
    }

    fn count_zeros(&mut self, bytes: &[u8]) -> usize {
        let count = leading_zeros(bytes);
        self.pass_zeros(count);
        if count < bytes.len() {
            self.search_from(self.held_at);
        } else {
            self.grow_piece();
        }
        count
    }

    /// Searches aligned groups of eight bytes.
    fn search(&mut self, bytes: &[u8]) -> usize {
        let found = FINDER.find_iter(bytes).find(|place| place.is_multiple_of(GROUP));
        let count = found.unwrap_or(bytes.len() - bytes.len() % GROUP);
        self.held_at = self.held_at.saturating_add(count as u64);
        if found.is_some() {
            self.state = WalkState::Container;
        } else {
            self.grow_piece();
        }
        count
    }

    fn grow_piece(&mut self) {
        self.piece = self.piece.saturating_mul(4).min(LARGEST_PIECE);
    }

    fn search_from(&mut self, at: u64) {
        self.state = WalkState::Search;
        match at.checked_next_multiple_of(ALIGN) {
            Some(aligned) => self.seek(aligned),
            None => self.seek(u64::MAX),
        }
    }

    /// Continues at `target`; buffered bytes from there on remain.
    fn seek(&mut self, target: u64) {
        let passed = usize::try_from(target.saturating_sub(self.held_at)).unwrap_or(usize::MAX);
        self.held.drain(..passed.min(self.held.len()));
        self.held_at = target;
    }

    /// Processes buffered bytes until more are needed.
    fn settle(&mut self) {
        loop {
            match self.state {
                WalkState::Search => {
                    let groups = self.held.chunks_exact(GROUP);
                    let passed = groups.take_while(|group| !group.starts_with(&MAGIC)).count() * GROUP;
                    self.seek(self.held_at.saturating_add(passed as u64));
                    if self.held.len() < GROUP {
                        return;
                    }
                    self.state = WalkState::Container;
                }
                WalkState::Zeros => {
                    let count = leading_zeros(&self.held);
                    self.pass_zeros(count);
                    if self.held.is_empty() {
                        return;
                    }
                    self.search_from(self.held_at);
                }
                WalkState::Container if self.held.len() >= header::CONTAINER => self.at_container(),
                WalkState::Entry if self.held.len() >= header::ENTRY => self.at_entry(),
                WalkState::Full => {
                    self.held.clear();
                    return;
                }
                WalkState::Container | WalkState::Entry => return,
            }
        }
    }

    fn pass_zeros(&mut self, count: usize) {
        if let Some(last) = self.found.containers.last_mut() {
            last.zeros = last.zeros.saturating_add(count as u64);
        }
        self.seek(self.held_at.saturating_add(count as u64));
    }

    fn at_container(&mut self) {
        let at = self.held_at;
        let Some((header, size)) = header::container(&self.held, self.end.saturating_sub(at)) else {
            // The same bytes may contain another magic, one group further on.
            return self.search_from(at.saturating_add(ALIGN));
        };
        if self.found.containers.len() >= self.most_containers {
            return self.stop(at);
        }
        let first = self.found.entries.len();
        // `header::container` has checked that the sum is within the range.
        let end = at.saturating_add(header).saturating_add(size);
        self.found.containers.push(Found { at, end, header, first, count: 0, whole: false, zeros: 0 });
        self.at_next_entry(at.saturating_add(header));
    }

    fn at_entry(&mut self) {
        let at = self.held_at;
        let Some(container) = self.found.containers.last_mut() else {
            return self.search_from(at);
        };
        let Some(entry) = header::entry(&self.held, container.end.saturating_sub(at)) else {
            return self.search_from(at);
        };
        if self.found.entries.len() >= self.most_entries {
            return self.stop(at);
        }
        container.count += 1;
        let end = at.saturating_add(entry.bytes);
        if let Some(sampler) = &mut self.sampler {
            match entry.compression {
                // Zstd leaves nothing: deflate saves 0.1 % of it (cuDNN, NCCL).
                Compression::Zstd => sampler.leave(),
                _ => sampler.enter(self.found.entries.len(), at.saturating_add(entry.header_bytes)..end),
            }
        }
        self.found.entries.push(entry);
        self.at_next_entry(end);
    }

    /// Continues at `at` in the last container, with an entry, or after it.
    fn at_next_entry(&mut self, at: u64) {
        let Some(container) = self.found.containers.last_mut() else { return };
        self.piece = FIRST_PIECE;
        let left = container.end.saturating_sub(at);
        if left >= header::ENTRY as u64 {
            self.state = WalkState::Entry;
            self.seek(at);
        } else if left == 0 {
            container.whole = true;
            self.state = WalkState::Zeros;
            self.seek(at);
        } else {
            self.search_from(at);
        }
    }

    fn stop(&mut self, at: u64) {
        self.found.full_at = Some(at);
        self.state = WalkState::Full;
    }
}
