//! Multi-platform images: one platform is rewritten, the others keep every byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cutaway::slim::SlimOptions;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use super::bench;
use crate::fixtures::image::Image;
use crate::fixtures::layout::{Layout, tagged};
use crate::fixtures::packing::Packing;
use crate::offline::offline;
use crate::oracle::have;
use crate::registry::bench::{Bench, image, ready};
use crate::schema;
use crate::support::Place;

const ALL: [(&str, Option<&str>); 3] = [("amd64", None), ("arm64", None), ("arm", Some("v7"))];

/// An image that loses a file that an upper layer deletes, for each platform with a layer of its own.
fn images() -> Vec<Image> {
    let of = |(architecture, variant): (&str, Option<&str>)| {
        let image = image(Packing::Gzip);
        let own = crate::fixtures::tarball::tar([super::sized(architecture, 1000)]);
        let own = crate::fixtures::image::Layer::new(&own, Packing::Gzip);
        image.add("COPY own", own).for_platform("linux", architecture, variant)
    };
    ALL.map(of).into()
}

/// A layout with the tag `1`: an index of these images, with an attestation.
fn layout(images: &[Image]) -> Layout {
    let mut layout = Layout::default();
    let mut manifests: Vec<Value> = images.iter().map(|image| layout.add_image(image)).collect();
    manifests.push(layout.add_attestation(&manifests[0].clone()));
    let index = layout.add_index(&manifests);
    layout.root(tagged(index, "1"));
    layout
}

fn slim(place: &Place, source: &str, destination: &str, more: &[&str]) -> Value {
    let arguments = ["slim", source, "-o", destination, "--all-platforms", "--format", "json"];
    let outcome = place.run(&[&arguments[..], more].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document = serde_json::from_str(&outcome.stdout).unwrap();
    schema::fits("slim", &document);
    document
}

/// A path in a folder that the program may write to.
fn at(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

/// The blobs of a layout by digest.
fn blobs(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(folder).join("blobs/sha256");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect()
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn hex(digest: &Value) -> &str {
    digest.as_str().unwrap().strip_prefix("sha256:").unwrap()
}

/// What the ordinary reader says of each platform at `reference`.
fn reports(place: &Place, reference: &str) -> Vec<Value> {
    let platform = |(architecture, variant): &(&str, Option<&str>)| {
        let variant = variant.map(|variant| format!("/{variant}")).unwrap_or_default();
        place.report_with(reference, &["--platform", &format!("linux/{architecture}{variant}")]).json
    };
    ALL.iter().map(platform).collect()
}

/// Compares each platform at `written` with the one at `source`: only the first one is new.
fn judge(place: &Place, source: &str, written: &str, document: &Value) {
    let (before, after) = (reports(place, source), reports(place, written));
    for (place, (before, after)) in before.iter().zip(&after).enumerate() {
        let same = before["image"]["manifest_digest"] == after["image"]["manifest_digest"];
        assert_eq!(same, place > 0, "{written}: {}", ALL[place].0);
        if place > 0 {
            assert_eq!(before["layers"], after["layers"]);
            assert_eq!(before["totals"], after["totals"]);
            let other = &document["other_platforms"][place - 1];
            assert_eq!(other["manifest_digest"], after["image"]["manifest_digest"]);
        }
    }
    assert_eq!(after[0]["image"]["manifest_digest"], document["output"]["manifest_digest"]);
    assert_eq!(after[0]["totals"]["wasted_bytes"], 0);
    let platforms: Vec<&str> = document["other_platforms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|other| other["platform"].as_str().unwrap())
        .collect();
    assert_eq!(platforms, ["linux/arm64", "linux/arm/v7"]);
}

#[test]
fn the_others_keep_every_byte() {
    let (place, folder) = (Place::new(), tempdir().unwrap());
    let images = images();
    let source = place.put_layout("source", &layout(&images));
    let (reference, out) = (format!("oci:{source}:1"), at(&folder, "out"));
    let written = slim(&place, &reference, &format!("oci:{out}:slim"), &["--platform", "linux/amd64"]);
    judge(&place, &reference, &format!("oci:{out}:slim"), &written);
    let (old, new) = (blobs(&source), blobs(&out));
    let root = json(&fs::read(Path::new(&out).join("index.json")).unwrap());
    let [entry] = root["manifests"].as_array().unwrap().as_slice() else { panic!("{root:#}") };
    assert_eq!(entry["digest"], written["output"]["index_digest"]);
    let index = json(&new[hex(&entry["digest"])]);
    let manifests = index["manifests"].as_array().unwrap();
    assert_eq!(manifests.len(), 3);
    assert_eq!(manifests[0]["digest"], written["output"]["manifest_digest"]);
    for (entry, image) in manifests.iter().zip(&images) {
        assert_eq!(entry["platform"], image.platform_json());
    }
    for entry in &manifests[1..] {
        let manifest = &new[hex(&entry["digest"])];
        assert!(*manifest == old[hex(&entry["digest"])]);
        let manifest = json(manifest);
        let layers = manifest["layers"].as_array().unwrap().iter();
        for blob in layers.chain([&manifest["config"]]).map(|blob| hex(&blob["digest"])) {
            assert!(new[blob] == old[blob], "{blob}");
        }
    }
    // The archive has the same index, also from an archive.
    let archive = place.put("source.tar", layout(&images).archive());
    let out = format!("oci-archive:{}", at(&folder, "out.tar"));
    let again = slim(&place, &format!("oci-archive:{archive}:1"), &out, &["--platform", "linux/amd64"]);
    assert_eq!(again["output"]["index_digest"], written["output"]["index_digest"]);
    judge(&place, &reference, &out, &again);
}

#[test]
fn a_layout_receives_them_beside_its_other_images() {
    let place = Place::new();
    let source = place.put_layout("source", &layout(&images()));
    let reference = format!("oci:{source}:1");
    let options = SlimOptions { all_platforms: true, ..SlimOptions::default() };
    // The bench compares the progress with its totals.
    let (selection, written) = bench::slim(&place, &reference, &[], &options, "source").unwrap();
    assert_eq!((selection.platforms.len(), written.index_digest.is_some()), (2, true));
    let manifests = |reference: &str| -> Vec<Value> {
        reports(&place, reference).iter().map(|report| report["image"]["manifest_digest"].clone()).collect()
    };
    let (old, new) = (manifests(&reference), manifests(&format!("oci:{source}:new")));
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    assert_eq!((changed, new.contains(&written.manifest_digest.as_ref().into())), (1, true));
}

#[test]
fn other_tools_read_all_platforms() {
    if !have(&["skopeo"]) {
        return;
    }
    let (place, folder) = (Place::new(), tempdir().unwrap());
    let reference = format!("oci:{}:1", place.put_layout("source", &layout(&images())));
    let out = format!("oci:{}:slim", at(&folder, "out"));
    let written = slim(&place, &reference, &out, &["--platform", "linux/amd64"]);
    let policy = place.put("policy.json", r#"{"default": [{"type": "insecureAcceptAnything"}]}"#);
    let mut command = Command::new("skopeo");
    place.settle(&mut command);
    command.args(["--policy", &policy, "copy", "--all", "--quiet", "--preserve-digests", &out]);
    let output = offline(command.arg(format!("oci:{}:copy", place.path("copy")))).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    judge(&place, &reference, &format!("oci:{}:copy", place.path("copy")), &written);
}

#[test]
fn lists_of_docker_and_unnamed_siblings_get_an_index_in_a_layout() {
    let (place, folder) = (Place::new(), tempdir().unwrap());
    let mut list = Layout::default();
    let images: Vec<Image> = images().into_iter().map(Image::with_docker_types).collect();
    let manifests: Vec<Value> = images.iter().map(|image| list.add_image(image)).collect();
    let docker = list.add_docker_list(&manifests);
    list.root(tagged(docker, "1"));
    let mut flat = Layout::default();
    for image in self::images() {
        let descriptor = flat.add_image(&image);
        flat.root(tagged(descriptor, "1"));
    }
    for (name, layout) in [("list", list), ("flat", flat)] {
        let reference = format!("oci:{}:1", place.put_layout(name, &layout));
        let out = at(&folder, name);
        let written = slim(&place, &reference, &format!("oci:{out}"), &["--platform", "linux/amd64"]);
        judge(&place, &reference, &format!("oci:{out}"), &written);
        let index = json(&blobs(&out)[hex(&written["output"]["index_digest"])]);
        assert!(index["mediaType"].as_str().unwrap().contains("oci.image.index"), "{index:#}");
        assert!(index["manifests"].as_array().unwrap().iter().all(|one| one.get("annotations").is_none()));
    }
}

#[test]
fn without_others_a_note_says_so() {
    let (place, folder) = (Place::new(), tempdir().unwrap());
    let reference = format!("oci:{}", place.put_layout("source", &Layout::of(&images()[0], "1")));
    let written =
        slim(&place, &reference, &format!("oci:{}", at(&folder, "out")), &["--platform", "linux/amd64"]);
    assert!(written["output"]["index_digest"].is_null());
    let notes = written["notes"].as_array().unwrap();
    assert!(
        notes.iter().any(|note| note.as_str().unwrap().contains("no images for other platforms")),
        "{notes:?}"
    );
}

#[test]
fn what_cannot_be_carried_over_is_refused() {
    let place = Place::new();
    let images = images();
    let source = place.put_layout("source", &layout(&images));
    let slim = |source: &str, destination: &str| {
        place.failure(&["slim", source, "-o", destination, "--all-platforms", "--platform", "linux/amd64"])
    };
    for destination in ["dir:out", "docker-archive:out.tar:a", "docker-daemon:a/b:c", "podman:a/b:c"] {
        let message = slim(&format!("oci:{source}:1"), destination);
        assert!(message.contains(destination) && message.contains("one platform"), "{message}");
    }
    // The index names images that were not copied, or a layer is missing.
    let mut cut = layout(&images);
    let manifest = crate::fixtures::digest(&crate::fixtures::json_bytes(&images[2].manifest_json()));
    cut.remove_blob(&manifest);
    let message =
        slim(&format!("oci:{}:1", place.put_layout("cut", &cut)), &format!("oci:{}", place.path("a")));
    assert!(message.contains("linux/arm/v7"), "{message}");
    let mut cut = layout(&images);
    cut.remove_blob(&images[1].layers[3].digest);
    let message =
        slim(&format!("oci:{}:1", place.put_layout("thin", &cut)), &format!("oci:{}", place.path("b")));
    assert!(message.contains("linux/arm64") && message.contains(&images[1].layers[3].digest), "{message}");
    let mut other = layout(&images);
    other.put_blob(&images[1].layers[3].digest, b"other bytes");
    let message =
        slim(&format!("oci:{}:1", place.put_layout("other", &other)), &format!("oci:{}", place.path("c")));
    assert!(message.contains(&images[1].layers[3].digest), "{message}");
    let packed = place.put("packed.tar.gz", crate::fixtures::packing::gzip(&layout(&images).archive()));
    let message = slim(&format!("oci-archive:{packed}:1"), &format!("oci:{}", place.path("d")));
    assert!(message.contains("compressed archive") && message.contains("decompress"), "{message}");
    for name in ["a", "b", "c", "d"] {
        assert!(!Path::new(&place.path(name)).exists(), "{name}");
    }
}

#[test]
fn a_registry_receives_the_index_last() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let place = &bench.place;
    let source = format!("oci:{}:1", place.put_layout("source", &layout(&images())));
    let pushed = format!("docker://{}/team/many:1", bench.host());
    let run = |source: &str, destination: &str| {
        bench.proxy.forget();
        let arguments = ["slim", source, "-o", destination, "--all-platforms", "--format", "json"];
        let outcome =
            bench.run(&[], &[&arguments[..], &["--plain-http", "--platform", "linux/amd64"]].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let seen = bench.proxy.seen();
        let manifests = seen.iter().filter(|seen| seen.method == "PUT" && seen.path.contains("/manifests/"));
        let names: Vec<String> =
            manifests.map(|seen| seen.path.rsplit('/').next().unwrap().to_owned()).collect();
        (json(outcome.stdout.as_bytes()), names)
    };
    let (written, names) = run(&source, &pushed);
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(
        (names[0].as_str(), names[3].as_str()),
        (written["output"]["manifest_digest"].as_str().unwrap(), "1")
    );
    let report = |reference: &str, platform: &str| {
        let outcome = bench
            .run(&[], &["report", reference, "--platform", platform, "--plain-http", "--format", "json"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        json(outcome.stdout.as_bytes())["image"]["manifest_digest"].clone()
    };
    for (place, platform) in ["linux/amd64", "linux/arm64", "linux/arm/v7"].into_iter().enumerate() {
        let expected = match place {
            0 => &written["output"]["manifest_digest"],
            _ => &written["other_platforms"][place - 1]["manifest_digest"],
        };
        assert_eq!(report(&pushed, platform), *expected, "{platform}");
    }
    // From there to another repository.
    let (again, names) = run(&pushed, &pushed.replace("many:1", "other:2"));
    assert_eq!(names.last().unwrap(), "2");
    assert_eq!(again["other_platforms"], written["other_platforms"]);
    assert_eq!(
        report(&pushed.replace("many:1", "other:2"), "linux/arm64"),
        again["other_platforms"][0]["manifest_digest"]
    );
}
