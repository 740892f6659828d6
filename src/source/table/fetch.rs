//! Range requests: counted, bounded, and planned in stretches.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::ranges::Ranges;
use crate::base::convert::in_memory;
use crate::base::text::printable;
use crate::jobs::{CancelToken, Progress};

/// Maximum bytes per request, which are in memory for each layer.
const REQUEST: u64 = 8 << 20;
/// A table may name the same bytes for many files; a valid one reads none twice, except for seeks back.
const MOST_TIMES: u64 = 4;

/// A blob, and the bytes fetched so far.
pub(super) struct Fetched {
    ranges: Arc<dyn Ranges>,
    cancel: CancelToken,
    progress: Progress,
    bytes: u64,
    broken: Option<String>,
}

impl Fetched {
    pub(super) fn new(ranges: Arc<dyn Ranges>, cancel: CancelToken, progress: Progress) -> Self {
        Self { ranges, cancel, progress, bytes: 0, broken: None }
    }

    pub(super) fn size(&self) -> u64 {
        self.ranges.size()
    }

    /// Bytes of the blob, complete or an error. After an error nothing is requested.
    pub(super) fn range(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        if let Some(why) = &self.broken {
            return Err(io::Error::other(why.clone()));
        }
        let most = self.size().saturating_mul(MOST_TIMES).saturating_add(REQUEST);
        let done = if self.bytes.saturating_add(length) > most {
            Err(io::Error::other("the table of contents names the same bytes too often"))
        } else {
            self.ranges.range(offset, length, &self.cancel, &self.progress)
        };
        let done = done.and_then(|bytes| {
            if bytes.len() as u64 == length {
                return Ok(bytes);
            }
            let what = format!("{} bytes instead of {length}", bytes.len());
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, what))
        });
        match &done {
            Ok(bytes) => self.bytes = self.bytes.saturating_add(bytes.len() as u64),
            Err(error) => self.broken = Some(printable(&error.to_string())),
        }
        done
    }
}

/// The range of a blob in memory.
pub(super) struct Window {
    fetched: Fetched,
    plan: Vec<Range<u64>>,
    held: Vec<u8>,
    at: u64,
}

impl Window {
    pub(super) fn new(fetched: Fetched) -> Self {
        Self { fetched, plan: Vec::new(), held: Vec::new(), at: 0 }
    }

    pub(super) fn fetched(&self) -> u64 {
        self.fetched.bytes.saturating_sub(self.fetched.ranges.spared())
    }

    pub(super) fn broken(&self) -> Option<String> {
        self.fetched.broken.clone()
    }

    pub(super) fn let_go(&mut self) {
        self.held = Vec::new();
    }

    /// Stretches in order, without overlap.
    pub(super) fn set_plan(&mut self, plan: Vec<Range<u64>>) {
        self.plan = plan;
    }

    /// Bytes from `at` on, but none from `end` on; empty only there.
    fn bytes(&mut self, at: u64, end: u64) -> io::Result<&[u8]> {
        let end = end.min(self.fetched.size());
        if at >= end {
            return Ok(&[]);
        }
        let is_held = |window: &Self| (window.at..window.at + window.held.len() as u64).contains(&at);
        if !is_held(self) {
            // Bytes beyond this file are fetched too if the next file needs them.
            let place = self.plan.partition_point(|stretch| stretch.end <= at);
            let stretch = self.plan.get(place).filter(|stretch| stretch.start <= at);
            let until = stretch.map_or(end, |stretch| stretch.end.max(at + 1)).min(self.fetched.size());
            self.held = Vec::new();
            self.held = self.fetched.range(at, (until - at).min(REQUEST))?;
            self.at = at;
        }
        let held = self.held.get(in_memory(at - self.at)..).unwrap_or_default();
        let most = in_memory(end - at).min(held.len());
        Ok(held.get(..most).unwrap_or_default())
    }
}

/// A compressed stream within a blob.
pub(super) struct Compressed {
    pub(super) window: Arc<Mutex<Window>>,
    pub(super) at: u64,
    pub(super) end: u64,
}

impl Read for Compressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = window.bytes(self.at, self.end)?;
        let count = bytes.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), bytes.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count as u64;
        Ok(count)
    }
}
