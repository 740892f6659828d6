//! What all costs that follows the layers of an image: merge, CUDA inventory, findings, proposals, verdicts and the
//! report. Medians of the processor's time of all threads and of the time on the wall, beside a loop that tells how fast
//! the machine is at the moment.
//!
//! `cargo bench --no-default-features --bench inventory -- IMAGE [RUNS]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use cutaway::analysis::{Options, analyze};
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::{FileContents, Input, inventory};
use cutaway::findings::{self, Plan, default_targets, findings};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{LayerIndex, LayerRead};
use cutaway::report::page::Part;
use cutaway::report::{self, Format, Report};
use cutaway::rootfs::{Merge, merge};
use cutaway::source::Reference;
use rustix::time::{ClockId, clock_gettime};

const RUNS: usize = 9;

/// The processor's time of all threads, and the time on the wall.
fn now() -> [Duration; 2] {
    [ClockId::ProcessCPUTime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
    })
}

/// The medians of all runs, and the last result.
fn measured<T>(what: &str, runs: usize, mut work: impl FnMut() -> T) -> T {
    let mut times = [Vec::new(), Vec::new()];
    let mut last = None;
    for _ in 0..runs {
        drop(last.take());
        let start = now();
        last = Some(black_box(work()));
        let end = now();
        for (clock, times) in times.iter_mut().enumerate() {
            times.push(end[clock].saturating_sub(start[clock]));
        }
    }
    let [cpu, wall] = times.map(|mut times| {
        times.sort_unstable();
        times[runs / 2].as_secs_f64() * 1e3
    });
    println!("  {what:<28} {cpu:>9.2} ms {wall:>9.2} ms");
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
    let (bodies, targets) = (FileContents::default(), default_targets(Catalog::builtin()));
    println!(
        "{image}: {} files, {runs} runs; processor's time and wall",
        analysis.merge.as_ref().unwrap().merged_files
    );
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
    let plan = Plan::of_safe(&found);
    let proposals =
        measured("proposals", runs, || analysis.propose_with(&plan, None, false).unwrap().unwrap());
    measured("needs", runs, || analysis.needs().unwrap());
    let options = report::Options { paths: true, ..report::Options::default() };
    let mut made = measured("report", runs, || Report::new(&analysis, &options).unwrap());
    measured("report of the proposals", runs, || made.set_proposals(&proposals, &options));
    let text = measured("JSON", runs, || Format::Json.write(&made, &Part::ALL));
    let mut views: Vec<Merge> = (0..runs).map(|_| merge(&indexes, &[], 10)).collect();
    measured("giving the merged view back", runs, || drop(views.pop()));
    println!(
        "  {} packages, {} libraries, {} findings, {} proposals, {} bytes of JSON",
        known.packages.len(),
        known.libraries.len(),
        found.list.len(),
        proposals.list.len(),
        text.len()
    );
    measured("calibration", runs, calibration);
}
