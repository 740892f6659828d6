//! Every form in which an image can lie on a disk, and how one is chosen where there are several.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::fixtures::docker::{save_ancient, save_classic, save_modern, schema1_manifest};
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::{Files, Layout, flat_dir, tagged};
use crate::fixtures::packing::{Packing, gzip, zstd};
use crate::fixtures::tarball::{Member, dir, file, hardlink, opaque, symlink as link, tar, whiteout};
use crate::fixtures::{CREATED, digest, json_bytes, sha256_hex};
use crate::support::{Place, Report};

const TAG: &str = "example.org/app:1.0";

/// Three layers with something of everything.
fn tars() -> Vec<Vec<u8>> {
    vec![
        tar([
            dir("etc"),
            file("etc/settings", vec![b's'; 300]),
            dir("usr"),
            dir("usr/lib"),
            file("usr/lib/libone.so.1", vec![1; 5000]),
            hardlink("usr/lib/libalso.so.1", "usr/lib/libone.so.1"),
            link("usr/lib/libone.so", "libone.so.1"),
            file("usr/lib/old", vec![b'o'; 700]),
        ]),
        tar([dir("usr"), dir("usr/lib"), whiteout("usr/lib/old"), file("etc/settings", vec![b't'; 200])]),
        tar([dir("data"), file("data/model", vec![7; 40_000]), opaque("empty")]),
    ]
}

fn image(packing: Packing) -> Image {
    let mut image = tars().into_iter().enumerate().fold(Image::new(packing), |image, (index, tar)| {
        image.step("ENV NAME=value").layer(&format!("RUN step {index} # buildkit"), &tar)
    });
    image.config = json!({
        "Env": ["PATH=/usr/bin", "NAME=value"], "Entrypoint": ["/bin/app"], "Cmd": ["--serve"],
        "WorkingDir": "/data", "User": "1000", "Labels": {"one": "1"}, "ExposedPorts": {"80/tcp": {}}
    });
    image
}

/// The figures that do not depend on where an image lies and how it is packed.
fn figures(report: &Report) -> Value {
    let mut totals = report.json["totals"].clone();
    totals["compressed_bytes"] = Value::Null;
    let names = [
        "index",
        "diff_id",
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
        "created_by",
    ];
    let layers: Vec<Value> =
        report.layers().iter().map(|layer| names.iter().map(|name| layer[*name].clone()).collect()).collect();
    json!([totals, layers, report.json["largest_files"]])
}

/// Puts the same image on disk in every form; references come back.
fn every_form(place: &Place, packing: Packing) -> Vec<String> {
    let image = image(packing);
    let layout = Layout::of(&image, TAG);
    let name = packing.name();
    let mut references = Vec::new();
    let mut add = |transport: &str, path: String| {
        references.push(format!("{transport}:{path}"));
        references.push(path);
    };
    add("oci", place.put_layout(&format!("{packing:?}/layout"), &layout));
    add("dir", place.put_files(&format!("{packing:?}/flat"), &flat_dir(&image)));
    let archives = [
        ("oci-archive", layout.archive()),
        ("docker-archive", tar(save_classic(&[(&image, &[TAG])]))),
        ("docker-archive", tar(save_modern(&[(&image, &[TAG])]))),
    ];
    for (index, (transport, bytes)) in archives.iter().enumerate() {
        add(transport, place.put(&format!("{packing:?}/{index}-{name}.bin"), bytes));
        add(transport, place.put(&format!("{packing:?}/{index}-{name}-gzip.bin"), gzip(bytes)));
        add(transport, place.put(&format!("{packing:?}/{index}-{name}-zstd.bin"), zstd(bytes)));
    }
    references
}

#[test]
fn the_same_image_has_the_same_figures_in_every_form() {
    let place = Place::new();
    let packings = [Packing::Plain, Packing::Gzip, Packing::Zstd];
    let references: Vec<String> = packings.iter().flat_map(|packing| every_form(&place, *packing)).collect();
    let first = figures(&place.report(&references[0]));
    assert_eq!(first[0]["content_bytes"], 46_200);
    assert_eq!(first[0]["merged_bytes"], 45_200);
    assert_eq!(first[0]["merged_files"], 4);
    for reference in &references[1..] {
        assert_eq!(figures(&place.report(reference)), first, "{reference}");
    }
}

#[test]
fn layers_may_be_packed_in_any_way() {
    let place = Place::new();
    for packing in Packing::ALL {
        let image = image(packing);
        let path = place.put_layout(&format!("{packing:?}"), &Layout::of(&image, TAG));
        let report = place.report(&format!("oci:{path}"));
        for (layer, made) in report.layers().iter().zip(&image.layers) {
            assert_eq!(layer["compression"], packing.name(), "{packing:?}");
            assert_eq!(layer["digest"], made.digest);
            assert_eq!(layer["diff_id"], made.diff_id);
            assert_eq!(layer["compressed_bytes"], made.blob.len(), "{packing:?}");
            assert_eq!(layer["uncompressed_bytes"], made.tar.len(), "{packing:?}");
        }
        // The image starts a program that it does not hold; nothing else is odd about it.
        assert_eq!(report.codes(), ["links-oddity"], "{packing:?}: {:#}", report.json["warnings"]);
        if packing != Packing::Estargz {
            assert_eq!(report.total("content_bytes"), 46_200, "{packing:?}");
        }
    }
}

#[test]
fn what_was_checked_is_said() {
    let place = Place::new();
    let verified = |reference: &str, options: &[&str]| -> Vec<String> {
        let report = place.report_with(reference, options);
        assert_eq!(report.code, 0, "{:#}", report.json["warnings"]);
        report.layers().iter().map(|layer| layer["verified"].as_str().unwrap().to_owned()).collect()
    };
    let plain = place.put_layout("plain", &Layout::of(&image(Packing::Plain), TAG));
    let gzip = place.put_layout("gzip", &Layout::of(&image(Packing::Gzip), TAG));
    let zstd = place.put_layout("zstd", &Layout::of(&image(Packing::Zstd), TAG));
    assert_eq!(verified(&plain, &[]), ["none"; 3], "a plain layer is walked, not read");
    assert_eq!(verified(&gzip, &[]), ["digest"; 3]);
    assert_eq!(verified(&zstd, &[]), ["digest"; 3]);
    for path in [&plain, &gzip, &zstd] {
        assert_eq!(verified(path, &["--verify"]), ["both"; 3]);
    }
}

#[test]
fn docker_archives_without_descriptors_have_no_digests() {
    let place = Place::new();
    let image = image(Packing::Plain);
    let classic = place.put("classic.tar", tar(save_classic(&[(&image, &[TAG])])));
    let report = place.report(&classic);
    assert!(report.layers().iter().all(|layer| layer["digest"].is_null()), "{:#}", report.json["layers"]);
    assert!(report.layers().iter().zip(&image.layers).all(|(layer, made)| layer["diff_id"] == made.diff_id));
    let verified = place.report_with(&classic, &["--verify"]);
    assert!(
        verified.layers().iter().all(|layer| layer["verified"] != "none"),
        "{:#}",
        verified.json["layers"]
    );

    let modern = place.put("modern.tar", tar(save_modern(&[(&image, &[TAG])])));
    let report = place.report(&modern);
    assert!(report.layers().iter().zip(&image.layers).all(|(layer, made)| layer["digest"] == made.digest));
}

#[test]
fn the_config_is_in_the_report() {
    let place = Place::new();
    let image = image(Packing::Gzip);
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    let report = place.report(&format!("oci:{path}"));
    let part = &report.json["image"];
    assert_eq!(part["manifest_digest"], digest(&image.manifest_bytes()));
    assert_eq!(part["config_digest"], digest(&image.config_bytes()));
    assert_eq!(part["media_type"], "application/vnd.oci.image.manifest.v1+json");
    assert_eq!(part["platform"]["os"], "linux");
    assert_eq!(part["platform"]["architecture"], "amd64");
    assert_eq!(part["created"], CREATED);
    assert!(part["base"].is_null());
    let config = &part["config"];
    assert_eq!(config["env"], json!(["PATH=/usr/bin", "NAME=value"]));
    assert_eq!(config["entrypoint"], json!(["/bin/app"]));
    assert_eq!(config["cmd"], json!(["--serve"]));
    assert_eq!(config["working_dir"], "/data");
    assert_eq!(config["user"], "1000");
    assert_eq!(config["labels"], json!({"one": "1"}));
    assert_eq!(config["exposed_ports"], json!(["80/tcp"]));
    let created_by: Vec<&str> =
        report.layers().iter().map(|layer| layer["created_by"].as_str().unwrap()).collect();
    assert!(created_by.iter().enumerate().all(|(index, text)| text.contains(&format!("step {index}"))));
    assert_eq!(report.json["generator"]["name"], "cutaway");
}

#[test]
fn the_old_form_of_docker_save_is_read() {
    let place = Place::new();
    let image = image(Packing::Plain);
    let path = place.put("ancient.tar", tar(save_ancient(&image, "example.org/app", "1.0")));
    for reference in [path.clone(), format!("docker-archive:{path}"), format!("docker-archive:{path}:{TAG}")]
    {
        let report = place.report(&reference);
        assert_eq!(report.total("content_bytes"), 46_200);
        assert_eq!(report.total("merged_bytes"), 45_200);
        assert_eq!(report.json["image"]["config"]["entrypoint"], json!(["/bin/app"]));
        assert!(report.layers()[2]["created_by"].as_str().unwrap().contains("step 2"));
    }
}

#[test]
fn members_of_a_docker_archive_come_in_any_order() {
    let place = Place::new();
    let image = image(Packing::Plain);
    for (form, members) in
        [("classic", save_classic(&[(&image, &[TAG])])), ("modern", save_modern(&[(&image, &[TAG])]))]
    {
        let forward = figures(&place.report(&place.put(&format!("{form}-forward"), tar(members.clone()))));
        let backward: Vec<Member> = members.into_iter().rev().collect();
        for (how, bytes) in [("plain", tar(backward.clone())), ("gzip", gzip(&tar(backward)))] {
            let path = place.put(&format!("{form}-backward-{how}"), bytes);
            assert_eq!(figures(&place.report(&path)), forward, "{form} {how}");
        }
    }
}

#[test]
fn a_layer_that_is_a_link_to_another_is_read_there() {
    let place = Place::new();
    let twice = tar([file("same", vec![3; 900])]);
    let image = Image::of(Packing::Plain, [twice.clone(), tar([file("other", "x")]), twice]);
    let members = save_classic(&[(&image, &[TAG])]);
    assert!(members.iter().any(|member| member.kind == b'2'), "the fixture writes a link");
    for (how, bytes) in [("plain", tar(members.clone())), ("gzip", gzip(&tar(members)))] {
        let report = place.report(&place.put(how, bytes));
        assert_eq!(report.each("content_bytes"), [900, 1, 900], "{how}");
        assert_eq!(report.total("wasted_bytes"), 900);
    }
}

#[test]
fn several_images_need_a_name() {
    let place = Place::new();
    let one = image(Packing::Plain);
    let two = Image::of(Packing::Plain, [tar([file("two", vec![2; 22])])]);
    let mut layout = Layout::default();
    for (image, tag) in [(&one, "first"), (&two, "second")] {
        let descriptor = layout.add_image(image);
        layout.root(tagged(descriptor, tag));
    }
    let folder = place.put_layout("layout", &layout);
    let archive = place.put("oci.tar", layout.archive());
    let pairs: [(&Image, &[&str]); 2] =
        [(&one, &["example.org/app:first"]), (&two, &["example.org/app:second"])];
    let classic = place.put("classic.tar", tar(save_classic(&pairs)));
    let modern = place.put("modern.tar", tar(save_modern(&pairs)));
    let cases = [
        (format!("oci:{folder}"), "first", "second"),
        (format!("oci-archive:{archive}"), "first", "second"),
        (format!("docker-archive:{classic}"), "example.org/app:first", "example.org/app:second"),
        (format!("docker-archive:{modern}"), "example.org/app:first", "example.org/app:second"),
    ];
    for (reference, first, second) in &cases {
        let message = place.refusal(reference, "first");
        assert!(message.contains("second"), "{message}");
        assert_eq!(
            place.report(&format!("{reference}:{first}")).total("content_bytes"),
            46_200,
            "{reference}"
        );
        assert_eq!(place.report(&format!("{reference}:{second}")).total("content_bytes"), 22, "{reference}");
        let message = place.refusal(&format!("{reference}:third"), "third");
        assert!(message.contains("first") && message.contains("second"), "{message}");
    }
    for path in [&folder, &archive, &classic, &modern] {
        place.refusal(path, "second");
    }
}

#[test]
fn an_image_can_be_chosen_by_digest() {
    let place = Place::new();
    let two = Image::of(Packing::Plain, [tar([file("two", vec![2; 22])])]);
    let mut layout = Layout::of(&image(Packing::Plain), "first");
    let descriptor = layout.add_image(&two);
    layout.root(tagged(descriptor, "second"));
    let folder = place.put_layout("layout", &layout);
    let wanted = digest(&two.manifest_bytes());
    let report = place.report(&format!("oci:{folder}@{wanted}"));
    assert_eq!(report.total("content_bytes"), 22);
    assert_eq!(report.json["image"]["manifest_digest"], wanted);
    let absent = digest(b"nothing");
    place.refusal(&format!("oci:{folder}@{absent}"), &absent);
    place.failure(&["report", &format!("oci:{folder}@sha256:12")]);
}

/// A layout with an index of three platforms and attestations, as BuildKit pushes it.
fn multi_platform(nested: bool) -> (Layout, [Image; 3]) {
    let made = |content: usize| Image::of(Packing::Gzip, [tar([file("f", vec![1; content])])]);
    let images = [
        made(100).for_platform("linux", "amd64", None),
        made(200).for_platform("linux", "arm64", Some("v8")),
        made(300).for_platform("linux", "riscv64", None),
    ];
    let mut layout = Layout::default();
    let mut manifests = Vec::new();
    for image in &images {
        let descriptor = layout.add_image(image);
        let attestation = layout.add_attestation(&descriptor);
        manifests.extend([descriptor, attestation]);
    }
    let mut index = layout.add_index(&manifests);
    if nested {
        index = layout.add_index(&[index]);
    }
    layout.root(tagged(index, "multi"));
    (layout, images)
}

#[test]
fn the_platform_is_chosen() {
    let place = Place::new();
    for nested in [false, true] {
        let (layout, images) = multi_platform(nested);
        let folder = place.put_layout(&format!("nested-{nested}"), &layout);
        let reference = format!("oci:{folder}:multi");
        let content = |options: &[&str]| place.report_with(&reference, options).total("content_bytes");
        assert_eq!(content(&["--platform", "linux/amd64"]), 100);
        assert_eq!(content(&["--platform", "linux/arm64"]), 200);
        assert_eq!(content(&["--platform", "linux/arm64/v8"]), 200);
        assert_eq!(content(&["--platform", "linux/riscv64"]), 300);
        match std::env::consts::ARCH {
            "x86_64" => assert_eq!(content(&[]), 100),
            "aarch64" => assert_eq!(content(&[]), 200),
            _ => {}
        }
        // A digest says which one without a platform.
        let wanted = digest(&images[2].manifest_bytes());
        assert_eq!(place.report(&format!("oci:{folder}@{wanted}")).total("content_bytes"), 300);
        let message = place.failure(&["report", &reference, "--platform", "linux/s390x"]);
        for there in ["linux/amd64", "linux/arm64", "linux/riscv64", "s390x"] {
            assert!(message.contains(there), "{there} is not named: {message}");
        }
        assert!(!message.contains("unknown"), "an attestation is offered: {message}");
    }
}

#[test]
fn a_platform_that_is_none_is_wrong_use() {
    let place = Place::new();
    let folder = place.put_layout("layout", &multi_platform(false).0);
    for platform in ["linux", "linux/", "/amd64", "linux/amd64/v1/x", ""] {
        let outcome = place.run(&["report", &folder, "--platform", platform]);
        assert_eq!(outcome.code, 2, "{platform:?}");
        assert_eq!(outcome.stdout, "");
        assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
    }
}

#[test]
fn an_index_of_nothing_but_attestations_has_no_image() {
    let place = Place::new();
    let mut layout = Layout::default();
    let image = layout.add_image(&image(Packing::Gzip));
    let attestation = layout.add_attestation(&image);
    let index = layout.add_index(&[attestation]);
    layout.root(tagged(index, "only"));
    let folder = place.put_layout("layout", &layout);
    place.refusal(&format!("oci:{folder}"), "layout");
}

#[test]
fn docker_media_types_are_the_same() {
    let place = Place::new();
    let plain = figures(&place.report(&place.put_layout("oci", &Layout::of(&image(Packing::Gzip), TAG))));
    let docker = image(Packing::Gzip).with_docker_types();
    let mut layout = Layout::default();
    let descriptor = layout.add_image(&docker);
    let list = layout.add_docker_list(&[descriptor]);
    layout.root(tagged(list, TAG));
    let report = place.report_with(&place.put_layout("docker", &layout), &["--platform", "linux/amd64"]);
    assert_eq!(figures(&report), plain);
    assert_eq!(report.codes(), ["links-oddity"], "{:#}", report.json["warnings"]);
    let flat = place.put_files("flat", &flat_dir(&docker));
    assert_eq!(figures(&place.report(&flat)), plain);
}

#[test]
fn schema_1_is_refused_by_name() {
    let place = Place::new();
    let image = image(Packing::Gzip);
    let mut files: Files = flat_dir(&image);
    files.insert("manifest.json".into(), schema1_manifest(&image, "example.org/app", "1.0"));
    let path = place.put_files("flat", &files);
    let message = place.refusal(&format!("dir:{path}"), "manifest.json");
    assert!(message.contains("schema 1"), "{message}");
    assert!(message.contains("hint: "), "{message}");
}

#[test]
fn a_path_is_detected_by_content_and_not_by_name() {
    let place = Place::new();
    let image = image(Packing::Gzip);
    let layout = Layout::of(&image, TAG);
    let expected = figures(&place.report(&place.put("a.png", layout.archive())));
    for (name, bytes) in [
        ("image.txt", gzip(&layout.archive())),
        ("archive.tar.gz", zstd(&layout.archive())),
        ("layer.tar.zst", layout.archive()),
        ("docker.oci", tar(save_classic(&[(&image, &[TAG])]))),
        ("noextension", gzip(&tar(save_modern(&[(&image, &[TAG])])))),
        ("with space and ü.tar", layout.archive()),
    ] {
        assert_eq!(figures(&place.report(&place.put(name, bytes))), expected, "{name}");
    }
    // Relative paths, and paths with a colon.
    place.put("odd:name:1.tar", layout.archive());
    assert_eq!(figures(&place.report("./odd:name:1.tar")), expected);
    assert_eq!(figures(&place.report("image.txt")), expected);
    let through_link = place.path("link");
    symlink(place.path("a.png"), &through_link).unwrap();
    assert_eq!(figures(&place.report(&through_link)), expected);
}

#[test]
fn a_bare_path_may_carry_a_tag() {
    let place = Place::new();
    let mut layout = Layout::of(&image(Packing::Plain), "first");
    let descriptor = layout.add_image(&Image::of(Packing::Plain, [tar([file("two", vec![2; 22])])]));
    layout.root(tagged(descriptor, "second"));
    let folder = place.put_layout("layout", &layout);
    assert_eq!(place.report(&format!("{folder}:second")).total("content_bytes"), 22);
}

#[test]
fn a_layer_without_bytes_is_named_and_the_rest_is_read() {
    let place = Place::new();
    let mut foreign = Layer::new(&tar([file("windows", vec![5; 500])]), Packing::Gzip);
    foreign.media_type = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip".into();
    foreign.urls = vec!["https://user:geheim@layers.example.org/blob".into()];
    foreign.stored = false;
    let image = Image::new(Packing::Gzip).add("COPY base", foreign.clone());
    let image = image.layer("COPY own", &tar([file("own", vec![6; 60])]));
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    let report = place.report_with(&path, &[]);
    assert_eq!(report.code, 2);
    assert!(!report.complete());
    let warning = report.warnings("layer-missing")[0];
    let subject = warning["subject"].as_str().unwrap();
    assert!(subject.contains("layer 0") || subject.contains(&foreign.digest), "{warning}");
    assert!(!report.json.to_string().contains("geheim"), "a password is shown");
    assert_eq!(report.layers()[1]["content_bytes"], 60);

    // The same with the bytes there is an ordinary layer.
    foreign.stored = true;
    let image = Image::new(Packing::Gzip).add("COPY base", foreign);
    let path = place.put_layout("stored", &Layout::of(&image, TAG));
    assert_eq!(place.report(&path).total("content_bytes"), 500);
}

#[test]
fn secrets_are_shown_only_when_asked_for() {
    let place = Place::new();
    let mut image = image(Packing::Gzip);
    image.config["Env"] = json!(["API_TOKEN=geheim1", "DB_PASSWORD=geheim2", "PLAIN=offen"]);
    image.config["Labels"] = json!({"deploy.secret": "geheim3", "plain": "offen"});
    image.history[1].0 = "RUN |1 NPM_TOKEN=geheim4 /bin/sh -c npm ci # buildkit".into();
    let path = place.put_layout("layout", &Layout::of(&image, TAG));
    for format in ["json", "text"] {
        let hidden = place.run(&["report", &path, "--format", format]);
        assert!(!hidden.stdout.contains("geheim"), "{}", hidden.stdout);
        assert!(hidden.stdout.contains("<redacted>") || format == "text", "{}", hidden.stdout);
    }
    let shown = place.report_with(&path, &["--show-secrets"]).json.to_string();
    for secret in ["geheim1", "geheim2", "geheim3", "geheim4"] {
        assert!(shown.contains(secret), "{secret} is not shown");
    }
    assert!(place.report(&path).json.to_string().contains("offen"));
}

/// An unpacked root filesystem with what may not be followed.
fn rootfs(place: &Place) -> String {
    place.put("outside/secret", vec![9; 9_000]);
    place.put("root/etc/os-release", "ID=test\n");
    place.put("root/usr/lib/libone.so.1", vec![1; 5000]);
    place.put("root/usr/bin/tool", vec![2; 300]);
    let root = place.path("root");
    fs::hard_link(format!("{root}/usr/lib/libone.so.1"), format!("{root}/usr/lib/libalso.so.1")).unwrap();
    symlink("libone.so.1", format!("{root}/usr/lib/libone.so")).unwrap();
    symlink("../../outside", format!("{root}/etc/out")).unwrap();
    symlink("/etc", format!("{root}/etc/absolute")).unwrap();
    symlink("loop", format!("{root}/etc/loop")).unwrap();
    let status = Command::new("mkfifo").arg(format!("{root}/etc/pipe")).status().unwrap();
    assert!(status.success());
    root
}

#[test]
fn a_root_filesystem_is_one_layer() {
    let place = Place::new();
    let root = rootfs(&place);
    for reference in [format!("rootfs:{root}"), root.clone()] {
        let report = place.report(&reference);
        assert_eq!(report.total("layers"), 1);
        assert_eq!(report.total("content_bytes"), 5_308, "the hard link counts once, nothing outside counts");
        assert_eq!(report.total("merged_bytes"), 5_308);
        assert_eq!(report.total("wasted_bytes"), 0);
        assert_eq!(report.total("merged_files"), 4);
        let layer = &report.layers()[0];
        assert_eq!(layer["compression"], "none");
        assert!(layer["compressed_bytes"].is_null(), "{layer:#}");
        assert_eq!(layer["symlinks"], 4);
        assert_eq!(layer["hardlinks"], 1);
        assert_eq!(layer["others"], 1, "the pipe");
        assert!(report.json["image"]["manifest_digest"].is_null());
    }
}

#[test]
fn a_folder_that_may_not_be_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let root = rootfs(&place);
    let closed = format!("{root}/usr/closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    // The superuser may read everything, so it runs the program without the capabilities for that.
    let reference = format!("rootfs:{root}");
    let program = [env!("CARGO_BIN_EXE_cutaway"), "report", &reference, "--format", "json"];
    let mut command = if fs::read_dir(&closed).is_ok() {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]).args(program);
        command
    } else {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]);
        command
    };
    let output = command.env("CUTAWAY_NO_CACHE", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let warnings = report["warnings"].as_array().unwrap();
    let named = |warning: &Value| warning["subject"].as_str().unwrap().contains("closed");
    assert!(warnings.iter().any(|warning| warning["code"] == "not-read" && named(warning)), "{warnings:?}");
}

#[test]
fn text_goes_to_standard_output_and_files_are_written_whole() {
    let place = Place::new();
    let elsewhere = Place::new();
    let path = place.put_layout("layout", &Layout::of(&image(Packing::Gzip), TAG));
    let text = place.run(&["report", &path]);
    assert_eq!(text.code, 0);
    assert!(text.stdout.contains("Layer") || text.stdout.contains("layer"), "{}", text.stdout);
    let target = elsewhere.put("report.json", "old");
    let outcome = place.run(&["report", &path, "--format", "json", "-o", &target]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{}", outcome.stderr);
    let written: Value = serde_json::from_slice(&fs::read(&target).unwrap()).unwrap();
    assert_eq!(written["totals"]["content_bytes"], 46_200);
    let beside: Vec<_> = fs::read_dir(elsewhere.path("")).unwrap().collect();
    assert_eq!(beside.len(), 1, "a temporary file is left: {beside:?}");
}

#[test]
fn a_layout_may_leave_out_what_the_specification_calls_optional() {
    let place = Place::new();
    let image = image(Packing::Gzip);
    let mut manifest = image.manifest_json();
    manifest.as_object_mut().unwrap().remove("mediaType");
    let bytes = json_bytes(&manifest);
    let mut layout = Layout::default();
    layout.add_image(&image);
    let digest = layout.add_blob(&bytes);
    layout.root(json!({
        "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": bytes.len()
    }));
    let mut files = layout.files();
    files.remove("oci-layout");
    let path = place.put_files("layout", &files);
    assert_eq!(place.report(&format!("oci:{path}")).total("content_bytes"), 46_200);
}

#[test]
fn archives_of_the_other_kind_are_refused_with_a_reason() {
    let place = Place::new();
    let image = image(Packing::Plain);
    let classic = place.put("classic.tar", tar(save_classic(&[(&image, &[TAG])])));
    place.refusal(&format!("oci-archive:{classic}"), "classic.tar");
    let layer = place.put("layer.tar", &image.layers[0].tar);
    for transport in ["oci-archive:", "docker-archive:", ""] {
        place.refusal(&format!("{transport}{layer}"), "layer.tar");
    }
    let folder = place.put_layout("layout", &Layout::of(&image, TAG));
    place.refusal(&format!("dir:{folder}"), "layout");
    place.refusal(&format!("oci-archive:{folder}"), "layout");
    let flat = place.put_files("flat", &flat_dir(&image));
    place.refusal(&format!("oci:{flat}"), "flat");
}

#[test]
fn blobs_are_found_where_tools_put_them() {
    let place = Place::new();
    let image = image(Packing::Gzip);
    // Some writers put `./` before every name, and leave the folders out.
    let members = Layout::of(&image, TAG).members().into_iter().filter(|member| member.kind == b'0');
    let dotted = members.map(|mut member| {
        member.name = [b"./", member.name.as_slice()].concat();
        member
    });
    let path = place.put("dotted.tar", tar(dotted));
    assert_eq!(place.report(&path).total("content_bytes"), 46_200);
    // A blob may be a hard link or a symbolic link inside the archive.
    let layer = &image.layers[2];
    let name = format!("blobs/sha256/{}", sha256_hex(&layer.blob));
    let mut members = Layout::of(&image, TAG).members();
    members.retain(|member| member.name != name.as_bytes());
    members.insert(0, file("elsewhere", layer.blob.clone()));
    for (how, made) in [("hard", hardlink(&name, "elsewhere")), ("symbolic", link(&name, "../../elsewhere"))]
    {
        let mut members = members.clone();
        members.push(made);
        let path = place.put(&format!("{how}.tar"), tar(members));
        assert_eq!(place.report(&path).total("content_bytes"), 46_200, "{how}");
    }
}
