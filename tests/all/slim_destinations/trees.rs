//! What umoci, buildah and podman make of a written image: their trees, and a program that starts.

use std::process::Command;

use super::folders::shell;
use crate::oracle::{have, skip};
use crate::support::{Place, program};

/// The sample with a layer of umoci's above it: what a tar writer gets wrong first, and a program without libraries.
const SOURCE: &str = r#"
skopeo --policy policy.json copy --quiet "oci-archive:$SAMPLE" oci:source:sample
umoci unpack --image source:sample bundle
cd bundle/rootfs
mkdir -p opt/odd/empty
chmod 2751 opt/odd/empty
echo one >opt/odd/one
ln opt/odd/one opt/odd/two
ln -s ../odd/one opt/odd/link
mkfifo opt/odd/pipe
truncate --size=3M opt/odd/holes
chown 500000:7 opt/odd/holes
touch --date='2001-02-03 04:05:06.789012345' opt/odd/holes
python3 -c 'import os; os.setxattr("opt/odd/one", "user.note", b"\0=\n")'
long=$(printf 'n%.0s' $(seq 180))
echo long >"opt/odd/$long"
: >"$(printf 'opt/odd/\344')"
rm -r usr/share/doc
printf '#include <stdio.h>\nint main(void) { return puts("it starts") < 0; }\n' | musl-gcc -static -x c -o opt/start -
cd ../..
umoci repack --image source:1 bundle
umoci config --image source:1 --config.cmd=/opt/start --clear=config.entrypoint
"#;

/// Compares what umoci unpacks of the source with what it unpacks of each written image.
const COMPARED: &str = r#"
umoci unpack --image source:1 before
for out in plain base squashed zstd; do
    if [ $out = zstd ]; then
        # Umoci reads no zstd.
        skopeo --policy policy.json copy --quiet --dest-compress-format gzip oci:zstd:1 oci:zstd-gzip:1
        umoci unpack --image zstd-gzip:1 after-zstd
    else
        umoci unpack --image $out:1 after-$out
    fi
    python3 "$TREES" before/rootfs after-$out/rootfs $out.json $out.trees.json
done
"#;

const STARTED: &str = r#"
storage="--root $PWD/storage --runroot $PWD/run --storage-driver vfs"
for image in oci:plain:1 docker-archive:docker.tar; do
    container=$(buildah $storage from --quiet --signature-policy policy.json $image)
    buildah $storage run --isolation chroot "$container" -- /opt/start
done
"#;

/// Starts the source and the written image; the second line is missing when podman can start no container here.
const RUN_BY_PODMAN: &str = r#"
storage="--root $PWD/storage --runroot $PWD/run --storage-driver vfs"
start() {
    podman $storage pull --quiet --signature-policy policy.json $1 >pulled
    podman $storage run --rm --network none --pull never "$(cat pulled)"
}
start oci:source:1 || exit 0
start oci:plain:1
"#;

/// Writes an image; what it printed.
fn slim(arguments: &[&str]) -> Vec<u8> {
    let output = program().arg("slim").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn other_tools_see_what_was_there_less_what_was_removed() {
    if !have(&["skopeo", "umoci", "buildah", "podman", "musl-gcc", "python3"]) {
        return;
    }
    let owner = Command::new("id").arg("-u").output().unwrap().stdout;
    if owner != b"0\n" {
        skip("owners and pipes of an unpacked image need root");
        return;
    }
    let place = Place::new();
    let sample = format!("{}/assets/samples/devel.tar", env!("CARGO_MANIFEST_DIR"));
    let trees = format!("{}/tests/deletion/trees.py", env!("CARGO_MANIFEST_DIR"));
    shell(&place, &format!("SAMPLE={sample}\n{SOURCE}"));
    let source = format!("oci:{}:1", place.path("source"));
    for (name, options) in [
        ("plain", &[][..]),
        ("base", &["--keep-base"]),
        ("squashed", &["--squash-from", "3"]),
        ("zstd", &["--compression", "zstd"]),
    ] {
        let out = format!("oci:{}:1", place.path(name));
        place.put(
            &format!("{name}.json"),
            slim(&[&[&source, "-o", &out, "--format", "json"], options].concat()),
        );
    }
    let archive = format!("docker-archive:{}:app:1", place.path("docker.tar"));
    slim(&[&source, "-o", &archive]);
    shell(&place, &format!("TREES={trees}\n{COMPARED}"));
    for name in ["plain", "base", "squashed", "zstd"] {
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(place.path(&format!("{name}.trees.json"))).unwrap())
                .unwrap();
        let [freed, planned] = ["freed", "planned"].map(|field| json[field].as_u64().unwrap());
        assert!(freed > 0 && freed == planned, "{name}: {freed} bytes freed, {planned} planned");
    }
    assert_eq!(shell(&place, STARTED), "it starts\nit starts\n");
    match &*shell(&place, RUN_BY_PODMAN) {
        // A kernel that forbids it is no missing tool.
        "" => eprintln!("SKIPPED: podman can start no container here"),
        started => assert_eq!(started, "it starts\nit starts\n"),
    }
}
