//! Builds a check from the messages of a child.

use std::time::{Duration, Instant};

use super::protocol::Message;
use super::{Check, Depth, Device, GpuError, KernelVerdict, Stage, Step};
use crate::base::text::sentence;

/// Maximum steps, notes, devices and locations stored. Eight GPUs take about a hundred steps; a machine has some dozens
/// of GPUs at most.
const KEPT: usize = 2_000;

/// A check in progress.
pub(super) struct Merge {
    /// The result so far.
    pub(super) check: Check,
    /// The current step.
    open: Option<(Stage, Option<u32>, Instant)>,
    /// Whether the child reported its end.
    pub(super) ended: bool,
    /// Whether any message arrived.
    heard: bool,
    start: Instant,
}

impl Merge {
    pub(super) fn new(start: Instant) -> Self {
        let open = Some((Stage::Start, None, start));
        Self { check: Check::default(), open, ended: false, heard: false, start }
    }

    /// Applies one message; returns whether the visible state changed.
    pub(super) fn take(&mut self, message: Message) -> bool {
        let now = Instant::now();
        if !self.heard {
            self.heard = true;
            self.close(now, true);
        }
        let check = &mut self.check;
        match message {
            Message::Begin { stage, device } => {
                self.open = Some((stage, device, now));
                return false;
            }
            Message::Step(step) => {
                self.open = None;
                push(&mut check.steps, step);
                return true;
            }
            Message::Tried(tried) => match check.tried.iter_mut().find(|known| known.path == tried.path) {
                Some(known) => *known = tried,
                None => push(&mut check.tried, tried),
            },
            Message::Driver(driver) => check.driver = Some(driver),
            Message::Device(device) => {
                match check.devices.iter_mut().find(|known| known.index == device.index) {
                    Some(known) => *known = *device,
                    None => push(&mut check.devices, *device),
                }
                return true;
            }
            Message::Note(note) => push(&mut check.notes, note),
            Message::Error(error) => self.error(*error),
            Message::End => self.ended = true,
        }
        false
    }

    /// The current step, or the last one, with its device.
    pub(super) fn stage(&self) -> (Stage, Option<u32>) {
        let open = self.open.map(|(stage, device, _)| (stage, device));
        let last = || self.check.steps.last().map(|step| (step.name, step.device));
        open.or_else(last).unwrap_or((Stage::Start, None))
    }

    /// Records that the child ended abnormally: its current step failed.
    pub(super) fn fail(&mut self, name: &str, message: String, hint: Option<String>, log: Option<String>) {
        let (stage, device) = self.stage();
        if self.open.is_none() {
            // It ended between two steps, while resources of the last one were released.
            self.check.steps.last_mut().into_iter().for_each(|step| step.ok = false);
        }
        self.close(Instant::now(), false);
        // The kernel of the current device did not finish.
        let kernel =
            matches!(stage, Stage::Context | Stage::Module | Stage::Memory | Stage::Launch | Stage::Verify);
        let passed = |known: &Device| known.kernel_check.verdict == KernelVerdict::Pass;
        let mut devices = self.check.devices.iter_mut();
        if let Some(device) = devices.find(|known| Some(known.index) == device && kernel && !passed(known)) {
            device.kernel_check.verdict = KernelVerdict::Fail;
        }
        let error = GpuError {
            stage: stage.as_str().to_owned(),
            code: None,
            name: name.to_owned(),
            message,
            hint,
            log,
        };
        self.error(error);
    }

    /// The first error is stored; later ones become notes.
    fn error(&mut self, error: GpuError) {
        match &self.check.error {
            Some(_) => push(&mut self.check.notes, sentence(&error.message)),
            None => self.check.error = Some(error),
        }
    }

    /// The final check.
    pub(super) fn finish(mut self, depth: Depth) -> Check {
        let check = &mut self.check;
        // A failure on one device does not affect another; a failure without a device affects all.
        let failed = check.steps.iter().any(|step| !step.ok && step.device.is_none());
        check.available = match depth {
            Depth::Library => false,
            Depth::Devices => !check.devices.is_empty() && check.error.is_none(),
            Depth::Full => !failed && check.devices.iter().any(|device| check.works(device)),
        };
        check.total_us = micros(self.start.elapsed());
        self.check
    }

    fn close(&mut self, now: Instant, ok: bool) {
        let Some((name, device, since)) = self.open.take() else { return };
        let us = micros(now.saturating_duration_since(since));
        push(&mut self.check.steps, Step { name, ok, us, device, detail: None });
    }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() < KEPT {
        list.push(item);
    }
}

/// Whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::Merge;
    use crate::gpu::protocol::Message;
    use crate::gpu::{Depth, Device, GpuError, KernelCheck, KernelVerdict, Stage, Step};

    fn begin(stage: Stage, device: Option<u32>) -> Message {
        Message::Begin { stage, device }
    }

    fn done(name: Stage, device: Option<u32>) -> Message {
        Message::Step(Step { name, ok: true, us: 1, device, detail: None })
    }

    fn device(index: u32, verdict: KernelVerdict) -> Message {
        let kernel_check = KernelCheck { verdict, ..KernelCheck::default() };
        Message::Device(Box::new(Device { index, kernel_check, ..Device::default() }))
    }

    fn merged(messages: Vec<Message>) -> Merge {
        let mut merge = Merge::new(Instant::now());
        for message in messages {
            merge.take(message);
        }
        merge
    }

    #[test]
    fn a_step_that_never_ended_is_the_one_that_failed() {
        let mut merge = merged(vec![
            begin(Stage::Library, None),
            done(Stage::Library, None),
            device(1, KernelVerdict::Skipped),
            begin(Stage::Launch, Some(1)),
        ]);
        merge.fail("crashed", "it crashed".into(), None, None);
        let check = merge.finish(Depth::Full);
        let steps: Vec<_> = check.steps.iter().map(|step| (step.name, step.ok, step.device)).collect();
        let expected =
            [(Stage::Start, true, None), (Stage::Library, true, None), (Stage::Launch, false, Some(1))];
        assert_eq!(steps, expected);
        assert_eq!(check.error.map(|error| error.stage).as_deref(), Some("launch"));
        assert_eq!(check.devices[0].kernel_check.verdict, KernelVerdict::Fail);
        assert!(!check.available);
    }

    #[test]
    fn a_child_that_says_nothing_fails_at_its_start() {
        let mut merge = merged(Vec::new());
        merge.fail("no-answer", "nothing".into(), None, None);
        let check = merge.finish(Depth::Full);
        assert_eq!(check.steps.len(), 1);
        assert_eq!((check.steps[0].name, check.steps[0].ok), (Stage::Start, false));
    }

    #[test]
    fn a_gpu_is_available_when_all_that_was_done_on_it_was_right() {
        let failed = |name, device| {
            vec![begin(name, device), Message::Step(Step { name, ok: false, us: 1, device, detail: None })]
        };
        let passed = |more: Vec<Message>| {
            let devices = vec![device(0, KernelVerdict::Skipped), device(1, KernelVerdict::Pass)];
            merged(devices.into_iter().chain(more).collect()).finish(Depth::Full).available
        };
        assert!(passed(Vec::new()));
        assert!(passed(failed(Stage::Module, Some(0))), "the other one works");
        assert!(!passed(failed(Stage::GraphCapture, Some(1))));
        assert!(!passed(failed(Stage::Devices, None)));
        assert!(!merged(vec![device(0, KernelVerdict::Skipped)]).finish(Depth::Full).available);
        assert!(merged(vec![device(0, KernelVerdict::Skipped)]).finish(Depth::Devices).available);
    }

    #[test]
    fn of_several_errors_the_first_is_told() {
        let error =
            |name: &str| Message::Error(Box::new(GpuError { name: name.into(), ..GpuError::default() }));
        let check = merged(vec![error("first"), error("second")]).finish(Depth::Full);
        assert_eq!(check.error.map(|error| error.name).as_deref(), Some("first"));
        assert_eq!(check.notes.len(), 1);
    }
}
