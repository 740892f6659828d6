//! Files that are not what they were.

use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::base::WarningCode;
use cutaway::cache::Cache;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;

use super::*;

/// Whether a stage is the one to act at.
type When = fn(&Analysis) -> bool;

/// Where `needle` stands in a file.
fn find(path: &str, needle: &[u8]) -> u64 {
    let bytes = fs::read(path).unwrap();
    memchr::memmem::find(&bytes, needle).unwrap_or_else(|| panic!("{path} does not hold it")) as u64
}

#[test]
fn a_file_that_was_changed_without_a_trace_in_size_and_time_is_read_again() {
    let bench = Bench::new();
    let path = bench.put("plain.tar", tar(save_classic(&[(&image(Packing::Plain), &[TAG])])));
    let (first, _) = bench.twice(&path);
    assert!(are_twins(&first.stdout), "{}", first.stdout);
    let before = fs::metadata(&path).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    // In the middle of a body that is compared: the twins are twins no more.
    let at = find(&path, &noise("twin", 150_000)[..64]) + 100_000;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.len(), before.modified().unwrap()), (after.len(), after.modified().unwrap()));
    settle(Path::new(&path));
    let (third, _) = bench.twice(&path);
    assert!(!are_twins(&third.stdout), "{}", third.stdout);
}

#[test]
fn a_file_that_was_written_a_moment_ago_has_no_identity_yet() {
    let bench = Bench::new();
    let path = bench.path("file");
    fs::write(&path, "one").unwrap();
    let file = File::open(&path).unwrap();
    let fresh = FileIdentity::of(&file).unwrap();
    assert!(!fresh.is_settled(), "another write could come without moving its times");
    settle(&path);
    let settled = FileIdentity::of(&file).unwrap();
    assert_eq!(fresh.key(), settled.key(), "only the clock went on");
    fs::write(&path, "two").unwrap();
    let written = FileIdentity::of(&file).unwrap();
    assert_ne!(settled.key(), written.key());
    assert!(!settled.same_content(&written));
    settle(&path);
    let before = FileIdentity::of(&file).unwrap();
    fs::rename(&path, bench.path("other")).unwrap();
    let renamed = FileIdentity::of(&file).unwrap();
    assert!(before.same_content(&renamed), "a new name is no new content");
    assert_ne!(before.key(), FileIdentity::of(&File::open(bench.put("file", "two")).unwrap()).unwrap().key());
}

/// Analyses an image and does something to its file when `when` says yes to a stage for the first time.
fn analyzed(
    reference: &str,
    cache: &Cache,
    when: impl Fn(&Analysis) -> bool + Sync,
    act: impl Fn() + Sync,
) -> std::sync::Arc<Analysis> {
    let options = Options { cache: Some(cache.clone()), ..Options::default() };
    let done = AtomicBool::new(false);
    let publish = |analysis: std::sync::Arc<Analysis>| {
        if when(&analysis) && !done.swap(true, Ordering::SeqCst) {
            act();
        }
    };
    let reference = Reference::parse(reference).unwrap();
    let analysis =
        analyze(&reference, &options, &CancelToken::new(), &Progress::default(), &publish).unwrap();
    assert!(done.load(Ordering::SeqCst), "the moment never came");
    analysis
}

fn codes(analysis: &Analysis) -> Vec<WarningCode> {
    analysis.warnings().iter().map(|warning| warning.code).collect()
}

#[test]
fn a_file_that_is_written_to_while_it_is_read_is_told_and_not_kept() {
    let bench = Bench::new();
    let cache = Cache::new(bench.cache(), 1 << 30);
    let write = |path: &str| {
        // The same byte again: the content is the same, but nobody can know.
        let file = File::options().write(true).open(path).unwrap();
        file.write_all_at(&[0], file.metadata().unwrap().len() - 1).unwrap();
    };
    let moments: [(&str, Packing, When); 3] = [
        ("before the layers", Packing::Plain, |analysis| analysis.layers_done() == 0),
        ("before the packed layers", Packing::Gzip, |analysis| analysis.layers_done() == 0),
        ("before the bodies of single files", Packing::Plain, |analysis| analysis.merge.is_some()),
    ];
    for (name, packing, when) in moments {
        let path = bench.put(&format!("{name}.tar"), tar(save_classic(&[(&image(packing), &[TAG])])));
        let before = files(&bench.cache()).len();
        let analysis = analyzed(&path, &cache, when, || write(&path));
        // What was read before the write was right, and may stay: both layers and their merged view, but none of their
        // single files.
        let right = if name == "before the bodies of single files" { 3 } else { 0 };
        assert_eq!(files(&bench.cache()).len() - before, right, "{name}");
        assert!(codes(&analysis).contains(&WarningCode::SourceChanged), "{name}: {:?}", analysis.warnings());
        assert!(!analysis.totals().unwrap().complete, "{name}");
        let warning =
            analysis.warnings().into_iter().find(|warning| warning.code == WarningCode::SourceChanged);
        let warning = warning.unwrap();
        assert!(warning.subject.starts_with("layer "), "{warning:?}");
        assert!(warning.message.contains("changed while it was read"), "{warning:?}");
        settle(Path::new(&path));
        let later = bench.report(&path);
        assert_eq!(later.code, 0, "{name}: {}", later.stderr);
        assert!(later.stderr.contains("0 of 2 layers loaded from cache"), "{name}: {}", later.stderr);
    }
}

#[test]
fn a_blob_whose_digest_fits_is_right_whoever_touched_its_file() {
    let bench = Bench::new();
    let cache = Cache::new(bench.cache(), 1 << 30);
    let layout = bench.put_layout("layout", &Layout::of(&image(Packing::Gzip), TAG));
    let blob = image(Packing::Gzip).layers[0].digest.replace(':', "/");
    let path = format!("{layout}/blobs/{blob}");
    let analysis = analyzed(
        &format!("oci:{layout}"),
        &cache,
        |analysis| analysis.layers_done() == 0,
        || File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap(),
    );
    assert!(!codes(&analysis).contains(&WarningCode::SourceChanged), "{:?}", analysis.warnings());
    assert!(analysis.totals().unwrap().complete);
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_incomplete() {
    let bench = Bench::new();
    let cache = Cache::new(bench.cache(), 1 << 30);
    let path = bench.put("cut.tar", tar(save_classic(&[(&image(Packing::Plain), &[TAG])])));
    let whole = fs::read(&path).unwrap();
    let cut = || File::options().write(true).open(&path).unwrap().set_len(whole.len() as u64 / 2).unwrap();
    let analysis = analyzed(&path, &cache, |analysis| analysis.layers_done() == 0, cut);
    assert!(!analysis.totals().unwrap().complete);
    // Once it is whole again, so is the report.
    fs::write(&path, whole).unwrap();
    settle(Path::new(&path));
    let (again, _) = bench.twice(&path);
    assert!(again.stdout.contains("\"complete\": true"));
}

#[test]
fn a_layer_that_others_left_no_room_for_is_not_kept_as_it_was_read_then() {
    let bench = Bench::new();
    let cache = Cache::new(bench.cache(), 1 << 30);
    let many = |count: usize, name: &str| {
        tar((0..count).map(|index| file(format!("{name}/{index}"), b"x".to_vec())))
    };
    let (junk, base) = (many(28, "junk"), many(10, "base"));
    let image = |tars: Vec<Vec<u8>>| Image::of(Packing::Gzip, tars);
    let crowded = gzip(&tar(save_classic(&[(&image(vec![junk, base.clone()]), &[TAG])])));
    let crowded = bench.put("crowded.tar.gz", crowded);
    // The same blob, which is known by its digest.
    let alone = format!("oci:{}", bench.put_layout("alone", &Layout::of(&image(vec![base]), TAG)));
    let limits = cutaway::base::Limits { image_entries: 30, ..Default::default() };
    let analyzed = |path: &str| {
        let options = Options { cache: Some(cache.clone()), limits: limits.clone(), ..Options::default() };
        let reference = Reference::parse(path).unwrap();
        analyze(&reference, &options, &CancelToken::new(), &Progress::default(), &|_| ()).unwrap()
    };
    assert!(!analyzed(&crowded).totals().unwrap().complete, "the second layer is cut short");
    for _ in 0..2 {
        let totals = analyzed(&alone).totals().unwrap();
        assert!(totals.complete);
        assert_eq!(totals.merged_files, 10);
    }
}
