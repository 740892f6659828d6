//! What it costs to compare images: medians of the processor's time of one thread, and of all threads where files
//! are read, beside a loop that tells how fast the machine is at the moment.
//!
//! `cargo bench --no-default-features --bench compare -- IMAGE IMAGE...`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::compare::{RowId, compare};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;
use rustix::time::{ClockId, clock_gettime};

const RUNS: usize = 9;

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// Medians of all runs, and the last result.
fn measured<T>(what: &str, mut work: impl FnMut() -> T) -> T {
    let (mut spent, mut passed) = (Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..RUNS {
        drop(last.take());
        let (start, clock) = (cpu_time(), Instant::now());
        last = Some(black_box(work()));
        spent.push(cpu_time().saturating_sub(start));
        passed.push(clock.elapsed());
    }
    spent.sort_unstable();
    passed.sort_unstable();
    let ms = |times: &[Duration]| times[RUNS / 2].as_secs_f64() * 1e3;
    println!("  {what:<24} {:>9.2} ms of this thread, {:>9.2} ms in all", ms(&spent), ms(&passed));
    last.unwrap()
}

/// 30 million steps that wait for each other: some 100 ms on a quiet machine of 2020.
fn calibration() -> u64 {
    (0..30_000_000u64).fold(1, |value, step| (value ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.is_empty() {
        println!("usage: cargo bench --bench compare -- IMAGE IMAGE...");
        return;
    }
    let analysed = |image: &String| -> Arc<Analysis> {
        let reference = Reference::parse(image).unwrap();
        analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| ()).unwrap()
    };
    let images: Vec<Arc<Analysis>> = words.iter().map(analysed).collect();
    for (word, image) in words.iter().zip(&images) {
        println!("{word}: {} files", image.merge.as_ref().unwrap().merged_files);
    }
    measured("calibration", calibration);
    let mut read = 0;
    let mut comparison = None;
    let taken = allocation_counter::measure(|| {
        let progress = Progress::default();
        comparison = compare(&images, &CancelToken::new(), &progress).ok();
        read = progress.snapshot().bytes_compared;
    });
    let tree = comparison.unwrap().tree;
    println!("  {} paths, {} MiB at once, {read} bytes read", tree.len(), taken.bytes_max >> 20);
    measured("compare", || compare(&images, &CancelToken::new(), &Progress::default()).unwrap());
    let last = images.len() - 1;
    let sums = measured("files", || tree.files(last, 0));
    measured("changes", || tree.changes(last, 0));
    measured("largest changes", || tree.largest_changes(last, 0, 20));
    measured("children, sorted", || tree.row(RowId::ROOT).children().len());
    measured("calibration", calibration);
    println!("  {sums:?}");
}
