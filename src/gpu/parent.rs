//! Starts a child, reads its messages, and ends it at the time limit.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::ending::{Ending, blame};
use super::merge::Merge;
use super::protocol::Message;
use super::reader::{Output, Tail, lines};
use super::{Check, ChildRequest};
use crate::jobs::{CancelToken, spawn};

/// Polling interval of a child.
const TICK: Duration = Duration::from_millis(20);
/// Time limit for a child to exit after its last message: drivers clean up when a process ends.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// Time limit for a killed child to disappear.
const REAP: Duration = Duration::from_secs(2);
/// Time limit for the rest of its output after it has ended: a process that it started may keep the pipe open.
const REST: Duration = Duration::from_secs(1);

/// A check and the program that runs it.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// This program, which is also the child's.
    pub executable: PathBuf,
    /// Parameters of the child.
    pub child: ChildRequest,
    /// Time limit.
    pub limit: Duration,
}

impl CheckRequest {
    /// Default time limit: over ten times the duration on a healthy machine; drivers that load at first use take
    /// seconds.
    pub const LIMIT: Duration = Duration::from_mins(1);

    /// A request that runs this program.
    ///
    /// # Errors
    /// The system does not report the path of this program.
    pub fn new(child: ChildRequest) -> std::io::Result<Self> {
        Ok(Self { executable: this_program()?, child, limit: Self::LIMIT })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(["gpu", "--child", self.child.depth.as_str()]);
        if let Some(device) = self.child.device {
            command.args(["--device", &device.to_string()]);
        }
        if self.child.bandwidth {
            command.arg("--bandwidth");
        }
        if let Some(library) = &self.child.library {
            command.arg("--library").arg(library);
        }
        // The kernel must be compiled each time: that is part of the check, and leaves no files in the user's home.
        command.env("CUDA_CACHE_DISABLE", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// The file of this program.
pub(super) fn this_program() -> std::io::Result<PathBuf> {
    // The kernel's link is this very file, even after an update has replaced it.
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.to_owned()) } else { std::env::current_exe() }
}

/// Runs a check in a child process and waits for it. Calls `news` with the state after each step. Returns within the
/// time limit and three seconds, or as soon after `cancel`, whatever the child does.
pub fn check(request: &CheckRequest, cancel: &CancelToken, news: &mut dyn FnMut(&Check)) -> Check {
    let start = Instant::now();
    let mut merge = Merge::new(start);
    match Running::start(request) {
        Err(error) => blame(&mut merge, &Ending::CannotStart(error), None, None),
        Ok(mut running) => {
            let deadline = start.checked_add(request.limit);
            let ending = running.watch(&mut merge, deadline, request.limit, cancel, news);
            if !running.gone() {
                merge.check.notes.push(STUCK.to_owned());
            }
            running.rest(&mut merge, news);
            blame(&mut merge, &ending, running.strange.as_deref(), running.tail.text());
            running.leave();
        }
    }
    let check = merge.finish(request.child.depth);
    news(&check);
    check
}

const STUCK: &str = "The check process cannot be stopped: it is blocked in the kernel, probably in the driver. It ends \
    when the driver returns, or at the next reboot.";

/// A child and its pipes.
struct Running {
    child: Child,
    output: Receiver<Output>,
    tail: Tail,
    /// The first line of output that is not a message.
    strange: Option<String>,
}

impl Running {
    fn start(request: &CheckRequest) -> std::io::Result<Self> {
        let mut child = request.command().spawn()?;
        let (sender, output) = channel();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let tail = Tail::default();
        // The channel closes with both pipes, so the last output of a child is waited for too.
        let (filled, open) = (tail.clone(), sender.clone());
        // Detached threads: another process may keep the pipes open forever.
        let read = spawn("gpu-stdout", move || stdout.into_iter().for_each(|pipe| lines(pipe, &sender)));
        let read = read.and(spawn("gpu-stderr", move || {
            if let Some(pipe) = stderr {
                filled.fill(pipe);
            }
            drop(open);
        }));
        let mut running = Self { child, output, tail, strange: None };
        if let Err(error) = read {
            running.kill();
            running.gone();
            return Err(error);
        }
        Ok(running)
    }

    /// Receives messages until the child ends.
    fn watch(
        &mut self,
        merge: &mut Merge,
        deadline: Option<Instant>,
        limit: Duration,
        cancel: &CancelToken,
        news: &mut dyn FnMut(&Check),
    ) -> Ending {
        let mut told = None;
        loop {
            let too_much = match self.output.recv_timeout(TICK) {
                Ok(output) => self.take(output, merge, news),
                Err(RecvTimeoutError::Timeout) => false,
                // It may keep running without its standard output.
                Err(RecvTimeoutError::Disconnected) => {
                    thread::sleep(TICK / 4);
                    false
                }
            };
            let now = Instant::now();
            if merge.ended {
                let since = *told.get_or_insert(now);
                if now.saturating_duration_since(since) > EXIT_LIMIT {
                    self.kill();
                    return Ending::Lingered;
                }
            }
            let ending = if cancel.is_cancelled() {
                Ending::Cancelled
            } else if deadline.is_some_and(|deadline| now >= deadline) {
                if merge.ended { Ending::Lingered } else { Ending::TimedOut(limit) }
            } else if too_much {
                Ending::TooMuch
            } else {
                match self.child.try_wait() {
                    Ok(Some(status)) => return Ending::Ended(status),
                    Ok(None) => continue,
                    Err(error) => Ending::Lost(error),
                }
            };
            self.kill();
            return ending;
        }
    }

    /// Processes one output; returns whether the child must be stopped.
    fn take(&mut self, output: Output, merge: &mut Merge, news: &mut dyn FnMut(&Check)) -> bool {
        match output {
            Output::Line(line) => {
                if let Some(message) = Message::parse(&line) {
                    if merge.take(message) {
                        news(&merge.check);
                    }
                } else {
                    let text = || String::from_utf8_lossy(line.get(..80).unwrap_or(&line)).into_owned();
                    self.strange.get_or_insert_with(text);
                }
            }
            Output::TooLong => {
                self.strange.get_or_insert_with(|| "line longer than 64 KiB".to_owned());
            }
            Output::TooMuch => {
                self.strange.get_or_insert_with(|| "more than 1 MiB of output".to_owned());
                return !merge.ended;
            }
        }
        false
    }

    /// Reads the rest of the pipe.
    fn rest(&mut self, merge: &mut Merge, news: &mut dyn FnMut(&Check)) {
        let until = Instant::now() + REST;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(output) if !left.is_zero() => {
                    self.take(output, merge, news);
                }
                _ => return,
            }
        }
    }

    fn kill(&mut self) {
        // Fails only if the child is gone already.
        self.child.kill().ok();
    }

    /// Waits briefly for the child to exit; returns whether it did.
    fn gone(&mut self) -> bool {
        let until = Instant::now() + REAP;
        loop {
            match self.child.try_wait() {
                Ok(Some(_)) | Err(_) => return true,
                Ok(None) if Instant::now() >= until => return false,
                Ok(None) => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Hands an unkillable child to a thread that waits for it, to avoid a zombie process.
    fn leave(mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            spawn("gpu-reap", move || drop(self.child.wait())).ok();
        }
    }
}
