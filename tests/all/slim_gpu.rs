//! `cutaway slim --target`: GPU code that no target can run goes out of files that stay.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use cutaway::formats::binary::{BinaryLimits, FileFacts, Scan};
use cutaway::formats::fatbin::arch_name;
use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, Entry, container};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::tarball::{Member, dir, file, hardlink, tar};
use crate::fixtures::{docker, sha256_hex};
use crate::schema;
use crate::support::Place;

const LIBRARY: &str = "/opt/lib/libkernels.so";

fn cubin(arch: u32, suffix: Option<char>, bytes: usize) -> Entry {
    Entry::cubin(arch, suffix, bytes, Coding::Lz4, "kernel")
}

/// Code for 8.0, 8.6, 9.0 and 9.0a, with PTX, and so much for other GPUs that the file can be shorter.
fn library() -> Vec<u8> {
    let ptx = Entry::ptx(90, (8, 0), 3_000, Coding::Zstd, "kernel");
    let first = container(&[cubin(80, None, 200_000), cubin(86, None, 200_000), cubin(90, None, 9_000), ptx]);
    let second = container(&[cubin(70, None, 5_000), cubin(75, None, 5_000)]);
    let third = container(&[cubin(90, Some('a'), 7_000), cubin(120, None, 400_000)]);
    Elf::library("libkernels.so").with_section(".nv_fatbin", [first, second, third].concat()).build()
}

fn members() -> Vec<Member> {
    let small =
        Elf::library("libsmall.so").with_section(".nv_fatbin", container(&[cubin(90, None, 4_000)])).build();
    vec![
        dir("opt"),
        dir("opt/lib"),
        file("opt/lib/before.txt", "text"),
        file("opt/lib/libkernels.so", library()).mode(0o755).pax("SCHILY.xattr.user.note", "kept"),
        hardlink("opt/lib/libkernels.so.1", "opt/lib/libkernels.so"),
        file("opt/lib/libsmall.so", small),
        file("opt/lib/notes.txt", "after"),
    ]
}

fn image() -> Image {
    Image::of(Packing::Gzip, [tar([dir("etc"), file("etc/os-release", "ID=debian\n")]), tar(members())])
}

fn put(place: &Place, image: &Image) -> String {
    format!("oci:{}", place.put_layout("source", &Layout::of(image, "t")))
}

fn run(place: &Place, source: &str, arguments: &[&str]) -> Value {
    let outcome = place.run(&[&["slim", source, "--format", "json"], arguments].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document = serde_json::from_str(&outcome.stdout).unwrap();
    schema::fits("slim", &document);
    document
}

/// The written layout: manifest, config, tar streams.
struct Written {
    manifest: Value,
    config: Value,
    tars: Vec<Vec<u8>>,
}

fn read(place: &Place, name: &str) -> Written {
    let root = place.path(name);
    let blob =
        |digest: &str| fs::read(Path::new(&root).join("blobs").join(digest.replace(':', "/"))).unwrap();
    let document = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let index = document(&fs::read(Path::new(&root).join("index.json")).unwrap());
    let manifest = document(&blob(index["manifests"][0]["digest"].as_str().unwrap()));
    let config = document(&blob(manifest["config"]["digest"].as_str().unwrap()));
    let unpack = |layer: &Value| {
        let (blob, mut out) = (blob(layer["digest"].as_str().unwrap()), Vec::new());
        flate2::read::MultiGzDecoder::new(&blob[..]).read_to_end(&mut out).unwrap();
        out
    };
    let tars = manifest["layers"].as_array().unwrap().iter().map(unpack).collect();
    Written { manifest, config, tars }
}

fn bodies(tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(tar);
    let body = |entry: Result<tar::Entry<'_, &[u8]>, _>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().to_string_lossy().into_owned(), bytes)
    };
    archive.entries().unwrap().map(body).collect()
}

/// Names of the architectures in a file, with their bytes.
fn architectures(file: &[u8]) -> BTreeMap<String, u64> {
    let mut scan = Scan::start(file, file.len() as u64, b"lib.so", &BinaryLimits::default()).unwrap();
    scan.push(file);
    let FileFacts::Elf(facts) = scan.finish() else { panic!("no ELF file") };
    let mut sums = BTreeMap::new();
    for row in facts.gpu.unwrap_or_default().rows {
        *sums.entry(arch_name(row.kind, row.arch, row.suffix)).or_default() += row.bytes;
    }
    sums
}

fn names(file: &[u8]) -> Vec<String> {
    architectures(file).into_keys().collect()
}

fn written_library(written: &Written) -> Vec<u8> {
    bodies(written.tars.last().unwrap()).remove("opt/lib/libkernels.so").unwrap()
}

#[test]
fn code_of_other_gpus_goes_and_every_other_byte_stays() {
    let (place, to) = (Place::new(), Place::new());
    let source = put(&place, &image());
    let out = format!("oci:{}:new", to.path("out"));
    let document = run(&place, &source, &["--target", "h100", "-o", &out]);
    let code = &document["gpu_code"];
    assert_eq!(code["targets"], json!(["gpu:h100"]));
    assert_eq!(code["compute_capabilities"], json!(["9.0"]));
    let [line] = code["libraries"].as_array().unwrap().as_slice() else { panic!("{code}") };
    let old = library();
    let kept: u64 = ["sm_90", "sm_90a"].iter().map(|name| architectures(&old)[*name]).sum();
    let all: u64 = architectures(&old).values().sum();
    let headers = 3 * 16;
    assert_eq!(line["path"], LIBRARY);
    assert_eq!(
        (line["before_bytes"].as_u64(), line["after_bytes"].as_u64()),
        (Some(all + headers), Some(kept + headers))
    );
    assert_eq!(
        (line["containers"].as_u64(), line["entries_kept"].as_u64(), line["entries_removed"].as_u64()),
        (Some(3), Some(2), Some(6))
    );
    assert_eq!(document["layers"][1]["pruned_bytes"], all - kept);
    assert_eq!(document["verification"]["gpu_code"], true);
    assert!(document["verification"]["gpu"].is_null());
    assert_eq!(document["layers"][0]["action"], "kept");

    let written = read(&to, "out");
    let new = written_library(&written);
    assert_eq!(names(&new), ["sm_90", "sm_90a"]);
    assert_eq!(line["digest_before"], format!("sha256:{}", sha256_hex(&old)));
    assert_eq!(line["digest_after"], format!("sha256:{}", sha256_hex(&new)));
    // The stream is the old one but for that body.
    let mut expected = members();
    expected[3] = file("opt/lib/libkernels.so", new).mode(0o755).pax("SCHILY.xattr.user.note", "kept");
    assert!(written.tars[1] == tar(expected));
    let note = &written.manifest["annotations"];
    assert_eq!(note["dev.cutaway.gpu.targets"], "9.0");
    let files: Value = serde_json::from_str(note["dev.cutaway.gpu.files"].as_str().unwrap()).unwrap();
    assert_eq!(
        files,
        json!([{"path": LIBRARY, "before": line["digest_before"], "after": line["digest_after"]}])
    );
    let env = written.config["config"]["Env"].as_array().unwrap();
    assert!(env.contains(&json!("NVIDIA_REQUIRE_ARCH=arch>=9.0,arch<10.0")), "{env:?}");
    // A second run finds nothing.
    let again = run(&place, &out, &["--target", "h100", "--dry-run"]);
    assert!(again["layers"].as_array().unwrap().iter().all(|layer| layer["action"] == "kept"), "{again}");
    assert_eq!(again["gpu_code"]["libraries"], json!([]));
}

#[test]
fn a_dry_run_predicts_it() {
    let (place, to) = (Place::new(), Place::new());
    let source = put(&place, &image());
    for more in [&[][..], &["--shrink"], &["--keep-ptx"]] {
        let out = format!("oci:{}:{}", to.path("out"), more.len());
        let dry = run(&place, &source, &[&["--target", "a100-80", "--dry-run"], more].concat());
        let real = run(&place, &source, &[&["--target", "a100-80", "-o", &out], more].concat());
        for size in ["content_bytes", "merged_bytes"] {
            assert_eq!(dry["after"][size], real["after"][size]);
        }
        let without = |document: &Value| {
            let mut libraries = document["gpu_code"]["libraries"].clone();
            for line in libraries.as_array_mut().unwrap() {
                line["digest_before"] = Value::Null;
                line["digest_after"] = Value::Null;
            }
            libraries
        };
        assert_eq!(without(&dry), without(&real));
        let (guess, found) =
            (dry["after"]["compressed_bytes"].as_f64(), real["after"]["compressed_bytes"].as_f64());
        let (guess, found) = (guess.unwrap(), found.unwrap());
        // Of a small image, headers are much; real libraries are estimated within a tenth.
        assert!((guess - found).abs() < 3_000.0, "about {guess}, then {found}");
    }
}

#[test]
fn a_shortened_library_keeps_its_code() {
    let (place, to) = (Place::new(), Place::new());
    let source = put(&place, &image());
    let out = format!("oci:{}:new", to.path("out"));
    let document = run(&place, &source, &["--target", "cc=9.0", "--shrink", "-o", &out]);
    let line = &document["gpu_code"]["libraries"][0];
    let new = written_library(&read(&to, "out"));
    assert_eq!(line["file_bytes_before"], library().len());
    assert_eq!(line["file_bytes_after"], new.len());
    assert!(new.len() < 200_000, "{} bytes", new.len());
    assert_eq!(names(&new), ["sm_90", "sm_90a"]);
    // Both names are that file, and the report reads it as any other.
    let report = place.report(&out);
    let libraries = report.json["cuda"]["libraries"].as_array().unwrap();
    let found = libraries.iter().find(|library| library["path"] == LIBRARY).unwrap();
    assert_eq!(found["bytes"], new.len());
    let again = run(&place, &out, &["--target", "cc=9.0", "--shrink", "--dry-run"]);
    assert!(again["layers"].as_array().unwrap().iter().all(|layer| layer["action"] == "kept"), "{again}");
}

#[test]
fn several_targets_and_ptx_for_later_ones() {
    let (place, to) = (Place::new(), Place::new());
    let source = put(&place, &image());
    let out = format!("oci:{}:new", to.path("out"));
    run(&place, &source, &["--target", "cc=8.6", "--target", "cc=7.5", "--keep-ptx", "-o", &out]);
    let written = read(&to, "out");
    assert_eq!(names(&written_library(&written)), ["compute_90", "sm_70", "sm_75", "sm_80", "sm_86"]);
    let env = written.config["config"]["Env"].to_string();
    assert!(env.contains("NVIDIA_REQUIRE_ARCH=arch>=7.5 arch>=8.6"), "{env}");
    assert_eq!(written.manifest["annotations"]["dev.cutaway.gpu.targets"], "7.5,8.6");
}

#[test]
fn without_a_target_or_by_choice_all_code_stays() {
    let place = Place::new();
    let source = put(&place, &image());
    for arguments in [&["--dry-run"][..], &["--dry-run", "--target", "h100", "--gpu-code", "keep"]] {
        let document = run(&place, &source, arguments);
        assert!(document["gpu_code"].is_null());
        assert!(document["layers"].as_array().unwrap().iter().all(|layer| layer["action"] == "kept"));
    }
    for arguments in [&["--gpu-code", "prune"][..], &["--keep-ptx"], &["--shrink"]] {
        let outcome = place.run(&[&["slim", &source, "--dry-run"], arguments].concat());
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains("--target"), "{}", outcome.stderr);
    }
}

#[test]
fn every_kind_of_source_gives_the_same_file() {
    let (place, to) = (Place::new(), Place::new());
    let image = image();
    let folder = Path::new(&place.path("root")).join("opt/lib");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("libkernels.so"), library()).unwrap();
    let archive = gzip(&tar(docker::save_classic(&[(&image.clone().packed(Packing::Plain), &["app:1"])])));
    let sources = [
        put(&place, &image),
        format!("docker-archive:{}", place.put("app.tar.gz", archive)),
        format!("rootfs:{}", place.path("root")),
        format!("oci:{}", place.put_layout("zstd", &Layout::of(&image.packed(Packing::Zstd), "t"))),
    ];
    let mut digests = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let out = format!("oci:{}:new", to.path(&format!("out{number}")));
        let document = run(&place, source, &["--target", "h100", "-o", &out]);
        digests.push(document["gpu_code"]["libraries"][0]["digest_after"].as_str().unwrap().to_owned());
    }
    digests.dedup();
    assert_eq!(digests.len(), 1, "{digests:?}");
}

#[test]
fn the_report_of_the_result_names_its_gpus() {
    let (place, to) = (Place::new(), Place::new());
    let source = put(&place, &image());
    let out = format!("oci:{}:new", to.path("out"));
    run(&place, &source, &["--target", "h100", "-o", &out]);
    let report = place.report_with(&out, &["--target", "h100", "--target", "a100-80"]);
    let targets = report.json["compatibility"]["targets"].as_array().unwrap();
    let verdict = |name: &str| {
        let target = targets.iter().find(|target| target["target"] == name).unwrap();
        (target["verdict"].as_str().unwrap(), target.to_string())
    };
    assert_eq!(verdict("gpu:h100").0, "runs", "{targets:?}");
    let (failed, why) = verdict("gpu:a100-80");
    assert_eq!(failed, "fails");
    assert!(why.contains("209"), "{why}");
    assert_eq!(report.json["image"]["config"]["labels"]["dev.cutaway.gpu.targets"], "9.0");
    let text = place.run(&["report", &out, "--full"]).stdout;
    assert!(text.contains("pruned for compute capability 9.0"), "{text}");
}
