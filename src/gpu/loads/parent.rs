//! Sends containers to the child, and starts it again when it ended.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::super::ending::signal_name;
use super::super::parent::this_program;
use super::super::reader::Tail;
use super::protocol::{CONTAINER_BYTES, Reply};
use super::value::LoadOutcome;
use crate::jobs::{CancelToken, Cancelled, spawn};

/// Bytes of an answer. The longest is an error with the driver's words.
const REPLY_BYTES: u64 = 16 << 10;
/// Children that end, or are ended, before the driver is called faulty.
const MOST_ENDINGS: u32 = 1000;
/// Polling interval of cancellation.
const TICK: Duration = Duration::from_millis(50);
/// Time limit for a child that closed its output to be gone.
const GONE: Duration = Duration::from_secs(2);

/// How containers are loaded.
#[derive(Clone, Debug)]
pub struct LoaderRequest {
    /// This program, which is also the child's.
    pub executable: PathBuf,
    /// The device; `None` for the first.
    pub device: Option<u32>,
    /// The library to open instead of `libcuda.so.1`, in tests.
    pub library: Option<PathBuf>,
    /// Time limit of one container, and of starting a child.
    pub limit: Duration,
}

impl LoaderRequest {
    /// Default time limit: the largest containers take a second.
    pub const LIMIT: Duration = Duration::from_mins(1);

    /// A request that runs this program.
    ///
    /// # Errors
    /// The system does not report the path of this program.
    pub fn new(device: Option<u32>, library: Option<PathBuf>) -> std::io::Result<Self> {
        Ok(Self { executable: this_program()?, device, library, limit: Self::LIMIT })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(["gpu", "--loader"]);
        if let Some(device) = self.device {
            command.args(["--device", &device.to_string()]);
        }
        if let Some(library) = &self.library {
            command.arg("--library").arg(library);
        }
        // Lazily, the driver would look at a container only when a kernel of it is asked for.
        command.env("CUDA_MODULE_LOADING", "EAGER").env("CUDA_CACHE_DISABLE", "1");
        // cuFFT alone has thousands of containers with nothing but PTX, half an hour of compiling.
        command.env("CUDA_DISABLE_PTX_JIT", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Why nothing can be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoaderError {
    /// The child cannot be started.
    #[error("cannot start the process that loads GPU code: {0}")]
    Start(std::io::Error),
    /// The driver cannot be used.
    #[error("the CUDA driver cannot load GPU code: {0}")]
    Unusable(String),
    /// Cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Cancelled> for LoaderError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Loads containers, one at a time. Memory is bounded: a container is held by the child only.
#[derive(Debug)]
pub struct Loader {
    request: LoaderRequest,
    cancel: CancelToken,
    child: Option<Running>,
    device: String,
    endings: u32,
    /// What is known of the container that is being sent.
    outcome: Option<LoadOutcome>,
}

impl Loader {
    /// Starts a child and waits until the driver is open.
    ///
    /// # Errors
    /// No child, no driver, no device.
    pub fn start(request: LoaderRequest, cancel: &CancelToken) -> Result<Self, LoaderError> {
        let (device, cancel) = (String::new(), cancel.clone());
        let mut loader = Self { request, cancel, child: None, device, endings: 0, outcome: None };
        loader.again()?;
        Ok(loader)
    }

    /// Name of the device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Begins a container of `bytes` bytes.
    ///
    /// # Errors
    /// A child cannot be started again, or too many ended; cancelled.
    pub fn begin(&mut self, bytes: u64) -> Result<(), LoaderError> {
        self.outcome = None;
        if bytes > CONTAINER_BYTES {
            self.outcome = Some(LoadOutcome::TooLarge);
            return Ok(());
        }
        let ended = self.child.as_mut().is_none_or(Running::ended);
        if ended {
            self.again()?;
        }
        self.send(bytes.to_le_bytes().to_vec());
        Ok(())
    }

    /// The next bytes of the container.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.outcome.is_none() && !bytes.is_empty() {
            self.send(bytes.to_vec());
        }
    }

    /// What the driver made of the container, all of whose bytes were pushed.
    ///
    /// # Errors
    /// The driver became unusable; cancelled.
    pub fn end(&mut self) -> Result<LoadOutcome, LoaderError> {
        if let Some(outcome) = self.outcome.take() {
            self.cancel.check()?;
            return Ok(outcome);
        }
        let (limit, cancel) = (self.request.limit, self.cancel.clone());
        let Some(child) = &mut self.child else { return Err(LoaderError::Cancelled) };
        let outcome = match child.reply(limit, &cancel)? {
            Heard::Reply(Reply::Loaded) => return Ok(LoadOutcome::Loaded),
            Heard::Reply(Reply::Refused { code: LoadOutcome::NO_CODE, .. }) => {
                return Ok(LoadOutcome::NoCode);
            }
            Heard::Reply(Reply::Refused { code: LoadOutcome::NEEDS_JIT, .. }) => return Ok(LoadOutcome::Jit),
            Heard::Reply(Reply::Refused { code, call, ends }) => {
                if ends {
                    // It may not be gone yet, and would not read the next container.
                    self.child = None;
                }
                return Ok(LoadOutcome::Refused(code, call));
            }
            Heard::Reply(Reply::Unusable(why)) => return Err(LoaderError::Unusable(why)),
            Heard::Reply(Reply::Ready(_)) => LoadOutcome::Crashed("it answered out of turn".to_owned()),
            Heard::End(how) => LoadOutcome::Crashed(how),
            Heard::Nothing => LoadOutcome::TimedOut,
        };
        self.child = None;
        Ok(outcome)
    }

    fn send(&mut self, bytes: Vec<u8>) {
        let Some(child) = &mut self.child else { return };
        let Some(input) = &child.input else { return };
        // The child reads a container whole before it calls the driver: one that does not read is stopped, and one that
        // ended is noticed when its answer is missing.
        if matches!(
            input.send_timeout(bytes, self.request.limit),
            Err(crossbeam_channel::SendTimeoutError::Timeout(_))
        ) {
            self.outcome = Some(LoadOutcome::TimedOut);
            self.child = None;
        }
    }

    fn again(&mut self) -> Result<(), LoaderError> {
        self.cancel.check()?;
        self.endings += 1;
        if self.endings > MOST_ENDINGS {
            let why = format!("its process ended {MOST_ENDINGS} times");
            return Err(LoaderError::Unusable(why));
        }
        self.child = None;
        let mut child = Running::start(&self.request).map_err(LoaderError::Start)?;
        match child.reply(self.request.limit, &self.cancel)? {
            Heard::Reply(Reply::Ready(device)) => self.device = device,
            Heard::Reply(Reply::Unusable(why)) => return Err(LoaderError::Unusable(why)),
            Heard::Reply(_) => return Err(LoaderError::Unusable("it answered out of turn".to_owned())),
            Heard::End(how) => return Err(LoaderError::Unusable(how)),
            Heard::Nothing => {
                let seconds = self.request.limit.as_secs_f64();
                return Err(LoaderError::Unusable(format!("it did not start within {seconds} s")));
            }
        }
        self.child = Some(child);
        Ok(())
    }
}

/// What came of waiting for an answer.
enum Heard {
    Reply(Reply),
    /// The child ended: how.
    End(String),
    Nothing,
}

/// A child, and the threads at its pipes. It is killed when this is dropped.
#[derive(Debug)]
struct Running {
    child: Child,
    /// Closed, the child ends.
    input: Option<Sender<Vec<u8>>>,
    replies: Receiver<Reply>,
    tail: Tail,
}

impl Running {
    fn start(request: &LoaderRequest) -> std::io::Result<Self> {
        let mut child = request.command().spawn()?;
        let (input, chunks) = bounded::<Vec<u8>>(4);
        let (answers, replies) = bounded(4);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tail = Tail::default();
        let filled = tail.clone();
        // From here on, an early return kills the child.
        let running = Self { child, input: Some(input), replies, tail };
        spawn("loader-stdin", move || {
            let Some(mut stdin) = stdin else { return };
            // A child that is gone is noticed when its answer is missing.
            for chunk in chunks {
                if stdin.write_all(&chunk).is_err() {
                    return;
                }
            }
        })?;
        spawn("loader-stdout", move || stdout.into_iter().for_each(|pipe| read(pipe, &answers)))?;
        spawn("loader-stderr", move || stderr.into_iter().for_each(|pipe| filled.fill(pipe)))?;
        Ok(running)
    }

    fn ended(&mut self) -> bool {
        // After an error that its context does not survive, a child answers and ends.
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    fn reply(&mut self, limit: Duration, cancel: &CancelToken) -> Result<Heard, Cancelled> {
        let until = Instant::now().checked_add(limit);
        loop {
            cancel.check()?;
            match self.replies.recv_timeout(TICK) {
                Ok(reply) => return Ok(Heard::Reply(reply)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Heard::End(self.how())),
                Err(RecvTimeoutError::Timeout) if until.is_some_and(|until| Instant::now() >= until) => {
                    return Ok(Heard::Nothing);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// How the child ended, whose output is closed.
    fn how(&mut self) -> String {
        let until = Instant::now() + GONE;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                _ => break None,
            }
        };
        let how = match status.map(|status| (status.signal(), status.code())) {
            Some((Some(signal), _)) => format!("killed by {}", signal_name(signal)),
            Some((None, Some(code))) => format!("ended with exit code {code}"),
            _ => "closed its output".to_owned(),
        };
        let last = self.tail.text();
        let last = last.as_deref().and_then(|text| text.lines().last()).filter(|line| !line.is_empty());
        last.map_or_else(|| how.clone(), |line| format!("{how}: {line}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input = None;
        // Fails only if it is gone already.
        self.child.kill().ok();
        let until = Instant::now() + GONE;
        // One that the kernel cannot end stays a zombie until this program ends.
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Passes answers on until the end, or to a line that is too long. What a driver prints is none.
fn read(pipe: ChildStdout, to: &Sender<Reply>) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = pipe.by_ref().take(REPLY_BYTES).read_until(b'\n', &mut line);
        if !matches!(count, Ok(1..)) || !line.ends_with(b"\n") {
            return;
        }
        if let Some(reply) = Reply::parse(&line)
            && to.send(reply).is_err()
        {
            return;
        }
    }
}
