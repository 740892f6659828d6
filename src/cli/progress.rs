//! A progress bar on stderr while work goes on, when stderr is a terminal.

use std::io::IsTerminal as _;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::size::{grouped, human};
use crate::jobs::Progress;

/// Runs `work` and shows how far it is.
pub(super) fn with_bar<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg}") {
        bar.set_style(style.progress_chars("━━─"));
    }
    let (done, finished) = crossbeam_channel::bounded::<()>(0);
    thread::scope(|scope| {
        let shown = &bar;
        scope.spawn(move || {
            // Nothing flashes up for work that is over at once.
            let mut wait = Duration::from_millis(200);
            while finished.recv_timeout(wait) == Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                let now = progress.snapshot();
                shown.set_length(now.bytes_total);
                shown.set_position(now.bytes_passed.min(now.bytes_total));
                shown.set_message(format!(
                    "{} of {}, {} of {} layers, {} entries",
                    human(now.bytes_passed),
                    human(now.bytes_total),
                    now.layers_done,
                    now.layers_total,
                    grouped(now.entries),
                ));
                wait = Duration::from_millis(100);
            }
            shown.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}
