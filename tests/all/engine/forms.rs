//! All forms in which engines of docker send an image, and when one that passed is believed.

use super::scene::{Machine, TAG, anywhere, image, same};
use super::socket::Engine;
use crate::fixtures::digest;
use crate::fixtures::docker::{save_ancient, save_classic, save_modern};
use crate::fixtures::layout::{Layout, members_of, tagged};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, tar};

fn reference() -> String {
    format!("docker-daemon:{TAG}")
}

/// The requests for a report that streams, and for one that does not.
fn requests(streams: bool) -> Vec<String> {
    let both = [format!("/images/{TAG}/json"), format!("/images/{TAG}/get")];
    both.into_iter().take(if streams { 2 } else { 1 }).collect()
}

/// An image is read from each form as from the file that has the same bytes, and streams once.
fn reads_once(members: Vec<Member>, form: &str, id: Option<String>) {
    let machine = Machine::new();
    let mut engine = Engine::new(&image("forms"), members);
    engine.id = id.unwrap_or(engine.id);
    let path = machine.put("saved.tar", &engine.saved);
    let from_file = machine.report_of_file(&format!("{form}:{path}"));
    let socket = engine.at(&machine, "e.sock");
    let environment = [("DOCKER_HOST", socket.host())];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    for streams in [true, false, false] {
        let report = machine.report(&environment, &reference());
        assert_eq!(report["image"]["source"], "engine");
        assert_eq!(report["image"]["reference"], reference());
        for layer in report["layers"].as_array().unwrap() {
            assert_ne!(layer["verified"], "none", "{layer:#}");
        }
        same(&anywhere(report), &from_file);
        assert_eq!(socket.seen(), requests(streams));
    }
}

#[test]
fn docker_before_25_sends_its_manifest_last() {
    reads_once(save_classic(&[(&image("forms"), &[TAG])]), "docker-archive", None);
}

#[test]
fn a_manifest_that_comes_first_is_read_as_well() {
    let mut members = save_classic(&[(&image("forms"), &[TAG])]);
    members.reverse();
    reads_once(members, "docker-archive", None);
}

#[test]
fn docker_25_sends_an_oci_layout() {
    reads_once(save_modern(&[(&image("forms"), &[TAG])]), "docker-archive", None);
}

#[test]
fn the_store_of_containerd_has_the_digest_of_a_manifest_or_index_as_id() {
    let image = image("forms").packed(Packing::Gzip);
    let manifest = digest(&image.manifest_bytes());
    reads_once(save_modern(&[(&image, &[TAG])]), "docker-archive", Some(manifest));
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&image);
    let index = layout.add_index(&[descriptor]);
    let id = index["digest"].as_str().unwrap().to_owned();
    layout.root(tagged(index, TAG));
    reads_once(members_of(&layout.files()), "oci-archive", Some(id));
}

#[test]
fn the_oldest_form_is_read_and_not_kept_since_it_has_no_config_to_prove_it() {
    let machine = Machine::new();
    let image = image("forms");
    let engine = Engine::new(&image, save_ancient(&image, "example.org/app", "1.0"));
    let socket = engine.at(&machine, "e.sock");
    for _ in 0..2 {
        let report = machine.report(&[("DOCKER_HOST", &socket.host())], &reference());
        assert_eq!(report["totals"]["layers"], 2);
        assert_eq!(socket.seen(), requests(true));
    }
}

#[test]
fn a_stream_that_is_not_what_the_id_says_is_shown_and_not_kept() {
    let machine = Machine::new();
    let image = image("forms");
    let mut engine = Engine::new(&image, save_classic(&[(&image, &[TAG])]));
    engine.id = digest(b"another config");
    let socket = engine.at(&machine, "e.sock");
    for _ in 0..2 {
        let report = machine.report(&[("DOCKER_HOST", &socket.host())], &reference());
        assert_eq!(report["totals"]["layers"], 2);
        assert_eq!(socket.seen(), requests(true));
    }
}

#[test]
fn what_is_known_is_not_believed_when_the_engine_names_other_layers() {
    let machine = Machine::new();
    let (one, other) = (image("one"), image("other"));
    let engine = Engine::new(&one, save_classic(&[(&one, &[TAG])]));
    let liar = Engine { diff_ids: Engine::new(&other, []).diff_ids, ..engine.clone() };
    let socket = engine.at(&machine, "e.sock");
    machine.report(&[("DOCKER_HOST", &socket.host())], &reference());
    drop(socket);
    let socket = liar.at(&machine, "e.sock");
    machine.report(&[("DOCKER_HOST", &socket.host())], &reference());
    assert_eq!(socket.seen(), requests(true));
}

#[test]
fn an_image_of_another_name_or_id_is_not_taken_for_the_known_one() {
    let machine = Machine::new();
    let (one, other) = (image("one"), image("other"));
    let socket = Engine::new(&one, save_classic(&[(&one, &[TAG])])).at(&machine, "1.sock");
    let first = machine.report(&[("DOCKER_HOST", &socket.host())], &reference());
    drop(socket);
    // The tag moved to another image.
    let socket = Engine::new(&other, save_classic(&[(&other, &[TAG])])).at(&machine, "1.sock");
    let moved = machine.report(&[("DOCKER_HOST", &socket.host())], &reference());
    assert_eq!(socket.seen(), requests(true));
    assert_ne!(first["image"]["config_digest"], moved["image"]["config_digest"]);
    // The first image has another name by now: it is known, and shown by the name it has.
    let mut renamed = Engine::new(&one, save_classic(&[(&one, &[TAG])]));
    renamed.name = "example.org/other:2".into();
    drop(socket);
    let socket = renamed.clone().at(&machine, "1.sock");
    let again = machine.report(&[("DOCKER_HOST", &socket.host())], "docker:example.org/other:2");
    assert_eq!(socket.seen(), ["/images/example.org/other:2/json"]);
    assert_eq!(again["image"]["config_digest"], first["image"]["config_digest"]);
    assert_eq!(again["image"]["tags"], serde_json::json!(["example.org/other:2"]));
    // What one engine said is no word of another.
    let socket = renamed.at(&machine, "2.sock");
    machine.report(&[("DOCKER_HOST", &socket.host())], "docker:example.org/other:2");
    assert_eq!(socket.seen().len(), 2);
}

#[test]
fn of_several_images_in_one_stream_the_one_that_was_asked_for_is_read() {
    let machine = Machine::new();
    let (one, other) = (image("one"), image("other"));
    let both = tar(save_classic(&[(&other, &["example.org/other:1"]), (&one, &[TAG])]));
    let engine = Engine { saved: both, ..Engine::new(&one, []) };
    let id = engine.id.clone();
    let socket = engine.at(&machine, "e.sock");
    for reference in [reference(), format!("docker-daemon:{id}")] {
        let report =
            machine.report(&[("DOCKER_HOST", &socket.host()), ("CUTAWAY_NO_CACHE", "1")], &reference);
        assert_eq!(report["image"]["config_digest"], id);
    }
}

#[test]
fn memory_does_not_grow_with_the_image() {
    let machine = Machine::new();
    let peak = |megabytes: usize| {
        let layer = tar([crate::fixtures::tarball::file("opt/large", vec![7; megabytes << 20])]);
        let image = crate::fixtures::image::Image::of(Packing::Plain, [layer]);
        let engine = Engine::new(&image, save_classic(&[(&image, &[TAG])]));
        let socket = engine.at(&machine, &format!("{megabytes}.sock"));
        let run =
            machine.run(&[("DOCKER_HOST", &socket.host())], &["report", &reference(), "--format", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.peak_kib
    };
    let (small, large) = (peak(2), peak(80));
    assert!(large < small + 16 * 1024, "{small} KiB for 2 MiB, {large} KiB for 80 MiB");
}

#[test]
fn the_platform_that_was_asked_for_is_read_from_a_stream_of_several() {
    let machine = Machine::new();
    let here = image("here").for_platform("linux", "amd64", None);
    let there = image("there").for_platform("linux", "arm64", None);
    let mut layout = Layout::default();
    let descriptors = [layout.add_image(&here), layout.add_image(&there)];
    let index = layout.add_index(&descriptors);
    let id = index["digest"].as_str().unwrap().to_owned();
    layout.root(tagged(index, TAG));
    // Beside the layout docker tells of the machine's own platform only.
    let mut members = members_of(&layout.files());
    members
        .extend(save_modern(&[(&here, &[TAG])]).into_iter().filter(|member| member.name == b"manifest.json"));
    let engine = Engine { id, ..Engine::new(&here, members) };
    let socket = engine.at(&machine, "e.sock");
    for (platform, image, streams) in
        [("linux/amd64", &here, true), ("linux/arm64", &there, false), ("linux/amd64", &here, false)]
    {
        let options = ["--platform", platform];
        let (_, report) = machine.report_with(&[("DOCKER_HOST", &socket.host())], &reference(), &options);
        assert_eq!(report["image"]["config_digest"], digest(&image.config_bytes()), "{platform}");
        assert_eq!(socket.seen(), requests(streams), "{platform}");
    }
    let refused = machine
        .run(&[("DOCKER_HOST", &socket.host())], &["report", &reference(), "--platform", "linux/s390x"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("linux/arm64"), "{}", refused.stderr);
}

#[test]
fn a_layer_of_another_size_than_the_engine_says_makes_the_image_invalid() {
    let machine = Machine::new();
    let right = image("forms");
    let mut wrong = right.clone();
    wrong.layers[0].size += 7;
    let socket = Engine::new(&right, save_modern(&[(&wrong, &[TAG])])).at(&machine, "e.sock");
    for _ in 0..2 {
        let (code, report) = machine.report_with(&[("DOCKER_HOST", &socket.host())], &reference(), &[]);
        assert_eq!((code, &report["totals"]["complete"]), (2, &false.into()));
        let warnings = report["warnings"].to_string();
        let sizes = [right.layers[0].size, wrong.layers[0].size].map(|size| size.to_string());
        assert!(
            warnings.contains("size-mismatch") && sizes.iter().all(|size| warnings.contains(size)),
            "{warnings}"
        );
    }
}
