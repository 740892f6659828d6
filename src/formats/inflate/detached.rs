//! A decoder on a thread of its own.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::thread::{Builder, Scope};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::decoder::{Fault, Stop};
use super::output::LENGTH;
use super::points::PointsSlot;
use super::serial::{Checker, Inflater};
use super::workers::BROKEN;

/// Buffers that are decoded ahead, 5 MiB: what evens out bytes that take long to walk.
const AHEAD: usize = 32;

/// A step of the decoder.
struct Step {
    buffer: Box<[u8]>,
    fresh: Range<usize>,
    history: Range<usize>,
    /// Why it stopped, and at which bit.
    stopped: (Result<Stop, Fault>, u64),
    source_fault: Option<io::Error>,
}

/// [`super::Gunzip`] with its decoder on another thread, for as much processor time: while this thread checks, hashes
/// and walks what was decoded, the next bytes are decoded.
pub struct DetachedGunzip {
    steps: Receiver<Step>,
    empty: Sender<Box<[u8]>>,
    buffer: Box<[u8]>,
    fresh: Range<usize>,
    checker: Checker,
    is_end: bool,
    fault: Option<Fault>,
    source_fault: Option<io::Error>,
}

impl DetachedGunzip {
    /// Reads a stream on a thread of `scope`, which ends soon after this reader. Its restart points go to `slot` at its
    /// end.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        reader: impl BufRead + Send + 'scope,
        slot: Option<PointsSlot>,
    ) -> io::Result<Self> {
        let (sender, steps) = bounded(AHEAD);
        let (empty, used) = bounded(AHEAD);
        let inflater = Inflater::new(reader, slot.as_ref());
        let builder = Builder::new().name("inflate".to_owned());
        builder.spawn_scoped(scope, move || {
            // The reader finds that it ended too early.
            crate::jobs::catch_panic(|| decode(inflater, &sender, &used)).unwrap_or_default();
        })?;
        Ok(Self {
            steps,
            empty,
            buffer: Box::default(),
            fresh: 0..0,
            checker: Checker::new(slot),
            is_end: false,
            fault: None,
            source_fault: None,
        })
    }

    /// Takes the next step; all bytes before were read.
    fn advance(&mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            let of_source = self.source_fault.take();
            return Err(of_source.filter(|_| fault == Fault::Gone).unwrap_or_else(|| fault.error()));
        }
        let step = self.steps.recv().map_err(|_| io::Error::other(BROKEN))?;
        let used = std::mem::replace(&mut self.buffer, step.buffer);
        if !used.is_empty() {
            self.empty.try_send(used).ok();
        }
        self.fresh = step.fresh;
        self.source_fault = step.source_fault;
        match self.checker.check(&self.buffer[self.fresh.clone()], &self.buffer[step.history], step.stopped) {
            Ok(is_end) => self.is_end = is_end,
            Err(fault) => self.fault = Some(fault),
        }
        Ok(())
    }
}

/// Decodes to the end, to a fault, or until the reader is gone.
fn decode<R: BufRead>(mut inflater: Inflater<R>, steps: &Sender<Step>, used: &Receiver<Box<[u8]>>) {
    loop {
        let stopped = inflater.step();
        let source_fault = inflater.source_fault();
        let history = inflater.output.history_range();
        let next = used.try_recv().unwrap_or_else(|_| vec![0; LENGTH].into_boxed_slice());
        let (buffer, fresh) = inflater.output.swap(next);
        let step = Step { buffer, fresh, history, stopped, source_fault };
        if steps.send(step).is_err() || matches!(stopped.0, Ok(Stop::End) | Err(_)) {
            return;
        }
    }
}

impl BufRead for DetachedGunzip {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.fresh.is_empty() && !self.is_end {
            self.advance()?;
        }
        Ok(&self.buffer[self.fresh.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.fresh.start = (self.fresh.start + count).min(self.fresh.end);
    }
}

impl Read for DetachedGunzip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
