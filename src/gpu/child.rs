//! The child process: opens the driver library and reports each step on standard output.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::codes::STUB;
use super::fault::Fault;
use super::library::{FOLDERS, NIXOS, OpenDriver, Search};
use super::machine::Machine;
use super::nvml::Management;
use super::protocol::{Message, MessageWriter};
use super::work::{ChildRequest, Failed, Work};
use super::{Depth, Driver, Stage, device};

/// Runs the check in the child. Never called in the process that shows results.
pub fn run(request: &ChildRequest) -> ExitCode {
    let Ok(out) = isolate() else { return ExitCode::FAILURE };
    let mut work = Work { writer: MessageWriter(out), machine: Machine::look(), cuda: None };
    work.machine.asked = request.device;
    // A parent that is gone cannot end this process.
    if !work.writer.tell(&Message::Begin { stage: Stage::Library, device: None }) {
        return ExitCode::FAILURE;
    }
    // Failures were reported where they occurred.
    work.check(request).ok();
    if work.writer.tell(&Message::End) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ends this process with its parent and without a core file. Returns the pipe to the parent.
pub(super) fn isolate() -> io::Result<File> {
    // Where the system refuses these, the parent's time limit still applies.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).ok();
    // A crashing driver maps the memory of all GPUs: no such core file in the user's folder.
    let maximum = getrlimit(Resource::Core).maximum;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum }).ok();
    own_stdout()
}

/// The pipe to the parent. From here on, standard output of libraries goes to standard error.
fn own_stdout() -> io::Result<File> {
    let own = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(own))
}

impl Work {
    fn check(&mut self, request: &ChildRequest) -> Result<(), Failed> {
        let mut search = Search::new(request.library.as_deref());
        let mut found = self.step(Stage::Library, None, |work| {
            let found = work.open(&mut search)?;
            let path = found.path.clone();
            Ok((found, path))
        })?;
        if request.depth == Depth::Library {
            return Ok(());
        }
        self.step(Stage::Init, None, |work| {
            loop {
                match found.cuda.init() {
                    // A stub outside a folder named `stubs` is detected only by its own error code.
                    Err(Fault::Cuda { code: STUB, .. }) => {
                        search.is_stub(&found, &mut |tried| work.tell(&Message::Tried(tried)));
                        // After a stub, the search reports the stub, whatever the other locations were.
                        found =
                            work.open(&mut search).map_err(|_| Fault::Cuda { code: STUB, call: "cuInit" })?;
                    }
                    started => return started.map(|()| ((), None)),
                }
            }
        })?;
        let management = self.driver(&found, request)?;
        let devices = device::list(self, found.cuda, management.as_ref(), request)?;
        if request.depth == Depth::Full {
            if std::env::var_os("CUDA_LAUNCH_BLOCKING").is_some_and(|value| !value.is_empty() && value != "0")
            {
                self.note(BLOCKING);
            }
            device::check_all(self, found.cuda, devices, request);
        }
        Ok(())
    }

    /// Opens the next available library, and reports it.
    fn open(&mut self, search: &mut Search) -> Result<OpenDriver, Fault> {
        let found = search.open(&mut |tried| self.tell(&Message::Tried(tried))).inspect_err(|_| {
            self.machine.nvml = Management::is_there();
        })?;
        self.cuda = Some(found.cuda);
        self.machine.library.clone_from(&found.path);
        self.tell(&Message::Driver(Driver {
            // Until NVML reports it, and for a driver that does not start.
            version: self.machine.module_version.clone(),
            library_path: found.path.clone(),
            found_by: Some(found.by.clone()),
            ..Driver::default()
        }));
        Ok(found)
    }

    fn driver(&mut self, found: &OpenDriver, request: &ChildRequest) -> Result<Option<Management>, Failed> {
        let mut management = None;
        self.step(Stage::Driver, None, |work| {
            let cuda_version = cuda_version(found.cuda.driver_version()?);
            let folder = found.folder.as_deref();
            match Management::open(folder, request.library.is_some(), found.is_hidden()) {
                Ok(open) => management = Some(open),
                Err(reason) => work.note(format!(
                    "NVML not available: {reason}. Memory in use, ECC errors and modes of the GPUs are unknown."
                )),
            }
            let version = management.as_ref().and_then(Management::driver_version);
            let version = version.or_else(|| work.machine.module_version.clone());
            let detail = version.as_ref().map_or_else(
                || format!("CUDA {cuda_version}"),
                |version| format!("{version}, CUDA {cuda_version}"),
            );
            work.tell(&Message::Driver(Driver {
                version,
                cuda_version: Some(cuda_version),
                library_path: found.path.clone(),
                found_by: Some(found.by.clone()),
            }));
            Ok(((), Some(detail)))
        })?;
        if found.is_hidden() {
            let folder = FOLDERS.iter().find(|folder| **folder == found.by).copied().unwrap_or_default();
            let how = if folder == NIXOS {
                "Programs from nixpkgs search it by default; others need it in LD_LIBRARY_PATH.".to_owned()
            } else {
                format!(
                    "Other programs find it only with {folder} in LD_LIBRARY_PATH, or in a file in /etc/ld.so.conf.d \
                    after ldconfig."
                )
            };
            self.note(format!("libcuda.so.1 is not on the loader's search path; found in {folder}. {how}"));
        }
        Ok(management)
    }
}

const BLOCKING: &str = "CUDA_LAUNCH_BLOCKING is set: each launch waits for its kernel, so launches on a stream are \
    slower than usual.";

/// `13.0` for 13000.
fn cuda_version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::cuda_version;

    #[test]
    fn versions_of_cuda_are_written_with_a_point() {
        assert_eq!(cuda_version(13_000), "13.0");
        assert_eq!(cuda_version(12_080), "12.8");
        assert_eq!(cuda_version(11_040), "11.4");
    }
}
