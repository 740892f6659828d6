//! Time from the start of the process to its end after the first frame, and to that of an empty eframe
//! window, interleaved in one run. Needs a display:
//!
//! `xvfb-run -a cargo bench --bench first_frame`, or with `-- IMAGE` to open an image at once.
//!
//! Prints medians and their ratio; the budget is 1.3.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop at the first surprise")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;

/// A window with nothing in it, that closes after its first frame.
struct Empty;

impl eframe::App for Empty {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        ui.send_viewport_cmd(egui::ViewportCommand::Close);
        ui.request_repaint();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if arguments.first().is_some_and(|word| word == "--empty") {
        let options = eframe::NativeOptions { renderer: eframe::Renderer::Glow, ..Default::default() };
        eframe::run_native("empty", options, Box::new(|_| Ok(Box::new(Empty)))).unwrap();
        return;
    }
    let this = std::env::current_exe().unwrap();
    let empty = || {
        let mut command = Command::new(&this);
        command.arg("--empty");
        command
    };
    let cutaway = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
        command.env("CUTAWAY_NO_CACHE", "1").args(["--exit-after-frames", "1"]).args(&arguments);
        command
    };
    let (mut empties, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let pair = (timed(empty()), timed(cutaway()));
        // The first round warms the caches.
        if round > 0 {
            empties.push(pair.0);
            ours.push(pair.1);
        }
    }
    let (empty, ours) = (median(empties), median(ours));
    println!("| window | start to first frame, median of {ROUNDS} |");
    println!("|---|---:|");
    println!("| empty eframe window | {:.0} ms |", empty.as_secs_f64() * 1000.0);
    println!("| cutaway | {:.0} ms |", ours.as_secs_f64() * 1000.0);
    println!("| ratio | {:.2} |", ours.as_secs_f64() / empty.as_secs_f64());
}

fn timed(mut command: Command) -> Duration {
    // Settings of the user are neither read nor written.
    let home = tempfile::tempdir().unwrap();
    command
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let begun = Instant::now();
    assert!(command.status().unwrap().success(), "{command:?} needs a display");
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
