//! Messages on stderr while a command runs: a progress bar on a terminal, and notes.

use std::io::IsTerminal as _;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::message;
use crate::base::size::{grouped, human};
use crate::jobs::Progress;

/// Runs `work`; shows progress and notes on a terminal or with `verbose`.
pub(super) fn with_bar<T>(progress: &Progress, verbose: bool, work: impl FnOnce() -> T) -> T {
    let terminal = std::io::stderr().is_terminal();
    if !terminal && !verbose {
        return work();
    }
    let bar = if terminal { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg}") {
        bar.set_style(style.progress_chars("━━─"));
    }
    let (done, finished) = crossbeam_channel::bounded::<()>(0);
    thread::scope(|scope| {
        let shown = &bar;
        scope.spawn(move || {
            let mut told = 0;
            let mut tell = || {
                for text in progress.messages_since(told) {
                    told += 1;
                    shown.suspend(|| message(&format!("note: {text}")));
                }
            };
            // No bar for work that ends within 200 ms.
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
                tell();
                wait = Duration::from_millis(100);
            }
            shown.finish_and_clear();
            tell();
        });
        let result = work();
        drop(done);
        result
    })
}
