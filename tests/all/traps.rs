//! Bad and hostile input: each ends soon, with the right status, and says what is wrong with what.

#![allow(clippy::cast_possible_truncation, reason = "random numbers are cut to bytes on purpose")]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::fixtures::docker::{save_classic, save_modern};
use crate::fixtures::filler::Numbers;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::{Layout, flat_dir, tagged};
use crate::fixtures::packing::{Packing, gzip, zstd, zstd_skippable, zstd_window};
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Checksum, Member, dir, file, hardlink, member, symlink as link, tar, without_end,
};
use crate::fixtures::{digest, json_bytes};
use crate::support::{Place, Report};

const TAG: &str = "t";

fn three_files() -> Vec<u8> {
    tar([file("a", vec![1; 1000]), file("b", vec![2; 2000]), file("c", vec![3; 3000])])
}

/// The report of an image with these layers over a good one; the good one must be read in any case.
fn report_of(layers: impl IntoIterator<Item = Layer>) -> Report {
    let place = Place::new();
    let image = Image::new(Packing::Gzip).layer("COPY good / # buildkit", &tar([file("good", vec![9; 90])]));
    let image = layers.into_iter().fold(image, |image, layer| image.add("COPY bad / # buildkit", layer));
    let report =
        place.report_with(&format!("oci:{}", place.put_layout("layout", &Layout::of(&image, TAG))), &[]);
    assert_eq!(report.layers()[0]["content_bytes"], 90);
    report
}

/// A layer whose blob is these bytes, claimed to be packed so.
fn raw(blob: impl Into<Vec<u8>>, packing: Packing) -> Layer {
    Layer::of_blob(three_files(), blob.into(), packing)
}

fn plain(tar: impl Into<Vec<u8>>) -> Layer {
    let tar = tar.into();
    Layer::of_blob(tar.clone(), tar, Packing::Plain)
}

/// The report is incomplete and one of its warnings has one of these codes and names layer 1.
fn incomplete(report: &Report, codes: &[&str]) {
    assert_eq!(report.code, 2, "{:#}", report.json["warnings"]);
    assert!(!report.complete());
    let named = report.json["warnings"].as_array().unwrap().iter().any(|warning| {
        let subject = warning["subject"].as_str().unwrap();
        codes.iter().any(|code| warning["code"] == *code)
            && (subject.contains("layer 1") || subject.contains("sha256:"))
    });
    assert!(named, "none of {codes:?} about the layer: {:#}", report.json["warnings"]);
}

#[test]
fn a_layer_cut_in_a_body_counts_what_was_there() {
    let whole = three_files();
    // In the body of the second file: the first one counts.
    let cut = &whole[..512 + 1024 + 512 + 100];
    for layer in [plain(cut), raw(gzip(cut), Packing::Gzip), raw(zstd(cut), Packing::Zstd)] {
        let report = report_of([layer]);
        incomplete(&report, &["layer-cut-short"]);
        assert!(report.layers()[1]["content_bytes"].as_u64().unwrap() >= 1000, "{:#}", report.json["layers"]);
    }
}

#[test]
fn a_layer_cut_in_a_header() {
    let whole = three_files();
    incomplete(&report_of([plain(&whole[..512 + 1024 + 300])]), &["layer-cut-short"]);
}

#[test]
fn a_compressed_stream_cut_anywhere() {
    for (packing, whole) in [(Packing::Gzip, gzip(&three_files())), (Packing::Zstd, zstd(&three_files()))] {
        for keep in [1, 2, 5, 9, 12, 18, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            let report = report_of([raw(&whole[..keep], packing)]);
            incomplete(&report, &["layer-cut-short", "layer-malformed"]);
        }
    }
}

#[test]
fn an_empty_blob_is_no_layer() {
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        let report = report_of([raw("", packing)]);
        assert!(
            report.codes().iter().any(|code| code.starts_with("layer-") || *code == "tar-oddity"),
            "{packing:?}"
        );
    }
}

#[test]
fn a_stream_without_end_blocks_is_whole() {
    let members = [file("a", vec![1; 1000]), file("b", vec![2; 512])];
    let bare = without_end(members.clone());
    let one = [bare.as_slice(), &[0; 512]].concat();
    for stream in [bare, one, [tar(members).as_slice(), &[0; 9000]].concat()] {
        let report = report_of([plain(stream.clone()), raw(gzip(&stream), Packing::Gzip)]);
        assert!(report.complete(), "{:#}", report.json["warnings"]);
        assert_eq!(report.each("content_bytes"), [90, 1512, 1512]);
    }
}

#[test]
fn a_wrong_checksum_ends_the_layer() {
    let mut bad = file("b", vec![2; 2000]);
    bad.checksum = Checksum::Wrong;
    let stream = tar([file("a", vec![1; 1000]), bad, file("c", vec![3; 3000])]);
    for layer in [plain(stream.clone()), raw(gzip(&stream), Packing::Gzip)] {
        let report = report_of([layer]);
        incomplete(&report, &["layer-malformed"]);
        assert_eq!(report.layers()[1]["content_bytes"], 1000);
    }
    let mut signed = file("\u{fc}", "1");
    signed.checksum = Checksum::Signed;
    assert!(report_of([plain(tar([signed]))]).complete(), "the sum over signed bytes is also in use");
}

#[test]
fn noise_in_place_of_a_layer() {
    let mut numbers = Numbers::new("noise");
    let noise: Vec<u8> = (0..5000).flat_map(|_| numbers.next().to_le_bytes()).collect();
    for bytes in [
        noise.clone(),
        vec![b'x'; 10_000],
        b"\x89PNG\r\n\x1a\n0000".to_vec(),
        br#"{"not":"a layer"}"#.to_vec(),
    ] {
        incomplete(&report_of([plain(bytes.clone())]), &["layer-malformed", "layer-cut-short"]);
        incomplete(&report_of([raw(gzip(&bytes), Packing::Gzip)]), &["layer-malformed", "layer-cut-short"]);
    }
    let mut damaged = gzip(&three_files());
    for byte in damaged.iter_mut().skip(20) {
        *byte ^= 0x5a;
    }
    incomplete(&report_of([raw(damaged, Packing::Gzip)]), &["layer-cut-short", "layer-malformed"]);
}

#[test]
fn a_digest_that_is_not_the_bytes() {
    let other = gzip(&tar([file("other", vec![4; 4000])]));
    let mut layer = raw(other, Packing::Gzip);
    layer.digest = digest(b"something else");
    incomplete(&report_of([layer]), &["digest-mismatch"]);
}

#[test]
fn a_plain_layer_is_checked_when_asked() {
    let place = Place::new();
    let mut layer = plain(three_files());
    layer.digest = digest(b"something else");
    let image = Image::new(Packing::Plain).add("COPY", layer);
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    let report = place.report_with(&path, &["--verify"]);
    assert_eq!(report.code, 2);
    report.warnings("digest-mismatch");
}

#[test]
fn a_diff_id_that_is_not_the_stream() {
    let place = Place::new();
    let mut layer = Layer::new(&three_files(), Packing::Gzip);
    layer.diff_id = digest(b"something else");
    let image = Image::new(Packing::Gzip).add("COPY", layer);
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    let report = place.report_with(&path, &["--verify"]);
    report.warnings("digest-mismatch");
    assert_eq!(report.layers()[0]["content_bytes"], 6000);
}

#[test]
fn a_blob_that_is_not_there() {
    let mut layer = Layer::new(&three_files(), Packing::Gzip);
    layer.stored = false;
    let digest = layer.digest.clone();
    let report = report_of([layer]);
    incomplete(&report, &["layer-missing"]);
    assert!(report.json["warnings"].to_string().contains(&digest[7..19]), "{:#}", report.json["warnings"]);
}

#[test]
fn a_size_that_is_not_the_bytes() {
    for size in [0, 1, 100, 1 << 40, u64::MAX >> 1] {
        for packing in [Packing::Plain, Packing::Gzip] {
            let mut layer = Layer::new(&three_files(), packing);
            layer.size = size;
            incomplete(&report_of([layer]), &["size-mismatch"]);
        }
    }
}

#[test]
fn a_negative_size_in_the_manifest() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [three_files()]);
    let mut manifest = image.manifest_json();
    for size in [json!(-1), json!(1.5), json!("7"), json!(null), json!(1e300)] {
        manifest["layers"][0]["size"] = size;
        let mut layout = Layout::default();
        layout.add_image(&image);
        let descriptor = layout.add_json(&manifest);
        layout.root(descriptor);
        let path = place.put_layout(&format!("size-{}", manifest["layers"][0]["size"]), &layout);
        let outcome = place.run(&["report", &path, "--format", "json"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        assert!(
            outcome.stderr.contains("error: ") || outcome.stdout.contains("size-mismatch"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn a_media_type_that_is_not_the_bytes() {
    for (claimed, real) in [
        (Packing::Gzip, Packing::Plain),
        (Packing::Gzip, Packing::Zstd),
        (Packing::Plain, Packing::Gzip),
        (Packing::Zstd, Packing::Gzip),
    ] {
        let mut layer = Layer::new(&three_files(), real);
        layer.media_type = claimed.media_type().into();
        let report = report_of([layer]);
        assert!(report.complete(), "{:#}", report.json["warnings"]);
        report.warnings("media-type-mismatch");
        assert_eq!(report.layers()[1]["compression"], real.name());
        assert_eq!(report.layers()[1]["content_bytes"], 6000);
    }
}

#[test]
fn something_after_the_end() {
    let stream = three_files();
    for layer in [
        raw([gzip(&stream).as_slice(), b"and then some"].concat(), Packing::Gzip),
        raw([zstd(&stream).as_slice(), b"and then some"].concat(), Packing::Zstd),
        raw(gzip(&[stream.as_slice(), &[7; 2048]].concat()), Packing::Gzip),
    ] {
        let report = report_of([layer]);
        report.warnings("trailing-data");
        assert_eq!(report.layers()[1]["content_bytes"], 6000);
    }
    // Skippable frames are part of the format.
    let framed = [zstd(&stream), zstd_skippable(b"whatever")].concat();
    assert_eq!(report_of([raw(framed, Packing::Zstd)]).codes(), Vec::<&str>::new());
}

#[test]
fn absurd_sizes_in_headers() {
    let absurd = [
        {
            let mut member = file("x", "1").claiming(u64::MAX >> 1);
            member.base256 = true;
            member
        },
        file("x", "1").edit(124, [0xff; 12]),
        file("x", "1").edit(124, b"77777777777\0"),
        file("x", "1").edit(124, b"-0000000001\0"),
        file("x", "1").edit(124, b"99999999999\0"),
        file("x", "1").edit(124, b"garbage here"),
        file("x", "1").pax("size", "9223372036854775807"),
        file("x", "1").pax("size", "99999999999999999999999999"),
        file("x", "1").pax("size", "-5"),
        member(b'L', "././@LongLink").claiming(u64::MAX >> 1),
        member(b'x', "PaxHeaders.0/x").claiming(8 << 30),
    ];
    for member in absurd {
        let what = format!("{member:?}");
        let stream = [without_end([file("a", vec![1; 1000]), member]), three_files()].concat();
        for layer in [plain(stream.clone()), raw(gzip(&stream), Packing::Gzip)] {
            let report = report_of([layer]);
            assert_eq!(report.code, 2, "{what}: {:#}", report.json["warnings"]);
            incomplete(&report, &["layer-malformed", "layer-cut-short"]);
            assert!(report.total("content_bytes") < 1 << 20, "a claim was counted: {what}");
        }
    }
}

#[test]
fn sparse_files_that_claim_the_impossible() {
    let honest = Sparse::regular(3, 4096);
    let mut cases: Vec<Member> = Vec::new();
    // The logical size itself is beyond all file systems.
    for size in ["9223372036854775807", "18446744073709551616", "-1", "many"] {
        let mut member = honest.pax_1_0("s");
        member.pax.retain(|(key, _)| key != b"GNU.sparse.realsize");
        cases.push(member.pax("GNU.sparse.realsize", size));
    }
    // The map is longer than the body, or no numbers.
    let mut endless = honest.pax_1_0("s");
    endless.body = vec![b'1'; 4096];
    cases.push(endless);
    let mut wordy = honest.pax_1_0("s");
    wordy.body[..8].copy_from_slice(b"nonsense");
    cases.push(wordy);
    let mut many = honest.pax_1_0("s");
    many.body[..12].copy_from_slice(b"99999999999\n");
    cases.push(many);
    // Extended headers of the old form without end.
    let mut chain = honest.old_gnu("s");
    let mut block = [0_u8; 512];
    block[504] = 1;
    chain.between = block.repeat(200);
    cases.push(chain.edit(482, [1]));
    for member in cases {
        let stream = tar([member, file("after", "1")]);
        let report = report_of([raw(gzip(&stream), Packing::Gzip), plain(stream)]);
        assert!(report.total("content_bytes") < 1 << 50, "{:#}", report.json["totals"]);
    }
}

#[test]
fn a_zstd_window_that_is_too_large_is_refused_by_name() {
    for log in [28, 31, 41] {
        let report = report_of([raw(zstd_window(log, &three_files()), Packing::Zstd)]);
        incomplete(&report, &["layer-cut-short", "layer-malformed"]);
        assert!(report.json["warnings"].to_string().contains("window"), "{:#}", report.json["warnings"]);
    }
}

/// A tar stream of one file of `mib` MiB of zeros, as gzip members: small and cheap to make.
fn bomb(mib: u64) -> Vec<u8> {
    let header = without_end([file("zeros", "").claiming(mib << 20)]);
    let chunk = gzip(&vec![0; 16 << 20]);
    let mut blob = gzip(&header);
    for _ in 0..mib / 16 {
        blob.extend(&chunk);
    }
    blob.extend(gzip(&[0; 1024]));
    blob
}

#[test]
fn a_gibibyte_of_zeros_costs_no_memory() {
    let place = Place::new();
    let blob = bomb(1024);
    assert!(blob.len() < 2 << 20);
    let image = Image::new(Packing::Gzip).add("RUN fill", Layer::of_blob(Vec::new(), blob, Packing::Gzip));
    let layout = Layout::of(&image, TAG);
    let folder = place.put_layout("layout", &layout);
    let archive = place.put("archive.tar.gz", gzip(&layout.archive()));
    for path in [folder, archive] {
        let outcome = place.run_within(900, &["report", &path, "--format", "json"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(json["totals"]["content_bytes"], 1_u64 << 30);
        assert!(outcome.peak_kib < 160 << 10, "{} KiB resident", outcome.peak_kib);
    }
}

#[test]
fn an_archive_that_is_a_bomb_costs_no_memory() {
    let place = Place::new();
    // The outer archive holds a gibibyte that nothing asks for, and documents that claim to be huge.
    let zeros = place.put("zeros.tar.gz", bomb(1024));
    let outcome = place.run_within(900, &["report", &zeros, "--format", "json"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("zeros.tar.gz"), "{}", outcome.stderr);
    assert!(outcome.peak_kib < 160 << 10, "{} KiB resident", outcome.peak_kib);
    for name in ["manifest.json", "index.json"] {
        let body = [without_end([file(name, "").claiming(512 << 20)]), vec![b' '; 1 << 20]].concat();
        let path = place.put(&format!("huge-{name}"), gzip(&body));
        let outcome = place.run_within(900, &["report", &path, "--format", "json"]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.peak_kib < 160 << 10, "{} KiB resident", outcome.peak_kib);
    }
}

#[test]
fn an_archive_cut_anywhere() {
    let place = Place::new();
    let image = Image::of(Packing::Plain, [three_files()]);
    let forms = [
        ("oci", Layout::of(&image, TAG).archive()),
        ("classic", tar(save_classic(&[(&image, &["example.org/app:1"])]))),
        ("modern", tar(save_modern(&[(&image, &["example.org/app:1"])]))),
    ];
    // Either an error that names the archive, or a report: one that says it is complete has everything.
    let judge = |path: &str| {
        let outcome = place.run(&["report", path, "--format", "json"]);
        if outcome.stdout.is_empty() {
            assert_eq!(outcome.code, 2, "{path}");
            let name = path.rsplit('/').next().unwrap();
            assert!(outcome.stderr.contains(name), "{path}: {}", outcome.stderr);
            return;
        }
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let complete = report["totals"]["complete"] == true;
        assert_eq!(outcome.code, if complete { 0 } else { 2 }, "{path}");
        assert!(!complete || report["totals"]["content_bytes"] == 6000, "{path}: {report:#}");
    };
    for (form, whole) in &forms {
        for eighth in 1..8 {
            let cut = &whole[..whole.len() * eighth / 8 - 100];
            judge(&place.put(&format!("{form}-{eighth}-plain.tar"), cut));
            judge(&place.put(&format!("{form}-{eighth}-gzip.tar"), gzip(cut)));
        }
        // The compressed stream itself is cut.
        for packed in [gzip(whole), zstd(whole)] {
            judge(&place.put(&format!("{form}-stream.tar"), &packed[..packed.len() / 2]));
        }
    }
}

#[test]
fn what_is_no_image_is_refused_by_name() {
    let place = Place::new();
    let mut numbers = Numbers::new("random");
    let random: Vec<u8> = (0..4096).flat_map(|_| numbers.next().to_le_bytes()).collect();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty.tar", Vec::new()),
        ("one-byte", vec![0x1f]),
        ("random.bin", random),
        ("zeros.bin", vec![0; 4096]),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
        ("text.txt", b"hello\n".to_vec()),
        ("object.json", b"{}".to_vec()),
        ("empty.gz", gzip(b"")),
        ("empty.zst", zstd(b"")),
        ("text.gz", gzip(b"hello\n")),
        ("files.tar", tar([file("a", "1"), dir("b")])),
        ("files.tar.gz", gzip(&tar([file("a", "1")]))),
        ("end.tar", tar([])),
        ("gzip-in-gzip.gz", gzip(&gzip(b"hello"))),
    ];
    for (name, bytes) in cases {
        let path = place.put(name, bytes);
        for transport in ["", "oci-archive:", "docker-archive:"] {
            place.refusal(&format!("{transport}{path}"), name);
        }
        for transport in ["oci:", "dir:", "rootfs:"] {
            place.refusal(&format!("{transport}{path}"), name);
        }
    }
    fs::create_dir(place.path("folder")).unwrap();
    let folder = place.path("folder");
    for transport in ["", "oci:", "dir:", "oci-archive:", "docker-archive:"] {
        place.refusal(&format!("{transport}{folder}"), "folder");
    }
    let absent = place.path("absent.tar");
    for transport in ["", "oci:", "dir:", "rootfs:", "oci-archive:", "docker-archive:"] {
        let message = place.refusal(&format!("{transport}{absent}"), "absent.tar");
        assert!(message.to_lowercase().contains("no such file"), "{message}");
    }
}

#[test]
fn references_that_are_none() {
    let place = Place::new();
    for reference in [
        "",
        "oci:",
        "dir:",
        "docker-archive:",
        "sample:",
        "sample:other",
        "oci-archive::",
        "a b c",
        "UPPER:x y",
    ] {
        let outcome = place.run(&["report", reference]);
        assert_eq!(outcome.code, 2, "{reference:?}: {}", outcome.stdout);
        assert_eq!(outcome.stdout, "", "{reference:?}");
        assert!(outcome.stderr.contains("error: "), "{reference:?}: {}", outcome.stderr);
    }
    for arguments in [
        &["report"][..],
        &["report", "a", "b"],
        &["report", "sample:devel", "--format", "yaml"],
        &["nonsense", "x", "y"],
    ] {
        assert_eq!(place.run(arguments).code, 2, "{arguments:?}");
    }
}

/// Special files in place of an archive or a blob: nothing may hang, nothing may be followed out.
#[test]
fn special_files_are_refused() {
    let place = Place::new();
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink("/dev/zero", place.path("zero-link")).unwrap();
    symlink("absent", place.path("dangling")).unwrap();
    symlink("round", place.path("round")).unwrap();
    for (name, path) in [
        ("pipe", pipe),
        ("/dev/null", "/dev/null".into()),
        ("/dev/zero", "/dev/zero".into()),
        ("zero-link", place.path("zero-link")),
        ("dangling", place.path("dangling")),
        ("round", place.path("round")),
    ] {
        for transport in ["", "oci-archive:", "docker-archive:"] {
            place.refusal(&format!("{transport}{path}"), name);
        }
    }
}

#[test]
fn special_files_in_place_of_a_blob() {
    let make = |place: &Place, what: &str, path: &str| {
        fs::remove_file(path).unwrap();
        match what {
            "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            "folder" => fs::create_dir(path).unwrap(),
            "device" => symlink("/dev/zero", path).unwrap(),
            "round" => symlink(path, path).unwrap(),
            _ => symlink(place.path("absent"), path).unwrap(),
        }
    };
    let image = Image::of(Packing::Gzip, [three_files(), tar([file("d", vec![4; 400])])]);
    for what in ["pipe", "folder", "device", "round", "dangling"] {
        // A layer: the rest is still read.
        let place = Place::new();
        let folder = place.put_layout("layout", &Layout::of(&image, TAG));
        let blob = |bytes: &[u8]| format!("{folder}/blobs/{}", digest(bytes).replacen(':', "/", 1));
        make(&place, what, &blob(&image.layers[0].blob));
        let report = place.report_with(&folder, &[]);
        assert_eq!(report.code, 2, "{what}");
        assert!(
            report.codes().iter().any(|code| code.starts_with("layer-")),
            "{what}: {:#}",
            report.json["warnings"]
        );
        assert_eq!(report.layers()[1]["content_bytes"], 400);
        // The manifest, the index and the config.
        make(&place, what, &blob(&image.manifest_bytes()));
        place.refusal(&folder, "layout");
        make(&place, what, &format!("{folder}/index.json"));
        place.refusal(&format!("oci:{folder}"), "layout");
    }
}

#[test]
fn a_blob_that_is_a_link_out_of_the_layout() {
    let place = Place::new();
    let secret = place.put("secret", gzip(&tar([file("secret", vec![7; 777])])));
    let mut layer = Layer::new(&three_files(), Packing::Gzip);
    layer.stored = false;
    let image = Image::new(Packing::Gzip).add("COPY", layer.clone());
    let folder = place.put_layout("layout", &Layout::of(&image, TAG));
    symlink(secret, format!("{folder}/blobs/{}", layer.digest.replacen(':', "/", 1))).unwrap();
    let report = place.report_with(&folder, &[]);
    assert_eq!(report.code, 2, "the bytes behind the link are not those of the digest");
}

#[test]
fn an_index_that_leads_back_to_itself() {
    let place = Place::new();
    let index_type = "application/vnd.oci.image.index.v1+json";
    let (one, two) = (digest(b"one"), digest(b"two"));
    let mut layout = Layout::default();
    for (own, other) in [(&one, &two), (&two, &one)] {
        let index = json!({"schemaVersion": 2, "mediaType": index_type,
            "manifests": [{"mediaType": index_type, "digest": other, "size": 300}]});
        layout.put_blob(own, &json_bytes(&index));
    }
    layout.root(tagged(json!({"mediaType": index_type, "digest": one, "size": 300}), "round"));
    let folder = place.put_layout("layout", &layout);
    place.refusal(&folder, "layout");
}

#[test]
fn indexes_nested_too_deep() {
    let place = Place::new();
    let mut layout = Layout::default();
    let mut descriptor = layout.add_image(&Image::of(Packing::Gzip, [three_files()]));
    for _ in 0..60 {
        descriptor = layout.add_index(&[descriptor]);
    }
    layout.root(descriptor);
    place.refusal(&place.put_layout("layout", &layout), "layout");
}

#[test]
fn indexes_that_multiply() {
    // Seven levels of thirty: twenty thousand million ways to one image.
    let place = Place::new();
    let mut layout = Layout::default();
    let mut descriptor = layout.add_image(&Image::of(Packing::Gzip, [three_files()]));
    for _ in 0..7 {
        descriptor = layout.add_index(&vec![descriptor; 30]);
    }
    layout.root(descriptor);
    let path = place.put_layout("layout", &layout);
    let outcome = place.run_within(900, &["report", &path, "--format", "json"]);
    assert!(outcome.code == 2 || outcome.code == 0, "{}", outcome.stderr);
}

#[test]
fn counts_beyond_all_reason() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [three_files()]);
    // An index of fifty thousand manifests.
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&image);
    let index = layout.add_index(&vec![descriptor; 50_000]);
    layout.root(index);
    let outcome = place.run_within(900, &["report", &place.put_layout("index", &layout)]);
    assert_eq!(outcome.code, 2);
    // A manifest of fifty thousand layers.
    let mut manifest = image.manifest_json();
    manifest["layers"] = json!(vec![manifest["layers"][0].clone(); 50_000]);
    let mut layout = Layout::default();
    layout.add_image(&image);
    let descriptor = layout.add_json(&manifest);
    layout.root(descriptor);
    let outcome = place.run_within(900, &["report", &place.put_layout("manifest", &layout)]);
    assert_eq!(outcome.code, 2);
    // An archive of a quarter of a million members.
    let members = (0..250_000).map(|index| file(format!("{index}"), ""));
    let outcome = place.run_within(900, &["report", &place.put("members.tar.gz", gzip(&tar(members)))]);
    assert_eq!(outcome.code, 2);
}

#[test]
fn documents_that_are_not_what_they_should_be() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [three_files()]);
    let deep = [b"[".repeat(200_000), b"]".repeat(200_000)].concat();
    let wrong: Vec<(&str, Vec<u8>)> = vec![
        ("list", b"[]".to_vec()),
        ("null", b"null".to_vec()),
        ("number", b"7".to_vec()),
        ("empty", Vec::new()),
        ("object", b"{}".to_vec()),
        ("text", b"hello".to_vec()),
        ("cut", br#"{"schemaVersion":2,"manifests":[{"#.to_vec()),
        ("latin", b"{\"schemaVersion\":2,\"caf\xe9\":1}".to_vec()),
        ("types", br#"{"schemaVersion":"2","manifests":{},"layers":7,"config":[]}"#.to_vec()),
        ("deep", deep),
        ("large", [b"[".as_slice(), &b"0,".repeat(6 << 20), b"0]"].concat()),
    ];
    for (name, bytes) in &wrong {
        // index.json of a layout
        let mut files = Layout::of(&image, TAG).files();
        files.insert("index.json".into(), bytes.clone());
        let folder = place.put_files(&format!("index-{name}"), &files);
        place.refusal(&format!("oci:{folder}"), "index");
        // manifest.json of skopeo's folder
        let mut files = flat_dir(&image);
        files.insert("manifest.json".into(), bytes.clone());
        let folder = place.put_files(&format!("flat-{name}"), &files);
        place.refusal(&format!("dir:{folder}"), "manifest.json");
        // manifest.json of a docker archive
        let archive = tar([file("manifest.json", bytes.clone())]);
        let path = place.put(&format!("docker-{name}.tar"), archive);
        place.refusal(&format!("docker-archive:{path}"), &format!("docker-{name}.tar"));
        // a manifest behind a right digest
        let mut layout = Layout::default();
        let digest = layout.add_blob(bytes);
        let media_type = "application/vnd.oci.image.manifest.v1+json";
        layout.root(json!({"mediaType": media_type, "digest": digest, "size": bytes.len()}));
        let folder = place.put_layout(&format!("manifest-{name}"), &layout);
        place.refusal(&folder, &digest[7..19]);
    }
}

#[test]
fn a_config_that_is_not_what_it_should_be() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [three_files()]);
    let whole = image.config_json();
    let mut cases: Vec<(String, Vec<u8>)> = vec![
        ("list".into(), b"[]".to_vec()),
        ("empty".into(), b"{}".to_vec()),
        ("text".into(), b"nonsense".to_vec()),
    ];
    for (name, value) in [
        ("rootfs", json!(null)),
        ("rootfs", json!({"type": "layers", "diff_ids": []})),
        ("rootfs", json!({"type": "layers", "diff_ids": ["sha256:../../x"]})),
        ("history", json!([])),
        ("history", json!([{"created_by": "a"}, {"created_by": "b"}, {"created_by": "c"}])),
        ("history", json!("text")),
        ("config", json!(7)),
        ("config", json!({"Env": "A=b", "Labels": ["x"], "Entrypoint": {"a": 1}})),
        ("created", json!(12)),
        ("architecture", json!(null)),
    ] {
        let mut config = whole.clone();
        config[name] = value;
        cases.push((format!("{name}-{}", cases.len()), json_bytes(&config)));
    }
    for (name, bytes) in cases {
        let mut manifest = image.manifest_json();
        manifest["config"]["digest"] = json!(digest(&bytes));
        manifest["config"]["size"] = json!(bytes.len());
        let mut layout = Layout::default();
        layout.add_image(&image);
        layout.add_blob(&bytes);
        let descriptor = layout.add_json(&manifest);
        layout.root(descriptor);
        // The layers are there and can be counted, whatever the config says.
        let report = place.report_with(&place.put_layout(&name, &layout), &[]);
        assert_eq!(report.total("content_bytes"), 6000, "{name}");
        if !["created-11", "architecture-12"].contains(&name.as_str()) {
            assert!(!report.codes().is_empty(), "{name} goes without a word");
        }
    }
    // No config at all.
    let mut layout = Layout::of(&image, TAG);
    layout.remove_blob(&digest(&image.config_bytes()));
    let report = place.report_with(&place.put_layout("absent", &layout), &[]);
    assert_eq!(report.total("content_bytes"), 6000);
    report.warnings("config-incomplete");
}

#[test]
fn digests_that_are_paths_reach_nothing() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [three_files()]);
    for bad in [
        "sha256:../../../../../../etc/passwd",
        "../../etc/passwd",
        "sha256:",
        ":",
        "",
        "sha256:abcd",
        "md5:d41d8cd98f00b204e9800998ecf8427e",
        "sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8/5",
        "sha256:\u{202e}\u{1b}[31m",
    ] {
        for part in ["layer", "config", "manifest"] {
            let mut manifest = image.manifest_json();
            match part {
                "layer" => manifest["layers"][0]["digest"] = json!(bad),
                "config" => manifest["config"]["digest"] = json!(bad),
                _ => {}
            }
            let mut layout = Layout::default();
            layout.add_image(&image);
            let mut descriptor = layout.add_json(&manifest);
            if part == "manifest" {
                descriptor["digest"] = json!(bad);
            }
            layout.root(descriptor);
            let name = format!("{part}-{}", digest(bad.as_bytes()).split_off(50));
            let path = place.put_layout(&name, &layout);
            let outcome = place.run(&["report", &path, "--format", "json"]);
            if part != "config" {
                assert_eq!(outcome.code, 2, "{part} {bad:?}: {}", outcome.stdout);
            }
            assert!(!outcome.stdout.contains("root:x:"), "{part} {bad:?}");
        }
    }
}

#[test]
fn paths_in_a_docker_manifest_reach_nothing() {
    let place = Place::new();
    place.put("outside.tar", three_files());
    let image = Image::of(Packing::Plain, [three_files()]);
    let config = image.config_bytes();
    for bad in [
        "../outside.tar",
        "/etc/passwd",
        "../../../../etc/passwd",
        "",
        ".",
        "absent/layer.tar",
        "folder",
        "link",
        "round",
        "\u{1b}[31m",
    ] {
        let manifest = json!([{"Config": "config.json", "RepoTags": null, "Layers": [bad]}]);
        let archive = tar([
            dir("folder"),
            link("link", "../outside.tar"),
            link("round", "round"),
            hardlink("hard", "../outside.tar"),
            file("config.json", config.clone()),
            file("manifest.json", json_bytes(&manifest)),
        ]);
        for (how, bytes) in [("plain", archive.clone()), ("gzip", gzip(&archive))] {
            let path = place.put(&format!("{how}.tar"), bytes);
            let outcome = place.run(&["report", &path, "--format", "json"]);
            assert_eq!(outcome.code, 2, "{bad:?} {how}: {}", outcome.stdout);
            assert!(!outcome.stdout.contains("\"content_bytes\": 6000"), "{bad:?} {how}");
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn hostile_names_are_shown_harmless() {
    let place = Place::new();
    let evil = "\u{1b}]0;owned\u{7}\u{202e}gpj.exe\r\n\u{85}";
    let stream = tar([
        file(format!("bin/{evil}"), vec![1; 5000]),
        link(format!("link{evil}"), evil),
        hardlink(format!("hard{evil}"), format!("absent{evil}")),
        file(format!("../../{evil}x"), vec![2; 400]),
        file(format!("link{evil}/below"), "1"),
    ]);
    let mut image = Image::new(Packing::Gzip).layer(&format!("RUN {evil}"), &stream);
    image.config = json!({
        "Env": [format!("A={evil}")], "Labels": {evil: evil}, "User": evil, "Entrypoint": [evil], "WorkingDir": evil
    });
    image.platform = ("linux".into(), evil.into(), None);
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&image);
    layout.root(tagged(descriptor, evil));
    let second = layout.add_image(&Image::of(Packing::Gzip, [three_files()]));
    layout.root(tagged(second, &format!("second{evil}")));
    let folder = place.put_layout("layout", &layout);
    let tags: &[&str] = &[evil];
    let archive = place.put("archive.tar", tar(save_classic(&[(&image, tags)])));
    // What the run checks itself: no control bytes on either stream.
    assert_eq!(place.run(&["report", &folder]).code, 2, "two images, no name");
    for format in ["text", "json"] {
        assert_eq!(place.run(&["report", &archive, "--format", format, "-v"]).code, 0);
        assert_eq!(place.run(&["report", &format!("oci:{folder}:{evil}"), "--format", format]).code, 0);
    }
    assert_eq!(place.run(&["report", evil]).code, 2);
    assert_eq!(place.run(&["report", &format!("./{evil}.tar")]).code, 2);
    assert_eq!(place.run(&["report", &format!("oci:{folder}:absent{evil}")]).code, 2);
}

#[test]
fn paths_of_great_depth_and_length() {
    let deep = "d/".repeat(3_000);
    let long = "n".repeat(5_000);
    let longest = format!("{}x", "y/".repeat(600_000));
    let report =
        report_of([plain(tar([file(format!("{deep}x"), "1"), file(&long, "22"), file("short", "333")]))]);
    assert_eq!(report.layers()[1]["content_bytes"], 6);
    // Beyond the bounds: an end, with a word.
    let report = report_of([plain(tar([file("before", "1"), file(longest, "1"), file("after", "1")]))]);
    assert!(!report.codes().is_empty());
}

#[test]
fn a_million_warnings_are_counted_and_not_kept() {
    let members = (0..20_000).map(|index| file(format!("../x{index}"), "1"));
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [tar(members)]);
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    let report = place.report(&path);
    assert!(report.json["warnings"].as_array().unwrap().len() < 200);
    report.warnings("path-escapes");
    report.warnings("more-warnings");
    assert_eq!(report.total("merged_files"), 20_000);
}

/// Layers changed at random places: whatever comes out, it is a report.
#[test]
fn damaged_layers_never_stop_the_program() {
    let sparse = Sparse::regular(6, 512);
    let whole = tar([
        dir("d"),
        file(format!("d/{}", "n".repeat(150)), vec![1; 700]),
        file(format!("e/{}", "m".repeat(150)), "x").long(crate::fixtures::tarball::Long::Gnu),
        sparse.old_gnu("s0"),
        sparse.pax_0_1("s1"),
        sparse.pax_1_0("s2"),
        hardlink("h", "d"),
        file("last", vec![2; 1500]),
    ]);
    let mut numbers = Numbers::new("damage");
    for round in 0..4 {
        let layers = (0..150).map(|index| {
            let mut stream = whole.clone();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(stream.len() as u64) as usize;
                stream[at] = numbers.next() as u8;
            }
            if numbers.below(3) == 0 {
                let length = numbers.below(stream.len() as u64) as usize;
                stream.truncate(length);
            }
            // Headers that still have a right checksum reach further into the reader.
            repair(&mut stream);
            if (index + round) % 2 == 0 { plain(stream) } else { raw(gzip(&stream), Packing::Gzip) }
        });
        report_of(layers.collect::<Vec<_>>());
    }
}

/// Damaged compressed streams, as one image of many layers.
#[test]
fn damaged_streams_never_stop_the_program() {
    let mut numbers = Numbers::new("streams");
    let whole = three_files();
    let layers: Vec<Layer> = (0..300)
        .map(|index| {
            let packing = [Packing::Gzip, Packing::Zstd, Packing::Estargz, Packing::ZstdChunked][index % 4];
            let (_, mut blob) = packing.pack(&whole);
            for _ in 0..=numbers.below(3) {
                let at = numbers.below(blob.len() as u64) as usize;
                blob[at] = numbers.next() as u8;
            }
            raw(blob, packing)
        })
        .collect();
    report_of(layers);
}

/// Makes the checksum of every block right that looks like a header.
fn repair(stream: &mut [u8]) {
    for block in stream.chunks_exact_mut(512) {
        if &block[257..262] == b"ustar" {
            block[148..156].fill(b' ');
            let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}

#[test]
fn two_members_of_one_name_in_an_archive() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [three_files()]);
    let other = Image::of(Packing::Gzip, [tar([file("z", "1")])]);
    let (first, second) = (Layout::of(&image, TAG), Layout::of(&other, TAG));
    let mut members = first.members();
    members.extend(second.members());
    let archive = tar(members);
    // Unpackers and skopeo see the last one.
    for (how, bytes) in [("plain", archive.clone()), ("gzip", gzip(&archive))] {
        let report = place.report(&place.put(how, bytes));
        assert_eq!(report.total("content_bytes"), 1, "{how}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let members = (0..3000).map(|index| file(format!("file-{index}"), vec![b'x'; 10]));
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    image.config =
        json!({"Env": (0..20_000).map(|index| format!("VARIABLE_{index}=value")).collect::<Vec<_>>()});
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    let script = format!(
        "{{ {} report {path} --format json; echo $? >&2; }} | head -c 10 >/dev/null",
        env!("CARGO_BIN_EXE_cutaway")
    );
    let output = Command::new("bash").arg("-c").arg(script).env("CUTAWAY_NO_CACHE", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.trim(), "0", "{said}");
}
