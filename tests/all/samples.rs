//! The committed samples are what the generator makes.

use std::fs;
use std::path::Path;

use crate::fixtures::sample;
use crate::support::Place;

fn check(name: &str, made: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples").join(name);
    if std::env::var_os("UPDATE_SAMPLES").is_some() {
        fs::write(&path, made).unwrap();
    }
    let kept = fs::read(&path).unwrap();
    let difference = kept.iter().zip(made).position(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "assets/samples/{name} ({} bytes) is not what fixtures/sample makes ({} bytes, first difference at {:?}); \
         run the tests with UPDATE_SAMPLES=1 to write it anew",
        kept.len(),
        made.len(),
        difference,
    );
}

#[test]
fn devel_is_what_the_generator_makes() {
    check("devel.tar", &sample::devel());
}

#[test]
fn runtime_is_what_the_generator_makes() {
    check("runtime.tar", &sample::runtime());
}

#[test]
fn samples_stay_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    let size = |name: &str| fs::metadata(folder.join(name)).unwrap().len();
    assert!(size("devel.tar") < 1_500_000);
    assert!(size("devel.tar") + size("runtime.tar") < 2_000_000);
}

#[test]
fn samples_can_be_reported_by_name() {
    let place = Place::new();
    for (name, image) in [("devel", sample::devel_image()), ("runtime", sample::runtime_image())] {
        let report = place.report(&format!("sample:{name}"));
        assert_eq!(report.total("layers"), image.layers.len() as u64);
        let streams: Vec<u64> = image.layers.iter().map(|layer| layer.tar.len() as u64).collect();
        assert_eq!(report.each("uncompressed_bytes"), streams);
        let blobs: Vec<u64> = image.layers.iter().map(|layer| layer.blob.len() as u64).collect();
        assert_eq!(report.each("compressed_bytes"), blobs);
        assert_eq!(report.codes(), Vec::<&str>::new(), "{:#}", report.json["warnings"]);
        for (layer, made) in report.layers().iter().zip(&image.layers) {
            assert_eq!(layer["diff_id"], made.diff_id);
            assert_eq!(layer["verified"], "digest");
        }
    }
}

#[test]
fn the_samples_share_the_layers_of_their_common_base() {
    let (devel, runtime) = (sample::devel_image(), sample::runtime_image());
    let same = devel.layers.iter().zip(&runtime.layers).take_while(|(a, b)| a.digest == b.digest).count();
    assert_eq!(same, 9, "the distribution, four of the base flavour, four of the runtime flavour");
}

#[test]
fn the_devel_sample_wastes_bytes_and_the_runtime_sample_hardly_any() {
    let place = Place::new();
    let devel = place.report("sample:devel");
    let runtime = place.report("sample:runtime");
    assert!(devel.total("wasted_bytes") > 10 * runtime.total("wasted_bytes") / 2);
    assert!(devel.total("merged_bytes") > runtime.total("merged_bytes"));
    let chown = devel.layers().last().unwrap();
    assert!(chown["hides_bytes"].as_u64().unwrap() > 150_000, "chown hides what it copies: {chown:#}");
}
