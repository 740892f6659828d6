//! What is known already is not fetched again.

use std::fs;

use super::bench::{Bench, ready};
use super::guard::Guard;
use super::proxy::Kind;
use crate::fixtures::layout::Layout;

#[test]
fn the_second_opening_passes_no_layer_and_little_else() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::anonymous());
    bench.succeeds(&[]);
    assert_eq!(bench.layer_requests().len(), 3);
    bench.proxy.forget();
    bench.succeeds(&[]);
    assert!(bench.layer_requests().is_empty(), "{:#?}", bench.layer_requests());
    assert!(!bench.proxy.of(Kind::Manifest).is_empty(), "a tag may have moved");
    assert!(bench.proxy.bytes() < 64 << 10, "{} bytes", bench.proxy.bytes());
}

#[test]
fn a_layer_that_a_folder_showed_is_not_fetched() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let folder = crate::support::Place::new();
    let path = folder.put_layout("layout", &Layout::of(&bench.image, "1"));
    assert_eq!(bench.run(&[], &["report", &format!("oci:{path}")]).code, 0);
    bench.succeeds(&[]);
    assert!(bench.layer_requests().is_empty(), "{:#?}", bench.layer_requests());
}

#[test]
fn only_records_are_kept_of_what_was_fetched() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.succeeds(&[]);
    let mut bytes = 0;
    let mut folders = vec![bench.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let facts = entry.metadata().unwrap();
            if facts.is_dir() {
                folders.push(entry.path());
            } else {
                assert!(entry.path().starts_with(bench.place.cache()), "{}", entry.path().display());
                bytes += facts.len();
            }
        }
    }
    let blobs: u64 = bench.image.layers.iter().map(|layer| layer.size).sum();
    assert!(bytes > 0 && bytes < blobs / 10, "{bytes} of {blobs} bytes");
}

#[test]
fn without_a_cache_every_opening_fetches_all() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    for _ in 0..2 {
        bench.proxy.forget();
        let report = bench.report(&[("CUTAWAY_NO_CACHE", "1")], &bench.reference());
        assert_eq!(report.code, 0);
        assert_eq!(bench.layer_requests().len(), 3);
    }
}
