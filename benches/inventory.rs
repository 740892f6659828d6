//! What it costs to merge the layers of an image, to take its CUDA inventory and to look for findings: medians
//! of the processor's time of one thread, beside a loop that tells how fast the machine is at the moment.
//!
//! `cargo bench --no-default-features --bench inventory -- IMAGE [RUNS]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use cutaway::analysis::{Options, analyze};
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::{Bodies, Input, inventory};
use cutaway::findings::{self, default_targets, findings};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{LayerIndex, LayerRead};
use cutaway::rootfs::merge;
use cutaway::source::Reference;
use rustix::time::{ClockId, clock_gettime};

const RUNS: usize = 9;

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// The median of all runs, and the last result.
fn measured<T>(what: &str, runs: usize, mut work: impl FnMut() -> T) -> T {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..runs {
        drop(last.take());
        let start = cpu_time();
        last = Some(black_box(work()));
        times.push(cpu_time().saturating_sub(start));
    }
    times.sort_unstable();
    println!("  {what:<24} {:>9.2} ms", times[runs / 2].as_secs_f64() * 1e3);
    last.unwrap()
}

/// 30 million steps that wait for each other: some 100 ms on a quiet machine of 2020.
fn calibration() -> u64 {
    (0..30_000_000u64).fold(1, |value, step| (value ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let Some(image) = words.first() else {
        println!("usage: cargo bench --bench inventory -- IMAGE [RUNS]");
        return;
    };
    let runs = words.get(1).map_or(RUNS, |runs| runs.parse().unwrap()).max(1);
    let reference = Reference::parse(image).unwrap();
    let analysis =
        analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| ()).unwrap();
    let layers: Vec<Option<Arc<LayerRead>>> =
        analysis.layers.iter().map(|layer| layer.read.clone()).collect();
    let indexes: Vec<Arc<LayerIndex>> = layers.iter().flatten().map(|read| Arc::clone(&read.index)).collect();
    let (bodies, targets) = (Bodies::default(), default_targets(Catalog::builtin()));
    println!("{image}: {} files, {runs} runs", analysis.merge.as_ref().unwrap().merged_files);
    measured("calibration", runs, calibration);
    measured("the built-in catalogue", runs, || Catalog::with_user_files(&[]).unwrap());
    let merged = measured("merge", runs, || merge(&indexes, &[], 10));
    let catalog = Catalog::builtin();
    let input = Input { image: &analysis.image, layers: &layers, merge: &merged, bodies: &bodies, catalog };
    let (known, _) = measured("inventory", runs, || inventory(&input, 10));
    let input = findings::Input {
        image: &analysis.image,
        layers: &layers,
        merge: &merged,
        bodies: &bodies,
        inventory: &known,
        catalog,
        complete: true,
        targets: &targets,
        today: None,
    };
    let found = measured("findings", runs, || findings(&input));
    println!(
        "  {} packages, {} libraries, {} findings",
        known.packages.len(),
        known.libraries.len(),
        found.list.len()
    );
    measured("calibration", runs, calibration);
}
