//! Layers that the user wants kept as they come.

use std::fs;
use std::path::PathBuf;

use super::bench::{Bench, ready};
use super::proxy::{Fault, Kind};

const KEEP: [&str; 3] = ["--no-cache", "--blob-cache", "10MiB"];

/// Runs a report that reads everything anew, but for kept layers.
fn report(bench: &Bench, options: &[&str]) -> String {
    let reference = bench.reference();
    let arguments = [&["report", &reference, "--format", "json", "-v"], options].concat();
    let outcome = bench.run(&[], &arguments);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome.stderr
}

fn blobs(bench: &Bench) -> Vec<PathBuf> {
    let folder = bench.place.cache().join("blobs");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).map(|all| all.map(|file| file.unwrap().path()).collect()).unwrap_or_default();
    files.sort();
    files
}

#[test]
fn kept_layers_are_not_fetched_again_also_without_the_index_cache() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    report(&bench, &KEEP);
    assert_eq!(bench.layer_requests().len(), 3);
    assert_eq!(blobs(&bench).len(), 3);
    for path in blobs(&bench) {
        let name = path.file_name().unwrap().to_str().unwrap().replace('-', ":");
        let layer = bench.image.layers.iter().find(|layer| layer.digest == name).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), layer.size);
    }
    bench.proxy.forget();
    report(&bench, &KEEP);
    assert!(bench.layer_requests().is_empty(), "{:#?}", bench.layer_requests());
}

#[test]
fn a_kept_layer_that_was_changed_is_fetched_again() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    report(&bench, &KEEP);
    let path = bench.place.cache().join("blobs").join(bench.layer(0).replace(':', "-"));
    let right = fs::read(&path).unwrap();
    let mut wrong = right.clone();
    wrong[1000] ^= 1;
    fs::write(&path, wrong).unwrap();
    bench.proxy.forget();
    let told = report(&bench, &KEEP);
    assert!(told.contains("in the blob cache is damaged; fetching it again"), "{told}");
    assert_eq!(bench.layer_requests().len(), 1);
    assert_eq!(fs::read(&path).unwrap(), right);
}

#[test]
fn no_more_is_kept_than_was_said() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let sizes: Vec<u64> = bench.image.layers.iter().map(|layer| layer.size).collect();
    // Room for the second and the third, not for the first.
    let limit = (sizes[1] + sizes[2] + 100).to_string();
    let told = report(&bench, &["--no-cache", "--blob-cache", &limit]);
    let held: u64 = blobs(&bench).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(held > 0 && held <= sizes[1] + sizes[2] + 100, "{held} bytes of {sizes:?}; {told}");
}

#[test]
fn nothing_is_kept_of_a_layer_that_is_not_what_its_digest_says() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    bench.proxy.fault(Kind::Blob, bench.layer(1), usize::MAX, Fault::Flip);
    let reference = bench.reference();
    let outcome = bench.run(&[], &[&["report", &reference][..], &KEEP].concat());
    assert_eq!(outcome.code, 2, "{}", outcome.stdout);
    let name = bench.layer(1).replace(':', "-");
    assert!(blobs(&bench).iter().all(|path| !path.ends_with(&name)), "{:?}", blobs(&bench));
    assert_eq!(blobs(&bench).len(), 2);
}
