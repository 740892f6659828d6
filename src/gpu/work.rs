//! A running check: its request, its steps, and how they are reported.

use std::path::PathBuf;
use std::time::Instant;

use super::advice::explain;
use super::api::Cuda;
use super::fault::Fault;
use super::machine::Machine;
use super::merge::micros;
use super::protocol::{Message, MessageWriter};
use super::{Depth, Stage, Step};

/// Parameters of a child.
#[derive(Clone, Debug, Default)]
pub struct ChildRequest {
    /// How far to check.
    pub depth: Depth,
    /// The only device to check; `None` for all.
    pub device: Option<u32>,
    /// Whether to measure copies too.
    pub bandwidth: bool,
    /// The library to open instead of `libcuda.so.1`, in tests.
    pub library: Option<PathBuf>,
}

/// A step failed, and the failure was reported.
pub(super) struct Failed;

/// A failed step that is not reported yet.
pub(super) struct Attempt {
    pub(super) fault: Fault,
    step: Step,
}

/// A running check.
pub(super) struct Work {
    pub(super) writer: MessageWriter,
    pub(super) machine: Machine,
    /// The driver, for its error descriptions.
    pub(super) cuda: Option<&'static Cuda>,
}

impl Work {
    pub(super) fn tell(&mut self, message: &Message) {
        // Without a reader, the parent ends this process, or it ends soon.
        self.writer.tell(message);
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.tell(&Message::Note(note.into()));
    }

    /// Runs one step and reports its result. The value that `work` returns is the detail of the step.
    pub(super) fn step<T>(
        &mut self,
        name: Stage,
        device: Option<u32>,
        work: impl FnOnce(&mut Self) -> Result<(T, Option<String>), Fault>,
    ) -> Result<T, Failed> {
        self.attempt(name, device, work).map_err(|attempt| self.fail(attempt))
    }

    /// Runs one step; the caller reports a fault.
    pub(super) fn attempt<T>(
        &mut self,
        name: Stage,
        device: Option<u32>,
        work: impl FnOnce(&mut Self) -> Result<(T, Option<String>), Fault>,
    ) -> Result<T, Attempt> {
        self.tell(&Message::Begin { stage: name, device });
        let start = Instant::now();
        let done = work(self);
        let us = micros(start.elapsed());
        match done {
            Ok((result, detail)) => {
                self.tell(&Message::Step(Step { name, ok: true, us, device, detail }));
                Ok(result)
            }
            Err(fault) => Err(Attempt { fault, step: Step { name, ok: false, us, device, detail: None } }),
        }
    }

    /// Reports why a step failed, before resources are released, because that may hang.
    pub(super) fn fail(&mut self, Attempt { fault, step }: Attempt) -> Failed {
        // The driver creates device nodes itself if it can: the state before it started is outdated.
        self.machine.probe_again();
        let error = explain(&fault, (step.name, step.device), &self.machine, self.cuda);
        self.tell(&Message::Error(Box::new(error)));
        self.tell(&Message::Step(step));
        Failed
    }
}
