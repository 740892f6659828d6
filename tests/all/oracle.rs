//! Judges every figure of the report by an independent walk in Python, written from the rules.
//!
//! `tests/oracle/walk.py` and the program read the same images; nothing but the files is shared.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::fixtures::docker::{save_ancient, save_classic, save_modern};
use crate::fixtures::image::Image;
use crate::fixtures::layout::{Layout, flat_dir, tagged, write_files};
use crate::fixtures::packing::Packing;
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Long, Member, block_device, character_device, dir, fifo, file, hardlink, member, opaque, pax_records,
    symlink, tar, whiteout, without_end,
};
use crate::support::program;

/// Figures that are one number for the whole image.
pub(crate) const TOTALS: [&str; 8] = [
    "complete",
    "layers",
    "compressed_bytes",
    "uncompressed_bytes",
    "content_bytes",
    "merged_files",
    "merged_bytes",
    "wasted_bytes",
];

/// Figures of each layer.
const LAYER: [&str; 15] = [
    "index",
    "compression",
    "compressed_bytes",
    "uncompressed_bytes",
    "content_bytes",
    "entries",
    "files",
    "directories",
    "symlinks",
    "hardlinks",
    "whiteouts",
    "others",
    "wasted_bytes",
    "hides_bytes",
    "diff_id",
];

/// Whether all `tools` can be run. A missing one is a loud skip, or a failure where
/// `CUTAWAY_REQUIRE_TOOLS` is 1.
pub(crate) fn have(tools: &[&str]) -> bool {
    let missing: Vec<&str> =
        tools.iter().copied().filter(|tool| Command::new(tool).arg("--version").output().is_err()).collect();
    if missing.is_empty() {
        return true;
    }
    skip(&format!("not installed: {}", missing.join(", ")))
}

/// Says that a test is skipped, past the capture of the test harness; false, for the caller to return on.
pub(crate) fn skip(reason: &str) -> bool {
    assert!(
        std::env::var_os("CUTAWAY_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
        "a test would be skipped, which CUTAWAY_REQUIRE_TOOLS=1 forbids: {reason}"
    );
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    writeln!(std::io::stderr(), "SKIPPED: {name}: {reason}").ok();
    false
}

/// A run of the program.
pub(crate) fn cutaway(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("cutaway runs")
}

/// The report of an image with its exit status.
pub(crate) fn report_with(image: &str, options: &[&str]) -> (Option<i32>, Value) {
    let mut arguments = vec!["report", image, "--format", "json"];
    arguments.extend(options);
    let output = cutaway(&arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{image}: no report ({error}); status {}: {errors}", output.status));
    (output.status.code(), report)
}

/// What the walk in Python says of an image.
pub(crate) fn walk(image: &str, options: &[&str]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/walk.py");
    let output = Command::new("python3").arg(script).args(options).arg(image).output().expect("python3 runs");
    assert!(output.status.success(), "{image}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the walk prints JSON")
}

/// Compares all figures of an image that is whole; the report comes back.
pub(crate) fn judge(image: &str) -> Value {
    judge_with(image, &[])
}

/// As [`judge`], with options for both.
pub(crate) fn judge_with(image: &str, options: &[&str]) -> Value {
    let mut walk_options = options.to_vec();
    walk_options.extend(["--tree", "--largest", "2000"]);
    let expected = walk(image, &walk_options);
    let (status, report) = report_with(image, options);
    let faults = differences(&report, &expected);
    assert!(faults.is_empty(), "{image}: {} differences\n{}", faults.len(), faults.join("\n"));
    assert_eq!(status, Some(0), "{image}: {}", report["warnings"]);
    report
}

/// Every figure in which a report differs from the walk.
fn differences(report: &Value, expected: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut same = |place: &str, ours: &Value, theirs: &Value| {
        if ours != theirs {
            faults.push(format!("{place}: report {ours}, walk {theirs}"));
        }
    };
    for name in TOTALS {
        same(name, &report["totals"][name], &expected["totals"][name]);
    }
    let empty = Vec::new();
    let ours = report["layers"].as_array().unwrap_or(&empty);
    let theirs = expected["layers"].as_array().unwrap_or(&empty);
    same("number of layers", &ours.len().into(), &theirs.len().into());
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        for name in LAYER {
            // The diff id of a config that lists none is null.
            if name != "diff_id" || !ours[name].is_null() {
                same(&format!("layer {index} {name}"), &ours[name], &theirs[name]);
            }
        }
        if !ours["digest"].is_null() {
            same(&format!("layer {index} digest"), &ours["digest"], &theirs["blob_digest"]);
        }
    }
    faults.extend(largest_differences(report, expected));
    faults
}

/// The largest files must be those of the merged view, largest first.
fn largest_differences(report: &Value, expected: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let empty = Vec::new();
    let ours = report["largest_files"].as_array().unwrap_or(&empty);
    let theirs = expected["largest_files"].as_array().unwrap_or(&empty);
    let mut last = u64::MAX;
    for entry in ours {
        let path = entry["path"].as_str().unwrap_or_default();
        let node = &expected["tree"][path];
        if node["type"] != "file" || node["size"] != entry["bytes"] || node["layer"] != entry["layer"] {
            faults.push(format!("largest files: {entry}, walk {node}"));
        }
        let bytes = entry["bytes"].as_u64().unwrap_or(u64::MAX);
        if bytes > last {
            faults.push(format!("largest files: {entry} comes after {last} bytes"));
        }
        last = bytes;
    }
    let sizes = |files: &[Value]| -> Vec<u64> {
        let mut sizes: Vec<u64> = files.iter().filter_map(|file| file["bytes"].as_u64()).collect();
        sizes.dedup();
        sizes
    };
    let (ours, theirs) = (sizes(ours), sizes(theirs));
    let expected_sizes = &theirs[..ours.len().min(theirs.len())];
    if ours != expected_sizes || (ours.is_empty() && !theirs.is_empty()) {
        faults.push(format!("largest files: sizes {ours:?}, walk {expected_sizes:?}"));
    }
    faults
}

/// The figures that every way of storing the same image shares.
pub(crate) fn stored_alike(report: &Value) -> Value {
    let pick = |value: &Value, names: &[&str]| -> Value {
        names.iter().map(|name| ((*name).to_owned(), value[*name].clone())).collect()
    };
    let totals: Vec<&str> = TOTALS.iter().copied().filter(|name| *name != "compressed_bytes").collect();
    let names: Vec<&str> =
        LAYER.iter().copied().filter(|name| !matches!(*name, "compression" | "compressed_bytes")).collect();
    let layers: Vec<Value> =
        report["layers"].as_array().into_iter().flatten().map(|layer| pick(layer, &names)).collect();
    serde_json::json!({
        "totals": pick(&report["totals"], &totals), "layers": layers, "largest_files": report["largest_files"]
    })
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// An image in every form that a folder or an archive can have, as references.
fn all_forms(image: &Image, folder: &Path) -> Vec<String> {
    let mut references = Vec::new();
    let layout = Layout::of(image, "latest");
    let path = folder.join("layout");
    layout.write(&path);
    references.push(format!("oci:{}", text(&path)));
    references.push(format!("oci:{}:latest", text(&path)));
    references.push(text(&path).to_owned());
    let path = folder.join("flat");
    write_files(&flat_dir(image), &path);
    references.push(format!("dir:{}", text(&path)));

    let tags: &[&str] = &["example.test/image:latest"];
    let mut archive = |name: &str, transport: &str, members: Vec<Member>| {
        let plain = tar(members);
        for (suffix, packing) in [("tar", Packing::Plain), ("tgz", Packing::Gzip), ("tzst", Packing::Zstd)] {
            let path = folder.join(format!("{name}.{suffix}"));
            fs::write(&path, packing.pack(&plain).1).expect("an archive can be written");
            references.push(format!("{transport}:{}", text(&path)));
        }
    };
    archive("oci", "oci-archive", layout.members());
    archive("classic", "docker-archive", save_classic(&[(image, tags)]));
    archive("modern", "docker-archive", save_modern(&[(image, tags)]));
    archive("ancient", "docker-archive", save_ancient(image, "example.test/image", "latest"));
    references
}

/// Bytes that name their place, so that no two files share a digest by chance.
fn body(name: &str, size: usize) -> Vec<u8> {
    name.bytes().cycle().take(size).collect()
}

/// Three layers that meet every rule of the tar format and of the merged view.
fn rules() -> Vec<Vec<u8>> {
    let deep = format!("{}/{}", "a-long-folder-name/".repeat(8), "leaf".repeat(10));
    let prefixed = format!("{}/{}", "p".repeat(90), "q".repeat(90));
    let holes =
        Sparse { size: 3 << 20, parts: vec![(4096, body("hole", 512)), (1 << 20, body("pole", 1000))] };
    let global = Member {
        body: pax_records(&[(b"path".to_vec(), b"not-this-one".to_vec()), (b"size".to_vec(), b"5".to_vec())]),
        ..member(b'g', "pax_global_header")
    };
    let mut big_number = file("numbers/base256", body("b", 700));
    big_number.base256 = true;
    let bottom = tar([
        dir("./"),
        dir("etc"),
        file("etc/passwd", body("passwd", 900)),
        file("./etc//group", body("group", 333)),
        file("/etc/shadow", body("shadow", 41)),
        global,
        file("after-global", body("global", 77)),
        file(&deep, body("deep", 1234)),
        file(format!("{deep}-gnu"), body("gnu", 1235)).long(Long::Gnu),
        file(&prefixed, body("prefix", 1236)).long(Long::Prefix),
        symlink("long-link", format!("/{deep}")).long(Long::Gnu),
        hardlink("long-hard", &deep),
        hardlink("climbing-hard", "no-such/../etc/group"),
        holes.pax_0_0("sparse/pax00"),
        holes.pax_0_1("sparse/pax01"),
        holes.pax_1_0("sparse/pax10"),
        Sparse::regular(30, 4096).old_gnu("sparse/old"),
        big_number,
        file("numbers/v7", body("seven", 99)).v7(),
        member(b'\0', "old/folder/").v7(),
        Member { body: body("old", 55), ..member(b'\0', "old/file") },
        Member { body: body("contiguous", 66), ..member(b'7', "old/contiguous") },
        file(b"bytes/caf\xe9", body("cafe", 10)),
        file("bytes/caf\u{e9}", body("utf8", 11)),
        file("bytes/tab\tand\\backslash", body("tab", 12)),
        file("bytes/pax", body("pax", 13)).pax("path", "bytes/n\u{e4}me by pax"),
        character_device("dev/null"),
        block_device("dev/sda"),
        fifo("run/pipe"),
        hardlink("run/pipe-again", "run/pipe"),
        Member { body: body("vendor", 640), ..member(b'Z', "vendor/type") },
        file("twice", body("first", 1000)),
        file("twice", body("second", 2000)),
        file("usr/lib/libbig.so.1", body("library", 50_000)),
        hardlink("usr/lib/libbig.so", "usr/lib/libbig.so.1"),
        hardlink("usr/lib/libbig.so.1.0", "/usr/lib/libbig.so"),
        symlink("lib", "usr/lib"),
        symlink("var/run", "/run"),
        file("var/cache/a/one", body("one", 100)),
        file("var/cache/a/two", body("two", 200)),
        file("var/cache/b/three", body("three", 300)),
        file("opt/tool/bin/run", body("run", 4000)),
        file("opt/tool/doc/readme", body("doc", 500)),
        file("empty", ""),
        hardlink("nowhere", "does/not/exist"),
        symlink("home/link", "elsewhere"),
        hardlink("home/hard-to-link", "home/link"),
    ]);
    let middle = tar([
        // Sizes that a header claims or that a record corrects.
        file("pax/size", body("size", 600)).claiming(0).pax("size", "600"),
        hardlink("run/pipe-also", "run/pipe").claiming(4096),
        member(b'5', "claims/a/size/").claiming(8192),
        // Members before the whiteouts that must not hide them.
        file("opt/tool/bin/run", body("new run", 4100)),
        opaque("opt/tool"),
        whiteout("var/cache/a"),
        file("var/cache/a/four", body("four", 400)),
        whiteout("usr/lib/libbig.so.1"),
        whiteout("does/not/exist"),
        whiteout("empty"),
        // A file where a folder was, a folder where a file was, members below a link.
        file("sparse", body("sparse", 31)),
        dir("twice"),
        file("twice/inside", body("inside", 32)),
        file("lib/below-a-link", body("below", 33)),
        hardlink("etc/passwd-", "etc/passwd"),
        file("etc/passwd", body("passwd", 950)),
        hardlink("etc/gone", "usr/lib/libbig.so.1"),
        dir("etc"),
        symlink("numbers", "etc"),
        file("a/../b/./c", body("dots", 34)),
        Member { body: Vec::new(), ..member(b'2', "old/.wh.file") },
    ]);
    let top = tar([
        whiteout("usr"),
        file("usr/share/only", body("only", 60)),
        whiteout("etc/passwd-"),
        opaque("bytes"),
        file("bytes/.wh..wh.plnk", ""),
        file("after-global", body("global", 77)),
        hardlink("after-global", "after-global"),
        hardlink("run/pipe-third", "run/pipe-again"),
        file("var/cache/a/four", ""),
    ]);
    vec![bottom, middle, top]
}

#[test]
fn every_form_of_an_image_gives_the_figures_of_the_walk() {
    if !have(&["python3", "zstd"]) {
        return;
    }
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        let folder = TempDir::new().unwrap();
        let image = Image::of(packing, rules());
        let mut first: Option<Value> = None;
        for reference in all_forms(&image, folder.path()) {
            let mut figures = stored_alike(&judge(&reference));
            // The oldest form states no diff ids.
            for layer in figures["layers"].as_array_mut().unwrap() {
                layer["diff_id"] = Value::Null;
            }
            let first = first.get_or_insert_with(|| figures.clone());
            assert_eq!(*first, figures, "{reference}");
        }
    }
}

#[test]
fn every_packing_gives_the_figures_of_the_walk() {
    if !have(&["python3", "zstd"]) {
        return;
    }
    for packing in Packing::ALL {
        let folder = TempDir::new().unwrap();
        let mut layers = rules();
        if matches!(packing, Packing::Estargz | Packing::ZstdChunked) {
            // These cut the stream at its headers, which takes sizes that are true.
            layers.remove(1);
        }
        Layout::of(&Image::of(packing, layers), "latest").write(folder.path());
        let reference = format!("oci:{}", text(folder.path()));
        let report = judge(&reference);
        for layer in report["layers"].as_array().unwrap() {
            // What is read anyway is hashed; a plain blob is only walked from header to header.
            let expected = if packing == Packing::Plain { "none" } else { "digest" };
            assert_eq!(layer["verified"], expected, "{packing:?}: {layer}");
        }
        let (status, verified) = report_with(&reference, &["--verify"]);
        let faults = differences(&verified, &walk(&reference, &["--tree", "--largest", "2000"]));
        assert!(faults.is_empty(), "{packing:?} --verify: {}", faults.join("\n"));
        assert_eq!(status, Some(0), "{packing:?} --verify");
        for layer in verified["layers"].as_array().unwrap() {
            assert_eq!(layer["verified"], "both", "{packing:?} --verify: {layer}");
        }
    }
}

#[test]
fn a_stream_without_its_end_and_an_empty_one_are_whole() {
    if !have(&["python3"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let open = without_end([dir("a"), file("a/b", body("b", 700))]);
    let padded = {
        let mut tar = tar([file("c", body("c", 100))]);
        tar.resize(10_240, 0);
        // What follows the first zero block is no member.
        tar.extend(self::tar([file("d", body("d", 200))]));
        tar
    };
    // As `umoci insert` writes it: neither end blocks nor the padding of the last body.
    let mut bare = without_end([file("e", body("e", 700))]);
    bare.truncate(512 + 700);
    for packing in [Packing::Plain, Packing::Gzip] {
        let layers = [open.clone(), padded.clone(), tar([]), Vec::new(), bare.clone()];
        let path = folder.path().join(packing.name());
        Layout::of(&Image::of(packing, layers), "latest").write(&path);
        judge(&format!("oci:{}", text(&path)));
    }
}

#[test]
fn the_samples_give_the_figures_of_the_walk() {
    if !have(&["python3"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
    let mut samples: Vec<PathBuf> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "tar"))
        .collect();
    samples.sort();
    assert!(!samples.is_empty(), "no samples in {}", folder.display());
    for path in samples {
        let report = judge(text(&path));
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
        let (status, built_in) = report_with(&format!("sample:{name}"), &[]);
        assert_eq!(status, Some(0), "sample:{name}");
        assert_eq!(stored_alike(&built_in), stored_alike(&report), "sample:{name}");
    }
}

#[test]
fn the_chosen_platform_is_the_one_that_is_read() {
    if !have(&["python3"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let mut layout = Layout::default();
    let mut manifests = Vec::new();
    for (architecture, variant, size) in
        [("amd64", None, 100), ("arm64", Some("v8"), 200), ("s390x", None, 300)]
    {
        let tar = tar([file("only", body(architecture, size))]);
        let image = Image::of(Packing::Gzip, [tar]).for_platform("linux", architecture, variant);
        let manifest = layout.add_image(&image);
        manifests.push(layout.add_attestation(&manifest));
        manifests.push(manifest);
    }
    let index = layout.add_index(&manifests);
    layout.root(tagged(index, "latest"));
    layout.write(folder.path());
    let reference = format!("oci:{}:latest", text(folder.path()));
    for (platform, size) in
        [("linux/amd64", 100), ("linux/arm64", 200), ("linux/arm64/v8", 200), ("linux/s390x", 300)]
    {
        let report = judge_with(&reference, &["--platform", platform]);
        assert_eq!(report["totals"]["merged_bytes"], size, "{platform}");
    }
}

#[test]
fn layers_made_by_chance_give_the_figures_of_the_walk() {
    if !have(&["python3"]) {
        return;
    }
    let count = std::env::var("CUTAWAY_ORACLE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("image");
    let reference = format!("oci:{}", text(&path));
    let mut failures = BTreeMap::new();
    for seed in 1..=count {
        let mut chance = Chance(seed);
        let layers: Vec<Vec<u8>> = (0..=chance.below(4)).map(|_| chance.layer()).collect();
        let packing = [Packing::Plain, Packing::Gzip][chance.below(2)];
        fs::remove_dir_all(&path).ok();
        Layout::of(&Image::of(packing, layers), "latest").write(&path);
        let expected = walk(&reference, &["--tree", "--largest", "2000"]);
        let (status, report) = report_with(&reference, &[]);
        let mut faults = differences(&report, &expected);
        if status != Some(0) {
            faults.push(format!("status {status:?}: {}", report["warnings"]));
        }
        let dangling = report["warnings"].as_array().into_iter().flatten();
        let dangling = dangling.filter(|warning| warning["code"] == "hard-link-dangling").count();
        if (dangling == 0) != (expected["dangling"] == 0) {
            faults.push(format!("{dangling} warnings of dangling links, walk {}", expected["dangling"]));
        }
        if !faults.is_empty() {
            failures.insert(seed, faults.join("\n  "));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} images differ, the first:\n{}",
        failures.len(),
        failures
            .iter()
            .take(3)
            .map(|(seed, text)| format!("seed {seed}:\n  {text}"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// Layers of few names, so that every rule meets every other.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^= value >> 31;
        usize::try_from(value % bound as u64).unwrap()
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.below(3);
        let parts: Vec<&str> = (0..depth).map(|_| ["a", "b", "c"][self.below(3)]).collect();
        let prefix = ["", "", "", "./", "/", "../", "a/../"][self.below(7)];
        format!("{prefix}{}", parts.join("/"))
    }

    fn layer(&mut self) -> Vec<u8> {
        let count = self.below(24);
        let members: Vec<Member> = (0..count).map(|_| self.member()).collect();
        tar(members)
    }

    fn member(&mut self) -> Member {
        let path = self.path();
        match self.below(20) {
            0..8 => {
                let size = self.below(3000);
                file(&path, body(&path, size))
            }
            8..11 => dir(&path),
            11 | 12 => symlink(&path, self.path()),
            13..16 => hardlink(&path, self.path()),
            16 | 17 => whiteout(&path),
            18 => opaque(&path),
            _ => fifo(&path),
        }
    }
}

#[test]
fn a_damaged_layer_makes_the_report_incomplete() {
    if !have(&["python3", "zstd"]) {
        return;
    }
    let whole = rules();
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        for keep in [1, 700, 5000, 20_000] {
            let folder = TempDir::new().unwrap();
            let mut image = Image::of(packing, whole.clone());
            let layer = &mut image.layers[0];
            let keep = keep * layer.blob.len() / 30_000;
            layer.blob.truncate(keep);
            Layout::of(&image, "latest").write(folder.path());
            let reference = format!("oci:{}", text(folder.path()));
            assert_eq!(walk(&reference, &[])["totals"]["complete"], false, "{packing:?} {keep}");
            let (status, report) = report_with(&reference, &[]);
            let totals = &report["totals"];
            assert_eq!(totals["complete"], false, "{packing:?} cut to {keep} bytes");
            assert_eq!(status, Some(2), "{packing:?} cut to {keep} bytes");
            let number = |name: &str| totals[name].as_u64().unwrap();
            assert_eq!(
                number("content_bytes"),
                number("merged_bytes") + number("wasted_bytes"),
                "{packing:?} cut to {keep} bytes"
            );
        }
    }
}
