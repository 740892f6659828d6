//! Opening a folder or a file with the program that the desktop has for it, off the painting thread.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::base::text::printable;
use crate::gui::models::background::Background;
use crate::jobs::Waker;

/// Opens a path; gives why it could not be opened. May wait for as long as the program runs.
pub type Opener = Arc<dyn Fn(&Path) -> Result<(), String> + Send + Sync>;

/// What the desktop has for it.
pub fn desktop() -> Opener {
    Arc::new(|path| {
        use std::os::unix::process::CommandExt as _;
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let quiet = Stdio::null;
        let mut command = Command::new(program);
        // In a group of its own: what ends this program from a terminal does not end the browser.
        command.arg(path).stdin(quiet()).stdout(quiet()).stderr(quiet()).process_group(0);
        let status = command.status().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("{program} is not installed"),
            _ => format!("cannot start {program}: {error}"),
        })?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{program} found no application for it ({status})"))
        }
    })
}

/// The newest path that is being opened.
pub struct Opening {
    opener: Opener,
    job: Background<Result<(), String>>,
    path: String,
}

impl Opening {
    /// Nothing yet; `opener` will open paths.
    pub fn new(opener: Opener) -> Self {
        Self { opener, job: Background::default(), path: String::new() }
    }

    /// Opens a path.
    pub fn start(&mut self, path: PathBuf, waker: &Waker) {
        let opener = Arc::clone(&self.opener);
        self.path = printable(&path.display().to_string());
        self.job.start(waker, false, move |_| Ok(opener(&path)));
    }

    /// Why the newest path could not be opened, once.
    pub fn failed(&mut self) -> Option<String> {
        let why = self.job.result()?.and_then(|opened| opened).err()?;
        Some(format!("Cannot open {}: {}; open it manually", self.path, printable(&why)))
    }
}
