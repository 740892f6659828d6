//! Blobs that break off, and what is made of them.

use std::thread;
use std::time::{Duration, Instant};

use cutaway::analysis::{Options, analyze};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;

use super::bench::{Bench, PATIENCE, ready};
use super::proxy::{Fault, Kind};
use crate::oracle::skip;
use crate::support::Report;

/// What is true of a report that lacks the layer in the middle.
fn lacks_the_middle(report: &Report, digest: &str) {
    assert_eq!(report.code, 2);
    assert!(!report.complete());
    let warnings = report.json["warnings"].to_string();
    assert!(warnings.contains(&format!("layer 1 ({})", &digest[..19])), "{digest} is not in {warnings}");
    assert_eq!(report.layers().len(), 3);
    for index in [0, 2] {
        assert!(report.layers()[index]["entries"].is_u64(), "layer {index} was there");
    }
}

#[test]
fn a_cut_connection_goes_on_where_it_broke() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(0), 1, Fault::Cut(100_000));
    bench.proxy.fault(Kind::Blob, bench.layer(0), 1, Fault::Cut(0));
    bench.proxy.fault(Kind::Blob, bench.layer(0), 1, Fault::Cut(50_000));
    bench.succeeds(&[]);
    let asked: Vec<_> =
        bench.layer_requests().into_iter().filter(|seen| seen.path.contains(bench.layer(0))).collect();
    let ranges: Vec<Option<&str>> = asked.iter().map(|seen| seen.range.as_deref()).collect();
    assert_eq!(ranges.len(), 4, "{ranges:?}");
    assert_eq!(ranges[0], None);
    assert!(ranges[1].unwrap().starts_with("bytes=100000-"), "{ranges:?}");
    assert!(ranges[2].unwrap().starts_with("bytes=100000-"), "{ranges:?}");
    assert!(ranges[3].unwrap().starts_with("bytes=150000-"), "{ranges:?}");
    assert_eq!(asked[3].status, 206);
    let bytes: u64 = asked.iter().map(|seen| seen.bytes).sum();
    assert!(bytes < bench.image.layers[0].size + 8192, "bytes came twice: {bytes}");
}

#[test]
fn a_server_without_ranges_sends_the_whole_again() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(0), 1, Fault::Cut(100_000));
    bench.proxy.fault(Kind::Blob, bench.layer(0), 1, Fault::NoRange);
    bench.succeeds(&[]);
    let asked = bench.layer_requests();
    let again = asked.iter().find(|seen| seen.range.is_some()).expect("a range was asked for");
    assert_eq!(again.status, 200);
}

#[test]
fn what_is_resumed_is_still_proven_by_its_digest() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(1), 1, Fault::Cut(100_000));
    bench.proxy.fault(Kind::Blob, bench.layer(1), usize::MAX, Fault::Flip);
    let report = bench.report(&[], &bench.reference());
    lacks_the_middle(&report, bench.layer(1));
}

#[test]
fn a_blob_with_another_digest_makes_the_report_incomplete() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(1), usize::MAX, Fault::Flip);
    let report = bench.report(&[], &bench.reference());
    lacks_the_middle(&report, bench.layer(1));
    assert!(!report.codes().is_empty());

    // The wrong bytes were not kept: the next opening asks again, and is right.
    bench.proxy.forget();
    bench.succeeds(&[]);
    assert_eq!(bench.layer_requests().len(), 1);
}

#[test]
fn a_blob_that_never_comes_whole_makes_the_report_incomplete() {
    if !ready() {
        return;
    }
    for fault in [
        Fault::Cut(0),
        Fault::Answer(404, vec![], String::new()),
        Fault::Answer(403, vec![], String::new()),
        Fault::Answer(500, vec![], String::new()),
        Fault::Stall(0),
    ] {
        let bench = Bench::new();
        bench.proxy.fault(Kind::Blob, bench.layer(1), usize::MAX, fault.clone());
        let short = [(
            "CUTAWAY_REGISTRY_TIMEOUT_MS",
            if matches!(fault, Fault::Stall(_)) { "300" } else { PATIENCE },
        )];
        let report = bench.report(&short, &bench.reference());
        lacks_the_middle(&report, bench.layer(1));
        assert!(bench.layer_requests().len() < 20, "{fault:?}: {}", bench.layer_requests().len());
    }
}

#[test]
fn a_stalled_blob_is_taken_up_again() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(0), 1, Fault::Stall(120_000));
    bench.succeeds(&[("CUTAWAY_REGISTRY_TIMEOUT_MS", "700")]);
    let resumed = bench.layer_requests().into_iter().find(|seen| seen.range.is_some()).expect("a range");
    assert!(resumed.range.unwrap().starts_with("bytes=120000-"));
}

#[test]
fn several_layers_are_fetched_at_once() {
    if !ready()
        || thread::available_parallelism().unwrap().get() < 2 && !skip("one processor reads one layer")
    {
        return;
    }
    let bench = Bench::new();
    // Each waits long enough for the others to be asked for.
    let slow = Fault::Delay(Duration::from_millis(1500));
    for index in 0..3 {
        bench.proxy.fault(Kind::Blob, bench.layer(index), 1, slow.clone());
    }
    bench.succeeds(&[("CUTAWAY_REGISTRY_TIMEOUT_MS", "20000")]);
    let asked = bench.layer_requests();
    let apart = asked[1].at - asked[0].at;
    assert!(apart < Duration::from_secs(1), "one after the other: {apart:?}");
}

#[test]
fn a_download_is_cancelled_at_once() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(0), usize::MAX, Fault::Stall(100_000));
    let reference = Reference::parse(&bench.reference()).unwrap();
    let cancel = CancelToken::new();
    let (canceller, started) = (cancel.clone(), Instant::now());
    let cancelled_at = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while bench.layer_requests().is_empty() && started.elapsed() < Duration::from_mins(1) {
                thread::sleep(Duration::from_millis(5));
            }
            canceller.cancel();
            Instant::now()
        });
        let analysis = analyze(&reference, &Options::default(), &cancel, &Progress::default(), &|_| ());
        assert!(analysis.is_err(), "a cancelled analysis has no result");
        watch.join().unwrap()
    });
    // Without it the program would wait half a minute for the next byte.
    assert!(cancelled_at.elapsed() < Duration::from_secs(10), "{:?}", cancelled_at.elapsed());
}
