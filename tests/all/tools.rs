//! Images that other people's tools made, judged by the walk in Python and by those tools.
//!
//! The tools work in a temporary folder with a storage of their own. Where this user is not root they run in
//! a user namespace that `buildah unshare` opens.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::oracle::{have, judge, report_with, skip, stored_alike, walk};

const POLICY: &str = r#"{"default": [{"type": "insecureAcceptAnything"}]}"#;

/// What every script begins with: a tree with most things that a tree can hold, and a change to it.
const PRELUDE: &str = r#"
set -eu
cd "$T"
buildah() { command buildah --root "$T/root" --runroot "$T/runroot" --storage-driver vfs "$@"; }
commit() { buildah commit --quiet --rm --signature-policy "$T/policy.json" "$@" >/dev/null; }
copy() { skopeo --policy "$T/policy.json" copy --quiet "$@"; }
bytes() { awk -v n="$2" -v s="$3" 'BEGIN { srand(s); for (i = 0; i < n; i++) printf "%c", 32 + int(rand() * 90) }' >"$1"; }

first() {
    mkdir -p "$1/usr/bin" "$1/usr/lib/deep/er" "$1/etc/conf.d" "$1/var/cache/pkg" "$1/opt/a/b" "$1/srv/data"
    bytes "$1/usr/bin/tool" 70000 1
    chmod 4755 "$1/usr/bin/tool"
    ln "$1/usr/bin/tool" "$1/usr/bin/tool-linked"
    ln -s tool "$1/usr/bin/tool-symlink"
    ln -s usr/lib "$1/lib"
    bytes "$1/usr/lib/libone.so.1" 123457 2
    ln -s libone.so.1 "$1/usr/lib/libone.so"
    bytes "$1/etc/conf.d/one" 511 3
    bytes "$1/etc/conf.d/two" 512 4
    bytes "$1/etc/conf.d/three" 513 5
    : >"$1/etc/empty"
    for n in 1 2 3 4 5 6 7 8 9; do bytes "$1/var/cache/pkg/file $n" $((n * 1000)) $n; done
    bytes "$1/opt/a/b/c" 2222 6
    long=$(printf 'long-name-%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    mkdir "$1/srv/$long"
    bytes "$1/srv/$long/$long" 777 7
    bytes "$1/srv/Größe 大きさ" 333 8
    truncate -s 3M "$1/srv/data/holes"
    mkfifo "$1/srv/data/pipe"
}

second() {
    rm -r "$1/var/cache/pkg"
    rm "$1/usr/bin/tool-linked" "$1/etc/conf.d/two"
    bytes "$1/etc/conf.d/one" 900 9
    chmod 600 "$1/usr/lib/libone.so.1"
    rm -r "$1/opt/a"
    mkdir -p "$1/opt/a"
    bytes "$1/opt/a/new" 3333 10
    rm "$1/lib"
    mkdir "$1/lib"
    bytes "$1/lib/real" 4444 11
    rm -r "$1/etc/empty"
    mkdir "$1/etc/empty"
}

third() {
    mkdir -p "$1/var/cache/pkg"
    bytes "$1/var/cache/pkg/again" 5555 12
    ln "$1/opt/a/new" "$1/opt/a/newer"
    rm "$1/usr/lib/libone.so"
    bytes "$1/usr/lib/libone.so" 6666 13
    rm -r "$1/srv"
}
"#;

/// Runs a script; `$T` is the folder. With `storage`, where this user is not root, in a user namespace.
fn shell(folder: &Path, script: &str, storage: bool) -> String {
    fs::write(folder.join("policy.json"), POLICY).unwrap();
    let path = folder.join("script.sh");
    fs::write(&path, format!("{PRELUDE}\n{script}")).unwrap();
    let mut command = if storage && !is_root() {
        let mut command = Command::new("buildah");
        command.args(["unshare", "sh"]);
        command
    } else {
        Command::new("sh")
    };
    command.arg(&path).env("T", folder).env("TMPDIR", folder).env("LC_ALL", "C.UTF-8");
    let output = command.output().expect("the shell runs");
    assert!(
        output.status.success(),
        "{}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Whether buildah can keep a storage here at all; some containers forbid what it takes.
fn storage_works(folder: &Path) -> bool {
    fs::write(folder.join("policy.json"), POLICY).unwrap();
    let root = folder.join("root");
    let mut command = Command::new("buildah");
    if !is_root() {
        command.args(["unshare", "buildah"]);
    }
    let output = command
        .arg("--root")
        .arg(&root)
        .arg("--runroot")
        .arg(folder.join("runroot"))
        .args(["--storage-driver", "vfs", "images"])
        .output()
        .expect("buildah runs");
    output.status.success()
        || skip(&format!(
            "buildah cannot keep images here: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// The merged view by the walk must be what a tool unpacked, and the report's totals with it.
fn same_as_unpacked(reference: &str, report: &Value, unpacked: &Value) {
    let image = walk(reference, &["--tree"]);
    let mut faults = Vec::new();
    let (ours, theirs) = (image["tree"].as_object().unwrap(), unpacked["tree"].as_object().unwrap());
    for (path, node) in theirs {
        let seen = ours.get(path).unwrap_or(&Value::Null);
        if seen["type"] != node["type"] || seen["size"] != node["size"] {
            faults.push(format!("{path}: unpacked {node}, merged {seen}"));
        }
    }
    faults.extend(
        ours.keys().filter(|path| !theirs.contains_key(*path)).map(|path| format!("{path}: not unpacked")),
    );
    assert!(faults.is_empty(), "{reference}: {}", faults.join("\n"));
    for name in ["merged_files", "merged_bytes"] {
        assert_eq!(report["totals"][name], unpacked["totals"][name], "{reference}: {name}");
    }
}

/// The digests of the layers as skopeo lists them.
fn same_digests_as_skopeo(folder: &Path, reference: &str, report: &Value) {
    let output = Command::new("skopeo")
        .arg("--policy")
        .arg(folder.join("policy.json"))
        .args(["inspect", reference])
        .output()
        .expect("skopeo runs");
    assert!(output.status.success(), "{reference}: {}", String::from_utf8_lossy(&output.stderr));
    let inspected: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours: Vec<&Value> =
        report["layers"].as_array().unwrap().iter().map(|layer| &layer["digest"]).collect();
    let theirs: Vec<&Value> = inspected["Layers"].as_array().unwrap().iter().collect();
    assert_eq!(ours, theirs, "{reference}");
    assert_eq!(report["image"]["manifest_digest"], inspected["Digest"], "{reference}");
    assert_eq!(report["image"]["platform"]["architecture"], inspected["Architecture"], "{reference}");
    assert_eq!(report["image"]["platform"]["os"], inspected["Os"], "{reference}");
}

/// Judges all references; all must agree in everything that does not depend on the storage.
fn judge_all(references: &[String]) -> Value {
    let mut first: Option<(Value, &String)> = None;
    for reference in references {
        let figures = stored_alike(&judge(reference));
        let (expected, named) = first.get_or_insert_with(|| (figures.clone(), reference));
        assert_eq!(*expected, figures, "{named} and {reference}");
    }
    first.expect("at least one reference").0
}

fn compressions(report: &Value) -> Vec<&str> {
    report["layers"].as_array().unwrap().iter().filter_map(|layer| layer["compression"].as_str()).collect()
}

#[test]
fn images_of_umoci_give_the_same_figures_everywhere() {
    if !have(&["umoci", "python3"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    shell(
        folder.path(),
        r#"
umoci init --layout image
umoci new --image image:latest
change() {
    umoci unpack --rootless --image image:latest bundle
    "$1" bundle/rootfs
    umoci repack --image image:latest bundle
    chmod -R u+rwX bundle
    rm -r bundle
}
change first
change second
change third
bytes inserted 4321 20
mkdir -p folder/below
bytes folder/below/one 1111 21
bytes folder/two 2222 22
umoci insert --rootless --image image:latest inserted /usr/bin/inserted
umoci insert --rootless --image image:latest --opaque folder /opt/a
umoci insert --rootless --image image:latest --whiteout /var/cache
umoci unpack --rootless --image image:latest result
"#,
        false,
    );
    let layout = folder.path().join("image");
    let reference = format!("oci:{}:latest", text(&layout));
    let report = judge(&reference);
    assert_eq!(report["totals"]["layers"], 6);
    assert_eq!(compressions(&report), ["gzip"; 6]);
    assert_ne!(report["totals"]["wasted_bytes"], 0);
    let rootfs = format!("rootfs:{}", text(&folder.path().join("result/rootfs")));
    let unpacked = walk(&rootfs, &[]);
    same_as_unpacked(&reference, &report, &unpacked);
    let (status, of_folder) = report_with(&rootfs, &[]);
    assert_eq!(status, Some(0), "{}", of_folder["warnings"]);
    for name in ["merged_files", "merged_bytes"] {
        assert_eq!(of_folder["totals"][name], unpacked["totals"][name], "{rootfs}: {name}");
    }
    if have(&["skopeo"]) {
        same_digests_as_skopeo(folder.path(), &reference, &report);
    }
}

#[test]
fn images_of_buildah_give_the_same_figures_everywhere() {
    if !have(&["buildah", "skopeo", "python3", "zstd"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    if !storage_works(folder.path()) {
        return;
    }
    let unpacked = shell(
        folder.path(),
        &format!(
            r#"
push() {{ buildah push --quiet --signature-policy "$T/policy.json" "$@" >&2; }}
layer() {{
    container=$(buildah from --quiet --pull-never --signature-policy "$T/policy.json" "$1")
    "$3" "$(buildah mount "$container")"
    buildah umount "$container" >/dev/null
    commit "$container" "$2"
}}
layer scratch one first
layer localhost/one two second
layer localhost/two three third
bytes copied 9999 30
container=$(buildah from --quiet --pull-never --signature-policy "$T/policy.json" localhost/three)
buildah copy --quiet "$container" copied /usr/bin/copied >/dev/null
buildah config --env A=b --label made=here "$container"
commit "$container" four
push localhost/four oci:gzip-layout:four
push localhost/four oci-archive:gzip.tar:four
push localhost/four docker-archive:docker.tar:example.test/four:latest
push localhost/four dir:flat
push --disable-compression localhost/four dir:plain-flat
if command buildah push --help | grep -q -- --compression-format; then
    push --compression-format zstd localhost/four oci:zstd-layout:four || rm -rf zstd-layout
fi
container=$(buildah from --quiet --pull-never --signature-policy "$T/policy.json" localhost/four)
python3 '{walk}' "rootfs:$(buildah mount "$container")"
buildah umount "$container" >/dev/null
"#,
            walk = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/walk.py"))
        ),
        true,
    );
    let unpacked: Value = serde_json::from_str(&unpacked).unwrap();
    let at = |transport: &str, name: &str| format!("{transport}:{}", text(&folder.path().join(name)));
    let gzip = format!("{}:four", at("oci", "gzip-layout"));
    let mut references = vec![
        gzip.clone(),
        format!("{}:four", at("oci-archive", "gzip.tar")),
        at("docker-archive", "docker.tar"),
        format!("{}:example.test/four:latest", at("docker-archive", "docker.tar")),
        at("dir", "flat"),
        at("dir", "plain-flat"),
        text(&folder.path().join("docker.tar")).to_owned(),
        text(&folder.path().join("gzip.tar")).to_owned(),
        text(&folder.path().join("flat")).to_owned(),
    ];
    if folder.path().join("zstd-layout").exists() {
        let zstd = format!("{}:four", at("oci", "zstd-layout"));
        let report = judge(&zstd);
        assert!(compressions(&report).contains(&"zstd"), "{:?}", compressions(&report));
        same_digests_as_skopeo(folder.path(), &zstd, &report);
        references.push(zstd);
    } else {
        skip("this buildah writes no zstd");
    }
    let figures = judge_all(&references);
    assert_eq!(figures["totals"]["layers"], 4);
    let report = judge(&gzip);
    same_as_unpacked(&gzip, &report, &unpacked);
    for reference in [&gzip, &at("dir", "flat"), &at("dir", "plain-flat")] {
        same_digests_as_skopeo(folder.path(), reference, &judge(reference));
    }
    assert_eq!(report["image"]["config"]["labels"]["made"], "here");
}

#[test]
fn copies_by_skopeo_give_the_same_figures() {
    if !have(&["umoci", "skopeo", "python3", "zstd"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    shell(
        folder.path(),
        r#"
umoci init --layout image
umoci new --image image:latest
for step in first second third; do
    umoci unpack --rootless --image image:latest bundle
    "$step" bundle/rootfs
    umoci repack --image image:latest bundle
    chmod -R u+rwX bundle
    rm -r bundle
done
copy oci:image:latest oci-archive:archive.tar:latest
copy oci:image:latest docker-archive:docker.tar:example.test/copy:latest
copy oci:image:latest dir:flat
copy --dest-decompress oci:image:latest dir:plain
copy docker-archive:docker.tar oci:back:latest
copy oci-archive:archive.tar:latest docker-archive:docker-again.tar:example.test/copy:again
copy dir:plain docker-archive:docker-plain.tar
copy dir:plain oci-archive:archive-plain.tar:latest
copy --dest-compress --dest-compress-format gzip dir:plain dir:gzip
copy --dest-compress --dest-compress-format zstd dir:plain dir:zstd
copy --dest-compress-format zstd dir:plain oci:zstd:latest
copy --dest-oci-accept-uncompressed-layers dir:plain oci:uncompressed:latest
copy --format v2s2 oci:image:latest dir:schema2
gzip -c docker.tar >docker.tgz
zstd -q docker.tar -o docker.tar.zst
gzip -c archive.tar >archive.tgz
"#,
        false,
    );
    let at = |form: &str| {
        let (transport, name) = form.split_once(':').unwrap();
        format!("{transport}:{}", text(&folder.path().join(name)))
    };
    let with_digests: Vec<String> = [
        "oci:image:latest",
        "oci-archive:archive.tar:latest",
        "dir:flat",
        "dir:plain",
        "oci:back:latest",
        "oci-archive:archive-plain.tar:latest",
        "dir:gzip",
        "dir:zstd",
        "oci:zstd:latest",
        "oci:uncompressed:latest",
        "dir:schema2",
    ]
    .map(at)
    .to_vec();
    let mut all = with_digests.clone();
    all.extend(
        [
            "docker-archive:docker.tar",
            "docker-archive:docker-again.tar",
            "docker-archive:docker-plain.tar",
            "docker-archive:docker.tgz",
            "docker-archive:docker.tar.zst",
            "oci-archive:archive.tgz:latest",
        ]
        .map(at),
    );
    let figures = judge_all(&all);
    assert_eq!(figures["totals"]["layers"], 3);
    for reference in &with_digests {
        let report = judge(reference);
        same_digests_as_skopeo(folder.path(), reference, &report);
        let expected = match reference {
            name if name.contains("zstd") => "zstd",
            name if name.ends_with("/plain") || name.contains("/uncompressed") => "none",
            _ => "gzip",
        };
        assert_eq!(compressions(&report), [expected; 3], "{reference}");
    }
}
