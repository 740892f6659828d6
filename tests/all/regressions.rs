//! Faults that a review found, each with the input that showed it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::json;

use crate::fixtures::docker::save_modern;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::{Layout, tagged};
use crate::fixtures::packing::{Packing, gzip, zstd};
use crate::fixtures::tarball::{Long, Member, file, hardlink, member, symlink, tar, whiteout};
use crate::support::{Place, Report, program};

fn report_of(tars: impl IntoIterator<Item = Vec<u8>>) -> Report {
    let place = Place::new();
    let layout = place.put_layout("layout", &Layout::of(&Image::of(Packing::Gzip, tars), "t"));
    place.report_with(&layout, &[])
}

fn report_of_layer(layer: Layer) -> Report {
    let place = Place::new();
    let image = Image::new(Packing::Gzip).add("COPY x / # buildkit", layer);
    place.report_with(&place.put_layout("layout", &Layout::of(&image, "t")), &[])
}

#[test]
fn a_hard_link_in_place_of_the_root_is_refused() {
    for root in [".", "/", "./", "x/.."] {
        let bottom = tar([file("f", "0123456789"), hardlink(root, "f")]);
        let report = report_of([bottom, tar([whiteout("f")])]);
        assert_eq!((report.total("content_bytes"), report.total("wasted_bytes")), (10, 10), "{root}");
        report.warnings("hard-link-dangling");
    }
}

#[test]
fn output_keeps_the_mode_of_the_file_and_goes_through_magic_links() {
    let place = Place::new();
    let secret = place.put("report.txt", "old");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let run = |output: &str| {
        let mut command = program();
        command.args(["report", "sample:runtime", "-o", output]).stdout(Stdio::piped()).output().unwrap()
    };
    assert!(run(&secret).status.success());
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let stdout = place.path("stdout");
    std::os::unix::fs::symlink("/proc/self/fd/1", &stdout).unwrap();
    assert!(String::from_utf8(run(&stdout).stdout).unwrap().contains("merged"));
    assert!(fs::symlink_metadata(&stdout).unwrap().is_symlink());
    let dangling = place.path("dangling");
    std::os::unix::fs::symlink(place.path("made"), &dangling).unwrap();
    assert!(run(&dangling).status.success());
    assert!(
        fs::symlink_metadata(&dangling).unwrap().is_symlink() && fs::metadata(&dangling).unwrap().len() > 100
    );
}

#[test]
fn a_wrong_checksum_behind_the_archive_is_a_fault() {
    let stream = tar([file("a", "1")]);
    let mut blob = gzip(&stream);
    let crc = blob.len() - 8;
    blob[crc] ^= 1;
    let report = report_of_layer(Layer::of_blob(stream, blob, Packing::Gzip));
    assert_eq!(report.code, 2);
    report.warnings("layer-malformed");
}

#[test]
fn layers_that_are_not_there_make_sums_unknown() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [tar([file("a", "1")]), tar([file("b", "2")])]);
    let mut layout = Layout::of(&image, "t");
    layout.remove_blob(&image.layers[1].digest);
    let report = place.report_with(&place.put_layout("layout", &layout), &[]);
    assert_eq!(report.code, 2);
    assert!(report.json["totals"]["compressed_bytes"].is_null(), "{:#}", report.json["totals"]);
    assert!(report.json["totals"]["uncompressed_bytes"].is_null());
    assert_eq!(report.total("content_bytes"), 1);
}

#[test]
fn an_image_without_layers_is_empty() {
    let place = Place::new();
    let image = Image::new(Packing::Gzip);
    let report = place.report(&place.put_layout("layout", &Layout::of(&image, "t")));
    assert_eq!((report.total("layers"), report.total("merged_bytes")), (0, 0));
    let mut saved = save_modern(&[(&image, &["example.org/empty:1"])]);
    let manifest = saved.iter_mut().find(|member| member.name == b"manifest.json").unwrap();
    let text = String::from_utf8(manifest.body.clone()).unwrap();
    manifest.body = text.replace("\"Layers\":[]", "\"Layers\":null").into_bytes();
    assert_eq!(place.report(&place.put("empty.tar", tar(saved))).total("layers"), 0);
}

#[test]
fn fields_are_read_as_go_reads_them() {
    let empty = || file("empty", "").edit(124, [0; 12]);
    let blank = || file("blank", "").edit(124, b"            ");
    // A ustar header of another version than 00 has its prefix all the same.
    let prefixed = file(format!("{}/name", "p".repeat(120)), "7").long(Long::Prefix).edit(263, b"  ");
    let gnu_and_pax = file("g".repeat(120), "1").long(Long::Gnu).pax("path", "not-this");
    let taken_back = file("kept", "1").pax("path", "abc").pax("path", "");
    let unnamed = Member { body: vec![0], ..member(b'L', "././@LongLink") };
    let members = [
        empty(),
        blank(),
        prefixed,
        taken_back,
        unnamed,
        file("named", "22"),
        gnu_and_pax,
        file("last", "4444"),
    ];
    let report = report_of([tar(members)]);
    assert_eq!(report.code, 0, "{:#}", report.json["warnings"]);
    let names: Vec<String> = report.largest().into_keys().collect();
    for name in [
        format!("/{}/name", "p".repeat(120)),
        "/kept".into(),
        "/named".into(),
        "/last".into(),
        format!("/{}", "g".repeat(120)),
    ] {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    let huge = Member { base256: true, ..file("x", "1") }.edit(124, [0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(report_of([tar([huge])]).code, 2, "a size above 64 bits");
}

#[test]
fn a_name_may_begin_like_a_compressed_file() {
    for name in [&b"BZh9"[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"(lz4"] {
        let stream = tar([file(name, "12345")]);
        let report = report_of_layer(Layer::of_blob(stream.clone(), stream, Packing::Plain));
        assert_eq!((report.code, report.total("content_bytes")), (0, 5), "{name:?}");
    }
}

#[test]
fn deep_folders_and_long_links_have_a_bound() {
    let deep = (0..600).map(|number| file(format!("{}/{number}", format!("{number}/").repeat(4000)), ""));
    let links = (0..4000).map(|number| symlink(format!("link{number}"), "t".repeat(32_000)));
    for stream in [tar(deep), tar(links)] {
        let place = Place::new();
        let layer = Layer::of_blob(stream.clone(), zstd(&stream), Packing::Zstd);
        let image = Image::new(Packing::Gzip).add("COPY x / # buildkit", layer);
        let layout = place.put_layout("layout", &Layout::of(&image, "t"));
        let outcome = place.run(&["report", &layout]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stdout.contains("layer-malformed"), "{}", outcome.stdout);
        assert!(outcome.peak_kib < 150 << 10, "{} KiB", outcome.peak_kib);
    }
}

/// A gzip member of one block that has a code of 8 bits for each byte below 144.
fn one_block(bytes: &[u8]) -> Vec<u8> {
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // The last block, with fixed codes.
    let mut open = 0b011;
    let codes = bytes.iter().map(|byte| (0x30 + byte).reverse_bits());
    // The end of the block is seven zero bits.
    for code in codes.chain([0, 0]) {
        member.push(open | code << 3);
        open = code >> 5;
    }
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    member.extend(crc.sum().to_le_bytes());
    member.extend(crc.amount().to_le_bytes());
    member
}

#[test]
fn a_layer_of_one_block_does_not_stay_in_memory() {
    let place = Place::new();
    let stream = tar([file("zeros", vec![0; 90 << 20])]);
    let layer = Layer::of_blob(stream.clone(), one_block(&stream), Packing::Gzip);
    let layout =
        place.put_layout("layout", &Layout::of(&Image::new(Packing::Gzip).add("COPY zeros /", layer), "t"));
    let outcome = place.run(&["report", &layout]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.peak_kib < 100 << 10, "{} KiB", outcome.peak_kib);
}

#[test]
fn a_long_name_is_not_copied_for_every_manifest_of_an_index() {
    let place = Place::new();
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&Image::of(Packing::Gzip, [tar([file("a", "1")])]));
    let nested = layout.add_index(&vec![descriptor; 4000]);
    layout.root(tagged(nested, &"n".repeat(1 << 20)));
    let outcome = place.run(&["report", &place.put_layout("layout", &layout)]);
    assert!(outcome.peak_kib < 150 << 10, "{} KiB", outcome.peak_kib);
}

#[test]
fn two_images_of_one_platform_are_not_guessed_between() {
    let place = Place::new();
    let mut layout = Layout::default();
    for body in ["1", "22"] {
        let descriptor = layout.add_image(&Image::of(Packing::Gzip, [tar([file("a", body)])]));
        layout.root(tagged(descriptor, "same"));
    }
    let path = place.put_layout("layout", &layout);
    let message = place.refusal(&path, "2 images");
    let digest = message.split('@').nth(1).unwrap().split([',', '\n']).next().unwrap();
    place.report(&format!("oci:{path}@{digest}"));
    // The hint can be used as it stands.
    let hint = message.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
    let reference = hint.rsplit("such as ").next().unwrap();
    place.report(reference);
}

#[test]
fn the_source_of_a_bare_path_is_what_was_found_there() {
    let place = Place::new();
    let image = Image::of(Packing::Plain, [tar([file("a", "1")])]);
    let layout = Layout::of(&image, "t");
    let cases = [
        (place.put("a.tar", layout.archive()), "oci-archive"),
        (place.put("b.tar", tar(save_modern(&[(&image, &["example.org/a:1"])]))), "docker-archive"),
        (place.put_layout("c", &layout), "oci"),
    ];
    for (path, source) in cases {
        assert_eq!(place.report(&path).json["image"]["source"], source);
    }
}

#[test]
fn other_platforms_of_a_docker_archive_are_found_in_the_layout_beside_it() {
    let place = Place::new();
    let of = |architecture, body| {
        Image::of(Packing::Plain, [tar([file("a", body)])]).for_platform("linux", architecture, None)
    };
    let (amd, arm) = (of("amd64", "1"), of("arm64", "22"));
    let mut members = save_modern(&[(&amd, &["example.org/a:1"])]);
    let mut layout = Layout::default();
    let both = [layout.add_image(&amd), layout.add_image(&arm)];
    let index = layout.add_index(&both);
    layout.root(tagged(index, "1"));
    members.retain(|member| member.name != b"index.json");
    let known: Vec<Vec<u8>> = members.iter().map(|member| member.name.clone()).collect();
    members.extend(layout.members().into_iter().filter(|member| !known.contains(&member.name)));
    let path = place.put("save.tar", tar(members));
    for (platform, bytes) in [("linux/amd64", 1), ("linux/arm64", 2)] {
        let report = place.report_with(&path, &["--platform", platform]);
        assert_eq!((report.code, report.total("content_bytes")), (0, bytes), "{platform}");
    }
}

#[test]
fn a_compressed_archive_says_of_layers_what_a_plain_one_says() {
    let place = Place::new();
    let good = tar([file("a", "1")]);
    let xz = [&[0xfd][..], b"7zXZ\0 and so on"].concat();
    let cases =
        [("empty", Vec::new(), Vec::new()), ("xz", good.clone(), xz), ("noise", good, b"no layer".to_vec())];
    for (name, tar, blob) in cases {
        let layer = Layer::of_blob(tar, blob, Packing::Gzip);
        let archive = Layout::of(&Image::new(Packing::Gzip).add("COPY x / # buildkit", layer), "t").archive();
        let plain = place.report_with(&place.put(&format!("{name}.tar"), &archive), &[]);
        let packed = place.report_with(&place.put(&format!("{name}.tgz"), gzip(&archive)), &[]);
        assert_eq!(plain.json["warnings"], packed.json["warnings"], "{name}");
        assert_eq!(plain.json["totals"], packed.json["totals"], "{name}");
    }
}

#[test]
fn a_wrong_sha512_in_a_compressed_archive_is_noticed() {
    let place = Place::new();
    let image = Image::of(Packing::Gzip, [tar([file("a", "1")])]);
    let mut layer = image.layers[0].clone();
    layer.digest = format!("sha512:{}", "0".repeat(128));
    let lying = Image::new(Packing::Gzip).add("COPY a / # buildkit", layer);
    let archive = Layout::of(&lying, "t").archive();
    for (name, bytes) in [("a.tar", archive.clone()), ("a.tgz", gzip(&archive))] {
        let report = place.report_with(&place.put(name, bytes), &[]);
        assert_eq!(report.code, 2, "{name}");
        report.warnings("digest-mismatch");
    }
}

#[test]
fn many_large_attestations_do_not_keep_an_archive_from_opening() {
    let place = Place::new();
    let mut layout = Layout::of(&Image::of(Packing::Gzip, [tar([file("a", "1")])]), "t");
    for number in 0..6 {
        let text = json!({"sbom": "s".repeat(7 << 20), "number": number});
        layout.add_json(&text);
    }
    let report = place.report(&place.put("a.tgz", gzip(&layout.archive())));
    assert_eq!(report.total("content_bytes"), 1);
}

#[test]
fn a_nested_index_that_is_not_its_digest_counts_as_a_fault() {
    let place = Place::new();
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&Image::of(Packing::Gzip, [tar([file("a", "1")])]));
    let index = layout.add_index(&[descriptor]);
    let digest = index["digest"].as_str().unwrap().to_owned();
    let files = layout.files();
    let honest = files.iter().find(|(name, _)| name.contains(&digest[7..])).unwrap().1.clone();
    layout.put_blob(&digest, &[honest.as_slice(), b"\n"].concat());
    layout.root(tagged(index, "t"));
    let report = place.report_with(&place.put_layout("layout", &layout), &[]);
    assert_eq!(report.code, 2);
    report.warnings("digest-mismatch");
}

#[test]
fn secrets_in_references_are_not_repeated() {
    let place = Place::new();
    for reference in [
        "docker://u:hunter2@example.org/i",
        "u:hunter2@example.org/i",
        "docker-daemon:u:hunter2@example.org/i",
        "u:hunter2@example.org/i !",
    ] {
        let message = place.failure(&["report", reference]);
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert!(!place.failure(&["report", "docker://alpine"]).contains("no such path"));
}

#[test]
fn layers_that_stream_past_share_one_bound_on_entries() {
    use cutaway::analysis::{Layer, Options, analyze};
    use cutaway::base::Limits;
    use cutaway::jobs::{CancelToken, Progress};

    let place = Place::new();
    let five = |layer: u32| tar((0..5).map(|number| file(format!("{layer}/{number}"), "1")));
    let image = Image::of(Packing::Gzip, [five(0), five(1), five(2)]);
    let path = place.put("a.tgz", gzip(&Layout::of(&image, "t").archive()));
    let reference = cutaway::source::Reference::parse(&path).unwrap();
    let read = |image_entries| {
        let options = Options { limits: Limits { image_entries, ..Limits::default() }, ..Options::default() };
        let analysis =
            analyze(&reference, &options, &CancelToken::new(), &Progress::default(), &|_| ()).unwrap();
        let entries: u64 =
            analysis.layers.iter().filter_map(Layer::counts).map(|counts| counts.entries).sum();
        (entries, analysis.totals().unwrap().complete)
    };
    assert_eq!(read(15), (15, true));
    assert_eq!(read(7), (7, false));
}
