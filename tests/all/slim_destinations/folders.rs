//! Folders and archives.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use super::writer::{POINTS, Task};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::offline::offline;
use crate::oracle::have;
use crate::registry::bench::{image, noise};
use crate::support::{Place, Report};

/// A place with the image as a layout with the tag `1`; its reference.
pub fn place() -> (Place, String) {
    let place = Place::new();
    let layout = place.put_layout("source", &Layout::of(&image(Packing::Gzip), "1"));
    (place, format!("oci:{layout}:1"))
}

fn at(place: &Place, transport: &str, name: &str) -> String {
    format!("{transport}:{}", place.path(name))
}

/// Names in a folder, sorted.
pub fn names(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

pub fn shell(place: &Place, script: &str) -> String {
    let mut command = Command::new("sh");
    place.put("policy.json", r#"{"default": [{"type": "insecureAcceptAnything"}]}"#);
    place.settle(&mut command);
    command.args(["-euc", script]).env("TMPDIR", place.path("")).env("LC_ALL", "C.UTF-8");
    let output = offline(&mut command).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_form_is_read_back_as_the_same_image() {
    let (place, source) = place();
    let expected = place.report(&source);
    let config = &expected.json["image"]["config_digest"];
    for (destination, published) in [
        (format!("{}:new", at(&place, "oci", "layout")), format!("{}:new", at(&place, "oci", "layout"))),
        (at(&place, "dir", "flat"), at(&place, "dir", "flat")),
        (
            format!("{}:team/new-1.0", at(&place, "oci-archive", "oci.tar")),
            format!("{}:team/new-1.0", at(&place, "oci-archive", "oci.tar")),
        ),
        (
            format!("{}:team/app", at(&place, "docker-archive", "docker.tar")),
            format!("{}:team/app:latest", at(&place, "docker-archive", "docker.tar")),
        ),
    ] {
        let reference = Task::new(&source, &destination).succeeds(&place);
        assert_eq!(reference, published);
        let report = place.report(&reference);
        assert_eq!(report.json["totals"], expected.json["totals"], "{reference}");
        assert_eq!(&report.json["image"]["config_digest"], config, "{reference}");
        let digests = |json: &serde_json::Value| -> Vec<serde_json::Value> {
            json["layers"].as_array().unwrap().iter().map(|layer| layer["digest"].clone()).collect()
        };
        assert_eq!(digests(&report.json), digests(&expected.json), "{reference}");
    }
    let leftover: Vec<String> =
        names(&place.path("")).into_iter().filter(|name| name.starts_with(".cutaway-")).collect();
    assert_eq!(leftover, [""; 0]);
    // As readable as any new file and folder.
    let plain = fs::metadata(place.put("plain", "")).unwrap().permissions().mode();
    for file in ["oci.tar", "docker.tar", "layout/index.json"] {
        assert_eq!(fs::metadata(place.path(file)).unwrap().permissions().mode(), plain, "{file}");
    }
    let folder = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode();
    assert_eq!([folder("layout"), folder("flat")], [folder("source"); 2]);
}

#[test]
fn skopeo_and_umoci_take_each_form() {
    if !have(&["skopeo", "umoci", "tar"]) {
        return;
    }
    let (place, source) = place();
    for destination in
        ["oci:layout:new", "dir:flat", "oci-archive:oci.tar:new", "docker-archive:docker.tar:team/app:1"]
    {
        Task::new(&source, destination).succeeds(&place);
    }
    let manifests = shell(
        &place,
        r#"
copy() { skopeo --policy policy.json copy --quiet --preserve-digests "$@"; }
copy oci:layout:new oci:out1:a
copy dir:flat oci:out2:a
copy oci-archive:oci.tar:new oci:out3:a
skopeo --policy policy.json copy --quiet docker-archive:docker.tar:team/app:1 oci:out4:a
for form in oci:layout:new dir:flat oci-archive:oci.tar:new; do
    skopeo inspect --format '{{.Digest}}' "$form"
done
"#,
    );
    let expected = place.report(&source);
    let digest = expected.json["image"]["manifest_digest"].as_str().unwrap();
    assert_eq!(manifests.lines().collect::<Vec<_>>(), [digest; 3]);
    for out in 1..=4 {
        let report = place.report(&format!("oci:{}:a", place.path(&format!("out{out}"))));
        assert_eq!(report.json["totals"]["merged_bytes"], expected.json["totals"]["merged_bytes"], "{out}");
        // Skopeo writes a config of its own from the docker archive.
        let config = |report: &Report| report.json["image"]["config_digest"].clone();
        assert!(out == 4 || config(&report) == config(&expected), "{out}");
    }
    shell(&place, "umoci unpack --rootless --image layout:new bundle; test -f bundle/rootfs/opt/three");
    // Members in the order of a stream, nothing of this machine in the headers.
    let listing = shell(&place, "tar --numeric-owner --utc -tvf docker.tar");
    assert!(listing.lines().count() >= 8, "{listing}");
    assert!(listing.lines().all(|line| line.contains("0/0") && line.contains("1970-01-01")), "{listing}");
}

#[test]
fn an_existing_layout_keeps_its_other_images() {
    let (place, source) = place();
    let mut other = image(Packing::Zstd);
    other.config["Env"] = serde_json::json!(["A=B"]);
    let mut layout = Layout::of(&other, "other");
    layout.root(serde_json::json!({
        "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": format!("sha256:{}", "0".repeat(64)),
        "size": 1, "annotations": {"org.opencontainers.image.ref.name": "mine", "a.b": "c"}
    }));
    let folder = place.put_layout("shared", &layout);
    let before = place.report(&format!("oci:{folder}:other"));
    let tags = || -> Vec<String> {
        let index: serde_json::Value =
            serde_json::from_slice(&fs::read(format!("{folder}/index.json")).unwrap()).unwrap();
        let tag = |entry: &serde_json::Value| {
            entry["annotations"]["org.opencontainers.image.ref.name"].as_str().unwrap_or("none").to_owned()
        };
        index["manifests"].as_array().unwrap().iter().map(tag).collect()
    };
    let published = Task::new(&source, &format!("oci:{folder}:mine")).succeeds(&place);
    assert_eq!(
        (published.as_str(), tags()),
        (&*format!("oci:{folder}:mine"), vec!["other".into(), "mine".into()])
    );
    assert_eq!(place.report(&published).json["totals"], place.report(&source).json["totals"]);
    assert_eq!(place.report(&format!("oci:{folder}:other")).json["totals"], before.json["totals"]);
    // What is there is not copied, a damaged blob is.
    let blob = format!("{folder}/blobs/{}", image(Packing::Gzip).layers[0].digest.replace(':', "/"));
    fs::write(&blob, noise("damage", fs::metadata(&blob).unwrap().len().try_into().unwrap())).unwrap();
    let published = Task::new(&source, &format!("oci:{folder}")).succeeds(&place);
    assert!(published.starts_with(&format!("oci:{folder}@sha256:")), "{published}");
    assert_eq!(place.report(&published).json["totals"], place.report(&source).json["totals"]);
    assert_eq!(tags(), ["other", "mine", "none"]);
    let again = Task::new(&source, &format!("oci:{folder}")).succeeds(&place);
    assert_eq!((again, tags().len()), (published, 3));
    assert_eq!(names(&folder), ["blobs", "index.json", "oci-layout"]);
    // Into an empty folder, which may be a mount.
    for form in ["oci", "dir"] {
        fs::create_dir(place.path(form)).unwrap();
        let published = Task::new(&source, &at(&place, form, form)).succeeds(&place);
        assert_eq!(place.report(&published).json["totals"], place.report(&source).json["totals"]);
    }
}

#[test]
fn the_source_is_never_changed_and_shares_no_file() {
    let (place, source) = place();
    let facts = |folder: &str| -> Vec<(u64, u64, i64)> {
        let blobs = place.path(&format!("{folder}/blobs/sha256"));
        let fact = |name: &String| fs::metadata(Path::new(&blobs).join(name)).unwrap();
        names(&blobs).iter().map(fact).map(|facts| (facts.ino(), facts.nlink(), facts.mtime_nsec())).collect()
    };
    let before = facts("source");
    let destination = at(&place, "oci", "copy");
    assert_eq!(Task::new(&source, &destination).keeping_all().succeeds(&place), destination);
    assert_eq!(facts("source"), before);
    assert!(
        facts("copy").iter().all(|(inode, links, _)| *links == 1 && before.iter().all(|old| old.0 != *inode))
    );
}

#[test]
fn what_is_dropped_or_killed_leaves_nothing_under_the_name() {
    let (place, source) = place();
    let shared = place.put_layout("shared", &Layout::of(&image(Packing::Zstd), "other"));
    let index = fs::read(format!("{shared}/index.json")).unwrap();
    let before = (names(&place.path("")), names(&shared));
    let hidden = |names: Vec<String>| -> Vec<String> {
        names.into_iter().filter(|name| !name.starts_with(".cutaway-")).collect()
    };
    for destination in [
        at(&place, "oci", "new"),
        format!("oci:{shared}:new"),
        at(&place, "dir", "new"),
        at(&place, "oci-archive", "new"),
        at(&place, "docker-archive", "new"),
    ] {
        let task = Task::new(&source, &destination);
        for point in POINTS {
            task.dropped_at(&place, point);
            assert_eq!((names(&place.path("")), names(&shared)), before, "{destination} at {point}");
            task.killed_at(&place, point);
            assert_eq!(hidden(names(&place.path(""))), before.0, "{destination} at {point}");
            assert_eq!(hidden(names(&shared)), before.1, "{destination} at {point}");
            assert_eq!(fs::read(format!("{shared}/index.json")).unwrap(), index);
            for folder in [place.path(""), shared.clone()] {
                for name in names(&folder).iter().filter(|name| name.starts_with(".cutaway-")) {
                    let path = Path::new(&folder).join(name);
                    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
                }
            }
        }
    }
}
