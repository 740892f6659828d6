//! An image of many small files, as an OCI layout on disk, so that everything the window shows of it comes from a real
//! analysis: packages with owners, a package cache that is removable, overwritten files, chains of single folders.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::fixtures::tarball::{Member, file, tar};
use crate::fixtures::{digest, json_bytes};

const SITE: &str = "opt/venv/lib/python3.12/site-packages";
const OCI: &str = "application/vnd.oci.image";

/// Writes an image of about `files` files in `layers` layers into `folder`, unless it is there, one layer at a time.
pub(crate) fn write(folder: &Path, files: u32, layers: u32) -> PathBuf {
    let done = folder.join("index.json");
    if done.exists() {
        return folder.to_owned();
    }
    let blobs = folder.join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    let put = |bytes: &[u8]| {
        let digest = digest(bytes);
        fs::write(blobs.join(digest.trim_start_matches("sha256:")), bytes).unwrap();
        (digest, bytes.len())
    };
    let (mut descriptors, mut sums, mut history) = (Vec::new(), Vec::new(), Vec::new());
    for layer in 0..layers {
        let (digest, size) = put(&tar(members(files / layers, layer)));
        sums.push(digest.clone());
        descriptors.push(json!({"mediaType": format!("{OCI}.layer.v1.tar"), "digest": digest, "size": size}));
        history.push(json!({"created_by": format!("RUN pip install --no-deps -r part-{layer}.txt")}));
    }
    let config = json!({
        "architecture": "amd64", "os": "linux", "config": {"Cmd": ["/bin/sh"]},
        "rootfs": {"type": "layers", "diff_ids": sums}, "history": history,
    });
    let (config, config_size) = put(&json_bytes(&config));
    let manifest = json!({
        "schemaVersion": 2, "mediaType": format!("{OCI}.manifest.v1+json"), "layers": descriptors,
        "config": {"mediaType": format!("{OCI}.config.v1+json"), "digest": config, "size": config_size},
    });
    let (manifest, size) = put(&json_bytes(&manifest));
    fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    let index = json!({
        "schemaVersion": 2,
        "manifests": [{"mediaType": format!("{OCI}.manifest.v1+json"), "digest": manifest, "size": size}],
    });
    fs::write(done, json_bytes(&index)).unwrap();
    folder.to_owned()
}

/// The files of a layer: 55 % in packages, 15 % in chains of single folders, 20 % in a package cache, and 10 % that
/// replace files of the layer below.
fn members(files: u32, layer: u32) -> Vec<Member> {
    let share = |percent: u32| files * percent / 100;
    let mut members = Vec::new();
    for package in 0..4 {
        let name = format!("pack_{}", layer * 4 + package);
        let mut record = String::new();
        for number in 0..share(55) / 4 {
            let path = module(layer, package, number);
            record.push_str(path.strip_prefix(SITE).unwrap().trim_start_matches('/'));
            record.push_str(",,\n");
            members.push(file(path, body(number, layer)));
        }
        let info = format!("{SITE}/{name}-1.0.dist-info");
        for own in ["METADATA", "RECORD"] {
            record.extend([&name, "-1.0.dist-info/", own, ",,\n"]);
        }
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n");
        members.push(file(format!("{info}/METADATA"), metadata));
        members.push(file(format!("{info}/RECORD"), record));
    }
    for number in 0..share(15) {
        let chain = format!("opt/chains/c_{layer}_{}/a/b/c/d/e/f", number / 30);
        members.push(file(format!("{chain}/file_{number}.txt"), body(number, layer)));
    }
    for number in 0..share(20) {
        let key = number.wrapping_mul(2_654_435_761).wrapping_add(layer);
        let folder = format!("root/.cache/pip/http-v2/{:x}/{:x}", key >> 28, key >> 24 & 15);
        members.push(file(format!("{folder}/{layer:02x}{key:08x}"), body(number, layer)));
    }
    for number in 0..share(10) {
        let path = match layer.checked_sub(1) {
            Some(below) => module(below, number % 4, number / 4),
            None => format!("srv/data/{}/file_{number}", number / 100),
        };
        members.push(file(path, body(number, layer)));
    }
    members
}

fn module(layer: u32, package: u32, number: u32) -> String {
    let kind = ["so", "py", "pyc", "h", "txt"][(number % 5) as usize];
    format!("{SITE}/pack_{}/mod_{}/file_{number}.{kind}", layer * 4 + package, number / 90)
}

/// Up to one block, and now and then much more, so that sizes differ; no two are equal.
fn body(number: u32, layer: u32) -> Vec<u8> {
    let length = if number.is_multiple_of(997) { 65_536 } else { 16 + number as usize % 480 };
    let mut body = format!("{layer}.{number}.").into_bytes();
    body.resize(length, b'.');
    body
}
