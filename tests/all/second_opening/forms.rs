//! Every form of an image, opened again.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::cache::Cache;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;

use super::*;

/// What the program reads without reading an image: itself as far as the loader reads it, its libraries, what the
/// system tells it, and the documents and headers of an image.
fn read_without_layers(bench: &Bench) -> u64 {
    let tiny = bench.put_layout("tiny", &Layout::of(&Image::of(Packing::Plain, [tar([dir("a")])]), TAG));
    bench.report(&format!("oci:{tiny}")).read + (64 << 10)
}

#[test]
fn a_second_opening_reads_no_byte_of_a_layer_and_says_the_same() {
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        let bench = Bench::new();
        let base = read_without_layers(&bench);
        for reference in every_form(&bench, packing) {
            let (first, second) = bench.twice(&reference);
            assert!(second.stderr.contains("read 0 bytes"), "{reference}: {}", second.stderr);
            assert!(
                second.stderr.contains("2 of 2 layers loaded from cache"),
                "{reference}: {}",
                second.stderr
            );
            assert!(!second.stderr.contains("then read"), "{reference}: {}", second.stderr);
            assert!(!first.stderr.contains("note:"), "{reference}: {}", first.stderr);
            // Not only by its own word: the system counts what is read, records of the cache included.
            let most = base + bench.cached_bytes();
            assert!(most < base + (1 << 20), "the cache holds {} bytes", bench.cached_bytes());
            assert!(second.read < most, "{reference}: {} bytes, not below {most}", second.read);
            fs::remove_dir_all(bench.cache()).unwrap();
        }
    }
}

/// Records of merged views in the cache: each names what it is.
fn views(bench: &Bench) -> Vec<PathBuf> {
    let folders = fs::read_dir(bench.cache()).unwrap().map(|folder| folder.unwrap().path());
    let records = folders.filter(|path| path.is_dir()).flat_map(|folder| fs::read_dir(folder).unwrap());
    let is_view = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(14).take(200).any(|text| text == b"merged view of")
    };
    records.map(|record| record.unwrap().path()).filter(is_view).collect()
}

#[test]
fn a_second_opening_does_not_merge_again() {
    for packing in [Packing::Plain, Packing::Gzip] {
        let bench = Bench::new();
        for reference in every_form(&bench, packing) {
            bench.report(&reference);
            let [view] = &views(&bench)[..] else { panic!("{reference}: not one view") };
            // What is used is marked with the time of its use; what is refused is written anew, as another file.
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            File::options().write(true).open(view).unwrap().set_modified(long_ago).unwrap();
            let before = fs::metadata(view).unwrap().ino();
            bench.report(&reference);
            let after = fs::metadata(view).unwrap();
            assert!(after.modified().unwrap() > long_ago && after.ino() == before, "{reference}");
            fs::remove_dir_all(bench.cache()).unwrap();
        }
    }
}

#[test]
fn layers_in_another_order_have_another_view() {
    let bench = Bench::new();
    let [below, above] = tars().try_into().unwrap();
    for tars in [[below.clone(), above.clone()], [above, below]] {
        let path = bench.put_layout("layout", &Layout::of(&Image::of(Packing::Gzip, tars), TAG));
        let (first, second) = bench.twice(&format!("oci:{path}"));
        assert_eq!(first.stdout, second.stdout);
        fs::remove_dir_all(path).unwrap();
    }
    assert_eq!(views(&bench).len(), 2);
}

#[test]
fn the_report_of_the_second_opening_has_what_only_bodies_tell() {
    let bench = Bench::new();
    let path = bench.put_layout("layout", &Layout::of(&image(Packing::Plain), TAG));
    let (first, second) = bench.twice(&format!("oci:{path}"));
    assert!(first.stderr.contains("then read"), "bodies were read: {}", first.stderr);
    assert!(are_twins(&second.stdout), "{}", second.stdout);
}

#[test]
fn the_inventory_of_a_plain_archive_is_taken_once_when_it_is_known() {
    let bench = Bench::new();
    let path = bench.put_layout("layout", &Layout::of(&image(Packing::Plain), TAG));
    let reference = Reference::parse(&format!("oci:{path}")).unwrap();
    let cache = Cache::new(bench.cache(), 1 << 30);
    let options = Options { cache: Some(cache), ..Options::default() };
    // An inventory that waits for bodies is one that is taken again.
    let waiting = || {
        let waiting = AtomicUsize::new(0);
        let publish = |stage: Arc<Analysis>| {
            let waits = stage.inventory.as_ref().is_some_and(|found| found.waits_for.is_some());
            waiting.fetch_add(usize::from(waits), Ordering::Relaxed);
        };
        let done =
            analyze(&reference, &options, &CancelToken::new(), &Progress::default(), &publish).unwrap();
        (waiting.into_inner(), format!("{:?}", done.inventory.as_ref().unwrap().identical))
    };
    let ((first, found), (second, again)) = (waiting(), waiting());
    assert_eq!((first, second), (1, 0));
    assert_eq!(found, again);
}

#[test]
fn other_commands_and_formats_know_the_layers_too() {
    let bench = Bench::new();
    let path = bench.put_layout("layout", &Layout::of(&image(Packing::Gzip), TAG));
    let reference = format!("oci:{path}");
    for command in [&["report"][..], &["check"], &["dockerfile"], &["report", "--format", "html"]] {
        let mut arguments = command.to_vec();
        arguments.push(&reference);
        let cold = run({
            let mut command = bench.command(&arguments);
            command.env("CUTAWAY_NO_CACHE", "1");
            command
        });
        let (first, second) = (run(bench.command(&arguments)), run(bench.command(&arguments)));
        for warm in [&first, &second] {
            assert_eq!((warm.code, &warm.stdout), (cold.code, &cold.stdout), "{command:?}: {}", warm.stderr);
        }
        assert!(second.stderr.contains("read 0 bytes"), "{command:?}: {}", second.stderr);
    }
}

#[test]
fn a_copy_of_a_blob_is_hashed_and_not_inflated_again() {
    let bench = Bench::new();
    let image = image(Packing::Gzip);
    let one = bench.put_layout("one", &Layout::of(&image, TAG));
    let first = bench.report(&format!("oci:{one}"));
    assert_eq!(first.code, 0, "{}", first.stderr);
    let records = files(&bench.cache()).len();
    let two = bench.put_layout("two", &Layout::of(&image, TAG));
    let second = bench.report(&format!("oci:{two}"));
    assert_eq!(first.stdout.replace(&one, ""), second.stdout.replace(&two, ""));
    let bytes: usize = image.layers.iter().map(|layer| layer.blob.len()).sum();
    assert!(second.stderr.contains(&format!("read {bytes} bytes")), "{}", second.stderr);
    assert!(second.stderr.contains("2 of 2 layers loaded from cache"), "{}", second.stderr);
    // The layers are there once, and for each file its digest.
    assert_eq!(files(&bench.cache()).len(), records + 2);
    let third = bench.report(&format!("oci:{two}"));
    assert!(third.stderr.contains("read 0 bytes"), "{}", third.stderr);
    assert!(third.stdout == second.stdout);
}

#[test]
fn a_layer_is_known_in_another_image() {
    let bench = Bench::new();
    let both = image(Packing::Zstd);
    let mut layout = Layout::of(&both, TAG);
    let alone = layout.add_image(&Image::of(Packing::Zstd, [tars().swap_remove(1)]));
    layout.root(crate::fixtures::layout::tagged(alone, "example.org/app:alone"));
    let path = bench.put_layout("layout", &layout);
    assert_eq!(bench.report(&format!("oci:{path}:{TAG}")).code, 0);
    let reference = format!("oci:{path}:example.org/app:alone");
    let cold = run({
        let mut command = bench.command(&["report", &reference, "--format", "json"]);
        command.env("CUTAWAY_NO_CACHE", "1");
        command
    });
    let known = bench.report(&reference);
    // The layer is the first of this image and was the second of the other: its warnings say so.
    assert!(known.stdout.contains("layer 0 ("), "{}", known.stdout);
    assert!(known.stdout == cold.stdout, "a layer says the same in whichever image it was met first");
    assert!(known.stderr.contains("1 of 1 layers loaded from cache"), "{}", known.stderr);
}

#[test]
fn whoever_asks_for_proof_or_wants_no_cache_gets_the_bytes_read() {
    let bench = Bench::new();
    let path = bench.put_layout("layout", &Layout::of(&image(Packing::Gzip), TAG));
    let reference = format!("oci:{path}");
    bench.twice(&reference);
    let bytes: usize = image(Packing::Gzip).layers.iter().map(|layer| layer.blob.len()).sum();
    for switch in ["--verify", "--no-cache"] {
        let run = run(bench.command(&["report", &reference, "--format", "json", switch]));
        assert!(run.stderr.contains(&format!("read {bytes} bytes")), "{switch}: {}", run.stderr);
        assert!(run.read > bytes as u64, "{switch}");
    }
    let verified = run(bench.command(&["report", &reference, "--format", "json", "--verify"]));
    assert!(verified.stdout.contains("\"verified\": \"both\""), "{}", verified.stdout);
    let after = bench.report(&reference);
    assert!(after.stdout.contains("\"verified\": \"digest\""), "what --verify proved is its own");
}

#[test]
fn a_layer_that_the_image_has_twice_counts_twice() {
    for packing in [Packing::Plain, Packing::Gzip] {
        let bench = Bench::new();
        let one = tars().swap_remove(1);
        let path = bench.put_layout("layout", &Layout::of(&Image::of(packing, [one.clone(), one]), TAG));
        let (_, second) = bench.twice(&format!("oci:{path}"));
        assert!(second.stderr.contains("read 0 bytes"), "{packing:?}: {}", second.stderr);
        assert!(second.stderr.contains("2 of 2 layers loaded from cache"), "{packing:?}: {}", second.stderr);
        assert!(!second.stderr.contains("then read"), "{packing:?}: {}", second.stderr);
    }
}
