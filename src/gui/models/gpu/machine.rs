//! The check of this machine's GPU: one for the whole window, whatever images are open.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::steps::RequestedCheck;
use crate::cuda::compat::HostDevice;
use crate::gpu::{self, Check, CheckRequest, ChildRequest, Depth, GpuError, History, KernelVerdict, Run};
use crate::jobs::{CancelToken, Slot, Waker, catch_panic, spawn};

/// What carries a check out: [`gpu::check`], or something else in tests.
pub type Checker = Arc<dyn Fn(&CheckRequest, &CancelToken, &mut dyn FnMut(&Check)) -> Check + Send + Sync>;

/// How checks are made, and where they are remembered.
#[derive(Clone)]
pub struct MachineSetup {
    /// What carries a check out.
    pub checker: Checker,
    /// The program that is started as the child; `None` for this one.
    pub executable: Option<PathBuf>,
    /// The library to open instead of `libcuda.so.1`, for tests.
    pub library: Option<PathBuf>,
    /// The file that keeps earlier checks; `None` to keep none.
    pub history: Option<PathBuf>,
    /// Seconds since 1970.
    pub clock: fn() -> u64,
}

impl Default for MachineSetup {
    fn default() -> Self {
        Self {
            checker: Arc::new(|request, cancel, news| gpu::check(request, cancel, news)),
            executable: None,
            library: None,
            history: None,
            clock: || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }
}

/// What the user chose for the next check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Whether copies are timed.
    pub bandwidth: bool,
    /// The only device to check; `None` for all.
    pub device: Option<u32>,
}

/// A message from a worker.
struct CheckMessage {
    check: Check,
    ended: bool,
    /// The earlier runs, when they were read or changed, and what went wrong with that.
    runs: Option<(Vec<Run>, Option<String>)>,
}

/// A check under way.
struct Work {
    requested: RequestedCheck,
    cancel: CancelToken,
    slot: Slot<CheckMessage>,
    seen: u64,
    /// What is known so far.
    latest: Check,
    stopping: bool,
}

/// This machine's GPU as far as it is known, and the check that finds out more.
#[derive(Default)]
pub struct Machine {
    setup: MachineSetup,
    /// What the next check is to do.
    pub asked: CheckOptions,
    work: Option<Work>,
    looked: bool,
    library: Option<Arc<Check>>,
    check: Option<Arc<Check>>,
    /// Whether that check was stopped by the user.
    stopped: bool,
    runs: Vec<Run>,
    runs_fault: Option<String>,
    past: Option<usize>,
    generation: u64,
}

impl Machine {
    /// Nothing is known yet, and nothing is done.
    pub fn new(setup: MachineSetup) -> Self {
        Self { setup, ..Self::default() }
    }

    /// Looks for the driver's library, once: no call into CUDA, in a process of its own.
    pub fn look(&mut self, waker: &Waker) {
        if !std::mem::replace(&mut self.looked, true) && self.work.is_none() {
            self.start(RequestedCheck { depth: Depth::Library, ..RequestedCheck::default() }, waker);
        }
    }

    /// Runs the whole check.
    pub fn run(&mut self, waker: &Waker) {
        if self.is_checking() {
            return;
        }
        self.looked = true;
        self.past = None;
        let CheckOptions { bandwidth, device } = self.asked;
        self.start(RequestedCheck { depth: Depth::Full, bandwidth, device }, waker);
    }

    /// Stops the check; what was found until then stays.
    pub fn stop(&mut self) {
        if let Some(work) = &mut self.work {
            work.cancel.cancel();
            work.stopping = true;
        }
    }

    fn start(&mut self, requested: RequestedCheck, waker: &Waker) {
        self.stop();
        let (slot, cancel) = (Slot::new(Some(Arc::clone(waker))), CancelToken::new());
        let (out, token, setup) = (slot.clone(), cancel.clone(), self.setup.clone());
        let started = spawn("gpu check", move || {
            let step = |check: &Check| {
                out.publish(Arc::new(CheckMessage { check: check.clone(), ended: false, runs: None }));
            };
            let check = carry_out(&setup, requested, &token, step);
            let runs = setup.history.as_ref().map(|path| {
                let (mut history, mut fault) = History::load(path);
                if requested.depth == Depth::Full && !token.is_cancelled() {
                    let run = Run { unix_seconds: (setup.clock)(), check: check.clone() };
                    let added = history.add(path, run);
                    fault = added.err().map(|error| format!("cannot save this check: {error}"));
                }
                (history.runs, fault)
            });
            out.publish(Arc::new(CheckMessage { check, ended: true, runs }));
        });
        if let Err(error) = started {
            let check = failed(&format!("cannot start a thread: {error}"));
            slot.publish(Arc::new(CheckMessage { check, ended: true, runs: None }));
        }
        let latest = Check::default();
        self.work = Some(Work { requested, cancel, slot, seen: 0, latest, stopping: false });
    }

    /// Applies updates; returns whether there were any.
    pub fn poll(&mut self) -> bool {
        let Some(work) = &mut self.work else { return false };
        let Some((seen, news)) = work.slot.newest() else { return false };
        if seen == work.seen {
            return false;
        }
        work.seen = seen;
        work.latest = news.check.clone();
        if !news.ended {
            return true;
        }
        let (requested, stopped) = (work.requested, work.stopping);
        self.work = None;
        if let Some((runs, fault)) = &news.runs {
            (self.runs, self.runs_fault) = (runs.clone(), fault.clone());
        }
        let check = Arc::new(if stopped { as_stopped(&news.check) } else { news.check.clone() });
        if requested.depth == Depth::Library {
            self.library = Some(check);
        } else {
            (self.check, self.stopped) = (Some(check), stopped);
            self.generation += 1;
        }
        true
    }

    /// Whether a whole check is under way.
    pub fn is_checking(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.requested.depth == Depth::Full)
    }

    /// Whether anything is under way.
    pub fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Whether the check under way was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.stopping)
    }

    /// The check under way as far as it has come, and what it was asked for.
    pub fn running(&self) -> Option<(&Check, RequestedCheck)> {
        self.work
            .as_ref()
            .filter(|work| work.requested.depth == Depth::Full)
            .map(|work| (&work.latest, work.requested))
    }

    /// What looking for the driver's library gave; `None` while it is looked for.
    pub fn library(&self) -> Option<&Check> {
        self.check.as_deref().filter(|_| !self.stopped).or(self.library.as_deref())
    }

    /// The check to show: an earlier one where one was chosen, else the last one.
    pub fn shown(&self) -> Option<&Check> {
        match self.past() {
            Some(run) => Some(&run.check),
            None => self.check.as_deref(),
        }
    }

    /// Whether what is shown was stopped before its end.
    pub fn was_stopped(&self) -> bool {
        self.stopped && self.past.is_none()
    }

    /// The earlier run that is shown.
    pub fn past(&self) -> Option<&Run> {
        self.runs.get(self.past?)
    }

    /// The line of the earlier run that is shown, the newest first.
    pub fn past_line(&self) -> Option<usize> {
        self.runs.len().checked_sub(self.past? + 1)
    }

    /// Shows an earlier run by its line, the newest first; `None` for the last check again.
    pub fn show_past(&mut self, line: Option<usize>) {
        self.past = line.and_then(|line| self.runs.len().checked_sub(line + 1));
    }

    /// Earlier runs, the oldest first.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Why earlier runs are not there, or the last one was not kept.
    pub fn runs_fault(&self) -> Option<&str> {
        self.runs_fault.as_deref()
    }

    /// Forgets all earlier runs, on the disk as well.
    pub fn clear_runs(&mut self) {
        (self.past, self.runs_fault) = (None, None);
        let Some(path) = self.setup.history.clone() else { return };
        // One small file: quicker than a thread.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                self.runs_fault = Some(format!("cannot delete {}: {error}", path.display()));
            }
            _ => self.runs.clear(),
        }
    }

    /// Devices to choose from, by number and name.
    pub fn choices(&self) -> Vec<(u32, String)> {
        let newest = self.check.as_deref().into_iter().chain(self.runs.last().map(|run| &run.check));
        let known = newest.map(|check| &check.devices).find(|devices| !devices.is_empty());
        let name = |device: &gpu::Device| (device.index, crate::base::text::printable(&device.name));
        known.map(|devices| devices.iter().map(name).collect()).unwrap_or_default()
    }

    /// The GPUs to judge images against: those of the last check.
    pub fn devices(&self) -> Vec<HostDevice> {
        let Some(check) = self.check.as_deref() else { return Vec::new() };
        let driver = check.driver.clone().unwrap_or_default();
        let device = |device: &gpu::Device| HostDevice {
            index: device.index,
            name: device.name.clone(),
            compute_capability: device.compute_capability.clone(),
            memory_bytes: device.memory_bytes,
            brand: device.nvml.as_ref().and_then(|nvml| nvml.brand.clone()),
            driver: driver.version.clone(),
            cuda: driver.cuda_version.clone(),
        };
        check.devices.iter().map(device).collect()
    }

    /// Whether a check listed the GPUs.
    pub fn is_known(&self) -> bool {
        self.check.is_some() && !self.stopped
    }

    /// Grows whenever [`Self::devices`] may be others.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn carry_out(
    setup: &MachineSetup,
    requested: RequestedCheck,
    cancel: &CancelToken,
    mut step: impl FnMut(&Check),
) -> Check {
    let RequestedCheck { depth, bandwidth, device } = requested;
    let child = ChildRequest { depth, device, bandwidth, library: setup.library.clone() };
    let mut request = match CheckRequest::new(child) {
        Ok(request) => request,
        Err(error) => return failed(&format!("cannot find the cutaway executable: {error}")),
    };
    if let Some(executable) = &setup.executable {
        request.executable.clone_from(executable);
    }
    match catch_panic(|| (setup.checker)(&request, cancel, &mut step)) {
        Ok(check) => check,
        Err(panic) => failed(&format!("internal error in cutaway, please report it: {panic}")),
    }
}

/// The steps before a check was stopped: ending its child process is not an error.
fn as_stopped(check: &Check) -> Check {
    let mut check = Check { error: None, ..check.clone() };
    check.steps.retain(|step| step.ok);
    for kernel in check.devices.iter_mut().map(|device| &mut device.kernel_check) {
        if kernel.verdict == KernelVerdict::Fail && kernel.elements.is_none() {
            kernel.verdict = KernelVerdict::Skipped;
        }
    }
    check
}

/// A check that did not come to be.
fn failed(message: &str) -> Check {
    let error = GpuError {
        stage: gpu::Stage::Start.as_str().to_owned(),
        name: "cannot-start".to_owned(),
        message: message.to_owned(),
        ..GpuError::default()
    };
    Check { error: Some(error), ..Check::default() }
}
