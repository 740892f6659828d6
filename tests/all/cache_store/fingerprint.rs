//! The name of the folder follows the sources that make records.

use std::fs;
use std::path::Path;

use super::{folder, put};

#[path = "../../../build.rs"]
#[allow(dead_code, reason = "its entry is called by cargo")]
mod build_script;

use build_script::fingerprint;

const ROOMS: [&str; 7] = ["analysis", "base", "cache", "formats", "layer", "rootfs", "source"];

fn tree(root: &Path, files: &[(&str, &str)]) -> u64 {
    for room in ROOMS {
        fs::create_dir_all(root.join("src").join(room)).unwrap();
    }
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fingerprint(root).unwrap()
}

#[test]
fn records_lie_in_a_folder_named_after_the_sources_of_this_program() {
    let place = folder();
    let file = put(place.path(), "a", b"");
    let version = file.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let sources = fingerprint(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(version, format!("index-1-{sources:016x}"));
}

#[test]
fn any_change_of_a_source_changes_the_fingerprint_and_nothing_else_does() {
    let base = [("src/formats/tar.rs", "a"), ("src/layer/deep/one.rs", "bc"), ("src/base/x.rs", "")];
    let of = |files: &[(&str, &str)]| tree(folder().path(), files);
    let same = of(&base);
    let mut turned = base;
    turned.reverse();
    assert_eq!(of(&turned), same, "the order in which files are made");
    let without_meaning = [
        ("src/formats/tests.rs", "x"),
        ("src/layer/tests/more.rs", "x"),
        ("src/formats/notes.txt", "x"),
        ("src/gui/mod.rs", "x"),
        ("README.md", "x"),
    ];
    for file in without_meaning {
        assert_eq!(of(&[&base[..], &[file]].concat()), same, "{file:?}");
    }
    let mut seen = vec![same];
    for room in ROOMS {
        seen.push(of(&[&base[..], &[(&format!("src/{room}/new.rs"), "")]].concat()));
    }
    seen.push(of(&[&base[..], &[("Cargo.lock", "")]].concat()));
    seen.push(of(&[&base[..], &[("Cargo.lock", "1")]].concat()));
    seen.push(of(&[("src/formats/tar.rs", "b"), base[1], base[2]]));
    seen.push(of(&[("src/formats/tar.rs", "ab"), ("src/layer/deep/one.rs", "c"), base[2]]));
    seen.push(of(&[("src/formats/rat.rs", "a"), base[1], base[2]]));
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "two different trees have one fingerprint");
}
